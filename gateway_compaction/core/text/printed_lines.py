"""Text that programs print line by line and nobody types: logs, commits in short, records, subtitles, HTTP.

No label stands above such text, so it is told by the shape of its own lines: a stamp of date and time, a hash
at each line's beginning, fields with tabs, times that alternate with speech. Where a shape also occurs in
what people write, one line of it is none; several below one another are.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import regex

from gateway_compaction.core.text.fences import Span
from gateway_compaction.core.text.pasted_blocks import PRINTED, find_printed_end
from gateway_compaction.core.text.retrieval_prompts import OF_INSTRUCTION

# Lines of a kind that one alone of would be no sign.
ALIKE_LINES, TIME_LINES = 2, 3
# A line begins with one of these, or is looked at no further: most begin with a letter.
FIRST_SIGNS = frozenset("0123456789[*|")

_SECONDS = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
# 2025-11-03 10:12:01 ..., [2025-11-03T10:12:01Z] ..., Nov  3 10:12:01 web1 ..., 10:12:01.123 ...
# I1103 10:12:01.123 ..., INFO:root:... People who write a time leave the seconds out.
STAMP = regex.compile(
    rf"[ \t]*\[?(?:\d{{4}}[-/.]\d\d[-/.]\d\d[T ,]+|\d\d[-/.]\d\d[-/.]\d{{2,4}}[T ,]+|\d\d-\d\d "
    rf"|[IWEF]\d{{4}} |\p{{Lu}}\p{{Ll}}{{2}} [ \d]\d )?{_SECONDS}\]?[ \t]+\S"
)
MONTH = regex.compile(rf"\p{{Lu}}\p{{Ll}}{{2}} [ \d]\d {_SECONDS} ")
# 3f1c0a9 Fix it, in a graph or without: as one line it may be somebody's sentence.
COMMIT = regex.compile(r"[*|\\/ ]{0,12}(?=[a-f]*\d)[0-9a-f]{7,40} \S")
# web1  | ready
LEVELLED = regex.compile(r"[A-Z]{4,8}:[\w.]{2,40}:\S")
ROW = regex.compile(r"\d{1,9}[,;][^\s\d]")
PREFIXED = regex.compile(r"([\w.\-]{2,40} {1,20}\| )\S")
# Bob (2):
AUTHOR_OF = regex.compile(r"\p{Lu}[^:()\n]{1,40} \(\d{1,6}\):$")
TABBED = regex.compile(r"[a-z][\w\-]{1,20}:\t")
STATUS = regex.compile(r"<?[ \t]?HTTP/\d(?:\.\d)? [1-5]\d\d\b")
HEADER = regex.compile(r"<?[ \t]?[A-Za-z][\w\-]{1,40}: ?\S")
CUE = regex.compile(r"(?:\d\d:)?\d\d:\d\d[.,]\d{3} -->")
TIME_ALONE = regex.compile(r"[ \t]*[\[(]?(?:\d{1,2}:)?\d{1,2}:\d\d[\])]?[ \t]*$")
# Name:  value, as records of programs and pages are shown: so many below one another, one of whose values no
# person makes up: an address, a date, a number of a ticket, an id.
FIELD = regex.compile(r"[ \t]{0,4}(\p{L}[\p{L}\d _./\-]{0,30}):[ \t]+(\S[^\n]*)")
FIELDS, MOST_FIELDS = 3, 24
OF_PROGRAM = regex.compile(
    r"(?:https?://\S+|\S+@\S+\.\w+|\d{4}-\d\d-\d\d\S*|\p{Lu}{2,10}-\d{1,6}|#\d{2,8}|[0-9a-f]{7,64}"
    r"|\d{1,3}(?:\.\d{1,3}){3}\S*|[\w.\-]+/[\w.\-/]+:[\w.\-]+|[a-z][\w.\-]*-[a-z\d]{5,10})[ \t]*$"
)
# The line below the names of a table's columns, and its rows; those of a data frame begin with a number.
TABLE_RULER = regex.compile(r"[ \t]*[-=]{2,}(?:[ \t]*[+|][ \t]*[-=]{2,})+[ \t]*$")
FRAME_ROW = regex.compile(r"[ \t]{0,8}\d{1,9}[ \t]{2,}\S")
# [('...',), (...)], {'a': ...}, as Python prints what a query found.
PRINTED_VALUE = regex.compile(r"(?:\[\(|\(|\{)(?:b|u)?['\"]")
VALUE_OPENS = frozenset(("[(", "('", '("', "{'", '{"'))
SCALAR_ENDS = ("|", ">", "|-", ">-", "|+", ">+")
VALUE_ENDS = (")", "]", "}", "),")
BLOCK_SCALAR = regex.compile(r"([ \t]*)[\w.\-]{1,40}: [|>][+\-]?\d?[ \t]*$")
# [1] Release notes (https://x.example/r), as searches list what they found.
HIT = regex.compile(r"[ \t]*\[\d{1,3}\][ \t]+[^\n]{1,100}?\(?https?://\S+\)?[ \t]*$")
# (score: 0.91) ..., [relevance=0.87] ..., Retrieved memory (score 0.87): ...
SCORED = regex.compile(
    r"(?i)[ \t]*(?:[\p{L} ]{0,40})[(\[](?:score|similarity|relevance|distance|confidence)[:= ]{1,2}"
    r"-?\d?\.\d+[)\]](?::|[ \t]|$)"
)
OBJECT = regex.compile(r"BEGIN:(V[A-Z]{3,20})[ \t]*$")


def find_printed(lines: Sequence[str], limit: int) -> list[tuple[int, int]]:
    """Return the first and the last line of each text that a program printed, in order, before a line.

    The time is linear in the number of the lines.
    """
    blocks: list[tuple[int, int]] = []
    times = [i for i in range(limit) if ":" in lines[i] and TIME_ALONE.match(lines[i])]
    if len(times) >= TIME_LINES:
        blocks.append((times[0], _find_paragraph_end(lines, times[-1], limit)))
    i = 0
    while i < limit:
        end = _find_end(lines, i, limit)
        if end is None:
            i += 1
        else:
            blocks.append((i, end))
            i = end + 1
    return sorted(blocks)


def to_spans(blocks: Sequence[tuple[int, int]], lines: Sequence[Span]) -> list[Span]:
    """Return where blocks of lines stand in their text."""
    return [(lines[first][0], lines[last][1]) for first, last in blocks]


def _find_end(lines: Sequence[str], i: int, limit: int) -> int | None:
    """Return the last line of what was printed from a line on; None where nothing begins there."""
    line = lines[i]
    if "-->" in line and CUE.match(line):
        return limit - 1
    if _is_logged(line):
        return _find_last_logged(lines, i, limit)
    if line[:1] in FIRST_SIGNS or line[:1] in "abcdef":
        commits = _count_alike(lines, i, limit, COMMIT)
        alike = max(commits, _count_alike(lines, i, limit, ROW))
        if alike >= ALIKE_LINES:
            return i + alike - 1
    if " | " in line and (found := PREFIXED.match(line)) is not None:
        alike = _count_beginning(lines, i, limit, found[1])
        return i + alike - 1 if alike >= ALIKE_LINES else None
    if line.startswith(("HTTP/", "< HTTP/")) and STATUS.match(line):
        return _find_answer_end(lines, i, limit)
    if "\t" in line and _count_alike(lines, i, limit, TABBED) >= ALIKE_LINES:
        return limit - 1
    if line.startswith("BEGIN:") and (opened := OBJECT.match(line)) is not None:
        closing = f"END:{opened[1]}"
        return next((k for k in range(limit - 1, i, -1) if lines[k].strip() == closing), limit - 1)
    if line.endswith("):") and AUTHOR_OF.match(line) and i + 1 < limit and lines[i + 1][:4].isspace():
        return _find_paragraph_end(lines, i, limit)
    if " | " in line and i and TABLE_RULER.match(lines[i - 1]):
        return i + _count_holding(lines, i, limit, " | ") - 1
    if line[:2] in VALUE_OPENS and PRINTED_VALUE.match(line) and line.rstrip().endswith(VALUE_ENDS):
        return i
    if ("(" in line or "[" in line) and (HIT.match(line) or SCORED.match(line)):
        return _find_paragraph_end(lines, i, limit)
    return _find_record_end(lines, i, limit)


def _find_record_end(lines: Sequence[str], i: int, limit: int) -> int | None:
    """Return the last line of a record of named fields, of a block of YAML or of a data frame's rows."""
    line = lines[i]
    block = BLOCK_SCALAR.match(line) if line.rstrip().endswith(SCALAR_ENDS) else None
    if block is not None:
        k = i
        while k + 1 < limit and lines[k + 1].startswith(block[1] + "  "):
            k += 1
        return k if k > i else None
    if ": " in line:
        return _find_fields_end(lines, i, min(limit, i + MOST_FIELDS))
    rows = _count_alike(lines, i, limit, FRAME_ROW) if "  " in line else 0
    return i + rows - 1 if rows >= ALIKE_LINES else None


