"""The store on Redis, in process and on a server; tests/contracts/test_store.py holds its contract."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha1

import pytest

from gateway_compaction.adapters.redis.connection import connect
from gateway_compaction.adapters.redis.scripts import Script
from gateway_compaction.adapters.redis.store import RedisStore
from gateway_compaction.core.tokens.windows import LEARNED_SECONDS, LearnedWindow
from gateway_compaction.errors import StoreError
from gateway_compaction.ports import Buffer, CallRecord, Store
from tests.lab.redis_server import RedisServer
from tests.store_contract import TTL, digest, event, now, raw, record, session

S = session()


async def test_it_is_a_store(store: RedisStore) -> None:
    contract: Store = store
    await contract.ping()
    assert store.state == "closed"


async def test_no_digests_ask_nothing(store: RedisStore) -> None:
    assert await store.load(S, []) == Buffer()
    assert store.connection.round_trips == 0


async def test_load_gives_what_was_asked_for_in_one_round_trip(store: RedisStore) -> None:
    for name in "abc":
        await store.put(S, record(name), token=None, ttl=TTL, limit=9)
    await store.load(S, [digest("a")])
    before = store.connection.round_trips
    buffer = await store.load(S, [*(digest(i) for i in range(3000)), digest("c"), digest("a")])
    assert store.connection.round_trips == before + 1
    assert {c.digest for c in buffer.compactions} == {digest("a"), digest("c")}


async def test_a_limit_that_shrank_is_kept_too_and_the_new_record_stays(store: RedisStore) -> None:
    for name in range(6):
        await store.put(S, record(name), token=None, ttl=TTL, limit=9)
    await raw(store).zadd(f"gwc:{{{S.session_id}}}:used", {digest(0): 9e12})  # the clock was wrong once
    assert await store.put(S, record(6), token=None, ttl=TTL, limit=1)
    assert [c.digest for c in (await store.load(S, [digest(i) for i in range(7)])).compactions] == [digest(6)]


async def test_records_whose_times_were_evicted_count_as_the_oldest(store: RedisStore) -> None:
    for name in range(3):
        await store.put(S, record(name), token=None, ttl=TTL, limit=3)
    await raw(store).delete(f"gwc:{{{S.session_id}}}:used")
    await store.put(S, record(3), token=None, ttl=TTL, limit=3)
    await store.put(S, record(4), token=None, ttl=TTL, limit=3)
    kept = {c.digest for c in (await store.load(S, [digest(i) for i in range(5)])).compactions}
    assert len(kept) == 3
    assert {digest(3), digest(4)} < kept


async def test_one_lineage_keeps_sixteen(store: RedisStore) -> None:
    await store.put(S, record("branch"), token=None, ttl=TTL, limit=99)
    for name in range(20):
        parent = None if name == 0 else name - 1
        await store.put(S, record(name, parent=parent), token=None, ttl=TTL, limit=99)
    names = ["branch", *range(20)]
    kept = {c.digest for c in (await store.load(S, [digest(n) for n in names])).compactions}
    assert kept == {digest(n) for n in ["branch", *range(4, 20)]}


async def test_parents_in_a_circle_do_no_harm(store: RedisStore) -> None:
    await store.put(S, record("a", parent="b"), token=None, ttl=TTL, limit=9)
    await store.put(S, record("b", parent="a"), token=None, ttl=TTL, limit=9)
    await store.put(S, record("c", parent="c"), token=None, ttl=TTL, limit=9)
    assert await store.put(S, record("d", parent="a"), token=None, ttl=TTL, limit=9) == 4
    kept = {c.digest for c in (await store.load(S, [digest("c"), digest("d")])).compactions}
    assert kept == {digest("c"), digest("d")}


@pytest.mark.parametrize("leased", [False, True])
async def test_a_record_of_another_schema_keeps_nobody_from_writing(store: RedisStore, leased: bool) -> None:
    old = json.dumps(record("a").to_dict() | {"v": 99}, separators=(",", ":"))
    await raw(store).hset(f"gwc:{{{S.session_id}}}:compactions", digest("a"), old)
    token = await store.claim(S, digest("a"), [], 60)
    assert token > 0
    assert await store.put(S, record("a", "cleared"), token=token if leased else None, ttl=TTL, limit=9) == 1
    assert len((await store.load(S, [digest("a")])).compactions) == 1


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"{",
        b"null",
        b"[1]",
        b'"text"',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"v":2,"kind":"model"}',
        b'{"v":1,"kind":"model"}',
        b'{"v":1,"kind":["model"]}',
        b'{"v":1,"kind":"other"}',
    ],
)
async def test_a_record_that_cannot_be_read_is_left_out(store: RedisStore, broken: bytes) -> None:
    await raw(store).hset(f"gwc:{{{S.session_id}}}:compactions", digest("bad"), broken)
    for taken, others in (("bad", ()), ("good", [digest("bad")])):
        token = await store.claim(S, digest(taken), others, 60)
        assert token > 0
        await store.release(S, digest(taken), token, ttl=TTL)
    await store.put(S, record("good"), token=None, ttl=TTL, limit=9)
    buffer = await store.load(S, [digest("bad"), digest("good")])
    assert [c.digest for c in buffer.compactions] == [digest("good")]
    assert store.state == "closed"


async def test_a_record_of_another_schema_or_under_another_name_is_left_out(store: RedisStore) -> None:
    key = f"gwc:{{{S.session_id}}}:compactions"
    whole = record("a").to_dict()
    await raw(store).hset(key, digest("a"), json.dumps(whole | {"v": 99}))
    await raw(store).hset(key, digest("b"), json.dumps(whole))
    await raw(store).hset(key, digest("c"), json.dumps(whole | {"covers": float("inf")}))
    assert (await store.load(S, [digest("a"), digest("b"), digest("c")])).compactions == ()


async def test_using_what_is_gone_does_not_bring_it_back(store: RedisStore) -> None:
    await store.append(S, event(), ttl=TTL, call=CallRecord(used=digest("gone")))
    assert await raw(store).exists(f"gwc:{{{S.session_id}}}:used") == 0


async def test_factors_are_shared(store: RedisStore) -> None:
    assert await store.factors() == {}
    await store.save_factor("gpt/ü", 1.0625)
    await store.save_factor("gpt/ü", 1.125)
    await raw(store).hset("gwc:factors", mapping={"bad": "x", "nan": "nan", "zero": "0"})
    assert await store.factors() == {"gpt/ü": 1.125}


async def test_a_lost_script_is_sent_again(store: RedisStore) -> None:
    await store.put(S, record("a"), token=None, ttl=TTL, limit=9)
    await raw(store).script_flush()
    assert (await store.load(S, [digest("a")])).compactions


async def test_lost_scripts_are_sent_again_each_in_its_place(store: RedisStore) -> None:
    texts = [f"return {number}" for number in (1, 2, 3)]
    one, two, three = (("EVAL", Script(text, sha1(text.encode()).hexdigest()), 0) for text in texts)
    assert await store.connection.send(two) == [2]
    assert await store.connection.send(one, two, ("ECHO", "x"), three) == [1, 2, b"x", 3]


async def test_a_value_of_the_wrong_type_is_a_store_error(store: RedisStore) -> None:
    await raw(store).set(f"gwc:{{{S.session_id}}}:compactions", "text")
    with pytest.raises(StoreError):
        await store.load(S, [digest("a")])
    assert store.state == "closed"


async def test_learned_windows_are_shared_while_they_hold(store: RedisStore) -> None:
    assert await store.windows() == {}
    clock = await now(store)
    learned = LearnedWindow(3_000, 2_900, 2_950, (clock - 5, clock - 9), "openai/ü", 8_000)
    outdated = LearnedWindow(9_000, at=(clock - LEARNED_SECONDS - 5,))
    await store.save_window("d/ü", outdated)
    await store.save_window("d/ü", learned)
    await store.save_window("gone", outdated)
    assert await store.windows() == {"d/ü": learned}
    assert await raw(store).hkeys("gwc:windows") == ["d/ü".encode()]
    assert 0 < await raw(store).ttl("gwc:windows") <= LEARNED_SECONDS


@pytest.mark.parametrize(
    "bad", ["", "x", "[]", "1", '{"at": []}', '{"at": "x"}', '{"at": [NaN]}', '{"told": 3000}', "[" * 5_000]
)
async def test_a_window_that_cannot_be_read_is_left_out(store: RedisStore, bad: str) -> None:
    learned = LearnedWindow(told=3_000, at=(await now(store),))
    await store.save_window("good", learned)
    await raw(store).hset("gwc:windows", "bad", bad)
    assert await store.windows() == {"good": learned}
    assert await raw(store).hkeys("gwc:windows") == [b"good"]


async def test_factors_that_are_none_are_left_out(store: RedisStore) -> None:
    bad = dict(zip("abcdefg", ("0", "-1.5", "nan", "inf", "-inf", "x", ""), strict=True))
    await raw(store).hset("gwc:factors", mapping={**bad, "gpt": "1.5"})
    assert await store.factors() == {"gpt": 1.5}


async def test_names_that_are_no_text_do_no_harm(store: RedisStore) -> None:
    client = raw(store)
    await client.hset("gwc:factors", b"\xff", "1.5")
    [now, _] = await client.time()
    for noted in ("forgotten", "voided", "wishes"):
        await client.zadd(f"gwc:{noted}", {b"\xff": now + 60})
    await client.hset(f"gwc:{{{S.session_id}}}:claims", b"\xff", f"1:{9 * 10**12}")
    found = await store.notices()
    assert list(found.forgotten) == list(found.voided) == list(found.requested) == ["\ufffd"]
    assert await store.factors() == {"\ufffd": 1.5}
    assert (await store.load(S, [digest("a")])).in_flight == frozenset()


async def test_values_that_are_no_text_do_no_harm(quiet_server: RedisServer) -> None:
    quiet_server.flush()
    store = RedisStore(connect(quiet_server.url), timeout_seconds=2.0)
    about = {"team_id": "t", "key_hash": "k"}
    await store.append(S, event(), ttl=TTL, call=CallRecord(labels=["x"], about=about, view="raw"))
    bad = {"policy": b"\xff", "about:key_hash": b"\xfe\xff", "backoff_reason": b"\xc3"}
    await raw(store).hset(f"gwc:{{{S.session_id}}}:session", mapping=bad)
    known = (await store.load(S, [digest("a")])).controls.generation
    token = await store.claim(S, digest("a"), [], 60, known)
    assert await store.renew(S, digest("a"), token, 60)
    assert await store.put(S, record("a"), token=token, ttl=TTL, limit=9, generation=known) == 1
    await store.bypass(S, "400", 60, known)
    await store.backoff(S, "late", 1, "")
    await store.append(
        S, replace(event(), level="light"), ttl=TTL, generation=known, call=CallRecord(view="raw")
    )
    await store.append(S, replace(event(), outcome="later", policy="p"), ttl=TTL, call=CallRecord(view="raw"))
    token = await store.claim(session("other"), digest("b"), [], 60)
    await store.release(session("other"), digest("b"), token, failure="late", ttl=TTL)
    buffer = await store.load(S, [digest("a")])
    assert ([c.version for c in buffer.compactions], buffer.bypass) == ([1], "400")
    text = await raw(store).hget(f"gwc:{{{S.tenant}}}:rows", S.key)
    row = json.loads(text.decode("utf-8", "replace"))
    assert (row["outcome"], row["calls"], row["about:key_hash"]) == ("later", "3", "\ufffd\ufffd")
    await store.aclose()
