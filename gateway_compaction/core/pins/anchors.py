"""Anchors: the few sentences that matter most and survive every summary word for word.

A score depends on the sentence, its speaker and the policy alone, never on what else was said. So an anchor
leaves only for a better one, and the same messages have the same anchors on every replica.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from operator import itemgetter

from gateway_compaction.core.conversation.messages import (
    PREAMBLE_ROLES,
    Message,
    brought_spans_of,
    is_restored,
    role_of,
    told_text_of,
)
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
from gateway_compaction.core.pins.speakers import find_other_speakers
from gateway_compaction.core.text.calls_in_text import find_answers
from gateway_compaction.core.text.fences import find_fences
from gateway_compaction.core.text.identifiers import find_identifiers
from gateway_compaction.core.text.provenance import find_brought_in, merge_spans
from gateway_compaction.core.text.questions import is_question
from gateway_compaction.core.text.sentences import find_sentence_spans, split_sentences
from gateway_compaction.core.text.terms import extract_terms

Count = Callable[[str], int]
# What is longer is no short passage: in tokens of an anchor, and in characters of a sentence.
LONGEST_TOKENS = 60
LONGEST_CHARS = 400
# In characters: a line behind a mark that stands alone is looked at only so far.
LONGEST_LINE = 2_000
# In characters: a line is looked at for every hit in it, and what quotes it stands within so much space.
LONGEST_INDENT = 200
# In tokens: what an anchor costs besides its text, for its number, its role and the line break.
LABEL_TOKENS = 8
# Of each cue the first few hits, and the last: a text that repeats one would be read all through otherwise.
MOST_HITS = 4
# How strongly a line of a tool's output counts that tells of no outcome: too little to be an anchor.
PLAIN_RESULT = 0.4
# Fewer search terms say nothing alone: "Agreed."
LEAST_TERMS = 3
# From this share of identifiers, numbers and names on, a sentence is as dense as can be.
FULL_DENSITY = 0.4
# Density counts by the weight of keywords, and so strongly.
DENSITY_STRENGTH = 0.4
NUMBER = re.compile(r"\d")
CAPITAL = re.compile(r"(?<=[\w,;] )[A-Z][a-z]+")
WORD = re.compile(r"\w+")
NEVER = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class Scoring:
    """The weights of the policy, from 0 to 1, and the names whose values matter.

    Attributes:
        explicit: of what the user marked or asked to remember.
        decision: of what was decided or agreed.
        tool_result: of what a tool printed.
        keyword: of a name of ``keys`` with a value, and of how dense a sentence is.
        keys: the names, as the policy spells them (``order_id``).
    """

    explicit: float = 1.0
    decision: float = 0.8
    tool_result: float = 0.7
    keyword: float = 0.5
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Anchor:
    """A short passage of a message, verbatim.

    Attributes:
        message: the index of the message.
        start: where the passage begins in the message's text.
        role: whose it is: ``user``, ``assistant`` or ``tool``.
        text: the passage, without anchor marks.
        score: how much it matters, from 0 to 1.
    """

    message: int
    start: int
    role: str
    text: str
    score: float


Reason = tuple[float, float]
"""Why a sentence matters: the weight of the reason, and how strongly it holds, both from 0 to 1."""


def score_sentence(sentence: str, role: str, scoring: Scoring, *, is_marked: bool = False) -> float:
    """Return how much a sentence matters, from 0 to 1; reasons add up, but never past 1.

    Only a user's words, or a mark outside of tool results, count as explicit; what a tool prints can decide
    nothing.

    Args:
        sentence: the sentence.
        role: whose it is: ``user``, ``assistant`` or ``tool``.
        scoring: the weights.
        is_marked: an anchor mark is on it.
    """
    return _add_up(_find_reasons(sentence, role, scoring, is_marked), sentence, scoring)


def score_message(message: Message, scoring: Scoring) -> float:
    """Return how much a message matters, from 0 to 1: as much as its weightiest sentence."""
    role = role_of(message)
    return max(
        (score_sentence(s, role, scoring) for s in split_sentences(told_text_of(message))), default=0.0
    )


def choose_anchors(
    messages: Sequence[Message],
    most: int,
    max_tokens: int,
    scoring: Scoring,
    count: Count,
    known: Collection[str] = (),
) -> tuple[Anchor, ...]:
    """Return the anchors of some messages, in the order they were said.

    The best are taken first; of equals the earlier one, so that an anchor does not make room for its like.

    Args:
        messages: the covered messages.
        most: the most anchors.
        max_tokens: the most tokens of all of them.
        scoring: the weights.
        count: counts the tokens of a text.
        known: texts that are sent anyway; what stands in them is no anchor.
    """
    if most <= 0 or max_tokens <= LABEL_TOKENS:
        return ()
    answers = find_answers(messages) | find_other_speakers(messages)
    candidates = (
        anchor
        for i, m in enumerate(messages)
        if i not in answers and not is_restored(m)
        for anchor in _find_candidates(i, m, scoring)
    )
    chosen: list[Anchor] = []
    room = max_tokens
    for anchor in sorted(_remove_duplicates(candidates), key=lambda a: (-a.score, a.message, a.start)):
        if len(chosen) == most or room <= LABEL_TOKENS:
            break
        tokens = count(anchor.text)
        is_known = any(anchor.text in text for text in known)
        if is_known or tokens > LONGEST_TOKENS or tokens + LABEL_TOKENS > room:
            continue
        chosen.append(anchor)
        room -= tokens + LABEL_TOKENS
    return tuple(sorted(chosen, key=lambda a: (a.message, a.start)))


def _find_reasons(sentence: str, role: str, scoring: Scoring, is_marked: bool) -> list[Reason]:
    """Return why a sentence may be an anchor."""
    reasons: list[Reason] = []
    asks = is_question(sentence)
    is_tool = role == "tool"
    if is_tool:
        reasons.append((scoring.tool_result, 1.0 if _is_finding(sentence) else PLAIN_RESULT))
    elif is_marked or MARK.search(sentence) or (role == "user" and not asks and REMEMBER.search(sentence)):
        reasons.append((scoring.explicit, 1.0))
    if not is_tool and not asks and DECISION.search(sentence) and not UNDECIDED.search(sentence):
        reasons.append((scoring.decision, 1.0))
    if not asks and any(_compile_key_pattern(key).search(sentence) for key in scoring.keys):
        reasons.append((scoring.keyword, 1.0))
    return reasons


def _add_up(reasons: Sequence[Reason], sentence: str, scoring: Scoring) -> float:
    """Return the score of a sentence, as the chance that at least one of its reasons holds."""
    missing = 1.0
    for weight, strength in reasons:
        missing *= 1 - weight * strength
    density = DENSITY_STRENGTH * _fact_density(sentence)
    return round(1 - missing * (1 - scoring.keyword * density), 4)


def _is_finding(sentence: str) -> bool:
    """Tell whether a line of a tool's output says how something went; vague ones and program text do not."""
    if not FINDING.search(sentence) or CODE.search(sentence):
        return False
    return bool(FAULT.match(sentence) or NUMBER.search(sentence) or find_identifiers(sentence))


