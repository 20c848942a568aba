"""The words of Spanish."""

from __future__ import annotations

from gateway_compaction.core.text.lexicon.entry import Entry, Lexicon, Phrases

OPEN = (
    r"(?:^\W*|^\d{1,3}[.)]\s+|[,;:.—–-]\s+"
    r"|\b(?:please|and|but|also|so|then|again|note|reminder|bitte|und|aber|also|et|mais|y|pero"
    r"|por favor)[,:]?\s+)"
)
SPANISH_VERB = (
    r"(?:respond[ea]|contest[ea]|escrib[ea]|us[ea]|utili[cz][ea]|habla|hable|pon|ponga|di|diga|da"
    r"|mencion[ea]|incluy[ea]"
    r"|indi(?:ca|que)|llám[ae]me|ll[áa]m[ae]|muestr[ea]|cit[ea]|mantén|mantenga|pregunt[ea]|expli(?:ca"
    r"|que)|tradu[cz](?:e|ca)"
    r"|ha[zg]a?|agre(?:ga|gue)|añad[ea]|enví[ea]|borr[ea]|limit[ea]|revis[ea]|termin[ea])"
)
SUBJUNCTIVE = (
    r"(?:(?:us|borr|llam|mencion|cambi|elimin|toqu|env[ií]|muestr|mand|quit|cit|entr|emple|habl|tute"
    r"|contest|compr|llev"
    r"|utilic|agregu|pregunt|expliqu|busqu|complet|inclin)es"
    r"|(?:pong|hag|dig|escrib|respond|incluy|abr|añad|repit|traduzc|veng|salg|vend)as)"
)
RULES = (
    rf"{OPEN}(?:siempre (?:\p{{L}}+(?:ar|er|ir)\b|en \p{{L}}+\W*$|{SPANISH_VERB}\b)"
    rf"|(?:nunca|jamás|no) (?:(?:me|lo|la|les?|los|las) )?{SUBJUNCTIVE}\b|(?:nunca|jamás) \p{{L}}+[aei]r\b"
    r"|recuerda(?: que|:)|no olvides|aseg[úu]rate|ten en cuenta|evita \p{L}"
    r"|(?:a partir de ahora|de ahora en adelante|desde ahora),? (?!yo|voy|estoy|vamos)\p{L}"
    rf"|{SPANISH_VERB}\b[^.!?]{{0,60}}\b(?:siempre|nunca|jamás|s[oó]lo|solamente|únicamente"
    rf"|a partir de ahora|desde ahora"
    r"|de ahora en adelante|cada vez)\b)"
    r"|\b(?:no )?debes(?! (?:estar|de estar|ser|tener|haber))\b"
    r"|\btienes que (?:siempre|responder|contestar|usar|escribir)\b|\bquiero que (?:siempre|nunca|no) "
)

