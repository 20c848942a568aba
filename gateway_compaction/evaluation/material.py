"""Turn recorded conversations into material: messages, questions with evidence, probes and points."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from gateway_compaction.core.conversation.messages import Message, role_of, text_of
from gateway_compaction.core.conversation.transcript import parse_transcript
from gateway_compaction.core.text.sentences import split_sentences
from gateway_compaction.core.text.terms import extract_terms
from gateway_compaction.errors import TranscriptError
from gateway_compaction.evaluation.needs import Point, find_points
from gateway_compaction.evaluation.perturb import rephrase_as_question, script_of

T = TypeVar("T")

LEAST_MESSAGES = 4
MOST_PROBES = 20
LEFT_TO_THE_TAIL = 10
WORDS = (7, 40)
CHARACTERS = (12, 120)
ALIKE = 0.6


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a conversation, its answer, and the indexes of the messages that hold it."""

    text: str
    answer: str
    evidence: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Probe:
    """A sentence of a conversation, and the question that asks for it in other words."""

    text: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation; it has probes only where it comes without questions."""

    id: str
    messages: tuple[Message, ...]
    questions: tuple[Question, ...]
    probes: tuple[Probe, ...]
    points: tuple[Point, ...]


def conversation_of(
    name: str, messages: Sequence[Any], asked: Iterable[Any], limit: int | None
) -> Conversation | None:
    """Return a recording as material, or None where it is too short or no list of chat messages.

    ``limit`` is the most questions or probes, spread over the conversation.
    """
    try:
        parse_transcript(messages)
    except TranscriptError:
        return None
    if len(messages) < LEAST_MESSAGES:
        return None
    questions = _spread_evenly(
        [q for a in asked if (q := _read_question(a, len(messages))) is not None], limit
    )
    probes = [] if questions else _choose_probes(messages, min(MOST_PROBES, limit or MOST_PROBES))
    points = tuple(find_points(messages))
    return Conversation(name, tuple(messages), tuple(questions), tuple(probes), points)


def _read_question(asked: Any, messages: int) -> Question | None:
    """Return a question that has evidence, or None: also where its premise is false by intent."""
    if not isinstance(asked, Mapping) or asked.get("adversarial"):
        return None
    evidence = asked.get("evidence")
    named = evidence if isinstance(evidence, list) else []
    known = [e for e in named if type(e) is int and 0 <= e < messages]
    if not known or not asked.get("question"):
        return None
    return Question(str(asked["question"]), str(asked.get("answer") or ""), tuple(dict.fromkeys(known)))


def explain_unasked(conversations: Sequence[Conversation]) -> str | None:
    """Say of how many conversations nothing is asked, and why; None where something is asked of each."""
    silent = [one for one in conversations if not one.questions and not one.probes]
    if not silent:
        return None
    why = Counter(_explain_no_probes(one.messages) for one in silent)
    reasons = "; ".join(f"{number}: {reason}" for reason, number in why.most_common())
    return f"Conversations of which nothing is asked: {len(silent)} of {len(conversations)} ({reasons})."


def _choose_probes(messages: Sequence[Message], most: int) -> list[Probe]:
    """Choose sentences that say something of their own, from before the last ten messages."""
    spoken = [s for m in messages if role_of(m) in ("user", "assistant") for s in split_sentences(text_of(m))]
    telling = _spread_evenly(_candidate_sentences(messages), 3 * most)
    everything = [(s, _term_set(s)) for s in dict.fromkeys(spoken)]
    unique = [
        s for s in telling if not any(_are_alike(_term_set(s), other) for t, other in everything if t != s)
    ]
    return [Probe(rephrase_as_question(s), s) for s in _spread_evenly(unique, most)]


def _candidate_sentences(messages: Sequence[Message]) -> list[str]:
    older = messages[: len(messages) - LEFT_TO_THE_TAIL]
    lines = [s for m in older if role_of(m) in ("user", "assistant") for s in split_sentences(text_of(m))]
    return [s for s in dict.fromkeys(lines) if _says_enough(s)]


def _explain_no_probes(messages: Sequence[Message]) -> str:
    if not messages[: len(messages) - LEFT_TO_THE_TAIL]:
        return f"no qa, and no message before the last {LEFT_TO_THE_TAIL}"
    if not _candidate_sentences(messages):
        least, most = WORDS
        return f"no qa, and no plain sentence of {least} to {most} words before the last {LEFT_TO_THE_TAIL}"
    return "no qa, and every sentence is said again elsewhere in nearly the same words"


def _says_enough(sentence: str) -> bool:
    readable = sum(c.isalpha() or c.isspace() for c in sentence) / len(sentence)
    if script_of(sentence) == "other":
        return readable > 0.85 and WORDS[0] <= len(sentence.split()) <= WORDS[1]
    return readable > 0.75 and CHARACTERS[0] <= len(sentence.replace(" ", "")) <= CHARACTERS[1]


def _term_set(text: str) -> frozenset[str]:
    return frozenset(extract_terms(text))


def _are_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) > ALIKE * len(one)


def _spread_evenly(items: list[T], most: int | None) -> list[T]:
    """Return at most ``most`` items, evenly from first to last."""
    if most is None or len(items) <= most:
        return items
    return [items[i * len(items) // most] for i in range(most)]
