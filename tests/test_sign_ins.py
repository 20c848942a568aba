"""Who is signed in to the page, as Redis has it: bounded, over by its clock, and seen by every replica."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway_compaction.adapters.redis.connection import RedisConnection, connect
from gateway_compaction.adapters.redis.keys import SIGN_IN_ATTEMPTS, SIGN_INS
from gateway_compaction.adapters.redis_sign_ins import MOST_SIGN_INS, MOST_SOURCES, RedisSignIns
from gateway_compaction.admin.sign_ins import MOST_FAILURES, SIGN_IN_SECONDS, SignIns

KEY = "sk-a-key-that-no-store-may-hold"


@pytest.fixture
async def connection() -> AsyncIterator[RedisConnection]:
    connection = connect(None)
    yield connection
    await connection.aclose()


async def now_of(connection: RedisConnection) -> int:
    """The clock of Redis in ms."""
    [(seconds, _)] = await connection.send(("TIME",))
    return int(seconds) * 1000


async def test_a_sign_in_is_every_replicas_until_it_ends(connection: RedisConnection) -> None:
    here, there = SignIns(RedisSignIns(connection)), SignIns(RedisSignIns(connection))
    secret = await here.begin(KEY)
    assert await there.find_key(secret) == KEY
    [stored] = await connection.send(("HGETALL", SIGN_INS))
    assert KEY not in f"{stored}" and secret not in f"{stored}"
    await there.end(secret)
    assert await here.find_key(secret) is None
    [left] = await connection.send(("EXISTS", SIGN_INS))
    assert left == 0


async def test_it_ends_by_the_clock_of_redis(connection: RedisConnection) -> None:
    sign_ins = SignIns(RedisSignIns(connection))
    secret = await sign_ins.begin(KEY)
    [fields, life] = await connection.send(("HGETALL", SIGN_INS), ("PTTL", SIGN_INS))
    [(name, stored)] = fields.items()
    assert SIGN_IN_SECONDS * 1000 - 60_000 < life <= SIGN_IN_SECONDS * 1000
    deadline, _, sealed = stored.partition(b":")
    assert abs(int(deadline) - await now_of(connection) - SIGN_IN_SECONDS * 1000) < 60_000
    for unusable in (b"%d:%s" % (await now_of(connection), sealed), b"later:%s" % sealed, sealed, b"\xff"):
        await connection.send(("HSET", SIGN_INS, name, unusable))
        assert await sign_ins.find_key(secret) is None, unusable


async def test_there_is_a_bound_and_the_oldest_gives_way(connection: RedisConnection) -> None:
    now = await now_of(connection)
    over: list[Any] = ["over", f"{now - 1}:x"]
    others = [item for n in range(MOST_SIGN_INS) for item in (f"n{n}", f"{now + 60_000 + n}:x")]
    await connection.send(("HSET", SIGN_INS, *over, *others))
    secret = await SignIns(RedisSignIns(connection)).begin(KEY)
    [count, over_left, first, second] = await connection.send(
        ("HLEN", SIGN_INS), *(("HEXISTS", SIGN_INS, name) for name in ("over", "n0", "n1"))
    )
    assert (count, over_left, first, second) == (MOST_SIGN_INS, 0, 0, 1)
    assert await SignIns(RedisSignIns(connection)).find_key(secret) == KEY


async def test_attempts_are_counted_by_address_for_a_minute(connection: RedisConnection) -> None:
    here, there = SignIns(RedisSignIns(connection)), SignIns(RedisSignIns(connection))
    answers = [await (here, there)[n % 2].may_try("192.0.2.7") for n in range(MOST_FAILURES + 2)]
    assert answers == [True] * MOST_FAILURES + [False] * 2
    assert await here.may_try("192.0.2.8")
    await here.forgive("192.0.2.9")
    [names, life] = await connection.send(("HKEYS", SIGN_IN_ATTEMPTS), ("PTTL", SIGN_IN_ATTEMPTS))
    assert len(names) == 2 and b"192.0.2" not in b"".join(names) and 0 < life <= 60_000


async def test_addresses_that_are_counted_have_a_bound(connection: RedisConnection) -> None:
    await SignIns(RedisSignIns(connection)).may_try("192.0.2.7")
    others = [item for n in range(MOST_SOURCES - 1) for item in (f"n{n}", 1)]
    await connection.send(("HSET", SIGN_IN_ATTEMPTS, *others))
    assert not await SignIns(RedisSignIns(connection)).may_try("192.0.2.8"), "not even once"
    assert await SignIns(RedisSignIns(connection)).may_try("192.0.2.7")
    [count] = await connection.send(("HLEN", SIGN_IN_ATTEMPTS))
    assert count == MOST_SOURCES
