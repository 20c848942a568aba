"""The contract of what operators can see of sessions and do to them.

The request path has ``ports.Store``; this is the other side of the same store. Everything here is for people:
the API, the page and the command line say nothing that is not one of these values.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from gateway_compaction.core.records.call_snapshot import CallSnapshot
from gateway_compaction.core.records.client_state import ClientState
from gateway_compaction.core.records.compaction import Compaction, SessionRef
from gateway_compaction.core.records.controls import SessionControls
from gateway_compaction.core.records.event import CompactionEvent
from gateway_compaction.core.records.restore_point import RestorePoint
from gateway_compaction.core.records.snapshots import SnapshotLine
from gateway_compaction.core.summary.restore import make_restore_point

__all__ = [
    "Archive",
    "CallSnapshot",
    "Hour",
    "Owner",
    "Query",
    "Scope",
    "SessionControls",
    "SessionDetail",
    "SessionPage",
    "SessionRow",
    "SignInStore",
    "Sort",
    "State",
]

State = Literal["idle", "summarizing", "failed"]
Sort = Literal["seen", "created", "saved", "tokens", "calls"]

LARGEST_DOCUMENT = 32_000_000
"""Bytes of an exported session as JSON, so that one import cannot fill the memory."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of a session, as LiteLLM authenticated it: ids and aliases, the key by its hash only."""

    team_id: str | None = None
    team: str | None = None
    user_id: str | None = None
    key_hash: str | None = None
    key_alias: str | None = None
    end_user: str | None = None

    @property
    def kind(self) -> Literal["team", "user", "key", "nobody"]:
        """The kind of owner that people know it by: its team, else the user, else the key."""
        if self.team or self.team_id:
            return "team"
        if self.user_id:
            return "user"
        return "key" if self.key_alias or self.key_hash else "nobody"

    @property
    def name(self) -> str:
        """Its name among those of its kind; a key without an alias by the beginning of its hash."""
        known = self.team or self.team_id or self.user_id or self.key_alias
        return known or (f"#{self.key_hash[:8]}" if self.key_hash else "no known owner")

    @property
    def named(self) -> str:
        """Kind and name, for people: ``team red``, ``user ann``, ``key helpdesk`` or ``key #1a2b3c4d``."""
        return self.name if self.kind == "nobody" else f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class Scope:
    """The part of all sessions that somebody may see and change.

    Attributes:
        everything: a proxy admin's.
        teams: ids of teams whose sessions are all in it.
        user_id: sessions of this user outside of teams.
        key_hash: sessions made with this key.
        actor: who it is, for the audit events: never a key, only its hash or alias.
        home: the tenant that their own calls belong to, and whose those are, as authenticated.
    """

    everything: bool = False
    teams: frozenset[str] = frozenset()
    user_id: str | None = None
    key_hash: str | None = None
    actor: str = ""
    home: tuple[str, Owner] | None = None

    def allows(self, owner: Owner) -> bool:
        """Tell whether a session of ``owner`` is in it; one without an owner is for proxy admins only."""
        if self.everything:
            return True
        if owner.team_id is not None and owner.team_id in self.teams:
            return True
        if owner.key_hash is not None and owner.key_hash == self.key_hash:
            return True
        return owner.team_id is None and owner.user_id is not None and owner.user_id == self.user_id


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One line of the session list. Times in seconds since 1970, by the store's clock.

    Attributes:
        labels: ids that clients sent, newest first: text written by strangers.
        endpoint: where the latest of these calls came in: ``chat``, ``messages`` or ``responses``.
        level, outcome, tokens_before, tokens_after, window, covers: of the latest call that is counted.
        calls: those near their window, as ``requests`` of ``Hour``: smaller ones pass without being recorded.
        saved: tokens not sent, over all these calls: an estimate, as in ``Hour``; ``would_save`` the same for
            calls in ``observe``.
        versions: number of the latest compaction, 0 where there is none.
        reason: why the state is ``failed``, or why the session is bypassed or backs off.
    """

    session: SessionRef
    owner: Owner
    labels: tuple[str, ...] = ()
    model: str | None = None
    policy: str | None = None
    level: str | None = None
    outcome: str | None = None
    state: State = "idle"
    reason: str | None = None
    created: float = 0.0
    seen: float = 0.0
    calls: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    window: int | None = None
    covers: int = 0
    saved: int = 0
    would_save: int = 0
    versions: int = 0
    endpoint: str | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """A search for sessions; every given field must hold. ``text`` is found in ids, labels and aliases."""

    team: str | None = None
    model: str | None = None
    level: str | None = None
    state: State | None = None
    text: str | None = None
    since: float | None = None
    until: float | None = None
    sort: Sort = "seen"
    ascending: bool = False
    cursor: str | None = None
    limit: int = 50

    @property
    def has_filters(self) -> bool:
        """True where some sessions may be left out: everything but order and place is a filter."""
        return self != Query(sort=self.sort, ascending=self.ascending, cursor=self.cursor, limit=self.limit)


@dataclass(frozen=True, slots=True)
class SessionPage:
    """Some rows; ``cursor`` asks for the next ones, None at the end. ``total`` counts all that match."""

    rows: tuple[SessionRow, ...]
    cursor: str | None
    total: int


@dataclass(frozen=True, slots=True)
class SessionDetail:
    """All that is kept of one session.

    Attributes:
        compactions: those in use, newest version first; ``retired`` were taken back and can be rolled
            back to again.
        claims: digest and deadline (seconds since 1970) of summaries being made.
        events: newest first; audit events among them (``type`` is ``audit``).
        bypass, backoff: until when and why, None where it is not so.
        ttl: seconds left to live.
        client_state: what the client told of its work; None where it told nothing.
        key_rate: the rate that was set for all sessions of its key; None where none was.
    """

    row: SessionRow
    compactions: tuple[Compaction, ...] = ()
    retired: tuple[Compaction, ...] = ()
    claims: tuple[tuple[str, float], ...] = ()
    events: tuple[CompactionEvent, ...] = ()
    steering: SessionControls = field(default_factory=SessionControls)
    bypass: tuple[float, str] | None = None
    backoff: tuple[float, str] | None = None
    last_call: CallSnapshot | None = None
    ttl: float = 0.0
    client_state: ClientState | None = None
    key_rate: float | None = None

    @property
    def versions(self) -> tuple[int, ...]:
        """The numbers of all versions: those in use, then those taken back."""
        return tuple(one.version for one in (*self.compactions, *self.retired))

    @property
    def summary(self) -> Compaction | None:
        """The version whose texts are the summary: the last call's, else of those in use the longest."""
        number = self.last_call.version if self.last_call else None
        written = (c for c in self.compactions if c.segments)
        return max(written, key=lambda c: (c.version == number, c.covers, c.version), default=None)

    def make_restore_point(self) -> RestorePoint:
        """Make the point at which the session can be taken up now; to be called off the loop."""
        row, call = self.row, self.last_call
        at = max(row.seen, call.at if call is not None else 0.0)
        return make_restore_point(
            row.session.session_id, at, self.compactions, call, self.client_state, self.steering.pins
        )


