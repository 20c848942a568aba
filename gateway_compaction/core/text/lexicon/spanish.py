"""The words of Spanish."""

from __future__ import annotations

from gateway_compaction.core.text.lexicon.entry import Entry, Lexicon, Phrases
from gateway_compaction.core.text.lexicon.rules.spanish import RULES

SPANISH = Lexicon(
    code="es",
    rules=RULES,
    near_pointers=(Entry(r"\b(?:est[eao]s?|siguientes?)\b", "este", "la"),),
    bare_questions=(
        Entry(
            r"(?:¿|(?:(?:y|pero|entonces|hola),? )*(?:qué|cómo|cuál|cuáles|cuándo|dónde|quién|por qué"
            r"|para qué|hace falta|hay que\b(?=.*\bsiempre\b.*\b(?:en|para)\b)|es (?:verdad|cierto"
            r"|necesario|obligatorio)|se puede|puedo|debo|puedes decirme|necesito siempre)\b)",
            "hace falta siempre un return",
            "Usa siempre un return.",
        ),
    ),
    conjunctions=(Entry(r"y|pero|o|así que|asi que|entonces|por favor|pues", "y", "yo"),),
    name="Spanish",
    phrases=Phrases(
        "Resumen de la parte anterior de esta conversación, como contexto; no contiene "
        "instrucciones nuevas. La conversación continúa abajo.",
        "imagen ya no visible",
        "Mensajes anteriores, citados como contexto:",
        "mensajes anteriores que ya no se muestran",
        "archivo ya no visible",
        "audio ya no disponible",
        "vídeo ya no visible",
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
        Entry(r"[Yy]o", "yo", "La oficina del puerto abre a las nueve."),
        Entry(r"[Mm]is?", "mi", "La oficina del puerto abre a las nueve."),
        Entry(r"[Nn]uestr[oa]s?", "nuestra", "La oficina del puerto abre a las nueve."),
    ),
    corrections=(
        Entry(
            r"\b(?:corrección|corrijo|en realidad|sino|en lugar|en vez|ya no)\b",
            "en realidad",
            "La oficina del puerto abre a las nueve.",
        ),
    ),
    reminders=(
        Entry(r"\brecuerda\b", "recuerda", "La oficina del puerto abre a las nueve."),
        Entry(r"\bno olvides\b", "no olvides", "La oficina del puerto abre a las nueve."),
        Entry(r"\bten en cuenta\b", "ten en cuenta", "La oficina del puerto abre a las nueve."),
    ),
    decisions=(
        Entry(
            r"\b(?:decidido|decidimos|acordado|acordamos|quedamos en)\b",
            "quedamos en",
            "La oficina del puerto abre a las nueve.",
        ),
        Entry(r"\bvamos con\b", "vamos con", "La oficina del puerto abre a las nueve."),
    ),
    undecided=(
        Entry(r"aún no", "aún no", "La oficina del puerto abre a las nueve."),
        Entry(r"todavía no", "todavía no", "La oficina del puerto abre a las nueve."),
    ),
    anchor_cues=("recuerda|olvides|en cuenta|decid|acord|quedamos|vamos con"),
    withdrawals=(
        Entry(
            r"\bolvid[ae] (?:lo|la|el|mi|las|los)\b|\bya no (?:vale|aplica|cuenta)\b|\bcancel[ae] (?:la"
            r"|el|lo)\b|\bdeja sin efecto\b",
            "Olvida lo que dije.",
            "No olvides.",
        ),
        Entry(r"a partir de ahora", "a partir de ahora", "La oficina del puerto abre a las nueve."),
        Entry(r"de ahora en adelante", "de ahora en adelante", "La oficina del puerto abre a las nueve."),
        Entry(r"desde ahora", "desde ahora", "La oficina del puerto abre a las nueve."),
        Entry(r"\bya no\b", "ya no", "La oficina del puerto abre a las nueve."),
        Entry(r"\bde nuevo\b", "de nuevo", "La oficina del puerto abre a las nueve."),
        Entry(r"\botra vez\b", "otra vez", "La oficina del puerto abre a las nueve."),
        Entry(r"\bcorrección\b", "corrección", "La oficina del puerto abre a las nueve."),
    ),
    vague_withdrawals=(
        Entry(r"\b(?:ahora|mejor|en realidad)\b", "en realidad", "La oficina del puerto abre a las nueve."),
    ),
    requests=(Entry(r"responde|escribe|usa", "responde", "La oficina del puerto abre a las nueve."),),
    permissions=(
        Entry(r"\bpermitido\b", "permitido", "La oficina del puerto abre a las nueve."),
        Entry(r"\bpuedes\b", "puedes", "La oficina del puerto abre a las nueve."),
    ),
    withdrawal_cues=("olvid|cancel|deja|ahora|ya no|de nuevo|otra vez|corrección|mejor|en realidad"),
    fresh_starts=(Entry(r"siempre|nunca|no", "siempre", "La oficina del puerto abre a las nueve."),),
    transforms=(
        Entry(
            r"tradu[cz]\w+|revis\w+|corrig\w+|corrij\w+|reescrib\w+|resum\w+|acort\w+",
            "reescribir",
            "La oficina del puerto abre a las nueve.",
        ),
    ),
    pointers=(
        Entry(r"est[eao]s?|siguiente|nuestr\w+", "siguiente", "La oficina del puerto abre a las nueve."),
    ),
    exhibits=(Entry(r"aquí (?:est[áa]|tienes)", "aquí tienes", "La oficina del puerto abre a las nueve."),),
    politeness=(Entry(r"por favor", "por favor", "La oficina del puerto abre a las nueve."),),
    appeals=(Entry(r"por favor", "por favor", "La oficina del puerto abre a las nueve."),),
    rule_headings=(Entry(r"reglas", "reglas", "La oficina del puerto abre a las nueve."),),
    cases=(Entry(r"si|cuando", "cuando", "La oficina del puerto abre a las nueve."),),
    mail_headers=(Entry(r"De|Para|CC|Enviado(?: el)?|Asunto", "Asunto", "Nordlicht 7"),),
    ages=(
        Entry(
            r"hace (?:\d{1,3}|una?) \p{L}+|ayer",
            "hace 3 días",
            "hace calor",
        ),
    ),
    posted=(
        Entry(
            r"(?:comentó|escribió|respondió|publicó)(?: el)?",
            "comentó el",
            "comentario",
        ),
    ),
    file_labels=(
        Entry(
            r"(?:archivo|fichero|documento|ruta|fuente|adjunto)\b|(?:contenido|extracto) de",
            "Contenido de",
            "Archivos",
        ),
    ),
    source_labels=(
        Entry(
            r"(?:resultados?|salida|respuesta|contenido|informe)\b[^:\n]{1,30}\b(?:herramienta"
            r"|comando|función|archivo|programa|agente|búsqueda)\b|observación\b",
            "Resultado de la herramienta",
            "Resultado",
        ),
    ),
    nothing=(
        Entry(
            r"sí|si|entendido|vale|claro|gracias|error|ninguno",
            "entendido",
            "La oficina del puerto abre a las nueve.",
        ),
    ),
    refusals=(
        Entry(r"lo siento\b", "lo siento", "La oficina del puerto abre a las nueve."),
        Entry(r"lamento\b", "lamento", "La oficina del puerto abre a las nueve."),
        Entry(r"disculp[ae]\b", "disculpe", "La oficina del puerto abre a las nueve."),
        Entry(
            r"(?:lamentablemente|desafortunadamente),? no\b",
            "desafortunadamente no",
            "La oficina del puerto abre a las nueve.",
        ),
        Entry(r"(?:eso|esto) no (?:lo )?puedo\b", "esto no puedo", "La oficina del puerto abre a las nueve."),
        Entry(
            r"no es posible (?:resumir|ayudar)\b",
            "no es posible resumir",
            "La oficina del puerto abre a las nueve.",
        ),
        Entry(r"no (?:puedo|me es posible)\b", "no me es posible", "La oficina del puerto abre a las nueve."),
        Entry(
            r"como (?:un )?(?:modelo de l|ia,|inteligencia artificial)",
            "como inteligencia artificial",
            "La oficina del puerto abre a las nueve.",
        ),
    ),
    errors=(
        Entry(r"error\s*+[:：]", "error:", "La oficina del puerto abre a las nueve."),
        Entry(
            r"(?:se (?:ha producido|produjo)|ha ocurrido|ocurrió) un error",
            "se ha producido un error",
            "La oficina del puerto abre a las nueve.",
        ),
    ),
    question_starts=(
        Entry(r"que\b", "que", "La oficina del puerto abre a las nueve."),
        Entry(r"¿", "¿", "La oficina del puerto abre a las nueve."),
    ),
    reader=(Entry(r"\b(?:tú|usted|te)\b", "usted", "La oficina del puerto abre a las nueve."),),
    deferrals=(
        Entry(
            r"\b(?:lo|voy a|vamos a) (?:compr[ou]|revis|consult|averigu|pregunt)",
            "vamos a consult",
            "La oficina del puerto abre a las nueve.",
        ),
        Entry(
            r"\b(?:te|le|os|les) (?:aviso|avisar|dir[eé])",
            "les avisar",
            "La oficina del puerto abre a las nueve.",
        ),
    ),
    references=(
        Entry(r"\b(?:qué|cuál|cuándo|dónde|quién)\b", "cuándo", "La oficina del puerto abre a las nueve."),
    ),
)
