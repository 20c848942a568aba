"""Fenced code in a text: the one parser of fences.

What stands in a fence is nobody's own words: rules and anchors are not looked for in it, and the language of
a program tells nothing about the language of the person who shows it.
"""

from __future__ import annotations

import regex

Span = tuple[int, int]
FENCE = regex.compile(r"`{3,}+|~{3,}+")
# In characters: what is around a fence on its line is looked at only so far.
BESIDE = 80
# In characters: no mark of a list or a quotation in front of a fence is longer.
LONGEST_MARK = 12


def find_fences(text: str, *, is_cut: bool = False) -> list[Span]:
    """Return where fenced code stands, with its fences, in order and apart from one another.

    Args:
        text: any text, however long: the time is linear in its length.
        is_cut: the text goes on behind its end, so that a fence that is not closed goes on to it as well.
            Otherwise such a fence ends with its paragraph.
    """
    marks = [m.span() for m in FENCE.finditer(text)]
    spans: list[Span] = []
    i = 0
    while i < len(marks):
        start, end = marks[i]
        following = marks[i + 1] if i + 1 < len(marks) else None
        if start < (spans[-1][1] if spans else 0):
            i += 1
        elif following and ("\n" not in text[end : following[0]] or not _rest_of_line(text, following[1])):
            spans.append((start, following[1]))
            i += 2
        else:
            if _is_first_on_line(text, start) or " " not in _rest_of_line(text, end):
                spans.append((start, len(text) if is_cut else paragraph_end(text, end, len(text))))
            i += 1
    return spans


def paragraph_end(text: str, position: int, limit: int) -> int:
    """Return where the paragraph at a position ends; at the latest at ``limit``."""
    end = text.find("\n\n", position, limit)
    return limit if end < 0 else end


def _rest_of_line(text: str, position: int) -> str:
    """Return what stands behind a position on its line."""
    return text[position : position + BESIDE].partition("\n")[0].strip()


def _is_first_on_line(text: str, position: int) -> bool:
    """Tell whether a position is the first on its line, but for marks of lists and quotations."""
    before = text[max(0, position - LONGEST_MARK) : position]
    starts_line = position <= LONGEST_MARK or "\n" in before
    return starts_line and not before.rpartition("\n")[2].strip(" \t>*-.)0123456789")
