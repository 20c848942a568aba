"""Times: what the plugin adds to a request, and how long it keeps the proxy's loop from others."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import httpx

from tests.cases.player import Player
from tests.cases.talk import told_apart

__all__ = ["hook_time", "loop_lag"]

TRIES = 3
OFF = {"x-compaction": "off"}


async def hook_time(player: Player, limit_ms: float) -> None:
    """Milliseconds that a request takes longer than the same one with ``x-compaction: off``.

    Each try is a conversation that the proxy has not counted yet; the least of at most three counts, since other
    work on the machine only ever adds.
    """
    found: list[float] = []
    for number in range(TRIES):
        messages = _anew(player.messages, number)
        quiet = await player.call(messages, judged=False, headers=OFF, name="t")
        busy = await player.call(messages, judged=False, name="t")
        found.append(max(0.0, (busy.answer.seconds - quiet.answer.seconds) * 1000))
        if found[-1] <= limit_ms:
            break
    player.evidence.facts["hook ms"] = min(found)


async def loop_lag(player: Player, limit_ms: float) -> None:
    """Milliseconds by which a tiny request waits longer while this one is under way than while it is bypassed."""
    found: list[float] = []
    async with httpx.AsyncClient(base_url=player.proxy.url, timeout=30.0, trust_env=False) as client:
        for number in range(TRIES):
            messages = _anew(player.messages, number)
            quiet = await _longest_wait(client, player.call(messages, judged=False, headers=OFF, name="t"))
            busy = await _longest_wait(client, player.call(messages, judged=False, name="t"))
            found.append(max(0.0, (busy - quiet) * 1000))
            if found[-1] <= limit_ms:
                break
    player.evidence.facts["loop lag ms"] = min(found)


async def _longest_wait(client: httpx.AsyncClient, call: Any) -> float:
    """The longest that a poll of the proxy's liveliness took while ``call`` was under way."""
    task = asyncio.ensure_future(call)
    longest = 0.0
    while not task.done():
        start = time.perf_counter()
        await client.get("/health/liveliness")
        longest = max(longest, time.perf_counter() - start)
    await task
    return longest


def _anew(messages: Sequence[Any], number: int) -> list[Any]:
    """The same conversation, every text a little different, so that nothing of it was counted before."""
    told = told_apart(messages, number + 1000)
    return [
        {**m, "content": f"{m['content']}{number}"} if isinstance(m.get("content"), str) else m for m in told
    ]
