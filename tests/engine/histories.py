"""Conversations of about 50 tokens a message, each text different."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

__all__ = ["chat", "grown", "loop", "prose", "system"]

Message = dict[str, Any]
WORDS = (
    "amber basket candle desert ember forest garden hammer island jacket kettle ladder mirror needle "
    "oyster pencil quartz ribbon saddle tunnel urchin velvet willow yellow zipper branch copper dragon"
).split()


def prose(seed: object, words: int = 40) -> str:
    """Words chosen by ``seed``, about one token each."""
    return " ".join(random.Random(str(seed)).choices(WORDS, k=words))


def system(text: str = "You answer in full sentences.") -> Message:
    """The preamble."""
    return {"role": "system", "content": text}


def chat(messages: int, name: str = "chat", words: int = 40) -> list[Message]:
    """A preamble and then ``messages`` of user and assistant in turn, the last a user's if it is odd."""
    roles = ("user", "assistant")
    said = [
        {"role": roles[i % 2], "content": f"{name} {i}: {prose(f'{name}{i}', words)}."}
        for i in range(messages)
    ]
    return [system(), *said]


def loop(rounds: int, name: str = "loop", words: int = 40) -> list[Message]:
    """One task and a long loop of tool calls."""
    found: list[Message] = [system(), {"role": "user", "content": f"{name}: {prose(name, words)}"}]
    for i in range(rounds):
        function = {"name": "run", "arguments": f'{{"step": {i}}}'}
        call = {"id": f"c{i % 3}", "type": "function", "function": function}
        found.append({"role": "assistant", "content": None, "tool_calls": [call]})
        found.append({"role": "tool", "tool_call_id": call["id"], "content": prose(f"{name}{i}", words)})
    return found


def grown(messages: Sequence[Message], start: int = 1) -> Iterator[list[Message]]:
    """The calls that a client makes: every prefix that ends with a user's or a tool's message."""
    for end in range(start, len(messages) + 1):
        following = messages[end] if end < len(messages) else None
        if messages[end - 1]["role"] in ("user", "tool") and (following or {}).get("role") != "tool":
            yield list(messages[:end])
