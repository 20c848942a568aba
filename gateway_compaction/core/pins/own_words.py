"""A user's own words: code, quotations and pasted text are blanked, the rest stays in its place.

Without it a letter that is to be translated, or a comment in code, would lay down rules for the assistant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise, takewhile

import regex

from gateway_compaction.core.pins.quoting_words import (
    ASKS,
    CODED,
    HEADS_RULES,
    INTRODUCES,
    INTRODUCES_INLINE,
    LISTED,
    NUMBERED,
    RULES_FOLLOW,
    STARTS_ANEW,
    WRITES_ABOUT,
    WRITES_ABOUT_THIS,
    WRITES_ON,
)
from gateway_compaction.core.text.fences import Span, find_fences, paragraph_end
from gateway_compaction.core.text.own_labels import OWN_TAG, find_own_label
from gateway_compaction.core.text.pasted_blocks import find_printed_end
from gateway_compaction.core.text.provenance import (
    find_brought_in,
    names_source,
)

# An apostrophe that was typed as a backtick.
TICK = regex.compile(r"(?<=\p{Latin})`(?=\p{Latin})")
INLINE = regex.compile(
    r"(?<![`\p{Latin}])``?(?!`)((?:(?![.!?]\s)[^`\n])++)``?(?![`\p{Latin}])"
    r"|(?<![\w\"])\"((?:[^\"\n])++)\"(?!\w)|“([^“”\n]++)”|„([^„“”\n]++)[“”]"
    r"|«([^«»\n]++)»|「([^「」\n]++)」|『([^『』\n]++)』"
)
TAG = regex.compile(r"<(/?)([A-Za-z][\w-]{0,40})(?:\s[^<>\n]{0,200})?+>")
EMPHASIS = frozenset("b i em strong u s br code sub sup mark small span".split())
MARK = regex.compile(r"(?i)<!--\s*+anchor\b")
QUOTED_LINE = regex.compile(
    r"[ \t]*(?:>|\||\d+(?:[|→]|:(?!\d\d\b))|\d+\t|[-+]{3} |@@ "
    r"|(?=[^\s:]{0,60}[./])[^\s:]{1,120}?[:\-]\d+[:\-])"
)
ENDED = regex.compile(r"[.!?:;。！？…：；]['\"”’)\]*_]*\s*$")
SIGNS = frozenset("(){}[]<>=")
INDENT = regex.compile(r"[ \t]{2,}")
BLANK = regex.compile(r"[^\n]")
PASTED_LINES = 12
# Of a long text no more lines than these at its beginning and at its end are looked at.
READ_LINES = 200
BLOCK_LINES, ALIKE_WORDS = 4, 3
FULL_LINE = 50
INTRODUCED_LINES, ASKED_LINES = 4, 3
LONGEST_INTRODUCTION, LONGEST_REQUEST = 200, 300
BULKY_CHARS, BULKY_LINES = 1_500, 25
# In characters: a line that heads rules is shorter, and lines are compared only so far.
BESIDE = 80


def blank_quotations(text: str) -> str:
    """Return the text, no longer and no shorter, without what its writer only quotes.

    Blocks become blank lines; code and quotations within a line become one word.
    """
    own = TICK.sub("'", text)
    own = _blank_spans(own, find_fences(own)) if "```" in own or "~~~" in own else own
    own = _blank_spans(own, _find_comments(own)) if "<!--" in own else own
    own = _blank_spans(own, _find_elements(own)) if "</" in own else own
    own = _blank_spans(own, find_own_label(text))
    own = _blank_spans(own, find_brought_in(text))
    own = _blank_pasted_lines(own, text)
    return INLINE.sub(_to_one_word, own)


def join_lines(own: str) -> str:
    """Return the text with the line breaks within a sentence made spaces."""
    lines = own.split("\n")
    joined = [lines[0]]
    for before, line in pairwise(lines):
        joined += [" " if _is_continued(before, line) else "\n", line]
    return "".join(joined)


def is_document(text: str) -> bool:
    """Tell whether so much was written, fenced code apart, that it is a document rather than a wish."""
    if len(text) <= BULKY_CHARS and text.count("\n") <= BULKY_LINES:
        return False
    lines = [line for line in _blank_spans(text, find_fences(text)).split("\n") if line.strip()]
    return len(lines) > BULKY_LINES or sum(map(len, lines)) > BULKY_CHARS


def _is_continued(before: str, line: str) -> bool:
    """Tell whether a line goes on with the sentence of the one before."""
    start, end = line.lstrip()[:40], before.rstrip()[-40:]
    if not start or not end or ENDED.search(end) or LISTED.match(start) or STARTS_ANEW.match(start):
        return False
    return start[0].islower() or (len(before) >= FULL_LINE and start[0].isupper() and end[-1].islower())


def _to_one_word(found: regex.Match[str]) -> str:
    inner = max(i for i in range(1, 8) if found[i] is not None)
    first, last = found.start(inner) - found.start(), found.end(inner) - found.start()
    whole: str = found[0]
    ends = (
        whole[last - 1] in ".!?。！？"
        and not found.string[found.end() : found.end() + 2].strip()[:1].islower()
    )
    return whole[:first] + "x" * (last - first - 1) + (whole[last - 1] if ends else "x") + whole[last:]


def _blank_spans(text: str, spans: Sequence[Span]) -> str:
    """Return the text with some spans, given in order, made blank; its lines stay."""
    pieces, done = [], 0
    for start, end in spans:
        pieces += [text[done:start], BLANK.sub(" ", text[start:end])]
        done = end
    return "".join([*pieces, text[done:]])


def _find_comments(text: str) -> list[Span]:
    """Comments that are no anchor marks; where one is not closed, as far as its paragraph goes."""
    spans: list[Span] = []
    start = text.find("<!--")
    while start >= 0:
        following = text.find("<!--", start + 4)
        limit = following if following >= 0 else len(text)
        end = text.find("-->", start + 4, limit)
        if not MARK.match(text, start):
            spans.append((start, end + 3 if end >= 0 else paragraph_end(text, start, limit)))
        start = following
    return spans


def _find_elements(text: str) -> list[Span]:
    """Return what stands between a tag and its end; not emphasis, nor what names itself an instruction."""
    spans: list[Span] = []
    opened: list[tuple[str, int]] = []
    names: Counter[str] = Counter()
    is_reply = bool(find_own_label(text))
    for tag in TAG.finditer(text):
        name = tag[2].lower()
        if (
            name in EMPHASIS
            or (is_reply and name == "answer")
            or (OWN_TAG.search(name) and not names_source(name))
        ):
            continue
        if not tag[1]:
            opened.append((name, tag.start()))
            names[name] += 1
        elif names[name]:
            start = tag.start()
            while True:
                last, start = opened.pop()
                names[last] -= 1
                if last == name:
                    break
            while spans and spans[-1][0] >= start:
                spans.pop()
            spans.append((start, tag.end()))
    return spans


def _blank_pasted_lines(own: str, text: str) -> str:
    lines = own.split("\n")
    said = [i for i, line in enumerate(lines) if line.strip()]
    between, said = said[READ_LINES:-READ_LINES], [*said[:READ_LINES], *said[READ_LINES:][-READ_LINES:]]
    pasted = {i for i in said if QUOTED_LINE.match(lines[i]) or _is_code(lines[i])}
    pasted.update(_find_introduced(lines, text.split("\n"), said))
    blocks = _group_paragraphs(said)
    pasted.update(_find_written_about(lines, blocks))
    for block in blocks:
        pasted.update(_find_pasted(lines, block))
    left = [i for i in said if i not in pasted]
    if len(left) > PASTED_LINES * 4:
        pasted.update(left[PASTED_LINES:-PASTED_LINES])
    for i in (*pasted, *between):
        lines[i] = " " * len(lines[i])
    return "\n".join(_drop_inline_quotation(line) for line in lines)


def _is_code(line: str) -> bool:
    end = line.rstrip()[-1:]
    return end in ("{", "}") or (end == ";" and not SIGNS.isdisjoint(line)) or CODED.match(line) is not None


def _drop_inline_quotation(line: str) -> str:
    """Return a line without what it introduces: "Translate: ..."."""
    found = INTRODUCES_INLINE.match(line) if ":" in line or "：" in line else None
    return line if found is None else found[0] + " " * (len(line) - found.end())


def _find_introduced(lines: Sequence[str], written: Sequence[str], said: Sequence[int]) -> Sequence[int]:
    """Numbers of the lines behind "Here is the log:", unless what follows it is fenced."""
    for place, i in enumerate(said):
        line = lines[i].rstrip()[-LONGEST_INTRODUCTION:]
        if line.endswith((":", "：")) and INTRODUCES.search(line) and not RULES_FOLLOW.search(line):
            shown_apart = any(
                w.strip() and not own.strip()
                for w, own in zip(written[i + 1 : i + 3], lines[i + 1 : i + 3], strict=True)
            )
            if not shown_apart:
                rest = list(takewhile(lambda k: not _has_rules_heading(lines[k]), said[place + 1 :]))
                end = find_printed_end(lines, i)
                rest = [k for k in rest if end is None or k <= end]
                return rest if end is not None or WRITES_ON.search(line) else _drop_own_end(lines, rest)
    return ()


def _drop_own_end(lines: Sequence[str], shown: Sequence[int]) -> Sequence[int]:
    """Return what is shown, without a last paragraph that asks something about it."""
    last = (_group_paragraphs(shown) or [[]])[-1]
    asks = any(ASKS.search(lines[i]) for i in last) and not any(_is_code(lines[i]) for i in last)
    return shown[: -len(last)] if asks and 0 < len(last) < len(shown) else shown


def _has_rules_heading(line: str) -> bool:
    return len(line) < BESIDE and line.rstrip().endswith((":", "：")) and HEADS_RULES.search(line) is not None


def _find_written_about(lines: Sequence[str], blocks: Sequence[Sequence[int]]) -> list[int]:
    """Numbers of the lines that the first or the last paragraph wants translated, shortened and the like."""
    if len(blocks) < 2:
        return []
    for asking, others, least in ((0, blocks[1:], INTRODUCED_LINES), (-1, blocks[:-1], ASKED_LINES)):
        request = " ".join(lines[i] for i in blocks[asking][:3])
        rest = [i for block in others for i in block]
        short = len(request) <= LONGEST_REQUEST and len(blocks[asking]) <= 3
        if not asking and short and WRITES_ABOUT_THIS.search(request) and not RULES_FOLLOW.search(request):
            return list(_drop_own_end(lines, rest))
        if short and len(rest) >= least and WRITES_ABOUT.search(request) and not RULES_FOLLOW.search(request):
            return rest
    return []


def _group_paragraphs(said: Sequence[int]) -> list[list[int]]:
    """Numbers of lines that follow one another, by paragraph."""
    return [[i for _, i in run] for _, run in groupby(enumerate(said), lambda pair: pair[1] - pair[0])]


def _find_pasted(lines: Sequence[str], block: Sequence[int]) -> Iterator[int]:
    """Numbers of the lines of a paragraph that have the shape of a program, a log or numbered clauses."""
    if len(block) < BLOCK_LINES:
        return
    coded = [
        i for i in block if _is_code(lines[i]) or (INDENT.match(lines[i]) and not LISTED.match(lines[i]))
    ]
    if 2 * len(coded) >= len(block):
        yield from range(coded[0], block[-1] + 1)
    for alike, run in groupby(block, lambda i: _line_shape(lines[i])):
        numbers = list(run)
        if alike and len(numbers) >= BLOCK_LINES:
            yield from numbers


def _line_shape(line: str) -> str:
    """Return what lines of a list of clauses have in common; nothing for the items of a list."""
    if NUMBERED.match(line):
        return "1.1"
    words = line[:BESIDE].split(None, ALIKE_WORDS)
    return "" if LISTED.match(line) or len(words) <= ALIKE_WORDS else " ".join(words[:ALIKE_WORDS])
