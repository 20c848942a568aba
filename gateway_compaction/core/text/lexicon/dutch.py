"""The words of Dutch."""

from __future__ import annotations

from gateway_compaction.core.text.lexicon.entry import Entry, Lexicon

DUTCH = Lexicon(
    code="nl",
    name="Dutch",
    common_words=("het een is ik niet van dat met voor op zijn je hoe kan mijn wat we de kunt naar"),
    months=("januari februari maart april juni juli september oktober november december"),
    nothing=(Entry(r"begrepen|fout"),),
    refusals=(
        Entry(r"(?:dat|dit) kan ik (?:\w+ ){0,3}?niet\b"),
        Entry(r"het spijt me\b"),
        Entry(r"helaas kan ik\b"),
        Entry(r"ik kan (?:\w+ ){1,6}?niet\b"),
        Entry(r"als (?:ai|taalmodel)\b"),
    ),
    errors=(
        Entry(r"fout\s*+[:：]"),
        Entry(r"er is een fout opgetreden"),
    ),
    question_starts=(Entry(r"(?:wat|hoe|welke|wilt|kunt)\b"),),
    reader=(Entry(r"\b(?:je|jij|u)\b"),),
)
