"""The end of a text that somebody pasted, behind which the words of the one who pasted it go on.

Whoever wrote a text can write any mark that would end it, and a harness writes nothing behind a result. So
what a harness labels goes on to the end of the message. Two things end: a frame whose last closing line is
there, since a frame in the text itself is never the last one; and what a terminal or a program printed under
a label that people write themselves ("Console output:"), at a blank line with nothing but plain prose behind
it. What was printed must not be prose itself: of a letter nobody can tell where it ends.
"""

from __future__ import annotations

from collections.abc import Sequence

import regex

# Paragraphs of plain prose behind a block: a longer text is rather a part of it.
MOST_BEHIND = 2
# In characters: a line that parts a frame from what it holds is shorter.
LONGEST_FRAME = 80
# Of the characters of prose so many at least are letters and spaces.
LETTERS = 0.85

RULER = regex.compile(r"[ \t]*(?:-{3,}|={3,}|\*{3,}|`{3,})[ \t]*$")
RULERS = frozenset("-=*`")
BEGINS = frozenset("begin begins beginning start starts".split())
ENDS = frozenset("end ends ending finish".split())
# How output goes on, and no paragraph that a person writes: an indent, a path, a number, a sign, a field.
PRINTED = regex.compile(
    r"[ \t]{2,}|\t|[^\p{L}\"'“„«¿¡(]|\S{0,60}[/\\]\S|[\w.\-]{1,40}[=:(\[]\S|\w+ (?:ERR|WARN)!?\b"
)
ENDED = regex.compile(r"[.!?:…。！？：]['\"”’)*_]*\s*$")
LETTER = regex.compile(r"[\p{L}\p{M} ]")


def is_prose(paragraph: Sequence[str]) -> bool:
    """Tell whether lines are plain prose, as a person writes it: sentences, and nothing that is printed."""
    if any(PRINTED.match(line) for line in paragraph) or not ENDED.search(paragraph[-1]):
        return False
    text = " ".join(paragraph)
    return len(LETTER.findall(text)) >= LETTERS * len(text)


def find_printed_end(lines: Sequence[str], i: int) -> int | None:
    """Return the last line of what was printed from a line on; None where that is the rest of the text.

    The line itself is a label or a prompt: whether what follows is prose decides.
    """
    paragraphs = _list_paragraphs(lines, i + 1)
    behind = 0
    while behind < len(paragraphs) and is_prose([lines[k] for k in paragraphs[-1 - behind]]):
        behind += 1
    if not 0 < behind <= MOST_BEHIND or behind == len(paragraphs):
        return None
    first = paragraphs[-behind]
    # Behind its label without a blank line it is what the label is of.
    return paragraphs[-1 - behind][-1] if first[0] > i + 1 else None


def _list_paragraphs(lines: Sequence[str], start: int) -> list[list[int]]:
    """List the numbers of the lines of each paragraph, from a line on."""
    paragraphs: list[list[int]] = []
    is_open = False
    for k in range(start, len(lines)):
        if not lines[k].strip():
            is_open = False
        elif is_open:
            paragraphs[-1].append(k)
        else:
            paragraphs.append([k])
            is_open = True
    return paragraphs


def find_ruled_end(lines: Sequence[str], i: int) -> int | None:
    """Return the last line that is the same ruler as the one behind a line; None where there is no other."""
    ruler = lines[i + 1].strip()
    last = next(k for k in range(len(lines) - 1, i, -1) if lines[k].strip() == ruler)
    return last if last > i + 1 else None
