"""Messages and conversations of a known weight, for ``gpt-4o``."""

from __future__ import annotations

from typing import Any

__all__ = ["FIXED", "chat", "filled", "loop", "weighing"]

Json = dict[str, Any]
FIXED = 3
"""Tokens that every request has."""
FRAMING, CALL = 4, 8


def weighing(role: str, tokens: int, **more: Any) -> Json:
    """A message of that many tokens."""
    return {"role": role, "content": " ".join(["word"] * (tokens - FRAMING)), **more}


def chat(turns: int, each: int) -> list[Json]:
    """User and assistant in turn, ending with a user message."""
    return [weighing(role, each) for _ in range(turns) for role in ("user", "assistant")][:-1]


def filled(total: int, turns: int = 8, each: int = 10) -> list[Json]:
    """A chat that uses ``total`` tokens: its first message takes what the others leave."""
    messages = chat(turns, each)
    messages[0] = weighing("user", total - FIXED - each * (len(messages) - 1))
    return messages


def loop(steps: int, result: int) -> list[Json]:
    """One user message and a tool loop under way, each result of ``result`` tokens."""
    call = {"id": "call_0", "type": "function", "function": {"name": "run", "arguments": "{}"}}
    messages = [weighing("user", 10)]
    for _ in range(steps):
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append(weighing("tool", result, tool_call_id="call_0"))
    return messages
