"""The three endpoints that conversations come through, and what a client of each sends for a history."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.lab import Message, Seen, violations
from tests.lab.endpoints import anthropic_violations, responses_violations, to_anthropic, to_responses

__all__ = ["DOORS", "EVERY_DOOR", "PATHS", "as_it_came", "body_of", "broken_rules"]

PATHS: Mapping[str, str] = {
    "chat": "/v1/chat/completions",
    "messages": "/v1/messages",
    "responses": "/v1/responses",
}
DOORS = tuple(PATHS)
EVERY_DOOR = pytest.mark.parametrize("door", DOORS)
"""For a test whose stage has the fixture ``door``: it is played through each of them."""


def body_of(
    door: str, model: str, messages: Sequence[Message], *, stream: bool, reserve: int = 512
) -> dict[str, Any]:
    """What a client of a door sends for a history, with room for an answer of ``reserve`` tokens."""
    body: dict[str, Any] = {"messages": list(messages), "max_tokens": 512}
    if door != "chat":
        body = to_anthropic(messages) if door == "messages" else to_responses(messages)
    body |= {name: reserve for name in body if name.startswith("max_")}
    return {**body, "model": model, **({"stream": True} if stream else {})}


def broken_rules(seen: Seen, history: Sequence[Message] | None = None) -> list[str]:
    """The rules of its own provider that a body breaks which the upstream received.

    What a chat was made of (``history``) shows a little more, where the upstream got a chat.
    """
    if seen.path.endswith("/messages"):
        return anthropic_violations(seen.body)
    if seen.path.endswith("/responses"):
        return responses_violations(seen.body)
    return violations(seen.messages, history) if history else violations(seen.messages)


def as_it_came(seen: Seen, history: Sequence[Message]) -> bool:
    """Whether the upstream got all messages of a history; where it got a chat, exactly these."""
    if seen.path.endswith("/chat/completions"):
        return seen.messages == list(history)
    said = [text for message in history if (text := message.get("content"))]
    return all(
        json.dumps(text, ensure_ascii=False) in json.dumps(seen.body, ensure_ascii=False) for text in said
    )
