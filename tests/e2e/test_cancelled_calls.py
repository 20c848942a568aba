"""Calls whose client left leave nothing behind; ``python -m tests.soak.cancelled`` shows it of 10,000."""

from __future__ import annotations

import asyncio

from tests.e2e.fleet import Fleet
from tests.lab import Client, RedisServer, Summariser, Upstream
from tests.soak.cancelled import cancel, settle
from tests.soak.gateway import Gateway, find_left, find_noise, take_sample

KEYS = {"chat": "sk-a-1", "kept": "sk-kept"}
CALLS = 90
LOST = ("never awaited", "never retrieved", "was destroyed")


async def test_cancelled_calls_leave_no_task_claim_or_connection(
    fleet: Fleet, upstream: Upstream, redis_server: RedisServer, summariser: Summariser, client: Client
) -> None:
    gate = Gateway([fleet.first], redis_server, upstream)
    await client.chat("chat-4k", [{"role": "user", "content": "Hello."}])
    first, start = await asyncio.to_thread(take_sample, gate), fleet.first.log.stat().st_size
    # What a pool opens for so many calls at once stays open.
    await cancel(gate.proxies, CALLS, model="chat-4k", keys=KEYS, at_once=12)
    before = await settle(gate, first)
    counts = await cancel(gate.proxies, CALLS, model="chat-4k", keys=KEYS, at_once=12)
    after = await settle(gate, first)
    assert counts["left"] > CALLS / 4, counts
    assert find_left(first, after) == []
    assert after.connections <= before.connections + 2
    assert after.files[0] <= before.files[0] + 12
    noise = find_noise(gate.proxies, [start])
    assert not [line for line in noise if any(word in line for word in LOST)]
