"""LangChain's ChatOpenAI on Chat Completions and Responses, and its ChatAnthropic."""

from __future__ import annotations

import sys
from typing import Any

import talk
from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool


@tool
def look(ship: int, words: int) -> str:
    """Look where a ship lies."""
    return talk.look(ship, words)


def model(door: str) -> Any:
    """The chat model of a door; base URL and key come from the environment."""
    if door == "messages":
        from langchain_anthropic import ChatAnthropic

        return ChatAnthropic(model=talk.MODEL).bind_tools([look])
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(model=talk.MODEL, use_responses_api=door == "responses").bind_tools([look])


def said(turn: int) -> HumanMessage:
    """The user's message of a turn."""
    text: dict[str, Any] = {"type": "text", "text": talk.question(turn)}
    if not talk.has_image(turn):
        return HumanMessage([text])
    return HumanMessage([text, {"type": "image", "base64": talk.IMAGE, "mime_type": "image/png"}])


def ask(chat: Any, messages: list[AnyMessage], number: int) -> Any:
    """One call, whole or streamed."""
    if number % 2 == 0:
        return chat.invoke(messages)
    whole = None
    for chunk in chat.stream(messages):
        whole = chunk if whole is None else whole + chunk
    return whole


def play(door: str) -> None:
    """The conversation."""
    chat, messages, number = model(door), list[AnyMessage]([SystemMessage(talk.SYSTEM)]), 0
    for turn in range(talk.TURNS):
        messages.append(said(turn))
        while True:
            message = ask(chat, messages, number)
            number += 1
            messages.append(message)
            messages += [
                ToolMessage(look.invoke(call["args"]), tool_call_id=call["id"]) for call in message.tool_calls
            ]
            if not message.tool_calls:
                break
        talk.tell(message.text if isinstance(message.text, str) else message.text())


if __name__ == "__main__":
    play(sys.argv[1])
