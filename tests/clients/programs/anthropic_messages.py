"""The Anthropic SDK on Messages: whole answers, raw events and the stream helper; ``sync`` or ``async``."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import talk
from anthropic import Anthropic, AsyncAnthropic

TOOL = {"name": talk.TOOL, "description": talk.ABOUT, "input_schema": talk.PARAMETERS}
CACHED = {"type": "text", "text": talk.SYSTEM, "cache_control": {"type": "ephemeral"}}
ASK: dict[str, Any] = {"model": talk.MODEL, "max_tokens": 1024, "system": [CACHED], "tools": [TOOL]}


def said(turn: int) -> dict[str, Any]:
    """The user's message of a turn."""
    blocks: list[dict[str, Any]] = [{"type": "text", "text": talk.question(turn)}]
    if talk.has_image(turn):
        source = {"type": "base64", "media_type": "image/png", "data": talk.IMAGE}
        blocks.append({"type": "image", "source": source})
    return {"role": "user", "content": blocks}


def answered(messages: list[Any], message: Any) -> bool:
    """Add the answer, and the results of its calls; whether it had any."""
    messages.append({"role": "assistant", "content": message.content})
    results = [
        {"type": "tool_result", "tool_use_id": block.id, "content": talk.look(**block.input)}
        for block in message.content
        if block.type == "tool_use"
    ]
    if results:
        messages.append({"role": "user", "content": results})
    return bool(results)


def text_of(message: Any) -> str:
    """The text of an answer."""
    return "".join(block.text for block in message.content if block.type == "text")


def play() -> None:
    """The conversation, with the synchronous client."""
    messages: list[Any] = []
    number = 0
    with Anthropic() as client:
        for turn in range(talk.TURNS):
            messages.append(said(turn))
            going = True
            while going:
                if number % 2 == 0:
                    message: Any = client.messages.create(messages=messages, **ASK)
                else:
                    with client.messages.stream(messages=messages, **ASK) as stream:
                        for _ in stream:
                            pass
                        message = stream.get_final_message()
                number += 1
                going = answered(messages, message)
            talk.tell(text_of(message))


async def play_async() -> None:
    """The conversation, with the asynchronous client."""
    messages: list[Any] = []
    number = 0
    async with AsyncAnthropic() as client:
        for turn in range(talk.TURNS):
            messages.append(said(turn))
            going = True
            while going:
                if number % 2 == 0:
                    message: Any = await client.messages.create(messages=messages, **ASK)
                else:
                    async with client.messages.stream(messages=messages, **ASK) as stream:
                        async for _ in stream:
                            pass
                        message = await stream.get_final_message()
                number += 1
                going = answered(messages, message)
            talk.tell(text_of(message))


if __name__ == "__main__":
    asyncio.run(play_async()) if "async" in sys.argv else play()
