"""What a user asked for and has not got yet.

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
from gateway_compaction.core.text.terms import extract_terms

Spans = Sequence[tuple[int, int]]
QUESTION = re.compile(rf"(?:[?？]|{pattern_of('question_ends')})[\"'”’)\]」』]*\Z")
LONGEST_END = 12
PUTS_OFF = re.compile(f"(?i){pattern_of('deferrals')}")
CONDITION = re.compile(f"(?i){pattern_of('deferral_conditions')}")
SHORT_WORDS, SHORT_CHARS, ENDING = 40, 300, 2
ANSWER_TERMS, QUESTION_TERMS = 8, 2
LONGEST_REQUEST, MOST_ASKED, MOST_OPEN = 300, 4, 32


@dataclass(frozen=True, slots=True)
class UserRequest:
    """A question of a user's, or the end of what was said: where it stands, and its terms."""

    start: int
    end: int
    terms: frozenset[str]
    question: bool


@dataclass(frozen=True, slots=True)
class DialogueAct:
    """What a user's message asks; of what may be an answer its terms, and whether it puts off."""

    asked: tuple[UserRequest, ...] = ()
    answers: bool = False
    terms: frozenset[str] = frozenset()
    puts_off: bool = False


NO_ACT = DialogueAct()


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """Something asked for in a message that was put off, or else passed over."""

    message: int
    asked: UserRequest
    put_off: bool


def is_question(sentence: str) -> bool:
    """Whether a sentence asks, by its end."""
    return QUESTION.search(sentence[-LONGEST_END:]) is not None


def read_dialogue_act(role: str, text: str, spans: Spans, terms: Iterable[str]) -> DialogueAct:
    """What a message means for what is open, given its sentences and their terms."""
    if role == "user":
        return DialogueAct(_find_requests(text, spans))
    if role != "assistant" or not spans:
        return DialogueAct()
    return DialogueAct((), True, frozenset(terms), _is_deferral(text, spans))


def _find_requests(text: str, spans: Spans) -> tuple[UserRequest, ...]:
    """The last questions of a text, the very last with what follows it; without any its last sentence."""
    asking = [i for i, (a, b) in enumerate(spans) if is_question(text[a:b])][-MOST_ASKED:]
    found = []
    for i in asking or range(len(spans))[-1:]:
        start, end = spans[i]
        if i == (asking or [i])[-1] and spans[-1][1] - start <= LONGEST_REQUEST:
            end = spans[-1][1]
        terms = frozenset(extract_terms(text[start : spans[i][1]]))
        if end - start <= LONGEST_REQUEST and terms:
            found.append(UserRequest(start, end, terms, bool(asking)))
    return tuple(found)


def _is_deferral(text: str, spans: Spans) -> bool:
    if len(text) > SHORT_CHARS or len(text.split()) > SHORT_WORDS:
        return False
    end = text[spans[-ENDING:][0][0] :]
    return PUTS_OFF.search(end) is not None and CONDITION.search(end) is None


def find_open_requests(said: Iterable[tuple[str, DialogueAct]]) -> list[OpenRequest]:
    """What is open at the end of some messages, each a role and its turn; of very many the latest.

    What the last of them asks is not: its answer is yet to come.
    """
    waiting: deque[OpenRequest] = deque(maxlen=MOST_OPEN)
    for number, asked, answers in _group_by_request(said):
        found = [OpenRequest(number, one, put_off) for one, put_off in _find_unanswered(asked, answers)]
        terms = _join_terms(a for a in answers if not a.puts_off)
        new = [o.asked.terms for o in found]
        kept = [o for o in waiting if not any(_covers_half(o.asked.terms, t) for t in (terms, *new))]
        waiting = deque([*kept, *found], MOST_OPEN)
    return list(waiting)


def _group_by_request(
    said: Iterable[tuple[str, DialogueAct]],
) -> Iterator[tuple[int, tuple[UserRequest, ...], Sequence[DialogueAct]]]:
    """What each user message asks, and the answers to it; the last one only if it has any."""
    number = -1
    asked: tuple[UserRequest, ...] = ()
    answers: list[DialogueAct] = []
    for at, (role, turn) in enumerate(said):
        if role == "user":
            yield number, asked, answers
            number, asked, answers = at, turn.asked, []
        elif turn.answers:
            answers.append(turn)
    if answers:
        yield number, asked, answers


def _find_unanswered(
    asked: Sequence[UserRequest], answers: Sequence[DialogueAct]
) -> list[tuple[UserRequest, bool]]:
    """What of a message is open after its answers, and whether it was put off."""
    questions = [a for a in asked if a.question]
    if not answers:
        return [(a, False) for a in questions]
    if answers[-1].puts_off:
        return [(a, True) for a in asked]
    terms = _join_terms(answers)
    missed = [a for a in questions if len(a.terms) >= QUESTION_TERMS and a.terms.isdisjoint(terms)]
    told = len(terms) >= ANSWER_TERMS and any(not a.terms.isdisjoint(terms) for a in questions)
    return [(a, False) for a in missed] if told else []


def _join_terms(answers: Iterable[DialogueAct]) -> frozenset[str]:
    return frozenset().union(*(a.terms for a in answers))


def _covers_half(wanted: frozenset[str], terms: frozenset[str]) -> bool:
    return 2 * len(wanted & terms) >= len(wanted)
