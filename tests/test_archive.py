"""The operators' side of the store, over an in-process Redis and over a real one: lists, sessions, counts."""

from __future__ import annotations

import asyncio
import base64
import json
from dataclasses import replace
from typing import Any

import pytest

from gateway_compaction.adapters.redis.archive import RedisArchive
from gateway_compaction.adapters.redis.connection import RedisConnection
from gateway_compaction.adapters.redis.store import RedisStore
from gateway_compaction.archive import Archive, Owner, Query, Scope, SessionRow
from gateway_compaction.core.records.call_snapshot import CallSnapshot
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.core.records.event import CompactionEvent
from gateway_compaction.errors import ActionRefused, NotFound
from gateway_compaction.ports import CallRecord
from tests.lab.waiting import until
from tests.store_contract import TTL, digest, event, raw, record, session, stored

HUGE = base64.urlsafe_b64encode(json.dumps(["seen", False, 10**310, "x"]).encode()).decode()
ADMIN = Scope(everything=True, actor="the admin")
TEAM = {"team_id": "7c1f", "team": "research", "user_id": "ana", "key_hash": digest("k1"), "key_alias": "k1"}
USER = {"user_id": "ben", "key_hash": digest("k2")}


@pytest.fixture
def archive(store: RedisStore) -> RedisArchive:
    return RedisArchive(store.connection)


def call(**changes: Any) -> CompactionEvent:
    """A rewritten request."""
    made = replace(event(), model="gpt-4o", policy="research", tokens_before=900, tokens_after=300)
    return replace(made, window=1000, covers=4, **changes)


async def talk(
    store: RedisStore, name: str = "chat", tenant: str = "team", about: Any = TEAM, **changes: Any
) -> SessionRef:
    """One call of a conversation."""
    where = session(name, tenant)
    labels = changes.pop("labels", [f"label of {name}"])
    await store.append(
        where, call(**changes), ttl=TTL, call=CallRecord(labels=labels, about=about, view=digest("a"))
    )
    return where


async def listed(archive: RedisArchive, scope: Scope = ADMIN, **query: Any) -> list[SessionRow]:
    """The first page."""
    return list((await archive.sessions(scope, Query(**query))).rows)


