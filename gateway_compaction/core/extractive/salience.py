"""Salient sentences of a conversation: rare words, names, dates, what a user says; each thing once.

A sentence is chosen by its gain: how rare its words are among the messages, times factors for its place and
its form, divided by its tokens. Words that a chosen sentence says already count less in all others, so that
an extract does not say one thing ten times.
"""

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
    brought_spans_of,
    told_text_of,
)
from gateway_compaction.core.conversation.transcript import compute_user_weight
from gateway_compaction.core.extractive.open_questions import (
    NO_ACT,
    DialogueAct,
    find_open_requests,
    read_dialogue_act,
)
from gateway_compaction.core.extractive.selection import SPEAKERS, Piece, estimate_tokens, select_by_gain
from gateway_compaction.core.text.escaping import escape_markup
from gateway_compaction.core.text.lexicon import LEXICONS, pattern_of, words_of
from gateway_compaction.core.text.provenance import source_role
from gateway_compaction.core.text.questions import is_question
from gateway_compaction.core.text.sentences import find_sentence_spans
from gateway_compaction.core.text.shorten import shorten
from gateway_compaction.core.text.terms import extract_terms

Count = Callable[[str], int]
DIGIT = re.compile(r"\d")
DATES = frozenset(extract_terms(" ".join(words_of("dates"))))
# A word of each dates a sentence: "last night", "next week". Stemmed, as terms are.
NEAR = frozenset(extract_terms(" ".join(words_of("near_times"))))
SPANS = frozenset(extract_terms(" ".join(words_of("time_spans"))))
LATIN = [lexicon for lexicon in LEXICONS if lexicon.script == "Latin"]
# Letters that "I" or "my" begin with: most words are passed over by their first letter, which is faster.
FIRST_LETTERS = {entry.pattern.lstrip("[")[0] for lexicon in LATIN for entry in lexicon.own_person}
OF_ONESELF = re.compile(
    rf"\b(?=[{''.join(sorted(FIRST_LETTERS | {letter.lower() for letter in FIRST_LETTERS}))}])"
    rf"{pattern_of('own_person', LATIN)}\b"
)
OF_ONESELF_ELSEWHERE = re.compile(
    pattern_of("own_person", [lexicon for lexicon in LEXICONS if lexicon not in LATIN])
)
# Corrections of something said before, and amounts: a user who told one is not to be asked for it again.
CORRECTS = re.compile(f"(?i){pattern_of('corrections')}")
AMOUNT = re.compile(r"(?<![\w.-])\d[\d.,:]*\s?(?:[%€$£¥₩°]|[^\W\d_])|[$€£¥₩]\s?\d")
CAPITAL = re.compile(r"(?<=[\w,;] )[A-Z][a-z]+")
SYMBOLS = re.compile(r"[{}()\[\]<>=;_/\\|]")
# The share of its words' rarity that a sentence keeps when chosen ones say all of them already; the other
# share counts new words only.
SAID_AGAIN = 0.6
# Added to ``Sentence.lasting`` where a user corrects something, and where he names an amount.
CORRECTED = 1.0
COUNTED = 0.5
# As a share of its characters: a message with more symbols than this is pasted, or code, not talk.
MOST_SYMBOLS = 0.03
# The same of a single sentence, in which a path or two weigh more.
MOST_SYMBOLS_OF_SENTENCE = 0.06
# Added to a sentence's factor of 1: for a date or a number in it, and for each name, up to two.
DATE_WORTH = 0.6
NAME_WORTH = 0.4
MOST_NAMES = 2
# The same for standing behind a question, which it may answer, and for telling of the one who speaks.
ANSWER_WORTH = 0.2
ONESELF_WORTH = 0.5
# Factors of what says less: a question, the output of a tool, code.
QUESTION_FACTOR = 0.6
TOOL_FACTOR = 0.5
CODE_FACTOR = 0.5
# In tokens: what a sentence costs besides its text, for a role and a line break.
PIECE_TOKENS = 3
# In tokens: longer sentences are shortened.
LONGEST = 100
# Shorter sentences say nothing alone; in other scripts twelve characters may be a whole sentence.
LEAST_TERMS = 3
LEAST_CHARS = 12
# In sentences: of a long message only so many first and last ones are read; of a user's more first ones.
FIRST_READ = 16
FIRST_READ_OF_USER = 120
LAST_READ = 8
# Rarities are whole numbers, so that their sums do not depend on the order of a set.
RARITY_UNIT = 10_000


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence that says enough to be quoted.

    Attributes:
        start: where it begins in the text of its message.
        end: where it ends there.
        terms: its search terms, each once, in order.
        worth: a factor, by its form and who says it.
        cost: about its tokens in an extract.
        asks: it is a question.
        is_of_oneself: the one who speaks tells of himself.
        lasting: a factor, for how long what a user says stays of use.
        is_brought_in: a part of the message brought it, such as the result of a provider's tool.
    """

    start: int
    end: int
    terms: tuple[str, ...]
    worth: float
    cost: float
    asks: bool
    is_of_oneself: bool
    lasting: float = 1.0
    is_brought_in: bool = False


@dataclass(frozen=True, slots=True)
class Utterance:
    """The sentences of one message and what it asks; depends on nothing but the message.

    Attributes:
        sentences: those that say enough.
        asks: it ends with a question.
        act: which requests it makes, or whether it may answer one.
        is_prose: a user or an assistant wrote it as one talks.
        role: whose it is.
    """

    sentences: tuple[Sentence, ...]
    asks: bool
    act: DialogueAct = NO_ACT
    is_prose: bool = False
    role: str = ""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A sentence where it stands.

    Attributes:
        message: the index of its message.
        sentence: the sentence.
        boost: a factor, for its form and its place.
        rarity: of all its terms together, in units of ``RARITY_UNIT``.
        is_by_user: a user says it.
    """

    message: int
    sentence: Sentence
    boost: float
    rarity: int
    is_by_user: bool


