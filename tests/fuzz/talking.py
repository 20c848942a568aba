"""A summariser that names what it was shown, and the doors through which a conversation may come."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from gateway_compaction.core.endpoints.read import read_conversation
from gateway_compaction.core.endpoints.wire import EndpointName, WireConversation
from gateway_compaction.errors import SummaryError, SummaryTooLong
from gateway_compaction.ports import SummaryAnswer, SummaryRequest
from tests.faults.summariser import tell
from tests.lab import Seen
from tests.lab.endpoints import to_anthropic, to_responses

__all__ = ["DOORS", "MOODS", "Asked", "Teller", "read", "write"]

DOORS: dict[EndpointName, str] = {
    "chat": "/v1/chat/completions",
    "messages": "/v1/messages",
    "responses": "/v1/responses",
}
MOODS = ("good", "good", "good", "empty", "cut off", "down", "too long")


@dataclass(frozen=True, slots=True)
class Asked:
    """One question: its words, and whether the answer was a summary."""

    text: str
    good: bool


@dataclass(slots=True)
class Teller:
    """A ``Summarizer`` of several replicas.

    Attributes:
        asked: the questions so far; a summary's number is its question's.
        mood: how it answers.
        gate: closed, it answers nobody.
    """

    asked: list[Asked] = field(default_factory=list)
    mood: str = "good"
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    async def complete(self, request: SummaryRequest) -> SummaryAnswer:
        """See ``Summarizer.complete``."""
        mood = self.mood
        self.asked.append(Asked(request.user, mood == "good"))
        number = len(self.asked)
        await self.gate.wait()
        if mood == "down":
            raise SummaryError("small: ServiceUnavailableError")
        if mood == "too long":
            raise SummaryTooLong("small: the question is too long", 900)
        shown: Any = SimpleNamespace(messages=[{"content": request.user}])
        text = {"empty": "", "cut off": "<summary>Of this it is"}.get(mood)
        reason = "length" if mood == "cut off" else "stop"
        return SummaryAnswer(
            text if text is not None else f"<summary>{tell(shown, number)}</summary>", reason, "small"
        )


def read(door: EndpointName, messages: Sequence[dict[str, Any]]) -> WireConversation:
    """A conversation as it comes through a door."""
    make = {
        "chat": lambda said: {"messages": list(said)},
        "messages": to_anthropic,
        "responses": to_responses,
    }
    return read_conversation(door, {"model": "gpt-4o", **make[door](messages)})


def write(wire: WireConversation, door: EndpointName, sent: Sequence[Any]) -> Seen:
    """What the upstream behind a door is sent."""
    value = wire.write(sent)
    return Seen(DOORS[door], "gpt-4o", {}, b"", {wire.field: value}, 0.0, 0)
