"""Texts at rest: sealed with a key that Redis does not have, and opened by whoever has it."""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway_compaction.adapters.redis.archive import RedisArchive
from gateway_compaction.adapters.redis.connection import RedisConnection, connect
from gateway_compaction.adapters.redis.keys import SESSION_PARTS, build_part_query, session_keys
from gateway_compaction.adapters.redis.probe import count_sealing_keys, measure_round_trip
from gateway_compaction.adapters.redis.sealing import open_record
from gateway_compaction.adapters.redis.store import RedisStore
from gateway_compaction.adapters.redis_conversations import RedisConversations
from gateway_compaction.adapters.vault import SEALED, Vault, name_key, read_keys
from gateway_compaction.archive import Scope
from gateway_compaction.cli import findings
from gateway_compaction.core.records.call_snapshot import CallSnapshot
from gateway_compaction.core.records.client_state import ClientState
from gateway_compaction.core.records.compaction import Compaction, Segment, SessionRef
from gateway_compaction.core.records.event import CompactionEvent
from gateway_compaction.core.records.exchange import Exchange
from gateway_compaction.core.records.restore_point import RestoredBlock, RestorePoint
from gateway_compaction.core.records.snapshots import SnapshotBounds
from gateway_compaction.errors import StoreError
from gateway_compaction.ports import Addition, CallRecord
from tests.engine.rig import values

OLD, NEW, FOREIGN = b"o" * 32, b"n" * 32, b"f" * 48
SESSION, OTHER = SessionRef("t" * 32, "s" * 32), SessionRef("t" * 32, "u" * 32)
DIGEST = "d" * 32
# A planted sentence: no word of it may be found.
SENTENCE = "Marzipan elephants juggle seventeen turquoise umbrellas"
PINNED = "Wolpertinger prefers rhubarb"
# How the conversation began, by which what was told of it is found.
BEGUN = "b" * 32
# The parts of a session that hold digests, numbers and times alone.
WITHOUT_TEXT = {"claims", "used"}
FAILED = "BadRequest: you asked about " + SENTENCE
EVERYTHING = Scope(everything=True, actor="operator")


def record(text: str = SENTENCE, digest: str = DIGEST) -> Compaction:
    """A model's summary in two pieces."""
    return Compaction(digest, 2, "model", (Segment(0, 1, text), Segment(1, 2, "and more")), created_at=1.0)


def sharing(store: RedisStore, *keys: bytes) -> tuple[RedisStore, RedisArchive]:
    """Another process on the same server, with a ring of its own."""
    client = store.connection._client
    connection = RedisConnection(client, embedded=True, vault=Vault(keys))
    return RedisStore(connection, timeout_seconds=2.0), RedisArchive(connection)


@pytest.fixture
async def store(store_url: str | None) -> AsyncIterator[RedisStore]:
    """A store that seals with the old key, in this process and on a real server."""
    store = RedisStore(connect(store_url, Vault((OLD,))), timeout_seconds=2.0)
    yield store
    await store.aclose()


