"""An archive in memory: the contract without a store, for tests of what stands before it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gateway_compaction.archive import Hour, Owner, Query, Scope, SessionDetail, SessionPage, SessionRow
from gateway_compaction.core.records.client_state import ClientState
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.core.records.restore_point import RestorePoint
from gateway_compaction.core.records.snapshots import SnapshotLine, describe_snapshot
from gateway_compaction.errors import ActionRefused, NotFound, PartNotFound, StoreError

__all__ = ["MemoryArchive", "MemorySignIns"]


@dataclass(slots=True)
class MemorySignIns:
    """An ``archive.SignInStore`` in this process; what it holds is to be looked at, and nothing ever ends."""

    kept: dict[str, str] = field(default_factory=dict)
    attempts: dict[str, int] = field(default_factory=dict)
    down: bool = False

    async def keep(self, name: str, sealed: str, seconds: float) -> None:
        assert 0 < seconds <= 8 * 3600
        self.kept[name] = sealed

    async def find(self, name: str) -> str | None:
        if self.down:
            raise StoreError("down")
        return self.kept.get(name)

    async def remove(self, name: str) -> None:
        self.kept.pop(name, None)

    async def count_attempt(self, source: str, change: int) -> int:
        self.attempts[source] = self.attempts.get(source, 0) + change
        return self.attempts[source]


@dataclass(slots=True)
class MemoryArchive:
    """Sessions by id. ``actions`` says what was done, ``scopes`` whose lists were asked for.

    ``down`` makes every call fail as a store does; with ``hangs`` lists never come.
    """

    known: dict[str, SessionDetail] = field(default_factory=dict)
    hours: list[Hour] = field(default_factory=list)
    actions: list[tuple[str, str, str]] = field(default_factory=list)
    scopes: list[Scope] = field(default_factory=list)
    loading: list[Scope] = field(default_factory=list)
    refused: ActionRefused | None = None
    rows: asyncio.Queue[SessionRow] = field(default_factory=asyncio.Queue)
    points: dict[str, list[RestorePoint]] = field(default_factory=dict)
    transcripts: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    down: bool = False
    hangs: bool = False
    goes_down_watching: bool = False

    def add(self, detail: SessionDetail) -> str:
        """Keep a session; its id."""
        session_id = detail.row.session.session_id
        self.known[session_id] = detail
        return session_id

    async def overview(self, scope: Scope, hours: int) -> Sequence[Hour]:
        self._up()
        return [h for h in self.hours if scope.allows(h.owner)]

    async def sessions(self, scope: Scope, query: Query) -> SessionPage:
        self._up()
        self.scopes.append(scope)
        if self.hangs:
            await asyncio.Event().wait()
        rows = [d.row for d in self.known.values() if scope.allows(d.row.owner) and _matches(d.row, query)]
        rows.sort(key=lambda r: (r.seen, r.session.session_id), reverse=not query.ascending)
        try:
            start = int(query.cursor or 0)
        except ValueError:
            raise ActionRefused("this cursor is none of ours") from None
        page = tuple(rows[start : start + query.limit])
        end = start + len(page)
        return SessionPage(page, str(end) if end < len(rows) else None, len(rows))

    async def detail(self, scope: Scope, session: SessionRef) -> SessionDetail:
        return self._found(scope, session)

    async def snapshots(self, scope: Scope, session: SessionRef) -> Sequence[SnapshotLine]:
        self._found(scope, session)
        return tuple(map(describe_snapshot, self._points(session)))

    async def snapshot(self, scope: Scope, session: SessionRef, name: str) -> RestorePoint:
        self._found(scope, session)
        found = [p for p in self._points(session) if p.name == name]
        if not found:
            raise PartNotFound("no such snapshot")
        return found[0]

    def _points(self, session: SessionRef) -> list[RestorePoint]:
        """The snapshots of a session; where a test says nothing, one."""
        state = ClientState(plan="the first plan")
        usual = [RestorePoint(session.session_id, 1.0, "before rebuild", state, messages=7)]
        return self.points.get(session.session_id, usual)

    async def transcript(self, scope: Scope, session: SessionRef) -> Sequence[Mapping[str, Any]]:
        self._found(scope, session)
        usual = [{"role": "user", "content": "all of it"}, {"role": "assistant", "content": "\u2028"}]
        return self.transcripts.get(session.session_id, usual)

    async def compact(self, scope: Scope, session: SessionRef) -> None:
        self._do("compact", scope, session)

    async def rebuild(self, scope: Scope, session: SessionRef) -> None:
        self._do("rebuild", scope, session)

    async def rollback(self, scope: Scope, session: SessionRef, version: int) -> None:
        detail = self._found(scope, session)
        if version and version not in {c.version for c in (*detail.compactions, *detail.retired)}:
            raise PartNotFound.version(version, detail.versions)
        self._do("rollback", scope, session)

    async def pin(self, scope: Scope, session: SessionRef, text: str) -> None:
        detail = self._do("pin", scope, session)
        if len(detail.steering.pins) >= 20:
            raise ActionRefused("there are 20 pins already; take one back first")
        controls = replace(detail.steering, pins=(*detail.steering.pins, text))
        self.add(replace(detail, steering=controls))

    async def unpin(self, scope: Scope, session: SessionRef, text: str) -> None:
        detail = self._found(scope, session)
        if text not in detail.steering.pins:
            raise PartNotFound.pin(len(detail.steering.pins))
        self._do("unpin", scope, session)

    async def set_rate(
        self, scope: Scope, session: SessionRef, rate: float | None, *, for_key: bool = False
    ) -> None:
        detail = self._do("rate", scope, session)
        if for_key:
            self.add(replace(detail, key_rate=rate, steering=replace(detail.steering, rate=None)))
            return
        self.add(replace(detail, steering=replace(detail.steering, rate=rate)))

    async def reset(self, scope: Scope, session: SessionRef) -> None:
        self._do("reset", scope, session)

    async def forget(self, scope: Scope, session: SessionRef) -> int:
        self._do("forget", scope, session)
        del self.known[session.session_id]
        return 3

    async def forget_tenant(self, scope: Scope, tenant: str) -> int:
        self._up()
        found = [d for d in self.known.values() if d.row.session.tenant == tenant]
        if not found or not all(scope.allows(d.row.owner) for d in found):
            raise NotFound(tenant)
        for detail in found:
            await self.forget(scope, detail.row.session)
        return len(found)

    async def export(self, scope: Scope, session: SessionRef) -> Mapping[str, Any]:
        detail = self._found(scope, session)
        return {"v": 1, "id": session.session_id, "team": detail.row.owner.team_id}

    async def load(self, scope: Scope, document: Mapping[str, Any]) -> SessionRef:
        self._up()
        self.loading.append(scope)
        if self.refused is not None:
            raise self.refused
        if document.get("v") != 1:
            raise ActionRefused("not an exported session of this version")
        tenant, _, key = str(document.get("id")).partition(".")
        owner = Owner(team_id=document.get("team"))
        if not scope.allows(owner):
            raise NotFound("not in scope")
        if f"{tenant}.{key}" in self.known:
            raise ActionRefused("it is there already; forget it first")
        self.add(SessionDetail(SessionRow(SessionRef(tenant, key), owner)))
        return SessionRef(tenant, key)

    async def watch(self, scope: Scope) -> AsyncIterator[SessionRow]:
        self.down = self.goes_down_watching
        while True:
            self._up()
            row = await self.rows.get()
            self._up()
            if scope.allows(row.owner):
                yield row

    def _up(self) -> None:
        if self.down:
            raise StoreError("redis://10.0.0.7:6379 refused the connection")

    def _found(self, scope: Scope, session: SessionRef) -> SessionDetail:
        self._up()
        detail = self.known.get(session.session_id)
        if detail is None or not scope.allows(detail.row.owner):
            raise NotFound(
                f"{session.session_id} {'is not there' if detail is None else 'is another team’s'}"
            )
        return detail

    def _do(self, action: str, scope: Scope, session: SessionRef) -> SessionDetail:
        detail = self._found(scope, session)
        self.actions.append((action, session.session_id, scope.actor))
        return detail


def _matches(row: SessionRow, query: Query) -> bool:
    text = " ".join([row.session.session_id, *row.labels, row.owner.team or "", row.owner.key_alias or ""])
    return (
        query.team in (None, row.owner.team_id, row.owner.team)
        and query.model in (None, row.model)
        and query.level in (None, row.level)
        and query.state in (None, row.state)
        and (query.text or "") in text
        and row.seen >= (query.since or 0)
    )
