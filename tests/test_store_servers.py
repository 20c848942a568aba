"""The store on a unix socket, and on a cluster node, which refuses scripts that touch two slots."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from redis.asyncio import Redis

from gateway_compaction.adapters.redis.archive import RedisArchive
from gateway_compaction.adapters.redis.connection import connect
from gateway_compaction.adapters.redis.store import RedisStore
from gateway_compaction.errors import StoreError
from gateway_compaction.ports import CallRecord
from tests.lab.ports import HOST, free_port
from tests.lab.redis_server import redis_binary
from tests.lab.skips import skip_loudly
from tests.store_contract import (
    TTL,
    digest,
    event,
    everything_an_operator_does,
    fill,
    raw,
    record,
    session,
)

S = session()


@asynccontextmanager
async def running(directory: Path, url: str, *options: str) -> AsyncIterator[RedisStore]:
    """A redis-server of its own and a store on it, once it answers."""
    binary = redis_binary() or skip_loudly("no redis-server: unix socket and cluster are not tested")
    command = [binary, *options, "--save", "", "--dir", str(directory)]
    server = await asyncio.create_subprocess_exec(*command, stdout=subprocess.DEVNULL)
    store = RedisStore(connect(url), timeout_seconds=2.0)
    try:
        for _ in range(200):
            assert server.returncode is None, "redis-server ended at once"
            with contextlib.suppress(StoreError):
                await store.ping()
                break
            await asyncio.sleep(0.05)
        yield store
    finally:
        await store.aclose()
        with contextlib.suppress(ProcessLookupError):
            server.terminate()
        await server.wait()


async def test_a_unix_socket(tmp_path: Path) -> None:
    path = tmp_path / "s"
    async with running(tmp_path, f"unix://{path}?db=2", "--port", "0", "--unixsocket", str(path)) as store:
        await fill(store)
        assert (await store.load(S, [digest("a")])).compactions


async def test_a_cluster_node(tmp_path: Path) -> None:
    # The node also listens on this port + 10,000.
    port = next(port for port in iter(free_port, None) if port < 55_000)
    options = ("--port", str(port), "--bind", HOST, "--cluster-enabled", "yes")
    async with running(tmp_path, f"redis://{HOST}:{port}", *options) as store:
        await take_all_slots(raw(store))
        await fill(store)
        [kept] = (await store.load(S, [digest("a")])).compactions
        assert kept.digest == digest("a")
        await store.release(S, digest("c"), 1, failure="late", ttl=TTL)
        await store.put(S, record("b", "extractive"), token=None, ttl=TTL, limit=1)
        await store.append(
            session("other"), event(), ttl=TTL, call=CallRecord(labels=["x", "y"], about={"team": "t"})
        )
        assert await store.factors() == {"gpt": 1.1}
        await everything_an_operator_does(RedisArchive(store.connection))
        assert store.state == "closed"


async def take_all_slots(client: Redis) -> None:
    """Make a single node a whole cluster."""
    await client.execute_command("CLUSTER", "ADDSLOTS", *range(16_384))  # type: ignore[no-untyped-call]
    for _ in range(200):
        if b"cluster_state:ok" in await client.execute_command("CLUSTER", "INFO"):  # type: ignore[no-untyped-call]
            return
        await asyncio.sleep(0.05)
    raise AssertionError("the cluster did not come up")
