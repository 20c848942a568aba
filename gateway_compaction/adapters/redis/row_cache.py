"""The session lists of tenants, read in pages and kept for some seconds; then only changes are read."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gateway_compaction.adapters.redis.connection import RedisConnection
from gateway_compaction.adapters.redis.keys import tenant_key
from gateway_compaction.adapters.redis.rows import ListedRow, decode_object, to_listed_row
from gateway_compaction.adapters.redis.scripts import load_script
from gateway_compaction.core.records.compaction import SessionRef

ROWS = load_script("rows")

# Rows of one round trip: Redis reads so many in a millisecond or two, and stands still for others meanwhile.
ROWS_AT_ONCE = 200

# Tenants whose state is asked for in one round trip.
TENANTS_AT_ONCE = 100

# What nobody asked for so long is dropped.
KEPT_SECONDS = 30.0

# Rows that are kept in all. The tenants asked for last stay.
KEPT_ROWS = 50_000

# A bound for a loop that ends long before.
MOST_ROWS = 1_000_000


@dataclass(frozen=True, slots=True)
class _CachedTenant:
    """Rows of one tenant, as of ``second``.

    Attributes:
        begun: when the list began, as Redis has it; another value means another list.
        counts: rows written to the list and dropped from it since then; what is unchanged need not be read.
        second: when it was read, by the clock of Redis.
        asked: when somebody last asked for it, by this process's clock.
        rows: by session hash.
    """

    begun: bytes = b""
    counts: tuple[int, int] = (0, 0)
    second: int = 0
    asked: float = 0.0
    rows: Mapping[str, ListedRow] = field(default_factory=dict)


class RowCache:
    """Reads lists without blocking: a page at a time, the loop free between pages.

    Redis cannot filter or sort rows, so a page of the list takes all rows of its tenants; without the cache
    each would read thousands again. What is kept of a tenant is never changed, only replaced, so that readers
    at the same time do not disturb each other.
    """

    def __init__(self, connection: RedisConnection, clock: Callable[[], float] = time.monotonic) -> None:
        self._connection = connection
        self._clock = clock
        self._tenants: dict[str, _CachedTenant] = {}

    async def fetch_rows(self, tenants: Sequence[str]) -> list[ListedRow]:
        """Return all rows of some tenants; expired sessions among them."""
        rows: list[ListedRow] = []
        for start in range(0, len(tenants), TENANTS_AT_ONCE):
            for cached in await self._refresh(tenants[start : start + TENANTS_AT_ONCE]):
                rows += cached.rows.values()
            await asyncio.sleep(0)
        return rows

    async def fetch_changed_rows(self, tenant: str, second: int) -> list[ListedRow]:
        """Return the rows of a tenant that were written in ``second`` or later, the latest first."""
        return [row async for page in self._fetch_pages(tenant, str(second)) for row in page]

    def clear(self) -> None:
        """Forget everything: what is not in the store any more must not be here."""
        # Who is reading just now goes on with what was there, and leaves it behind.
        self._tenants = {}

    def drop_unused(self) -> None:
        """Forget what nobody asked for lately."""
        oldest = self._clock() - KEPT_SECONDS
        for tenant in [t for t, cached in self._tenants.items() if cached.asked < oldest]:
            del self._tenants[tenant]

    async def _refresh(self, tenants: Sequence[str]) -> list[_CachedTenant]:
        """Return some tenants as they are now."""
        self.drop_unused()
        cache, refreshed = self._tenants, list[_CachedTenant]()
        questions = [("HMGET", tenant_key(t, "rows"), "begun", "written", "dropped") for t in tenants]
        clock, *answers = await self._connection.send(("TIME",), *questions)
        for tenant, (begun, written, dropped) in zip(tenants, answers, strict=True):
            present = _CachedTenant(begun or b"", (int(written or 0), int(dropped or 0)), int(clock[0]))
            updated = await self._update(tenant, cache.get(tenant, _CachedTenant()), present)
            refreshed.append(replace(updated, asked=self._clock()))
            # The last asked for stands last.
            cache.pop(tenant, None)
            cache[tenant] = refreshed[-1]
        total, needed = sum(len(cached.rows) for cached in cache.values()), frozenset(tenants)
        while total > KEPT_ROWS and (first := next(iter(cache))) not in needed:
            total -= len(cache.pop(first).rows)
        return refreshed

    async def _update(self, tenant: str, cached: _CachedTenant, present: _CachedTenant) -> _CachedTenant:
        """Return a tenant with the rows that were written until ``present``, which has no rows itself."""
        # Where rows were dropped, or the list began anew, all are read again.
        if (cached.begun, cached.counts[1]) != (present.begun, present.counts[1]):
            cached = _CachedTenant(present.begun, (0, present.counts[1]))
        if cached.counts[0] == present.counts[0]:
            return cached
        # Of the second in which it was read last, some rows may have come after.
        since = str(cached.second - 1) if cached.second else "-inf"
        # The store drops what expired, and does not say so.
        rows = {key: row for key, row in cached.rows.items() if row.expires > present.second}
        async for page in self._fetch_pages(tenant, since):
            rows.update((row.session.key, row) for row in page)
        return replace(present, rows=rows)

    async def _fetch_pages(self, tenant: str, since: str) -> AsyncIterator[list[ListedRow]]:
        """Yield the rows written since a second, or all since ``-inf``, the latest first."""
        keys = [tenant_key(tenant, "sessions"), tenant_key(tenant, "rows")]
        for start in range(0, MOST_ROWS, ROWS_AT_ONCE):
            number, text = await self._connection.run(ROWS, keys, [start, ROWS_AT_ONCE, since], tuple)
            rows = decode_object(text) or {}
            await asyncio.sleep(0)
            yield [
                to_listed_row(SessionRef(tenant, key), row)
                for key, row in rows.items()
                if isinstance(row, dict)
            ]
            if number < ROWS_AT_ONCE:
                return
            await asyncio.sleep(0)
