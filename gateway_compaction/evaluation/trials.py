"""Make the requests that a conversation is measured with, each with what should survive of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gateway_compaction.core.conversation.messages import Message, has_tool_calls, role_of
from gateway_compaction.evaluation.material import Conversation, Probe, Question

NEUTRAL: Message = {"role": "user", "content": "Please go on."}


@dataclass(frozen=True, slots=True)
class Trial:
    """One request. It asks a question, a probe, or nothing: then ``needed`` identifiers are looked for.

    ``ends`` is true of the neutral request behind the whole conversation.
    """

    conversation: Conversation
    messages: tuple[Message, ...]
    question: Question | None = None
    probe: Probe | None = None
    needed: tuple[str, ...] = ()
    ends: bool = False

    @property
    def asked(self) -> bool:
        """Whether its last message is a question."""
        return self.question is not None or self.probe is not None


def make_trials(conversation: Conversation, known: bool, unknown: bool) -> Iterator[Trial]:
    """Yield the requests of a conversation: one for each question and probe, and one without any."""
    whole = _drop_open_calls(conversation.messages)
    if known:
        for question in conversation.questions:
            yield Trial(conversation, (*whole, user_message(question.text)), question=question)
        for probe in conversation.probes:
            yield Trial(conversation, (*whole, user_message(probe.text)), probe=probe)
    if unknown or not conversation.points:
        yield Trial(conversation, (*whole, NEUTRAL), ends=True)
    for point in conversation.points:
        yield Trial(conversation, (*_drop_open_calls(point.sent), NEUTRAL), needed=point.needed)


def user_message(text: str) -> Message:
    """Return a user message."""
    return {"role": "user", "content": text}


def _drop_open_calls(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return messages without calls at the end that no result answers."""
    end = len(messages)
    while end and role_of(messages[end - 1]) == "assistant" and has_tool_calls(messages[end - 1]):
        end -= 1
    return tuple(messages[:end])
