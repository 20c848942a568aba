"""``Archive`` on Redis: what operators see of sessions, and what they do to them."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from gateway_compaction.adapters.redis.codec import Script, script, session_keys, short_text, written_event
from gateway_compaction.adapters.redis.connection import RedisStore, connect
from gateway_compaction.adapters.redis.detail import UNKNOWN, detail_of, owned
from gateway_compaction.adapters.redis.erase import erase_session, erase_tenant, note_voided
from gateway_compaction.adapters.redis.hours import hours_of, owners_of
from gateway_compaction.adapters.redis.importing import NO_TENANT, import_session
from gateway_compaction.adapters.redis.index import (
    REQUESTED,
    TENANTS,
    owner_facts,
    owner_key,
    unlisting,
    wishing,
)
from gateway_compaction.adapters.redis.row_cache import RowCache
from gateway_compaction.adapters.redis.rows import (
    OWNER_FIELDS,
    Line,
    chosen,
    cursor_of,
    number_in,
    page_size,
    row_of,
)
from gateway_compaction.adapters.redis.transfer import LONGEST_PIN, MOST_PINS, exported
from gateway_compaction.archive import Hour, Query, Scope, SessionDetail, SessionPage, SessionRow
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.core.records.event import CompactionEvent
from gateway_compaction.errors import NotThere, PartNotThere, Refused

__all__ = ["RedisArchive"]

log = logging.getLogger("gateway_compaction")
ROLLBACK, STEER, RESET = (script(name) for name in ("rollback", "steer", "reset"))
PATIENCE_SECONDS, WATCHED_SECONDS = 5.0, 1.0
MOST_RETIRED = 50
HASH = re.compile(r"[0-9A-Za-z]{1,64}")
DONE, NO_SESSION, NOT_FOUND, FULL = 1, 0, -1, -2


class RedisArchive:
    """See ``Archive``. It asks with a deadline of its own and leaves the store's breaker alone.

    Args:
        store: shared with the request path; closed by its owner. ``at`` connects one of its own.
    """

    def __init__(self, store: RedisStore, clock: Callable[[], float] = time.time) -> None:
        self._store, self._clock = store, clock
        self._cache = RowCache(store, PATIENCE_SECONDS)
        self._own = False

    @classmethod
    def at(cls, url: str) -> Self:
        """An archive with a connection of its own, as a context manager.

        Raises:
            StoreError: the URL cannot be used.
        """
        archive = cls(connect(url))
        archive._own = True
        return archive

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._own:
            await self._store.aclose()

    def clear(self) -> None:
        """Forget what is kept of lists: something of it was erased."""
        self._cache.clear()

    async def overview(self, scope: Scope, hours: int) -> Sequence[Hour]:
        """See ``Archive.overview``."""
        return await hours_of(self._store, scope, await self._tenants(scope), hours, PATIENCE_SECONDS)

    async def sessions(self, scope: Scope, query: Query) -> SessionPage:
        """See ``Archive.sessions``."""
        tenants, now = await self._tenants(scope), await self._now()
        found = await self._cache.rows(tenants)
        rows, total = await chosen(found, scope, query, now)
        page, more = rows[: page_size(query)], len(rows) > page_size(query)
        there = await self._there(page)
        return SessionPage(
            rows=tuple(row_of(line.session, line.fields, now) for line in there),
            cursor=cursor_of(page[-1], query) if more and page else None,
            total=total - (len(page) - len(there)),
        )

    async def detail(self, scope: Scope, session: SessionRef) -> SessionDetail:
        """See ``Archive.detail``."""
        return await detail_of(self._store, scope, session, PATIENCE_SECONDS)

    async def compact(self, scope: Scope, session: SessionRef) -> None:
        """See ``Archive.compact``."""
        await self._action(STEER, scope, session, "compact", "from the next call on", ["compact", "", 0])

    async def rebuild(self, scope: Scope, session: SessionRef) -> None:
        """See ``Archive.rebuild``."""
        args = [0, MOST_RETIRED, "rebuild"]
        await self._action(ROLLBACK, scope, session, "rebuild", "every version retired", args)

    async def rollback(self, scope: Scope, session: SessionRef, version: int) -> None:
        """See ``Archive.rollback``; 50 retired versions are kept."""
        told = f"to version {version}" if version else "every version retired"
        await self._action(ROLLBACK, scope, session, "rollback", told, [version, MOST_RETIRED, ""], version)

    async def pin(self, scope: Scope, session: SessionRef, text: str) -> None:
        """See ``Archive.pin``; runs of blanks become one, and a fact that is pinned already moves behind."""
        fact = _one_line(text)
        if not 0 < len(fact) <= LONGEST_PIN:
            raise Refused(f"A pin has 1 to {LONGEST_PIN} characters")
        told = f"{len(fact)} characters"
        await self._action(STEER, scope, session, "pin", told, ["pin", fact, MOST_PINS])

    async def unpin(self, scope: Scope, session: SessionRef, text: str) -> None:
        """See ``Archive.unpin``."""
        fact = _one_line(text)
        await self._action(STEER, scope, session, "unpin", f"{len(fact)} characters", ["unpin", fact, 0])

    async def reset(self, scope: Scope, session: SessionRef) -> None:
        """See ``Archive.reset``."""
        await self._action(RESET, scope, session, "reset", "as if it had never been compacted", [])
        await self._store.send(("ZREM", REQUESTED, session.session_id), seconds=PATIENCE_SECONDS)

    async def forget(self, scope: Scope, session: SessionRef) -> int:
        """See ``Archive.forget``; the log alone tells who did it."""
        fields = await self._owned(scope, session)
        owner = {name: str(fields.get(f"about:{name}", "")) for name in OWNER_FIELDS}
        gone = await erase_session(self._store, session, owner_facts(owner), PATIENCE_SECONDS)
        self.clear()
        log.info("forgotten: session=%s keys=%d by=%s", session.session_id, gone, _shown(scope.actor))
        return gone

    async def forget_tenant(self, scope: Scope, tenant: str) -> int:
        """See ``Archive.forget_tenant``; its hourly counts go too."""
        if not HASH.fullmatch(tenant):
            raise NotThere(NO_TENANT)
        [owner] = await owners_of(self._store, [tenant], PATIENCE_SECONDS)
        [known] = await self._store.send(("ZSCORE", TENANTS, tenant), seconds=PATIENCE_SECONDS)
        # What is known of a tenant may have been evicted, and begun anew with one key of several.
        theirs = all(scope.allows(line.owner) for line in await self._cache.rows([tenant]))
        if not (scope.allows(owner) and theirs) or (known is None and not scope.everything):
            raise NotThere(NO_TENANT)
        gone = await erase_tenant(self._store, tenant, PATIENCE_SECONDS)
        self.clear()
        if known is None and gone is None:
            raise NotThere(NO_TENANT)
        log.info("forgotten: tenant=%s sessions=%d by=%s", tenant, gone or 0, _shown(scope.actor))
        return gone or 0

    async def export(self, scope: Scope, session: SessionRef) -> Mapping[str, Any]:
        """See ``Archive.export``."""
        await self._owned(scope, session)
        names = ("session", "compactions", "used", "retired", "events", "last", "session")
        fields, compactions, used, retired, events, last, life = session_keys(session, *names)
        found = await self._store.send(
            ("HGETALL", fields),
            ("HGETALL", compactions),
            ("ZRANGE", used, 0, -1, "WITHSCORES"),
            ("HGETALL", retired),
            ("LRANGE", events, 0, -1),
            ("GET", last),
            ("PTTL", life),
            seconds=PATIENCE_SECONDS,
        )
        return await asyncio.to_thread(exported, session, found)

    async def load(self, scope: Scope, document: Mapping[str, Any]) -> SessionRef:
        """See ``Archive.load``."""
        event = self._event(scope, "import", "from a document")
        return await import_session(self._store, scope, document, event, PATIENCE_SECONDS)

    async def watch(self, scope: Scope) -> AsyncIterator[SessionRow]:
        """See ``Archive.watch``; asks every second."""
        start = await self._now()
        told: dict[str, float] = {}
        while True:
            now = await self._now()
            for tenant in await self._active(scope, int(now) - 3):
                for line in reversed(await self._cache.changed(tenant, int(now) - 3)):
                    written = number_in(line.fields, "rev")
                    fresh = written > max(start, told.get(line.session_id, 0.0))
                    if fresh and scope.allows(line.owner):
                        told[line.session_id] = written
                        yield row_of(line.session, line.fields, now)
            told = {session_id: written for session_id, written in told.items() if written > now - 60}
            await asyncio.sleep(WATCHED_SECONDS)

    async def _action(
        self,
        named: Script,
        scope: Scope,
        session: SessionRef,
        action: str,
        told: str,
        args: Sequence[Any],
        version: int | None = None,
    ) -> None:
        await self._owned(scope, session)
        names = ("session", "claims", "events", "compactions", "used", "retired")
        keys = session_keys(session, *(names[:3] if named is STEER else names))
        event = self._event(scope, action, told, version)
        done = await self._store.run(named, keys, [written_event(event), *args], PATIENCE_SECONDS)
        if done == NO_SESSION:
            raise NotThere(UNKNOWN)
        if done == NOT_FOUND:
            raise await self._lacking(scope, session, version)
        if done == FULL:
            raise Refused(f"There are {MOST_PINS} pins already; unpin one first")
        if named is not STEER:
            await note_voided(self._store, session, PATIENCE_SECONDS)
        if action in ("compact", "rebuild"):
            [left] = await self._store.send(("PTTL", keys[0]), seconds=PATIENCE_SECONDS)
            # Forgotten meanwhile, it wants nothing.
            if left > 0:
                await self._store.send(*wishing(session, left / 1000), seconds=PATIENCE_SECONDS)
        await self._store.listed(session)
        log.info("%s: session=%s by=%s", action, session.session_id, _shown(scope.actor))

    async def _lacking(self, scope: Scope, session: SessionRef, version: int | None) -> NotThere:
        """What to say of a version or (without one) a pin that a session does not have."""
        found = await self.detail(scope, session)
        pins = len(found.steering.pins)
        return PartNotThere.pin(pins) if version is None else PartNotThere.version(version, found.versions)

    async def _owned(self, scope: Scope, session: SessionRef) -> Mapping[str, Any]:
        return await owned(self._store, scope, session, PATIENCE_SECONDS)

    def _event(self, scope: Scope, action: str, told: str, version: int | None = None) -> CompactionEvent:
        by = _shown(scope.actor)
        return CompactionEvent("audit", self._clock(), action, told, version=version, by=by)

    async def _tenants(self, scope: Scope) -> list[str]:
        """Tenants with sessions that may be in scope: the latest first; nobody else's are asked for."""
        keys = [TENANTS] if scope.everything else _owner_keys(scope)
        asked = [("ZREVRANGE", key, 0, -1) for key in keys]
        answers = await self._store.send(*asked, seconds=PATIENCE_SECONDS) if asked else []
        return list(dict.fromkeys(name.decode("utf-8", "replace") for answer in answers for name in answer))

    async def _active(self, scope: Scope, since: int) -> list[str]:
        """Those of them in which something was done since: each end user of a team may be a tenant."""
        asked = ("ZREVRANGEBYSCORE", TENANTS, "+inf", since)
        [names] = await self._store.send(asked, seconds=PATIENCE_SECONDS)
        if not scope.everything and names:
            # A deed does not touch the owners' lists: they say whose a tenant is, not when.
            members = [("ZMSCORE", key, *names) for key in _owner_keys(scope)]
            found = await self._store.send(*members, seconds=PATIENCE_SECONDS) if members else []
            names = [name for name, *at in zip(names, *found, strict=True) if any(at)]
        return [name.decode("utf-8", "replace") for name in names]

    async def _now(self) -> float:
        [(second, micros)] = await self._store.send(("TIME",), seconds=PATIENCE_SECONDS)
        return int(second) + int(micros) / 1e6

    async def _there(self, page: Sequence[Line]) -> list[Line]:
        """Those that still exist; what Redis evicted leaves the list."""
        if not page:
            return []
        asked = [("EXISTS", *session_keys(line.session, "session")) for line in page]
        there = await self._store.send(*asked, seconds=PATIENCE_SECONDS)
        gone = [unlisting(line.session) for line, exists in zip(page, there, strict=True) if not exists]
        if gone:
            await self._store.send(*gone, seconds=PATIENCE_SECONDS)
        return [line for line, exists in zip(page, there, strict=True) if exists]


def _owner_keys(scope: Scope) -> list[str]:
    """Where the tenants of those stand for whom somebody may see sessions."""
    named = [("team", team) for team in sorted(scope.teams)]
    named += [("user", scope.user_id)] if scope.user_id else []
    named += [("key", scope.key_hash)] if scope.key_hash else []
    return [owner_key(kind, name) for kind, name in named]


def _one_line(text: str) -> str:
    """A fact as it is pinned: no control characters, no line breaks, one blank where there were several."""
    plain = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(plain.encode("utf-8", "ignore").decode().split())


def _shown(actor: str) -> str:
    return short_text(_one_line(actor)).decode() or "unknown"
