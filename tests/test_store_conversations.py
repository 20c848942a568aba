"""Kept conversations on Redis: what is read of a session together with its conversation."""

from __future__ import annotations

from dataclasses import replace

from gateway_compaction.adapters.redis.store import RedisStore
from gateway_compaction.adapters.redis_conversations import MOST_COMPACTIONS, RedisConversations
from gateway_compaction.core.records.controls import SessionControls
from tests.store_contract import TTL, digest, fill, knows_nothing, record, session


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
