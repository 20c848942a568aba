"""Servers that hang, are gone, talk nonsense, refuse to write or come back: what the store makes of them."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest
from redis.asyncio import Connection, ConnectionPool, Redis
from redis.exceptions import TimeoutError as SlowError

from gateway_compaction.adapters.redis.archive import RedisArchive
from gateway_compaction.adapters.redis.breaker import Breaker
from gateway_compaction.adapters.redis.connection import RedisConnection, connect
from gateway_compaction.adapters.redis.store import RedisStore
from gateway_compaction.archive import Query, Scope
from gateway_compaction.core.tokens.windows import LearnedWindow
from gateway_compaction.errors import StoreBusy, StoreError
from gateway_compaction.ports import CallRecord
from tests.lab.forwarder import Forwarder
from tests.lab.ports import HOST, free_port
from tests.lab.redis_server import GarbageServer, HungServer, RedisServer
from tests.lab.waiting import until
from tests.store_contract import TTL, digest, event, raw, record, session

S, A = session(), digest("a")
ADMIN = Scope(everything=True, actor="zoe")

CALLS: dict[str, Callable[[RedisStore], Awaitable[Any]]] = {
    "load": lambda store: store.load(S, [A]),
    "claim": lambda store: store.claim(S, A, [], 60),
    "renew": lambda store: store.renew(S, A, 1, 60),
    "release": lambda store: store.release(S, A, 1, ttl=TTL),
    "put": lambda store: store.put(S, record("a"), token=None, ttl=TTL, limit=9),
    "append": lambda store: store.append(S, event(), ttl=TTL, call=CallRecord(used=A, labels=["x"])),
    "bypass": lambda store: store.bypass(S, "400", 60),
    "backoff": lambda store: store.backoff(S, "unused", 60),
    "factors": lambda store: store.factors(),
    "save_factor": lambda store: store.save_factor("gpt", 1.0),
    "windows": lambda store: store.windows(),
    "save_window": lambda store: store.save_window("d", LearnedWindow(told=3_000, at=(1.0,))),
    "add_policy_problem": lambda store: store.add_policy_problem("p", 1),
    "ping": lambda store: store.ping(),
}


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisServer]:
    with RedisServer() as running:
        yield running


@pytest.fixture
async def open_store() -> AsyncIterator[Callable[..., RedisStore]]:
    """Stores on some URL, with short deadlines unless told otherwise; closed after the test."""
    stores: list[RedisStore] = []

    def make(url: str, *, seconds: float = 0.05, background: float = 0.1, **more: Any) -> RedisStore:
        store = RedisStore(connect(url), timeout_seconds=seconds, background_seconds=background, **more)
        stores.append(store)
        return store

    yield make
    for store in stores:
        await store.aclose()


@pytest.fixture(params=["hung", "garbage", "closed port", "no socket", "no name"])
def nowhere(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of something that is no working Redis."""
    if request.param == "hung":
        with HungServer() as server:
            yield server.url
    elif request.param == "garbage":
        with GarbageServer() as server:
            yield server.url
    else:
        yield {
            "closed port": f"redis://{HOST}:{free_port()}",
            "no socket": "unix:///nowhere/at/all.sock",
            "no name": "redis://name.invalid:6379",
        }[request.param]


@pytest.mark.parametrize("call", CALLS)
async def test_every_call_ends_in_time_with_a_store_error(
    nowhere: str, call: str, open_store: Callable[..., RedisStore]
) -> None:
    store = open_store(nowhere)
    started = time.monotonic()
    for _ in range(3):
        with pytest.raises(StoreError):
            await CALLS[call](store)
    with pytest.raises(StoreBusy):
        await CALLS[call](store)
    assert time.monotonic() - started < 1.0
    assert store.state == "open"


