"""The OpenAI SDK on Chat Completions: whole answers, streams, the stream helper."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import talk
from openai import AsyncOpenAI, OpenAI

FUNCTION = {"name": talk.TOOL, "description": talk.ABOUT, "parameters": talk.PARAMETERS}
ASK: dict[str, Any] = {"model": talk.MODEL, "tools": [{"type": "function", "function": FUNCTION}]}


def said(turn: int) -> dict[str, Any]:
    """The user's message of a turn."""
    text = talk.question(turn)
    if not talk.has_image(turn):
        return {"role": "user", "content": text}
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{talk.IMAGE}"}}
    return {"role": "user", "content": [{"type": "text", "text": text}, picture]}


def results(message: Any) -> list[dict[str, Any]]:
    """The results of a message's calls."""
    return [
        {"role": "tool", "tool_call_id": c.id, "content": talk.look(**json.loads(c.function.arguments))}
        for c in message.tool_calls or ()
    ]


def kept(message: Any) -> dict[str, Any]:
    """The message as the next request has it."""
    told: dict[str, Any] = message.model_dump(exclude_none=True)
    told = {name: told[name] for name in ("role", "content", "tool_calls") if name in told}
    for call in told.get("tool_calls", ()):
        call["function"].pop("parsed_arguments", None)
        call.pop("index", None)
    return told


def ask(client: OpenAI, messages: list[Any], number: int) -> Any:
    """One call: a whole one, a stream put together by hand, or the helper's."""
    if number % 3 == 0:
        return client.chat.completions.create(messages=messages, **ASK).choices[0].message
    if number % 3 == 1:
        with client.chat.completions.stream(messages=messages, **ASK) as stream:
            for _ in stream:
                pass
            return stream.get_final_completion().choices[0].message
    text, calls = "", dict[int, dict[str, Any]]()
    for chunk in client.chat.completions.create(messages=messages, stream=True, **ASK):
        collect(chunk, calls)
        text += (chunk.choices[0].delta.content or "") if chunk.choices else ""
    return put_together(text, calls)


async def ask_async(client: AsyncOpenAI, messages: list[Any], number: int) -> Any:
    """The same without waiting in a thread."""
    if number % 3 == 0:
        return (await client.chat.completions.create(messages=messages, **ASK)).choices[0].message
    if number % 3 == 1:
        async with client.chat.completions.stream(messages=messages, **ASK) as stream:
            async for _ in stream:
                pass
            return (await stream.get_final_completion()).choices[0].message
    text, calls = "", dict[int, dict[str, Any]]()
    async for chunk in await client.chat.completions.create(messages=messages, stream=True, **ASK):
        collect(chunk, calls)
        text += (chunk.choices[0].delta.content or "") if chunk.choices else ""
    return put_together(text, calls)


def collect(chunk: Any, calls: dict[int, dict[str, Any]]) -> None:
    """Add the pieces of calls that a chunk has."""
    for piece in (chunk.choices[0].delta.tool_calls or ()) if chunk.choices else ():
        call = calls.setdefault(piece.index, {"id": "", "name": "", "arguments": ""})
        call["id"] += piece.id or ""
        call["name"] += piece.function.name or ""
        call["arguments"] += piece.function.arguments or ""


def put_together(text: str, calls: dict[int, dict[str, Any]]) -> Any:
    """The message that a stream's chunks make."""
    from openai.types.chat import ChatCompletionMessage

    made = [
        {
            "id": c["id"],
            "type": "function",
            "function": {"name": c["name"], "arguments": c["arguments"]},
        }
        for c in calls.values()
    ]
    said = {"role": "assistant", "content": text or None, "tool_calls": made or None}
    return ChatCompletionMessage.model_validate(said)


def play() -> None:
    """The conversation, with the synchronous client."""
    messages: list[Any] = [{"role": "system", "content": talk.SYSTEM}]
    number = 0
    with OpenAI() as client:
        for turn in range(talk.TURNS):
            messages.append(said(turn))
            while True:
                message = ask(client, messages, number)
                number += 1
                messages += [kept(message), *results(message)]
                if not message.tool_calls:
                    break
            talk.tell(message.content)


async def play_async() -> None:
    """The conversation, with the asynchronous client."""
    messages: list[Any] = [{"role": "system", "content": talk.SYSTEM}]
    number = 0
    async with AsyncOpenAI() as client:
        for turn in range(talk.TURNS):
            messages.append(said(turn))
            while True:
                message = await ask_async(client, messages, number)
                number += 1
                messages += [kept(message), *results(message)]
                if not message.tool_calls:
                    break
            talk.tell(message.content)


if __name__ == "__main__":
    asyncio.run(play_async()) if "async" in sys.argv else play()