@dataclass(frozen=True, slots=True)
class SentencePool:
    """The sentences of some messages, from which extracts are chosen.

    Attributes:
        roles: whose each message is.
        texts: what each message tells, in which the sentences have their places.
        candidates: every sentence with its worth where it stands, in order.
        rarity: how rare each term is among the messages, in units of ``RARITY_UNIT``.
        dense: from 0 to 1, how thick codes and numbers stand: 1 where an agent works, near 0 in small talk.
    """

    roles: Sequence[str]
    texts: Sequence[str]
    candidates: Sequence[_Candidate]
    rarity: Mapping[str, int]
    dense: float


def read_utterance(message: Message) -> Utterance:
    """Return what a message says; of a long one the first and the last sentences, of a user's more."""
    role, text = source_role(message), told_text_of(message)
    if role in PREAMBLE_ROLES:
        return Utterance((), False)
    spans = find_sentence_spans(text)
    first = FIRST_READ_OF_USER if role == "user" else FIRST_READ
    if len(spans) > first + LAST_READ:
        spans = [*spans[:first], *spans[-LAST_READ:]]
    terms = [tuple(dict.fromkeys(extract_terms(text[a:b]))) for a, b in spans]
    brought_in = brought_spans_of(message)
    sentences = (
        _to_sentence(text[a:b], a, t, role, is_brought_in=any(start <= a < end for start, end in brought_in))
        for (a, b), t in zip(spans, terms, strict=True)
    )
    asks = bool(spans) and is_question(text[slice(*spans[-1])])
    is_prose = role in SPEAKERS and bool(spans) and len(SYMBOLS.findall(text)) <= MOST_SYMBOLS * len(text)
    act = read_dialogue_act(role, text, spans, chain.from_iterable(terms))
    return Utterance(tuple(s for s in sentences if s is not None), asks, act, is_prose, role)