OPERATORS: dict[str, Callable[[RedisArchive], Awaitable[Any]]] = {
    "overview": lambda archive: archive.overview(ADMIN, 1),
    "sessions": lambda archive: archive.sessions(ADMIN, Query()),
    "detail": lambda archive: archive.detail(ADMIN, S),
    "compact": lambda archive: archive.compact(ADMIN, S),
    "forget": lambda archive: archive.forget(ADMIN, S),
    "forget_tenant": lambda archive: archive.forget_tenant(ADMIN, S.tenant),
    "export": lambda archive: archive.export(ADMIN, S),
    "watch": lambda archive: anext(archive.watch(ADMIN)),
}


@pytest.mark.parametrize("ask", OPERATORS)
async def test_operators_are_told_that_the_store_is_down_and_requests_do_not_notice(
    ask: str, open_store: Callable[..., RedisStore]
) -> None:
    store = open_store(f"redis://{HOST}:{free_port()}")
    for _ in range(3):
        with pytest.raises(StoreError) as caught:
            await OPERATORS[ask](RedisArchive(store.connection))
        assert not isinstance(caught.value, StoreBusy)
    assert store.state == "closed"


async def test_asking_for_notices_while_the_server_is_gone_keeps_no_request_from_it(
    nowhere: str, open_store: Callable[..., RedisStore]
) -> None:
    store = open_store(nowhere)
    for _ in range(3):
        with pytest.raises(StoreError):
            await store.notices()
    assert store.state == "closed"


async def test_busy_asks_nobody(open_store: Callable[..., RedisStore]) -> None:
    with HungServer() as server:
        store = open_store(server.url)
        for _ in range(5):
            with pytest.raises(StoreError):
                await store.load(S, [A])
        assert store.connection.round_trips == 3


async def test_a_server_that_comes_back_is_found_by_one_probe(
    redis: RedisServer, open_store: Callable[..., RedisStore]
) -> None:
    now = [0.0]
    store = open_store(redis.url, seconds=0.2, background=1.0, breaker=Breaker(lambda: now[0], failures=2))
    await store.ping()
    redis.pause()
    for _ in range(2):
        with pytest.raises(StoreError):
            await store.load(S, [A])
    redis.resume()
    with pytest.raises(StoreBusy):
        await store.load(S, [A])
    now[0] += 2.1
    before = store.connection.round_trips
    answers = await asyncio.gather(*(store.ping() for _ in range(5)), return_exceptions=True)
    assert [type(answer) for answer in answers].count(StoreBusy) == 4
    assert store.connection.round_trips == before + 1
    assert store.state == "closed"


async def test_a_handshake_that_takes_longer_than_a_request_waits_does_not_keep_the_breaker_open(
    redis: RedisServer, open_store: Callable[..., RedisStore]
) -> None:
    now = [0.0]
    async with Forwarder(redis.port) as slow:
        # Each connection waits for several answers of the server before it can be used.
        slow.delay = (0.06, 0.06)
        url = f"redis://default:@{HOST}:{slow.port}/1"
        store = open_store(url, seconds=0.1, background=1.0, breaker=Breaker(lambda: now[0], failures=1))

        async def is_answered() -> bool:
            now[0] += 31
            with contextlib.suppress(StoreError):
                await store.load(S, [A])
            return store.state == "closed"

        with pytest.raises(StoreError):
            await store.load(S, [A])
        assert store.state == "open"
        await until(is_answered, "a probe to be answered", every=0.2)


async def test_a_cancelled_probe_does_not_lock_the_breaker(open_store: Callable[..., RedisStore]) -> None:
    now = [0.0]
    with HungServer() as server:
        store = open_store(server.url, background=5.0, breaker=Breaker(lambda: now[0], failures=2))
        for _ in range(2):
            with pytest.raises(StoreError):
                await store.load(S, [A])
        now[0] += 2.1
        before = store.connection.round_trips
        probe = asyncio.create_task(store.ping())
        await until(lambda: store.connection.round_trips > before, "the probe to be on its way")
        probe.cancel()
        with pytest.raises(asyncio.CancelledError):
            await probe
        with pytest.raises(StoreError) as caught:
            await store.load(S, [A])
        assert not isinstance(caught.value, StoreBusy)


