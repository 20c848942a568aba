"""The ledger of identifiers: those that later messages will likely need, with the words around them.

What a model wrote itself, what a user named, and what stands alone rather than in a list of hundreds weighs
more; so does what came up often and lately.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gateway_compaction.core.greedy import by_gain, rough_tokens
from gateway_compaction.core.identifiers import identifiers, spelled_in
from gateway_compaction.core.messages import Message, part_of, text_of
from gateway_compaction.core.shorten import ERROR_LINE

__all__ = ["Piece", "Source", "density", "ledger", "listed", "sources", "weights"]

Count = Callable[[str], int]
OWN, USER, OTHER, LATE = 3.0, 2.0, 1.0, 1.0
CROWD = 20
RANKED = 400
WORDS_BEFORE, WORDS_BEHIND, WHOLE_WORDS, WHOLE_CHARS = 3, 2, 14, 240
LONGEST_LINE = 2_000
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
class Source:
    """A text of a message, its own or the arguments of a call, and the identifiers in it."""

    message: int
    role: str
    text: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Line:
    piece: Piece
    names: tuple[str, ...]


def sources(messages: Sequence[Message]) -> list[Source]:
    """Every text of some messages."""
    return [
        Source(number, part_of(message), text, tuple(identifiers(text)))
        for number, message in enumerate(messages)
        for text in _texts(message)
    ]


def _texts(message: Message) -> Iterator[str]:
    text = text_of(message)
    if text:
        yield text
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, Mapping) else None
        arguments = function.get("arguments") if isinstance(function, Mapping) else None
        if isinstance(arguments, str) and arguments:
            # Escaped line breaks would glue a letter to the word behind them.
            yield arguments.replace("\\n", "\n").replace('\\"', '"').replace("\\t", " ")


def density(found: Sequence[Source]) -> float:
    """Identifiers among a hundred words: below one in most chats, about ten where agents work."""
    words = sum(s.text.count(" ") + s.text.count("\n") + 1 for s in found)
    return 100 * sum(len(s.names) for s in found) / max(1, words)


def weights(found: Sequence[Source]) -> dict[str, float]:
    """How likely each identifier is needed again; a plain year is none."""
    last = found[-1].message + 1 if found else 1
    seen: dict[str, list[float]] = {}
    for source in found:
        place = {"assistant": 0, "user": 1}.get(source.role, 2)
        for name in source.names:
            if not _year(name):
                counts = seen.setdefault(name, [0.0, 0.0, 0.0, 0.0])
                counts[place] += 1 / (1 + len(source.names) / CROWD)
                counts[3] = (source.message + 1) / last
    return {
        name: OWN * math.sqrt(own) + USER * math.sqrt(user) + OTHER * math.sqrt(other) + LATE * late
        for name, (own, user, other, late) in seen.items()
    }


def ledger(
    found: Sequence[Source], weight: Mapping[str, float], max_tokens: int, count: Count
) -> list[Piece]:
    """Lines, or the words around, that tell of the weightiest identifiers within ``max_tokens``."""
    top = sorted(weight, key=lambda n: (-weight[n], n))[:RANKED]
    value = {name: weight[name] ** 2 for name in top}
    lines = [line for source in found for line in _lines(source, value)]
    costs = [rough_tokens(line.piece.text) + PIECE_TOKENS for line in lines]
    boosts = [_boost(line.piece) for line in lines]
    told: set[str] = set()
    chosen: list[Piece] = []
    room = max_tokens

    def gain(i: int) -> float:
        return boosts[i] * sum(value[n] for n in lines[i].names if n not in told) / costs[i]

    def take(i: int) -> bool:
        nonlocal room
        cost = count(lines[i].piece.text) + PIECE_TOKENS
        if cost > room:
            return False
        chosen.append(lines[i].piece)
        # Short names are told as parts of longer ones as well.
        told.update(name for name in top if spelled_in(name, lines[i].piece.text))
        room -= cost
        return True

    by_gain(len(lines), gain, take, LEAST_GAIN)
    return chosen


def listed(weight: Mapping[str, float], told: str, max_tokens: int, count: Count) -> str:
    """The weightiest identifiers that a text does not hold, in one line."""
    chosen: list[str] = []
    room = max_tokens - 4
    for name in sorted(weight, key=lambda n: (-weight[n], n))[:RANKED]:
        if spelled_in(name, told):
            continue
        room -= count(name) + 1
        if room < 0:
            break
        chosen.append(name)
    return "identifiers: " + ", ".join(chosen) if chosen else ""


def _boost(piece: Piece) -> float:
    if piece.role in ("assistant", "user"):
        return SAID_BOOST
    return ERROR_BOOST if ERROR_LINE.search(piece.text) else 1.0


def _lines(source: Source, value: Mapping[str, float]) -> Iterator[_Line]:
    """Short lines whole, of long ones the words around the identifiers."""
    if not any(name in value for name in source.names):
        return
    start = 0
    for line in source.text.splitlines(keepends=True):
        names = identifiers(line) if len(line) <= LONGEST_LINE else ()
        if any(name in value for name in names):
            words = line.split()
            if len(words) <= WHOLE_WORDS and len(line) <= WHOLE_CHARS:
                known = tuple(name for name in names if name in value)
                yield _Line(Piece(source.message, start, source.role, line.strip()), known)
            else:
                yield from _windows(source, start, words, value)
        start += len(line)


def _windows(source: Source, start: int, words: Sequence[str], value: Mapping[str, float]) -> Iterator[_Line]:
    at = 0
    while at < len(words):
        if not any(name in value for name in identifiers(words[at])):
            at += 1
            continue
        first, end = max(0, at - WORDS_BEFORE), at + 1 + WORDS_BEHIND
        text = " ".join(words[first:end])
        names = tuple(name for name in identifiers(text) if name in value)
        if len(text) <= WHOLE_CHARS:
            yield _Line(Piece(source.message, start + at, source.role, text), names)
        at = max(at + 1, end - WORDS_BEFORE)


def _year(name: str) -> bool:
    return len(name) == 4 and name[:2] in ("19", "20") and name.isdigit()
