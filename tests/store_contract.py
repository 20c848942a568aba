"""What the store's tests share: sessions, records and events to store, and a look at what is stored."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import Any

from gateway_compaction.adapters.redis.archive import RedisArchive
from gateway_compaction.adapters.redis.store import RedisStore
from gateway_compaction.adapters.redis_conversations import RedisConversations
from gateway_compaction.archive import Query, Scope
from gateway_compaction.core.records.call_snapshot import CallSnapshot
from gateway_compaction.core.records.client_state import ClientState
from gateway_compaction.core.records.compaction import Compaction, Kind, Segment, SessionRef
from gateway_compaction.core.records.controls import SessionControls
from gateway_compaction.core.records.event import CompactionEvent
from gateway_compaction.core.records.exchange import Exchange
from gateway_compaction.core.records.restore_point import RestoredBlock, RestorePoint
from gateway_compaction.core.records.snapshots import SnapshotBounds
from gateway_compaction.core.tokens.windows import LearnedWindow
from gateway_compaction.ports import Addition, Buffer, CallRecord

__all__ = [
    "TTL",
    "digest",
    "event",
    "everything_an_operator_does",
    "fill",
    "knows_nothing",
    "raw",
    "record",
    "session",
    "stored",
]

TTL = 3600.0


def digest(name: object) -> str:
    """A digest as the core makes them: 32 hex digits."""
    return sha256(str(name).encode()).hexdigest()[:32]


def session(name: str = "chat", tenant: str = "team") -> SessionRef:
    """A session whose parts are hashes."""
    return SessionRef(tenant=digest(tenant)[:16], key=digest(name))


def record(
    name: object, kind: Kind = "model", *, parent: object = None, text: str = "what was said"
) -> Compaction:
    """A compaction with every field filled in."""
    return Compaction(
        digest=digest(name),
        covers=4,
        kind=kind,
        segments=(Segment(0, 4, text),),
        parent=None if parent is None else digest(parent),
        model="small",
        tokens_before=900,
        tokens_after=90,
        cost=0.000123456789,
        created_at=1_700_000_000.123456,
    )


def event(reason: str = "usage") -> CompactionEvent:
    """A decision about one request."""
    return CompactionEvent(type="request", at=1.0, outcome="applied", reason=reason, level="medium")


def stored(compaction: Compaction, version: int) -> Compaction:
    """The record as it is read back."""
    return replace(compaction, version=version)


def knows_nothing(buffer: Buffer) -> bool:
    """Whether the store has nothing of a session; it names the moment it was asked in."""
    return (
        buffer.controls.generation.startswith("+") and replace(buffer, controls=SessionControls()) == Buffer()
    )


def raw(store: RedisStore) -> Any:
    """The client below a store, for looking at what only operators see; its annotations are incomplete."""
    return store.connection._client


async def fill(store: RedisStore) -> None:
    """Use everything that writes."""
    token = await store.claim(session(), digest("a"), [digest("b")], 60)
    await store.renew(session(), digest("a"), token, 60)
    await store.put(session(), record("a"), token=token, ttl=TTL, limit=9)
    await store.claim(session(), digest("c"), [], 60)
    await store.bypass(session(), "400", 60)
    await store.backoff(session(), "unused", 60)
    labels = ["ana@example.com", "tkt-ID 7", "ana@example.com", ""]
    about = {"team_id": "7c1f", "team": "Ärzte & Co", "user_id": "ana@example.com", "key_hash": digest("key")}
    last = CallSnapshot(1.0, (("user", 3, "verbatim"),), (("user", 3, "verbatim"),))
    await store.append(
        session(),
        event(),
        ttl=TTL,
        call=CallRecord(
            used=digest("a"),
            labels=labels,
            about=about,
            view=digest("a"),
            snapshot=last,
            client_state=ClientState(task="what the client told"),
            snapshots=SnapshotBounds(3, TTL),
        ),
    )
    point = RestorePoint(
        session().session_id, await now(store), "a reason", ClientState(plan="what was told")
    )
    await store.keep_snapshot(session(), point, SnapshotBounds(3, TTL))
    conversations = RedisConversations(store.connection)
    await conversations.open(session(), token="t", seconds=60, begin=TTL)
    message = {"role": "user", "content": "what is kept"}
    addition = Addition(Exchange(0, 0, (message,), brought=1), "chat", version=0)
    await conversations.append(session(), addition, token="t", ttl=TTL)
    await conversations.open(session(), token="t", seconds=60)
    block = RestoredBlock(session().session_id, "a conversation", "told")
    await store.keep_restored(session().tenant, [digest("r")], block, TTL)
    await store.save_factor("gpt", 1.1)
    await store.save_window("a deployment", LearnedWindow(told=3_000, at=(await now(store),)))
    await store.add_policy_problem("team metadata of Legal: mode", 3)


async def now(store: RedisStore) -> float:
    """The second of the server's clock."""
    return float((await raw(store).time())[0])


async def everything_an_operator_does(archive: RedisArchive) -> None:
    """Each of it once."""
    scope, where = Scope(everything=True, actor="somebody"), session()
    await archive.overview(scope, 2)
    await archive.sessions(scope, Query())
    await archive.detail(scope, where)
    [line] = await archive.snapshots(scope, where)
    await archive.snapshot(scope, where, line.name)
    await archive.compact(scope, where)
    await archive.rebuild(scope, where)
    await archive.rollback(scope, where, 0)
    await archive.pin(scope, where, "a fact")
    await archive.unpin(scope, where, "a fact")
    await archive.set_rate(scope, where, 0.2, for_key=True)
    await archive.set_rate(scope, where, None, for_key=True)
    await archive.reset(scope, where)
    document = await archive.export(scope, where)
    await archive.forget(scope, where)
    await archive.load(scope, document)
    assert await archive.forget_tenant(scope, where.tenant)
