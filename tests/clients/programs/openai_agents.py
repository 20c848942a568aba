"""The OpenAI Agents SDK on ``responses``, its default, and ``chat``; ``run`` and ``run_streamed``."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import talk
from agents import Agent, Runner, function_tool, set_default_openai_api, set_tracing_disabled


@function_tool
def look(ship: int, words: int) -> str:
    """Look where a ship lies."""
    return talk.look(ship, words)


async def play(door: str) -> None:
    """The conversation."""
    set_tracing_disabled(True)
    set_default_openai_api("responses" if door == "responses" else "chat_completions")
    agent: Any = Agent(name="captain", instructions=talk.SYSTEM, tools=[look], model=talk.MODEL)
    items: list[Any] = []
    for turn in range(talk.TURNS):
        parts: list[dict[str, Any]] = [{"type": "input_text", "text": talk.question(turn)}]
        if talk.has_image(turn):
            picture = {"type": "input_image", "image_url": f"data:image/png;base64,{talk.IMAGE}"}
            parts.append({**picture, "detail": "auto"})
        items.append({"role": "user", "content": parts})
        if turn % 2 == 0:
            result: Any = await Runner.run(agent, items)
        else:
            result = Runner.run_streamed(agent, items)
            async for _ in result.stream_events():
                pass
        items = result.to_input_list()
        talk.tell(result.final_output)


if __name__ == "__main__":
    asyncio.run(play(sys.argv[1]))
