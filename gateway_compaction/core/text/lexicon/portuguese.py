"""The words of Portuguese."""

from __future__ import annotations

from gateway_compaction.core.text.lexicon.entry import Entry, Lexicon

PORTUGUESE = Lexicon(
    code="pt",
    name="Portuguese",
    common_words=("os é que uma para com não se as como do um o meu você posso qual está mais por eu isso"),
    nothing=(Entry(r"sim|não|obrigado|erro"),),
    refusals=(
        Entry(r"desculpe"),
        Entry(r"sinto muito\b"),
        Entry(r"infelizmente,? (?:eu )?não (?:posso|consigo)\b"),
        Entry(r"(?:eu )?não (?:posso|consigo)\b"),
        Entry(r"como (?:uma? )?modelo de linguagem\b"),
        Entry(r"não (?:é possível|pude) resumir\b"),
    ),
    errors=(
        Entry(r"erro\s*+[:：]"),
        Entry(r"ocorreu um erro"),
    ),
    question_starts=(Entry(r"(?:o que|qual|como|quando)\b"),),
    reader=(Entry(r"\b(?:você|te|tu)\b"),),
)
