"""Conversations that the gateway keeps, in the form of OpenAI's Conversations API."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Annotated, Any, Literal

from fastapi import Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from gateway_compaction.admin.access import Doer, Reader, Viewer, new_router
from gateway_compaction.admin.dependencies import KeptParts, Parts, PartsDep
from gateway_compaction.admin.json_response import json_response_off_loop
from gateway_compaction.admin.problems import Problem, limit_body
from gateway_compaction.archive import Scope
from gateway_compaction.call_state import identity_of, owner_of, tenant_of
from gateway_compaction.core.planning.context import build_detector
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.core.records.event import CompactionEvent
from gateway_compaction.core.records.exchange import (
    KeptConversation,
    read_conversation_id,
    to_conversation_id,
)
from gateway_compaction.core.redaction.detector import Detector
from gateway_compaction.core.redaction.marks import mask_message
from gateway_compaction.ports import CallRecord

router = new_router()
LARGEST = 2_000_000
"""Bytes of a request that brings messages."""
MOST_ITEMS = 500
NOT_THERE = "No such conversation."
NOT_KEPT = "The policy of this key has clients keep their conversations (conversation.keep)."
NO_ITEM = "The conversation has no such item."
TEXT_TYPES = {"input_text": "text", "output_text": "text"}
Id = Annotated[str, Path(max_length=64, description="The id that `x-conversation-id` names.")]
Form = Annotated[
    Literal["chat", "messages", "responses"],
    Field(description="The endpoint that it is for: the items are messages of that one."),
]
Items = Annotated[
    list[dict[str, Any]],
    Field(max_length=MOST_ITEMS, description="Messages, the preamble (system, developer) first."),
]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ConversationBody(_Body):
    """The first messages of a conversation; without any it is kept for an hour, until its first call."""

    items: Items = Field(default_factory=list)
    form: Form = "chat"


class ItemsBody(_Body):
    """Messages that are appended without asking a model."""

    items: Annotated[Items, Field(min_length=1)]


@router.post("/v1/conversations", operation_id="compaction_create_conversation", status_code=201)
@limit_body(LARGEST)
async def create(viewer: Doer, parts: PartsDep, body: ConversationBody) -> Response:
    """Begin a conversation, with messages or empty; no model is asked. Its id is `x-conversation-id`."""
    kept, tenant = _kept_parts(parts), tenant_of(viewer.auth)
    policy = _resolve(viewer, parts, body.form)
    if body.items:
        items = _read_items(body.items, body.form)
        session = await kept.conversations.add(tenant, "", items, body.form, policy)
    else:
        session = await kept.conversations.begin(tenant, policy)
    await _record(viewer, kept, session, policy, f"{len(body.items)} messages")
    return await _answer(session, await kept.conversations.read(session), 201)


@router.get("/v1/conversations/{id}", operation_id="compaction_read_conversation")
async def read(viewer: Reader, parts: PartsDep, id: Id) -> Response:
    """Return what is known of a conversation: its version, its number of messages, when it began."""
    session, found = await _find(viewer, parts, id)
    return await _answer(session, found)


@router.get("/v1/conversations/{id}/items", operation_id="compaction_list_items")
async def list_items(
    viewer: Reader,
    parts: PartsDep,
    id: Id,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    order: Annotated[Literal["asc", "desc"], Query(description="The oldest or the newest first.")] = "desc",
    after: Annotated[str | None, Query(max_length=40, description="Id of the last item of a page.")] = None,
) -> Response:
    """Return messages of a conversation, secrets masked, without its preamble.

    They are those of the branch that the next call goes on from.
    """
    _, found = await _find(viewer, parts, id)
    items = await _list_items(viewer, parts, found)
    if order == "desc":
        items.reverse()
    if after is not None:
        place = next((i for i, item in enumerate(items) if item["id"] == after), None)
        if place is None:
            raise Problem(404, NO_ITEM)
        items = items[place + 1 :]
    return await json_response_off_loop(_to_list(items[:limit], has_more=len(items) > limit))


@router.post("/v1/conversations/{id}/items", operation_id="compaction_append_items")
@limit_body(LARGEST)
async def append_items(viewer: Doer, parts: PartsDep, id: Id, body: ItemsBody) -> Response:
    """Append messages to a conversation without asking a model; refused while a call is being answered."""
    session, found = await _find(viewer, parts, id)
    kept, form = _kept_parts(parts), found.form or "chat"
    policy = _resolve(viewer, parts, form)
    items = _read_items(body.items, form)
    await kept.conversations.add(session.tenant, to_conversation_id(session.key), items, form, policy)
    await _record(viewer, kept, session, policy, f"{len(items)} messages")
    start = found.exchanges[found.head].end if found.head else 0
    written = _write_items(items, start + 1, build_detector(policy))
    return await json_response_off_loop(_to_list(written, has_more=False))


@router.get("/v1/conversations/{id}/items/{item}", operation_id="compaction_read_item")
async def read_item(
    viewer: Reader, parts: PartsDep, id: Id, item: Annotated[str, Path(max_length=40)]
) -> Response:
    """Return one message of a conversation, secrets masked."""
    _, found = await _find(viewer, parts, id)
    items = await _list_items(viewer, parts, found)
    wanted = next((one for one in items if one["id"] == item), None)
    if wanted is None:
        raise Problem(404, NO_ITEM)
    return await json_response_off_loop(wanted)


@router.delete("/v1/conversations/{id}", operation_id="compaction_delete_conversation")
async def delete(viewer: Doer, parts: PartsDep, id: Id) -> Response:
    """Erase a conversation and its session: nothing of it is left."""
    session, _ = await _find(viewer, parts, id)
    kept = _kept_parts(parts)
    # A conversation whose calls were never recorded has no session yet, and what has none cannot be erased.
    await kept.store.append(session, _build_event(viewer, "forget", ""), ttl=60.0)
    await parts.archive.forget(Scope(everything=True, actor=viewer.scope.actor), session)
    await parts.attend()
    gone = {"id": to_conversation_id(session.key), "object": "conversation.deleted", "deleted": True}
    return await json_response_off_loop(gone)


def _kept_parts(parts: Parts) -> KeptParts:
    if parts.kept is None:
        raise Problem(503, "This process keeps no conversations.")
    return parts.kept


def _resolve(viewer: Viewer, parts: Parts, form: str) -> Policy:
    """Return the policy of a key's calls, as far as it can be known without a model.

    Raises:
        Problem: by it clients keep their conversations.
    """
    identity = replace(identity_of(viewer.auth, "", {}), model=None, endpoint=form)
    policy = parts.policies().resolve(identity)
    if policy.conversation.keep != "gateway" or form not in policy.endpoints or policy.mode == "off":
        raise Problem(409, NOT_KEPT)
    return policy


async def _find(viewer: Viewer, parts: Parts, id: str) -> tuple[SessionRef, KeptConversation]:
    """Return a conversation of the key's tenant.

    Raises:
        Problem: there is none.
    """
    name = read_conversation_id(id)
    if name is None:
        raise Problem(404, NOT_THERE)
    session = SessionRef(tenant_of(viewer.auth), name)
    return session, await _kept_parts(parts).conversations.read(session)


async def _record(viewer: Viewer, kept: KeptParts, session: SessionRef, policy: Policy, what: str) -> None:
    """Make the conversation a session like any other: with its label, whose it is, and who did this."""
    about = {name: value for name, value in asdict(owner_of(viewer.auth)).items() if value}
    call = CallRecord(labels=(to_conversation_id(session.key),), about=about)
    event = _build_event(viewer, "append", what)
    await kept.store.append(session, event, ttl=float(policy.storage.ttl), call=call)


def _build_event(viewer: Viewer, outcome: str, reason: str) -> CompactionEvent:
    return CompactionEvent("audit", time.time(), outcome, reason, by=viewer.scope.actor)


def _read_items(items: Sequence[Mapping[str, Any]], form: str) -> list[dict[str, Any]]:
    """Return the items of a body as messages of an endpoint; of Responses they are as they came.

    Raises:
        Problem: one of them is no message.
    """
    if form == "responses":
        return [dict(item) for item in items]
    read = []
    for place, item in enumerate(items):
        if not isinstance(item.get("role"), str) or item.get("type", "message") != "message":
            where = {"at": f"body.items.{place}", "problem": "no message: it has no role, or another type"}
            raise Problem(422, "An item is no message of Chat Completions or Messages.", [where])
        read.append({name: _read_content(value) for name, value in item.items() if name != "type"})
    return read


def _read_content(value: Any) -> Any:
    """Return content in which parts of Responses' names of text have those of the other endpoints."""
    if not isinstance(value, list):
        return value
    return [
        {**part, "type": TEXT_TYPES.get(str(part.get("type")), part.get("type"))}
        if isinstance(part, dict) and "type" in part
        else part
        for part in value
    ]


