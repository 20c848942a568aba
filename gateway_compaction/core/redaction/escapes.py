"""Texts as they read without the escapes of JSON, and where each piece of them stands.

Arguments of calls and results of tools are often JSON in a text. Most programs write it in ASCII, so that the
word for a password in Korean is a row of ``\\u…``, and a key behind a line break has an ``n`` before it. What
finds secrets would see neither.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from dataclasses import dataclass

# JSON within JSON has more backslashes: as many as there are stand for one. Looked for from the first of a
# row alone, so that a long row is read once.
ESCAPE = re.compile(r"(?<!\\)\\{1,64}(?:u(?P<code>[0-9a-fA-F]{4})|(?P<letter>[nrtbf\"/]))")
LETTERS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", '"': '"', "/": "/"}


@dataclass(frozen=True, slots=True)
class Unescaped:
    """A text without its escapes.

    Attributes:
        text: the text, with a character in the place of each escape.
        ends: where each escape ends in the text as it was written.
        places: the same places in ``text``.
    """

    text: str
    ends: array[int]
    places: array[int]

    def find_place(self, position: int) -> int:
        """Return where what stands at a position of ``text`` was written."""
        before = bisect_right(self.places, position) - 1
        return position if before < 0 else self.ends[before] + position - self.places[before]


def undo_escapes(text: str) -> Unescaped | None:
    """Return a text without its escapes; None where it has none."""
    if "\\" not in text:
        return None
    pieces, ends, places = list[str](), array("q"), array("q")
    at = length = 0
    for match in ESCAPE.finditer(text):
        code = match["code"]
        pieces += [text[at : match.start()], chr(int(code, 16)) if code else LETTERS[match["letter"]]]
        length += match.start() - at + 1
        at = match.end()
        ends.append(at)
        places.append(length)
    return Unescaped("".join([*pieces, text[at:]]), ends, places) if ends else None
