"""What holds for chat holds for the other doors: guardrails, deferred decisions, tenants, fallbacks."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest

from tests.e2e.fleet import Fleet, served
from tests.e2e.talks import MARKS
from tests.e2e.test_doors import COMPACTED, PATHS, body_of, broken_rules, calls_of, talk
from tests.lab import Answer, Client, Proxy, RedisServer, Reply, Summariser, Upstream, Window, until

SECRET = "SECRET-ALPHA77"
DOORS = pytest.mark.parametrize("door", ["messages", "responses"])


@pytest.fixture(params=["listed as guardrails", "a callback listed behind ours"])
def guarded(request: pytest.FixtureRequest, fleet: Fleet) -> Proxy:
    return fleet.first if request.param == "listed as guardrails" else fleet.second()


@pytest.fixture
def mark() -> str:
    made = f"mark-{uuid.uuid4().hex[:8]}"
    MARKS.append(made)
    return made


def opened(upstream: Upstream, model: str = "chat-4k") -> None:
    upstream.scripts[served(model)] = lambda seen: Reply(text="Noted.")


async def ask(
    client: Client, door: str, history: list[dict[str, Any]], model: str = "chat-4k", *, stream: bool = False
) -> Answer:
    return await client.ask(PATHS[door], body_of(door, model, history, stream=stream))


@DOORS
async def test_what_is_masked_is_neither_stored_nor_summarised(
    guarded: Proxy,
    upstream: Upstream,
    summariser: Summariser,
    redis_server: RedisServer,
    door: str,
    mark: str,
) -> None:
    opened(upstream)
    messages = talk(mark)
    messages[1] = {**messages[1], "content": f"my code is {SECRET}. {messages[1]['content']}"}
    outcomes = []
    async with Client(guarded, "sk-a-1") as client:
        for number, history in enumerate(calls_of(messages)[6:]):
            answer = await ask(client, door, history)
            assert answer.status == 200, answer.body
            outcomes.append(answer.outcome)
            sent = upstream.seen(served("chat-4k"))[-1]
            assert SECRET not in sent.raw.decode() and not broken_rules(sent)
            if number == 0:
                await until(lambda: len(summariser.about(mark)) > 0, "a summary to be asked for")
    assert set(outcomes) & set(COMPACTED), outcomes
    assert SECRET not in redis_server.text() and not any(SECRET in seen.text for seen in summariser.asked)


@DOORS
@pytest.mark.parametrize("topic", ["FORBIDDEN-TOPIC", "FORBIDDEN-MEANWHILE"])
async def test_what_is_blocked_leaves_nothing(
    guarded: Proxy, upstream: Upstream, redis_server: RedisServer, door: str, topic: str, mark: str
) -> None:
    opened(upstream)
    history = calls_of(talk(mark))[9]
    blocked = [*history[:-1], {"role": "user", "content": f"{mark}: the {topic}"}]
    async with Client(guarded, "sk-a-1") as client:
        for stream in (False, True):
            answer = await ask(client, door, blocked, stream=stream)
            assert answer.status == 400 and "blocked" in str(answer.body), answer.body
        answer = await ask(client, door, history)
        assert answer.outcome in COMPACTED and topic not in json.dumps(str(redis_server.dump()))


@DOORS
async def test_tenants_with_one_opening_share_nothing(
    fleet: Fleet, client: Client, upstream: Upstream, summariser: Summariser, door: str, mark: str
) -> None:
    opened(upstream)
    history = calls_of(talk(mark))[9]
    ours = await ask(client, door, history)
    await until(lambda: len(summariser.about(mark)) > 0, "a summary to be asked for")
    async with Client(fleet.first, "sk-b-1") as foreign:
        theirs = await ask(foreign, door, history)
    told = [str(answer.told("session")).split(".") for answer in (ours, theirs)]
    assert told[0][1] == told[1][1] and told[0][0] != told[1][0]
    assert summariser.mark(1) not in upstream.seen(served("chat-4k"))[-1].text


@DOORS
@pytest.mark.parametrize("stream", [False, True])
async def test_a_fallback_to_a_third_of_the_window_gets_what_fits(
    client: Client, upstream: Upstream, summariser: Summariser, door: str, stream: bool, mark: str
) -> None:
    upstream.scripts[served("primary-12k")] = lambda seen: Reply.server_error()
    upstream.scripts[served("third-4k")] = Window(4000)
    history = calls_of(talk(mark))[11]
    answer = await ask(client, door, history, "primary-12k", stream=stream)
    assert answer.status == 200, answer.body
    first, second = upstream.seen(served("primary-12k"))[-1], upstream.seen(served("third-4k"))[-1]
    assert first.tokens > 4000 and second.tokens <= 4000 and not broken_rules(second)


@DOORS
async def test_an_edited_beginning_uses_no_summary(
    client: Client, upstream: Upstream, summariser: Summariser, door: str, mark: str
) -> None:
    opened(upstream)
    history = calls_of(talk(mark))[9]
    used = await ask(client, door, history)
    await until(lambda: len(summariser.about(mark)) > 0, "a summary to be asked for")
    edited = [history[0], {**history[1], "content": f"edited: {history[1]['content']}"}, *history[2:]]
    answer = await ask(client, door, edited)
    assert answer.told("session") != used.told("session")
    assert summariser.mark(1) not in upstream.seen(served("chat-4k"))[-1].text
