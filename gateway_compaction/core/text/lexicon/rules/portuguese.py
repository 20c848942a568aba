"""The words by which standing rules are told in Portuguese."""

from __future__ import annotations

from gateway_compaction.core.text.lexicon.entry import Entry, RuleWords

VERBS = (
    r"(?:(?:adapt|adicion|acrescent|ajust|anot|arredond|assin|avis|busc|calcul|cham|cit|coloqu|coloc|coment"
    r"|comec|comece|compar|confirm|confir|consider|consult|convert|corrij|cri|coloqu|defin|descrev|deix|dig"
    r"|dirij|div|diz|evit|escrev|espec|esper|expliqu|explic|expr|fal|faç|form|formate|format|fiqu|fornec"
    r"|inclu|indiqu|indic|inform|jog|jun|lembr|limit|list|mant[eé]nh|mantenh|marqu|mencion|mand|most|mostr"
    r"|mud|mex|nome|numer|obede|ofereç|omit|organiz|pens|pergunt|pag|ponh|prefir|prior|prioriz|propon"
    r"|proponh|pul|recomend|redij|reduz|refir|repit|respeit|respond|resum|revej|revis|sej|separ|sig|sinaliz"
    r"|sugir|termin|test|trabalh|trat|traduz|tir|trat|us|utiliz|verifiqu|verific|volt|poup|dispens|abst"
    r"|abstenh|procur|tent|sirv)(?:[aeoi]|ei|ue|a-se|e-se)?(?:m)?(?:-?(?:me|nos|lhe|se|o|a|os|as|lo|la))?"
    r"|(?:dê|dá|diga|diz|faça|faz|seja|sê|ponha|põe|tenha|vá|me (?:diga|dê|chame|responda|avise|mostre"
    r"|explique|pergunte|trate|passe|poupe|fale)|favor|queira|queiram|é favor|por favor"
    r"|certifique-se(?: de)?|trate-me|chame-me|não (?:se )?esqueça))"
)
OUTPUT = (
    r"(?:respostas?|mensage(?:m|ns)|cartas?|e-?mails?|textos?|receitas?|exemplos?|consultas?"
    r"|rascunhos?|resumos?|traduç(?:ão|ões)|sugest(?:ão|ões)|explicaç(?:ão|ões)|cálculos?"
    r"|preços?|valores|datas?|horas?|horários?|cifras?|números?|títulos?|trechos?|códigos?"
    r"|frases?|citaç(?:ão|ões)|fontes?|vez|caso)"
)
RULES = RuleWords(
    headings=(
        Entry(
            r"regras|normas|preferências|diretrizes|para est[ea] (?:chat|conversa|projeto)"
            r"|a partir de agora",
            "Regras para esta conversa:",
            "Para a cozinha:",
        ),
    ),
    leads=(
        Entry(
            r"por favor|e|mas|então|portanto|por isso|também|depois|além disso|ou|ok|oi|olá|nota"
            r"|importante|em geral|no geral|regra(?: \d{1,3})?|a partir de agora|daqui em diante"
            r"|de agora em diante|no futuro|sempre|obrigad[oa]",
            "Por favor responda em inglês.",
            "Lá vive.",
        ),
    ),
    orders=(
        Entry(
            r"(?:corrija|pare|rode|execute|abra|feche|escolha|compare|salve|instale|justifique"
            r"|simplifique|sublinhe|comporte-se|memorize|continue|passe)\b",
            "Corrija cada erro que eu cometer.",
            "Ele corrige.",
        ),
        Entry(VERBS + r"\b(?!['’])", "Responda em coreano.", "Ele vivia."),
        Entry(
            r"(?:você (?:deve|tem que|tem de|precisa)|deves|tens de)\b(?! (?:ser|estar|ter)\b)",
            "Você deve responder em inglês.",
            "Deve estar cansado.",
        ),
    ),
    bans=(
        Entry(
            r"em hipótese alguma\b|em nenhum caso\b|não (?:é preciso|precisa) (?:que|de)?\b",
            "Em hipótese alguma contate o dono.",
            "Em alguns casos.",
        ),
        Entry(
            r"(?:(?:é|fica|está) )?(?:terminantemente |estritamente |totalmente )?proibid[oa]\b",
            "É proibido alterar o banco.",
            "Proibições antigas.",
        ),
        Entry(
            r"(?:eu )?(?:preferia|prefiro|preferiria|gostaria) que\b",
            "Eu preferia que você perguntasse.",
            "Eu preferia chá.",
        ),
        Entry(
            r"(?:não|nunca|jamais|nem) (?:(?:me|o|a|os|as|lhe|se|te) )?(?!se preocup|preocup|esque[çc]"
            r"|(?:me |te |se )?(?:pode|tem|quer|sabe|existe|entende|parece|consegue|deve|fosse|teve|vale"
            r"|acontece|serve|que|de|foi|este|esse|vem|em|sempre|posso|consigo|esqueça"
            r"|preocupe)\b)(?:\p{L}{2,12}(?:es|em?)|(?:mex|escrev|respond|dig|faç|ponh|inclu|tenh|sugir"
            r"|repit|traduz|corrij|permit|resum|assum|sej|peç|ofereç|suprim|exced)(?:a|am|as)"
            r"|\p{L}{2,12}[aei]r)\b",
            "Não mexa na produção.",
            "Não é verdade.",
        ),
        Entry(
            r"evit\p{L}+|abst\p{L}+-se|poupe\p{L}*|dispense\p{L}*|pare de|deixe de|nada de \p{L}+"
            r"|sem (?:emojis|abreviações|tabelas|listas|anglicismos|gírias)\b",
            "evite anglicismos",
            "Ele fala.",
        ),
        Entry(
            r"(?:eu )?(?:preferia|prefiro|preferiria|queria|quero|gostaria|gostava) que (?:você "
            r"|tu )?(?:não|nunca)\b|(?:eu )?não (?:quero|gosto|desejo)\b|você não (?:deve|pode|precisa)\b",
            "Eu preferia que você não usasse isso.",
            "Eu preferia chá.",
        ),
    ),
    wishes=(
        Entry(
            r"é (?:importante|essencial|fundamental|imprescindível) que\b",
            "É importante que nunca adivinhe.",
            "É importante.",
        ),
        Entry(
            r"(?:[oa]s? )?(?:tuas? |suas? |meus |minhas )?(?:respostas|mensagens|preços?|valores"
            r"|datas|horários|números|títulos|código|comentários|citações|fontes|exemplos|funções"
            r"|nomes|variáveis)\b[^,.;:!?]{0,40}?\b(?:deve|devem|têm de|têm que|precisam)\b",
            "Os preços devem incluir o imposto.",
            "Os trens devem partir.",
        ),
        Entry(
            r"(?:lhe )?(?:peço|solicito)(?:-lhe)? que\b|(?:as|suas|tuas) (?:suas )?respostas (?:devem"
            r"|não devem)\b",
            "Peço que use um tom formal.",
            "Peço pão.",
        ),
        Entry(
            r"(?:eu )?(?:prefiro|preferia|preferiria|quero|queria|gostaria|gostava|preciso|agradeço"
            r"|seria (?:bom|melhor|ótimo)|peço|melhor)\b",
            "Prefiro respostas curtas.",
            "Corro.",
        ),
        Entry(
            r"(?:cada|tod[oa]s? [oa]s?|toda|todo)\b[^,.;:!?]{1,80}?\b(?:tem que|tem de|têm que|têm de|deve"
            r"|devem|precisa|precisam)\b|(?:um|uma)(?: só)? [^,.;:!?]{1,40} (?:basta|é suficiente|chega)\b",
            "Cada consulta tem que rodar.",
            "Cada dia chove.",
        ),
    ),
    headless=(
        Entry(
            r"(?:agora|a partir de agora) (?:você é|tu és|és) (?:o meu|a minha|meu|minha|uma?)\b"
            r"|chega de \p{L}+ n[ao]s\b",
            "Agora você é meu revisor.",
            "Agora você é grande.",
        ),
        Entry(
            r"(?:(?:no máximo|máximo) )?(?:\d+|uma?|duas|dois|três|quatro|cinco"
            r"|dez) [^.!?,]{1,40} por (?:resposta|mensagem|parágrafo)\b",
            "No máximo três tópicos por resposta.",
            "Três amigos.",
        ),
        Entry(
            r"(?<=^\W*)(?:(?:no (?:fim|final|início|começo)|ao (?:fim|final)) de |em |para "
            r"|depois de )(?:cada|tod[oa]s [oa]s(?: suas| seus)?) ?" + OUTPUT + r"\b",
            "No fim de cada resposta, liste os pontos.",
            "No fim do dia.",
        ),
        Entry(
            r"(?:sempre \p{L}+[aei]r\b|(?:nunca|jamais) (?:mais )?\p{L}+[aei]r\b|nunca mais \p{L}+"
            r"|nada de \p{L}+)",
            "Nunca usar tabelas.",
            "Nunca vi.",
        ),
        Entry(
            r"(?:a partir de agora|daqui (?:para|pra) (?:a )?frente|daqui em diante|de agora em diante"
            r"|no futuro|nesta (?:conversa|sessão)|neste (?:chat|projeto))[,:]? (?!eu|nós|vou|o\b|a\b"
            r"|os\b|as\b|há)\p{L}",
            "A partir de agora tudo em inglês.",
            "No futuro o trem anda.",
        ),
        Entry(
            r"(?:nenhum(?:a)?|sem|nada de) (?!problema|dúvida|ideia|pressa)[^.!?]{1,40}\W*$",
            "nenhuma tabela",
            "Sem problema.",
        ),
        Entry(
            r"(?![^.!?]*\b(?:é|são|era|eram|está|estão|há|foi|foram|tem|têm|será|eu|pode"
            r"|podem)\b)(?:tod[oa]s [oa]s |cada |[oa]s |meus |minhas )?(?:respostas|títulos|preços?"
            r"|valores|datas?|horas?|horários|números|unidades|medidas|temperaturas|citações|fontes"
            r"|comentários|código|exemplos|nomes|ortografia|moeda|indentação|listas|parágrafos|frases"
            r"|resumos|e-?mails|cartas|receitas|tom|estilo|idioma)(?: (?:sempre|até \p{L}+|de \p{L}+"
            r"|do \p{L}+))*,?:? (?:em|com|sem|como|a|curt[oa]s|sempre|nunca|só|por extenso)\b",
            "títulos sem ponto",
            "Os preços em Portugal são altos.",
        ),
    ),
    lasting=(
        Entry(
            r"\bsalvo indicação (?:em )?contrári[oa]\b|\bpor princípio\b"
            r"|\bsem (?:a )?minha (?:autorização|permissão|aprovação)\b",
            "salvo indicação em contrário",
            "sem minha mala",
        ),
        Entry(
            r"\buma? (?:só )?\p{L}+ (?:de cada|por) vez\b",
            "Faça uma pergunta de cada vez.",
            "Faça uma pergunta.",
        ),
        Entry(
            r"\b(?:quando|se) (?:eu |você )?(?:me )?(?:disser|escrever|pedir|perguntar|colar"
            r"|mandar|enviar|citar|mencionar|traduzir|responder)\b|\b(?:antes de|depois de|após"
            r"|a) cada \p{L}+|\bcada \p{L}+ que (?:eu )?\p{L}+|\b(?:durante|pelo"
            r"|para) o resto da\b|\bem hipótese alguma\b|\bem nenhum caso\b",
            "Indique a página quando citar.",
            "Venha quando puder.",
        ),
        Entry(
            r"\b(?:recomende|sugira|proponha|use|utilize|fale|responda|escreva) (?:apenas|só"
            r"|somente|unicamente)\b",
            "Recomende apenas restaurantes veganos.",
            "Mostre apenas dez.",
        ),
        Entry(
            r"\b(?:sempre|nunca|jamais|exclusivamente|unicamente|a partir de agora|daqui (?:para"
            r"|pra) (?:a )?frente|daqui em diante|de agora em diante|no futuro|toda vez|cada vez"
            r"|por padrão|em geral|no geral|em todo lugar|sem exceção|sistematicamente"
            r"|na medida do possível|se possível|sempre que|em qualquer caso)\b",
            "a partir de agora",
            "ontem",
        ),
        Entry(
            r"\b(?:n|durante |para |por )?est[ea] (?:\p{L}+ )?(?:chat|conversa|projeto|sessão"
            r"|correspondência|discussão)\b|\bnossa (?:conversa|correspondência)\b",
            "nesta conversa",
            "nesta casa",
        ),
        Entry(
            r"\b(?:cada|tod[oa]s?(?: [oa]s?)?(?: minhas| meus| suas| seus)?)(?: \p{L}+)? ?"
            + OUTPUT
            + r"\b|\bpor resposta\b|\btudo o? ?que\b|\bn[oa]s (?:meus|minhas|seus|suas|nossos"
            r"|nossas|tuas|teus) " + OUTPUT + r"\b|\bn[oa]s " + OUTPUT + r" que\b",
            "no fim de cada resposta",
            "todos os arquivos",
        ),
        Entry(
            r"\bantes de (?:envi|mand|respond|modific|apag|adicion|execut|mud|instal|alter)\p{L}+\b"
            r"|\ba menos que\b|\ba não ser que\b|\bsalvo\b|\bsem (?:me )?(?:perguntar|avisar)\b"
            r"|\bme (?:pergunte|avise) antes\b|\bpergunte-me antes\b",
            "a menos que eu peça",
            "antes de sair",
        ),
    ),
    manner=(
        Entry(
            r"\bpara (?:um público|leigos|iniciantes|crianças|especialistas)\b|\b(?:de cada|por) vez\b",
            "para um público leigo",
            "para a Ana",
        ),
        Entry(
            r"\bdecimais\b|\bimposto\b|\btecnicismos\b",
            "duas casas decimais",
            "duas casas",
        ),
        Entry(
            r"\bmeus (?:comentários|erros)\b|\bregistro\b|\bde senhora?\b",
            "Deixe meus comentários.",
            "Deixe as chaves.",
        ),
        Entry(
            r"\b(?:métric[oa]s?|sistema métrico|celsius|quilômetros|euros?|reais|francos|dólares|iva"
            r"|impostos|unidades)\b|\bem (?:português|inglês|francês|alemão|espanhol|italiano|coreano"
            r"|japonês|chinês|russo|holandês|árabe|latim)\b",
            "em coreano",
            "em Coimbra",
        ),
        Entry(
            r"\b(?:menos de|no máximo|máximo|não mais de|até|abaixo de) (?:\p{L}+ )?(?:\d+|uma?|duas?"
            r"|dois|três|cinco|dez|vinte|cinquenta|cem) \p{L}+|\b(?:curt[oa]s?|breves?|concis[oa]s?"
            r"|sucint[oa]s?|detalhad[oa]s?)\b",
            "no máximo cem palavras",
            "menos de tudo",
        ),
        Entry(
            r"\b(?:listas?|tópicos|marcadores|tabelas?|títulos|cabeçalhos|markdown|json|negrito|itálico"
            r"|emojis?|pontos? de exclamação|maiúsculas?|minúsculas?|tabulações|espaços|abreviaç(?:ão"
            r"|ões)|abreviaturas|jargão|gírias?|anglicismos|estrangeirismos|a palavra\b|o termo\b"
            r"|typescript|python|formato|fuso|parágrafos?|anotações de tipo|tipos)\b",
            "sem abreviações",
            "sem sal",
        ),
        Entry(
            r"\b(?:respostas?|tom|estilo|formal(?:mente)?|informal|educad[oa]|cortês|sincer[oa]|franc[oa]"
            r"|honest[oa]|diret[oa]|fontes?|confidencia(?:l|is)|sigilos[oa]|segredo|chut\p{L}+"
            r"|adivinh\p{L}+|invent\p{L}+|por tu|por você)\b|\bme chame\b|\bchame-me\b|\bcomo se eu\b",
            "me chame de Lia",
            "Ele vive.",
        ),
    ),
    single=(
        Entry(
            r"\b(?:antes de|até) (?:segunda|terça|quarta|quinta|sexta|sábado|domingo|amanhã)\b"
            r"|\buma versão\b|\bnão [oa]s? \p{L}+",
            "Não envie antes de segunda.",
            "Não envie nada.",
        ),
        Entry(
            r"\b(?:ainda|por enquanto|por agora)\b",
            "Não cancele ainda.",
            "Não cancele.",
        ),
        Entry(
            r"\b(?:n|d)?(?:est[ea]s?|ess[ea]s?|aquel[ea]s?|(?<!diga )isso|isto)\b(?! (?:chat|conversa"
            r"|projeto|sessão))|\bseguintes?\b|\b(?:(?:[oa]s?|n[oa]s?|d[oa]s?) (?:\p{L}+ )?primeir[oa]s?"
            r"|últim[oa]s?|próxim[oa]s?|anterior(?:es)?|resto d[oae])\b|\blinha \d+|\b(?:agora|hoje|amanhã"
            r"|de novo|novamente|desta vez|aqui)\b(?<!de agora)|\bvai (?:gerar|criar|fazer)\b|\b(?:do|ao"
            r"|no) (?:arquivo|texto|parágrafo|pdf)\b",
            "Corrija esta frase.",
            "Corrija minhas frases.",
        ),
    ),
    deliverables=(
        Entry(
            r"\b(?:adicion|acrescent|inser|insir|ger|constru|desenh|calcul|desenvolv"
            r"|planej)\p{L}{0,4} (?:uma?|uns|umas|dois|duas|três|cinco|dez|\d+)\b",
            "Adicione uma coluna para o preço em euros.",
            "Adicione o preço em euros.",
        ),
        Entry(
            r"\b(?:escrev|faç|cri|dê|diga|dig|mostr|envi|list|expliqu|resum|traduz|propon|test|verifiqu"
            r"|corrij|prepar|cont)(?:[ae])?(?:-me|-nos)? (?:só |apenas )?(?:um|uma|uns|umas|dois|duas"
            r"|três|cinco|dez|\d+|o|a|os|as|tod[oa]s|por que|como|qual|alguns|algumas|meu|minha)\b",
            "Escreva um poema sem rimas.",
            "Escreva mais curto.",
        ),
    ),
    conditions=(
        Entry(
            r"\b(?:quando|sempre que|toda vez que|se|assim que|antes que|enquanto"
            r"|caso) (?!(?:você )?(?:puder|quiser|terminar|pode|quer|tiver tempo)\b)(?:não |me |te |se "
            r"|você |eu |tu |algo |houver )*\p{L}+",
            "Quando citar a lei, dê o artigo.",
            "A lei é velha.",
        ),
    ),
    standing=(
        Entry(
            r"^\W*(?:eu )?não como \p{L}+|\bsó como \p{L}+",
            "Não como carne de porco.",
            "Como pão.",
        ),
        Entry(
            r"^\W*(?:por favor,? )?(?:lembre-se(?: de)?(?: que|:)?|lembra(?:-te)? que|não se esqueça"
            r"|tenha em mente|certifique-se)|^\W*(?:importante|regra(?: \d{1,3})?):",
            "Lembre-se: sou surdo.",
            "Ele esquece.",
        ),
        Entry(
            r"\bsou (?:\p{L}+ )?(?:alérgic[oa]|vegetarian[oa]|vegan[oa]|diabétic[oa]|celíac[oa]|surd[oa]"
            r"|ceg[oa]|disléxic[oa]|daltônic[oa])\b|\btenho (?:uma )?(?:alergia|intolerância|dislexia)\b",
            "Sou alérgica a nozes.",
            "Sou a Ana.",
        ),
    ),
    asides=(
        Entry(
            r"\b(?:diga|fale|lembre|explique) (?:a|para|ao?) (?:ela|ele|eles|elas|todos) que\b[^,;:.!?]*",
            "Diga a ela que eu nunca disse isso.",
            "Diga que sabe.",
        ),
        Entry(
            r"\buma? (?:função|método|script|programa|classe|história|poema|texto) que\b[^,;:.!?]*",
            "uma função que sempre retorna True",
            "uma função",
        ),
        Entry(
            r"\b(?:por que|porque|como é que|quais?|qual|quem|onde|embora|já que)\b[^,;:.!?]*"
            r"|(?<!quero )(?<!queria )(?<!prefiro )(?<!preferia )(?<!gostaria )(?<!peço )(?<!você"
            r" )\bque (?:não|nunca|sempre|está|estão|é|são|tem|têm)\b[^,;:.!?]*",
            "por que isso nunca funciona",
            "funciona",
        ),
    ),
    tags=(
        Entry(
            r"tá|ok(?:ay)?|por favor|certo|combinado|entendeu|sim|está bem|tá bom|obrigad[oa]",
            "tá bom",
            "segunda",
        ),
    ),
    polite=(
        Entry(
            r"(?:(?:e|então),? )*(?:você )?(?:pode|poderia|podes|podia) [^?]{0,80}?\b(?:sempre|nunca"
            r"|a partir de agora|daqui em diante|em todas|toda vez)\b",
            "Você pode sempre responder em inglês?",
            "Você pode responder?",
        ),
    ),
    tales=(
        Entry(
            r"^\W*(?:meu \p{L}+|minha \p{L}+|o \p{L}+ (?:nunca|não)|nós|ele|ela|na escola"
            r"|no \p{L}+ [oa]s|não (?:é|há|tenho|sei|temos|somos|consigo|posso)|quando (?:eu )?era)\b",
            "O servidor nunca reinicia sozinho.",
            "Nunca reinicie o servidor.",
        ),
    ),
)
