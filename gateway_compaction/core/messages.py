"""A conversation as the client sent it: preamble, turns, groups, and where it may be divided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway_compaction.errors import TranscriptError

__all__ = ["Message", "Transcript", "parse", "part_of", "text_of"]

Message = Mapping[str, Any]
"""One chat message, opaque: read, never edited."""

PREAMBLE_ROLES = frozenset({"system", "developer"})
RESULT_ROLES = frozenset({"tool", "function"})
RESULT_PARTS = frozenset({"tool_result"})
CALL_PARTS = frozenset({"tool_use"})
TEXT_PARTS = frozenset({"text", "input_text", "output_text"})
THINKING_PARTS = frozenset({"thinking", "redacted_thinking"})


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
    users = [i for i, m in enumerate(history) if part_of(m) == "user"]
    return Transcript(
        preamble=tuple(messages[:start]),
        history=history,
        cuts=tuple(openers),
        openers=openers,
        last_user=users[-1] if users else None,
    )


def part_of(message: Message) -> str:
    """What a message is in a conversation: its role, but ``tool`` for results in content parts."""
    role = str(message["role"])
    return "tool" if role in RESULT_ROLES or (role == "user" and _has_part(message, RESULT_PARTS)) else role


def _cuts(history: tuple[Message, ...]) -> dict[int, int | None]:
    """The intersection of three rules: groups stay whole, a tail starts with a user or an assistant
    message, and a turn that thinks aloud is only divided where the thinking starts anew."""
    cuts: dict[int, int | None] = {}
    open_until = _group_ends(history)
    closed, opener, thinking = 0, None, False
    for index, message in enumerate(history):
        role = part_of(message)
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
        role = part_of(message)
        if role == "assistant":
            caller = index if _calls(message) else None
        elif role == "tool" and caller is not None:
            ends[caller] = index + 1
    return ends


def _calls(message: Message) -> bool:
    return bool(message.get("tool_calls") or message.get("function_call")) or _has_part(message, CALL_PARTS)


def _thinks(message: Message) -> bool:
    return bool(message.get("thinking_blocks")) or _has_part(message, THINKING_PARTS)


def _has_part(message: Message, kinds: frozenset[str]) -> bool:
    content = message.get("content")
    return isinstance(content, list) and any(
        isinstance(p, Mapping) and str(p.get("type")) in kinds for p in content
    )


def text_of(message: Message) -> str:
    """The text of a message's content; parts joined by a line break, other parts left out."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = (
        p if isinstance(p, str) else p.get("text")
        for p in content
        if isinstance(p, str) or (isinstance(p, Mapping) and str(p.get("type")) in TEXT_PARTS)
    )
    return "\n".join(t for t in texts if isinstance(t, str) and t)