class TestList:
    """One line for each session."""

    async def test_it_is_an_archive(self, archive: RedisArchive) -> None:
        contract: Archive = archive
        page = await contract.sessions(ADMIN, Query())
        assert (page.rows, page.cursor, page.total) == ((), None, 0)

    async def test_a_row_tells_the_latest_call_and_what_all_calls_saved(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        where = await talk(store)
        await talk(store, labels=["later"], level="aggressive", outcome="fallback", tokens_after=500)
        await talk(store, labels=[], level=None, outcome="observed", tokens_after=850)
        await store.put(where, record("a"), token=None, ttl=TTL, limit=9)
        [row] = await listed(archive)
        assert row.session == where and row.owner == Owner(**TEAM)
        assert row.labels == ("later", "label of chat")
        assert (row.model, row.policy, row.level, row.outcome) == ("gpt-4o", "research", None, "observed")
        assert (row.calls, row.saved, row.would_save, row.versions) == (3, 600 + 400, 50, 1)
        assert (row.tokens_before, row.tokens_after, row.window, row.covers) == (900, 850, 1000, 4)
        assert (row.state, row.reason) == ("idle", None)
        [second, _] = await raw(store).time()
        assert second - 5 <= row.created <= row.seen <= second

    async def test_its_state_is_that_of_its_summary(self, store: RedisStore, archive: RedisArchive) -> None:
        where = await talk(store)
        token = await store.claim(where, digest("b"), [], 60)
        assert [r.state for r in await listed(archive)] == ["summarizing"]
        await store.release(where, digest("b"), token, failure="rate limited", ttl=TTL)
        [row] = await listed(archive)
        assert (row.state, row.reason) == ("failed", "rate limited")
        assert await listed(archive, state="failed") and not await listed(archive, state="idle")
        await store.bypass(await talk(store, "other"), "answered 400", 60)
        assert {r.reason for r in await listed(archive)} == {"rate limited", "answered 400"}

    async def test_a_lease_that_ran_out_leaves_a_session_idle(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        await store.claim(await talk(store), digest("b"), [], 0.05)

        async def idle() -> bool:
            return [r.state for r in await listed(archive)] == ["idle"]

        await until(idle, "the lease to run out")

    async def test_every_filter(self, store: RedisStore, archive: RedisArchive) -> None:
        await talk(store, "one", labels=["Ticket <b>7</b>"])
        await talk(store, "two", "ben", USER, model="claude", level=None)
        found = {
            "team id": await listed(archive, team="7c1f"),
            "team name": await listed(archive, team="research"),
            "model": await listed(archive, model="gpt-4o"),
            "level": await listed(archive, level="medium"),
            "text of a label": await listed(archive, text="ticket <B>"),
            "text of an alias": await listed(archive, text="RESEARCH"),
            "text of the id": await listed(archive, text=session("one").key[3:20]),
        }
        for name, rows in found.items():
            assert [r.session for r in rows] == [session("one")], name
        assert [r.session.tenant for r in await listed(archive, level="none")] == [session("", "ben").tenant]
        assert not await listed(archive, text=digest("k1")), "a key's hash is not searched"
        [now, _] = await raw(store).time()
        assert len(await listed(archive, since=now - 60, until=now + 60)) == 2
        assert not await listed(archive, since=now + 60) and not await listed(archive, until=now - 60)

    @pytest.mark.parametrize("ascending", [False, True])
    @pytest.mark.parametrize("sort", ["seen", "created", "saved", "tokens", "calls"])
    async def test_pages_hold_every_session_once_in_order(
        self, store: RedisStore, archive: RedisArchive, sort: Any, ascending: bool
    ) -> None:
        for number in range(11):
            await talk(store, f"s{number}", f"t{number % 3}", tokens_before=1000 + number % 4)
        for name in ("s3", "s5", "s9"):
            await talk(store, name, f"t{int(name[1:]) % 3}")
        query, rows = Query(sort=sort, ascending=ascending, limit=4), list[SessionRow]()
        while True:
            page = await archive.sessions(ADMIN, query)
            assert page.total == 11
            rows += page.rows
            if page.cursor is None:
                break
            assert len(page.rows) == 4
            query = replace(query, cursor=page.cursor)
        assert len({r.session.session_id for r in rows}) == len(rows) == 11
        column = "tokens_before" if sort == "tokens" else sort
        values = [(getattr(r, column), r.session.session_id) for r in rows]
        assert values == sorted(values, reverse=not ascending)

    @pytest.mark.parametrize("cursor", ["", "x", "AAAA", "bnVsbA", "W10", "e30", "\ud800", "W1siYSJd", HUGE])
    async def test_a_cursor_of_something_else_is_refused(self, archive: RedisArchive, cursor: str) -> None:
        with pytest.raises(ActionRefused):
            await archive.sessions(ADMIN, Query(cursor=cursor))

    async def test_a_cursor_of_another_order_is_refused(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        for name in ("one", "two"):
            await talk(store, name)
        page = await archive.sessions(ADMIN, Query(limit=1))
        with pytest.raises(ActionRefused):
            await archive.sessions(ADMIN, Query(limit=1, sort="calls", cursor=page.cursor))

    async def test_what_expired_is_not_listed(self, store: RedisStore, archive: RedisArchive) -> None:
        await talk(store, "long")
        await store.append(session("short"), call(), ttl=1.0, call=CallRecord(about=TEAM))
        assert len(await listed(archive)) == 2

        async def expired() -> bool:
            return len(await listed(archive)) < 2

        await until(expired, "the session to expire")
        page = await archive.sessions(ADMIN, Query())
        assert [r.session for r in page.rows] == [session("long")] and page.total == 1

    async def test_nothing_is_left_of_what_expired_while_others_go_on(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        for number in range(30):
            await store.append(
                session(f"short {number}"), call(), ttl=0.5, call=CallRecord(labels=["x"], about=TEAM)
            )
        kept = [await talk(store, f"long {number}") for number in range(3)]
        assert len(await listed(archive)) >= 3
        names = [f"gwc:{{{session().tenant}}}:{name}" for name in ("sessions", "rows")]

        async def gone() -> bool:
            await talk(store, "long 0")
            return int(await raw(store).zcard(names[0])) == 3

        await until(gone, "the rows of expired sessions to go")
        # On a slow machine the list above has already dropped some of them, and counts that.
        left = set(await raw(store).hkeys(names[1])) - {b"dropped"}
        assert left == {b"begun", b"written", *(one.key.encode() for one in kept)}
        assert {row.session for row in await listed(archive)} == set(kept)

    async def test_what_was_evicted_leaves_the_list(self, store: RedisStore, archive: RedisArchive) -> None:
        gone, kept = await talk(store, "gone"), await talk(store, "kept")
        await raw(store).delete(f"gwc:{{{gone.session_id}}}:session")
        page = await archive.sessions(ADMIN, Query())
        assert [r.session for r in page.rows] == [kept] and page.total == 1
        assert await raw(store).hexists(f"gwc:{{{gone.tenant}}}:rows", gone.key) == 0

    async def test_rows_go_with_the_members_that_the_list_forgets(self, store: RedisStore) -> None:
        await talk(store, "old")
        names = [f"gwc:{{{session().tenant}}}:{name}" for name in ("sessions", "rows")]
        await raw(store).zadd(names[0], {session("old").key: 1})
        await talk(store, "new")
        assert await raw(store).zrange(names[0], 0, -1) == [session("new").key.encode()]
        assert set(await raw(store).hkeys(names[1])) == {
            session("new").key.encode(), b"begun", b"written", b"dropped",
        }  # fmt: skip

    async def test_an_older_row_never_replaces_a_newer_one(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        where = await talk(store)
        key = f"gwc:{{{where.tenant}}}:rows"
        old = await raw(store).hget(key, where.key)
        await talk(store)
        from gateway_compaction.adapters.redis.index import build_listing

        await store.connection.send(*build_listing(where, old, TTL))
        assert [r.calls for r in await listed(archive)] == [2]

    async def test_a_list_kept_by_the_process_follows_what_others_do(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        for number in range(3):
            await talk(store, f"s{number}")
        assert len(await listed(archive)) == 3
        await talk(store, "s1")
        await talk(store, "s9")
        assert sorted(r.calls for r in await listed(archive)) == [1, 1, 1, 2]
        other = RedisArchive(store.connection)
        for number in (0, 1, 2, 9):
            await other.forget(ADMIN, session(f"s{number}"))
        assert await listed(archive) == []
        for number in range(3):
            await talk(store, f"n{number}")
        assert {r.session.key for r in await listed(archive)} == {session(f"n{n}").key for n in range(3)}

    async def test_readers_and_writers_at_once_all_see_every_session(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        for number in range(12):
            await talk(store, f"s{number}", f"t{number % 3}")
        seen: list[int] = []

        async def read() -> None:
            for _ in range(12):
                page = await archive.sessions(ADMIN, Query())
                seen.append(page.total if page.total == len(page.rows) else -page.total)

        async def write(number: int) -> None:
            for turn in range(12):
                await talk(store, f"s{(number + turn) % 12}", f"t{(number + turn) % 3}")

        await asyncio.gather(*(read() for _ in range(4)), *(write(n) for n in range(4)))
        assert seen == [12] * 48
        assert sum(r.calls for r in await listed(archive)) == 12 + 48

    async def test_a_row_without_anything_in_it_hides_no_other(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        where, empty = await talk(store), await talk(store, "empty")
        await raw(store).hset(f"gwc:{{{where.tenant}}}:rows", empty.key, "")
        assert [r.session for r in await listed(archive)] == [where]

    async def test_a_row_that_cannot_be_read_does_no_harm(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        where = await talk(store)
        await raw(store).hset(
            f"gwc:{{{where.session_id}}}:session", mapping={"calls": "many", "labels": "{", "window": "inf"}
        )
        await talk(store, "other")
        await store.bypass(where, "x", 1)
        rows = {r.session: r for r in await listed(archive)}
        found = rows[where]
        assert (found.calls, found.labels, found.window, found.reason) == (0, (), None, "x")


class TestDetail:
    """Everything of one session."""

    async def test_it_holds_all_that_is_kept(self, store: RedisStore, archive: RedisArchive) -> None:
        where = session()
        await store.put(where, record("a", "cleared"), token=None, ttl=TTL, limit=9)
        await store.put(where, record("b", parent="a"), token=None, ttl=TTL, limit=9)
        await store.claim(where, digest("c"), [], 60)
        await store.bypass(where, "answered 400", 60)
        await store.backoff(where, "did not help", 60)
        last = CallSnapshot(
            1.5,
            (("user", 3, "covered"),),
            (("user", 2, "summary"),),
            ({"role": "user"},),
            (),
            (1, 2, 3),
            9,
            1,
            1,
            2,
            (1,),
        )
        await store.append(
            where, call(), ttl=TTL, call=CallRecord(about=TEAM, used=digest("b"), snapshot=last)
        )
        found = await archive.detail(ADMIN, where)
        assert found.row.session == where and found.row.state == "summarizing"
        assert found.compactions == (
            stored(record("b", parent="a"), 2),
            stored(record("a", "cleared"), 1),
        )
        assert found.retired == () and found.events == (call(),) and found.last_call == last
        [(claimed, deadline)] = found.claims
        [now, _] = await raw(store).time()
        assert claimed == digest("c") and now < deadline < now + 61
        assert found.bypass is not None and found.backoff is not None
        assert found.bypass[1] == "answered 400" and now < found.bypass[0] < now + 61
        assert found.backoff[1] == "did not help"
        assert 0 < found.ttl <= TTL and found.steering.generation

    @pytest.mark.parametrize("where", [session("none"), SessionRef("", ""), SessionRef("*", "{}")])
    async def test_an_unknown_one_is_not_there(self, archive: RedisArchive, where: SessionRef) -> None:
        with pytest.raises(NotFound):
            await archive.detail(ADMIN, where)

    async def test_what_cannot_be_read_is_left_out(self, store: RedisStore, archive: RedisArchive) -> None:
        where = await talk(store)
        name = f"gwc:{{{where.session_id}}}:"
        await raw(store).hset(f"{name}compactions", digest("x"), b"\xff{")
        await raw(store).hset(f"{name}retired", "1", b"[]")
        await raw(store).hset(f"{name}claims", digest("x"), b"nonsense")
        await raw(store).lpush(f"{name}events", b"\xff", b"[]", b'{"type":"request"}', b'{"at":"now"}')
        for number in (b"NaN", b"Infinity", b"-Infinity", b'"7"', b"null"):
            text = b'{"type":"request","at":1.0,"outcome":"none","reason":"","tokens_before":%b}' % number
            await raw(store).lpush(f"{name}events", text)
        await raw(store).set(f"{name}last", b'{"sent": 3}')
        found = await archive.detail(ADMIN, where)
        assert (found.compactions, found.retired, found.claims, found.last_call) == ((), (), (), None)
        assert found.events == (call(),)

    async def test_one_that_nobody_called_yet_was_seen_when_it_began(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        await raw(store).hset(
            f"gwc:{{{session().session_id}}}:session", mapping={"created": "1700000000", "version": 1}
        )
        row = (await archive.detail(ADMIN, session())).row
        assert row.seen == row.created == 1_700_000_000

    async def test_a_last_call_over_2_mb_is_kept_without_its_messages(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        large = ({"role": "user", "content": "x" * 2_100_000},)
        last = CallSnapshot(1.0, (("user", 3, "verbatim"),), (("user", 3, "verbatim"),), large, large)
        await store.append(session(), call(), ttl=TTL, call=CallRecord(about=TEAM, snapshot=last))
        kept = (await archive.detail(ADMIN, session())).last_call
        assert kept == replace(last, client=None, model=None, omitted=True)


class TestHours:
    """Counts by hour, owner and model."""

    async def test_they_add_up_what_events_tell(self, store: RedisStore, archive: RedisArchive) -> None:
        where = await talk(store)
        await talk(store, outcome="observed", tokens_after=500)
        await store.append(where, call(), ttl=TTL, call=CallRecord(about=TEAM, view="raw"))
        made = replace(event(), type="summary", outcome="made", model="small", cost=0.25)
        for outcome in ("made", "failed"):
            await store.append(where, replace(made, outcome=outcome), ttl=TTL)
        found = {hour.model: hour for hour in await archive.overview(ADMIN, 2)}
        large, small = found["gpt-4o"], found["small"]
        assert (large.requests, large.rewritten, large.breaks) == (3, 2, 1)
        assert (large.tokens_before, large.tokens_after) == (2700, 300 + 900 + 300)
        assert (large.saved, large.would_save) == (1200, 400)
        assert (small.summaries, small.failures, small.cost) == (1, 1, 0.5)
        assert large.owner == Owner(**TEAM) and large.start % 3600 == 0

    async def test_the_cache_breaks_where_a_compaction_is_sent_for_the_first_time(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        """Not on the way back to what was sent before, nor as often as two branches take turns."""
        where = await talk(store)
        for view in ("raw", "extractive:b", digest("a"), "raw", "extractive:b", "model:b", "extractive:b"):
            await store.append(where, call(), ttl=TTL, call=CallRecord(about=TEAM, view=view))
        [hour] = await archive.overview(ADMIN, 2)
        assert (hour.requests, hour.breaks) == (8, 3)

    async def test_counts_that_are_none_are_nothing(self, store: RedisStore, archive: RedisArchive) -> None:
        await talk(store)
        key = f"gwc:{{{session().tenant}}}:hours"
        [hour] = await raw(store).hkeys(key)
        bad = '{"requests": 1e400, "saved": NaN, "breaks": [], "cost": "x", "summaries": 2}'
        await raw(store).hset(key, hour, f'{{"gpt-4o": {bad}, "m": 3}}')
        [found] = await archive.overview(ADMIN, 1)
        assert (found.model, found.summaries) == ("gpt-4o", 2)
        assert (found.requests, found.saved, found.breaks, found.cost) == (0, 0, 0, 0.0)

    async def test_owners_see_their_own_only(self, store: RedisStore, archive: RedisArchive) -> None:
        await talk(store)
        await talk(store, "two", about={**TEAM, "key_hash": digest("k9"), "user_id": "eve"})
        await talk(store, "three", "ben", USER)
        for scope, requests in (
            (ADMIN, 3),
            (Scope(teams=frozenset({"7c1f"})), 2),
            (Scope(key_hash=digest("k1")), 1),
            (Scope(key_hash=digest("k9")), 1),
            (Scope(user_id="ben"), 1),
            (Scope(user_id="ana"), 0),
            (Scope(teams=frozenset({"7c1f"}), key_hash=digest("k9"), user_id="ben"), 3),
            (Scope(), 0),
        ):
            found = await archive.overview(scope, 1)
            assert sum(hour.requests for hour in found) == requests, scope
            assert all(scope.allows(hour.owner) for hour in found)

    async def test_models_and_hours_are_bounded(self, store: RedisStore, archive: RedisArchive) -> None:
        for number in range(55):
            await talk(store, model=f"m{number}")
        key = f"gwc:{{{session().tenant}}}:hours"
        assert len(await raw(store).hkeys(key)) == 1
        found = {hour.model: hour.requests for hour in await archive.overview(ADMIN, 1)}
        assert len(found) == 51 and found["others"] == 5
        [hour] = await raw(store).hkeys(key)
        await raw(store).hset(key, mapping={"7": "{}", str(int(hour) - 1): '{"m":{"requests":2}}'})
        await raw(store).hdel(key, hour)
        await talk(store)
        assert await raw(store).hexists(key, "7") == 0
        assert sum(hour.requests for hour in await archive.overview(ADMIN, 2)) == 3
        assert sum(hour.requests for hour in await archive.overview(ADMIN, 1)) == 1


class TestOwners:
    """Whose a session is."""

    async def test_what_several_keys_share_belongs_to_their_team_alone(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        where = await talk(store)
        own, other = Scope(key_hash=digest("k1")), Scope(key_hash=digest("k9"))
        assert await listed(archive, own) and not await listed(archive, other)
        await talk(store, about={**TEAM, "key_hash": digest("k9"), "user_id": "eve"})
        await talk(store)
        for scope in (own, other, Scope(user_id="ana")):
            assert not await listed(archive, scope)
            with pytest.raises(NotFound):
                await archive.detail(scope, where)
        [row] = await listed(archive, Scope(teams=frozenset({"7c1f"})))
        assert row.owner == Owner(team_id="7c1f", team="research", key_alias="k1")

    async def test_a_team_that_was_renamed_is_shown_by_its_new_name(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        await talk(store)
        await talk(store, about={**TEAM, "team": "development"})
        [row] = await listed(archive)
        assert (row.owner.team_id, row.owner.team, row.owner.user_id) == ("7c1f", "development", "ana")

    async def test_a_session_of_nobody_is_for_proxy_admins_only(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        where = await talk(store, about=None)
        assert await listed(archive)
        for scope in (Scope(), Scope(teams=frozenset({""}), user_id="", key_hash="")):
            assert not await listed(archive, scope)
            with pytest.raises(NotFound):
                await archive.detail(scope, where)

    async def test_ids_that_only_begin_alike_are_not_one(
        self, store: RedisStore, archive: RedisArchive
    ) -> None:
        await talk(store, about={"team_id": "x" * 300})
        for team in ("x" * 200, "x" * 300 + "y", "?"):
            assert not await listed(archive, Scope(teams=frozenset({team})))
        await talk(store, "two", "u", about={"team_id": "a\ud800"})
        assert not await listed(archive, Scope(teams=frozenset({"a?"})))


class TestWatch:
    """Rows as they change."""

    async def test_tenants_in_which_nothing_happens_are_not_asked_for(self, store: RedisStore) -> None:
        watching = RedisStore(RedisConnection(raw(store)), timeout_seconds=2.0)
        for number in range(40):
            await talk(store, tenant=f"team, end user {number}")
        for key in ("gwc:tenants", *await raw(store).keys("gwc:owner:*")):
            for name in await raw(store).zrange(key, 0, -1):
                await raw(store).zadd(key, {name: 1})
        rows = RedisArchive(watching.connection).watch(Scope(teams=frozenset({"7c1f"})))
        told = asyncio.create_task(anext(rows))
        await until(lambda: watching.connection.round_trips > 1, "the watch to have begun")
        where = await talk(store, "now", tenant="team, end user 7")
        assert (await told).session == where
        assert watching.connection.round_trips < 20

    async def test_it_tells_what_happens_from_now_on(self, store: RedisStore, archive: RedisArchive) -> None:
        await talk(store, "before")
        rows: list[SessionRow] = []
        stores = [RedisStore(RedisConnection(raw(store)), timeout_seconds=2.0) for _ in range(2)]

        async def follow(store: RedisStore, scope: Scope) -> None:
            async for row in RedisArchive(store.connection).watch(scope):
                rows[len(rows) :] = [row]

        scopes = (ADMIN, Scope(user_id="ben"))
        both = [asyncio.create_task(follow(*one)) for one in zip(stores, scopes, strict=True)]
        # The first thing that is asked is the time from which on it tells.
        await until(lambda: all(one.connection.round_trips > 1 for one in stores), "both to have begun")
        first = await talk(store, "one")
        await talk(store, "two", "ben", USER)
        await archive.compact(ADMIN, session("before"))
        await until(lambda: len(rows) >= 4, "the rows")
        assert sorted(r.session.session_id for r in rows) == sorted(
            s.session_id for s in (first, session("before"), session("two", "ben"), session("two", "ben"))
        )
        for task in both:
            task.cancel()
        await asyncio.gather(*both, return_exceptions=True)
