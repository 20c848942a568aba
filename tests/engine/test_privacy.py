"""What of a conversation reaches the store, by ``storage.content``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.histories import chat, grown, loop
from tests.engine.rig import Rig, values

MARK = "swordfish7421"


def marked(messages: list[Any]) -> list[Any]:
    """The conversation with a marker in every message of the client."""
    return [{**m, "content": f"{MARK} {m.get('content') or ''}"} for m in messages]


async def text_in(rig: Rig) -> str:
    """All that is stored, in one string."""
    return b"\n".join(await values(rig.redis)).decode()


@pytest.mark.parametrize("messages", [chat(59), loop(40)])
async def test_summaries_keeps_what_the_model_wrote_and_no_client_message(
    rig: Rig, messages: list[Any]
) -> None:
    calls = [await rig.call(call, headers={"x-session-id": "4711"}) for call in grown(marked(messages))]
    assert calls[-1].reason == "model" and MARK in rig.summarizer.requests[0].user
    found = await text_in(rig)
    assert "Summary number 1" in found and "4711" in found
    assert MARK not in found


async def test_no_key_name_holds_text(rig: Rig) -> None:
    for call in grown(marked(chat(59))):
        await rig.call(call, headers={"x-session-id": "who@example.org"}, about={"team": "Legal"})
    keys = [v.decode() for v in await values(rig.redis) if v.startswith(b"gwc:")]
    assert keys and not any(word in key for key in keys for word in (MARK, "who@", "Legal", "4711"))


@pytest.mark.parametrize("model", ["small", "extractive"])
async def test_none_stores_no_text_at_all(rigs: Callable[..., Rig], model: str) -> None:
    rig = rigs(2_000, {"storage": {"content": "none"}, "summary": {"model": model}})
    calls = [await rig.call(call) for call in grown(marked(chat(71)))]
    assert calls[-1].outcome == "applied"
    await rig.call(marked(chat(90, "another")))
    found = await text_in(rig)
    assert MARK not in found and "Summary number" not in found and "compactions" not in found
    assert '"outcome":"made"' in found


async def test_none_keeps_summaries_in_the_process_for_their_own_tenant(rigs: Callable[..., Rig]) -> None:
    rig = rigs(2_000, {"storage": {"content": "none"}})
    for call in grown(chat(59)):
        last = await rig.call(call)
    assert last.reason == "model"
    replica = rigs(2_000, {"storage": {"content": "none"}}, redis=rig.redis)
    assert (await replica.decide(chat(59))).outcome == "fallback"
    assert (await rig.decide(chat(59), tenant="o" * 32)).outcome == "fallback"


async def test_everything_stored_expires(rig: Rig) -> None:
    for call in grown(chat(59)):
        await rig.call(call, headers={"x-session-id": "4711"}, about={"team": "Legal"})
    keys = await rig.client.keys("*")
    assert len(keys) >= 7
    assert all([await rig.client.pttl(key) > 0 for key in keys])
