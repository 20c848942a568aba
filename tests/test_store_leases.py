"""Leases, fencing, expiry and names of the store, over an in-process Redis and over a real one."""

from __future__ import annotations

import asyncio
import json
from functools import partial

import pytest
from redis.crc import key_slot

from gateway_compaction.adapters.redis.connection import connect
from gateway_compaction.adapters.redis.store import RedisStore
from gateway_compaction.ports import CallRecord
from tests.lab.redis_server import RedisServer
from tests.lab.waiting import until
from tests.store_contract import TTL, digest, event, fill, raw, record, session

S = session()
A, B, C = digest("a"), digest("b"), digest("c")


async def after(store: RedisStore, token: int) -> bool:
    """Whether the store's clock has passed a token."""
    seconds, micros = await raw(store).time()
    return bool(seconds * 1000 + micros // 1000 > token)


async def test_tokens_only_grow_even_when_the_session_is_lost(store: RedisStore) -> None:
    tokens = []
    for _ in range(5):
        tokens.append(await store.claim(S, A, [], 60))
        await store.release(S, A, tokens[-1], ttl=TTL)
    assert tokens == sorted(set(tokens))
    # Tokens of one moment run ahead of the clock, by one each.
    await until(partial(after, store, tokens[-1]), "the clock to pass the last token")
    await raw(store).flushall()
    assert await store.claim(S, A, [], 60) > tokens[-1]


async def milliseconds(store: RedisStore) -> int:
    """The store's clock."""
    [seconds, microseconds] = await raw(store).time()
    return int(seconds) * 1000 + int(microseconds) // 1000


async def test_failures_back_off_longer_each_time_and_success_resets(store: RedisStore) -> None:
    key = f"gwc:{{{S.session_id}}}:session"
    for pause in (5, 10, 20, 40, 80, 160, 320, 600, 600):
        token = await store.claim(S, A, [], 60)
        assert token > 0
        before = await milliseconds(store)
        await store.release(S, A, token, failure="rate limited", ttl=TTL)
        until = int(await raw(store).hget(key, "backoff_until") or 0)
        assert before <= until - pause * 1000 <= await milliseconds(store)
        assert (await store.load(S, [A])).backoff == "rate limited"
        assert await store.claim(S, A, [], 60) == 0
        await raw(store).hdel(key, "backoff_until")
    token = await store.claim(S, A, [], 60)
    await store.put(S, record("a"), token=token, ttl=TTL, limit=9)
    assert await raw(store).hget(key, "failures") == b"0"


async def test_a_pause_is_no_longer_than_it_may_be(store: RedisStore) -> None:
    key = f"gwc:{{{S.session_id}}}:session"
    for pause in (5, 10, 10, 10):
        await raw(store).hdel(key, "backoff_until")
        token = await store.claim(S, A, [], 60)
        await store.release(S, A, token, failure="an outage", ttl=TTL, longest_pause=10.0)
        left = int(await raw(store).hget(key, "backoff_until")) - await milliseconds(store)
        assert (pause - 5) * 1_000 < left <= pause * 1_000


async def test_a_release_without_failure_begins_the_count_anew(store: RedisStore) -> None:
    key = f"gwc:{{{S.session_id}}}:session"
    for failure in ("late", "late", None, "late"):
        await raw(store).hdel(key, "backoff_until")
        await store.release(S, A, await store.claim(S, A, [], 60), failure=failure, ttl=TTL)
    left = int(await raw(store).hget(key, "backoff_until")) - await milliseconds(store)
    assert 0 < left <= 5_000 and await raw(store).hget(key, "failures") == b"1"


async def test_a_failure_does_not_shorten_a_longer_pause(store: RedisStore) -> None:
    token = await store.claim(S, A, [], 60)
    await store.backoff(S, "nothing helps", 600)
    await store.release(S, A, token, failure="late", ttl=TTL)
    until = int(await raw(store).hget(f"gwc:{{{S.session_id}}}:session", "backoff_until"))
    assert until - await milliseconds(store) > 500_000
    assert (await store.load(S, [A])).backoff == "nothing helps"


async def test_of_many_claims_at_once_exactly_one_wins(quiet_server: RedisServer) -> None:
    quiet_server.flush()
    one, two = (RedisStore(connect(quiet_server.url), timeout_seconds=5.0) for _ in range(2))
    for attempt in range(3):
        name = digest(attempt)
        tokens = await asyncio.gather(*(s.claim(S, name, [], 60) for _ in range(25) for s in (one, two)))
        assert sum(token > 0 for token in tokens) == 1
    await one.aclose()
    await two.aclose()


async def test_no_update_is_lost(store: RedisStore) -> None:
    versions = await asyncio.gather(
        *(store.put(S, record(i), token=None, ttl=TTL, limit=99) for i in range(40)),
    )
    assert sorted(versions) == list(range(1, 41))
    assert len((await store.load(S, [digest(i) for i in range(40)])).compactions) == 40
    await asyncio.gather(
        *(store.append(S, event(str(i)), ttl=TTL, call=CallRecord(labels=[f"l{i}"])) for i in range(30))
    )
    assert await raw(store).llen(f"gwc:{{{S.session_id}}}:events") == 30


async def test_every_key_expires(store: RedisStore) -> None:
    await fill(store)
    ttls = {key: await raw(store).ttl(key) for key in await raw(store).keys()}
    assert len(ttls) == 24
    longer = {key: ttl for key, ttl in ttls.items() if b"factors" in key or b":hours" in key}
    # A claim that comes before everything else keeps a session for a day.
    assert all(0 < ttl <= TTL for key, ttl in ttls.items() if S.session_id.encode() in key), ttls
    assert all(0 < ttl <= 86_400 for key, ttl in ttls.items() if key not in longer), ttls
    assert longer.pop(b"gwc:factors") > 29 * 86_400
    assert len(longer) == 2 and all(7 * 86_400 < ttl <= 8 * 86_400 for ttl in longer.values())


@pytest.mark.parametrize("first", ["claim", "bypass", "backoff"])
async def test_what_is_written_before_any_ttl_is_known_expires_too(store: RedisStore, first: str) -> None:
    days = 1 if first == "claim" else 3
    if first == "claim":
        await store.claim(S, A, [], 60)
    else:
        await getattr(store, first)(S, "reason", days * 86_400)
    ttls = {key: await raw(store).ttl(key) for key in await raw(store).keys()}
    assert ttls
    assert all(days * 86_400 - 300 < ttl <= days * 86_400 for ttl in ttls.values()), ttls


async def test_the_life_of_an_index_is_never_shortened_and_a_session_follows_its_policy(
    store: RedisStore,
) -> None:
    await store.append(S, event(), ttl=1000, call=CallRecord(labels=["x"], about={"team": "t"}))
    await store.append(S, event(), ttl=100, call=CallRecord(labels=["x"], about={"team": "t"}))
    for key in await raw(store).keys():
        ttl = await raw(store).ttl(key)
        if key.endswith(b":hours"):
            continue
        assert (ttl <= 100) if S.session_id.encode() in key else (900 < ttl <= 1000), key
    await store.append(S, event(), ttl=2000, call=CallRecord(labels=["x"]))
    assert await raw(store).ttl("gwc:tenants") > 1000


async def test_names_hold_hashes_only_and_a_session_one_slot(store: RedisStore) -> None:
    await fill(store)
    names = [key.decode() for key in await raw(store).keys()]
    assert all(name.startswith("gwc:") for name in names)
    assert not [n for n in names if any(w in n for w in ("ana", "example", "tkt", "@", " ", "rzte"))]
    own = [name for name in names if S.session_id in name]
    assert len(own) == 8
    assert len({key_slot(name.encode()) for name in own}) == 1
    assert len({key_slot(name.encode()) for name in names if f"{{{S.tenant}}}" in name}) == 1


async def test_what_operators_find(store: RedisStore) -> None:
    await fill(store)
    client = raw(store)
    fields = await client.hgetall(f"gwc:{{{S.session_id}}}:session")
    assert json.loads(fields[b"labels"]) == ["ana@example.com", "tkt-ID 7"]
    assert fields[b"about:team"].decode() == "Ärzte & Co"
    assert fields[b"v"] == b"1"
    assert {b"created", b"seen", b"version", b"fence"} < set(fields)
    facts = await client.hgetall(f"gwc:{{{S.tenant}}}:about")
    assert facts[b"user_id"] == b"ana@example.com"
    assert await client.zrange(f"gwc:{{{S.tenant}}}:sessions", 0, -1) == [S.key.encode()]
    assert await client.zrange("gwc:tenants", 0, -1) == [S.tenant.encode()]
    labels = [key async for key in client.scan_iter("gwc:*:label:*")]
    assert len(labels) == 2
    assert json.loads((await client.lrange(f"gwc:{{{S.session_id}}}:events", 0, 0))[0]) == event().to_dict()


async def test_lists_are_bounded(store: RedisStore) -> None:
    for number in range(12):
        await store.append(S, event(), ttl=TTL, call=CallRecord(labels=[f"l{number}", "same" * 100]))
    fields = await raw(store).hget(f"gwc:{{{S.session_id}}}:session", "labels")
    assert json.loads(fields or "") == ["l11", "same" * 50, *(f"l{n}" for n in range(10, 4, -1))]
    await raw(store).rpush(f"gwc:{{{S.session_id}}}:events", *["{}"] * 300)
    await store.append(S, event(), ttl=TTL)
    assert await raw(store).llen(f"gwc:{{{S.session_id}}}:events") == 200
    for number in range(105):
        await store.append(session(str(number)), event(), ttl=TTL, call=CallRecord(labels=["shared"]))
    sizes = [await raw(store).zcard(key) async for key in raw(store).scan_iter("gwc:*:label:*")]
    assert max(sizes) == 100


async def test_labels_that_cannot_be_read_are_replaced(store: RedisStore) -> None:
    await raw(store).hset(f"gwc:{{{S.session_id}}}:session", "labels", "{not json")
    await store.append(S, event(), ttl=TTL, call=CallRecord(labels=["new \ud83d"]))
    assert await raw(store).hget(f"gwc:{{{S.session_id}}}:session", "labels") == b'["new ?"]'


async def test_the_in_process_store_lets_go_of_what_expired() -> None:
    store = RedisStore(connect(None))
    for number in range(20):
        await store.append(session(str(number)), event(), ttl=0.01)
    # Longer than they live, however slow the machine is.
    await asyncio.sleep(0.05)
    await store.append(S, event(), ttl=TTL)
    server = raw(store).connection_pool.connection_kwargs["server"]
    assert len(server.dbs[0]._dict) == 6
    await store.aclose()


async def test_two_in_process_stores_share_nothing() -> None:
    one, two = RedisStore(connect(None)), RedisStore(connect(None))
    await one.bypass(S, "400", 60)
    assert (await two.load(S, [A])).bypass is None
    await one.aclose()
    await two.aclose()
