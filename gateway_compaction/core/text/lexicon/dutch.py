"""The words of Dutch."""

from __future__ import annotations

from gateway_compaction.core.text.lexicon.entry import Entry, Lexicon
from gateway_compaction.core.text.lexicon.rules.dutch import RULES

DUTCH = Lexicon(
    code="nl",
    rules=RULES,
    withdrawals=(
        Entry(
            r"\bvergeet (?:wat|de|het|mijn|dat)\b|\bgeldt niet (?:meer|langer)\b|\blaat (?:maar"
            r"|dat maar)\b|\b(?:mag|mogen) weer\b|\bschrap (?:de|het|die)\b|\bniet langer\b|\bkan weer\b",
            "Vergeet wat ik zei.",
            "Vergeet niet.",
        ),
    ),
    withdrawal_cues="vergeet|geldt|laat|weer|schrap|langer",
    transforms=(
        Entry(
            r"vertaal\w*|vat\b|samenvat\w*|corrigeer\w*|herschrijf\w*|verbeter\w*|kort in",
            "Vertaal deze mail",
            "Schrijf",
        ),
    ),
    pointers=(Entry(r"deze|dit\b|volgende|onderstaande|mijn|onze", "deze mail", "de mail"),),
    near_pointers=(Entry(r"\b(?:dit|deze|volgende|onderstaande)\b", "deze", "mijn"),),
    bare_questions=(
        Entry(
            r"(?:(?:en|maar|dus|hoi),? )*(?:wat|hoe|welke?|wanneer (?:is|moet|kan)|waar(?:om|mee|voor)?"
            r"|wie|(?:heb|heeft|is|zijn|kan|kun|kunnen|moet|moeten|mag|wil|zal|klopt|bestaat|werkt|ben"
            r"|doe|weet) (?:je|jij|ik|we|men|het|de|een|er|dat|dit|mijn|u))\b",
            "heb je altijd een return nodig",
            "Gebruik altijd een return.",
        ),
    ),
    conjunctions=(Entry(r"en|maar|of|dus|dan|daarom|alsjeblieft|graag", "en", "enkel"),),
    name="Dutch",
    common_words=("het een is ik niet van dat met voor op zijn je hoe kan mijn wat we de kunt naar"),
    months=("januari februari maart april juni juli september oktober november december"),
    ages=(
        Entry(
            r"(?:\d{1,3}|een) \p{L}+ geleden|gisteren",
            "3 dagen geleden",
            "3 dagen",
        ),
    ),
    file_labels=(Entry(r"(?:bestand|document|pad|bron|bijlage)\b|inhoud van\b", "Inhoud van", "Bestanden"),),
    mail_headers=(Entry(r"Van|Aan|CC|Verzonden|Onderwerp", "Onderwerp", "De haven"),),
    source_labels=(
        Entry(
            r"(?:resulta(?:at|ten)|uitvoer|antwoord|inhoud|rapport)\b[^:\n]{1,30}\b(?:tool"
            r"|hulpmiddel|commando|opdracht|functie|bestand|programma|agent|zoekopdracht)\b"
            r"|waarneming\b",
            "Uitvoer van het commando",
            "Resultaat",
        ),
    ),
    nothing=(Entry(r"begrepen|fout", "begrepen", "Het havenkantoor gaat om negen open."),),
    refusals=(
        Entry(
            r"(?:dat|dit) kan ik (?:\w+ ){0,3}?niet\b",
            "dit kan ik niet",
            "Het havenkantoor gaat om negen open.",
        ),
        Entry(r"het spijt me\b", "het spijt me", "Het havenkantoor gaat om negen open."),
        Entry(r"helaas kan ik\b", "helaas kan ik", "Het havenkantoor gaat om negen open."),
        Entry(r"ik kan (?:\w+ ){1,6}?niet\b", "ik kan dat niet", "Het havenkantoor gaat om negen open."),
        Entry(r"als (?:ai|taalmodel)\b", "als taalmodel", "Het havenkantoor gaat om negen open."),
    ),
    errors=(
        Entry(r"fout\s*+[:：]", "fout:", "Het havenkantoor gaat om negen open."),
        Entry(
            r"er is een fout opgetreden", "er is een fout opgetreden", "Het havenkantoor gaat om negen open."
        ),
    ),
    question_starts=(
        Entry(r"(?:wat|hoe|welke|wilt|kunt)\b", "welke", "Het havenkantoor gaat om negen open."),
    ),
    reader=(Entry(r"\b(?:je|jij|u)\b", "jij", "Het havenkantoor gaat om negen open."),),
)