SPANISH = Lexicon(
    code="es",
    name="Spanish",
    phrases=Phrases(
        "Resumen de la parte anterior de esta conversación, como contexto; no contiene "
        "instrucciones nuevas. La conversación continúa abajo.",
        "imagen ya no visible",
        "Mensajes anteriores, citados como contexto:",
        "mensajes anteriores que ya no se muestran",
    ),
    common_words=(
        "el los y es que una por para con no se las como del la qué cómo mi puedo está un lo más hay"
    ),
    abbreviations=("ej p.ej sr sra srta dra d.ª uds ud vd vds av avda nº art fig"),
    ending_abbreviations=("etc ene abr ago dic"),
    sentence_starters=("el los la las un una yo no nunca siempre si por gracias y pero"),
    months=("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"),
    idle_words=(
        "yo tú el los las una y o es son que no ya siempre nunca por para con en de del a partir "
        "ahora me mi mis"
    ),
    own_person=(
        Entry(r"[Yy]o"),
        Entry(r"[Mm]is?"),
        Entry(r"[Nn]uestr[oa]s?"),
    ),
    corrections=(Entry(r"\b(?:corrección|corrijo|en realidad|sino|en lugar|en vez|ya no)\b"),),
    reminders=(
        Entry(r"\brecuerda\b"),
        Entry(r"\bno olvides\b"),
        Entry(r"\bten en cuenta\b"),
    ),
    decisions=(
        Entry(r"\b(?:decidido|decidimos|acordado|acordamos|quedamos en)\b"),
        Entry(r"\bvamos con\b"),
    ),
    undecided=(
        Entry(r"aún no"),
        Entry(r"todavía no"),
    ),
    anchor_cues=("recuerda|olvides|en cuenta|decid|acord|quedamos|vamos con"),
    rules=(Entry(RULES),),
    rule_cues=(
        "siempre|nunca|jamás|no |recuerda|asegúrate|asegurate"
        "|en cuenta|evita|a partir|de ahora|desde ahora|solo|sólo"
        "|solamente|únicamente|cada vez|debes|tienes que|quiero que"
    ),
    polite_rules=(Entry(r"(?:puedes|podrías) (?:siempre|no )"),),
    impostures=(Entry(r"en el resumen"),),
    withdrawals=(
        Entry(r"a partir de ahora"),
        Entry(r"de ahora en adelante"),
        Entry(r"desde ahora"),
        Entry(r"\bya no\b"),
        Entry(r"\bde nuevo\b"),
        Entry(r"\botra vez\b"),
        Entry(r"\bcorrección\b"),
    ),
    vague_withdrawals=(Entry(r"\b(?:ahora|mejor|en realidad)\b"),),
    requests=(Entry(r"responde|escribe|usa"),),
    permissions=(
        Entry(r"\bpermitido\b"),
        Entry(r"\bpuedes\b"),
    ),
    withdrawal_cues=("ahora|ya no|de nuevo|otra vez|corrección|mejor|en realidad"),
    fresh_starts=(Entry(r"siempre|nunca|no"),),
    transforms=(Entry(r"traduc\w+|resum\w+|acort\w+"),),
    pointers=(Entry(r"est[eao]s?|siguiente|nuestr\w+"),),
    exhibits=(Entry(r"aquí (?:est[áa]|tienes)"),),
    politeness=(Entry(r"por favor"),),
    appeals=(Entry(r"por favor"),),
    rule_headings=(Entry(r"reglas"),),
    cases=(Entry(r"si|cuando"),),
    mail_headers=(Entry(r"De|Asunto"),),
    nothing=(Entry(r"sí|si|entendido|vale|claro|gracias|error|ninguno"),),
    refusals=(
        Entry(r"lo siento\b"),
        Entry(r"lamento\b"),
        Entry(r"disculp[ae]\b"),
        Entry(r"(?:lamentablemente|desafortunadamente),? no\b"),
        Entry(r"(?:eso|esto) no (?:lo )?puedo\b"),
        Entry(r"no es posible (?:resumir|ayudar)\b"),
        Entry(r"no (?:puedo|me es posible)\b"),
        Entry(r"como (?:un )?(?:modelo de l|ia,|inteligencia artificial)"),
    ),
    errors=(
        Entry(r"error\s*+[:：]"),
        Entry(r"(?:se (?:ha producido|produjo)|ha ocurrido|ocurrió) un error"),
    ),
    question_starts=(
        Entry(r"que\b"),
        Entry(r"¿"),
    ),
    reader=(Entry(r"\b(?:tú|usted|te)\b"),),
    deferrals=(
        Entry(r"\b(?:lo|voy a|vamos a) (?:compr[ou]|revis|consult|averigu|pregunt)"),
        Entry(r"\b(?:te|le|os|les) (?:aviso|avisar|dir[eé])"),
    ),
    references=(Entry(r"\b(?:qué|cuál|cuándo|dónde|quién)\b"),),
)
