"""Taking a sentence apart: what is said in passing is blanked, the rest is divided where a clause may begin.

Without it a word counts wherever it stands: "Explain why cats always land on their feet" would order
something that is always to be done.
"""

from __future__ import annotations

import regex

# A clause may begin here, whatever the language; conjunctions are added to it.
PUNCTUATION = r"^\W*+(?:(?:\d{1,3}[.)]|(?<=#)\d{1,3}[.):]?+)\s++)?+|[,;:.—–]\s++|[(]|\s-\s"


def compile_borders(conjunctions: str) -> regex.Pattern[str]:
    """Compile the places where a clause may begin, in a language with these conjunctions."""
    return regex.compile(rf"(?i){PUNCTUATION}|\b{conjunctions}\b[,:]?\s++")


def blank_asides(text: str, asides: regex.Pattern[str]) -> str:
    """Return a text with spaces in the place of its asides, so that all else stays where it stood."""
    return str(asides.sub(lambda found: " " * len(found[0]), text))


def find_clause_starts(text: str, borders: regex.Pattern[str]) -> list[int]:
    """Return where clauses may begin, in order."""
    return [border.end() for border in borders.finditer(text)]
