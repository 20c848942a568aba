"""The telling sentences of a conversation: rare words, names, dates, what a user says; each thing once."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from gateway_compaction.core.greedy import by_gain, rough_tokens
from gateway_compaction.core.ledger import Piece
from gateway_compaction.core.messages import PREAMBLE_ROLES, RESULT_ROLES, Message, part_of, text_of
from gateway_compaction.core.search_index import user_weight
from gateway_compaction.core.sentences import sentence_spans
from gateway_compaction.core.shorten import shorten
from gateway_compaction.core.terms import search_terms

__all__ = ["Sentence", "Spoken", "spoken", "telling"]

Count = Callable[[str], int]
DIGIT = re.compile(r"\d")
DATES = frozenset(
    search_terms(
        "yesterday tomorrow tonight ago recently Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
        " January February March April June July August September October November December"
        " Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec"
        " 어제 내일 지난 昨日 明日 先週 来週 昨天 明天 上周 下周"
    )
)
# Stemmed, as the terms are: "last night", "next week".
NEAR = frozenset(search_terms("last next past"))
SPANS = frozenset(search_terms("night morning week weekend month year spring summer autumn fall winter"))
OF_ONESELF = re.compile(r"\b(?:I|[Mm]y|[Ww]e|[Oo]ur)\b")
NAMED = re.compile(r"(?<=[\w,;] )[A-Z][a-z]+")
SYMBOLS = re.compile(r"[{}()\[\]<>=;_/\\|]")
ASKS = ("?", "？")
SAID_AGAIN = 0.6
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


@dataclass(frozen=True, slots=True)
class Spoken:
    """What one message says; ``asks``: it ends with a question. Depends on nothing but the message."""

    sentences: tuple[Sentence, ...]
    asks: bool


@dataclass(frozen=True, slots=True)
class _Candidate:
    message: int
    sentence: Sentence
    boost: float


def spoken(message: Message) -> Spoken:
    """The sentences of a message; of a long one the first and the last, of a user's most."""
    role, text = part_of(message), text_of(message)
    if role in PREAMBLE_ROLES:
        return Spoken((), False)
    spans = sentence_spans(text)
    first = READ_OF_USER if role == "user" else FIRST_READ
    if len(spans) > first + LAST_READ:
        spans = [*spans[:first], *spans[-LAST_READ:]]
    found = (_sentence(text, a, b, role) for a, b in spans)
    asks = bool(spans) and text[: spans[-1][1]].endswith(ASKS)
    return Spoken(tuple(s for s in found if s is not None), asks)


def _sentence(text: str, start: int, end: int, role: str) -> Sentence | None:
    piece = text[start:end]
    if len(piece) < LEAST_CHARS and piece.isascii():
        return None
    terms = tuple(dict.fromkeys(search_terms(piece)))
    if len(terms) < LEAST_TERMS:
        return None
    worth = 1.0 + DATE * _dated(piece, terms) + NAME * min(MOST_NAMES, len(NAMED.findall(piece)))
    if role in RESULT_ROLES:
        worth *= TOOL
    if len(SYMBOLS.findall(piece)) > 0.06 * len(piece):
        worth *= CODE
    cost = min(rough_tokens(piece), LONGEST) + PIECE_TOKENS
    of_oneself = role not in RESULT_ROLES and OF_ONESELF.search(piece) is not None
    return Sentence(start, end, terms, worth, cost, piece.endswith(ASKS), of_oneself)


def _dated(piece: str, terms: Sequence[str]) -> bool:
    if DIGIT.search(piece) or not DATES.isdisjoint(terms):
        return True
    return not (NEAR.isdisjoint(terms) or SPANS.isdisjoint(terms))


def telling(
    messages: Sequence[Message],
    heard: Sequence[Spoken],
    known: Iterable[str],
    max_tokens: int,
    count: Count,
) -> list[Piece]:
    """The most telling sentences within ``max_tokens``.

    ``heard`` is what each message says; ``known`` terms are said already.
    """
    rarity = _rarity(heard)
    found = _candidates(messages, heard)
    totals = [sum(map(rarity.__getitem__, c.sentence.terms)) for c in found]
    said = set(known)
    chosen: list[Piece] = []
    room = max_tokens

    def gain(i: int) -> float:
        fresh = sum(rarity[t] for t in found[i].sentence.terms if t not in said)
        if not fresh:
            return 0.0
        worth = SAID_AGAIN * totals[i] + (1 - SAID_AGAIN) * fresh
        return found[i].boost * worth / found[i].sentence.cost

    def take(i: int) -> bool:
        nonlocal room
        piece = _piece(messages, found[i], count)
        cost = count(piece.text) + PIECE_TOKENS
        if cost > room:
            return False
        chosen.append(piece)
        said.update(found[i].sentence.terms)
        room -= cost
        return True

    by_gain([c.boost * total / c.sentence.cost for c, total in zip(found, totals, strict=True)], gain, take)
    return chosen


def _rarity(heard: Sequence[Spoken]) -> dict[str, int]:
    """How rare each term is among messages."""
    number: Counter[str] = Counter()
    for one in heard:
        number.update({term for s in one.sentences for term in s.terms})
    of = {n: round(RARITY_UNIT * math.log(1 + len(heard) / n)) for n in set(number.values())}
    return {term: of[n] for term, n in number.items()}


def _candidates(messages: Sequence[Message], heard: Sequence[Spoken]) -> list[_Candidate]:
    """Every sentence with what it is worth where it stands."""
    lead = user_weight(messages)
    found: list[_Candidate] = []
    asked = False
    for number, (message, one) in enumerate(zip(messages, heard, strict=True)):
        user = part_of(message) == "user"
        place = (1.0 + ANSWER * asked) * (1.0 + lead * user)
        for s in one.sentences:
            boost = s.worth * place
            # Between peers both tell of themselves; an assistant's "I" says little.
            if s.of_oneself and (user or not lead):
                boost *= 1.0 + ONESELF
            if s.asks and not (user and lead):
                boost *= QUESTION
            found.append(_Candidate(number, s, boost))
        asked = one.asks
    return found


def _piece(messages: Sequence[Message], chosen: _Candidate, count: Count) -> Piece:
    message, sentence = messages[chosen.message], chosen.sentence
    text = text_of(message)[sentence.start : sentence.end]
    if sentence.cost > LONGEST:
        text = shorten(text, LONGEST, count, "…")
    return Piece(chosen.message, sentence.start, part_of(message), text, prose=True)
