"""Kept conversations on Redis: what is read together with one, and what operators are shown of one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gateway_compaction.adapters.redis.archive import RedisArchive
from gateway_compaction.adapters.redis.codec import SNAPSHOT_BYTES
from gateway_compaction.adapters.redis.keys import session_keys
from gateway_compaction.adapters.redis.store import RedisStore
from gateway_compaction.adapters.redis_conversations import MOST_COMPACTIONS, RedisConversations
from gateway_compaction.archive import Scope
from gateway_compaction.core.records.call_snapshot import CallSnapshot
from gateway_compaction.core.records.controls import SessionControls
from gateway_compaction.core.records.exchange import Exchange
from gateway_compaction.core.redaction.detector import Detector
from gateway_compaction.ports import Addition, CallRecord
from tests.core.redaction.shapes import SHAPES
from tests.store_contract import TTL, digest, event, fill, knows_nothing, raw, record, session

EVERYTHING = Scope(everything=True)


async def test_what_is_read_with_a_conversation_is_what_a_load_returns(store: RedisStore) -> None:
    await fill(store)
    await store.put(session(), record("b"), token=None, ttl=TTL, limit=9)
    opened = await RedisConversations(store.connection).open(session(), token="t", seconds=60)
    assert opened.status == "open" and opened.session is not None
    for names in (["a"], ["b", "z"], ["a", "b", "c"], ["z"]):
        digests = [digest(name) for name in names]
        read, loaded = opened.session(digests), await store.load(session(), digests)
        assert set(read.compactions) == set(loaded.compactions)
        assert replace(read, compactions=()) == replace(loaded, compactions=())
    assert loaded.bypass and loaded.backoff and loaded.client_state and loaded.controls != SessionControls()


async def test_of_a_new_conversation_nothing_is_known(store: RedisStore) -> None:
    opened = await RedisConversations(store.connection).open(session(), token="t", seconds=60, begin=TTL)
    assert opened.session is not None and knows_nothing(opened.session([digest("a")]))


async def test_neither_of_a_conversation_that_is_busy_or_not_there(store: RedisStore) -> None:
    conversations = RedisConversations(store.connection)
    assert (await conversations.open(session(), token="t", seconds=60)).session is None
    await conversations.open(session(), token="t", seconds=60, begin=TTL)
    opened = await conversations.open(session(), token="another", seconds=60)
    assert (opened.status, opened.session) == ("busy", None)


async def test_very_many_compactions_are_not_read_with_a_conversation(store: RedisStore) -> None:
    conversations = RedisConversations(store.connection)
    await conversations.open(session(), token="t", seconds=60, begin=TTL)
    for number in range(MOST_COMPACTIONS + 1):
        await store.put(session(), record(number), token=None, ttl=TTL, limit=999)
    opened = await conversations.open(session(), token="t", seconds=60)
    assert (opened.status, opened.session) == ("open", None)


class TestLastCall:
    """The last call whose messages stand in the conversation alone, as operators are shown it."""

    async def shown(self, store: RedisStore, *, exchange: int = 1, detector: Detector | None = None) -> Any:
        conversations = RedisConversations(store.connection)
        await conversations.open(session(), token="t", seconds=60, begin=TTL)
        messages = ({"role": "user", "content": f"{SHAPES[0].text} At PIER-77."}, {"role": "assistant"})
        addition = Addition(Exchange(0, 0, messages, brought=1), "chat", version=0)
        await conversations.append(session(), addition, token="t", ttl=TTL)
        lines = (("system", 3, "preamble"), ("user", 5, "verbatim"))
        system = {"role": "system", "content": "Be brief."}
        last = CallSnapshot(1.0, lines, lines, (system,), endpoint="chat", exchange=exchange)
        record = CallRecord(snapshot=last, detector=detector)
        await store.append(session(), event(), ttl=TTL, call=record)
        return (await RedisArchive(store.connection).detail(EVERYTHING, session())).last_call

    async def test_its_messages_are_put_in_masked(self, store: RedisStore) -> None:
        call = await self.shown(store)
        assert call.exchange == 0 and call.client == call.model
        assert [m["role"] for m in call.client] == ["system", "user"]
        assert SHAPES[0].value not in str(call) and "PIER-77" in str(call)
        assert b"PIER" not in await raw(store).get(f"gwc:{{{session().session_id}}}:last")

    async def test_as_the_policy_has_them_masked(self, store: RedisStore) -> None:
        call = await self.shown(store, detector=Detector(patterns=("PIER-[0-9]+",)))
        assert "PIER-77" not in str(call) and "[secret: pattern" in str(call)

    async def test_of_an_exchange_that_is_gone_or_cannot_be_read_the_counts_are_shown(
        self, store: RedisStore
    ) -> None:
        call = await self.shown(store, exchange=9)
        assert (call.client, call.model, call.exchange, len(call.sent)) == (None, None, 0, 2)
        await raw(store).hset(f"gwc:{{{session().session_id}}}:kept", "x:1", "{")
        found = (await RedisArchive(store.connection).detail(EVERYTHING, session())).last_call
        assert found is not None and found.client is None

    async def test_in_the_form_of_its_endpoint(self, store: RedisStore) -> None:
        conversations = RedisConversations(store.connection)
        await conversations.open(session(), token="t", seconds=60, begin=TTL)
        item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "At PIER-77."}]}
        addition = Addition(Exchange(0, 0, (item, item), brought=1), "responses", version=0)
        await conversations.append(session(), addition, token="t", ttl=TTL)
        lines = (("user", 5, "verbatim"),)
        for endpoint in ("responses", None):
            last = CallSnapshot(1.0, lines, lines, (), endpoint=endpoint, exchange=1)
            await store.append(session(), event(), ttl=TTL, call=CallRecord(snapshot=last))
            found = (await RedisArchive(store.connection).detail(EVERYTHING, session())).last_call
            assert found is not None and [m["role"] for m in found.client or ()] == ["user"]
            assert "At PIER-77." in str(found.client)

    async def test_of_a_very_large_one_too(self, store: RedisStore) -> None:
        await self.shown(store)
        await raw(store).hset(f"gwc:{{{session().session_id}}}:kept", "x:2", "y" * SNAPSHOT_BYTES)
        found = (await RedisArchive(store.connection).detail(EVERYTHING, session())).last_call
        assert found is not None and found.client is None and found.omitted


class TestErased:
    """What a call brings is not appended to another conversation of the same name."""

    @pytest.mark.parametrize("branch", [True, False])
    async def test_one_that_began_anew_under_its_idempotency_key(
        self, store: RedisStore, branch: bool
    ) -> None:
        conversations = RedisConversations(store.connection)
        opened = await conversations.open(session(), token="", seconds=60, begin=TTL)
        addition = Addition(
            Exchange(0, 0, ({"role": "user", "content": "erased"},), brought=1),
            "chat",
            version=0,
            branch=branch,
            begun=opened.kept.begun,
        )
        await raw(store).delete(*session_keys(session(), "kept"))
        assert await conversations.append(session(), addition, token="", ttl=TTL) is None
        await conversations.open(session(), token="", seconds=60, begin=TTL)
        assert await conversations.append(session(), addition, token="", ttl=TTL) is None
        kept = (await conversations.open(session(), token="", seconds=0)).kept
        assert kept.exchanges == {} and kept.begun != opened.kept.begun
        assert await conversations.append(session(), replace(addition, begun=kept.begun), token="", ttl=TTL)
