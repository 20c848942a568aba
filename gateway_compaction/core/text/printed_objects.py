"""Objects and lists in JSON that stand on lines of their own: programs print them, nobody says them."""

from __future__ import annotations

from collections.abc import Sequence

import regex

from gateway_compaction.core.text.fences import Span

OPENING = ("{", "[")
JSON_START = regex.compile(r"[ \t]*(?:\{\s*(?:\"|$)|\[\s*(?:[{\"\[]|$))")


def find_objects(text: str, lines: Sequence[Span], limit: int, most: int) -> list[Span]:
    """Return objects and lists in JSON that begin and end a line, before a line; ``most`` characters are read
    of each to tell.
    """
    spans: list[Span] = []
    i = 0
    while i < limit:
        a, b = lines[i]
        if text[a:b].lstrip()[:1] in OPENING and JSON_START.match(text, a, min(b, a + most)):
            end = _find_object_end(text, lines, i)
            if end is None:
                # What does not end would be looked through again from each line.
                break
            spans.append((a, lines[end][1]))
            i = end
        i += 1
    return spans


def _find_object_end(text: str, lines: Sequence[Span], i: int) -> int | None:
    """Return the line on which the brackets that open on a line are closed again."""
    depth = 0
    for number in range(i, len(lines)):
        a, b = lines[number]
        line = text[a:b]
        depth += line.count("{") + line.count("[") - line.count("}") - line.count("]")
        if depth <= 0:
            return number if line.rstrip().endswith(("}", "]", "},", "],")) else None
    return None
