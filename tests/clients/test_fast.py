"""The SDKs and curl, in the environment of the tests themselves."""

from __future__ import annotations

import uuid

import pytest

from tests.clients.stage import TURNS, Stage, check

RUNS = [
    ("chat", "openai_chat.py", "sync"),
    ("chat", "openai_chat.py", "async"),
    ("responses", "openai_responses.py", ""),
    ("messages", "anthropic_messages.py", "sync"),
    ("messages", "anthropic_messages.py", "async"),
    *((door, "curl.py", door) for door in ("chat", "messages", "responses")),
]


@pytest.mark.parametrize(("door", "program", "way"), RUNS, ids=[f"{p}-{d}-{w}" for d, p, w in RUNS])
async def test_a_client_plays_through_every_level(stage: Stage, door: str, program: str, way: str) -> None:
    played = await stage.play(door, f"mark-{uuid.uuid4().hex[:8]}", program, *filter(None, [way]))
    check(played, door, images=program != "curl.py")
    assert [line["text"] for line in played.lines] == played.model.said
    assert len(played.lines) == TURNS
    assert played.model.calls >= TURNS // 2
