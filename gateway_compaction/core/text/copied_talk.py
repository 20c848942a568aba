"""Recorded conversations: lines that name who speaks, as people copy them out of messengers and minutes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import regex

from gateway_compaction.core.text.fences import Span
from gateway_compaction.core.text.own_labels import RULES_HEAD

# Lines with a speaker's name that make a conversation.
TALK_LINES = 4
# Lines from one that names its speaker to the next, in a conversation.
LINES_BETWEEN = 4

_NAME = r"\p{Lu}[\p{L}.'’\-]{0,20}(?:,? \p{Lu}[\p{L}.'’\-]{0,20}){0,2}"
_CLOCK = r"\d{1,2}[:.]\d\d(?:[:.]\d\d)?(?: ?[AaPp]\.?[Mm]\.?| Uhr| h)?"
_DAY = (
    r"(?:\p{L}{3,9}\.? \d{1,2},? (?:at )?|\d{1,2}\.? \p{L}{3,9}\.?,? (?:at )?|\p{L}+[., ]+(?:at )?"
    r"|\d{1,4}[./\-]\d{1,2}(?:[./\-]\d{2,4})?,? (?:at )?)"
)
# "[10:02] Anna: ...", "Anna (10:02): ...", "03/05/2026, 10:02 - Anna: ...".
SPOKEN = regex.compile(
    r"[ \t]*(?:[\[(]?[\d/.:, \-]{4,22}(?:[AaPp][Mm])?[\])]?[ \t\-–]*+)?"
    r"(\p{Lu}[\p{L}.'’\-]{0,20}(?: \p{Lu}[\p{L}.'’\-]{0,20}){0,2})(?: ?[\[(][^\])\n]{1,20}[\])])?[:：]\s+\S"
)
# "Anna Berg  10:02 AM" on a line of its own.
SPEAKS = regex.compile(
    r"[ \t]*(\p{Lu}[\p{L}.'’\-]{0,20}(?: \p{Lu}[\p{L}.'’\-]{0,20}){0,2})[ \t,\[(]+"
    r"(?:\p{L}+ (?:at )?)?\d{1,2}[:.]\d\d(?: ?[AaPp]\.?[Mm]\.?)?[\])]?:?[ \t]*$"
)
# What only a messenger writes, so that one line tells: "Anna Berg  10:02 AM", "Anna — Today at 10:02",
# "[Yesterday 10:02] Anna Berg", "[10:02] Anna: ...". The name stands on its own or behind the time.
COPIED = regex.compile(
    rf"[ \t]*(?:({_NAME})(?:(?: {{2,}}|\t+)[\[(]?{_DAY}?|[ \t]+[\[(]{_DAY}?|(?:,|,? ?[—–-]) [\[(]?{_DAY})"
    rf"{_CLOCK}[\])]?:?[ \t]*$"
    rf"|\[{_DAY}{{0,2}}{_CLOCK}\] ({_NAME})(?:[ \t]*$|: \S))"
)
CLOCK = regex.compile(r"\d[:.]\d\d")
NAME_LINE = regex.compile(rf"[ \t]*({_NAME})[ \t]*$")
TIME_LINE = regex.compile(rf"[ \t]*(?::\w{{1,30}}: |[A-Z]{{2,5}} )?{_DAY}?{_CLOCK}[ \t]*$")


def is_copied_head(lines: Sequence[str], i: int) -> bool:
    """Tell whether a line is the head of a message that was copied out of a messenger: name and time."""
    line = lines[i]
    if i + 1 < len(lines) and TIME_LINE.match(lines[i + 1]):
        found = NAME_LINE.match(line)
    else:
        found = COPIED.match(line) if ":" in line or "." in line else None
    if found is None:
        return False
    name = next(group for group in found.groups() if group is not None)
    if RULES_HEAD.search(f"{name}:"):
        return False
    # A head alone on its line is one of something.
    return found.end() < len(line) or bool("".join(lines[i + 1 : i + 3]).strip())


def find_paragraph_end(lines: Sequence[str], i: int, limit: int) -> int:
    """Return the last line of the paragraph that a line stands in."""
    while i + 1 < limit and lines[i + 1].strip():
        i += 1
    return i


def find_conversations(shown: Sequence[str], lines: Sequence[Span], limit: int) -> list[Span]:
    """Return recorded conversations: lines of two speakers or more, one of whom speaks again."""
    runs: list[dict[int, str]] = []
    spans: list[Span] = []
    clocks = [i for i in range(limit) if CLOCK.search(shown[i])]
    timed = {*clocks, *(i - 1 for i in clocks)}
    for i in range(limit):
        is_timed = ":" in shown[i] or "." in shown[i] or "：" in shown[i]
        is_new = not spans or lines[i][0] >= spans[-1][1]
        if is_new and i in timed and is_copied_head(shown, i):
            spans.append((lines[i][0], lines[find_paragraph_end(shown, i, limit)][1]))
        found = (SPOKEN.match(shown[i]) or SPEAKS.match(shown[i])) if is_timed else None
        if found is not None and not RULES_HEAD.search(f"{found[1]}:"):
            if runs and i - next(reversed(runs[-1])) <= LINES_BETWEEN:
                runs[-1][i] = found[1]
            else:
                runs.append({i: found[1]})
    talks = [run for run in runs if _is_conversation(run)]
    return [
        *spans,
        *((lines[min(run)][0], lines[find_paragraph_end(shown, max(run), limit)][1]) for run in talks),
    ]


def _is_conversation(run: Mapping[int, str]) -> bool:
    """Tell whether lines, each with its speaker, are a conversation rather than a list with names in it."""
    counted = Counter(run.values())
    return len(run) >= TALK_LINES and len(counted) > 1 and max(counted.values()) > 1
