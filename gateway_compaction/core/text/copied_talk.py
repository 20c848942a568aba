"""Recorded talk and posts: lines that name who speaks, copied out of messengers, pages, minutes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

import regex

from gateway_compaction.core.text.fences import Span
from gateway_compaction.core.text.lexicon import pattern_of
from gateway_compaction.core.text.own_labels import RULES_HEAD

# Lines with a speaker's name that make a conversation.
TALK_LINES = 4
# Lines from one that names its speaker to the next, in a conversation.
LINES_BETWEEN = 4

_NAME = r"\p{Lu}[\p{L}.'’\-]{0,20}(?:,? \p{Lu}[\p{L}.'’\-]{0,20}){0,2}"
_CLOCK = r"\d{1,2}[:.]\d\d(?:[:.]\d\d)?(?: ?[AaPp]\.?[Mm]\.?| Uhr| h)?"
_DATED = r"\d{1,4}[./\-]\d{1,2}[./\-]\d{2,4}"
_DAY = (
    r"(?:\p{L}{3,9}\.? \d{1,2},? (?:at )?|\d{1,2}\.? \p{L}{3,9}\.?,? (?:at )?|\p{L}+[., ]+(?:at )?"
    r"|\d{1,4}[./\-]\d{1,2}(?:[./\-]\d{2,4})?,? (?:at )?)"
)
# "[10:02] Anna: ...", "Anna (10:02): ...", "03/05/2026, 10:02 - Anna: ...".
SPOKEN = regex.compile(
    r"[ \t]*(?:[\[(]?[\d/.:, \-]{4,22}(?:[AaPp][Mm])?[\])]?[ \t\-–]*+)?"
    r"(?:\*\*)?\[?(\p{Lu}[\p{L}.'’\-]{0,20}(?: \p{Lu}[\p{L}.'’\-]{0,20}){0,2})\]?"
    r"(?: ?[\[(][^\])\n]{1,20}[\])])?(?:\*\*)?[:：](?:\*\*)?\s+\S"
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
    rf"|\[(?:{_DAY}{{0,2}}{_CLOCK}|{_CLOCK}, {_DATED})\] ({_NAME})(?:[ \t]*$|: \S)"
    rf"|{_DATED},? {_CLOCK} - ({_NAME}): \S|({_NAME})[ \t]+\d{{1,2}}:\d\d:\d\d[ \t]*$)"
)
# The head of a post on a page: who, and when, with what was done or a sign between them: "octocat commented
# 3 days ago", "Anna Berg @anna · 2 hours ago", "Anna added a comment - 03/Nov/25 10:02 AM".
_HANDLE = r"(?:[@/]?[\w./@\-]{2,40})"
_AUTHOR = rf"(?P<author>(?:{_NAME}|{_HANDLE})(?: \(?{_HANDLE}\)?| [\[(][\w \-]{{1,20}}[\])])?)"
_DATE = (
    rf"(?:{_DAY}?{_CLOCK}|\p{{L}}{{3,9}}\.? \d{{1,2}},? \d{{4}}"
    r"|\d{1,2}[./ -]\p{L}{3,9}[./ -]\d{2,4}"
    rf"|\d{{1,4}}[./-]\d{{1,2}}[./-]\d{{2,4}})(?:,? (?:at )?{_CLOCK})?"
)
_WHEN = rf"(?:(?i:{pattern_of('ages')})|{_DATE}|\d{{1,3}}(?:min|mo|[smhdwy]))(?: \(?edited\)?)?"
POSTED = regex.compile(
    rf"[ \t*]*(?:(?i:{pattern_of('posted')}) {_DATE}$|{_AUTHOR}\**"
    rf"(?:,? (?i:{pattern_of('posted')})(?: ?[-–—·•])? {_WHEN}:?|(?:\s[·•|–—]\s?|\s?[・·]\s?){_WHEN}"
    rf"|\s{_WHEN}(?=\s[·•|]\s)))(?:\s[·•|][^\n]{{0,60}})?[ \t]*$"
)
WHEN_LINE = regex.compile(rf"[ \t]*{_WHEN}[ \t]*$")
DONE_LINE = regex.compile(rf"[ \t]*(?i:{pattern_of('posted')})[ \t]*$")
AUTHOR_LINE = regex.compile(rf"[ \t]*{_AUTHOR}[ \t]*$")
ROLE = regex.compile(rf"(?i){pattern_of('speakers')}")
# Every head of a post is short, and holds a digit or such a word: most lines are told by that alone.
LONGEST_HEAD = 100
NUMBERED = regex.compile(
    r"[ \t]*(?:\[[^\]\n]{1,20}\] ?)?\[?(\p{L}{2,20})[ _#]?(\d{1,2}|[A-Z])\]?[ \t]*:[ \t]+\S"
)
DIGIT = regex.compile(r"\d")
AGE = regex.compile(rf"(?i)\b{pattern_of('ages')}\b")
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


def is_post_head(lines: Sequence[str], i: int) -> bool:
    """Tell whether a line ends the head of a post that was copied out of a page: who wrote it, and when.

    The time may stand on a line of its own, below the name or what was done.
    """
    line = lines[i]
    if len(line) > LONGEST_HEAD or not (DIGIT.search(line) or AGE.search(line)):
        return False
    found = POSTED.match(line)
    if found is None and i and WHEN_LINE.match(line):
        is_done = i > 1 and DONE_LINE.match(lines[i - 1]) is not None
        found = AUTHOR_LINE.match(lines[i - 2 if is_done else i - 1])
    if found is None or RULES_HEAD.search(f"{found['author'] or ''}:"):
        return False
    return bool("".join(lines[i + 1 : i + 3]).strip())


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
        elif is_new and is_post_head(shown, i):
            body = i + 1 if shown[i + 1].strip() else i + 2
            spans.append((lines[i][0], lines[find_paragraph_end(shown, body, limit)][1]))
        found = (SPOKEN.match(shown[i]) or SPEAKS.match(shown[i])) if is_timed else None
        if found is not None and not RULES_HEAD.search(f"{found[1]}:"):
            if runs and i - next(reversed(runs[-1])) <= LINES_BETWEEN:
                runs[-1][i] = found[1]
            else:
                runs.append({i: found[1]})
    talks = [run for run in runs if _is_conversation(run)]
    return [
        *spans,
        *(
            (lines[a][0], lines[find_paragraph_end(shown, b, limit)][1])
            for a, b in _find_numbered_talk(shown, limit)
        ),
        *((lines[min(run)][0], lines[find_paragraph_end(shown, max(run), limit)][1]) for run in talks),
    ]


def _find_numbered_talk(shown: Sequence[str], limit: int) -> list[tuple[int, int]]:
    """Return the first and last lines of talk whose speakers have numbers: "Speaker 1: ...".

    One of them speaks again behind another; steps and rules that are numbered do not.
    """
    said: dict[str, list[tuple[int, str]]] = {}
    for i in range(limit):
        found = NUMBERED.match(shown[i]) if ":" in shown[i] else None
        if found is not None and not RULES_HEAD.search(f"{found[1]}:"):
            said.setdefault(found[1], []).append((i, found[2]))
    talks = []
    for lines in said.values():
        numbers = [number for _, number in lines]
        seen: set[str] = set()
        is_back = False
        for before, number in pairwise(numbers):
            seen.add(before)
            is_back = is_back or (number != before and number in seen)
        if is_back:
            talks.append((lines[0][0], lines[-1][0]))
    return talks


def _is_conversation(run: Mapping[int, str]) -> bool:
    """Tell whether lines, each with its speaker, are a conversation rather than a list with names in it."""
    counted = Counter(run.values())
    if len(counted) > 1 and all(ROLE.fullmatch(name) for name in counted):
        # "Human: ...", "Assistant: ...": nobody calls himself and another so.
        return True
    return len(run) >= TALK_LINES and len(counted) > 1 and max(counted.values()) > 1