def _to_sentence(
    text: str, start: int, terms: tuple[str, ...], role: str, *, is_brought_in: bool
) -> Sentence | None:
    """Return a sentence with its worth; nothing if it says too little."""
    if (len(text) < LEAST_CHARS and text.isascii()) or len(terms) < LEAST_TERMS:
        return None
    names = min(MOST_NAMES, len(CAPITAL.findall(text)))
    worth = 1.0 + DATE_WORTH * _is_dated(text, terms) + NAME_WORTH * names
    is_result = is_brought_in or role in RESULT_ROLES
    if is_result:
        worth *= TOOL_FACTOR
    if len(SYMBOLS.findall(text)) > MOST_SYMBOLS_OF_SENTENCE * len(text):
        worth *= CODE_FACTOR
    lasting = 1.0
    if role == "user" and not is_brought_in:
        lasting += CORRECTED * bool(CORRECTS.search(text)) + COUNTED * bool(AMOUNT.search(text))
    return Sentence(
        start=start,
        end=start + len(text),
        terms=terms,
        worth=worth,
        cost=min(estimate_tokens(text), LONGEST) + PIECE_TOKENS,
        asks=is_question(text),
        is_of_oneself=not is_result and _is_of_oneself(text),
        lasting=lasting,
        is_brought_in=is_brought_in,
    )


def _is_of_oneself(text: str) -> bool:
    if OF_ONESELF.search(text) is not None:
        return True
    return not text.isascii() and OF_ONESELF_ELSEWHERE.search(text) is not None


def _is_dated(text: str, terms: Sequence[str]) -> bool:
    if DIGIT.search(text) or not DATES.isdisjoint(terms):
        return True
    return not (NEAR.isdisjoint(terms) or SPANS.isdisjoint(terms))


def dialogue_share(utterances: Sequence[Utterance]) -> float:
    """Return how far some messages are a dialogue.

    That is 1 where users and assistants speak by turns, both in prose, and 0 where an agent works alone.
    """
    by_role = Counter(one.role for one in utterances if one.is_prose)
    return min(1.0, 2 * min(by_role["user"], by_role["assistant"]) / max(1, len(utterances)))


def build_sentence_pool(
    messages: Sequence[Message], utterances: Sequence[Utterance], dense: float
) -> SentencePool:
    """Build the pool of all sentences.

    Args:
        messages: the messages.
        utterances: what each of them says.
        dense: as in ``SentencePool``.
    """
    rarity = _count_rarity(utterances)
    roles, texts = [one.role for one in utterances], [told_text_of(m) for m in messages]
    return SentencePool(roles, texts, _build_candidates(messages, utterances, rarity), rarity, dense)


def choose_salient(
    pool: SentencePool, known: Iterable[str], max_tokens: int, count: Count, shown: str = ""
) -> list[Piece]:
    """Return the most telling sentences, best first.

    Args:
        pool: all sentences.
        known: terms that are said already.
        max_tokens: the most tokens of all of them.
        count: counts the tokens of a text.
        shown: a text that is read beside them; a sentence that stands in it is not repeated.
    """
    return _choose(pool, pool.candidates, known, max_tokens, count, shown)


def choose_user_statements(
    pool: SentencePool, known: Iterable[str], max_tokens: int, count: Count, shown: str = ""
) -> list[Piece]:
    """Return what a user tells, best first: corrections and amounts before all else, and no questions.

    A user cannot be asked for it twice. The arguments are those of ``choose_salient``.
    """
    statements = [
        replace(c, boost=c.boost * c.sentence.lasting)
        for c in pool.candidates
        if c.is_by_user and not c.sentence.asks
    ]
    return _choose(pool, statements, known, max_tokens, count, shown)


