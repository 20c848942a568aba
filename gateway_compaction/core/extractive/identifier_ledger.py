"""The ledger of identifiers: those that later messages will likely need, with the words around them.

An agent that has lost a path or an order number guesses it, so identifiers come before all prose where there
are many. What a model wrote itself, what a user named, and what stands alone rather than in a list of
hundreds weighs more; so does what came up often and lately.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gateway_compaction.core.conversation.messages import (
    Message,
    calls_of,
    spell_arguments,
    told_texts_of,
)
from gateway_compaction.core.extractive.selection import SPEAKERS, Piece, estimate_tokens, select_by_gain
from gateway_compaction.core.text.identifiers import find_identifiers, is_spelled_in
from gateway_compaction.core.text.provenance import source_role
from gateway_compaction.core.text.sentences import find_sentence_spans
from gateway_compaction.core.text.shorten import ERROR_LINE

Count = Callable[[str], int]
# What it counts that an assistant, a user, or anybody else (a tool) named an identifier, and how late it was.
OWN_WEIGHT = 3.0
USER_WEIGHT = 2.0
OTHER_WEIGHT = 1.0
LATE_WEIGHT = 1.0
# An identifier among so many others in one text counts half.
CROWD = 20
# So many identifiers are looked at; of more the lightest ones cannot get a place.
MOST_RANKED = 400
# What is quoted of a long line: so many words before an identifier and behind it.
WORDS_BEFORE = 3
WORDS_BEHIND = 2
# A line of up to so many words and characters is quoted whole, and so is a sentence of so many words.
WHOLE_WORDS = 14
WHOLE_CHARS = 240
SENTENCE_WORDS = 24
# In characters: longer lines are data, not something to read.
LONGEST_LINE = 2_000
# So few identifiers are looked for in a text faster than all of its lines are read.
FEW = 8
BREAK = re.compile(r"\n")
# What a line counts that tells of a fault, or that somebody said.
ERROR_BOOST = 1.3
SAID_BOOST = 1.2
# What a line costs besides its text: the line break.
LINE_TOKENS = 1
# Squared weight for a token: less is to be had of what a tool named once among many others.
LEAST_GAIN = 0.05
# In tokens: what the list of identifiers costs besides them.
LIST_TOKENS = 4


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of a text that holds identifiers, as it may be quoted.

    Attributes:
        place: where it begins in the text, or about where.
        text: the line, a sentence of it, or the words around an identifier.
        names: the identifiers in it.
        cost: about its tokens.
        is_whole: it is a whole line or sentence, not the words around an identifier.
    """

    place: int
    text: str
    names: tuple[str, ...]
    cost: float
    is_whole: bool = True


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text of a message, its own or the arguments of a call; depends on nothing but the message.

    Attributes:
        role: whose message it is.
        words: its length in words.
        names: the identifiers in it.
        lines: where they stand.
        is_said: a user or an assistant says it; otherwise a tool printed it or got it.
    """

    role: str
    words: int
    names: tuple[str, ...]
    lines: tuple[SourceLine, ...]
    is_said: bool = False


@dataclass(frozen=True, slots=True)
class _LineCandidate:
    piece: Piece
    names: tuple[str, ...]
    cost: float
    boost: float
    is_whole: bool


def read_sources(message: Message) -> tuple[SourceText, ...]:
    """Return every text of a message, with its identifiers."""
    role = source_role(message)
    sources, start = [], 0
    for text, is_brought_in in told_texts_of(message):
        source = "tool" if is_brought_in else role
        sources.append(_read_source(source, text, source in SPEAKERS, start))
        start += len(text) + 1
    spelled = ("\n".join(spell_arguments(call)) for call in calls_of(message))
    sources += [_read_source(role, arguments, False) for arguments in spelled if arguments]
    return tuple(sources)


def _read_source(role: str, text: str, is_said: bool, start: int = 0) -> SourceText:
    names = tuple(find_identifiers(text))
    lines = tuple(_find_lines(text, frozenset(names), is_said)) if names else ()
    if start:
        lines = tuple(replace(line, place=line.place + start) for line in lines)
    return SourceText(role, text.count(" ") + text.count("\n") + 1, names, lines, is_said)


def _find_lines(text: str, names: frozenset[str], is_said: bool) -> Iterator[SourceLine]:
    """Yield short lines whole; of long ones sentences if somebody says them, else the words around names."""
    for start in _find_line_starts(text, names):
        end = text.find("\n", start)
        line = text[start : end if end >= 0 else len(text)]
        line_names = tuple(find_identifiers(line)) if len(line) <= LONGEST_LINE else ()
        if not line_names:
            continue
        words = line.split()
        if len(words) <= WHOLE_WORDS and len(line) <= WHOLE_CHARS:
            yield _to_line(start, line.strip(), line_names)
        elif is_said:
            yield from _find_sentences(start, line)
        else:
            yield from _find_windows(start, words, line_names)


def _find_line_starts(text: str, names: frozenset[str]) -> list[int]:
    """Return where the lines begin that may hold one of the names."""
    if len(names) > FEW:
        return [0, *(match.end() for match in BREAK.finditer(text))]
    starts: set[int] = set()
    for name in names:
        position = text.find(name)
        while position >= 0:
            starts.add(text.rfind("\n", 0, position) + 1)
            end = text.find("\n", position)
            position = text.find(name, end) if end >= 0 else -1
    return sorted(starts)


def _find_sentences(start: int, line: str) -> Iterator[SourceLine]:
    """Yield the sentences of a line that hold identifiers; of very long ones the words around them."""
    for first, end in find_sentence_spans(line):
        text = line[first:end]
        names, words = tuple(find_identifiers(text)), text.split()
        if names and len(words) <= SENTENCE_WORDS and len(text) <= WHOLE_CHARS:
            yield _to_line(start + first, text, names)
        elif names:
            yield from _find_windows(start + first, words, names)


def _find_windows(start: int, words: Sequence[str], names: Sequence[str]) -> Iterator[SourceLine]:
    """Yield the words around identifiers, apart from one another but for a few words in front."""
    behind = 0
    for at, word in enumerate(words):
        if at < behind or not any(name in word for name in names) or not find_identifiers(word):
            continue
        first, end = max(0, at - WORDS_BEFORE), at + 1 + WORDS_BEHIND
        text = " ".join(words[first:end])
        if len(text) <= WHOLE_CHARS:
            yield _to_line(start + at, text, tuple(find_identifiers(text)), is_whole=False)
        behind = max(at + 1, end - WORDS_BEFORE)


def _to_line(place: int, text: str, names: tuple[str, ...], *, is_whole: bool = True) -> SourceLine:
    return SourceLine(place, text, names, estimate_tokens(text) + LINE_TOKENS, is_whole)


def identifier_density(sources: Sequence[Sequence[SourceText]]) -> float:
    """Return the identifiers among a hundred words: below one in most chats, about ten where agents work."""
    words = sum(s.words for of_message in sources for s in of_message)
    return 100 * sum(len(s.names) for of_message in sources for s in of_message) / max(1, words)


def weigh_identifiers(sources: Sequence[Sequence[SourceText]]) -> dict[str, float]:
    """Return how likely each identifier is needed again, in any unit; a plain year is none.

    Args:
        sources: the texts of each message, in order.
    """
    shares: dict[str, _Mentions] = {}
    for number, of_message in enumerate(sources):
        for source in of_message:
            # Among hundreds, each is less likely the one that matters.
            share = 1 / (1 + len(source.names) / CROWD)
            for name in source.names:
                if _is_year(name):
                    continue
                mentions = shares.setdefault(name, _Mentions())
                if source.role == "assistant":
                    mentions.own += share
                elif source.role == "user":
                    mentions.user += share
                else:
                    mentions.other += share
                mentions.late = (number + 1) / len(sources)
    return {
        name: OWN_WEIGHT * math.sqrt(m.own)
        + USER_WEIGHT * math.sqrt(m.user)
        + OTHER_WEIGHT * math.sqrt(m.other)
        + LATE_WEIGHT * m.late
        for name, m in shares.items()
    }


@dataclass(slots=True)
class _Mentions:
    """The mentions of an identifier: how often by whom, and how late in the conversation, from 0 to 1."""

    own: float = 0.0
    user: float = 0.0
    other: float = 0.0
    late: float = 0.0


def choose_ledger_lines(
    sources: Sequence[Sequence[SourceText]],
    weights: Mapping[str, float],
    max_tokens: int,
    count: Count,
    *,
    known: str = "",
    whole: bool = False,
) -> list[Piece]:
    """Return lines, or the words around, that tell of the weightiest identifiers.

    Args:
        sources: the texts of each message, in order.
        weights: what each identifier weighs.
        max_tokens: the most tokens of all lines.
        count: counts the tokens of a text.
        known: a text that is read beside the lines; the identifiers in it need none.
        whole: of what was said whole sentences only, since words torn out of prose say little.
    """
    ranked = _rank_identifiers(weights)
    values = {name: weights[name] ** 2 for name in ranked}
    lines = [c for c in _find_candidates(sources, values) if c.is_whole or not whole]
    covered = {name for name in ranked if known and is_spelled_in(name, known)}
    chosen: list[Piece] = []
    room = max_tokens

    def gain(i: int) -> float:
        fresh = sum(values[name] for name in lines[i].names if name not in covered)
        return lines[i].boost * fresh / lines[i].cost

    def take(i: int) -> bool:
        nonlocal room
        text = lines[i].piece.text
        tokens = count(text) + LINE_TOKENS
        if tokens > room:
            return False
        chosen.append(lines[i].piece)
        # Short names are covered as parts of longer ones as well.
        covered.update(name for name in ranked if name in text and is_spelled_in(name, text))
        room -= tokens
        return True

    select_by_gain([gain(i) for i in range(len(lines))], gain, take, LEAST_GAIN)
    return chosen


def _find_candidates(
    sources: Sequence[Sequence[SourceText]], values: Mapping[str, float]
) -> list[_LineCandidate]:
    """Return the lines that name something of value."""
    candidates = []
    for number, of_message in enumerate(sources):
        for source in of_message:
            for line in source.lines:
                names = tuple(name for name in line.names if name in values)
                if names:
                    piece = Piece(number, line.place, source.role, line.text)
                    # What a tool printed is no prose, so the words around an identifier say as much.
                    is_whole = line.is_whole or not source.is_said
                    boost = _get_boost(source, line)
                    candidates.append(_LineCandidate(piece, names, line.cost, boost, is_whole))
    return candidates


def list_identifiers(weights: Mapping[str, float], known: str, max_tokens: int, count: Count) -> str:
    """Return the weightiest identifiers that the text ``known`` does not hold, in one line; empty without."""
    chosen: list[str] = []
    room = max_tokens - LIST_TOKENS
    for name in _rank_identifiers(weights):
        if is_spelled_in(name, known):
            continue
        room -= count(name) + 1
        if room < 0:
            break
        chosen.append(name)
    return "identifiers: " + ", ".join(chosen) if chosen else ""


def _rank_identifiers(weights: Mapping[str, float]) -> list[str]:
    return sorted(weights, key=lambda name: (-weights[name], name))[:MOST_RANKED]


def _get_boost(source: SourceText, line: SourceLine) -> float:
    if source.role in SPEAKERS:
        return SAID_BOOST
    return ERROR_BOOST if ERROR_LINE.search(line.text) else 1.0


def _is_year(name: str) -> bool:
    return len(name) == 4 and name[:2] in ("19", "20") and name.isdigit()
