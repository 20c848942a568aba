"""LangGraph's agent, with a checkpointer that keeps its history; ``invoke`` and ``stream``."""

from __future__ import annotations

from typing import Any

import talk
from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver


@tool
def look(ship: int, words: int) -> str:
    """Look where a ship lies."""
    return talk.look(ship, words)


def play() -> None:
    """The conversation."""
    agent: Any = create_agent(
        ChatOpenAI(model=talk.MODEL), [look], system_prompt=talk.SYSTEM, checkpointer=InMemorySaver()
    )
    thread = {"configurable": {"thread_id": "one"}}
    for turn in range(talk.TURNS):
        parts: list[dict[str, Any]] = [{"type": "text", "text": talk.question(turn)}]
        if talk.has_image(turn):
            parts.append({"type": "image", "base64": talk.IMAGE, "mime_type": "image/png"})
        asked = {"messages": [{"role": "user", "content": parts}]}
        if turn % 2 == 0:
            agent.invoke(asked, thread)
        else:
            for _ in agent.stream(asked, thread, stream_mode="messages"):
                pass
        talk.tell(agent.get_state(thread).values["messages"][-1].text)


if __name__ == "__main__":
    play()
