"""After a failover the address leads to a new primary: so do the store's calls, without a restart."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
from fakeredis import FakeAsyncRedis
from redis._parsers.base import BaseParser

from gateway_compaction.adapters.redis.connection import RedisConnection, connect
from gateway_compaction.adapters.redis.store import RedisStore
from gateway_compaction.cli.redis_probe import find_redis_problem
from gateway_compaction.errors import StoreError
from tests.lab.forwarder import Forwarder
from tests.lab.ports import HOST
from tests.lab.redis_server import RedisServer
from tests.lab.waiting import until
from tests.store_contract import TTL, digest, event, record, session

S = session()


@pytest.fixture
def old() -> Iterator[RedisServer]:
    """The primary at first."""
    with RedisServer() as running:
        yield running


@pytest.fixture
def new(old: RedisServer) -> Iterator[RedisServer]:
    """Its replica."""
    with RedisServer() as running:
        with running.client() as client:
            client.replicaof(HOST, str(old.port))
        yield running


@pytest.fixture
async def address(old: RedisServer) -> AsyncIterator[Forwarder]:
    """The address that both stand behind."""
    async with Forwarder(old.port) as forwarder:
        yield forwarder


async def fail_over(old: RedisServer, new: RedisServer, address: Forwarder) -> None:
    """Promote the replica, demote the primary, and let the address lead to the new one."""
    with old.client() as before, new.client() as after:
        await until(lambda: after.info()["master_link_status"] == "up", "the replica to follow")
        after.replicaof("NO", "ONE")
        before.replicaof(HOST, str(new.port))
    address.target = new.port


async def test_the_call_after_a_refused_write_reaches_the_new_primary(
    old: RedisServer, new: RedisServer, address: Forwarder
) -> None:
    store = RedisStore(connect(f"redis://{HOST}:{address.port}/0"), timeout_seconds=2.0)
    # Several connections, as a busy process has.
    await asyncio.gather(*(store.save_factor(f"model-{n}", 1.1) for n in range(8)))
    assert address.accepted > 1
    await fail_over(old, new, address)
    with pytest.raises(StoreError, match=r"READONLY|ReadOnly"):
        await store.put(S, record("a"), token=None, ttl=TTL, limit=9)
    await store.put(S, record("a"), token=None, ttl=TTL, limit=9)
    assert (await store.load(S, [digest("a")])).compactions
    await asyncio.gather(*(store.append(S, event(), ttl=TTL) for _ in range(8)))
    assert await store.claim(S, digest("b"), [], 60)
    assert store.state == "closed"
    await store.aclose()


async def test_calls_under_way_while_a_write_is_refused_leave_no_connection_to_the_old_primary(
    old: RedisServer, new: RedisServer, address: Forwarder
) -> None:
    store = RedisStore(connect(f"redis://{HOST}:{address.port}/0"), timeout_seconds=2.0)
    await asyncio.gather(*(store.save_factor(f"model-{n}", 1.1) for n in range(8)))
    await fail_over(old, new, address)
    # Reads are answered by either, so they alone would never notice.
    calls = [store.load(S, [digest("a")]) for _ in range(8)]
    await asyncio.gather(store.save_factor("gpt", 1.2), *calls, return_exceptions=True)
    await asyncio.gather(*(store.save_factor(f"again-{n}", 1.1) for n in range(8)))
    await store.aclose()


async def test_where_the_refusal_lasts_connections_are_not_made_anew_at_each_call(
    old: RedisServer, address: Forwarder
) -> None:
    store = RedisStore(connect(f"redis://{HOST}:{address.port}/0"), timeout_seconds=2.0)
    await store.ping()
    with old.client() as client:
        client.replicaof(HOST, "1")
    for _ in range(20):
        with pytest.raises(StoreError):
            await store.save_factor("gpt", 1.0)
    assert address.accepted <= 3
    await store.aclose()


async def test_a_replica_that_only_reads_is_told_from_a_store_that_serves(old: RedisServer) -> None:
    url = f"redis://{HOST}:{old.port}/0"
    store = RedisStore(connect(url), timeout_seconds=2.0)
    await store.try_write()
    assert await asyncio.to_thread(find_redis_problem, url) == ""
    with old.client() as client:
        assert client.exists("gwc:probe") == 0, "nothing of it is left"
        client.replicaof(HOST, "1")
    await store.load(S, [digest("a")])
    with pytest.raises(StoreError, match=r"READONLY|ReadOnly|read only"):
        await store.try_write()
    assert "read" in await asyncio.to_thread(find_redis_problem, url)
    with old.client() as client:
        client.replicaof("NO", "ONE")
        client.config_set("maxmemory", 1)
    with pytest.raises(StoreError, match=r"OOM|memory"):
        await store.try_write()
    await store.aclose()


ANSWERS: dict[str, bool] = {
    "READONLY You can't write against a read only replica.": True,
    "LOADING Redis is loading the dataset in memory": True,
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.": True,
    "CLUSTERDOWN The cluster is down": True,
    "MOVED 3999 127.0.0.1:6381": True,
    "NOREPLICAS Not enough good replicas to write.": True,
    "READONLY You can't write against a read only replica. script: 0, on @user_script:1.": True,
    "ERR Error running script (call to f_0): @user_script:1: -READONLY You can't write against": True,
    "OOM command not allowed when used memory > 'maxmemory'.": False,
    "MISCONF Redis is configured to save RDB snapshots, but cannot write": False,
    "ERR unknown command 'UNREADONLY'": False,
}
"""What servers answer, and whether another server is the one to ask."""


@pytest.mark.parametrize("answer", ANSWERS)
async def test_each_answer_of_a_server_that_is_not_the_one_to_ask_closes_the_connections(
    answer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = BaseParser.parse_error(answer)
    client = FakeAsyncRedis(max_connections=32)
    connection = RedisConnection(client)
    closed = []
    pool = client.connection_pool
    disconnect = pool.disconnect

    async def note(inuse_connections: bool = True) -> None:
        closed.append(inuse_connections)
        await disconnect(inuse_connections)

    monkeypatch.setattr(pool, "disconnect", note)

    async def refuse(*args: object) -> None:
        raise error

    monkeypatch.setattr(client, "execute_command", refuse)
    with pytest.raises(StoreError):
        await connection.fetch_info()
    assert closed == [False] * ANSWERS[answer]
    monkeypatch.undo()
    await connection.aclose()
