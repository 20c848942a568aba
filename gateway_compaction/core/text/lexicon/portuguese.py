"""The words of Portuguese."""

from __future__ import annotations

from gateway_compaction.core.text.lexicon.entry import Entry, Lexicon
from gateway_compaction.core.text.lexicon.rules.portuguese import RULES

PORTUGUESE = Lexicon(
    code="pt",
    rules=RULES,
    withdrawals=(
        Entry(
            r"\besque(?:ça|ce) (?:o|a|os|as|aquilo|minha|meu)\b|\bnão (?:vale|conta|se aplica) mais\b"
            r"|\bcancele (?:a|o)\b|\bde novo\b|\bagora pode\b|\bdeix[ae] (?:pra|para) lá\b",
            "Esqueça o que eu disse.",
            "Não esqueça.",
        ),
    ),
    withdrawal_cues="esque|mais|cancel|de novo|agora|deix",
    transforms=(
        Entry(r"tradu[cz]\w+|resum\w+|corrij\w+|revis\w+|reescrev\w+", "Traduza este e-mail", "Escreva"),
    ),
    pointers=(Entry(r"est[ea]s?\b|ess[ea]s?\b|seguinte\w*|me[u]\b|minha\b", "este e-mail", "o e-mail"),),
    near_pointers=(Entry(r"\b(?:est[ea]s?|ess[ea]s?|seguintes?)\b", "este", "meu"),),
    bare_questions=(
        Entry(
            r"(?:(?:e|mas|então|oi|olá),? )*(?:o que|como|qual|quais|quando (?:é|cai|devo|posso)|onde"
            r"|quem|por que|quanto|quantos|precisa|é (?:verdade|preciso|necessário|obrigatório)|posso"
            r"|devo|tem que ter|será que|dá para)\b",
            "precisa sempre de return",
            "Use sempre um return.",
        ),
    ),
    conjunctions=(Entry(r"e|mas|ou|então|por isso|portanto|logo|por favor", "e", "era"),),
    name="Portuguese",
    common_words=("os é que uma para com não se as como do um o meu você posso qual está mais por eu isso"),
    ages=(
        Entry(
            r"(?:há|ha) (?:\d{1,3}|uma?) \p{L}+|\d{1,3} \p{L}+ atrás|ontem",
            "há 3 dias",
            "há pão",
        ),
    ),
    posted=(
        Entry(
            r"(?:comentou|escreveu|respondeu|publicou)(?: em)?",
            "comentou em",
            "comentário",
        ),
    ),
    file_labels=(
        Entry(
            r"(?:arquivo|ficheiro|documento|caminho|fonte|anexo)\b|conteúdo d[eo]", "Conteúdo de", "Arquivos"
        ),
    ),
    mail_headers=(Entry(r"De|Para|Cc|Enviad[ao](?: em)?|Assunto", "Assunto", "A porta"),),
    source_labels=(
        Entry(
            r"(?:resultados?|saída|resposta|conteúdo|relatório)\b[^:\n]{1,30}\b(?:ferramenta"
            r"|comando|função|arquivo|ficheiro|programa|agente|pesquisa|busca)\b|observação\b",
            "Saída da ferramenta",
            "Resultado",
        ),
    ),
    nothing=(Entry(r"sim|não|obrigado|erro", "obrigado", "O escritório do porto abre às nove."),),
    refusals=(
        Entry(r"desculpe", "desculpe", "O escritório do porto abre às nove."),
        Entry(r"sinto muito\b", "sinto muito", "O escritório do porto abre às nove."),
        Entry(
            r"infelizmente,? (?:eu )?não (?:posso|consigo)\b",
            "infelizmente não consigo",
            "O escritório do porto abre às nove.",
        ),
        Entry(r"(?:eu )?não (?:posso|consigo)\b", "não consigo", "O escritório do porto abre às nove."),
        Entry(
            r"como (?:uma? )?modelo de linguagem\b",
            "como modelo de linguagem",
            "O escritório do porto abre às nove.",
        ),
        Entry(
            r"não (?:é possível|pude) resumir\b",
            "não é possível resumir",
            "O escritório do porto abre às nove.",
        ),
    ),
    errors=(
        Entry(r"erro\s*+[:：]", "erro:", "O escritório do porto abre às nove."),
        Entry(r"ocorreu um erro", "ocorreu um erro", "O escritório do porto abre às nove."),
    ),
    question_starts=(
        Entry(r"(?:o que|qual|como|quando)\b", "quando", "O escritório do porto abre às nove."),
    ),
    reader=(Entry(r"\b(?:você|te|tu)\b", "você", "O escritório do porto abre às nove."),),
)