def _fact_density(sentence: str) -> float:
    """Return how much of a sentence are identifiers, numbers and names, as a share of its words up to 1."""
    numbers, names = NUMBER.findall(sentence), CAPITAL.findall(sentence)
    facts = len(find_identifiers(sentence)) + len(numbers) / 3 + len(names)
    return min(1.0, facts / (FULL_DENSITY * max(4, len(WORD.findall(sentence)))))


def _remove_duplicates(candidates: Iterator[Anchor]) -> list[Anchor]:
    """Return each text once; of tool results that differ in numbers alone the last, the newer state."""
    best: dict[tuple[str, str], Anchor] = {}
    for anchor in candidates:
        shape = re.sub(r"\d+", "0", anchor.text) if anchor.role == "tool" else anchor.text
        key = (anchor.role, " ".join(shape.lower().split()))
        other = best.get(key)
        if other is None or anchor.role == "tool" or anchor.score > other.score:
            best[key] = anchor
    return list(best.values())


def _find_candidates(index: int, message: Message, scoring: Scoring) -> Iterator[Anchor]:
    """Yield passages that may be anchors; found by cues, so that most text is never looked at closely."""
    role = role_of(message)
    if role in PREAMBLE_ROLES:
        return
    text = told_text_of(message)
    fences: Sequence[tuple[int, int]] | None = None
    seen: set[tuple[int, bool]] = set()
    for position, value_end in _find_hits(text, role, scoring):
        # Few texts have a cue, so nothing else is looked for before.
        fences = _find_foreign(message, text, role) if fences is None else fences
        for start, end, beside_mark in _find_sentence_at(text, position, value_end):
            if (start, beside_mark) in seen or _is_inside(fences, start):
                continue
            seen.add((start, beside_mark))
            passage, marks = MARK.subn("", text[start:end])
            passage, is_marked = passage.strip(), beside_mark or marks > 0
            if len(passage) > LONGEST_CHARS or not passage:
                continue
            if not (is_marked or value_end) and len(extract_terms(passage)) < LEAST_TERMS:
                continue
            reasons = _find_reasons(passage, role, scoring, is_marked)
            if any(weight > 0 and strength > PLAIN_RESULT for weight, strength in reasons):
                yield Anchor(index, start, role, passage, _add_up(reasons, passage, scoring))