async def test_a_loop_that_stands_still_is_not_the_servers_fault(
    open_store: Callable[..., RedisStore],
) -> None:
    stalls = []

    def stall() -> None:
        time.sleep(0.04)
        stalls.append(1)
        if len(stalls) < 20:
            asyncio.get_running_loop().call_soon(stall)

    with HungServer() as server:
        store = open_store(server.url, seconds=0.02, breaker=Breaker(failures=1))
        asyncio.get_running_loop().call_soon(stall)
        with pytest.raises(StoreError, match="did not answer in time"):
            await store.load(S, [A])
        states = [store.state]
        assert len(stalls) < 20
        await until(lambda: len(stalls) == 20, "the loop to move on")
        with pytest.raises(StoreError, match="did not answer in time"):
            await store.load(S, [A])
        assert [*states, store.state] == ["closed", "open"]


async def test_a_late_answer_never_reaches_another_call(
    redis: RedisServer, open_store: Callable[..., RedisStore]
) -> None:
    redis.flush()
    store = open_store(redis.url, seconds=0.3, background=2.0, breaker=Breaker(failures=10**6))
    for number in range(10):
        await store.put(S, record(number), token=None, ttl=TTL, limit=99)
    for _ in range(3):
        redis.pause()
        late = await asyncio.gather(*(store.load(S, [digest(n)]) for n in range(10)), return_exceptions=True)
        assert all(isinstance(answer, StoreError) for answer in late)
        redis.resume()
        for number in range(10):
            [found] = (await store.load(S, [digest(number)])).compactions
            assert found.digest == digest(number)
    pool: Any = raw(store).connection_pool
    assert not pool._in_use_connections


async def test_callers_that_leave_take_no_connection_with_them(
    redis: RedisServer, open_store: Callable[..., RedisStore]
) -> None:
    redis.flush()
    store = open_store(redis.url, seconds=5.0, background=5.0)
    await store.put(S, record("a"), token=None, ttl=TTL, limit=9)
    for wave in range(20):
        tasks = [asyncio.create_task(store.load(S, [A])) for _ in range(60)]
        for _ in range(wave):
            await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert all(len(t.result().compactions) == 1 for t in tasks if not t.cancelled())
    pool: Any = raw(store).connection_pool
    assert not pool._in_use_connections
    assert len(pool._available_connections) <= 32


async def test_more_calls_than_connections_wait_their_turn(
    redis: RedisServer, open_store: Callable[..., RedisStore]
) -> None:
    store = open_store(redis.url, seconds=10.0, background=10.0)
    await asyncio.gather(*(store.load(S, [A]) for _ in range(300)))
    assert store.state == "closed"


async def test_waiting_for_a_connection_is_not_the_servers_fault(
    open_store: Callable[..., RedisStore],
) -> None:
    with HungServer() as server:
        store = open_store(server.url, background=5.0)
        slow = [asyncio.create_task(store.ping()) for _ in range(32)]
        await until(lambda: store.connection.round_trips == 32, "every connection to be taken")
        for _ in range(3):
            with pytest.raises(StoreError):
                await store.load(S, [A])
        assert store.connection.round_trips == 32
        assert store.state == "closed"
        for task in slow:
            task.cancel()
        await asyncio.gather(*slow, return_exceptions=True)


@pytest.fixture
def refusing(redis: RedisServer) -> Iterator[RedisServer]:
    redis.flush()
    yield redis
    with redis.client() as client:
        client.config_set("maxmemory", 0)
        client.replicaof("NO", "ONE")