async def fill(store: RedisStore, archive: RedisArchive) -> None:
    """Store everything of a session that holds text, in every way that it comes there."""
    await put(store)
    message = {"role": "user", "content": SENTENCE}
    snapshot = CallSnapshot(
        1.0, (("user", 9, "verbatim"),), (("user", 9, "verbatim"),), (message,), (message,)
    )
    told = ClientState(task=SENTENCE, plan=PINNED)
    call = CallRecord(
        used=DIGEST,
        view=f"model:{DIGEST}",
        snapshot=snapshot,
        client_state=told,
        snapshots=SnapshotBounds(3, 600),
    )
    await store.append(SESSION, CompactionEvent("request", 1.0, "applied", "model"), ttl=600, call=call)
    await store.append(SESSION, CompactionEvent("summary", 1.0, "failed", FAILED), ttl=600)
    point = RestorePoint(SESSION.session_id, 1.0, SENTENCE, told)
    await store.keep_snapshot(SESSION, point, SnapshotBounds(3, 600))
    conversations = RedisConversations(store.connection)
    await conversations.open(SESSION, token="t", seconds=60, begin=600)
    addition = Addition(Exchange(0, 0, (message,), brought=1), "chat", version=0)
    assert await conversations.append(SESSION, addition, token="t", ttl=600)
    block = RestoredBlock(SESSION.session_id, "a conversation", SENTENCE)
    await store.keep_restored(SESSION.tenant, [BEGUN], block, 600)
    await archive.pin(EVERYTHING, SESSION, PINNED)
    # Taken back, a version is kept apart.
    await put(store, "c" * 32)
    await archive.rollback(EVERYTHING, SESSION, 1)
    token = await store.claim(SESSION, "e" * 32, (), 60)
    await store.release(SESSION, "e" * 32, token, failure=FAILED, ttl=600)


async def put(store: RedisStore, digest: str = DIGEST) -> int:
    """Store a summary as a worker does, whatever has failed before."""
    await store.connection.send(("HDEL", f"gwc:{{{SESSION.session_id}}}:session", "backoff_until"))
    token = await store.claim(SESSION, digest, (), 60)
    return await store.put(SESSION, record(digest=digest), token=token, ttl=600, limit=9)


async def dump(store: RedisStore) -> str:
    """All that is in the server."""
    return b"\n".join(await values(store)).decode("utf-8", "replace")


async def read_back(store: RedisStore, archive: RedisArchive) -> list[str]:
    """What a process finds of each kind of text that is stored, in one order."""
    buffer = await store.load(SESSION, [DIGEST])
    detail = await archive.detail(EVERYTHING, SESSION)
    [line, *_] = await archive.snapshots(EVERYTHING, SESSION)
    point = await archive.snapshot(EVERYTHING, SESSION, line.name)
    opened = await RedisConversations(store.connection).open(SESSION, token="r", seconds=60)
    restored = await store.find_restored(SESSION.tenant, [BEGUN])
    found = (buffer.compactions, buffer.controls.pins, detail.retired, detail.last_call, detail.client_state)
    kept = opened.kept.exchanges
    return [repr(part) for part in (*found, point.state, kept, restored)]


@pytest.mark.parametrize("part", SESSION_PARTS)
async def test_every_part_of_a_session_holds_text_that_is_sealed_or_none(
    store: RedisStore, part: str
) -> None:
    """A part that is new is not written by ``fill``, or is found here in clear."""
    plain, _ = sharing(store)
    [key] = session_keys(SESSION, part)
    for process, clear in ((store, False), (plain, True)):
        await plain.connection.send(("FLUSHALL",))
        await fill(process, RedisArchive(process.connection))
        stored = repr(await plain.connection.send(build_part_query(SESSION, part)))
        written = part == "claims" or stored not in ("[None]", "[{}]", "[[]]")
        assert written, f"fill of this file does not write {key}"
        held = [word for word in (*SENTENCE.split(), *PINNED.split()) if word in stored]
        assert bool(held) == (clear and part not in WITHOUT_TEXT), part


async def test_a_scan_finds_no_word_of_what_was_said(store: RedisStore) -> None:
    plain, _ = sharing(store)
    await fill(store, RedisArchive(store.connection))
    stored = await dump(store)
    words = [*SENTENCE.split(), *PINNED.split()]
    assert not [word for word in words if word in stored]
    assert stored.count(SEALED) >= 6 and "BadRequest" in stored
    # The same without a key: the words are found, so the scan would have found them.
    await plain.connection.send(("FLUSHALL",))
    await fill(plain, RedisArchive(plain.connection))
    assert not [word for word in words if word not in await dump(plain)]


