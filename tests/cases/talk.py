"""Conversations that are made from a case's own: longer ones, similar ones, other ones."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["begun_with", "grown", "long_chat", "next_round", "prefixes", "told_apart", "with_ending"]

Message = Mapping[str, Any]
MARK = re.compile(r"\b[\w-]*[A-Z][\w-]*-MARK\b")


def grown(messages: Sequence[Message], answer: str, turn: int) -> list[Message]:
    """The history of the next call: the answer, and a short question more."""
    said = [] if messages[-1]["role"] == "assistant" else [{"role": "assistant", "content": answer or "Yes."}]
    return [*messages, *said, {"role": "user", "content": f"Go on, please ({turn + 1})."}]


def next_round(messages: Sequence[Message], turn: int) -> list[Message]:
    """The history of the next call of an agent: its last calls and results once more, under other ids."""
    if messages[-1]["role"] != "tool":
        return grown(messages, f"That is step {turn}. " * 20, turn)
    start = max(i for i, m in enumerate(messages) if m.get("tool_calls"))
    return [*messages, *(_renamed(m, f"-{turn + 1}") for m in messages[start:])]


def _renamed(message: Message, suffix: str) -> Message:
    if message["role"] == "tool":
        content = message.get("content")
        told = f"{content} ({suffix[1:]})" if isinstance(content, str) else content
        return {**message, "tool_call_id": f"{message['tool_call_id']}{suffix}", "content": told}
    calls = [{**call, "id": f"{call['id']}{suffix}"} for call in message["tool_calls"]]
    return {**message, "tool_calls": calls}


def prefixes(messages: Sequence[Message]) -> list[list[Message]]:
    """The histories of the calls by which a conversation came about, the whole one last."""
    ends = [
        i
        for i, m in enumerate(messages)
        if m["role"] == "assistant" and i and messages[i - 1]["role"] != "system"
    ]
    return [*(list(messages[:end]) for end in ends), list(messages)]


def begun_with(messages: Sequence[Message], mark: str) -> list[Message]:
    """The same chat, but its first user message names another mark."""
    return _first_changed(
        messages, lambda text: MARK.sub(mark, text, count=1) if MARK.search(text) else f"{mark} {text}"
    )


def told_apart(messages: Sequence[Message], number: int) -> list[Message]:
    """The same chat as another conversation: each of its texts is another one."""
    return [
        m if m["role"] in ("system", "developer") else _told_by(m, f"Conversation {number}. ")
        for m in messages
    ]


def _told_by(message: Message, beginning: str) -> Message:
    content = message.get("content")
    if isinstance(content, str) and content:
        return {**message, "content": f"{beginning}{content}"}
    if not isinstance(content, list):
        return message
    parts = [{**p, "text": f"{beginning}{p['text']}"} if p.get("type") == "text" else p for p in content]
    return {**message, "content": parts}


def with_ending(messages: Sequence[Message], text: str) -> list[Message]:
    """The same chat, but its last message says something else."""
    return [*messages[:-1], {**messages[-1], "content": text}]


def long_chat(turns: int, words: int = 60) -> list[Message]:
    """Another chat, of an assistant and a user."""
    said = [
        {"role": role, "content": f"{role} {turn}: " + " ".join(f"matter{turn}" for _ in range(words))}
        for turn in range(turns)
        for role in ("user", "assistant")
    ]
    system = {"role": "system", "content": "You help with orders."}
    return [system, *said, {"role": "user", "content": "Where is my order now?"}]


def _first_changed(messages: Sequence[Message], change: Any) -> list[Message]:
    first = next(i for i, m in enumerate(messages) if m["role"] == "user")
    content = messages[first]["content"]
    if isinstance(content, str):
        changed: Any = change(content)
    else:
        at = next(i for i, part in enumerate(content) if part.get("type") == "text")
        changed = [*content[:at], {**content[at], "text": change(content[at]["text"])}, *content[at + 1 :]]
    return [*messages[:first], {**messages[first], "content": changed}, *messages[first + 1 :]]
