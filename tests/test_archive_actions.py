"""What operators do to sessions, on an in-process Redis and on a real one; two processes share the store."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import asdict, replace
from random import Random
from typing import Any

import pytest

from gateway_compaction.adapters.redis.archive import RedisArchive
from gateway_compaction.adapters.redis.breaker import Breaker
from gateway_compaction.adapters.redis.connection import OPERATOR_SECONDS, RedisConnection, connect
from gateway_compaction.adapters.redis.erase import note_voided
from gateway_compaction.adapters.redis.index import build_erasure
from gateway_compaction.adapters.redis.keys import EXPORTED_PARTS, build_part_query
from gateway_compaction.adapters.redis.scripts import Command
from gateway_compaction.adapters.redis.store import RedisStore
from gateway_compaction.adapters.redis_conversations import RedisConversations
from gateway_compaction.archive import Owner, Query, Scope
from gateway_compaction.core.records.call_snapshot import CallSnapshot
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.core.records.exchange import Exchange
from gateway_compaction.errors import ActionRefused, InvalidDocument, NotFound, PartNotFound, StoreError
from gateway_compaction.ports import Addition, CallRecord
from tests.store_contract import TTL, digest, event, knows_nothing, raw, record, session, stored
from tests.test_archive import ADMIN, TEAM, USER, call, listed, talk

S = session()
A, B, C = digest("a"), digest("b"), digest("c")
OWN = Scope(teams=frozenset({"7c1f"}), actor="team admin <b>\x1b[31m\nzoe")
ACTIONS: dict[str, Callable[[RedisArchive, Scope, SessionRef], Awaitable[Any]]] = {
    "compact": lambda archive, scope, where: archive.compact(scope, where),
    "rebuild": lambda archive, scope, where: archive.rebuild(scope, where),
    "rollback": lambda archive, scope, where: archive.rollback(scope, where, 1),
    "pin": lambda archive, scope, where: archive.pin(scope, where, "never on Fridays"),
    "unpin": lambda archive, scope, where: archive.unpin(scope, where, "pinned before"),
    "rate": lambda archive, scope, where: archive.set_rate(scope, where, 0.2),
    "reset": lambda archive, scope, where: archive.reset(scope, where),
}
ALL: dict[str, Callable[[RedisArchive, Scope, SessionRef], Awaitable[Any]]] = {
    **ACTIONS,
    "detail": lambda archive, scope, where: archive.detail(scope, where),
    "forget": lambda archive, scope, where: archive.forget(scope, where),
    "export": lambda archive, scope, where: archive.export(scope, where),
}


SCORES = ("nan", "inf", "-1", "1e9", "", "1_0", " 1", "\u0661", "4000000001", "1.", "9" * 400)
# The last field of each is the one that cannot be.
FIELDS: tuple[dict[str, str], ...] = (
    {"about:team_id": "7c1f"},
    {"generation": "1"},
    {"nonsense": "1"},
    *({"version": "9", name: value} for name in ("calls", "covers") for value in ("-1", "x", "1e3")),
    *({"version": value} for value in ("x", "", "01", "\u0661", "9" * 400, str(2**53), "1.0", "True")),
    *({"version": "9", name: "4000000000001"} for name in ("bypass_until", "backoff_until")),
    *({"version": "9", "bypass_until": value} for value in ("inf", "9" * 400, "")),
    *({"version": "9", name: "4000000001"} for name in ("created", "seen")),
    *({"version": "9", name: "x\n"} for name in ("model", "policy", "level", "outcome")),
    {"version": "9", "model": "x" * 201},
    {"version": "9", "model": "\ud800"},
    {"version": "9", "bypass_reason": "x" * 201},
    {"version": "9", "compact": "0"},
    *({"version": "9", "rate": value} for value in ("", "0.30", "0.6", "nan", "x")),
    {"version": "9", "pins": json.dumps(["x"] * 21)},
    {"version": "9", "pins": json.dumps(["x" * 401])},
    {"version": "9", "pins": json.dumps(["a\nb"])},
    {"version": "9", "pins": "[1]"},
    {"version": "9", "pins": "{}"},
    {"version": "9", "labels": json.dumps(["x"] * 9)},
    {"version": "9", "labels": '["\\ud800"]'},
    {"version": "9", "labels": "[" * 50_000},
)


def kept(**changes: Any) -> str:
    """A compaction as it is kept, with some of it changed."""
    facts = {**record("a").to_dict(), "version": 1, **changes}
    facts["version"] = facts.pop("version")
    return json.dumps(facts, ensure_ascii=False, separators=(",", ":"))


def told(**changes: Any) -> str:
    """An event as it is kept, with some of it changed."""
    return json.dumps({**event().to_dict(), **changes})


def called(**changes: Any) -> str:
    """A call as it is kept, with some of it changed."""
    return json.dumps({**asdict(CallSnapshot(1.0, (), ())), **changes})


@pytest.fixture
async def other(store: RedisStore, store_url: str | None) -> AsyncIterator[RedisStore]:
    """Another process of the gateway."""
    if store_url is None:
        made = RedisStore(RedisConnection(raw(store), embedded=True), timeout_seconds=2.0)
    else:
        made = RedisStore(connect(store_url), timeout_seconds=2.0)
    yield made
    await made.aclose()


@pytest.fixture
def archive(other: RedisStore) -> RedisArchive:
    """In the other process."""
    return RedisArchive(other.connection)


class Hesitant(RedisConnection):
    """A connection that waits before indexes are written."""

    def __init__(self, client: Any) -> None:
        super().__init__(client)
        self.about_to_index, self.may_index = asyncio.Event(), asyncio.Event()

    async def send(
        self, *commands: Command, seconds: float = OPERATOR_SECONDS, breaker: Breaker | None = None
    ) -> list[Any]:
        """Indexes are written without the breaker."""
        if breaker is None and not self.may_index.is_set():
            self.about_to_index.set()
            await self.may_index.wait()
        return await super().send(*commands, seconds=seconds, breaker=breaker)


async def versions(store: RedisStore, *names: Any) -> dict[str, int]:
    """What a request would find."""
    found = (await store.load(S, [digest(n) for n in names])).compactions
    return {c.digest: c.version for c in found}


async def three(store: RedisStore) -> None:
    """A session with versions 1, 2 and 3, and a pin."""
    for name in "abc":
        await store.put(S, record(name), token=None, ttl=TTL, limit=9)
    await talk(store)
    await raw(store).hset(f"gwc:{{{S.session_id}}}:session", "pins", '["pinned before"]')


async def called_again(store: RedisStore, about: dict[str, str]) -> None:
    """A call that found the session as it is now."""
    known = await generation(store)
    await store.append(S, call(), ttl=TTL, generation=known, call=CallRecord(about=about, view=A))


async def generation(store: RedisStore) -> str:
    """The session's, as a request sees it."""
    return (await store.load(S, [A])).controls.generation