async def test_whoever_has_the_key_reads_all_of_it(store: RedisStore) -> None:
    archive = RedisArchive(store.connection)
    await fill(store, archive)
    buffer = await store.load(SESSION, [DIGEST])
    assert [c.text for c in buffer.compactions] == [record().text] and buffer.controls.pins == (PINNED,)
    detail = await archive.detail(EVERYTHING, SESSION)
    assert detail.last_call is not None and detail.last_call.client is not None
    assert detail.last_call.client[0]["content"] == SENTENCE and detail.steering.pins == (PINNED,)
    assert {c.text for c in (*detail.compactions, *detail.retired)} == {record().text}


async def test_without_the_key_it_is_absent_and_told_once(
    store: RedisStore, caplog: pytest.LogCaptureFixture
) -> None:
    await fill(store, RedisArchive(store.connection))
    blind, archive = sharing(store, FOREIGN)
    for _ in range(2):
        buffer = await blind.load(SESSION, [DIGEST])
        assert (buffer.compactions, buffer.controls.pins) == ((), ())
    detail = await archive.detail(EVERYTHING, SESSION)
    assert (detail.compactions, detail.retired, detail.last_call) == ((), (), None)
    document = await archive.export(EVERYTHING, SESSION)
    assert (document["compactions"], document["last_call"]) == ({}, None)
    told = [r.getMessage() for r in caplog.records if "counts as absent" in r.getMessage()]
    assert len(told) == 1 and f"key {name_key(OLD)}, which is not given" in told[0]
    # What nobody here can read keeps nobody from a summary of their own.
    assert await put(blind) and [c.text for c in (await blind.load(SESSION, [DIGEST])).compactions]
    with pytest.raises(StoreError):
        await measure_round_trip(RedisStore(connect("redis://127.0.0.1:1")))


async def test_rotation_loses_nothing(store: RedisStore) -> None:
    await fill(store, RedisArchive(store.connection))
    before = await read_back(store, RedisArchive(store.connection))
    assert all(SENTENCE in text or PINNED in text for text in before)
    both, archive = sharing(store, NEW, OLD)
    assert await read_back(both, archive) == before
    assert [c.text for c in (await both.load(SESSION, [DIGEST])).compactions] == [record().text]
    # A pin that the old key sealed is the same pin.
    await archive.pin(EVERYTHING, SESSION, PINNED)
    assert (await archive.detail(EVERYTHING, SESSION)).steering.pins == (PINNED,)
    assert await put(both, "a" * 32)
    assert set(await count_sealing_keys(both.connection)) <= {name_key(OLD), name_key(NEW)}
    new, _ = sharing(store, NEW)
    assert [c.text for c in (await new.load(SESSION, [DIGEST, "a" * 32])).compactions] == [record().text]
    await archive.unpin(EVERYTHING, SESSION, PINNED)
    assert (await archive.detail(EVERYTHING, SESSION)).steering.pins == ()


async def test_what_was_stored_before_is_read_and_documents_are_in_clear(store: RedisStore) -> None:
    plain, clear = sharing(store)
    await fill(plain, clear)
    archive = RedisArchive(store.connection)
    assert [c.text for c in (await store.load(SESSION, [DIGEST])).compactions] == [record().text]
    document = json.loads(json.dumps(await archive.export(EVERYTHING, SESSION)))
    assert SENTENCE in json.dumps(document)
    await store.connection.send(("FLUSHALL",))
    await archive.load(EVERYTHING, document)
    assert SENTENCE not in await dump(store) and PINNED not in await dump(store)
    again = json.loads(json.dumps(await archive.export(EVERYTHING, SESSION)))
    assert (again["compactions"], again["retired"]) == (document["compactions"], document["retired"])
    assert again["last_call"] == document["last_call"]
    assert json.loads(again["fields"]["pins"]) == [PINNED]


