"""Open requests: what a user asked for and has not got yet.

A summary without them would let a promise ("I will look into it") be forgotten.

A question is open if the user spoke again before any answer. A question, or else a message's last sentence,
is open if the turn's last answer is short and ends by promising to look into it, or by saying that nothing is
known yet. Of several questions one is open that shares no word with a longer answer while another does. An
answer with at least half of its words closes it, and so does asking it again.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from gateway_compaction.core.text.lexicon import pattern_of
from gateway_compaction.core.text.questions import is_question
from gateway_compaction.core.text.terms import extract_terms

Spans = Sequence[tuple[int, int]]
PUTS_OFF = re.compile(f"(?i){pattern_of('deferrals')}")
CONDITION = re.compile(f"(?i){pattern_of('deferral_conditions')}")
# Longer answers answer something, however they end.
SHORT_WORDS = 40
SHORT_CHARS = 300
# A promise stands in the last sentences, two at most.
ENDING = 2
# In terms: only an answer of some length can have passed a question over, and only a question of some length
# can be told from others by its words.
ANSWER_TERMS = 8
QUESTION_TERMS = 2
# In characters: what is longer is no request to be repeated word for word.
LONGEST_REQUEST = 300
# Of one message, and in all: the last ones, so that a quiz of a thousand questions costs little.
MOST_OF_MESSAGE = 4
MOST_OPEN = 32


@dataclass(frozen=True, slots=True)
class UserRequest:
    """Something that a user's message asks for.

    Attributes:
        start: where it begins in the message's text.
        end: where it ends there.
        terms: its search terms, those of what was added behind the question left out.
        is_question: it is a question, not just the last sentence of a message without any.
    """

    start: int
    end: int
    terms: frozenset[str]
    is_question: bool


@dataclass(frozen=True, slots=True)
class DialogueAct:
    """The part of one message in requests: it makes some, or it may answer some.

    Attributes:
        requests: what a user's message asks for.
        is_answer: the message is an assistant's, with a text.
        terms: search terms of an answer.
        is_deferral: an answer that only promises one.
    """

    requests: tuple[UserRequest, ...] = ()
    is_answer: bool = False
    terms: frozenset[str] = frozenset()
    is_deferral: bool = False


NO_ACT = DialogueAct()


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """A request that is open at the end of some messages.

    Attributes:
        message: the index of the message that makes it.
        request: what it asks for.
        is_deferred: an answer was promised; otherwise it was passed over.
    """

    message: int
    request: UserRequest
    is_deferred: bool


def read_dialogue_act(role: str, text: str, spans: Spans, terms: Iterable[str]) -> DialogueAct:
    """Return what a message does for requests.

    Args:
        role: whose message it is.
        text: its text.
        spans: the sentences of the text, of a long one the first and the last.
        terms: search terms of these sentences.
    """
    if role == "user":
        return DialogueAct(_find_requests(text, spans))
    if role != "assistant" or not spans:
        return NO_ACT
    return DialogueAct((), True, frozenset(terms), _is_deferral(text, spans))


def _find_requests(text: str, spans: Spans) -> tuple[UserRequest, ...]:
    """Return the last questions of a text, the very last with what follows it.

    Where nothing is asked, the last sentence is what the message asks for.
    """
    questions = [i for i, (a, b) in enumerate(spans) if is_question(text[a:b])][-MOST_OF_MESSAGE:]
    sentences = questions or list(range(len(spans)))[-1:]
    requests = []
    for i in sentences:
        start, end = spans[i]
        terms = frozenset(extract_terms(text[start:end]))
        if i == sentences[-1] and spans[-1][1] - start <= LONGEST_REQUEST:
            end = spans[-1][1]
        if end - start <= LONGEST_REQUEST and terms:
            requests.append(UserRequest(start, end, terms, bool(questions)))
    return tuple(requests)


def _is_deferral(text: str, spans: Spans) -> bool:
    """Tell whether an answer is short and ends with a promise that depends on nothing the user must do."""
    if len(text) > SHORT_CHARS or len(text.split()) > SHORT_WORDS:
        return False
    end = text[spans[-ENDING:][0][0] :]
    return PUTS_OFF.search(end) is not None and CONDITION.search(end) is None


def find_open_requests(acts: Iterable[tuple[str, DialogueAct]]) -> list[OpenRequest]:
    """Return what is open at the end of some messages, of very many the latest.

    What the last message asks is not open: its answer is yet to come.

    Args:
        acts: the role of each message, and what it does.
    """
    waiting: deque[OpenRequest] = deque(maxlen=MOST_OPEN)
    for number, requests, answers in _group_by_request(acts):
        unanswered = _find_unanswered(requests, answers)
        new = [OpenRequest(number, request, is_deferred) for request, is_deferred in unanswered]
        # An answer closes what was open, and so does asking it again.
        closing = [_join_terms(a for a in answers if not a.is_deferral), *(o.request.terms for o in new)]
        still = [o for o in waiting if not any(_covers_half(terms, o.request.terms) for terms in closing)]
        waiting = deque([*still, *new], MOST_OPEN)
    return list(waiting)


def _group_by_request(
    acts: Iterable[tuple[str, DialogueAct]],
) -> Iterator[tuple[int, tuple[UserRequest, ...], Sequence[DialogueAct]]]:
    """Yield what each user message asks, and the answers to it; the last one only if it has any."""
    number = -1
    requests: tuple[UserRequest, ...] = ()
    answers: list[DialogueAct] = []
    for at, (role, act) in enumerate(acts):
        if role == "user":
            yield number, requests, answers
            number, requests, answers = at, act.requests, []
        elif act.is_answer:
            answers.append(act)
    if answers:
        yield number, requests, answers


def _find_unanswered(
    requests: Sequence[UserRequest], answers: Sequence[DialogueAct]
) -> list[tuple[UserRequest, bool]]:
    """Return what of a message is open after its answers, and whether an answer was promised."""
    questions = [r for r in requests if r.is_question]
    if not answers:
        return [(r, False) for r in questions]
    if answers[-1].is_deferral:
        return [(r, True) for r in requests]
    terms = _join_terms(answers)
    # A question that shares no word is open only where the answer took up another one.
    took_up = any(not r.terms.isdisjoint(terms) for r in questions)
    if len(terms) < ANSWER_TERMS or not took_up:
        return []
    passed_over = (r for r in questions if len(r.terms) >= QUESTION_TERMS and r.terms.isdisjoint(terms))
    return [(r, False) for r in passed_over]


def _join_terms(answers: Iterable[DialogueAct]) -> frozenset[str]:
    return frozenset().union(*(a.terms for a in answers))


def _covers_half(terms: frozenset[str], wanted: frozenset[str]) -> bool:
    return 2 * len(wanted & terms) >= len(wanted)
