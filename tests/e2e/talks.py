"""Conversations made in code, each with a marker of its own: chat, support agent, coding agent, Korean."""

from __future__ import annotations

import random
import uuid
from typing import Any

from tests.lab import Message
from tests.lab.scripts import tool_call

__all__ = ["MARKS", "TOOLS", "chat", "coding_agent", "filler", "korean_chat", "marker", "support_agent"]

WORDS = (
    "harbour lantern meadow copper ledger voyage granite orchard signal cabinet thread window market "
    "engine river paper bridge copy number table garden letter morning engine ticket corner station "
    "winter budget record folder answer branch sample button return device planet camera button "
    "season carpet bottle"
)
KOREAN = (
    "배송이 늦어져서 문의드립니다. 주문하신 상품은 내일 도착할 예정입니다. 환불 절차를 알려 주세요. 영수증을 "
    "다시 보내 드리겠습니다. 주소를 바꾸고 싶은데 가능할까요? 네, 새 주소를 말씀해 주시면 바로 "
    "변경하겠습니다. 색상이 화면과 조금 다른 것 같아요. 교환을 원하시면 사진을 함께 올려 주세요."
)
TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": about,
            "parameters": {"type": "object", "properties": {"value": {"type": "string"}}},
        },
    }
    for name, about in (("look_up", "Look up a record."), ("run", "Run a shell command."))
]


MARKS: list[str] = []
"""The markers of the running test."""


def marker() -> str:
    """A word that occurs in one conversation only."""
    MARKS.append(f"mk{uuid.uuid4().hex[:10]}")
    return MARKS[-1]


def filler(words: int, seed: int) -> str:
    """About as many tokens as words; other words for another seed."""
    return " ".join(random.Random(seed).choices(WORDS.split(), k=words))


def chat(mark: str, turns: int, *, words: int = 60, system: str = "You are concise.") -> list[Message]:
    """User and assistant in turn, ending with a user message."""
    messages: list[Message] = [{"role": "system", "content": system}]
    for turn in range(turns):
        messages.append({"role": "user", "content": f"{mark} question {turn}: {filler(words, 2 * turn)}?"})
        answer = f"{mark} answer {turn}: {filler(words, 2 * turn + 1)}."
        messages.append({"role": "assistant", "content": answer})
    return messages[:-1]


def support_agent(mark: str, turns: int = 14) -> list[Message]:
    """Every turn a question, a round of one or two calls, and an answer; call ids come again and again."""
    messages: list[Message] = [{"role": "system", "content": f"You support customers. {filler(120, 7)}"}]
    for turn in range(turns):
        messages.append({"role": "user", "content": f"{mark} case {turn}: {filler(30, turn)}"})
        calls = [tool_call("look_up", {"value": f"{turn}-{n}"}, f"call_{n}") for n in range(1 + turn % 2)]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        messages.extend(_result(call, f"{mark} record {turn} {filler(120, 100 + turn)}") for call in calls)
        messages.append({"role": "assistant", "content": f"Case {turn} is settled: {filler(25, 200 + turn)}"})
    messages.append({"role": "user", "content": f"{mark} thank you, what is left to do?"})
    return messages


def coding_agent(mark: str, rounds: int = 80) -> list[Message]:
    """One user message and a long loop of calls, now and then with a very long result."""
    task = f"{mark} Make the failing test pass. Never touch the public API. {filler(80, 1)}"
    messages: list[Message] = [
        {"role": "system", "content": f"You are a coding agent. {filler(100, 3)}"},
        {"role": "user", "content": task},
    ]
    for number in range(rounds):
        call = tool_call(
            "run", {"value": f"sed -n {number},{number + 20}p src/part_{number}.py"}, f"c{number}"
        )
        messages.append({"role": "assistant", "content": f"Step {number}.", "tool_calls": [call]})
        length = 1500 if number % 17 == 11 else 40 + 37 * number % 300
        messages.append(_result(call, f"{mark} $ {number}\n{filler(length, 1000 + number)}"))
    return messages


def korean_chat(mark: str, turns: int = 40) -> list[Message]:
    """Short Korean turns."""
    messages: list[Message] = [{"role": "system", "content": "친절하게 답하는 상담원입니다."}]
    for turn in range(turns):
        chosen = random.Random(turn)
        ask, say = (" ".join(chosen.choices(KOREAN.split(), k=k)) for k in (12, 14))
        messages.append({"role": "user", "content": f"{mark} {turn}번 질문: {ask}"})
        messages.append({"role": "assistant", "content": f"{turn}번 답변: {say}"})
    return messages[:-1]


def _result(call: dict[str, Any], text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call["id"], "content": text}
