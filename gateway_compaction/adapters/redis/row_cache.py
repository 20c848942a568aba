"""The session lists of tenants, read in pages and kept for some seconds; then only changes are read."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
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

# Seconds after which an unused tenant is dropped.
KEPT_SECONDS = 30.0

# Rows that are kept in all; the least recently used tenants go first.
KEPT_ROWS = 50_000

# Safety bound of the paging loop, which ends long before.
MOST_ROWS = 1_000_000


@dataclass(frozen=True, slots=True)
class ListState:
    """State of a tenant's list in Redis: while it is unchanged, no row need be read again.

    Attributes:
        begun: when the list began; another value means another list.
        written: rows written to it since then.
        dropped: rows dropped from it since then. Expired rows are not counted.
        read_at: the second at which this was read, by the clock of Redis; 0 where it never was.
    """

    begun: bytes = b""
    written: int = 0
    dropped: int = 0
    read_at: int = 0


@dataclass(frozen=True, slots=True)
class CachedTenant:
    """Rows of one tenant by session hash, and the state of the list when they were read.

    ``asked_at`` is when somebody last asked for them, by this process's clock.
    """

    state: ListState = field(default_factory=ListState)
    rows: Mapping[str, ListedRow] = field(default_factory=dict)
    asked_at: float = 0.0


class RowCache:
    """Reads lists without blocking: a page at a time, the loop free between pages.

    Redis cannot filter or sort rows, so a page of the list takes all rows of its tenants; without the cache
    each would read thousands again. What is kept of a tenant is never changed, only replaced, so that readers
    at the same time do not disturb each other.
    """

    def __init__(self, connection: RedisConnection, clock: Callable[[], float] = time.monotonic) -> None:
        self._connection = connection
        self._clock = clock
        self._tenants: OrderedDict[str, CachedTenant] = OrderedDict()

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
        # A reader that is under way goes on filling the old cache, which nobody sees any more.
        self._tenants = OrderedDict()

    def _drop_unused(self) -> None:
        """Forget the tenants that nobody asked for lately."""
        oldest = self._clock() - KEPT_SECONDS
        for tenant in [t for t, cached in self._tenants.items() if cached.asked_at < oldest]:
            del self._tenants[tenant]

    async def _refresh(self, tenants: Sequence[str]) -> list[CachedTenant]:
        """Return some tenants as they are now, and make them the most recently used ones of the cache."""
        self._drop_unused()
        # What is awaited below ends in this cache even if ``clear`` puts an empty one in its place meanwhile.
        cache = self._tenants
        states = await self._fetch_states(tenants)
        refreshed: list[CachedTenant] = []
        for tenant, state in zip(tenants, states, strict=True):
            updated = await self._update(tenant, cache.get(tenant, CachedTenant()), state)
            cache[tenant] = replace(updated, asked_at=self._clock())
            cache.move_to_end(tenant)
            refreshed.append(cache[tenant])
        _evict(cache, frozenset(tenants))
        return refreshed

    async def _fetch_states(self, tenants: Sequence[str]) -> list[ListState]:
        """Return the present state of each tenant's list, in one round trip."""
        questions = [("HMGET", tenant_key(t, "rows"), "begun", "written", "dropped") for t in tenants]
        clock, *answers = await self._connection.send(("TIME",), *questions)
        return [
            ListState(begun or b"", int(written or 0), int(dropped or 0), read_at=int(clock[0]))
            for begun, written, dropped in answers
        ]

    async def _update(self, tenant: str, cached: CachedTenant, present: ListState) -> CachedTenant:
        """Return a tenant with the rows that were written until ``present``."""
        known = cached.state
        if (known.begun, known.dropped) != (present.begun, present.dropped):
            # Rows were dropped, or the list began anew: all are read again.
            known = ListState(present.begun, dropped=present.dropped)
            cached = CachedTenant(known)
        if known.written == present.written:
            return cached
        # A second back: rows may have been written later in the second at which the list was read last.
        since = str(known.read_at - 1) if known.read_at else "-inf"
        # Expired rows are not counted as dropped, so they are filtered here.
        rows = {key: row for key, row in cached.rows.items() if row.expires > present.read_at}
        async for page in self._fetch_pages(tenant, since):
            rows.update((row.session.key, row) for row in page)
        return CachedTenant(present, rows)

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


def _evict(cache: OrderedDict[str, CachedTenant], needed: Collection[str]) -> None:
    """Drop the least recently used tenants while too many rows are kept, but none that is needed now."""
    total = sum(len(cached.rows) for cached in cache.values())
    for tenant in list(cache):
        if total <= KEPT_ROWS or tenant in needed:
            return
        total -= len(cache.pop(tenant).rows)
