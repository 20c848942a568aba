"""A conversation as the client sent it: preamble, turns, groups, and where it may be divided."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["Message", "role_of", "text_of"]

Message = Mapping[str, Any]
"""One chat message, opaque: read, never edited."""

PREAMBLE_ROLES = frozenset({"system", "developer"})
RESULT_ROLES = frozenset({"tool", "function"})
RESULT_PARTS = frozenset({"tool_result"})
CALL_PARTS = frozenset({"tool_use"})
TEXT_PARTS = frozenset({"text", "input_text", "output_text"})
THINKING_PARTS = frozenset({"thinking", "redacted_thinking"})


def role_of(message: Message) -> str:
    """What a message is in a conversation: its role, but ``tool`` for results in content parts."""
    role = str(message["role"])
    return "tool" if role in RESULT_ROLES or (role == "user" and _has_part(message, RESULT_PARTS)) else role


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
