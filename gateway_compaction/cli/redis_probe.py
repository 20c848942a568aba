"""Ask a Redis once whether it serves, for commands that go on without it and must say so."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from gateway_compaction.errors import StoreError

PROBE_SECONDS = 1.0
GIVE_UP_SECONDS = 3.0
"""The store's own deadline begins anew while it connects; a start waits no longer than this."""


def find_redis_problem(url: str | None) -> str:
    """Return why a Redis cannot be written now, without its password; empty if it can, or none is named."""
    return asyncio.run(_find_problem(url)) if url else ""


async def _find_problem(url: str) -> str:
    from gateway_compaction.adapters.redis.connection import connect
    from gateway_compaction.adapters.redis.store import RedisStore

    try:
        store = RedisStore(connect(url), timeout_seconds=PROBE_SECONDS)
    except StoreError as error:
        return str(error)
    try:
        async with asyncio.timeout(GIVE_UP_SECONDS):
            await store.try_write()
    except TimeoutError:
        return f"it did not answer within {GIVE_UP_SECONDS:.0f} seconds"
    except StoreError as error:
        return str(error)
    finally:
        with suppress(StoreError):
            await store.aclose()
    return ""
