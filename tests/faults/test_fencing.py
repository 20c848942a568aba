"""Who lost a claim writes nothing any more, however the claim was lost.

Each test is one way in which two workers come to hold the same claim one after the other. All of them fail
where the comparison of the token is taken out of ``put.lua``, which is what fences the first one off.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from gateway_compaction.adapters.redis.connection import connect
from gateway_compaction.adapters.redis.keys import FORGOTTEN, TENANTS
from gateway_compaction.adapters.redis.store import RedisStore
from gateway_compaction.errors import StoreError
from tests.lab.forwarder import Forwarder
from tests.lab.ports import HOST
from tests.lab.redis_groups import Cluster
from tests.lab.redis_server import RedisServer
from tests.lab.waiting import until
from tests.store_contract import TTL, digest, record, session

S, A = session(), digest("a")
LEASE_SECONDS = 0.2

OpenStore = Callable[[int], RedisStore]


@pytest.fixture
async def open_store() -> AsyncIterator[OpenStore]:
    """Stores of workers, each with connections of its own; closed after the test."""
    stores: list[RedisStore] = []

    def make(port: int) -> RedisStore:
        store = RedisStore(connect(f"redis://{HOST}:{port}/0"), timeout_seconds=2.0, background_seconds=5.0)
        stores.append(store)
        return store

    yield make
    for store in stores:
        with contextlib.suppress(StoreError):
            await store.aclose()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Three nodes, of which the first has all slots."""
    with Cluster(3) as running:
        yield running


async def claim_after(store: RedisStore) -> int:
    """Claim what somebody else holds, as soon as that lease is over."""
    return await until(lambda: store.claim(S, A, [], 60), "the lease of the first worker to end")


async def write(store: RedisStore, token: int, text: str) -> int:
    """Store a summary under a claim."""
    return await store.put(S, record("a", text=text), token=token, ttl=TTL, limit=9)


async def kept(store: RedisStore) -> list[str]:
    """The summaries that requests of the session are given."""
    return [compaction.text for compaction in (await store.load(S, [A])).compactions]


async def test_a_zombie_that_wakes_after_its_lease_writes_nothing(
    quiet_server: RedisServer, open_store: OpenStore
) -> None:
    quiet_server.flush()
    zombie, heir = open_store(quiet_server.port), open_store(quiet_server.port)
    lost = await zombie.claim(S, A, [], LEASE_SECONDS)
    held = await claim_after(heir)
    assert held > lost
    # Before the heir has written, and after.
    assert await write(zombie, lost, "of the zombie") == 0
    assert not await zombie.renew(S, A, lost, 60)
    await zombie.release(S, A, lost, failure="late", ttl=TTL)
    assert await write(heir, held, "of the heir")
    assert await write(zombie, lost, "of the zombie") == 0
    assert await kept(heir) == ["of the heir"]


async def test_a_claim_that_a_failover_lost_is_worth_nothing_on_the_new_primary(
    open_store: OpenStore,
) -> None:
    with RedisServer() as old, RedisServer() as new:
        async with Forwarder(old.port) as address:
            first, heir = open_store(address.port), open_store(address.port)
            # The replica never saw the claim: replication is asynchronous.
            lost = await first.claim(S, A, [], 60)
            old.stop()
            address.target = new.port
            address.cut()
            held = await claim_after(heir)
            assert held > lost
            assert await write(first, lost, "of the old primary's holder") == 0
            assert await write(heir, held, "of the new one's")
            assert await kept(heir) == ["of the new one's"]


async def test_the_last_write_of_a_killed_worker_that_arrives_late_is_refused(
    quiet_server: RedisServer, open_store: OpenStore
) -> None:
    quiet_server.flush()
    async with Forwarder(quiet_server.port) as address:
        killed, heir = open_store(address.port), open_store(quiet_server.port)
        lost = await killed.claim(S, A, [], LEASE_SECONDS)
        # Its write is on the way, in a network that is slow, when it is killed.
        address.hold()
        last = asyncio.create_task(write(killed, lost, "of the killed"))
        await until(lambda: address.held, "the write to be on its way")
        last.cancel()
        assert await write(heir, await claim_after(heir), "of the heir")
        arrived = address.delivered
        address.resume()
        await until(lambda: address.delivered > arrived, "the write to arrive")
        assert await kept(heir) == ["of the heir"]


async def test_a_holder_whose_slots_moved_to_another_node_meanwhile_is_fenced_there_too(
    cluster: Cluster, open_store: OpenStore
) -> None:
    async with Forwarder(cluster.nodes[0].port) as address:
        first, heir = open_store(address.port), open_store(address.port)
        lost = await first.claim(S, A, [], LEASE_SECONDS)
        await asyncio.to_thread(cluster.move_slots, [FORGOTTEN, TENANTS], 0, 1)
        with pytest.raises(StoreError, match=r"MOVED|Moved"):
            await write(first, lost, "of the first")
        address.target = cluster.nodes[1].port
        address.cut()
        held = await claim_after(heir)
        assert held > lost
        assert await write(first, lost, "of the first") == 0
        assert await write(heir, held, "of the heir")
        assert await kept(heir) == ["of the heir"]
        assert await write(first, lost, "of the first") == 0
