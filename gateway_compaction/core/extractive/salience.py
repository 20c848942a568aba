"""The telling sentences of a conversation: rare words, names, dates, what a user says; each thing once."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from gateway_compaction.core.conversation.messages import (
    PREAMBLE_ROLES,
    RESULT_ROLES,
    Message,
    role_of,
    text_of,
)
from gateway_compaction.core.conversation.transcript import compute_user_weight
from gateway_compaction.core.extractive.identifier_ledger import SPEAKERS, Piece
from gateway_compaction.core.extractive.open_questions import (
    NO_ACT,
    DialogueAct,
    find_open_requests,
    is_question,
    read_dialogue_act,
)
from gateway_compaction.core.extractive.selection import estimate_tokens, select_by_gain
from gateway_compaction.core.text.escaping import escape_markup
from gateway_compaction.core.text.lexicon import LEXICONS, pattern_of, words_of
from gateway_compaction.core.text.sentences import find_sentence_spans
from gateway_compaction.core.text.shorten import shorten
from gateway_compaction.core.text.terms import extract_terms

Count = Callable[[str], int]
DIGIT = re.compile(r"\d")
DATES = frozenset(extract_terms(" ".join(words_of("dates"))))
# Stemmed, as the terms are: "last night", "next week".
NEAR = frozenset(extract_terms(" ".join(words_of("near_times"))))
SPANS = frozenset(extract_terms(" ".join(words_of("time_spans"))))
LATIN = [lexicon for lexicon in LEXICONS if lexicon.script == "Latin"]
# What a first letter can tell is told by it, so that most words are looked at once.
FIRST_LETTERS = {entry.pattern.lstrip("[")[0] for lexicon in LATIN for entry in lexicon.own_person}
OF_ONESELF = re.compile(
    rf"\b(?=[{''.join(sorted(FIRST_LETTERS | {letter.lower() for letter in FIRST_LETTERS}))}])"
    rf"{pattern_of('own_person', LATIN)}\b"
)
ELSEWHERE = re.compile(pattern_of("own_person", [lexicon for lexicon in LEXICONS if lexicon not in LATIN]))
# What holds instead of something said before, and amounts: what a user cannot be asked for twice.
CORRECTS = re.compile(f"(?i){pattern_of('corrections')}")
AMOUNT = re.compile(r"(?<![\w.-])\d[\d.,:]*\s?(?:[%€$£¥₩°]|[^\W\d_])|[$€£¥₩]\s?\d")
NAMED = re.compile(r"(?<=[\w,;] )[A-Z][a-z]+")
SYMBOLS = re.compile(r"[{}()\[\]<>=;_/\\|]")
SAID_AGAIN = 0.6
CORRECTED, COUNTED = 1.0, 0.5
# A text with more symbols than this is pasted, or a program's.
MOST_SYMBOLS = 0.03
DATE, NAME, MOST_NAMES, ANSWER, ONESELF, QUESTION, TOOL, CODE = 0.6, 0.4, 2, 0.2, 0.5, 0.6, 0.5, 0.5
PIECE_TOKENS = 3
LONGEST, LEAST_TERMS, LEAST_CHARS = 100, 3, 12
FIRST_READ, LAST_READ, READ_OF_USER = 16, 8, 120
# Rarities are whole numbers, so that their sums do not depend on the order of a set.
RARITY_UNIT = 10_000


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence that says enough: where it stands in its message, its terms, what makes it worth more."""

    start: int
    end: int
    terms: tuple[str, ...]
    worth: float
    cost: float
    asks: bool
    of_oneself: bool
    lasts: float = 1.0


@dataclass(frozen=True, slots=True)
class Utterance:
    """What one message says; ``asks``: it ends with a question. Depends on nothing but the message.

    ``prose``: a user or an assistant, the ``role``, wrote it as one talks.
    """

    sentences: tuple[Sentence, ...]
    asks: bool
    turn: DialogueAct = NO_ACT
    prose: bool = False
    role: str = ""


