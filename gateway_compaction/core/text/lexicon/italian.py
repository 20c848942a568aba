"""The words of Italian."""

from __future__ import annotations

from gateway_compaction.core.text.lexicon.entry import Entry, Lexicon

ITALIAN = Lexicon(
    code="it",
    name="Italian",
    common_words=("il di è che una per con non sono come del gli della un mi le posso qual nel lo quale mio"),
    months=("gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre"),
    nothing=(Entry(r"certo|capito|va bene|grazie|errore"),),
    refusals=(
        Entry(r"mi dispiace\b"),
        Entry(r"mi scuso\b"),
        Entry(r"purtroppo non posso\b"),
        Entry(r"non posso\b"),
        Entry(r"questo non posso\b"),
        Entry(r"(?:non è possibile|impossibile) riassumere\b"),
        Entry(r"non sono in grado\b"),
        Entry(r"come (?:modello|intelligenza artificiale|ia,)"),
    ),
    errors=(
        Entry(r"errore\s*+[:：]"),
        Entry(r"si è verificato un errore"),
    ),
    question_starts=(Entry(r"(?:che|cosa|come|quale)\b"),),
    reader=(Entry(r"\b(?:lei|tu)\b"),),
)
