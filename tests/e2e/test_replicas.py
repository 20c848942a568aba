"""Issue line 6: two proxies on one Redis."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import replace
from functools import partial

import pytest

from tests.e2e.doors import DOORS, EVERY_DOOR, broken_rules
from tests.e2e.fleet import LEASE_SECONDS, Fleet, served
from tests.e2e.runs import Stage
from tests.e2e.talks import chat, marker
from tests.lab import Client, Proxy, RedisServer, Reply, Seen, Summariser, Upstream, until

CONVERSATIONS = 5
SHARES = (0.8, 0.83, 0.9, 1.0, 1.15, 1.3)


@pytest.fixture
def door() -> str:
    """Where the calls of a test come in; tests of every door are parametrised with it."""
    return "chat"


@pytest.fixture
def stage(upstream: Upstream, redis_server: RedisServer, summariser: Summariser, door: str) -> Stage:
    stage = Stage(upstream, redis_server, summariser, "chat-4k", door)
    stage.open()
    return stage


async def test_one_summary_per_prefix_and_none_is_lost(fleet: Fleet, second: Proxy, stage: Stage) -> None:
    """Both proxies get every call of every conversation, all at the same time; the doors take turns."""
    stage.summariser.delay = 0.3
    talks = {mark: chat(mark, 60) for mark in (marker() for _ in range(CONVERSATIONS))}
    stages = {mark: replace(stage, door=DOORS[n % len(DOORS)]) for n, mark in enumerate(talks)}
    async with Client(fleet.first, "sk-a-1") as one, Client(second, "sk-a-2") as two:
        for share in SHARES:
            calls = [stages[m].ask(c, stage.at(t, share)) for m, t in talks.items() for c in (one, two)]
            answers = await asyncio.gather(*calls)
            assert {answer.status for answer in answers} == {200}
            await asyncio.sleep(0.2)
        for mark in talks:
            await until(partial(stage.summariser.about, mark), "a summary")
            await stage.settle(mark)
        again = Counter(prompt(seen) for seen in stage.summariser.asked)
        assert [count for count in again.values() if count > 1] == []
        for mark, talk in talks.items():
            stage = stages[mark]
            # An extract that was made while no summary was ready is replaced after this call.
            await stage.at_rest(await stage.call(one, stage.at(talk, 1.3)))
            sent = []
            for client in (one, two):
                sent.append((await stage.call(client, stage.at(talk, 1.35))).sent)
                await stage.settle(mark)
            assert stage.summariser.name in sent[0].text
            assert sent[0].items[:3] == sent[1].items[:3], "the replicas send different summaries"
            assert not any(broken_rules(seen) for seen in sent)
    assert all(seen.tokens <= stage.window for seen in stage.upstream.seen(served("chat-4k")))


def prompt(seen: Seen) -> str:
    return seen.text


@EVERY_DOOR
async def test_what_one_replica_prepared_the_other_uses(fleet: Fleet, second: Proxy, stage: Stage) -> None:
    mark = marker()
    talk = chat(mark, 60)
    async with Client(fleet.first, "sk-a-1") as one, Client(second, "sk-a-1") as two:
        await stage.prepare(one, stage.at(talk, 0.82), mark)
        sent = [(await stage.call(client, stage.at(talk, 0.95))) for client in (two, one)]
    assert [call.answer.outcome for call in sent] == ["applied", "applied"]
    assert sent[0].sent.raw == sent[1].sent.raw


@EVERY_DOOR
async def test_a_proxy_killed_in_the_middle_of_a_summary_is_replaced(
    fleet: Fleet, second: Proxy, stage: Stage
) -> None:
    mark = marker()
    talk = chat(mark, 60)
    stage.summariser.reply = lambda number, seen: Reply(hang=True)
    async with Client(second, "sk-a-1") as doomed, Client(fleet.first, "sk-a-1") as client:
        await stage.call(doomed, stage.at(talk, 0.82))
        await until(lambda: stage.summariser.about(mark), "the summariser to be asked")
        await asyncio.sleep(1.5 * LEASE_SECONDS)
        await stage.call(client, stage.at(talk, 0.82))
        assert len(stage.summariser.about(mark)) == 1, "the claim of a living proxy was ignored"
        second.kill()
        killed = time.monotonic()
        stage.summariser.reply = None
        while len(stage.summariser.about(mark)) < 2:
            await stage.call(client, stage.at(talk, 0.82))
            assert time.monotonic() < killed + LEASE_SECONDS + 20, "nobody took over"
            await asyncio.sleep(0.3)
        await until(
            lambda: stage.summariser.mark(2) in stage.redis_server.text(), "the second summary in Redis"
        )
        call = await stage.call(client, stage.at(talk, 0.95))
    assert call.answer.outcome == "applied" and stage.summariser.mark(2) in call.sent.text