@dataclass(frozen=True, slots=True)
class _SentenceCandidate:
    message: int
    sentence: Sentence
    boost: float
    total: int
    user: bool


@dataclass(frozen=True, slots=True)
class SentencePool:
    """What some messages say: every sentence, its worth where it stands, and how rare each term is.

    ``dense``, from 0 to 1, tells how many codes and numbers there are.
    """

    messages: Sequence[Message]
    found: Sequence[_SentenceCandidate]
    rarity: Mapping[str, int]
    dense: float


def read_utterance(message: Message) -> Utterance:
    """The sentences of a message; of a long one the first and the last, of a user's most."""
    role, text = role_of(message), text_of(message)
    if role in PREAMBLE_ROLES:
        return Utterance((), False)
    spans = find_sentence_spans(text)
    first = READ_OF_USER if role == "user" else FIRST_READ
    if len(spans) > first + LAST_READ:
        spans = [*spans[:first], *spans[-LAST_READ:]]
    terms = [tuple(dict.fromkeys(extract_terms(text[a:b]))) for a, b in spans]
    found = (_to_sentence(text[a:b], a, t, role) for (a, b), t in zip(spans, terms, strict=True))
    asks = bool(spans) and is_question(text[slice(*spans[-1])])
    prose = role in SPEAKERS and bool(spans) and len(SYMBOLS.findall(text)) <= MOST_SYMBOLS * len(text)
    turn = read_dialogue_act(role, text, spans, chain.from_iterable(terms))
    return Utterance(tuple(s for s in found if s is not None), asks, turn, prose, role)


def _to_sentence(piece: str, start: int, terms: tuple[str, ...], role: str) -> Sentence | None:
    if (len(piece) < LEAST_CHARS and piece.isascii()) or len(terms) < LEAST_TERMS:
        return None
    worth = 1.0 + DATE * _is_dated(piece, terms) + NAME * min(MOST_NAMES, len(NAMED.findall(piece)))
    if role in RESULT_ROLES:
        worth *= TOOL
    if len(SYMBOLS.findall(piece)) > 0.06 * len(piece):
        worth *= CODE
    cost = min(estimate_tokens(piece), LONGEST) + PIECE_TOKENS
    of_oneself = role not in RESULT_ROLES and _is_of_oneself(piece)
    lasts = 1.0
    if role == "user":
        lasts += CORRECTED * bool(CORRECTS.search(piece)) + COUNTED * bool(AMOUNT.search(piece))
    return Sentence(start, start + len(piece), terms, worth, cost, is_question(piece), of_oneself, lasts)


def _is_of_oneself(piece: str) -> bool:
    if OF_ONESELF.search(piece) is not None:
        return True
    return not piece.isascii() and ELSEWHERE.search(piece) is not None


def _is_dated(piece: str, terms: Sequence[str]) -> bool:
    if DIGIT.search(piece) or not DATES.isdisjoint(terms):
        return True
    return not (NEAR.isdisjoint(terms) or SPANS.isdisjoint(terms))


def dialogue_share(heard: Sequence[Utterance]) -> float:
    """How far some messages are a dialogue: 1 where users and assistants speak by turns, both in prose."""
    spoken_by = Counter(one.role for one in heard if one.prose)
    return min(1.0, 2 * min(spoken_by["user"], spoken_by["assistant"]) / max(1, len(heard)))


def build_sentence_pool(
    messages: Sequence[Message], heard: Sequence[Utterance], dense: float
) -> SentencePool:
    """What some messages say, each given with what was heard in it."""
    rarity = _count_rarity(heard)
    return SentencePool(messages, _build_candidates(messages, heard, rarity), rarity, dense)


def choose_salient(
    talk: SentencePool, known: Iterable[str], max_tokens: int, count: Count, shown: str = ""
) -> list[Piece]:
    """The most telling sentences within ``max_tokens``.

    ``known`` terms are said already, and what stands in the text ``shown`` need not be said again.
    """
    return _choose(talk, talk.found, known, max_tokens, count, shown)


