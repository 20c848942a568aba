"""The ledger of identifiers: those that later messages will likely need, with the words around them.

What a model wrote itself, what a user named, and what stands alone rather than in a list of hundreds weighs
more; so does what came up often and lately.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gateway_compaction.core.conversation.messages import Message, function_calls_of, role_of, text_of
from gateway_compaction.core.extractive.selection import estimate_tokens, select_by_gain
from gateway_compaction.core.text.identifiers import find_identifiers, is_spelled_in
from gateway_compaction.core.text.sentences import find_sentence_spans
from gateway_compaction.core.text.shorten import ERROR_LINE

Count = Callable[[str], int]
OWN, USER, OTHER, LATE = 3.0, 2.0, 1.0, 1.0
CROWD = 20
RANKED = 400
WORDS_BEFORE, WORDS_BEHIND, WHOLE_WORDS, WHOLE_CHARS = 3, 2, 14, 240
SENTENCE_WORDS = 24
LONGEST_LINE, FEW = 2_000, 8
SPEAKERS = ("assistant", "user")
BREAK = re.compile(r"\n")
ERROR_BOOST, SAID_BOOST = 1.3, 1.2
PIECE_TOKENS = 1
# Squared weight for a token: less is to be had of what a tool named once among many others.
LEAST_GAIN = 0.05


@dataclass(frozen=True, slots=True)
class Piece:
    """Verbatim text of a message; ``place`` orders the pieces of one message.

    ``prose`` tells sentences from lines that stand alone.
    """

    message: int
    place: int
    role: str
    text: str
    prose: bool = False


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of a text with its identifiers, or, not ``whole``, the words around one in a long line."""

    place: int
    text: str
    names: tuple[str, ...]
    cost: float
    whole: bool = True