async def trace(store: RedisStore, *names: str) -> list[str]:
    """Keys and values that hold one of some names; the note that a session was forgotten aside."""
    client, found = raw(store), list[str]()
    read: dict[bytes, Callable[[bytes], Any]] = {
        b"hash": client.hgetall,
        b"list": lambda key: client.lrange(key, 0, -1),
        b"zset": lambda key: client.zrange(key, 0, -1),
        b"string": client.get,
    }
    for key in await client.keys("*"):
        value = await read[await client.type(key)](key)
        found += [key.decode() for name in names if key != b"gwc:forgotten" and name in f"{key!r} {value!r}"]
    return found


class TestEveryDeed:
    """What all of them have in common."""

    @pytest.mark.parametrize("action", ACTIONS)
    async def test_it_changes_the_generation_ends_claims_and_is_told(
        self, store: RedisStore, archive: RedisArchive, action: str
    ) -> None:
        await three(store)
        before = await generation(store)
        token = await store.claim(S, digest("d"), [], 60, before)
        await ACTIONS[action](archive, OWN, S)
        assert await generation(store) not in ("", before)
        found = await archive.detail(OWN, S)
        audit = found.events[0]
        assert (audit.type, audit.outcome) == ("audit", action)
        assert audit.by == "team admin <b> [31m zoe"
        assert found.claims == ()
        assert await store.put(S, record("d"), token=token, ttl=TTL, limit=9, generation=before) == 0
        assert await store.put(S, record("e"), token=None, ttl=TTL, limit=9, generation=before) == 0
        assert await store.claim(S, digest("f"), [], 60, before) == 0
        await store.bypass(S, "late", 60, before)
        assert (await store.load(S, [A])).bypass is None
        assert (await archive.detail(OWN, S)).events == found.events
        await store.append(S, call(), ttl=TTL, generation=before)
        assert (await archive.detail(OWN, S)).events == (call(), *found.events), "the call was made"

    @pytest.mark.parametrize("action", ALL)
    @pytest.mark.parametrize("scope", [Scope(), Scope(key_hash="x"), Scope(user_id="ana")])
    async def test_out_of_scope_there_is_nothing(
        self, store: RedisStore, archive: RedisArchive, action: str, scope: Scope
    ) -> None:
        await three(store)
        before = await trace(store, S.key)
        kept = await archive.detail(ADMIN, S)
        with pytest.raises(NotFound) as foreign:
            await ALL[action](archive, scope, S)
        with pytest.raises(NotFound) as absent:
            await ALL[action](archive, scope, session("nowhere"))
        assert str(foreign.value) == str(absent.value)
        now = await archive.detail(ADMIN, S)
        assert replace(now, ttl=0.0) == replace(kept, ttl=0.0) and await trace(store, S.key) == before
        assert await raw(store).exists("gwc:forgotten") == 0

    @pytest.mark.parametrize("action", ACTIONS)
    async def test_what_it_writes_expires(
        self, store: RedisStore, archive: RedisArchive, action: str
    ) -> None:
        await three(store)
        await ACTIONS[action](archive, OWN, S)
        assert all([await raw(store).pttl(key) > 0 for key in await raw(store).keys("*")])

    async def test_two_in_a_row_are_two_generations(self, store: RedisStore, archive: RedisArchive) -> None:
        await three(store)
        seen = set()
        for _ in range(5):
            await archive.compact(OWN, S)
            seen.add(await generation(store))
        assert len(seen) == 5 and all(name.endswith("*") for name in seen)


