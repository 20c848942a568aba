"""Long texts in slices, for what would hold the interpreter for as long as a text is long.

``re`` and the methods of strings let no other thread of the process move while they work. On a text of 20 MB
that is a third of a second, in which no request goes on, whatever thread the work is on. On slices it is some
milliseconds at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

SLICE = 200_000
"""Characters of a slice, about."""

BLANK = re.compile(r"\s")


def split_text(text: str, size: int = SLICE) -> Iterator[str]:
    """Yield a text in slices of about some size, which end behind a line, or else behind a blank.

    Joined they are the text. A word is never divided, so that one without end is a slice of its own.
    """
    start = 0
    while len(text) - start > size:
        end = text.rfind("\n", start, start + size) + 1
        if end <= start:
            blank = BLANK.search(text, start + size)
            end = blank.end() if blank else len(text)
        yield text[start:end]
        start = end
    if start < len(text) or not text:
        yield text[start:]
