"""A conversation as the client sent it: preamble, turns, groups, and where it may be divided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway_compaction.errors import TranscriptError

__all__ = ["Message", "Transcript", "parse", "text_of"]

Message = Mapping[str, Any]
"""One chat message, opaque: read, never edited."""

PREAMBLE_ROLES = frozenset({"system", "developer"})
RESULT_ROLES = frozenset({"tool", "function"})


@dataclass(frozen=True, slots=True)
class Transcript:
    """The messages of one request, divided.

    Indexes below count from the first message after the preamble.

    Attributes:
        preamble: the leading system and developer messages.
        history: everything after them.
        cuts: indexes (ascending, 0 and the end excluded) at which the history may be divided.
        openers: for each cut the index of the user message that must stand before the tail, or None where
            the cut itself begins a turn.
        last_user: index of the last user message, or None.
    """

    preamble: tuple[Message, ...]
    history: tuple[Message, ...]
    cuts: tuple[int, ...]
    openers: Mapping[int, int | None]
    last_user: int | None


def parse(messages: Sequence[Any]) -> Transcript:
    """Divide a request's messages.

    Raises:
        TranscriptError: an entry is not a message object with a role.
    """
    for index, message in enumerate(messages):
        if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
            raise TranscriptError(f"messages[{index}] is not a message with a role")
    start = 0
    while start < len(messages) and messages[start]["role"] in PREAMBLE_ROLES:
        start += 1
    history = tuple(messages[start:])
    openers = _cuts(history)
    users = [i for i, m in enumerate(history) if m["role"] == "user"]
    return Transcript(
        preamble=tuple(messages[:start]),
        history=history,
        cuts=tuple(openers),
        openers=openers,
        last_user=users[-1] if users else None,
    )


def _cuts(history: tuple[Message, ...]) -> dict[int, int | None]:
    """The intersection of three rules: groups stay whole, a tail starts with a user or an assistant
    message, and a turn that thinks aloud is only divided where the thinking starts anew."""
    cuts: dict[int, int | None] = {}
    open_until = _group_ends(history)
    closed, opener, thinking = 0, None, False
    for index, message in enumerate(history):
        role = message["role"]
        if index >= closed and index > 0:
            if role == "user":
                cuts[index] = None
            elif (
                role == "assistant" and _worth_dividing(index, opener) and (_thinks(message) or not thinking)
            ):
                cuts[index] = opener
        if role == "user":
            opener, thinking = index, False
        thinking = thinking or _thinks(message)
        closed = max(closed, open_until.get(index, index + 1))
    return cuts


def _worth_dividing(index: int, opener: int | None) -> bool:
    # Directly behind its opener a cut would cover only what has to be repeated.
    return opener is None or index > opener + 1


def _group_ends(history: tuple[Message, ...]) -> dict[int, int]:
    """For each assistant message with calls: the index behind the last result before the next assistant.

    Results are paired by adjacency: call ids repeat within a conversation, and some clients put a user
    message between a call and its result.
    """
    ends: dict[int, int] = {}
    caller: int | None = None
    for index, message in enumerate(history):
        role = message["role"]
        if role == "assistant":
            caller = index if message.get("tool_calls") or message.get("function_call") else None
        elif role in RESULT_ROLES and caller is not None:
            ends[caller] = index + 1
    return ends


def _thinks(message: Message) -> bool:
    if message.get("thinking_blocks"):
        return True
    content = message.get("content")
    return isinstance(content, list) and any(
        isinstance(part, Mapping) and part.get("type") in ("thinking", "redacted_thinking")
        for part in content
    )


def text_of(message: Message) -> str:
    """The text of a message's content; parts joined by a line break, other parts left out."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = (p if isinstance(p, str) else p.get("text") for p in content if isinstance(p, (str, Mapping)))
    return "\n".join(t for t in texts if isinstance(t, str) and t)
