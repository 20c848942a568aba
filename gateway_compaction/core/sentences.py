"""Where sentences begin and end."""

from __future__ import annotations

import re

__all__ = ["sentence_spans", "sentences"]

# A mark before a space ends a sentence, a CJK mark always does, and so does a line break.
END = re.compile(r"[.!?][\"'”’)\]]*(?=\s)|[。！？]|\n")


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of every sentence, blank space around it left out."""
    spans = []
    start = 0
    for end in [*(m.end() for m in END.finditer(text)), len(text)]:
        piece = text[start:end]
        if stripped := piece.strip():
            first = start + piece.index(stripped[0])
            spans.append((first, first + len(stripped)))
        start = end
    return spans


def sentences(text: str) -> list[str]:
    """The sentences of a text, verbatim."""
    return [text[a:b] for a, b in sentence_spans(text)]
