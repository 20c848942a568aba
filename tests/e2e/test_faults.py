"""Issue line 5: Redis and the summariser fail in every way; no caller notices."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.e2e.doors import EVERY_DOOR, as_it_came, broken_rules
from tests.e2e.fleet import BAD, REDIS_SECONDS, Fleet, served
from tests.e2e.runs import Stage, lateness
from tests.e2e.talks import chat, marker
from tests.lab import (
    Client,
    GarbageServer,
    HungServer,
    Message,
    RedisServer,
    Reply,
    Seen,
    Summariser,
    Upstream,
    until,
)
from tests.lab.scripts import tool_call

RECOVERY_SECONDS = 30.0
FOUR_THOUSAND = {"chat": "chat-4k", "messages": "doors-anthropic", "responses": "doors-chat"}
"""For each door a model of 4,000 tokens."""
BREAKER_SECONDS = 45.0


@pytest.fixture
def door() -> str:
    """Where the calls of a test come in; tests of every door are parametrised with it."""
    return "chat"


@pytest.fixture
def stage(upstream: Upstream, redis_server: RedisServer, summariser: Summariser, door: str) -> Stage:
    stage = Stage(upstream, redis_server, summariser, "chat-4k", door)
    stage.open()
    return stage


@contextlib.contextmanager
def broken(redis_server: RedisServer, how: str) -> Iterator[None]:
    """Redis stopped, frozen, replaced by one that never answers, or by one that talks nonsense."""
    if how == "frozen":
        redis_server.pause()
        try:
            yield
        finally:
            redis_server.resume()
        return
    redis_server.stop()
    try:
        if how == "stopped":
            yield
        else:
            with (HungServer if how == "hung" else GarbageServer)(redis_server.port):
                yield
    finally:
        redis_server.start()


async def no_later(
    plain: Client, client: Client, stage: Stage, histories: list[list[Message]], *, waits: float = 0.0
) -> None:
    """At most 100 ms by the median, with one more try on a busy machine.

    ``waits`` is what one of the calls may wait for besides: whether Redis answers again is found out by a
    call, which waits for as long as Redis may take, and once.
    """
    measured = []
    for _ in range(2):
        later, worst = await lateness(plain, client, stage, histories)
        if later < 0.1 and worst < waits + 0.5:
            return
        measured.append((round(later, 3), round(worst, 3)))
    raise AssertionError(f"(median, worst) seconds later: {measured}")


@pytest.mark.parametrize(
    ("how", "door"),
    [
        ("stopped", "chat"),
        ("frozen", "chat"),
        ("hung", "chat"),
        ("garbage", "chat"),
        ("stopped", "messages"),
        ("hung", "messages"),
        ("frozen", "responses"),
        ("garbage", "responses"),
    ],
)
async def test_redis_broken(
    plain: Client, client: Client, stage: Stage, redis_server: RedisServer, how: str
) -> None:
    mark = marker()
    talk = chat(mark, 60)
    await stage.prepare(client, stage.at(talk, 0.82), mark)
    large = replace(stage, model="chat-8k")
    stage.upstream.scripts[served("chat-8k")] = lambda seen: Reply(text="Noted.")
    new = chat(marker(), 120, words=50)
    with broken(redis_server, how):
        first = await stage.call(client, stage.at(talk, 1.1))
        assert first.sent.tokens <= stage.window
        again = await stage.call(client, stage.at(talk, 1.15))
        assert again.sent.items[: len(first.sent.items)] == first.sent.items
        histories = [large.at(new, share) for share in (0.3, 0.8, 0.88, 1.1, 0.9, 0.3, 1.1, 0.82)]
        await no_later(plain, client, large, histories, waits=REDIS_SECONDS)
    recovered = marker()
    fresh = stage.at(chat(recovered, 60), 0.82)
    deadline = asyncio.get_running_loop().time() + RECOVERY_SECONDS
    while not stage.summariser.about(recovered):
        await stage.call(client, fresh)
        assert asyncio.get_running_loop().time() < deadline, "no summary is made after Redis is back"
        await asyncio.sleep(0.5)
    await stage.settle(recovered)
    call = await stage.call(client, stage.at(chat(recovered, 60), 0.95))
    assert call.answer.outcome == "applied"


ANSWERS: dict[str, Reply] = {
    "failing": Reply.server_error(),
    "limited": Reply.rate_limited(),
    "empty": Reply(text=""),
    "only-tags": Reply(text="<summary>  </summary>"),
    "cut-off": Reply(text="<summary>SUMMARY 1: the first half of", finish_reason="length"),
    "refusing": Reply(text="I'm sorry, but I can't help with that."),
    "error-text": Reply(text="Error generating summary: upstream timed out"),
    "tool-call": Reply(text=None, tool_calls=[tool_call("look_up", {"value": "x"})]),
    "not-json": Reply(raw=b"<html>bad gateway</html>"),
    "hanging": Reply(hang=True),
}


def bad_summariser(stage: Stage, how: str, which: str) -> tuple[Stage, Summariser]:
    """A stage whose summariser, that of the key ``sk-{how}-{which}``, answers as ``how`` says."""
    bad = Summariser()
    bad.reply = lambda number, seen: ANSWERS[how]
    stage.upstream.scripts[served(f"small-{how}-{which}")] = bad
    return replace(stage, summariser=bad), bad


@pytest.mark.parametrize(
    ("how", "door"),
    [
        *((how, "chat") for how in BAD),
        *((how, "messages") for how in ("not-json", "cut-off", "hanging", "failing", "only-tags")),
        *((how, "responses") for how in ("tool-call", "refusing", "hanging", "empty", "error-text")),
    ],
)
async def test_a_summariser_that_gives_no_summary(fleet: Fleet, stage: Stage, how: str, door: str) -> None:
    mark = marker()
    talk = chat(mark, 60)
    stage, bad = bad_summariser(stage, how, door)
    async with Client(fleet.first, f"sk-{how}-{door}") as client:
        await stage.call(client, stage.at(talk, 0.82))
        await until(lambda: bad.about(mark), "the summariser to be asked")
        for share in (0.83, 0.9, 1.1, 1.2):
            call = await stage.call(client, stage.at(talk, share))
            assert call.sent.tokens <= stage.window and not broken_rules(call.sent, call.history)
            assert not any(text in call.sent.text for text in ("SUMMARY", "sorry", "Error generating"))
    assert not any(text in stage.redis_server.text() for text in ("SUMMARY 1", "I'm sorry"))


# Each door has a summariser of its own: what has failed three times in a row is not asked for a while.
@pytest.mark.parametrize(
    ("which", "door"), [("own", "chat"), ("messages", "messages"), ("responses", "responses")]
)
async def test_a_limited_summariser_is_not_asked_again(fleet: Fleet, stage: Stage, which: str) -> None:
    """A retry would cool the deployment down for the live calls."""
    mark = marker()
    stage, bad = bad_summariser(stage, "limited", which)
    async with Client(fleet.first, f"sk-limited-{which}") as client:
        for _ in range(4):
            await stage.at_rest(await stage.call(client, stage.at(chat(mark, 60), 0.82)))
    assert len(bad.about(mark)) == 1


@EVERY_DOOR
async def test_nobody_waits_for_a_summariser_that_hangs(
    fleet: Fleet, plain: Client, stage: Stage, door: str
) -> None:
    stage.upstream.scripts[served("chat-8k")] = lambda seen: Reply(text="Noted.")
    large = replace(bad_summariser(stage, "hanging", f"waits-{door}")[0], model="chat-8k")
    talk = chat(marker(), 120, words=50)
    async with Client(fleet.first, f"sk-hanging-waits-{door}") as client:
        await no_later(plain, client, large, [large.at(talk, share) for share in (0.8, 0.9, 1.1, 0.82, 1.2)])


async def test_a_summariser_that_comes_back_is_used_again(fleet: Fleet, stage: Stage) -> None:
    """Through each door at the same time, each to a model of its own: most of it is waiting."""
    stages = [replace(stage, door=door, model=model) for door, model in FOUR_THOUSAND.items()]
    for one in stages:
        one.open()
    await asyncio.gather(*(_come_back(fleet, one) for one in stages))


async def _come_back(fleet: Fleet, stage: Stage) -> None:
    which = f"back-{stage.door}"
    stage, bad = bad_summariser(stage, "failing", which)
    async with Client(fleet.first, f"sk-failing-{which}") as client:

        async def ask() -> bool:
            await stage.call(client, stage.at(chat(marker(), 60), 0.86))
            return bad.calls >= 1

        # On a busy machine the policy's second may be over before the summariser has been reached.
        await until(ask, "the summariser to be asked", seconds=30, every=0.5)
        bad.reply = None
        deadline = time.monotonic() + BREAKER_SECONDS
        talk = chat(marker(), 60)
        while "SUMMARY" not in (await stage.call(client, stage.at(talk, 0.95))).sent.text:
            assert time.monotonic() < deadline, "it is not asked again"
            await asyncio.sleep(0.5)
            talk = chat(marker(), 60)
            # A summary that is made takes its time on a busy machine, and the next talk has none.
            await stage.at_rest(await stage.call(client, stage.at(talk, 0.86)))


@pytest.mark.parametrize(
    ("status", "door"), [(400, "chat"), (422, "chat"), (400, "messages"), (422, "responses")]
)
async def test_a_rewriting_that_the_provider_refuses_costs_one_call(
    client: Client, stage: Stage, status: int
) -> None:
    mark = marker()
    talk = chat(mark, 60)
    await stage.prepare(client, stage.at(talk, 0.82), mark)

    def picky(seen: Seen) -> Reply:
        refusal = Reply.failing(status, "I do not like summaries.", kind="invalid_request_error")
        return refusal if stage.summariser.name in seen.text else Reply(text="Fine.")

    stage.upstream.scripts[served("chat-4k")] = picky
    history = stage.at(talk, 0.9)
    refused = await stage.ask(client, history)
    assert refused.status == status
    for _ in range(2):
        call = await stage.call(client, history)
        assert call.answer.outcome == "bypassed"
    assert as_it_came(stage.upstream.seen(served("chat-4k"))[-1], history)
