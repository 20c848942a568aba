"""How much a sentence matters, and the few that survive every summary word for word: anchors.

A score depends on the sentence, its speaker and the policy alone, never on what else was said. So an anchor
leaves only for a better one, and the same messages have the same anchors on every replica.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter

from gateway_compaction.core.conversation.messages import PREAMBLE_ROLES, Message, role_of, text_of
from gateway_compaction.core.pins.anchor_words import (
    CODE,
    CUES,
    DECISION,
    FAULT,
    FINDING,
    MARK,
    REMEMBER,
    UNDECIDED,
)
from gateway_compaction.core.pins.own_words import QUOTED_LINE
from gateway_compaction.core.text.fences import find_fences
from gateway_compaction.core.text.identifiers import find_identifiers
from gateway_compaction.core.text.sentences import find_sentence_spans, split_sentences
from gateway_compaction.core.text.terms import extract_terms

Count = Callable[[str], int]
LONGEST_TOKENS, LONGEST_CHARS = 60, 400
LONGEST_LINE = 2_000
# A line is looked at for every hit in it.
LONGEST_INDENT = 200
LABEL_TOKENS = 8
HITS = 4
PLAIN_RESULT = 0.4
LEAST_TERMS = 3
DENSE, DENSITY_STRENGTH = 0.4, 0.4
NUMBER = re.compile(r"\d")
CAPITAL = re.compile(r"(?<=[\w,;] )[A-Z][a-z]+")
WORD = re.compile(r"\w+")
NEVER = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class Scoring:
    """What counts how much: weights from 0 to 1, and the names whose values matter."""

    explicit: float = 1.0
    decision: float = 0.8
    tool_result: float = 0.7
    keyword: float = 0.5
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Anchor:
    """A short passage of a message, verbatim: the message's index and part, where it starts, its score."""

    message: int
    start: int
    part: str
    text: str
    score: float


def score_sentence(sentence: str, part: str, scoring: Scoring, *, marked: bool = False) -> float:
    """How much a sentence matters, from 0 to 1; reasons add up, but never past 1.

    ``part`` says whose it is (``user``, ``assistant`` or ``tool``), ``marked`` that an anchor mark is on it.
    Only a user's words, or a mark outside of tool results, count as explicit; what a tool prints can decide
    nothing.
    """
    missing = 1.0
    for weight, strength in _find_reasons(sentence, part, scoring, marked):
        missing *= 1 - weight * strength
    density = DENSITY_STRENGTH * _fact_density(sentence)
    return round(1 - missing * (1 - scoring.keyword * density), 4)


def score_message(message: Message, scoring: Scoring) -> float:
    """How much a message matters, from 0 to 1: as much as its weightiest sentence."""
    part = role_of(message)
    return max((score_sentence(s, part, scoring) for s in split_sentences(text_of(message))), default=0.0)


def choose_anchors(
    messages: Sequence[Message],
    most: int,
    max_tokens: int,
    scoring: Scoring,
    count: Count,
    known: Collection[str] = (),
) -> tuple[Anchor, ...]:
    """At most ``most`` passages within ``max_tokens``, best first taken, in the order they were said.

    Of equals the earlier one stays. ``known`` texts are shown anyway.
    """
    if most <= 0 or max_tokens <= LABEL_TOKENS:
        return ()
    found = _remove_duplicates(a for i, m in enumerate(messages) for a in _find_candidates(i, m, scoring))
    chosen: list[Anchor] = []
    room = max_tokens
    for anchor in sorted(found, key=lambda a: (-a.score, a.message, a.start)):
        if len(chosen) == most or room <= LABEL_TOKENS:
            break
        tokens = count(anchor.text)
        shown = any(anchor.text in text for text in known)
        if shown or tokens > LONGEST_TOKENS or tokens + LABEL_TOKENS > room:
            continue
        chosen.append(anchor)
        room -= tokens + LABEL_TOKENS
    return tuple(sorted(chosen, key=lambda a: (a.message, a.start)))


def _find_reasons(sentence: str, part: str, scoring: Scoring, marked: bool) -> Iterator[tuple[float, float]]:
    """Why a sentence may be an anchor: weights, and how strongly each holds."""
    asked = sentence.rstrip().endswith(("?", "？"))
    if part == "tool":
        yield scoring.tool_result, 1.0 if _is_finding(sentence) else PLAIN_RESULT
    elif marked or MARK.search(sentence) or (part == "user" and not asked and REMEMBER.search(sentence)):
        yield scoring.explicit, 1.0
    if part != "tool" and not asked and DECISION.search(sentence) and not UNDECIDED.search(sentence):
        yield scoring.decision, 1.0
    if not asked and any(_compile_key_pattern(key).search(sentence) for key in scoring.keys):
        yield scoring.keyword, 1.0


def _is_finding(sentence: str) -> bool:
    """Whether a line of a tool's output says how something went; vague ones and program text do not."""
    if not FINDING.search(sentence) or CODE.search(sentence):
        return False
    return bool(FAULT.match(sentence) or NUMBER.search(sentence) or find_identifiers(sentence))


