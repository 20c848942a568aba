"""Conversations for the presets, and what was sent of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from gateway_compaction.core.summary.block import TAG
from gateway_compaction.engine.request import Decision
from gateway_compaction.ports import SummaryAnswer, SummaryRequest
from tests.engine.histories import prose, system
from tests.engine.rig import Rig

__all__ = ["Obedient", "calls_of", "sent", "summary_in", "told", "turn", "turns"]

Message = dict[str, Any]
LENGTH = re.compile(r"in about (\d+) characters|in at most (\d+) words")


class Obedient:
    """A summariser that writes as much as it is asked for; each answer begins with its number."""

    def __init__(self) -> None:
        self.requests: list[SummaryRequest] = []

    async def complete(self, request: SummaryRequest) -> SummaryAnswer:
        self.requests.append(request)
        found = LENGTH.search(request.user)
        assert found is not None
        chars = int(found[1]) if found[1] else 5 * int(found[2])
        text = f"Summary {len(self.requests)}. " + prose(len(self.requests), chars // 4)
        return SummaryAnswer(f"Here it is:\n<summary>{text[:chars]}</summary>", "stop", request.model)


def turn(number: int, tools: int = 0, words: int = 40) -> list[Message]:
    """One turn: a question, some tool calls with their results, and the final answer."""
    said: list[Message] = [{"role": "user", "content": f"Question {number}: {prose(f'q{number}', words)}?"}]
    for step in range(tools):
        function = {"name": "web_search", "arguments": json.dumps({"query": f"topic {number} {step}"})}
        call = {"id": f"c{step}", "type": "function", "function": function}
        said.append({"role": "assistant", "content": None, "tool_calls": [call]})
        result = f"Result {number}.{step}: {prose(f'r{number}{step}', words)}"
        said.append({"role": "tool", "tool_call_id": f"c{step}", "content": result})
    said.append({"role": "assistant", "content": f"Answer {number}: {prose(f'a{number}', words)}."})
    return said


def turns(count: int, tools: int = 0, words: int = 40) -> list[Message]:
    """A preamble and so many finished turns."""
    return [system(), *(m for number in range(1, count + 1) for m in turn(number, tools, words))]


def calls_of(messages: Sequence[Message]) -> Iterator[list[Message]]:
    """The calls of a client, one for each user message and each result."""
    for end, message in enumerate(messages, 1):
        if message["role"] in ("user", "tool"):
            yield list(messages[:end])


async def told(rig: Rig, messages: Sequence[Message], **more: Any) -> list[Decision]:
    """Every call of a conversation, the background finished after each."""
    return [await rig.call(call, **more) for call in calls_of(messages)]


def sent(decision: Decision) -> list[Any]:
    """What went upstream."""
    return list(decision.messages if decision.messages is not None else decision.request.messages)


def summary_in(messages: Sequence[Any]) -> str | None:
    """The block that stands for earlier messages, if one was sent."""
    blocks = [str(m["content"]) for m in messages if f"<{TAG}>" in str(m.get("content"))]
    assert len(blocks) <= 1
    return blocks[0] if blocks else None
