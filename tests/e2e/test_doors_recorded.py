"""Recorded conversations through every door, call by call, to both kinds of upstream.

``python -m tests.recorded`` plays all of them; these two are played in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from tests.e2e.doors import EVERY_DOOR
from tests.e2e.fleet import SUMMARISER, served
from tests.e2e.runs import Stage
from tests.lab import Client, RedisServer, Summariser, Upstream
from tests.recorded.checks import PlayedCall
from tests.recorded.lanes import Lane
from tests.recorded.material import load_bodies, load_chats

# The first conversation of two files, and how many of its calls are played: all of the first.
CHOSEN: Mapping[str, int] = {"tau_bench_airline": 20, "locomo": 7}


@pytest.mark.parametrize("name", CHOSEN)
@pytest.mark.parametrize("model", ["chat-4k", "doors-anthropic"])
@EVERY_DOOR
async def test_a_recorded_conversation_stays_in_its_window(
    client: Client,
    plain: Client,
    upstream: Upstream,
    summariser: Summariser,
    redis_server: RedisServer,
    door: str,
    model: str,
    name: str,
) -> None:
    # The recorded conversation carries no mark by which the fixture would know it.
    upstream.scripts[served(SUMMARISER)] = summariser
    stage = Stage(upstream, redis_server, summariser, model)

    async def settle(call: PlayedCall) -> None:
        """What was made for a call is stored before the next one."""
        if call.answer.outcome != "none":
            await stage.at_rest(call)

    lane = Lane(door, (client, plain), upstream, lambda _: (model, served(model), stage.window), settle)
    await lane.play(replace(load_chats(name)[0], most=CHOSEN[name], rest={}))
    assert lane.account.faults == []
    outcomes = [call.answer.outcome for call in lane.calls]
    assert outcomes[0] == "none" and outcomes[-1] == "applied", outcomes
    assert lane.account.same, "no two calls were sent with the same summary"
    assert not (lane.account.refused or lane.account.too_long)


@EVERY_DOOR
async def test_recorded_bodies_are_passed_on_byte_for_byte(
    client: Client, plain: Client, upstream: Upstream, door: str
) -> None:
    model = "chat-100k"
    lane = Lane(door, (client, plain), upstream, lambda _: (model, served(model), 100_000))
    for one in load_bodies(door)[::6]:
        await lane.play(one)
    assert lane.account.faults == []
    assert lane.account.alike > 5
