"""Times: what the plugin adds to a request, and how long it keeps the proxy's loop from others."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from tests.cases.evidence import Call
from tests.cases.player import Player
from tests.cases.talk import told_apart

__all__ = ["Excess", "hook_time", "loop_lag"]

TRIES = 3
OFF = {"x-compaction": "off"}


@dataclass(frozen=True, slots=True)
class Excess:
    """Milliseconds with the plugin at work, and of the same request when it is bypassed."""

    busy: float
    quiet: float

    @property
    def more(self) -> float:
        """What the plugin adds."""
        return max(0.0, self.busy - self.quiet)


async def hook_time(player: Player, limit_ms: float) -> None:
    """From sending a request to its arrival at the upstream, with the plugin and bypassed.

    Each try is a conversation that the proxy has not counted yet; the best of at most three counts, since
    other work on the machine only ever adds.
    """
    found: list[Excess] = []
    for number in range(TRIES):
        messages = _anew(player.messages, number)
        busy = await player.call(messages, judged=False, name="t")
        quiet = await player.call(messages, judged=False, headers=OFF, name="t")
        found.append(Excess(_under_way(busy), _under_way(quiet)))
        if found[-1].more <= limit_ms:
            break
    player.evidence.facts["hook ms"] = min(found, key=lambda excess: excess.more)


async def loop_lag(player: Player, limit_ms: float) -> None:
    """The longest that a tiny request waits while this one is on its way, with the plugin and bypassed."""
    found: list[Excess] = []
    async with httpx.AsyncClient(base_url=player.proxy.url, timeout=30.0, trust_env=False) as client:
        for number in range(TRIES):
            messages = _anew(player.messages, number)
            busy = await _longest_wait(client, player.call(messages, judged=False, name="t"))
            quiet = await _longest_wait(client, player.call(messages, judged=False, headers=OFF, name="t"))
            found.append(Excess(busy, quiet))
            if found[-1].more <= limit_ms:
                break
    player.evidence.facts["loop lag ms"] = min(found, key=lambda excess: excess.more)


async def _longest_wait(client: httpx.AsyncClient, calling: Awaitable[Call]) -> float:
    """The longest poll of the proxy's liveliness that began before the request reached the upstream."""
    task = asyncio.ensure_future(calling)
    polls: list[tuple[float, float]] = []
    while not task.done():
        began = time.monotonic()
        await client.get("/health/liveliness")
        polls.append((began, (time.monotonic() - began) * 1000))
    call = await task
    arrival = call.served.at if call.upstream else time.monotonic()
    return max((length for began, length in polls if began < arrival), default=0.0)


def _under_way(call: Call) -> float:
    assert call.upstream, f"nothing reached the upstream: {call.answer.status}"
    return (call.served.at - call.began) * 1000


def _anew(messages: Sequence[Any], number: int) -> list[Any]:
    """The same conversation, every text a little different, so that nothing of it was counted before."""
    return told_apart(messages, number + 1000)