def choose_user_statements(
    talk: SentencePool, known: Iterable[str], max_tokens: int, count: Count, shown: str = ""
) -> list[Piece]:
    """Choose what a user tells: corrections and amounts before all else, and no questions."""
    own = [replace(c, boost=c.boost * c.sentence.lasts) for c in talk.found if c.user and not c.sentence.asks]
    return _choose(talk, own, known, max_tokens, count, shown)


def choose_open_requests(
    talk: SentencePool, heard: Sequence[Utterance], max_tokens: int, count: Count
) -> list[Piece]:
    """What users asked for and have not got: what was put off first, and of that the latest."""
    said = ((role_of(m), one.turn) for m, one in zip(talk.messages, heard, strict=True))
    chosen: list[Piece] = []
    for found in sorted(
        find_open_requests(said), key=lambda o: (o.put_off, o.message, o.asked.start), reverse=True
    ):
        text = text_of(talk.messages[found.message])[found.asked.start : found.asked.end]
        cost = count(text) + PIECE_TOKENS
        if cost <= max_tokens:
            chosen.append(Piece(found.message, found.asked.start, "user", text, prose=True))
            max_tokens -= cost
    return chosen


def _choose(
    talk: SentencePool,
    found: Sequence[_SentenceCandidate],
    known: Iterable[str],
    room: int,
    count: Count,
    shown: str,
) -> list[Piece]:
    said = set(known)
    chosen: list[Piece] = []

    def gain(i: int) -> float:
        fresh = [t for t in found[i].sentence.terms if t not in said]
        worded = any(map(str.isalpha, fresh))
        if not fresh or (found[i].sentence.asks and not worded):
            return 0.0
        # The same about another code or number says little, where there are many; the same question nothing.
        again = SAID_AGAIN * (1.0 if worded else 1 - talk.dense)
        worth = again * found[i].total + (1 - SAID_AGAIN) * sum(talk.rarity[t] for t in fresh)
        return found[i].boost * worth / found[i].sentence.cost

    def take(i: int) -> bool:
        nonlocal room
        piece = _to_piece(talk.messages, found[i], count)
        cost = count(piece.text) + PIECE_TOKENS
        there = bool(shown) and escape_markup(piece.text) in shown
        if cost > room and not there:
            return False
        said.update(found[i].sentence.terms)
        if not there:
            chosen.append(piece)
            room -= cost
        return True

    select_by_gain([c.boost * c.total / c.sentence.cost for c in found], gain, take)
    return chosen


def _count_rarity(heard: Sequence[Utterance]) -> dict[str, int]:
    """How rare each term is among messages."""
    number: Counter[str] = Counter()
    for one in heard:
        number.update({term for s in one.sentences for term in s.terms})
    of = {n: round(RARITY_UNIT * math.log(1 + len(heard) / n)) for n in set(number.values())}
    return {term: of[n] for term, n in number.items()}


def _build_candidates(
    messages: Sequence[Message], heard: Sequence[Utterance], rarity: Mapping[str, int]
) -> list[_SentenceCandidate]:
    lead = compute_user_weight(messages)
    found: list[_SentenceCandidate] = []
    asked = False
    for number, (message, one) in enumerate(zip(messages, heard, strict=True)):
        user = role_of(message) == "user"
        place = (1.0 + ANSWER * asked) * (1.0 + lead * user)
        for s in one.sentences:
            boost = s.worth * place
            # Between peers both tell of themselves; an assistant's "I" says little.
            if s.of_oneself and (user or not lead):
                boost *= 1.0 + ONESELF
            if s.asks and not (user and lead):
                boost *= QUESTION
            found.append(_SentenceCandidate(number, s, boost, sum(map(rarity.__getitem__, s.terms)), user))
        asked = one.asks
    return found


def _to_piece(messages: Sequence[Message], chosen: _SentenceCandidate, count: Count) -> Piece:
    message, sentence = messages[chosen.message], chosen.sentence
    text = text_of(message)[sentence.start : sentence.end]
    if sentence.cost > LONGEST:
        text = shorten(text, LONGEST, count, "…")
    return Piece(chosen.message, sentence.start, role_of(message), text, prose=True)