@dataclass(frozen=True, slots=True)
class Hour:
    """Counts of one owner's calls with one model in one hour (``start``: seconds since 1970).

    ``requests`` are those near their window: from the level ``light`` on, and smaller ones where a trigger of
    the policy fires, somebody asked to compact or rebuild, or it notes all. All others are not recorded.
    ``cost`` is what summaries cost, in dollars. ``saved`` and ``would_save`` are tokens: the history as it
    came less all that was sent. Of these, ``…_cached`` would have been read from the provider's prompt cache
    and ``…_written`` written to it, where the provider reports of one. All six are estimates, and may be
    negative.
    """

    start: int
    owner: Owner
    model: str
    requests: int = 0
    rewritten: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    saved: int = 0
    would_save: int = 0
    breaks: int = 0
    summaries: int = 0
    failures: int = 0
    cost: float = 0.0
    saved_cached: int = 0
    saved_written: int = 0
    would_save_cached: int = 0
    would_save_written: int = 0


class Archive(Protocol):
    """The store, as operators use it.

    Nothing outside ``scope`` is seen, counted or changed: a session out of scope is as one that does not
    exist. Raises ``StoreError`` when the store does not answer, ``NotFound`` for what is not there (or is
    not in scope) and ``ActionRefused`` for what cannot be done, with the reason. Actions are atomic, bump the
    generation and leave an audit event that names ``scope.actor``. Before each, but for the erasing ones, a
    snapshot is kept.
    """

    async def overview(self, scope: Scope, hours: int) -> Sequence[Hour]:
        """Return counts of the last ``hours``, by hour, owner and model."""
        ...

    async def sessions(self, scope: Scope, query: Query) -> SessionPage:
        """Return a page of the session list, without blocking the store or the loop."""
        ...

    async def detail(self, scope: Scope, session: SessionRef) -> SessionDetail:
        """Return everything of one session."""
        ...

    async def snapshots(self, scope: Scope, session: SessionRef) -> Sequence[SnapshotLine]:
        """Return the snapshots of a session, the newest first."""
        ...

    async def snapshot(self, scope: Scope, session: SessionRef, name: str) -> RestorePoint:
        """Return a snapshot, by its name."""
        ...

    async def transcript(self, scope: Scope, session: SessionRef) -> Sequence[Mapping[str, Any]]:
        """Return all messages of a conversation that the gateway keeps, masked, as its endpoint has them."""
        ...

    async def compact(self, scope: Scope, session: SessionRef) -> None:
        """Compact from the next call on, below every level too, if that makes it smaller (until a reset)."""
        ...

    async def rebuild(self, scope: Scope, session: SessionRef) -> None:
        """Retire every version; the next call brings the source for a new one."""
        ...

    async def rollback(self, scope: Scope, session: SessionRef, version: int) -> None:
        """Use ``version`` again: newer ones are retired, summaries in flight are void. 0 retires all."""
        ...

    async def pin(self, scope: Scope, session: SessionRef, text: str) -> None:
        """Let ``text`` stand in every summary block of the session (at most 20, of 400 characters)."""
        ...

    async def unpin(self, scope: Scope, session: SessionRef, text: str) -> None:
        """Take a pin back."""
        ...

    async def set_rate(
        self, scope: Scope, session: SessionRef, rate: float | None, *, for_key: bool = False
    ) -> None:
        """Let the next summaries have this rate (0.1 to 0.5) in place of the policy's; None gives it back.

        Args:
            for_key: it holds for all sessions of this one's key but those that have a rate of their own,
                which this one has no more. Refused where it is not known whose key alone the session is.
        """
        ...

    async def reset(self, scope: Scope, session: SessionRef) -> None:
        """Forget compactions, pins, pauses and requests; events and labels stay."""
        ...

    async def forget(self, scope: Scope, session: SessionRef) -> int:
        """Erase a session, from indexes and process caches too; return the number of keys that went."""
        ...

    async def forget_tenant(self, scope: Scope, tenant: str) -> int:
        """Erase all sessions of a tenant; return the number of sessions that went."""
        ...

    async def export(self, scope: Scope, session: SessionRef) -> Mapping[str, Any]:
        """Return a session as JSON types, with a schema version; ``load`` of it gives the same bytes."""
        ...

    async def load(self, scope: Scope, document: Mapping[str, Any]) -> SessionRef:
        """Store an exported session under the same name; refused where one is there already.

        The owner must be in scope. Unless the scope is everything, it is never the document's word: it is the
        tenant's as this store knows it, or, where nothing is left of that tenant, ``scope.home``'s. Of an
        admin's team it is the key that the document names, if that is known to call there, else none.
        """
        ...

    def watch(self, scope: Scope) -> AsyncIterator[SessionRow]:
        """Yield rows of sessions as they change, from now on, until the caller stops asking."""
        ...


class SignInStore(Protocol):
    """The part of the store that holds who is signed in to the page, for all replicas alike.

    It keeps sealed texts by name and can open none of them. Each method raises ``StoreError`` when the store
    does not answer.
    """

    async def keep(self, name: str, sealed: str, seconds: float) -> None:
        """Keep a sealed text for so long. The number of them is bounded: the oldest one gives way."""
        ...

    async def find(self, name: str) -> str | None:
        """Return a sealed text; None where there is none, or its time is over."""
        ...

    async def remove(self, name: str) -> None:
        """Remove a sealed text now."""
        ...

    async def count_attempt(self, source: str, change: int) -> int:
        """Add to the attempts of a source in the present minute, and return what they come to.

        Where more sources than can be counted tried within that minute, those of a new one come to more than
        any limit allows.
        """
        ...
