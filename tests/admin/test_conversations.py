"""Conversations that the gateway keeps, through the API: OpenAI's SDK and curl, a real store behind them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import httpx
import openai
import pytest
from fastapi import FastAPI

from gateway_compaction.adapters.redis.archive import RedisArchive
from gateway_compaction.adapters.redis.connection import connect
from gateway_compaction.adapters.redis.store import RedisStore
from gateway_compaction.adapters.redis_conversations import RedisConversations
from gateway_compaction.admin.dependencies import STATE, KeptParts, Parts
from gateway_compaction.archive import Query, Scope
from gateway_compaction.core.policy.book import PolicyBook
from gateway_compaction.engine.kept_conversations import KeptConversations
from tests.admin.conftest import bearer
from tests.admin.people import BLUE
from tests.core.redaction.shapes import SHAPES

pytestmark = pytest.mark.usefixtures("keyed")
URL = "/compaction/v1/conversations"
KEPT = {"conversation": {"keep": "gateway"}, "storage": {"content": "full", "max_messages": 6}}
POLICIES = {
    "version": 1,
    "defaults": KEPT,
    "policies": [{"name": "blue", "match": {"team": BLUE}, "conversation": {"keep": "client"}}],
}
HELLO: list[Any] = [
    {"role": "system", "content": "Be brief."},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello."}]},
    {"role": "assistant", "content": "Hello."},
]


@pytest.fixture
async def kept(mounted: FastAPI, parts: Parts) -> AsyncIterator[KeptParts]:
    """The API on an in-process Redis."""
    connection, book = connect(None), PolicyBook(POLICIES, "policies.yaml")
    store = RedisStore(connection, timeout_seconds=5.0)
    made = KeptParts(KeptConversations(RedisConversations(connection), 60.0), store)
    archive: Any = RedisArchive(connection)
    setattr(mounted.state, STATE, replace(parts, archive=archive, kept=made, policies=lambda: book))
    yield made
    await made.conversations.aclose()
    await store.aclose()


@pytest.fixture
async def http(mounted: FastAPI, kept: KeptParts) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(mounted, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost:4000") as client:
        yield client


def sdk(http: httpx.AsyncClient, key: str = "sk-red-1") -> openai.AsyncOpenAI:
    """The SDK as its users have it, but for the base URL."""
    url = "http://localhost:4000/compaction/v1"
    return openai.AsyncOpenAI(base_url=url, api_key=key, max_retries=0, http_client=http)


async def test_the_sdk_creates_reads_appends_and_deletes(http: httpx.AsyncClient) -> None:
    conversations = sdk(http).conversations
    made = await conversations.create(items=HELLO)
    assert made.object == "conversation" and made.id.startswith("conv_") and made.created_at > 0
    read: Any = await conversations.retrieve(made.id)
    assert (read.id, read.version, read.messages, read.form) == (made.id, 1, 2, "chat")
    new: list[Any] = [{"type": "message", "role": "user", "content": "And now?"}]
    added = await conversations.items.create(made.id, items=new)
    assert [item.id for item in added.data] == ["item_3"]
    listed: list[Any] = [item async for item in conversations.items.list(made.id, limit=1, order="asc")]
    assert [(item.id, item.role) for item in listed] == [
        ("item_1", "user"),
        ("item_2", "assistant"),
        ("item_3", "user"),
    ]
    assert [part.to_dict() for part in listed[0].content] == [{"type": "text", "text": "Hello."}]
    newest: list[Any] = [item async for item in conversations.items.list(made.id)]
    assert [item.id for item in newest] == ["item_3", "item_2", "item_1"]
    one: Any = await conversations.items.retrieve("item_2", conversation_id=made.id)
    assert one.content == "Hello."
    gone = await conversations.delete(made.id)
    assert (gone.id, gone.deleted, gone.object) == (made.id, True, "conversation.deleted")
    with pytest.raises(openai.NotFoundError):
        await conversations.retrieve(made.id)


async def test_an_empty_one_is_begun_by_its_first_messages(http: httpx.AsyncClient) -> None:
    conversations = sdk(http).conversations
    made: Any = await conversations.create()
    assert (made.version, made.messages, made.form) == (0, 0, None)
    await conversations.items.create(made.id, items=HELLO[1:])
    read: Any = await conversations.retrieve(made.id)
    assert (read.version, read.messages) == (1, 2)


async def test_it_is_a_session_like_any_other(
    http: httpx.AsyncClient, kept: KeptParts, mounted: FastAPI
) -> None:
    made = await sdk(http).conversations.create(items=HELLO)
    own = await http.get("/compaction/sessions", params={"text": made.id}, headers=bearer("sk-red-1"))
    [row] = own.json()["rows"]
    assert row["labels"] == [made.id] and row["calls"] == 0
    foreign = await http.get("/compaction/sessions", params={"text": made.id}, headers=bearer("sk-blue-1"))
    assert foreign.json()["rows"] == []
    archive: RedisArchive = getattr(mounted.state, STATE).archive
    [found] = (await archive.sessions(Scope(everything=True), Query(text=made.id))).rows
    [event] = (await archive.detail(Scope(everything=True), found.session)).events
    told = (event.type, event.outcome, event.reason, event.by)
    assert told == ("audit", "append", "3 messages", "key red-1")


async def test_another_tenant_s_and_none_look_the_same(http: httpx.AsyncClient) -> None:
    made = await sdk(http).conversations.create(items=HELLO)
    missing = [made.id, "conv_" + "0" * 32, "nonsense", "conv_.."]
    for method, path, body in (
        ("GET", "", None),
        ("GET", "/items", None),
        ("GET", "/items/item_1", None),
        ("POST", "/items", {"items": HELLO[1:]}),
        ("DELETE", "", None),
    ):
        answers = [
            await http.request(method, f"{URL}/{name}{path}", json=body, headers=bearer("sk-ruth"))
            for name in missing
        ]
        assert {answer.status_code for answer in answers} == {404}
        assert len({answer.text for answer in answers}) == 1
    # Another key of the team may go on with it, as with a call.
    assert (await http.get(f"{URL}/{made.id}", headers=bearer("sk-red-2"))).status_code == 200


@pytest.mark.parametrize(
    ("key", "body", "status"),
    [
        (None, {}, 401),
        ("sk-looks", {}, 403),
        ("sk-blue-1", {}, 409),
        ("sk-red-1", {"items": [{"content": "no role"}]}, 422),
        ("sk-red-1", {"items": [{"role": "user", "type": "function_call"}]}, 422),
        ("sk-red-1", {"items": ["text"]}, 422),
        ("sk-red-1", {"items": HELLO[:1]}, 400),
        ("sk-red-1", {"items": HELLO[1:] * 4}, 400),
        ("sk-red-1", {"metadata": {"a": "b"}}, 422),
        ("sk-red-1", {"form": "completions"}, 422),
    ],
)
async def test_what_is_refused(http: httpx.AsyncClient, key: str | None, body: Any, status: int) -> None:
    answer = await http.post(URL, json=body, headers=bearer(key))
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json" and answer.json()["detail"]


async def test_while_a_call_is_being_answered_nothing_is_appended(
    http: httpx.AsyncClient, kept: KeptParts
) -> None:
    made = await sdk(http).conversations.create(items=HELLO)
    [found] = await labelled(kept, made.id)
    store: Any = kept.conversations._store
    await store.open(found, token="a call", seconds=60.0)
    with pytest.raises(openai.ConflictError):
        await sdk(http).conversations.items.create(made.id, items=HELLO[1:])
    with pytest.raises(openai.NotFoundError):
        await sdk(http).conversations.items.retrieve("item_9", conversation_id=made.id)
    with pytest.raises(openai.NotFoundError):
        await sdk(http).conversations.items.list(made.id, after="item_9")


async def labelled(kept: KeptParts, label: str) -> Any:
    """The sessions of team red with a label."""
    from litellm.proxy._types import UserAPIKeyAuth

    from gateway_compaction.call_state import tenant_of
    from tests.admin.people import RED

    return await kept.store.find_labelled(tenant_of(UserAPIKeyAuth(team_id=RED)), label)


async def test_secrets_are_shown_as_marks_and_items_of_responses_as_they_are(http: httpx.AsyncClient) -> None:
    secret = SHAPES[0].value
    call = {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"}
    items: list[Any] = [{"type": "message", "role": "user", "content": f"Keep {secret}."}, call]
    made = await sdk(http).conversations.create(items=items, extra_body={"form": "responses"})
    answer = await http.get(f"{URL}/{made.id}/items?order=asc", headers=bearer("sk-red-1"))
    first, second = answer.json()["data"]
    assert secret not in answer.text and "[secret:" in first["content"]
    assert second == {**call, "id": "item_2"}


async def test_a_process_without_any_says_so(client: httpx.AsyncClient) -> None:
    assert (await client.post(URL, json={}, headers=bearer("sk-red-1"))).status_code == 503