def choose_open_requests(
    pool: SentencePool, utterances: Sequence[Utterance], max_tokens: int, count: Count
) -> list[Piece]:
    """Return what users asked for and have not got: what was promised first, and of that the latest."""
    acts = ((role, one.act) for role, one in zip(pool.roles, utterances, strict=True))
    requests = find_open_requests(acts)
    requests.sort(key=lambda o: (o.is_deferred, o.message, o.request.start), reverse=True)
    chosen: list[Piece] = []
    for found in requests:
        request = found.request
        text = pool.texts[found.message][request.start : request.end]
        tokens = count(text) + PIECE_TOKENS
        if tokens <= max_tokens:
            chosen.append(Piece(found.message, request.start, "user", text, is_prose=True))
            max_tokens -= tokens
    return chosen


def _choose(
    pool: SentencePool,
    candidates: Sequence[_Candidate],
    known: Iterable[str],
    room: int,
    count: Count,
    shown: str,
) -> list[Piece]:
    """Choose the sentences that add most for each token to what is said already, until the room is used."""
    said = set(known)
    chosen: list[Piece] = []

    def gain(i: int) -> float:
        candidate = candidates[i]
        fresh = [t for t in candidate.sentence.terms if t not in said]
        has_words = any(map(str.isalpha, fresh))
        if not fresh or (candidate.sentence.asks and not has_words):
            return 0.0
        # Where the only new terms are codes or numbers, and such are many, a sentence says little more than
        # one that was chosen (another line of a log); a question so repeated says nothing.
        again = SAID_AGAIN * (1.0 if has_words else 1 - pool.dense)
        worth = again * candidate.rarity + (1 - SAID_AGAIN) * sum(pool.rarity[t] for t in fresh)
        return candidate.boost * worth / candidate.sentence.cost

    def take(i: int) -> bool:
        nonlocal room
        piece = _to_piece(pool, candidates[i], count)
        tokens = count(piece.text) + PIECE_TOKENS
        is_shown = bool(shown) and escape_markup(piece.text) in shown
        if tokens > room and not is_shown:
            return False
        said.update(candidates[i].sentence.terms)
        if not is_shown:
            chosen.append(piece)
            room -= tokens
        return True

    select_by_gain([c.boost * c.rarity / c.sentence.cost for c in candidates], gain, take)
    return chosen


def _count_rarity(utterances: Sequence[Utterance]) -> dict[str, int]:
    """Return how rare each term is among messages, in units of ``RARITY_UNIT``."""
    number: Counter[str] = Counter()
    for one in utterances:
        number.update({term for s in one.sentences for term in s.terms})
    size = len(utterances)
    rarities = {n: round(RARITY_UNIT * math.log(1 + size / n)) for n in set(number.values())}
    return {term: rarities[n] for term, n in number.items()}


def _build_candidates(
    messages: Sequence[Message], utterances: Sequence[Utterance], rarity: Mapping[str, int]
) -> list[_Candidate]:
    user_weight = compute_user_weight(messages)
    candidates: list[_Candidate] = []
    was_asked = False
    for number, one in enumerate(utterances):
        for sentence in one.sentences:
            is_user = one.role == "user" and not sentence.is_brought_in
            boost = sentence.worth * (1.0 + ANSWER_WORTH * was_asked) * (1.0 + user_weight * is_user)
            # Between peers both tell of themselves; an assistant's "I" says little.
            if sentence.is_of_oneself and (is_user or not user_weight):
                boost *= 1.0 + ONESELF_WORTH
            if sentence.asks and not (is_user and user_weight):
                boost *= QUESTION_FACTOR
            total = sum(map(rarity.__getitem__, sentence.terms))
            candidates.append(_Candidate(number, sentence, boost, total, is_user))
        was_asked = one.asks
    return candidates


def _to_piece(pool: SentencePool, candidate: _Candidate, count: Count) -> Piece:
    number, sentence = candidate.message, candidate.sentence
    text = pool.texts[number][sentence.start : sentence.end]
    if sentence.cost > LONGEST:
        text = shorten(text, LONGEST, count, "…")
    role = "tool" if sentence.is_brought_in else pool.roles[number]
    return Piece(number, sentence.start, role, text, is_prose=True)
