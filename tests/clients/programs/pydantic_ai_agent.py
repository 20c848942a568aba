"""pydantic-ai's agent, with its models for ``chat``, ``responses`` and ``messages``; whole and streamed."""

from __future__ import annotations

import asyncio
import base64
import sys
from typing import Any

import talk
from pydantic_ai import Agent, BinaryContent


def model(door: str) -> Any:
    """The model of a door; base URL and key come from the environment."""
    if door == "messages":
        from pydantic_ai.models.anthropic import AnthropicModel

        return AnthropicModel(talk.MODEL)
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel

    return (OpenAIResponsesModel if door == "responses" else OpenAIChatModel)(talk.MODEL)


async def read(context: Any, events: Any) -> None:
    """Have the answers streamed."""
    async for _ in events:
        pass


async def play(door: str) -> None:
    """The conversation."""
    agent = Agent(model(door), instructions=talk.SYSTEM)

    @agent.tool_plain
    def look(ship: int, words: int) -> str:
        """Look where a ship lies."""
        return talk.look(ship, words)

    history: Any = None
    for turn in range(talk.TURNS):
        asked: list[Any] = [talk.question(turn)]
        if talk.has_image(turn):
            asked.append(BinaryContent(base64.b64decode(talk.IMAGE), media_type="image/png"))
        if turn % 2 == 0:
            result: Any = await agent.run(asked, message_history=history)
            text, history = result.output, result.all_messages()
        else:
            # With `run_stream` a run ends at the first text, also where calls follow it.
            result = await agent.run(asked, message_history=history, event_stream_handler=read)
            text, history = result.output, result.all_messages()
        talk.tell(text)


if __name__ == "__main__":
    asyncio.run(play(sys.argv[1]))