async def _list_items(viewer: Viewer, parts: Parts, found: KeptConversation) -> list[dict[str, Any]]:
    """Return all messages of a conversation's present branch as items, masked as the key's policy says."""
    identity = replace(identity_of(viewer.auth, "", {}), model=None, endpoint=found.form or "chat")
    detector = build_detector(parts.policies().resolve(identity))
    return await asyncio.to_thread(_write_items, found.list_messages(found.head), 1, detector)


def _write_items(messages: Sequence[Any], first: int, detector: Detector) -> list[dict[str, Any]]:
    """Return messages as items; the number in an item's id is that of `x-conversation-at`."""
    return [
        {"type": "message", **mask_message(message, detector), "id": f"item_{number}"}
        for number, message in enumerate(messages, first)
        if isinstance(message, dict)
    ]


def _to_list(items: Sequence[Mapping[str, Any]], *, has_more: bool) -> dict[str, Any]:
    ends = {
        "first_id": items[0]["id"] if items else None,
        "last_id": items[-1]["id"] if items else None,
    }
    return {"object": "list", "data": list(items), **ends, "has_more": has_more}


async def _answer(session: SessionRef, found: KeptConversation, status: int = 200) -> Response:
    head = found.exchanges.get(found.head)
    answer = await json_response_off_loop(
        {
            "id": to_conversation_id(session.key),
            "object": "conversation",
            "created_at": int(found.created),
            "metadata": {},
            "form": found.form or None,
            "version": found.version,
            "messages": head.end if head else 0,
        }
    )
    answer.status_code = status
    return answer
