"""What is written of a session after it was erased is taken back, whoever has begun it anew meanwhile."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from gateway_compaction.adapters.redis.archive import RedisArchive
from gateway_compaction.adapters.redis.connection import RedisConnection
from gateway_compaction.adapters.redis.store import RedisStore
from gateway_compaction.core.records.client_state import ClientState
from gateway_compaction.core.records.controls import read_start
from gateway_compaction.core.records.restore_point import RestoredBlock, RestorePoint
from gateway_compaction.core.records.snapshots import SnapshotBounds
from gateway_compaction.ports import CallRecord
from tests.store_contract import TTL, digest, raw, record, session
from tests.test_archive import ADMIN, TEAM, call
from tests.test_archive_actions import Hesitant, trace

S, A = session(), digest("a")
BOUNDS = SnapshotBounds(3, TTL)
Write = Callable[[RedisStore, str], Awaitable[object]]


def put(store: RedisStore, known: str) -> Awaitable[object]:
    return store.put(S, record("a"), token=None, ttl=TTL, limit=9, generation=known)


def append(store: RedisStore, known: str) -> Awaitable[object]:
    record_ = CallRecord(labels=["late"], about=TEAM)
    return store.append(S, call(), ttl=TTL, generation=known, call=record_)


def keep(store: RedisStore, known: str) -> Awaitable[object]:
    point = RestorePoint(S.session_id, time.time(), "late", ClientState(plan="what was erased"))
    return store.keep_snapshot(S, point, BOUNDS, known)


WRITES: dict[str, Write] = {
    "compaction": put,
    "call": append,
    "claim": lambda store, known: store.claim(S, A, [], 60, known),
    "pause": lambda store, known: store.bypass(S, "400", 60, known),
}


class Late(Hesitant):
    """A connection that waits before it sends several commands at once, as indexes are written."""

    async def send(self, *commands: Any, **options: Any) -> list[Any]:
        is_single = len(commands) == 1
        return await (RedisConnection.send if is_single else Hesitant.send)(self, *commands, **options)


@pytest.fixture
def archive(store: RedisStore) -> RedisArchive:
    return RedisArchive(store.connection)


async def begin_anew(store: RedisStore) -> None:
    """Another call of the conversation, that knows of the erasure; it ends before the late one goes on."""
    known = (await store.load(S, [A])).controls.generation
    await store.append(
        S, call(), ttl=TTL, generation=known, call=CallRecord(labels=["x", "y"], about={**TEAM, "team": "r"})
    )


class TestIndexedLate:
    """A writer is accepted; the session is erased, begins anew and is indexed; then the writer goes on."""

    @pytest.mark.parametrize("what", WRITES)
    @pytest.mark.parametrize("anew", [True, False])
    async def test_nothing_of_either_is_left_in_any_index(
        self, store: RedisStore, archive: RedisArchive, what: str, anew: bool
    ) -> None:
        hesitant = Hesitant(raw(store))
        known = (await store.load(S, [A])).controls.generation
        late = asyncio.ensure_future(WRITES[what](RedisStore(hesitant, timeout_seconds=2.0), known))
        await hesitant.about_to_index.wait()
        if what in ("claim", "pause"):
            # They put nothing into lists by which it is found.
            await store.append(S, call(), ttl=TTL, call=CallRecord(about=TEAM))
        await archive.forget(ADMIN, S)
        if anew:
            await begin_anew(store)
        hesitant.may_index.set()
        await late
        assert await trace(store, S.key) == []

    async def test_a_document_that_was_imported(self, store: RedisStore, archive: RedisArchive) -> None:
        await append(store, "")
        document = await archive.export(ADMIN, S)
        await archive.forget(ADMIN, S)
        late = Late(raw(store))
        loading = asyncio.ensure_future(RedisArchive(late).load(ADMIN, document))
        await late.about_to_index.wait()
        await archive.forget(ADMIN, S)
        late.may_index.set()
        await loading
        assert await trace(store, S.key) == []


class TestReadBefore:
    """What was made of a session as it was before it was erased does not become a part of the new one."""

    @pytest.mark.parametrize("is_stored", [True, False])
    async def test_a_snapshot(self, store: RedisStore, archive: RedisArchive, is_stored: bool) -> None:
        if is_stored:
            await append(store, "")
        known = (await store.load(S, [A])).controls.generation
        if not is_stored:
            await append(store, "")
        await archive.forget(ADMIN, S)
        await begin_anew(store)
        await keep(store, known)
        assert not await raw(store).exists(f"gwc:{{{S.session_id}}}:points")
        known = (await store.load(S, [A])).controls.generation
        await keep(store, known)
        assert [line.reason for line in await archive.snapshots(ADMIN, S)] == ["late"]

    async def test_the_block_of_a_later_conversation(self, store: RedisStore, archive: RedisArchive) -> None:
        await append(store, "")
        known = (await store.load(S, [A])).controls.generation
        block = RestoredBlock(S.session_id, "a conversation", "told of it", read_start(known))
        await store.keep_restored(S.tenant, [A], block, 60)
        assert await store.find_restored(S.tenant, [A]) == (A, block)
        await archive.forget(ADMIN, S)
        assert await store.find_restored(S.tenant, [A]) is None
        # A call that had read it before, and ends now.
        await store.keep_restored(S.tenant, [A, digest("b")], block, 60)
        assert await trace(store, S.key, "told of it") == []
        await begin_anew(store)
        known = (await store.load(S, [A])).controls.generation
        anew = replace(block, made_at=read_start(known))
        await store.keep_restored(S.tenant, [A], anew, 60)
        assert await store.find_restored(S.tenant, [A]) == (A, anew)