def _find_fields_end(lines: Sequence[str], i: int, limit: int) -> int | None:
    """Return the last line of a record of fields, up to one that is about manners; None without one."""
    fields: list[regex.Match[str]] = []
    while i + len(fields) < limit and (field := FIELD.match(lines[i + len(fields)])) is not None:
        fields.append(field)
    if len(fields) < FIELDS or not any(OF_PROGRAM.match(field[2]) for field in fields):
        return None
    # The dearest question comes last.
    count = next((n for n, field in enumerate(fields) if _is_of_manner(field[1])), len(fields))
    return i + count - 1 if count >= FIELDS else None


@lru_cache(maxsize=1_000)
def _is_of_manner(name: str) -> bool:
    return OF_INSTRUCTION.search(name) is not None


def _count_holding(lines: Sequence[str], i: int, limit: int, sign: str) -> int:
    """Return how many lines below one another hold a sign, from a line on."""
    k = i
    while k < limit and sign in lines[k]:
        k += 1
    return k - i


def _is_logged(line: str) -> bool:
    """Tell whether a line begins as those of logs: with a time to the second, or a level and its logger."""
    if line.lstrip()[:1] in FIRST_SIGNS:
        return STAMP.match(line) is not None
    if line[:1] in "IWEF" and line[1:2].isdigit():
        return STAMP.match(line) is not None
    if line[3:4] == " ":
        return MONTH.match(line) is not None
    return ":" in line[4:9] and LEVELLED.match(line) is not None


