"""Reading messages: their texts, their pairs, the message that carries a summary."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from gateway_compaction.core.summary.block import TAG

__all__ = ["carriers", "dumped", "is_preamble", "open_pairs", "text_of", "whole_text"]

Message = Mapping[str, Any]


def text_of(message: Message) -> str:
    """The text of a message's content; other parts as their JSON."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(str(part["text"]) if part.get("text") else dumped(part) for part in content)


def whole_text(messages: Sequence[Message]) -> str:
    """All texts and all other fields of messages, to search in."""
    return "\n".join(
        f"{text_of(m)} {dumped({k: v for k, v in m.items() if k != 'content'})}" for m in messages
    )


def dumped(value: Any) -> str:
    """JSON as a reader sees it."""
    return json.dumps(value, ensure_ascii=False)


def carriers(messages: Sequence[Message]) -> list[int]:
    """Where messages stand that carry a summary."""
    return [i for i, m in enumerate(messages) if m["role"] == "user" and text_of(m).startswith(f"<{TAG}")]


def is_preamble(message: Message) -> bool:
    """Whether a message is a system's or developer's."""
    return message["role"] in ("system", "developer")


def open_pairs(messages: Sequence[Message]) -> str | None:
    """The first call without its results directly behind it, or result without its call."""
    index = 0
    while index < len(messages):
        message = messages[index]
        index += 1
        if message["role"] == "tool":
            return f"message {index - 1} is a result without its call ({message.get('tool_call_id')})"
        wanted = (
            sorted(str(c["id"]) for c in message.get("tool_calls") or ())
            if message["role"] == "assistant"
            else []
        )
        found = []
        while wanted and index < len(messages) and messages[index]["role"] == "tool":
            found.append(str(messages[index].get("tool_call_id")))
            index += 1
        if sorted(found) != wanted:
            return f"calls {wanted} are answered by {sorted(found)}"
    return None