def test_a_text_is_bound_to_its_place() -> None:
    vault = Vault((OLD,))
    sealed = vault.seal(SENTENCE, SESSION, "pin")
    assert sealed == vault.seal(SENTENCE, SESSION, "pin") and vault.open(sealed, SESSION, "pin") == SENTENCE
    changed = sealed[:-4] + ("AAA=" if sealed[-4:] != "AAA=" else "BBB=")
    for text, session, place in (
        (sealed, OTHER, "pin"),
        (sealed, SessionRef("x" * 32, SESSION.key), "pin"),
        (sealed, SESSION, "last call"),
        (changed, SESSION, "pin"),
        (f"{SEALED}{name_key(OLD)}:%%%", SESSION, "pin"),
        (f"{SEALED}\n", SESSION, "pin"),
    ):
        assert vault.open(text, session, place) is None
    assert vault.open("in clear", SESSION, "pin") == "in clear"
    moved = vault.seal_record(record(), SESSION)
    assert vault.open_record(record(digest="e" * 32), SESSION) is not None
    assert vault.open_record(moved, SESSION) == record() and vault.open_record(moved, OTHER) is None
    assert open_record(b'{"v":9,"' + SEALED.encode(), SESSION, vault) is None


def test_keys_come_from_a_variable_or_a_file(tmp_path: Path) -> None:
    first, second = (base64.b64encode(key).decode() for key in (NEW, OLD))
    file = tmp_path / "keys"
    file.write_text(f"{first}\n{second}\n", "utf-8")
    assert read_keys(f"{first}, {second}", None) == read_keys(None, file) == (NEW, OLD)
    assert read_keys(None, None) == ()
    file.write_text("\n", "utf-8")
    for text, path, problem in (
        (first, file, "not both"),
        (None, file, "holds no key"),
        (None, tmp_path / "none", "cannot be read"),
        ("no base64!", None, "key 1 cannot be used"),
        (f"{first},c2hvcnQ=", None, "key 2 cannot be used"),
    ):
        with pytest.raises(StoreError, match=problem) as error:
            read_keys(text, path)
        assert first not in str(error.value) and "c2hv" not in str(error.value)


@pytest.mark.parametrize(
    ("keys", "records", "result", "found"),
    [
        ((), {}, "ok", "off: summaries stand in Redis in clear"),
        (("aa",), {"aa": 2}, "ok", "on: texts are sealed with key aa"),
        (
            ("aa", "bb"),
            {"aa": 2, "": 3},
            "ok",
            "also opened with bb; 3 of the records looked at are from before",
        ),
        (("aa",), {"aa": 2, "cc": 4}, "warn", "4 with key cc"),
        ((), {"cc": 4}, "warn", "cannot be opened and count as absent"),
    ],
)
def test_doctor_tells_how_it_is(
    keys: tuple[str, ...], records: dict[str, int], result: str, found: str
) -> None:
    told = findings.check_encryption(keys, records)
    assert told.result == result and found in told.found


@pytest.mark.parametrize(
    ("url", "warned"),
    [
        ("redis://127.0.0.1:6379/0", ["redis password"]),
        ("redis://:x@localhost:6379/0", []),
        ("redis://u:x@redis.internal:6379/0", ["redis tls"]),
        ("redis://10.0.0.1", ["redis password", "redis tls"]),
        ("rediss://u:x@redis.internal:6379/0", []),
        ("unix:///run/redis.sock", []),
    ],
)
def test_doctor_tells_who_can_read_along(url: str, warned: list[str]) -> None:
    assert [one.check for one in findings.check_address(url) if one.result == "warn"] == warned


async def test_doctor_looks_at_the_latest_records(store: RedisStore) -> None:
    assert await count_sealing_keys(store.connection) == {}
    await fill(store, RedisArchive(store.connection))
    assert set(await count_sealing_keys(store.connection)) == {name_key(OLD)}


def test_a_log_of_lost_keys_is_bounded(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    vault = Vault((OLD,))
    for number in range(200):
        vault.open(f"{SEALED}{number:08x}:AAAA", SESSION, "pin")
    assert len(caplog.records) == 100