def _find_foreign(message: Message, text: str, role: str) -> Sequence[tuple[int, int]]:
    """Return where text stands that makes no anchors: code, and what a message brought in."""
    fences = find_fences(text) if "```" in text and role != "tool" else []
    brought_in = [*brought_spans_of(message), *(find_brought_in(text) if role == "user" else ())]
    return merge_spans([*fences, *brought_in]) if brought_in else fences


def _is_inside(spans: Sequence[tuple[int, int]], position: int) -> bool:
    """Tell whether one of some spans, in order and apart from one another, holds a position."""
    before = bisect_right(spans, position, key=itemgetter(0))
    return before > 0 and position < spans[before - 1][1]


def _find_hits(text: str, role: str, scoring: Scoring) -> Iterator[tuple[int, int]]:
    """Yield where a cue or a key with its value stands, and where the value ends; 0 for cues.

    Of each only the first few, of a cue the last as well.
    """
    lower = text.lower()
    # Some letters get longer in small: positions would be those of another text.
    lower = lower if len(lower) == len(text) else text
    for cue in CUES["tool" if role == "tool" else "said"]:
        position, hits = lower.find(cue), 0
        while position >= 0 and hits < MOST_HITS:
            yield position, 0
            position, hits = lower.find(cue, position + 1), hits + 1
        if position >= 0:
            yield lower.rfind(cue), 0
    for key in scoring.keys:
        yield from (match.span() for match in islice(_compile_key_pattern(key).finditer(text), MOST_HITS))


def _find_sentence_at(text: str, position: int, value_end: int) -> Iterator[tuple[int, int, bool]]:
    """Yield the sentence at a position, or the one that a mark standing alone is meant for.

    Of a sentence that is too long only a key with its value is left. Nothing of a quoted line.

    Yields:
        Start and end, and whether a mark stands beside it; at most one.
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
        following = next(iter(find_sentence_spans(text[high : high + LONGEST_LINE])), None)
        if following is not None:
            yield high + following[0], high + following[1], True


@lru_cache(maxsize=1_000)
def _compile_key_pattern(key: str) -> re.Pattern[str]:
    """Return a pattern of a name and its value, however its parts are joined: ``order_id``, ``orderId``."""
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
