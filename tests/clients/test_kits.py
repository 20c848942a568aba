"""SDKs and kits with environments of their own, which `make clients` sets up."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from tests.clients.stage import TURNS, Stage, check, installed

KITS = [
    *(("kits", door, "langchain_chat.py", door) for door in ("chat", "responses", "messages")),
    ("kits", "chat", "langgraph_agent.py", ""),
    *(("kits", door, "pydantic_ai_agent.py", door) for door in ("chat", "responses", "messages")),
    *(("kits", door, "openai_agents.py", door) for door in ("responses", "chat")),
    *(("openai2", door, "llamaindex_agent.py", door) for door in ("chat", "responses")),
    *(("node", door, "openai_node.mjs", door) for door in ("chat", "responses")),
    ("node", "messages", "anthropic_node.mjs", ""),
    *(("node", door, "vercel_ai.mjs", door) for door in ("chat", "responses", "messages")),
    ("node", "chat", "vercel_ai.mjs", "compatible"),
]


@pytest.mark.parametrize(
    ("home", "door", "program", "way"), KITS, ids=[f"{Path(p).stem}-{w or d}" for _, d, p, w in KITS]
)
async def test_a_kit_plays_through_every_level(
    stage: Stage, home: str, door: str, program: str, way: str
) -> None:
    mark = f"mark-{uuid.uuid4().hex[:8]}"
    played = await stage.run(door, mark, [*installed(home, program), *filter(None, [way])])
    check(played, door)
    assert [line["text"] for line in played.lines] == played.model.said
    assert len(played.lines) == TURNS