@pytest.mark.parametrize("why", ["out of memory", "a replica"])
async def test_a_server_that_refuses_to_write_is_still_read(
    refusing: RedisServer, why: str, open_store: Callable[..., RedisStore]
) -> None:
    store = open_store(refusing.url, seconds=2.0, background=2.0)
    await store.put(S, record("a"), token=None, ttl=TTL, limit=9)
    with refusing.client() as client:
        if why == "out of memory":
            client.config_set("maxmemory-policy", "noeviction")
            client.config_set("maxmemory", 1)
        else:
            client.replicaof(HOST, str(free_port()))
    for _ in range(3):
        with pytest.raises(StoreError):
            await store.put(S, record("b"), token=None, ttl=TTL, limit=9)
        with pytest.raises(StoreError):
            await store.append(S, event(), ttl=TTL)
        with pytest.raises(StoreError):
            await store.save_factor("gpt", 1.0)
        assert store.state == "closed"
        [kept] = (await store.load(S, [A, digest("b")])).compactions
        assert kept.digest == A


async def test_a_password_is_not_in_the_message(open_store: Callable[..., RedisStore]) -> None:
    store = open_store(f"redis://someone:hunter2@{HOST}:{free_port()}")
    with pytest.raises(StoreError) as caught:
        await store.ping()
    assert "hunter2" not in str(caught.value)
    with pytest.raises(StoreError) as wrong:
        connect("postgres://someone:hunter2@db/0")
    assert "hunter2" not in str(wrong.value)


def test_a_store_is_made_without_a_loop_and_without_a_server() -> None:
    for url in (None, f"redis://{HOST}:1/0", f"rediss://{HOST}:1", "unix:///nowhere.sock?db=1"):
        assert connect(url).round_trips == 0


async def test_what_the_url_says_of_the_driver_does_not_undo_the_stores_own(redis: RedisServer) -> None:
    url = f"{redis.url}?decode_responses=true&max_connections=1&protocol=3"
    store = RedisStore(connect(url), timeout_seconds=2.0)
    await store.put(S, record("a"), token=None, ttl=TTL, limit=9)
    assert (await store.load(S, [A])).compactions
    options = raw(store).connection_pool.connection_kwargs
    assert (options["decode_responses"], options["protocol"]) == (False, 2)
    assert options["retry"].get_retries() == 0
    await store.aclose()


async def test_closing_twice_and_closing_a_store_never_used(redis: RedisServer) -> None:
    store = RedisStore(connect(redis.url))
    await store.aclose()
    await store.aclose()


async def test_an_outage_is_told_twice_when_it_begins_and_when_it_ends(
    redis: RedisServer, open_store: Callable[..., RedisStore], caplog: pytest.LogCaptureFixture
) -> None:
    now = [0.0]
    store = open_store(redis.url, seconds=0.2, background=1.0, breaker=Breaker(lambda: now[0]))
    await store.ping()
    redis.pause()
    for _ in range(8):
        with pytest.raises(StoreError):
            await store.load(S, [A])
    redis.resume()
    now[0] += 2.1
    await store.ping()
    await store.load(S, [A])
    began, ended = [r.getMessage() for r in caplog.records if r.name == "gateway_compaction"]
    assert began == "store: it did not answer in time; not asked for 2 s, requests go on without it"
    assert ended == "store: it answers again"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (SlowError(), "it did not answer in time"),
        (SlowError("Timeout reading from socket"), "it did not answer in time"),
        (TimeoutError(), "it did not answer in time"),
        (ConnectionResetError(), "ConnectionResetError"),
        (ConnectionResetError(104, "reset"), "ConnectionResetError: [Errno 104] reset"),
    ],
)
async def test_what_the_driver_raises_is_said_in_words(error: Exception, said: str) -> None:
    class Failing(Connection):
        async def connect(self) -> None:
            raise error

    store = RedisStore(RedisConnection(Redis.from_pool(ConnectionPool(connection_class=Failing))))
    with pytest.raises(StoreError) as caught:
        await store.load(S, [A])
    assert str(caught.value) == said
    await store.aclose()


async def test_a_hung_server_is_told_as_one(open_store: Callable[..., RedisStore]) -> None:
    with HungServer() as server:
        store = open_store(server.url)
        for ask in (store.ping, store.notices, lambda: store.connection.send(("PING",), seconds=0.05)):
            with pytest.raises(StoreError, match=r"^it did not answer in time$"):
                await ask()
