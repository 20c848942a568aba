"""Shows what a Redis that hangs or is down costs a request: ``python -m bench.store_down``.

It needs a ``redis-server`` (on the path, or the one of the development tools). The calls are those that a
request makes, one after the other, with the deadline that holds for requests.
"""

from __future__ import annotations

import asyncio
import contextlib
import statistics
import time

from gateway_compaction.adapters.redis.connection import connect
from gateway_compaction.adapters.redis.store import RedisStore
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.errors import StoreError
from tests.lab.redis_server import RedisServer

SESSION = SessionRef(tenant="a" * 16, key="b" * 32)
DIGESTS = [f"{number:032x}" for number in range(100)]
UNASKED = 2_000
LOOK_SECONDS = 0.05


async def measure(server: RedisServer, how: str) -> None:
    """Print the milliseconds of the first calls, of those that ask nobody, and how soon it is asked again."""
    store = RedisStore(connect(server.url))
    await store.ping()
    await store.load(SESSION, DIGESTS)
    if how == "hung":
        server.pause()
    else:
        server.stop()
    first = []
    while store.state == "closed":
        first.append(await time_load(store))
    unasked = [await time_load(store) for _ in range(UNASKED)]
    if how == "hung":
        server.resume()
    else:
        server.start()
    back = time.monotonic()
    while store.state == "open":
        await asyncio.sleep(LOOK_SECONDS)
        await time_load(store)
    told = ", ".join(f"{1000 * seconds:.1f}" for seconds in first)
    worst = 1000 * max(unasked)
    print(
        f"{how}: first calls {told} ms; then {1000 * statistics.median(unasked):.3f} ms (worst {worst:.2f});"
        f" answers again {time.monotonic() - back:.1f} s after its return"
    )
    await store.aclose()


async def time_load(store: RedisStore) -> float:
    """Return the seconds of one call, however it ends."""
    started = time.perf_counter()
    with contextlib.suppress(StoreError):
        await store.load(SESSION, DIGESTS)
    return time.perf_counter() - started


def main() -> None:
    """Measure both."""
    with RedisServer() as server:
        for how in ("hung", "down"):
            asyncio.run(measure(server, how))


if __name__ == "__main__":
    main()
