"""Conversations made up for the tests of ``eval``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["AGENT", "CHAT", "KOREAN", "QUESTIONS", "said", "write"]

Message = dict[str, Any]
TOWNS = ("Bergen", "Tromso", "Molde", "Narvik", "Alta", "Bodo", "Harstad", "Voss", "Skien", "Hamar")
TRADES = ("a baker", "a welder", "a tailor", "a diver", "a judge", "a miner", "a piper", "a printer")


def said(role: str, text: str) -> Message:
    """One message."""
    return {"role": role, "content": text}


def _chat() -> list[Message]:
    messages = [said("user", "Please keep track of the people I meet on my tour of the north.")]
    messages.append(said("assistant", "Gladly. Tell me about them as you go."))
    for number in range(40):
        town, trade = TOWNS[number % len(TOWNS)], TRADES[number % len(TRADES)]
        fact = f"On day {number + 1} in {town} I met {trade} who owns {number + 3} grey ponies."
        messages.append(said("user", f"{fact} The weather was as it always is up here, wet and windy."))
        messages.append(said("assistant", "That sounds like a good day. I have written it down for you."))
    messages[30] = said("user", "From now on, always answer in one short sentence.")
    return messages


CHAT = _chat()
QUESTIONS = [
    {"question": "What does the miner I met on day 6 own?", "answer": "8 grey ponies", "evidence": [12]},
    {"question": "In which town did I meet a diver on day 4?", "answer": "Narvik", "evidence": [8]},
    {"question": "Where was I never?", "answer": "Oslo", "evidence": [8], "adversarial": True},
    {"question": "What is not said?", "answer": "Nothing of it.", "evidence": []},
]


def _call(number: int, command: str) -> Message:
    function = {"name": "bash", "arguments": json.dumps({"command": command})}
    return {
        "role": "assistant",
        "content": f"Step {number}: I look at it.",
        "tool_calls": [{"id": f"c{number}", "type": "function", "function": function}],
    }


def _agent() -> list[Message]:
    messages = [
        said("system", "You are a careful programmer."),
        said("user", "Fix the rounding in src/shop/cart.py, please. Never touch the file setup.cfg."),
    ]
    for number in range(30):
        messages.append(_call(number, f"sed -n 1,20p src/shop/part_{number}.py"))
        listing = "\n".join(f"    value_{number}_{line} = compute(line)" for line in range(12))
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": listing})
    messages += [_call(30, "python src/shop/part_3.py && cat src/shop/cart.py"), said("tool", "ok")]
    messages.append(said("assistant", "src/shop/cart.py and src/shop/part_7.py round prices now."))
    return messages


AGENT = _agent()
KOREAN = [
    said("user" if number % 2 == 0 else "assistant", text)
    for number, text in enumerate(
        [
            "삼월 십사일에 베르겐으로 가는 배를 예약했습니다.",
            "여동생 잉그리드가 십이번 부두에서 우리를 기다립니다.",
            "호텔 숙박비는 하룻밤에 이백십 유로라고 합니다.",
            "등대지기는 회색 조랑말 여덟 마리를 키우고 있습니다.",
            "항구 사무실의 열쇠는 우체국 서랍에 들어 있습니다.",
            "빵집 주인은 매주 화요일에 가게 문을 닫습니다.",
            "시장 맞은편 도서관에서 오래된 지도를 빌렸습니다.",
            "의사는 산책을 하루에 두 번 하라고 권했습니다.",
            "기차표 가격이 지난달보다 조금 올랐습니다.",
            "정원사는 사과나무 다섯 그루를 새로 심었습니다.",
            "박물관 입구에는 커다란 고래 뼈가 걸려 있습니다.",
            "선장은 내일 새벽 네 시에 출항한다고 말했습니다.",
            *["네, 알겠습니다."] * 10,
        ]
    )
]


def write(path: Path, *conversations: dict[str, Any]) -> Path:
    """A file of recorded conversations."""
    path.write_text("\n".join(json.dumps(c, ensure_ascii=False) for c in conversations), encoding="utf-8")
    return path
