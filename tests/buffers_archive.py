"""An ``Archive`` in memory for the command line's tests, with sessions that strangers wrote into."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from gateway_compaction.archive import (
    Archive,
    CallSnapshot,
    Hour,
    Owner,
    Query,
    Scope,
    SessionControls,
    SessionDetail,
    SessionPage,
    SessionRow,
)
from gateway_compaction.cli.buffers.reach import Opener, Source
from gateway_compaction.core.records.client_state import ClientState
from gateway_compaction.core.records.compaction import Compaction, Segment, SessionRef
from gateway_compaction.core.records.event import CompactionEvent
from gateway_compaction.core.records.restore_point import RestorePoint
from gateway_compaction.core.records.snapshots import SnapshotLine, describe_snapshot
from gateway_compaction.errors import ActionRefused, NotFound, PartNotFound
from tests.store_contract import digest

__all__ = ["FIRST", "HOSTILE", "SECOND", "FakeArchive", "opener", "sessions"]

FIRST = SessionRef(digest("research"), "aa11" + digest("one")[4:])
SECOND = SessionRef(digest("support"), "aa22" + digest("two")[4:])
# Retitles the window, clears the screen, turns the text round, and says what Rich would paint red.
HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202egnp.exe\u2066 [red]bold[/red] \x9b31m \u2028 \x08\r\n"


TAKEN = RestorePoint(
    FIRST.session_id, 1_764_266_400.0, "before rebuild", ClientState(plan=f"Reports{HOSTILE}"), messages=12
)


def version(number: int, parent: int | None, *segments: Segment) -> Compaction:
    """A model's summary."""
    return Compaction(
        digest=digest(f"version {number}"),
        covers=segments[-1].end,
        kind="model",
        segments=segments,
        parent=None if parent is None else digest(f"version {parent}"),
        version=number,
        model="small",
        tokens_before=9_000 * number,
        tokens_after=900 * number,
        cost=0.0012,
        created_at=time.time() - 600,
    )


def sessions() -> list[SessionDetail]:
    """Two: one long and well, one hostile without a summary."""
    now = time.time()
    kept = Segment(0, 8, "Ana wants the March figures by region.")
    old = version(1, None, kept, Segment(8, 12, "The north is missing.\nShe waits for Ben."))
    new = version(2, 1, kept, Segment(8, 20, "The north has come.\nShe waits for Ben.\nThe south is late."))
    row = SessionRow(
        FIRST,
        Owner(team_id="7c1f", team="research", user_id="ana", key_hash=digest("key"), key_alias="notebook"),
        labels=("ticket-4711", "run 5"),
        model="gpt-4o",
        policy="defaults",
        level="medium",
        outcome="applied",
        state="summarizing",
        created=now - 7200,
        seen=now - 90 * 60,
        calls=12,
        tokens_before=91_408,
        tokens_after=33_120,
        window=128_000,
        covers=20,
        saved=250_000,
        versions=2,
        endpoint="messages",
    )
    decided = CompactionEvent(
        "request", now - 60, "applied", "usage", "medium", "gpt-4o", tokens_before=91_408
    )
    call = CallSnapshot(
        now - 60,
        sent=(("system", 100, "preamble"), *[("user", 10, "covered")] * 20, ("user", 30, "verbatim")),
        saw=(("system", 100, "preamble"), ("user", 900, "summary"), ("user", 30, "verbatim")),
        client=({"role": "system", "content": "Be brief."}, {"role": "user", "content": HOSTILE}),
        model=({"role": "user", "content": [{"type": "text", "text": "What of the south?"}]},),
        window=128_000,
        covers=20,
        version=2,
        endpoint="messages",
    )
    first = SessionDetail(
        row,
        compactions=(new, old),
        claims=((digest("third"), now + 30),),
        events=(
            decided,
            replace(decided, at=now - 90, outcome="prepared", level="light"),
            CompactionEvent("audit", now - 95, "pinned", "asked for", by="team admin, key notebook"),
        ),
        steering=SessionControls("g1", ("Amounts are in euro.",)),
        backoff=(now + 300, "two summaries did not help"),
        last_call=call,
        ttl=600_000,
    )
    other = SessionRow(
        SECOND,
        Owner(team_id="99", team=HOSTILE),
        labels=(HOSTILE, "x" * 1_000_000),
        state="failed",
        reason=HOSTILE,
        seen=now - 9000,
        calls=1,
    )
    return [first, SessionDetail(other)]


