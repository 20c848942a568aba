"""What must hold of every request that is sent, read off the messages alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway_compaction.core.conversation.messages import Message
from gateway_compaction.core.planning.context import RequestContext
from gateway_compaction.core.planning.plan import Plan
from gateway_compaction.core.summary.block import TAG, is_acknowledgement

__all__ = ["Parts", "calls_of", "dissect", "is_result", "marks", "only_said_changes", "pairs", "text_in"]


@dataclass(frozen=True)
class Parts:
    """A request taken apart.

    Attributes:
        summary_message: the message that stands for ``start`` covered messages.
        opener: index of the repeated user message.
        shown: the sent message for each index of the history, quotes before its own content taken off.
        origins: for each sent message its index in the request, None for what the gateway wrote.
    """

    summary_message: Message | None
    acknowledged: bool
    opener: int | None
    start: int
    shown: Mapping[int, Message]
    origins: tuple[int | None, ...]


def dissect(sent: Sequence[Message], context: RequestContext, plan: Plan) -> Parts:
    """Take a request apart, and fail where it is made up of anything else."""
    transcript = context.transcript
    ahead, history = len(transcript.preamble), transcript.history
    assert len(sent) >= ahead and all(a is b for a, b in zip(sent, transcript.preamble, strict=False))
    origins: list[int | None] = list(range(ahead))
    rest = list(sent[ahead:])
    summary_message, acknowledged, opener, start = None, False, None, 0
    compaction = plan.view.compaction
    if rest and text_in(rest[0]).startswith(f"<{TAG}>") and _foreign(rest[0], history):
        assert compaction is not None
        summary_message, start = rest.pop(0), compaction.covers
        assert summary_message["role"] == "user"
        assert text_in(summary_message).count(f"<{TAG}>") == text_in(summary_message).count(f"</{TAG}>") == 1
        acknowledged = _foreign(rest[0], history) and is_acknowledgement(rest[0])
        origins += [None] * (1 + acknowledged)
        del rest[:acknowledged]
    shown: dict[int, Message] = {}
    kept = len(history) - start
    assert len(rest) in (kept, kept + 1)
    if len(rest) > kept:
        opener = max(i for i, m in enumerate(history[:start]) if _without_quote(rest[0], m) == m)
        origins.append(ahead + opener)
        shown[opener] = _without_quote(rest.pop(0), history[opener])
    for index, message in enumerate(rest, start):
        shown[index] = _without_quote(message, history[index]) if index in plan.view.recalls else message
        origins.append(ahead + index)
    return Parts(summary_message, acknowledged, opener, start, shown, tuple(origins))


def _foreign(message: Message, history: Sequence[Message]) -> bool:
    return not any(message is m for m in history)


def _without_quote(message: Message, came: Message) -> Message:
    """The message with a quote before its content taken off; the one that came, where that is all."""
    new, old = message.get("content"), came.get("content")
    if message is came:
        return came
    if isinstance(new, list) and new[0].get("text", "").startswith("<recall>"):
        own: Any = new[1:]
        return came if {**message, "content": old} == came and own == old else {**message, "content": own}
    if isinstance(new, str) and new.startswith("<recall>\n") and "\n</recall>\n\n" in new:
        own = new.split("\n</recall>\n\n", 1)[1]
        return came if {**message, "content": own} == came else {**message, "content": own}
    return message


def text_in(message: Message) -> str:
    """All text of a message."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "".join(text_in(p) if "content" in p else str(p.get("text")) for p in content or ())


def is_result(message: Message) -> bool:
    """Whether a message is a tool's in role."""
    return message["role"] in ("tool", "function")


def only_said_changes(parts: Parts, context: RequestContext, plan: Plan) -> None:
    """Messages are the client's own objects, but for texts that the compaction clears or shortens."""
    compaction = plan.view.compaction
    for index, message in parts.shown.items():
        came = context.transcript.history[index]
        if message is came:
            continue
        assert compaction is not None and index >= parts.start
        clip = compaction.clip
        cleared = compaction.kind == "cleared" and index < compaction.covers and is_result(came)
        clipped = clip is not None and index < clip.until and index not in clip.spare
        assert cleared or clipped
        assert {**message, "content": None} == {**came, "content": None}


def calls_of(message: Message) -> int:
    """How many results a message waits for."""
    content = message.get("content")
    uses = [p for p in content if p.get("type") == "tool_use"] if isinstance(content, list) else []
    return len(message.get("tool_calls") or ()) + bool(message.get("function_call")) + len(uses)


def _results_of(message: Message) -> int:
    content = message.get("content")
    if is_result(message):
        return 1
    return sum(p.get("type") == "tool_result" for p in content) if isinstance(content, list) else 0


def pairs(messages: Sequence[Message]) -> list[tuple[int, int]]:
    """For each assistant message: the calls it makes, and the results before the next assistant message."""
    found: list[tuple[int, int]] = [(0, 0)]
    for message in messages:
        if message["role"] == "assistant":
            found.append((calls_of(message), 0))
        calls, results = found[-1]
        found[-1] = (calls, results + _results_of(message))
    return found


def marks(messages: Sequence[Message]) -> int:
    """How many cache marks some messages carry, anywhere."""

    def within(value: Any) -> int:
        if isinstance(value, Mapping):
            return bool(value.get("cache_control")) + sum(within(v) for v in value.values())
        return sum(within(v) for v in value) if isinstance(value, list) else 0

    return within(json.loads(json.dumps([*messages])))
