"""The session lists of tenants, read in pages and kept for some seconds; then only changes are read."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gateway_compaction.adapters.redis.codec import script
from gateway_compaction.adapters.redis.index import Command, tenant_key
from gateway_compaction.adapters.redis.rows import Line, line_of, read_row
from gateway_compaction.adapters.redis.store import StoreCalls
from gateway_compaction.core.records.compaction import SessionRef

__all__ = ["RowCache"]

ROWS = script("rows")
# A page is read in a millisecond or two.
PAGE, TENANTS = 200, 100
KEPT_SECONDS, KEPT_ROWS = 30.0, 50_000


@dataclass(frozen=True, slots=True)
class _Tenant:
    """Rows of one tenant, as of ``second``.

    ``counts`` are rows written to the list and dropped from it since it began, ``begun`` says when.
    """

    begun: bytes = b""
    counts: tuple[int, int] = (0, 0)
    second: int = 0
    asked: float = 0.0
    rows: Mapping[str, Line] = field(default_factory=dict)


class RowCache:
    """Reads lists without blocking: a page at a time, the loop free between pages.

    What is kept of a tenant is never changed, only replaced, so that readers at the same time do not disturb
    each other.
    """

    def __init__(
        self, store: StoreCalls, seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._store, self._seconds, self._clock = store, seconds, clock
        self._tenants: dict[str, _Tenant] = {}

    async def rows(self, tenants: Sequence[str]) -> list[Line]:
        """All rows of some tenants; expired sessions among them."""
        found: list[Line] = []
        for start in range(0, len(tenants), TENANTS):
            for kept in await self._refreshed(tenants[start : start + TENANTS]):
                found += kept.rows.values()
            await asyncio.sleep(0)
        return found

    async def changed(self, tenant: str, second: int) -> list[Line]:
        """Rows of a tenant that were written in ``second`` or later, the latest first."""
        return [line async for page in self._pages(tenant, str(second)) for line in page]

    def clear(self) -> None:
        """Forget everything: what is not in the store any more must not be here."""
        # Who is reading just now goes on with what was there, and leaves it behind.
        self._tenants = {}

    def age(self) -> None:
        """Forget what nobody asked for lately."""
        oldest = self._clock() - KEPT_SECONDS
        for tenant in [t for t, kept in self._tenants.items() if kept.asked < oldest]:
            del self._tenants[tenant]

    async def _refreshed(self, tenants: Sequence[str]) -> list[_Tenant]:
        self.age()
        known, fresh = self._tenants, list[_Tenant]()
        names = ("begun", "written", "dropped")
        asked: Iterable[Command] = (("HMGET", tenant_key(t, "rows"), *names) for t in tenants)
        clock, *answers = await self._store.send(("TIME",), *asked, seconds=self._seconds)
        for tenant, (begun, written, dropped) in zip(tenants, answers, strict=True):
            told = _Tenant(begun or b"", (int(written or 0), int(dropped or 0)), int(clock[0]))
            kept = await self._brought_up(tenant, known.get(tenant, _Tenant()), told)
            fresh.append(replace(kept, asked=self._clock()))
            # The last asked for stands last.
            known.pop(tenant, None)
            known[tenant] = fresh[-1]
        total, asked_for = sum(len(kept.rows) for kept in known.values()), frozenset(tenants)
        while total > KEPT_ROWS and (first := next(iter(known))) not in asked_for:
            total -= len(known.pop(first).rows)
        return fresh

    async def _brought_up(self, tenant: str, kept: _Tenant, told: _Tenant) -> _Tenant:
        """What is kept of a tenant, with the rows that were written since; ``told`` says until when."""
        # Where rows were dropped, or the list began anew, all are read again.
        if (kept.begun, kept.counts[1]) != (told.begun, told.counts[1]):
            kept = _Tenant(told.begun, (0, told.counts[1]))
        if kept.counts[0] == told.counts[0]:
            return kept
        since = str(kept.second - 1) if kept.second else "-inf"
        # The store drops what expired, and does not say so.
        rows = {key: line for key, line in kept.rows.items() if line.expires > told.second}
        async for page in self._pages(tenant, since):
            rows.update((line.session.key, line) for line in page)
        return replace(told, rows=rows)

    async def _pages(self, tenant: str, since: str) -> AsyncIterator[list[Line]]:
        keys = [tenant_key(tenant, "sessions"), tenant_key(tenant, "rows")]
        for start in range(0, 1_000_000, PAGE):
            number, text = await self._store.run(ROWS, keys, [start, PAGE, since], self._seconds)
            rows = read_row(text) or {}
            await asyncio.sleep(0)
            yield [line_of(SessionRef(tenant, k), row) for k, row in rows.items() if isinstance(row, dict)]
            if number < PAGE:
                return
            await asyncio.sleep(0)