class TestRate:
    """The rate that an operator sets for one session."""

    async def test_calls_know_it_and_it_can_be_given_back(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        await three(store)
        await archive.set_rate(OWN, S, 0.2)
        assert (await store.load(S, [digest("a")])).controls.rate == 0.2
        shown = await archive.detail(OWN, S)
        assert shown.steering.rate == 0.2 and shown.events[0].outcome == "rate"
        document = await archive.export(OWN, S)
        await archive.set_rate(OWN, S, None)
        assert (await store.load(S, [digest("a")])).controls.rate is None
        await archive.forget(OWN, S)
        assert await archive.load(ADMIN, document) == S
        assert (await archive.detail(ADMIN, S)).steering.rate == 0.2
        with pytest.raises(ActionRefused, match=r"from 0\.1 to 0\.5"):
            await archive.set_rate(ADMIN, S, 0.7)

    async def test_one_of_a_key_is_told_of_all_its_sessions(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        key, another = {"team_id": "7c1f", "key_hash": "k1"}, session("another")
        for where, about in ((S, key), (another, key), (session("third"), {**key, "key_hash": "k2"})):
            await store.append(where, event(), ttl=TTL, call=CallRecord(about=about))
        await archive.set_rate(OWN, S, 0.4)
        await archive.set_rate(OWN, S, 0.2, for_key=True)
        assert (await store.notices()).rates == {"k1": 0.2}
        shown = [await archive.detail(OWN, where) for where in (S, another, session("third"))]
        assert [(one.steering.rate, one.key_rate) for one in shown] == [
            (None, 0.2),
            (None, 0.2),
            (None, None),
        ]
        told = shown[0].events[0]
        assert (told.outcome, told.reason) == ("rate", "for its key: 0.2, from the next summary on")
        assert told.by and "zoe" in told.by
        await archive.set_rate(OWN, another, None, for_key=True)
        assert (await store.notices()).rates == {}
        assert (await archive.detail(OWN, S)).key_rate is None

    async def test_whose_key_it_is_must_be_known(self, store: RedisStore, archive: RedisArchive) -> None:
        for key in ("k1", "k2"):
            about = {"team_id": "7c1f", "key_hash": key}
            await store.append(S, event(), ttl=TTL, call=CallRecord(about=about))
        with pytest.raises(ActionRefused, match="one key alone"):
            await archive.set_rate(OWN, S, 0.2, for_key=True)
        with pytest.raises(NotFound):
            await archive.set_rate(Scope(key_hash="k1"), S, 0.2, for_key=True)
        await raw(store).hset("gwc:rates", mapping={"k1": "x", "k2": "0.9", b"\xff": "0.2"})
        assert (await store.notices()).rates == {"\ufffd": 0.2}


class TestVersions:
    """Roll back, rebuild, reset."""

    async def test_newer_versions_are_retired_and_can_come_back(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        await three(store)
        await archive.rollback(OWN, S, 1)
        assert await versions(store, *"abc") == {A: 1}
        found = await archive.detail(OWN, S)
        assert [c.version for c in found.retired] == [3, 2] and found.row.versions == 3
        await archive.rollback(OWN, S, 3)
        assert await versions(store, *"abc") == {A: 1, C: 3}
        assert (await archive.detail(OWN, S)).compactions[0] == stored(record("c"), 3)
        assert await store.put(S, record("d"), token=None, ttl=TTL, limit=9) == 4
        await archive.rollback(OWN, S, 2)
        assert await versions(store, *"abcd") == {A: 1, B: 2}

    async def test_two_versions_of_one_digest_change_places(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        await three(store)
        await archive.rollback(OWN, S, 2)
        await store.put(S, record("c", text="again"), token=None, ttl=TTL, limit=9)
        assert await versions(store, "c") == {C: 4}
        await archive.rollback(OWN, S, 3)
        found = await archive.detail(OWN, S)
        assert [c.version for c in found.compactions] == [3, 2, 1]
        assert [(c.version, c.text) for c in found.retired] == [(4, "again")]

    async def test_zero_retires_all(self, store: RedisStore, archive: RedisArchive) -> None:
        await three(store)
        await archive.rollback(OWN, S, 0)
        assert await versions(store, *"abc") == {}
        assert len((await archive.detail(OWN, S)).retired) == 3

    @pytest.mark.parametrize("version", [4, -1, 10**12])
    async def test_an_unknown_version_changes_nothing(
        self, store: RedisStore, archive: RedisArchive, version: int
    ) -> None:
        await three(store)
        before = await archive.detail(OWN, S)
        with pytest.raises(PartNotFound, match=f"no version {version}; there are: 3, 2, 1"):
            await archive.rollback(OWN, S, version)
        assert replace(await archive.detail(OWN, S), ttl=0.0) == replace(before, ttl=0.0)

    async def test_retired_versions_are_bounded(self, store: RedisStore, archive: RedisArchive) -> None:
        await talk(store)
        for number in range(60):
            await store.put(S, record(number), token=None, ttl=TTL, limit=99)
        await archive.rollback(OWN, S, 0)
        assert [c.version for c in (await archive.detail(OWN, S)).retired] == list(range(60, 10, -1))

    async def test_rebuild_retires_all_asks_for_a_summary_and_lets_it_be_made(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        await three(store)
        token = await store.claim(S, digest("d"), [], 60)
        await store.release(S, digest("d"), token, failure="limited", ttl=TTL)
        await archive.rebuild(OWN, S)
        found = await store.load(S, [A, B, C])
        assert found.controls.rebuild and not found.compactions and found.backoff is None
        assert S.session_id in (await store.notices()).requested
        token = await store.claim(S, C, [], 60, found.controls.generation)
        await store.put(S, record("x"), token=None, ttl=TTL, limit=9)
        assert (await store.load(S, [A])).controls.rebuild
        assert await store.put(S, record("c"), token=token, ttl=TTL, limit=9) == 5
        assert not (await store.load(S, [A])).controls.rebuild

    async def test_a_rollback_takes_the_wish_for_a_rebuild_back(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        await three(store)
        await archive.rebuild(OWN, S)
        await archive.rollback(OWN, S, 1)
        assert not (await store.load(S, [A])).controls.rebuild

    @pytest.mark.parametrize("action", ["rebuild", "rollback", "reset"])
    async def test_every_process_learns_that_versions_were_taken_back(
        self, store: RedisStore, archive: RedisArchive, action: str
    ) -> None:
        await three(store)
        await archive.pin(OWN, S, "no reason to take anything back")
        assert (await store.notices()).voided == {}
        await ACTIONS[action](archive, OWN, S)
        now = await generation(store)
        noted = (await store.notices()).voided
        assert list(noted) == [S.session_id] and f"{noted[S.session_id]:.6f}*" == now
        assert 590 < await raw(store).ttl("gwc:voided") <= 600

    async def test_what_was_noted_of_a_later_deed_stays(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        await three(store)
        await archive.rollback(OWN, S, 2)
        later = (await store.notices()).voided[S.session_id] + 100
        await raw(store).zadd("gwc:voided", {S.session_id: later})
        await archive.rollback(OWN, S, 1)
        assert (await store.notices()).voided == {S.session_id: pytest.approx(later, abs=1e-6)}

    async def test_reset_forgets_all_but_events_and_labels(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        await three(store)
        await archive.rollback(OWN, S, 2)
        await archive.compact(OWN, S)
        await archive.set_rate(OWN, S, 0.2)
        await store.bypass(S, "400", 60)
        await store.backoff(S, "unused", 60)
        await archive.reset(OWN, S)
        found = await archive.detail(OWN, S)
        assert (found.compactions, found.retired, found.bypass, found.backoff) == ((), (), None, None)
        controls = found.steering
        assert (controls.pins, controls.compact, controls.rate) == ((), False, None)
        assert found.row.labels and len(found.events) == 5
        assert (await store.notices()).requested == frozenset()


class TestPins:
    """Facts that stand in every block."""

    async def test_they_come_and_go(self, store: RedisStore, archive: RedisArchive) -> None:
        await talk(store)
        for text in ("first", "  second\n\tline\x07 ", "first"):
            await archive.pin(OWN, S, text)
        assert (await store.load(S, [A])).controls.pins == ("second line", "first")
        await archive.unpin(OWN, S, "second  line")
        await archive.unpin(OWN, S, "first")
        assert (await store.load(S, [A])).controls.pins == ()
        with pytest.raises(PartNotFound, match="has no pins"):
            await archive.unpin(OWN, S, "first")

    @pytest.mark.parametrize("text", ["", " \n\x00 ", "x" * 401, "\ud800"])
    async def test_what_is_no_fact_is_refused(
        self, store: RedisStore, archive: RedisArchive, text: str
    ) -> None:
        await talk(store)
        with pytest.raises(ActionRefused):
            await archive.pin(OWN, S, text)

    async def test_twenty_are_enough(self, store: RedisStore, archive: RedisArchive) -> None:
        await talk(store)
        for number in range(20):
            await archive.pin(OWN, S, f"{number} {'ü' * 390}")
        with pytest.raises(ActionRefused):
            await archive.pin(OWN, S, "one more")
        await archive.pin(OWN, S, f"3 {'ü' * 390}")
        assert len((await store.load(S, [A])).controls.pins) == 20


class TestForget:
    """Erasure."""

    async def full(self, store: RedisStore) -> None:
        """A session with something under every name, and a neighbour."""
        await three(store)
        await store.claim(S, digest("d"), [], 60)
        last = CallSnapshot(1.0, (), ())
        for number in range(12):
            await store.append(
                S, call(), ttl=TTL, call=CallRecord(labels=[f"l{number}"], about=TEAM, snapshot=last)
            )
        await talk(store, "neighbour", labels=["l3"])

    async def test_nothing_of_it_is_left(self, store: RedisStore, archive: RedisArchive) -> None:
        await self.full(store)
        await archive.rollback(OWN, S, 1)
        await archive.compact(OWN, S)
        assert len(await trace(store, S.key)) > 10
        # The claims went with the deeds; six keys are left.
        assert await archive.forget(OWN, S) == 7
        assert await trace(store, S.key) == []
        assert knows_nothing(await store.load(S, [A, B, C]))
        page = await archive.sessions(ADMIN, Query())
        assert [r.session for r in page.rows] == [session("neighbour")] and page.total == 1
        with pytest.raises(NotFound):
            await archive.forget(OWN, S)

    async def test_names_that_are_no_text_go_too_and_stop_nothing(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        await self.full(store)
        own = f"gwc:{{{S.tenant}}}:".encode()
        await raw(store).zadd(own + b"label:\xff", {S.key: 1, "another": 1})
        await archive.forget(OWN, S)
        assert await trace(store, S.key) == []
        assert await raw(store).zrange(own + b"label:\xff", 0, -1) == [b"another"]
        assert await archive.forget_tenant(OWN, S.tenant) == 1
        assert await raw(store).keys(own + b"*") == []

    async def test_nothing_is_noted_of_a_deed_whose_session_was_forgotten_meanwhile(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        await self.full(store)
        await archive.rollback(OWN, S, 1)
        await archive.forget(OWN, S)
        await note_voided(store.connection, S)
        assert await trace(store, S.key) == []

    async def test_with_its_last_session_a_tenant_is_gone(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        await talk(store)
        await talk(store, about={**TEAM, "key_hash": "other"})
        await archive.forget(OWN, S)
        assert {key for key in await trace(store, S.tenant) if ":hours" not in key} == set()
        assert sum(hour.requests for hour in await archive.overview(ADMIN, 1)) == 0

    async def test_a_request_under_way_does_not_bring_it_back(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        await self.full(store)
        known = await generation(store)
        token = await store.claim(S, digest("e"), [], 60, known)
        await archive.forget(OWN, S)
        await self.late(store, known, token)
        assert await trace(store, S.key) == []

    async def test_nor_does_one_that_found_no_session_yet(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        unborn = await generation(store)
        assert unborn.startswith("+")
        await talk(store)
        await archive.forget(OWN, S)
        await self.late(store, unborn, 1)
        assert await trace(store, S.key) == []
        await self.late(store, "", 1)
        assert await trace(store, S.key) == [], "nor one that the store did not answer"

    async def late(self, store: RedisStore, known: str, token: int) -> None:
        """Everything that a request or a summary still writes."""
        assert await store.put(S, record("e"), token=token, ttl=TTL, limit=9, generation=known) == 0
        assert await store.put(S, record("f"), token=None, ttl=TTL, limit=9, generation=known) == 0
        assert await store.claim(S, digest("g"), [], 60, known) == 0
        assert not await store.renew(S, digest("e"), token, 60)
        await store.release(S, digest("e"), token, failure="late", ttl=TTL)
        await store.append(
            S, call(), ttl=TTL, generation=known, call=CallRecord(labels=["late"], about=TEAM, view=A)
        )
        await store.bypass(S, "late", 60, known)
        await store.backoff(S, "late", 60, known)

    async def test_a_conversation_begins_anew(self, store: RedisStore, archive: RedisArchive) -> None:
        await talk(store)
        await archive.forget(OWN, S)
        known = await generation(store)
        await store.append(S, call(), ttl=TTL, generation=known, call=CallRecord(about=TEAM))
        assert await store.put(S, record("a"), token=None, ttl=TTL, limit=9, generation=known) == 1
        assert len((await archive.sessions(OWN, Query())).rows) == 1

    async def test_every_process_learns_of_it(self, store: RedisStore, archive: RedisArchive) -> None:
        await talk(store)
        await archive.forget(OWN, S)
        noted = (await store.notices()).forgotten
        [now, _] = await raw(store).time()
        assert list(noted) == [S.session_id] and now - 5 < noted[S.session_id] < now + 1
        assert 590 < await raw(store).ttl("gwc:forgotten") <= 600

    async def test_many_at_once_while_requests_go_on(self, store: RedisStore, archive: RedisArchive) -> None:
        async def chatter(number: int) -> None:
            where = session(f"s{number % 4}")
            for turn in range(6):
                known = (await store.load(where, [A])).controls.generation
                await store.put(where, record(turn), token=None, ttl=TTL, limit=9, generation=known)
                await store.append(
                    where, call(), ttl=TTL, generation=known, call=CallRecord(labels=["x"], about=TEAM)
                )

        async def erase(number: int) -> None:
            for _ in range(8):
                await asyncio.sleep(chance.random() * 0.02)
                with suppress(NotFound):
                    await archive.forget(ADMIN, session(f"s{number}"))

        chance = Random(7)
        for _ in range(4):
            await asyncio.gather(*(chatter(n) for n in range(8)), *(erase(n) for n in range(4)))
            for number in range(4):
                with suppress(NotFound):
                    await archive.forget(ADMIN, session(f"s{number}"))
            assert await trace(store, *(session(f"s{number}").key for number in range(4))) == []

    async def test_one_that_is_erased_while_its_indexes_are_written_is_in_none(
        self, store: RedisStore, other: RedisStore
    ) -> None:
        hesitant = Hesitant(raw(store))
        writer = RedisStore(hesitant, timeout_seconds=2.0)
        late = asyncio.create_task(
            writer.append(S, call(), ttl=TTL, call=CallRecord(labels=["x"], about=TEAM))
        )
        await hesitant.about_to_index.wait()
        # As an erasure that began before ends.
        await other.connection.send(*build_erasure(S))
        hesitant.may_index.set()
        await late
        assert await trace(other, S.key) == []

    async def test_a_whole_tenant(self, store: RedisStore, archive: RedisArchive) -> None:
        await self.full(store)
        await archive.compact(ADMIN, S)
        other = await talk(store, "theirs", "ben", USER)
        await archive.compact(ADMIN, other)
        # A session that its list has forgotten goes too.
        await raw(store).zrem(f"gwc:{{{S.tenant}}}:sessions", S.key)
        for scope in (Scope(), Scope(user_id="ben"), Scope(key_hash="x")):
            with pytest.raises(NotFound):
                await archive.forget_tenant(scope, S.tenant)
        assert await archive.forget_tenant(OWN, S.tenant) == 2
        assert await trace(store, S.tenant) == []
        assert [r.session for r in (await archive.sessions(ADMIN, Query())).rows] == [other]
        assert (await store.notices()).requested == {other.session_id}
        for tenant in (S.tenant, "*", "", "no such"):
            with pytest.raises(NotFound):
                await archive.forget_tenant(ADMIN, tenant)

    async def test_what_a_team_shares_is_no_key_s_to_forget_or_count_where_redis_forgot_who_shares_it(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        await talk(store)
        await raw(store).delete(f"gwc:{{{S.tenant}}}:about")
        await talk(store, "another", about={**TEAM, "key_hash": "k9", "key_alias": "k9", "user_id": "eve"})
        key = Scope(key_hash="k9", user_id="eve")
        with pytest.raises(NotFound):
            await archive.forget_tenant(key, S.tenant)
        assert [hour.requests for hour in await archive.overview(key, 1)] == [1]
        assert await archive.forget_tenant(OWN, S.tenant) == 2

    async def test_a_tenant_of_whom_counts_are_all_that_is_left(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        await talk(store)
        await archive.forget(OWN, S)
        assert await trace(store, S.tenant) != []
        assert await archive.forget_tenant(ADMIN, S.tenant) == 0
        assert await trace(store, S.tenant) == []
        with pytest.raises(NotFound):
            await archive.forget_tenant(ADMIN, S.tenant)


class TestDocuments:
    """Export and import."""

    async def test_a_round_trip_keeps_every_byte(self, store: RedisStore, archive: RedisArchive) -> None:
        await three(store)
        await store.put(S, record("s", text='lone \ud83d "kind"'), token=None, ttl=TTL, limit=9)
        last = CallSnapshot(1.0, (("user", 1, "verbatim"),), (("user", 1, "verbatim"),))
        await store.append(
            S, call(), ttl=TTL, call=CallRecord(labels=["Ärzte"], about=TEAM, used=A, view=A, snapshot=last)
        )
        conversations = RedisConversations(store.connection)
        await conversations.open(S, token="", seconds=60, begin=TTL)
        kept = Exchange(0, 0, ({"role": "user", "content": "lone \ud83d 한국어"},), 1)
        assert await conversations.append(S, Addition(kept, "chat", 0), token="", ttl=TTL)
        await archive.rollback(OWN, S, 2)
        await archive.compact(OWN, S)
        # An import changes the session's own fields and its events; all else comes back as it was.
        questions = [build_part_query(S, part) for part in set(EXPORTED_PARTS) - {"session", "events"}]
        before = await store.connection.send(*questions)
        assert all(before), "a part of a session that this test does not fill"
        shown = await archive.detail(OWN, S)
        document = json.loads(json.dumps(await archive.export(OWN, S)))
        with pytest.raises(ActionRefused, match="There is a session of this name already"):
            await archive.load(ADMIN, document)
        await archive.forget(OWN, S)
        assert await archive.load(ADMIN, document) == S
        assert await store.connection.send(*questions) == before
        now = await archive.detail(OWN, S)
        assert (now.events[0].outcome, now.events[1:]) == ("import", shown.events)
        assert now.last_call == last and abs(now.ttl - shown.ttl) < 5
        same = ("owner", "labels", "model", "calls", "saved", "versions", "created", "seen")
        assert [getattr(now.row, n) for n in same] == [getattr(shown.row, n) for n in same]
        assert now.steering.pins == shown.steering.pins and now.steering.compact
        assert now.steering.generation != shown.steering.generation
        assert S.session_id in (await store.notices()).requested
        again = dict(await archive.export(OWN, S))
        again["events"] = again["events"][1:]
        assert {**again, "ttl": 0} == {**document, "ttl": 0}
        known = await generation(store)
        assert await store.put(S, record("n"), token=None, ttl=TTL, limit=9, generation=known) == 5
        assert all([await raw(store).pttl(key) > 0 for key in await raw(store).keys("*")])

    async def test_a_session_that_a_policy_keeps_for_years_is_kept_for_years(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        longest = 3650 * 86_400.0
        await store.append(S, call(), ttl=longest, call=CallRecord(about=TEAM))
        document = json.loads(json.dumps(await archive.export(OWN, S)))
        assert longest - 60 < document["ttl"] <= longest
        await archive.forget(OWN, S)
        await archive.load(ADMIN, document)
        assert longest - 60 < (await archive.detail(OWN, S)).ttl <= longest

    async def test_one_with_a_moment_to_live_leaves_the_list_as_it_is(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        await talk(store)
        neighbour = await talk(store, "neighbour")
        document = {**await archive.export(OWN, S), "ttl": 0.001}
        await archive.forget(OWN, S)
        for number in range(20):
            await archive.load(ADMIN, {**document, "session": digest(number)})
            page = await archive.sessions(ADMIN, Query())
            assert neighbour in {row.session for row in page.rows}
        assert b"" not in await raw(store).hvals(f"gwc:{{{S.tenant}}}:rows")

    async def test_the_owner_is_the_stores_own(self, store: RedisStore, archive: RedisArchive) -> None:
        await three(store)
        await talk(store, "neighbour", about={**TEAM, "key_hash": "other"})
        document = {**await archive.export(OWN, S), "owner": {"team_id": "evil", "user_id": "eve"}}
        await archive.forget(OWN, S)
        for scope in (Scope(), Scope(teams=frozenset({"evil"})), Scope(user_id="eve", key_hash="x")):
            with pytest.raises(NotFound):
                await archive.load(scope, document)
        await archive.load(OWN, document)
        assert (await archive.detail(OWN, S)).row.owner.team_id == "7c1f"
        await archive.forget(OWN, S)
        await archive.load(ADMIN, document)
        assert (await archive.detail(ADMIN, S)).row.owner.team_id == "evil"

    @pytest.mark.parametrize(
        ("changes", "where"),
        [
            ({"schema": "other"}, "schema"),
            ({"version": 2}, "version"),
            ({"version": True}, "version"),
            ({"version": 1.0}, "version"),
            ({"more": 1}, "more"),
            ({"tenant": "a}:x"}, "tenant"),
            ({"session": ""}, "session"),
            ({"owner": {"role": "admin"}}, "owner.role"),
            ({"owner": {"team": "x" * 201}}, "owner.team"),
            ({"owner": {"team": "\ud800"}}, "owner.team"),
            ({"ttl": 0}, "ttl"),
            ({"ttl": True}, "ttl"),
            ({"ttl": float("inf")}, "ttl"),
            ({"ttl": 3650 * 86_400.0 + 1}, "ttl"),
            ({"ttl": float("nan")}, "ttl"),
            ({"compactions": {A: "{}"}}, f"compactions.{A}"),
            ({"compactions": {A: {"base64": "!"}}}, f"compactions.{A}"),
            ({"compactions": {A: {}}}, f"compactions.{A}"),
            ({"compactions": {A: "[" * 100_000}}, f"compactions.{A}"),
            ({"compactions": {A: kept(created_at=float("nan"))}}, f"compactions.{A}"),
            ({"compactions": {A: kept(created_at=1e300)}}, f"compactions.{A}"),
            ({"compactions": {A: kept(covers=-1)}}, f"compactions.{A}"),
            ({"compactions": {A: kept(tokens_after=2**53)}}, f"compactions.{A}"),
            ({"compactions": {A: kept(cost="free")}}, f"compactions.{A}"),
            ({"compactions": {A: kept(model=["x"])}}, f"compactions.{A}"),
            ({"compactions": {A: kept(version=True)}}, f"compactions.{A}"),
            ({"compactions": {A: kept(version=9)}}, f"compactions.{A}"),
            ({"retired": {"1": json.dumps(record("a").to_dict())}}, "retired.1"),
            ({"retired": {"01": kept()}}, "retired.01"),
            ({"retired": {"2": kept()}}, "retired.2"),
            ({"events": ["{}"]}, "events.0"),
            ({"events": ["x"] * 201}, "events"),
            ({"events": ["[" * 100_000]}, "events.0"),
            ({"events": [told(at=float("nan"))]}, "events.0"),
            ({"events": [told(at=-1)]}, "events.0"),
            ({"events": [told(at=5e9)]}, "events.0"),
            ({"events": [told(at="1")]}, "events.0"),
            ({"events": [told(), told(version=2**53)]}, "events.1"),
            ({"events": [told(version=True)]}, "events.0"),
            ({"events": [told(cost=1e400)]}, "events.0"),
            ({"events": [told(type=["audit"])]}, "events.0"),
            ({"events": [told(by="zoe\n")]}, "events.0"),
            ({"events": [told(more=1)]}, "events.0"),
            ({"last_call": "{}"}, "last_call"),
            ({"last_call": called(at=float("inf"))}, "last_call"),
            ({"last_call": called(window=True)}, "last_call"),
            ({"last_call": called(cuts=["1"])}, "last_call"),
            ({"last_call": called(sent=[["user", 1.5, "verbatim"]])}, "last_call"),
            *(({"used": {A: score}}, f"used.{A}") for score in SCORES),
            *(({"fields": fields}, f"fields.{next(reversed(fields))}") for fields in FIELDS),
        ],
    )
    async def test_what_is_no_export_is_refused(
        self, store: RedisStore, archive: RedisArchive, changes: dict[str, Any], where: str
    ) -> None:
        await three(store)
        document = {**await archive.export(OWN, S), **changes}
        await archive.forget(OWN, S)
        with pytest.raises(InvalidDocument) as refused:
            await archive.load(ADMIN, document)
        assert refused.value.path.startswith(where) and refused.value.problem
        assert await trace(store, S.key) == []

    async def test_bad_values_of_a_session_are_no_part_of_its_document(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        await three(store)
        await store.append(S, call(), ttl=TTL, call=CallRecord(snapshot=CallSnapshot(1.0, (), ())))
        names = ("session", "compactions", "used", "events", "last")
        fields, compactions, used, events, last = (f"gwc:{{{S.session_id}}}:{name}" for name in names)
        bad = {"calls": "many", "bypass_until": "9" * 400, "pins": "{", "x": "1", "version": "-"}
        await raw(store).hset(fields, mapping=bad)
        await raw(store).hset(compactions, mapping={B: "{}", b"\xff": kept()})
        await raw(store).zadd(used, {B: "inf", b"\xff": 1})
        await raw(store).lpush(events, told(at=float("nan")))
        await raw(store).set(last, "[" * 100_000)
        document = json.loads(json.dumps(await archive.export(OWN, S)))
        assert not {"calls", "bypass_until", "pins", "x"} & set(document["fields"])
        assert document["fields"]["version"] == "3"
        assert set(document["compactions"]) == {A, C} == set(document["used"])
        assert len(document["events"]) == 2 and document["last_call"] is None
        await archive.forget(OWN, S)
        await archive.load(ADMIN, document)

    async def test_audit_events_of_others_documents_are_marked(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        await three(store)
        await archive.compact(ADMIN, S)
        await talk(store, "neighbour")
        for _ in range(2):
            document = await archive.export(OWN, S)
            await archive.forget(OWN, S)
            await archive.load(OWN, document)
            found = (await archive.detail(OWN, S)).events
            assert (found[0].outcome, found[0].by) == ("import", "team admin <b> [31m zoe")
            [action] = [event for event in found if event.outcome == "compact"]
            assert (action.type, action.by) == ("audit", "imported: the admin")
            assert action.reason == "imported: from the next call on"
            assert found[-1] == call()

    async def test_what_somebody_erased_is_theirs_to_import(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        owner = Owner(**TEAM)
        mine = Scope(key_hash=owner.key_hash, actor="key")
        await talk(store)
        document = {**await archive.export(mine, S), "owner": {"team_id": "evil", "key_hash": "theirs"}}
        await archive.forget(mine, S)
        stranger = Owner(team_id="7c1f", key_hash="other")
        for scope in (
            mine,
            replace(mine, home=("another", owner)),
            replace(mine, home=(S.tenant, stranger)),
            replace(mine, home=(S.tenant, Owner())),
        ):
            with pytest.raises(NotFound):
                await archive.load(scope, document)
        home = replace(mine, home=(S.tenant, owner))
        assert await archive.load(home, document) == S
        assert (await archive.detail(mine, S)).row.owner == owner
        assert [row.session for row in (await archive.sessions(mine, Query())).rows] == [S]

    @pytest.mark.parametrize("others", [True, False])
    async def test_a_team_admin_gives_it_back_to_the_key_that_made_it(
        self, store: RedisStore, archive: RedisArchive, others: bool
    ) -> None:
        mine, kept = Scope(key_hash=TEAM["key_hash"]), [await talk(store), await talk(store, "second")]
        if others:
            kept.append(await talk(store, "other", about={**TEAM, "user_id": "kim", "key_hash": "other"}))
        document = json.loads(json.dumps(await archive.export(OWN, S)))
        await archive.forget(OWN, S)
        await archive.load(OWN, document)
        # What the key is called and whose it is is only said: policies go by these.
        proven = replace(Owner(**TEAM), user_id=None, key_alias=None) if others else Owner(**TEAM)
        assert (await archive.detail(mine, S)).row.owner == proven
        assert len(await listed(archive, mine)) == 2 and len(await listed(archive, OWN)) == len(kept)
        with pytest.raises(NotFound):
            await archive.detail(Scope(key_hash="other"), S)
        # Its calls go on as before: they do not make it somebody else's.
        await called_again(store, TEAM)
        row = (await archive.detail(mine, S)).row
        assert (row.owner, row.calls) == (Owner(**TEAM), 2)

    async def test_a_team_admin_gives_a_key_no_name_that_is_not_its_own(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        await talk(store)
        await talk(store, "other", about={**TEAM, "user_id": "kim", "key_hash": "other", "key_alias": "k8"})
        document = json.loads(json.dumps(await archive.export(OWN, S)))
        document["owner"] |= {"user_id": "eve", "key_alias": "vip"}
        await archive.forget(OWN, S)
        await archive.load(OWN, document)
        for name in ("user_id", "key_alias"):
            assert getattr((await archive.detail(OWN, S)).row.owner, name) is None
        await called_again(store, TEAM)
        owner = (await archive.detail(OWN, S)).row.owner
        assert "eve" not in (owner.user_id, owner.key_alias) and owner.key_alias != "vip"

    @pytest.mark.parametrize(
        "said",
        [
            {"key_hash": "elsewhere", "user_id": "eve", "key_alias": "k9"},
            {"key_hash": "unheard of"},
            {"user_id": "ben"},
            {},
        ],
    )
    async def test_no_document_shows_a_session_to_a_key_that_never_called_in_its_tenant(
        self, store: RedisStore, archive: RedisArchive, said: dict[str, str]
    ) -> None:
        await talk(store)
        await talk(store, "second")
        await talk(store, tenant="theirs", about={"team_id": "9d", "key_hash": "elsewhere"})
        await talk(store, tenant="ben's", about=USER)
        document = {**await archive.export(OWN, S), "owner": {"team_id": "9d", **said}}
        await archive.forget(OWN, S)
        await archive.load(OWN, document)
        owner = (await archive.detail(OWN, S)).row.owner
        assert owner == Owner(team_id="7c1f", team="research")
        for scope in (
            Scope(teams=frozenset({"9d"})),
            Scope(key_hash="elsewhere"),
            Scope(key_hash="unheard of"),
            # Not the one other key of the tenant either: it is not known to have made it.
            Scope(key_hash=TEAM["key_hash"]),
            Scope(user_id="ben", key_hash=USER["key_hash"]),
        ):
            with pytest.raises(NotFound):
                await archive.detail(scope, S)

    @pytest.mark.parametrize("first", ["its own", "another's"])
    async def test_a_key_that_was_not_known_gets_it_back_with_the_next_call_if_that_is_its_own(
        self, store: RedisStore, archive: RedisArchive, first: str
    ) -> None:
        mine, lead = Scope(key_hash=TEAM["key_hash"]), Owner(team_id="7c1f", team="research", key_hash="lead")
        other = {**TEAM, "user_id": "kim", "key_hash": "other", "key_alias": "k8"}
        await talk(store)
        document = json.loads(json.dumps(await archive.export(OWN, S)))
        await archive.forget(OWN, S)
        await archive.load(replace(OWN, home=(S.tenant, lead)), document)
        assert (await archive.detail(OWN, S)).row.owner == Owner(team_id="7c1f", team="research")
        with pytest.raises(NotFound):
            await archive.detail(mine, S)
        again = await archive.export(OWN, S)
        assert again["owner"] == {"team_id": "7c1f", "team": "research"}, "what is not proven is not told"
        assert not [name for name in again["fields"] if name.startswith("said")]
        for about in (TEAM, TEAM) if first == "its own" else (other, TEAM):
            await called_again(store, about)
        kept = await raw(store).hgetall(f"gwc:{{{S.session_id}}}:session")
        rows = await raw(store).hvals(f"gwc:{{{S.tenant}}}:rows")
        assert not [name for name in [*kept, *rows] if b"said:" in name]
        if first == "its own":
            assert (await archive.detail(mine, S)).row.owner == Owner(**TEAM)
            assert [row.session for row in await listed(archive, mine)] == [S]
        for scope in (Scope(key_hash="other"), *(() if first == "its own" else (mine,))):
            with pytest.raises(NotFound):
                await archive.detail(scope, S)
            assert await listed(archive, scope) == []

    async def test_it_is_not_the_admins_own_where_nothing_is_left_of_the_team(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        lead = Owner(team_id="7c1f", team="research", key_hash="lead", key_alias="lead", user_id="zoe")
        scope = replace(OWN, key_hash="lead", home=(S.tenant, lead))
        await talk(store)
        for said, found in (
            ({"key_hash": "forged", "team_id": "9d"}, Owner(team_id="7c1f", team="research")),
            ({"key_hash": "lead", "user_id": "eve"}, lead),
        ):
            document = {**await archive.export(ADMIN, S), "owner": said}
            await archive.forget(ADMIN, S)
            await archive.load(scope, document)
            assert (await archive.detail(scope, S)).row.owner == found

    async def test_a_key_imports_where_no_other_key_is(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        mine = Scope(key_hash=TEAM["key_hash"], home=(S.tenant, Owner(**TEAM)))
        await talk(store)
        await talk(store, "second")
        document = await archive.export(mine, S)
        await archive.forget(mine, S)
        await archive.load(mine, document)
        assert (await archive.detail(mine, S)).row.owner == Owner(**TEAM)
        await talk(store, "other", about={"team_id": "7c1f", "key_hash": "other"})
        await archive.forget(mine, S)
        # What it brings would stand for the beginnings of others' conversations, too.
        with pytest.raises(NotFound):
            await archive.load(mine, document)

    async def test_a_known_tenant_stays_whose_it_is(self, store: RedisStore, archive: RedisArchive) -> None:
        await talk(store)
        await talk(store, "neighbour")
        document = await archive.export(OWN, S)
        await archive.forget(OWN, S)
        ben = Owner(user_id="ben", key_hash="x")
        with pytest.raises(NotFound):
            await archive.load(Scope(user_id="ben", key_hash="x", home=(S.tenant, ben)), document)

    async def test_numbers_that_are_none_count_as_nothing(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        await three(store)
        key = f"gwc:{{{S.session_id}}}"
        bad = dict.fromkeys(("calls", "saved", "failures", "version"), "many")
        for value in ("9" * 400, "1e300", "\u00b2", "-"):
            untils = dict.fromkeys(("bypass_until", "backoff_until", "created", "window"), value)
            await raw(store).hset(f"{key}:session", mapping={**bad, **untils})
            await raw(store).hset(f"{key}:claims", A, f"1:{value}")
            shown = await archive.detail(OWN, S)
            assert (shown.bypass, shown.backoff, shown.row.calls, shown.claims) == (None, None, 0, ())
        broken: list[dict[str, Any]] = [{"covers": 10**400}, {"cost": "x"}, {"created_at": 1e400}]
        for facts in broken:
            await raw(store).hset(f"{key}:compactions", mapping={A: kept(**facts), b"\xff": "{}"})
            await raw(store).set(f"{key}:last", called(at=[]))
            shown = await archive.detail(OWN, S)
            assert A not in {one.digest for one in shown.compactions} and shown.last_call is None
        await store.append(
            S, replace(call(), tokens_before=900, tokens_after=100), ttl=TTL, call=CallRecord(view=A)
        )
        assert (await archive.detail(OWN, S)).row.calls == 1
        assert await store.put(S, record("n"), token=None, ttl=TTL, limit=9) == 1
        await raw(store).hdel(f"{key}:claims", A)
        await raw(store).hdel(f"{key}:session", "backoff_until")
        token = await store.claim(S, digest("z"), [], 60)
        await store.release(S, digest("z"), token, failure="it failed", ttl=TTL)
        assert (await archive.detail(OWN, S)).row.state == "failed"

    async def test_a_changed_record_is_refused(self, store: RedisStore, archive: RedisArchive) -> None:
        await three(store)
        document = dict(await archive.export(OWN, S))
        await archive.forget(OWN, S)
        text = document["compactions"][A]
        for changed in (text.replace('"v":1', '"v": 1'), text.replace(A, B), text[:-1] + ',"x":1}'):
            with pytest.raises(ActionRefused):
                await archive.load(ADMIN, {**document, "compactions": {A: changed}})


async def test_old_sessions_without_a_generation_are_usable(store: RedisStore, archive: RedisArchive) -> None:
    await talk(store)
    await raw(store).hdel(f"gwc:{{{S.session_id}}}:session", "generation")
    known = await generation(store)
    assert known.startswith("+")
    await store.append(S, event(), ttl=TTL, generation=known)
    assert not (await generation(store)).startswith("+")
    assert len((await archive.detail(OWN, S)).events) == 2


class Unanswered(RedisConnection):
    """A connection to a server that hangs: nothing is answered; ``asked`` counts what was waited for."""

    def __init__(self, client: Any) -> None:
        super().__init__(client)
        self.asked = 0

    async def _ask(self, call: Any, seconds: float, breaker: Breaker | None) -> Any:
        """Wait for nothing, as if the deadline had passed."""
        self.asked += 1
        assert seconds <= OPERATOR_SECONDS < 1
        raise StoreError("it did not answer in time")


UNANSWERED: dict[str, Callable[[RedisArchive, Scope, SessionRef], Awaitable[Any]]] = {
    **ALL,
    "overview": lambda archive, scope, where: archive.overview(scope, 24),
    "sessions": lambda archive, scope, where: archive.sessions(scope, Query()),
    "snapshots": lambda archive, scope, where: archive.snapshots(scope, where),
    "transcript": lambda archive, scope, where: archive.transcript(scope, where),
    "forget tenant": lambda archive, scope, where: archive.forget_tenant(scope, where.tenant),
}


@pytest.mark.parametrize("name", UNANSWERED)
async def test_an_operator_waits_once_for_a_server_that_hangs(name: str, store: RedisStore) -> None:
    """Page and command line answer within a second then: they wait for one question, less than a second."""
    connection = Unanswered(raw(store))
    with pytest.raises(StoreError):
        await UNANSWERED[name](RedisArchive(connection), ADMIN, S)
    assert connection.asked == 1
