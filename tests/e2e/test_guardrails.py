"""Issue line 7: guardrails in front, and fallbacks to a smaller window."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.e2e.doors import EVERY_DOOR, as_it_came, broken_rules
from tests.e2e.fleet import Fleet, served
from tests.e2e.runs import Stage
from tests.e2e.talks import TOOLS, chat, coding_agent, marker
from tests.lab import (
    Client,
    Message,
    Proxy,
    RedisServer,
    Reply,
    Summariser,
    Upstream,
    Window,
    count_request,
    until,
)

SECRETS = ("SECRET-ALPHA77", "SECRET-BRAVO88", "SECRET-CHARLIE99")


@pytest.fixture
def door() -> str:
    """Where the calls of a test come in; tests of every door are parametrised with it."""
    return "chat"


@pytest.fixture
def stage(upstream: Upstream, redis_server: RedisServer, summariser: Summariser, door: str) -> Stage:
    stage = Stage(upstream, redis_server, summariser, "chat-4k", door)
    stage.open()
    return stage


@pytest.fixture(params=["listed as guardrails", "a callback listed behind ours"])
def guarded(request: pytest.FixtureRequest, fleet: Fleet) -> Proxy:
    return fleet.first if request.param == "listed as guardrails" else fleet.second()


def with_secrets(talk: list[Message]) -> list[Message]:
    """Secrets in the opening, in the middle and near the end; in user and assistant texts."""
    changed = list(talk)
    for index, secret in zip((1, 12, len(talk) - 1), SECRETS, strict=True):
        changed[index] = {**talk[index], "content": f"my code is {secret}. {talk[index]['content']}"}
    return changed


@EVERY_DOOR
async def test_what_is_masked_is_neither_stored_nor_summarised(
    guarded: Proxy, stage: Stage, redis_server: RedisServer
) -> None:
    mark = marker()
    talk = chat(mark, 60)
    async with Client(guarded, "sk-a-1") as client:
        await stage.prepare(client, with_secrets(stage.at(talk, 0.82)), mark)
        for share in (0.9, 1.1, 1.4):
            call = await stage.call(client, with_secrets(stage.at(talk, share)))
            assert "SECRET-" not in call.sent.text and "[MASKED]" in call.sent.text
            await stage.settle(mark)
    stored = redis_server.text()
    assert stage.summariser.mark(1) in stored
    assert not any(secret in stored for secret in SECRETS)
    assert stage.summariser.asked and not any("SECRET-" in seen.text for seen in stage.summariser.asked)
    assert any("[MASKED]" in seen.text for seen in stage.summariser.asked)
    assert mark not in guarded.log.read_text(errors="replace"), "message contents in the proxy's log"


@EVERY_DOOR
async def test_what_is_masked_is_not_kept_by_an_extract(
    fleet: Fleet, stage: Stage, redis_server: RedisServer
) -> None:
    talk = chat(marker(), 60)
    async with Client(fleet.first, "sk-extractive") as client:
        for share in (0.8, 0.9, 1.1, 1.4):
            call = await stage.call(client, with_secrets(stage.at(talk, share)))
            assert "SECRET-" not in call.sent.text
    assert not any(secret in redis_server.text() for secret in SECRETS)


@EVERY_DOOR
@pytest.mark.parametrize("topic", ["FORBIDDEN-TOPIC", "FORBIDDEN-MEANWHILE"])
async def test_what_is_blocked_leaves_nothing(
    guarded: Proxy, stage: Stage, redis_server: RedisServer, topic: str
) -> None:
    mark, other = marker(), marker()
    allowed = stage.at(chat(mark, 60), 1.1)
    blocked: list[Message] = [*allowed[:-1], {"role": "user", "content": f"{mark}: the {topic}"}]
    async with Client(guarded, "sk-a-1") as client, Client(guarded, "sk-b-1") as another_team:
        answer = await stage.ask(client, blocked)
        assert answer.status == 400 and "blocked" in str(answer.body)
        assert (await stage.ask(client, blocked, stream=True)).status == 400
        # Another conversation's summary shows that the background had its turn.
        await stage.prepare(client, stage.at(chat(other, 60), 0.82), other)
        stored = redis_server.dump()
        assert stage.summariser.about(mark) == []
        assert topic == "FORBIDDEN-MEANWHILE" or stage.upstream.seen(containing=mark) == []
        session = (await stage.call(another_team, allowed)).answer.told("session")
        assert session is not None
        assert mark not in str(stored)
        assert [key for key in stored if session in key] == []
        again = await stage.call(client, allowed)
        assert again.answer.outcome in ("applied", "fallback"), (
            "blocked calls cost the session its compaction"
        )


@EVERY_DOOR
@pytest.mark.parametrize("streamed", [False, True])
async def test_a_fallback_to_a_third_of_the_window_gets_what_fits(
    client: Client, stage: Stage, upstream: Upstream, streamed: bool
) -> None:
    stage = replace(stage, model="primary-12k")
    upstream.scripts[served("primary-12k")] = lambda seen: Reply.server_error()
    upstream.scripts[served("third-4k")] = Window(4000)
    cases: list[tuple[list[Message], dict[str, Any]]] = [
        (chat(marker(), 60), {}),
        (coding_agent(marker(), 26), {"tools": TOOLS}),
    ]
    for talk, body in cases:
        assert 4000 < count_request({"messages": talk, **body}) < 0.8 * 12_000
        body = body if stage.door == "chat" else {}
        answer = await stage.ask(client, talk, stream=streamed, **body)
        assert answer.status == 200, answer.body
        first, second = upstream.seen(served("primary-12k"))[-1], upstream.seen(served("third-4k"))[-1]
        assert as_it_came(first, talk)
        assert second.tokens <= 4000 and broken_rules(second, talk) == []


@EVERY_DOOR
async def test_a_fallback_that_is_large_enough_gets_everything(
    client: Client, stage: Stage, upstream: Upstream
) -> None:
    upstream.scripts[served("primary-12k")] = lambda seen: Reply.server_error()
    talk = chat(marker(), 15)
    answer = await replace(stage, model="primary-12k").ask(client, talk)
    assert answer.status == 200
    assert as_it_came(upstream.seen(served("third-4k"))[-1], talk)


@EVERY_DOOR
async def test_a_compacted_request_that_falls_back_is_fitted_again(client: Client, stage: Stage) -> None:
    mark = marker()
    talk = chat(mark, 160)
    large = replace(stage, model="primary-12k")
    large.open()
    await large.prepare(client, large.at(talk, 0.82), mark)
    stage.upstream.scripts[served("primary-12k")] = lambda seen: Reply.server_error()
    stage.upstream.scripts[served("third-4k")] = Window(4000)
    history = large.at(talk, 1.1)
    answer = await large.ask(client, history)
    assert answer.status == 200, answer.body
    received = stage.upstream.seen(served("third-4k"))[-1]
    assert received.tokens <= 4000 and broken_rules(received, history) == []
    assert stage.summariser.mark(1) in received.text


@EVERY_DOOR
async def test_what_a_fallback_s_own_guardrail_masks_stays_masked(
    client: Client, stage: Stage, redis_server: RedisServer
) -> None:
    mark = marker()
    stage.upstream.scripts[served("unguarded-12k")] = lambda seen: Reply.server_error()
    stage.upstream.scripts[served("guarded-4k")] = Window(4000)
    talk = chat(mark, 60)
    talk = [{**m, "content": f"{m['content']} PRIVATE-{n}"} if 3 < n < 50 else m for n, m in enumerate(talk)]
    for history in (talk[:-2], talk):
        answer = await replace(stage, model="unguarded-12k").ask(client, history)
        assert (answer.status, answer.outcome in ("fallback", "applied")) == (200, True), answer.body
        first, second = (stage.upstream.seen(served(m))[-1] for m in ("unguarded-12k", "guarded-4k"))
        assert as_it_came(first, history)
        assert "PRIVATE-" not in second.text and second.tokens <= 4000
        assert broken_rules(second, history) == []
        await until(lambda: stage.summariser.about(mark), "the summary to be asked for")
        await stage.settle(mark)
    assert answer.outcome == "applied" and stage.summariser.mark(1) in second.text
    assert "PRIVATE-" not in redis_server.text()
    assert not any("PRIVATE-" in seen.text for seen in stage.summariser.asked)
    assert any("[MASKED]" in seen.text for seen in stage.summariser.asked)