def _fact_density(sentence: str) -> float:
    """How much of a sentence tells: identifiers, numbers and names, as a share of its words."""
    telling = (
        len(find_identifiers(sentence)) + len(NUMBER.findall(sentence)) / 3 + len(CAPITAL.findall(sentence))
    )
    return min(1.0, telling / (DENSE * max(4, len(WORD.findall(sentence)))))


def _remove_duplicates(found: Iterator[Anchor]) -> list[Anchor]:
    """Each text once; of tool results that differ in numbers alone the last, which is the newer state."""
    kept: dict[tuple[str, str], Anchor] = {}
    for anchor in found:
        shape = re.sub(r"\d+", "0", anchor.text) if anchor.part == "tool" else anchor.text
        key = (anchor.part, " ".join(shape.lower().split()))
        known = kept.get(key)
        if known is None or anchor.part == "tool" or anchor.score > known.score:
            kept[key] = anchor
    return list(kept.values())


def _find_candidates(index: int, message: Message, scoring: Scoring) -> Iterator[Anchor]:
    """Passages with a reason to be kept; found by cues, so that most text is never looked at closely."""
    part = role_of(message)
    if part in PREAMBLE_ROLES:
        return
    text = text_of(message)
    fences = find_fences(text) if "```" in text and part != "tool" else []
    seen: set[tuple[int, bool]] = set()
    for position, value_end in _find_hits(text, part, scoring):
        for start, end, beside in _find_sentence_at(text, position, value_end):
            if (start, beside) in seen or _is_inside(fences, start):
                continue
            seen.add((start, beside))
            passage, marks = MARK.subn("", text[start:end])
            passage, marked = passage.strip(), beside or marks > 0
            terse = len(extract_terms(passage)) < LEAST_TERMS and not (marked or value_end)
            if len(passage) > LONGEST_CHARS or not passage or terse:
                continue
            if any(w > 0 and s > PLAIN_RESULT for w, s in _find_reasons(passage, part, scoring, marked)):
                score = score_sentence(passage, part, scoring, marked=marked)
                yield Anchor(index, start, part, passage, score)


def _is_inside(spans: Sequence[tuple[int, int]], position: int) -> bool:
    """Whether one of some spans, in order and apart from one another, holds a position."""
    before = bisect_right(spans, position, key=itemgetter(0))
    return before > 0 and position < spans[before - 1][1]


def _find_hits(text: str, part: str, scoring: Scoring) -> Iterator[tuple[int, int]]:
    """Where something telling stands, of each cue the first few and the last; where a key's value ends."""
    lower = text.lower()
    lower = lower if len(lower) == len(text) else text
    for cue in CUES["tool" if part == "tool" else "said"]:
        at, hits = lower.find(cue), 0
        while at >= 0 and hits < HITS:
            yield at, 0
            at, hits = lower.find(cue, at + 1), hits + 1
        if at >= 0:
            yield lower.rfind(cue), 0
    for key in scoring.keys:
        yield from (
            m.span() for m, _ in zip(_compile_key_pattern(key).finditer(text), range(HITS), strict=False)
        )


def _find_sentence_at(text: str, position: int, value_end: int) -> Iterator[tuple[int, int, bool]]:
    """The sentence at a position, or the one that a mark standing alone is meant for.

    Of one that is too long only a key with its value is left.
    """
    low, high = text.rfind("\n", 0, position) + 1, text.find("\n", position)
    high = len(text) if high < 0 else high
    if QUOTED_LINE.match(text, low, low + LONGEST_INDENT):
        return
    first, last = max(low, position - 2 * LONGEST_CHARS), min(high, position + 2 * LONGEST_CHARS)
    spans = [(first + a, first + b) for a, b in find_sentence_spans(text[first:last])]
    # What was hit is never blank, so that it stands in a sentence.
    here = sum(end <= position for _, end in spans)
    start, end = spans[here]
    if end - start > LONGEST_CHARS:
        if value_end:
            yield position, value_end, False
    elif not MARK.fullmatch(text[start:end].strip()):
        yield start, end, False
    elif here > 0:
        yield (*spans[here - 1], True)
    else:
        yield from _find_next_sentence(text, high)


def _find_next_sentence(text: str, position: int) -> Iterator[tuple[int, int, bool]]:
    following = next(iter(find_sentence_spans(text[position : position + LONGEST_LINE])), None)
    if following is not None:
        yield position + following[0], position + following[1], True


@lru_cache(maxsize=1_000)
def _compile_key_pattern(key: str) -> re.Pattern[str]:
    """A name and its value, however the name's parts are joined: ``order_id``, ``order id``, ``orderId``."""
    parts = [re.escape(p) for p in re.split(r"[\s_-]+", key) if p]
    if not parts:
        return NEVER
    # Nothing is given back once taken, and no gap or word is longer than a line is wide: what follows a name
    # without being a value is looked at once.
    value = (
        r"(?:\W{0,2}[:=]\s*+(?:\"[^\"\n]{1,80}\"|\w[^\s,;}\]\"]*+)"
        r"|\W{1,80}+(?:\w{1,80}+\W{1,80}+){0,3}?[^\s?,;\d]{0,80}+\d[^\s,;}\]\"]*+)"
    )
    return re.compile(r"(?i)(?<!\w)" + r"[\s_-]?".join(parts) + r"(?!\w)" + value)
