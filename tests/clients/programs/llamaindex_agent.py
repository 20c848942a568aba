"""LlamaIndex's ``FunctionAgent`` with its OpenAI model, streamed as it does by default and whole."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

import talk
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage, ImageBlock, TextBlock
from llama_index.core.memory import ChatMemoryBuffer


def look(ship: int, words: int) -> str:
    """Look where a ship lies."""
    return talk.look(ship, words)


def model(door: str) -> Any:
    """The model of a door; a model that LlamaIndex does not know needs its window named."""
    told: dict[str, Any] = {"model": talk.MODEL, "api_base": os.environ["OPENAI_BASE_URL"]}
    if door == "responses":
        from llama_index.llms.openai import OpenAIResponses

        return OpenAIResponses(**told, context_window=200_000)
    from llama_index.llms.openai_like import OpenAILike

    return OpenAILike(
        **told,
        api_key=os.environ["OPENAI_API_KEY"],
        is_chat_model=True,
        is_function_calling_model=True,
        context_window=200_000,
    )


async def play(door: str) -> None:
    """The conversation; the memory is as large as no conversation here, so that the whole history is sent."""
    llm = model(door)
    memory = ChatMemoryBuffer.from_defaults(token_limit=1_000_000)
    for turn in range(talk.TURNS):
        agent = FunctionAgent(tools=[look], llm=llm, system_prompt=talk.SYSTEM, streaming=turn % 2 == 1)
        blocks: list[Any] = [TextBlock(text=talk.question(turn))]
        if talk.has_image(turn):
            blocks.append(ImageBlock(image=talk.IMAGE.encode(), image_mimetype="image/png"))
        result: Any = await agent.run(user_msg=ChatMessage(role="user", blocks=blocks), memory=memory)
        talk.tell(result.response.content)


if __name__ == "__main__":
    asyncio.run(play(sys.argv[1]))