def _find_last_logged(lines: Sequence[str], i: int, limit: int) -> int:
    """Return the last line of a log: what stands between two of its lines belongs to it, and what goes on."""
    last = i
    for k in range(i + 1, limit):
        if _is_logged(lines[k]):
            last = k
        elif not lines[k].strip():
            break
    while last + 1 < limit and lines[last + 1].strip() and PRINTED.match(lines[last + 1]):
        last += 1
    return last


def _find_answer_end(lines: Sequence[str], i: int, limit: int) -> int | None:
    """Return the last line of an answer of HTTP; a status without a header behind it is a person's."""
    gap = i + 1
    while gap < limit and HEADER.match(lines[gap]):
        gap += 1
    if gap == i + 1:
        return None
    end = find_printed_end(lines[:limit], gap - 1)
    return limit - 1 if end is None or end < gap else end


def _count_alike(lines: Sequence[str], i: int, limit: int, shape: regex.Pattern[str]) -> int:
    """Return how many lines of a shape stand below one another from a line on."""
    k = i
    while k < limit and shape.match(lines[k]):
        k += 1
    return k - i


def _count_beginning(lines: Sequence[str], i: int, limit: int, start: str) -> int:
    """Return how many lines below one another begin alike, from a line on; the service's name may differ."""
    k = i
    while k < limit and lines[k][len(start) - 2 : len(start)] == "| " and PREFIXED.match(lines[k]):
        k += 1
    return k - i


def _find_paragraph_end(lines: Sequence[str], i: int, limit: int) -> int:
    while i + 1 < limit and lines[i + 1].strip():
        i += 1
    return i