@dataclass(frozen=True, slots=True)
class _LineCandidate:
    piece: Piece
    names: tuple[str, ...]
    cost: float
    boost: float
    whole: bool


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text of a message, its own or the arguments of a call: the identifiers in it, and where they stand.

    ``said`` by a user or an assistant, not printed by a tool or given to one. Depends on nothing but the
    message.
    """

    role: str
    words: int
    names: tuple[str, ...]
    lines: tuple[SourceLine, ...]
    said: bool = False


def read_sources(message: Message) -> tuple[SourceText, ...]:
    """Every text of a message."""
    role = role_of(message)
    return tuple(_read_source(role, text, said and role in SPEAKERS) for text, said in _iter_texts(message))


def _read_source(role: str, text: str, said: bool) -> SourceText:
    names = tuple(find_identifiers(text))
    lines = tuple(_find_lines(text, frozenset(names), said)) if names else ()
    return SourceText(role, text.count(" ") + text.count("\n") + 1, names, lines, said)


def _iter_texts(message: Message) -> Iterator[tuple[str, bool]]:
    """The text of a message and the arguments of its calls, and whether each is its text."""
    text = text_of(message)
    if text:
        yield text, True
    for call in function_calls_of(message):
        arguments = call.arguments
        if isinstance(arguments, str) and arguments:
            # Escaped line breaks would glue a letter to the word behind them.
            yield arguments.replace("\\n", "\n").replace('\\"', '"').replace("\\t", " "), False


def _find_lines(text: str, names: frozenset[str], said: bool) -> Iterator[SourceLine]:
    """Short lines whole, of long ones the sentences if ``said``, else the words around the identifiers."""
    for start in _find_line_starts(text, names):
        end = text.find("\n", start)
        line = text[start : end if end >= 0 else len(text)]
        found = tuple(find_identifiers(line)) if len(line) <= LONGEST_LINE else ()
        if not found:
            continue
        words = line.split()
        if len(words) <= WHOLE_WORDS and len(line) <= WHOLE_CHARS:
            yield _to_line(start, line.strip(), found)
        elif said:
            yield from _find_sentences(start, line)
        else:
            yield from _find_windows(start, words, found)


def _find_sentences(start: int, line: str) -> Iterator[SourceLine]:
    """The sentences of a line that hold identifiers; of very long ones the words around them."""
    for first, end in find_sentence_spans(line):
        text = line[first:end]
        found, words = tuple(find_identifiers(text)), text.split()
        if found and len(words) <= SENTENCE_WORDS and len(text) <= WHOLE_CHARS:
            yield _to_line(start + first, text, found)
        elif found:
            yield from _find_windows(start + first, words, found)


def _find_line_starts(text: str, names: frozenset[str]) -> list[int]:
    """Where the lines begin that may hold one of the names."""
    if len(names) > FEW:
        return [0, *(match.end() for match in BREAK.finditer(text))]
    starts: set[int] = set()
    for name in names:
        at = text.find(name)
        while at >= 0:
            starts.add(text.rfind("\n", 0, at) + 1)
            end = text.find("\n", at)
            at = text.find(name, end) if end >= 0 else -1
    return sorted(starts)


def _find_windows(start: int, words: Sequence[str], names: Sequence[str]) -> Iterator[SourceLine]:
    behind = 0
    for at, word in enumerate(words):
        if at < behind or not any(name in word for name in names) or not find_identifiers(word):
            continue
        first, end = max(0, at - WORDS_BEFORE), at + 1 + WORDS_BEHIND
        text = " ".join(words[first:end])
        if len(text) <= WHOLE_CHARS:
            yield _to_line(start + at, text, tuple(find_identifiers(text)), whole=False)
        behind = max(at + 1, end - WORDS_BEFORE)


def _to_line(place: int, text: str, names: tuple[str, ...], *, whole: bool = True) -> SourceLine:
    return SourceLine(place, text, names, estimate_tokens(text) + PIECE_TOKENS, whole)


def identifier_density(found: Sequence[Sequence[SourceText]]) -> float:
    """Identifiers among a hundred words: below one in most chats, about ten where agents work."""
    words = sum(s.words for texts in found for s in texts)
    return 100 * sum(len(s.names) for texts in found for s in texts) / max(1, words)


def weigh_identifiers(found: Sequence[Sequence[SourceText]]) -> dict[str, float]:
    """How likely each identifier is needed again, given the texts of each message; a plain year is none."""
    seen: dict[str, list[float]] = {}
    for number, texts in enumerate(found):
        for source in texts:
            place = {"assistant": 0, "user": 1}.get(source.role, 2)
            share = 1 / (1 + len(source.names) / CROWD)
            for name in source.names:
                if not _is_year(name):
                    counts = seen.setdefault(name, [0.0, 0.0, 0.0, 0.0])
                    counts[place] += share
                    counts[3] = (number + 1) / len(found)
    return {
        name: OWN * math.sqrt(own) + USER * math.sqrt(user) + OTHER * math.sqrt(other) + LATE * late
        for name, (own, user, other, late) in seen.items()
    }


def choose_ledger_lines(
    found: Sequence[Sequence[SourceText]],
    weight: Mapping[str, float],
    max_tokens: int,
    count: Count,
    *,
    known: str = "",
    whole: bool = False,
) -> list[Piece]:
    """Lines, or the words around, that tell of the weightiest identifiers within ``max_tokens``.

    Those in the text ``known`` are told already. ``whole``: of what was said whole sentences only.
    """
    top = _rank_identifiers(weight)
    value = {name: weight[name] ** 2 for name in top}
    lines = [c for c in _find_candidates(found, value) if c.whole or not whole]
    told = {name for name in top if known and is_spelled_in(name, known)}
    chosen: list[Piece] = []
    room = max_tokens

    def gain(i: int) -> float:
        fresh = sum(value[n] for n in lines[i].names if n not in told)
        return lines[i].boost * fresh / lines[i].cost

    def take(i: int) -> bool:
        nonlocal room
        cost = count(lines[i].piece.text) + PIECE_TOKENS
        if cost > room:
            return False
        chosen.append(lines[i].piece)
        # Short names are told as parts of longer ones as well.
        text = lines[i].piece.text
        told.update(name for name in top if name in text and is_spelled_in(name, text))
        room -= cost
        return True

    select_by_gain([gain(i) for i in range(len(lines))], gain, take, LEAST_GAIN)
    return chosen


def _find_candidates(
    found: Sequence[Sequence[SourceText]], value: Mapping[str, float]
) -> list[_LineCandidate]:
    """The lines that name something of value."""
    return [
        _LineCandidate(
            Piece(number, line.place, source.role, line.text),
            known,
            line.cost,
            _get_boost(source, line),
            line.whole or not source.said,
        )
        for number, texts in enumerate(found)
        for source in texts
        for line in source.lines
        if (known := tuple(name for name in line.names if name in value))
    ]


def list_identifiers(weight: Mapping[str, float], told: str, max_tokens: int, count: Count) -> str:
    """The weightiest identifiers that a text does not hold, in one line."""
    chosen: list[str] = []
    room = max_tokens - 4
    for name in _rank_identifiers(weight):
        if is_spelled_in(name, told):
            continue
        room -= count(name) + 1
        if room < 0:
            break
        chosen.append(name)
    return "identifiers: " + ", ".join(chosen) if chosen else ""


def _rank_identifiers(weight: Mapping[str, float]) -> list[str]:
    return sorted(weight, key=lambda n: (-weight[n], n))[:RANKED]


def _get_boost(source: SourceText, line: SourceLine) -> float:
    if source.role in SPEAKERS:
        return SAID_BOOST
    return ERROR_BOOST if ERROR_LINE.search(line.text) else 1.0


def _is_year(name: str) -> bool:
    return len(name) == 4 and name[:2] in ("19", "20") and name.isdigit()