class FakeArchive:
    """See ``Archive``; ``done`` lists the deeds and who did them, every call raises ``failure``."""

    def __init__(self, *details: SessionDetail, page: int = 200) -> None:
        self.details = {one.row.session: one for one in details or sessions()}
        self.done: list[tuple[Any, ...]] = []
        self.failure: Exception | None = None
        self.changes: list[SessionRow] = [one.row for one in self.details.values()]
        self._page = page

    def add(self, row: SessionRow) -> None:
        """One more session."""
        self.details[row.session] = SessionDetail(row)

    async def overview(self, scope: Scope, hours: int) -> Sequence[Hour]:
        return []

    async def sessions(self, scope: Scope, query: Query) -> SessionPage:
        self._fail()
        found = [one.row for one in self.details.values() if _fits(one.row, query)]
        found.sort(key=lambda row: getattr(row, query.sort), reverse=not query.ascending)
        begin, size = int(query.cursor or 0), min(query.limit, self._page)
        end = begin + size
        return SessionPage(tuple(found[begin:end]), str(end) if end < len(found) else None, len(found))

    async def detail(self, scope: Scope, session: SessionRef) -> SessionDetail:
        self._fail()
        if session not in self.details:
            raise NotFound("There is no such session")
        return self.details[session]

    async def snapshots(self, scope: Scope, session: SessionRef) -> Sequence[SnapshotLine]:
        await self.detail(scope, session)
        return (describe_snapshot(TAKEN),)

    async def snapshot(self, scope: Scope, session: SessionRef, name: str) -> RestorePoint:
        await self.detail(scope, session)
        if name != TAKEN.name:
            raise PartNotFound("There is no such snapshot")
        return TAKEN

    async def transcript(self, scope: Scope, session: SessionRef) -> Sequence[Mapping[str, Any]]:
        await self.detail(scope, session)
        return ({"role": "user", "content": HOSTILE},)

    async def compact(self, scope: Scope, session: SessionRef) -> None:
        await self._do(scope, session, "compact")

    async def rebuild(self, scope: Scope, session: SessionRef) -> None:
        await self._do(scope, session, "rebuild")

    async def rollback(self, scope: Scope, session: SessionRef, version: int) -> None:
        await self._do(scope, session, "rollback", version)

    async def pin(self, scope: Scope, session: SessionRef, text: str) -> None:
        if len(text) > 400:
            raise ActionRefused("A pin has at most 400 characters")
        await self._do(scope, session, "pin", text)

    async def unpin(self, scope: Scope, session: SessionRef, text: str) -> None:
        if text not in (await self.detail(scope, session)).steering.pins:
            raise NotFound("There is no such pin")
        await self._do(scope, session, "unpin", text)

    async def set_rate(
        self, scope: Scope, session: SessionRef, rate: float | None, *, for_key: bool = False
    ) -> None:
        await self._do(scope, session, "rate", (rate, "key") if for_key else rate)

    async def reset(self, scope: Scope, session: SessionRef) -> None:
        await self._do(scope, session, "reset")

    async def forget(self, scope: Scope, session: SessionRef) -> int:
        await self._do(scope, session, "forget")
        del self.details[session]
        return 5

    async def forget_tenant(self, scope: Scope, tenant: str) -> int:
        gone = [ref for ref in self.details if ref.tenant == tenant]
        for ref in gone:
            await self.forget(scope, ref)
        return len(gone)

    async def export(self, scope: Scope, session: SessionRef) -> Mapping[str, Any]:
        detail = await self.detail(scope, session)
        return {"schema": 1, "key": session.key, "tenant": session.tenant, "labels": list(detail.row.labels)}

    async def load(self, scope: Scope, document: Mapping[str, Any]) -> SessionRef:
        ref = SessionRef(document["tenant"], document["key"])
        if ref in self.details:
            raise ActionRefused("A session of this name is there already")
        self.details[ref] = SessionDetail(SessionRow(ref, Owner(), labels=tuple(document["labels"])))
        self.done.append(("load", ref, scope.actor))
        return ref

    async def watch(self, scope: Scope) -> AsyncIterator[SessionRow]:
        self._fail()
        for row in self.changes:
            yield row

    async def _do(self, scope: Scope, session: SessionRef, *action: Any) -> None:
        await self.detail(scope, session)
        self.done.append((*action, session, scope.actor))

    def _fail(self) -> None:
        if self.failure is not None:
            raise self.failure


def opener(archive: Archive, opened: list[Source] | None = None) -> Opener:
    """What opens ``archive`` whatever is asked for, and notes what was."""

    @asynccontextmanager
    async def open_it(source: Source) -> AsyncIterator[Archive]:
        if opened is not None:
            opened.append(source)
        yield archive

    return open_it


def _fits(row: SessionRow, query: Query) -> bool:
    named = (row.session.session_id, row.owner.team or "", row.owner.key_alias or "", *row.labels)
    return (
        query.team in (None, row.owner.team, row.owner.team_id)
        and query.model in (None, row.model)
        and query.level in (None, row.level)
        and query.state in (None, row.state)
        and (query.text is None or any(query.text in name for name in named))
        and (query.since is None or row.seen >= query.since)
    )
