"""The contract ``ports.Store``, told by what a store answers and by nothing that it is made of.

A store of your own: add a line to ``STORES``, and this module holds it to the contract. What only operators
see is tested with its archive; keys, scripts and connections in tests of its own (``tests/test_store*.py``).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace
from functools import partial

import pytest

from gateway_compaction.adapters.redis.connection import connect
from gateway_compaction.adapters.redis.store import RedisStore
from gateway_compaction.core.records.compaction import KIND_RANK, Clip, Compaction, Kind, Segment, SessionRef
from gateway_compaction.core.records.controls import SessionControls, is_stored, is_valid_under, read_start
from gateway_compaction.core.records.restore_point import RestoredBlock
from gateway_compaction.ports import Buffer, CallRecord, Store
from tests.lab.redis_server import RedisServer
from tests.lab.waiting import until
from tests.store_contract import TTL, digest, event, knows_nothing, record, session, stored

S = session()
A, B, C = digest("a"), digest("b"), digest("c")


def redis_in_process(request: pytest.FixtureRequest) -> Store:
    return RedisStore(connect(None), timeout_seconds=2.0)


def redis_on_a_server(request: pytest.FixtureRequest) -> Store:
    server: RedisServer = request.getfixturevalue("quiet_server")
    server.flush()
    return RedisStore(connect(server.url), timeout_seconds=2.0)


# Whatever can be given to ``build`` of runtime.py: each makes an empty store, with a patient deadline.
STORES: Mapping[str, Callable[[pytest.FixtureRequest], Store]] = {
    "Redis in process": redis_in_process,
    "Redis": redis_on_a_server,
}


@pytest.fixture(params=STORES, ids=str)
async def store(request: pytest.FixtureRequest) -> AsyncIterator[Store]:
    store = STORES[request.param](request)
    yield store
    await store.aclose()


async def test_it_answers_and_lets_calls_through(store: Store) -> None:
    await store.ping()
    await store.try_write()
    assert store.state == "closed"


async def test_without_digests_there_is_nothing_to_load(store: Store) -> None:
    assert await store.load(S, []) == Buffer()


async def test_factors_are_the_last_ones_saved(store: Store) -> None:
    assert await store.factors() == {}
    await store.save_factor("gpt/ü", 1.0625)
    await store.save_factor("gpt/ü", 1.125)
    assert await store.factors() == {"gpt/ü": 1.125}


async def test_a_process_has_no_notices_of_what_nobody_did(store: Store) -> None:
    await store.append(S, event(), ttl=TTL)
    found = await store.notices()
    assert not found.forgotten and not found.voided and not found.requested


async def generation(store: Store) -> str:
    return (await store.load(S, [A])).controls.generation


class TestGenerations:
    """Forms of a generation, as the table of core/records/controls.py lists them."""

    async def test_that_of_an_unknown_session_names_the_moment_of_asking(self, store: Store) -> None:
        before, after = await generation(store), await generation(store)
        assert not is_stored(before) and before.startswith("+")
        assert 0 < read_start(before) <= read_start(after)

    async def test_what_is_stored_keeps_its_generation_and_what_was_made_before_is_valid(
        self, store: Store
    ) -> None:
        asked = await generation(store)
        await store.put(S, record("a"), token=None, ttl=TTL, limit=9, generation=asked)
        begun = await generation(store)
        await store.append(S, event(), ttl=TTL, generation=begun)
        assert is_stored(begun) and await generation(store) == begun
        assert is_valid_under(asked, begun) and read_start(asked) <= read_start(begun)

    @pytest.mark.parametrize("past", ["1.000000", "1.000000*", "1.000000**"])
    async def test_what_was_decided_under_another_one_is_refused(self, store: Store, past: str) -> None:
        await store.append(S, event(), ttl=TTL)
        assert await store.put(S, record("a"), token=None, ttl=TTL, limit=9, generation=past) == 0
        assert await store.claim(S, B, [], 60, past) == 0
        await store.bypass(S, "400", 60, past)
        await store.backoff(S, "late", 60, past)
        found = await store.load(S, [A, B])
        assert replace(found, controls=SessionControls()) == Buffer()

    async def test_an_empty_one_is_not_compared(self, store: Store) -> None:
        await store.append(S, event(), ttl=TTL)
        assert await store.put(S, record("a"), token=None, ttl=TTL, limit=9, generation="") == 1


async def test_an_unknown_session_has_nothing(store: Store) -> None:
    assert knows_nothing(await store.load(S, [digest(1)]))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain",
        'quotes " \\ "kind":"model","parent":"x"',
        "línea\n日本語 🙂\x00\x7f",
        "lone \ud83d surrogate",
    ],
)
async def test_a_record_comes_back_as_it_was(store: Store, text: str) -> None:
    whole = replace(record("a", text=text), clip=Clip(3, 200), parent=digest("p"), tokens_after=2**53 - 1)
    assert await store.put(S, whole, token=None, ttl=TTL, limit=9) == 1
    assert (await store.load(S, [digest("a")])).compactions == (stored(whole, 1),)


async def test_empty_and_absent_parts_come_back_as_they_were(store: Store) -> None:
    bare = Compaction(digest=digest("bare"), covers=0, kind="cleared", segments=())
    assert await store.put(S, bare, token=None, ttl=TTL, limit=9) == 1
    assert (await store.load(S, [bare.digest])).compactions == (replace(bare, version=1),)


async def test_long_segments_survive(store: Store) -> None:
    segments = tuple(Segment(i, i + 1, f"{i} " + "длинный текст " * 500) for i in range(40))
    whole = replace(record("long"), segments=segments)
    await store.put(S, whole, token=None, ttl=TTL, limit=9)
    assert (await store.load(S, [digest("long")])).compactions == (stored(whole, 1),)


async def test_a_digest_that_only_begins_alike_does_not_fit(store: Store) -> None:
    await store.put(S, record("a"), token=None, ttl=TTL, limit=9)
    assert (await store.load(S, [digest("a")[:16] + "0" * 16])).compactions == ()


async def test_sessions_and_tenants_are_apart(store: Store) -> None:
    await store.put(S, record("a"), token=None, ttl=TTL, limit=9)
    await store.bypass(S, "400", 60)
    for other in (session("other"), session(tenant="other")):
        assert knows_nothing(await store.load(other, [digest("a")]))


async def test_versions_count_the_writes_of_a_session(store: Store) -> None:
    assert await store.put(S, record("a", "cleared"), token=None, ttl=TTL, limit=9) == 1
    assert await store.put(S, record("b"), token=None, ttl=TTL, limit=9) == 2
    assert await store.put(S, record("a"), token=None, ttl=TTL, limit=9) == 3
    versions = {c.digest: c.version for c in (await store.load(S, [digest("a"), digest("b")])).compactions}
    assert versions == {digest("a"): 3, digest("b"): 2}


@pytest.mark.parametrize("leased", [False, True])
@pytest.mark.parametrize(
    ("first", "second"), [(first, second) for first in KIND_RANK for second in KIND_RANK]
)
async def test_a_worse_kind_never_replaces_a_better_one(
    store: Store, first: Kind, second: Kind, leased: bool
) -> None:
    token = await store.claim(S, digest("a"), [], 60) if leased else None
    await store.put(S, record("a", first), token=None, ttl=TTL, limit=9)
    version = await store.put(S, record("a", second), token=token, ttl=TTL, limit=9)
    gain = KIND_RANK[second] - KIND_RANK[first]
    accepted = gain > 0 or (gain == 0 and leased)
    assert version == (2 if accepted else 0)
    [kept] = (await store.load(S, [digest("a")])).compactions
    assert kept.kind == (second if accepted else first)


async def test_beyond_the_limit_the_least_recently_used_go(store: Store) -> None:
    for name in range(4):
        await store.put(S, record(name), token=None, ttl=TTL, limit=4)
    await store.append(S, event(), ttl=TTL, call=CallRecord(used=digest(0)))
    await store.put(S, record(4), token=None, ttl=TTL, limit=4)
    await store.put(S, record(5), token=None, ttl=TTL, limit=4)
    kept = {c.digest for c in (await store.load(S, [digest(i) for i in range(6)])).compactions}
    assert kept == {digest(i) for i in (0, 3, 4, 5)}


async def test_a_pause_is_told_while_it_lasts(store: Store) -> None:
    await store.bypass(S, "answered 400 \ud83d", 60)
    await store.backoff(S, "did not help", 1.0)
    buffer = await store.load(S, [digest("a")])
    assert (buffer.bypass, buffer.backoff) == ("answered 400 ?", "did not help")
    await until(partial(lets_go_of, store, S), "the pause to end")


async def lets_go_of(store: Store, where: SessionRef) -> bool:
    """Whether nothing keeps summaries from being made."""
    return (await store.load(where, [digest("a")])).backoff is None


async def test_a_shorter_pause_does_not_end_a_longer_one(store: Store) -> None:
    await store.bypass(S, "long", 60)
    await store.bypass(S, "short", 0.01)
    await store.backoff(session("beside"), "as short", 0.02)
    await until(partial(lets_go_of, store, session("beside")), "the shorter pause to end")
    assert (await store.load(S, [digest("a")])).bypass == "long"


async def test_a_lease_keeps_others_off_the_digest_and_its_chain(store: Store) -> None:
    token = await store.claim(S, B, [A], 60)
    assert token > 0
    assert await store.claim(S, B, [], 60) == 0
    assert await store.claim(S, C, [A, B], 60) == 0
    assert (await store.load(S, [A, B, C])).in_flight == {B}
    assert (await store.load(S, [A])).in_flight == frozenset()


async def test_a_branch_and_another_session_may_claim(store: Store) -> None:
    first = await store.claim(S, A, [], 60)
    assert await store.claim(S, B, [C], 60) > first
    assert await store.claim(session("other"), A, [], 60) > 0


async def test_a_model_summary_ends_the_need_and_lesser_ones_do_not(store: Store) -> None:
    await store.put(S, record("a", "extractive"), token=None, ttl=TTL, limit=9)
    token = await store.claim(S, A, [], 60)
    assert token > 0
    assert await store.put(S, record("a"), token=token, ttl=TTL, limit=9) > 0
    assert (await store.load(S, [A])).in_flight == frozenset()
    assert await store.claim(S, A, [], 60) == 0


async def test_a_summary_of_the_chain_that_came_meanwhile_ends_the_need(store: Store) -> None:
    """Whoever claims did not know it, or would not name it: a model has read most of these messages."""
    await store.put(S, record("b", "extractive"), token=None, ttl=TTL, limit=9)
    token = await store.claim(S, C, [A, B], 60)
    assert token > 0
    await store.release(S, C, token, ttl=TTL)
    await store.put(S, record("a"), token=None, ttl=TTL, limit=9)
    assert await store.claim(S, C, [A, B], 60) == 0
    assert await store.claim(S, C, [B], 60) > 0


async def leased(store: Store, *digests: str) -> bool:
    """Whether exactly these are being summarised."""
    return (await store.load(S, [A, B])).in_flight == set(digests)


async def test_a_stale_token_writes_nothing(store: Store) -> None:
    stale = await store.claim(S, A, [], 60)
    await store.release(S, A, stale, ttl=TTL)
    assert await store.put(S, record("a"), token=stale, ttl=TTL, limit=9) == 0
    fresh = await store.claim(S, A, [], 60)
    assert await store.put(S, record("a", text="stale"), token=stale, ttl=TTL, limit=9) == 0
    assert not await store.renew(S, A, stale, 60)
    await store.release(S, A, stale, failure="late", ttl=TTL)
    assert await store.put(S, record("a", text="fresh"), token=fresh, ttl=TTL, limit=9) > 0
    buffer = await store.load(S, [A])
    assert [c.text for c in buffer.compactions] == ["fresh"]
    assert buffer.backoff is None


async def test_after_its_end_a_lease_goes_to_whoever_claims(store: Store) -> None:
    late = await store.claim(S, A, [], 0.03)
    await until(partial(leased, store), "the lease to end")
    fresh = await store.claim(S, A, [], 60)
    assert fresh > late
    assert await store.put(S, record("a"), token=late, ttl=TTL, limit=9) == 0
    assert await store.put(S, record("a"), token=fresh, ttl=TTL, limit=9) > 0


async def test_a_late_worker_may_write_while_nobody_else_claimed(store: Store) -> None:
    late = await store.claim(S, A, [], 0.03)
    await until(partial(leased, store), "the lease to end")
    assert await store.put(S, record("a"), token=late, ttl=TTL, limit=9) > 0


async def test_renewal_prolongs(store: Store) -> None:
    token = await store.claim(S, A, [], 1.0)
    assert await store.claim(S, B, [], 1.0)
    assert await leased(store, A, B)
    assert await store.renew(S, A, token, 60)
    await until(partial(leased, store, A), "the other lease of that length to end")
    assert await store.claim(S, A, [], 60) == 0
    assert not await store.renew(S, B, token, 60)


async def test_a_refused_write_ends_its_lease_too(store: Store) -> None:
    token = await store.claim(S, A, [], 60)
    await store.put(S, record("a"), token=None, ttl=TTL, limit=9)
    assert await store.put(S, record("a", "extractive"), token=token, ttl=TTL, limit=9) == 0
    assert (await store.load(S, [A])).in_flight == frozenset()


async def test_releasing_without_failure_frees_at_once(store: Store) -> None:
    await store.release(S, A, await store.claim(S, A, [], 60), ttl=TTL)
    assert await store.claim(S, A, [], 60) > 0


async def test_what_a_conversation_begins_with_is_kept_by_name_and_tenant(store: Store) -> None:
    block = RestoredBlock(S.session_id, "a conversation", "told \ud800")
    assert await store.find_restored(S.tenant, []) is None
    assert (await store.notices()).restoring == frozenset()
    await store.keep_restored(S.tenant, [A, B], block, 60)
    found = RestoredBlock(S.session_id, "a conversation", "told ?")
    assert await store.find_restored(S.tenant, [C, B, A]) == (B, found)
    assert await store.find_restored(S.tenant, [C]) is None
    assert await store.find_restored(digest("another tenant"), [A]) is None
    assert (await store.notices()).restoring == {S.tenant}


async def test_a_label_finds_the_sessions_of_its_tenant_the_latest_first(store: Store) -> None:
    other = session("other")
    for where in (S, other):
        await store.append(where, event(), ttl=TTL, call=CallRecord(labels=["day-1"]))
    assert set(await store.find_labelled(S.tenant, "day-1")) == {S, other}
    assert await store.find_labelled(S.tenant, "day-2") == []
