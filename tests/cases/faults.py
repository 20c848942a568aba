"""Redis that fails in the way a case says, behind the second proxy, and its recovery."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.cases.case_situation import Stored
from tests.cases.player import Player
from tests.cases.seeds import put, tenants
from tests.cases.stage import RECOVERY, RECOVERY_KEY, RECOVERY_TEAM, Stage
from tests.cases.talk import long_chat
from tests.lab import Proxy

__all__ = ["broken"]

RECOVERY_SECONDS = 40.0


@asynccontextmanager
async def broken(player: Player) -> AsyncIterator[None]:
    """Break Redis while a case is played, if that is its situation; before, wait until the proxy uses it."""
    how, stage = player.context.redis, player.stage
    if how == "up":
        yield
        return
    player.proxy = await stage.second()
    await recovered(stage, player.proxy)
    if how != "oom":
        player.has_store = False
        await stage.forget_store()
    _break(stage, how)
    try:
        yield
    finally:
        await asyncio.to_thread(_mend, stage, how)


def _break(stage: Stage, how: str) -> None:
    if how == "hung":
        stage.redis.pause()
    elif how == "closed":
        stage.redis.stop()
    else:
        stage.redis.fill_up(True)


def _mend(stage: Stage, how: str) -> None:
    if how == "hung":
        stage.redis.resume()
    elif how == "closed":
        stage.redis.start()
    else:
        stage.redis.fill_up(False)


async def recovered(stage: Stage, proxy: Proxy) -> None:
    """Wait until the proxy finds a stored summary again: an earlier case may have broken its store.

    Raises:
        AssertionError: it does not within 40 s.
    """
    deadline = time.monotonic() + RECOVERY_SECONDS
    client = stage.client(proxy, RECOVERY_KEY)
    for number in range(1000):
        chat = long_chat(8 + number % 3)
        chat = [*chat[:1], {"role": "user", "content": f"Recovery {number} at {time.time_ns()}."}, *chat[2:]]
        stored = Stored(text="RECOVERED the store answers.")
        await put(stage.store, tenants(RECOVERY_TEAM, {})[0], chat, stored, 10)
        answer = await client.chat(RECOVERY, chat)
        if any("RECOVERED" in seen.text for seen in stage.upstream.requests[-3:]):
            return
        assert time.monotonic() < deadline, f"the proxy does not find its store again: {answer.outcome}"
        await asyncio.sleep(0.3)
