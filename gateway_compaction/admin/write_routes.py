"""Define the routes that change something; each action leaves an audit event that says who did it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from fastapi import Body, Path, Response

from gateway_compaction.admin.access import Doer, Reader, new_router
from gateway_compaction.admin.dependencies import PartsDep
from gateway_compaction.admin.json_response import json_response, json_response_off_loop
from gateway_compaction.admin.problems import Problem, limit_body
from gateway_compaction.admin.read_routes import Id, ref_of
from gateway_compaction.admin.schemas import Done, Erased, Imported, PinBody, RateBody, RollbackBody
from gateway_compaction.archive import LARGEST_DOCUMENT
from gateway_compaction.call_state import owner_of, tenant_of
from gateway_compaction.errors import NotFound

router = new_router()
DETAILS: Mapping[str, str] = {
    "compact": "The next call of this conversation is compacted though it would still fit, if that makes it"
    " smaller, and so are later ones, until a reset. Other processes of the gateway learn of it within 5"
    " seconds: until then they do not ask the store about a conversation that is far from every level.",
    "rebuild": "Every version is taken back. The source is not stored: the next call of this conversation"
    " brings it, and a new summary is made behind that call.",
    "rollback": "The next call uses this version; newer ones are taken back, and can be rolled back to.",
    "nothing": "Every version is taken back: the next call goes out as the client sends it, while it fits.",
    "pin": "It stands in every summary of this conversation from the next call on.",
    "unpin": "It stands in no summary any more, from the next call on.",
    "rate": "The next summaries have this rate; what is written already stays as it is.",
    "reset": "Compactions, pins and wishes are gone: the next call is treated as the first one. Events and"
    " labels stay.",
    "forget": "Nothing of it is left in the store; processes drop what they remember within a few seconds.",
}
NOT_INTO = (
    "This key cannot import into the tenant that the document names. Proxy admins can import into every"
    " tenant, team admins into their team's; any other key only where all that is known of the tenant is its"
    " own (or, outside of teams, its user's): a summary stands for everybody's conversations in a tenant."
)
NOT_A_TEAMS = "Only proxy admins and admins of the tenant's team may erase a tenant."
Document = Annotated[dict[str, Any], Body(description="What an export gave.")]


@router.post("/sessions/{id}/compact", operation_id="compaction_compact", response_model=Done)
async def compact(viewer: Doer, parts: PartsDep, id: Id) -> Response:
    """Compact from the next call on, below every level too, where that makes it smaller.

    Other processes of the gateway learn of it within 5 seconds; until then a call of a small conversation
    that reaches one of them goes out as it is.
    """
    await parts.archive.compact(viewer.scope, ref_of(id))
    await parts.attend()
    return json_response(Done("compact", DETAILS["compact"]))


@router.post("/sessions/{id}/rebuild", operation_id="compaction_rebuild", response_model=Done)
async def rebuild(viewer: Doer, parts: PartsDep, id: Id) -> Response:
    """Make the summary anew, from the source that the next call brings."""
    await parts.archive.rebuild(viewer.scope, ref_of(id))
    await parts.attend()
    return json_response(Done("rebuild", DETAILS["rebuild"]))


@router.post("/sessions/{id}/rollback", operation_id="compaction_rollback", response_model=Done)
async def rollback(viewer: Doer, parts: PartsDep, id: Id, body: RollbackBody) -> Response:
    """Use an earlier version again; 0 takes all of them back."""
    await parts.archive.rollback(viewer.scope, ref_of(id), body.version)
    await parts.attend()
    return json_response(Done("rollback", DETAILS["rollback" if body.version else "nothing"]))


@router.post("/sessions/{id}/pins", operation_id="compaction_pin", response_model=Done)
async def pin(viewer: Doer, parts: PartsDep, id: Id, body: PinBody) -> Response:
    """Let a fact stand in every summary, word for word; at most 20."""
    await parts.archive.pin(viewer.scope, ref_of(id), body.text)
    return json_response(Done("pin", DETAILS["pin"]))


@router.post("/sessions/{id}/unpin", operation_id="compaction_unpin", response_model=Done)
async def unpin(viewer: Doer, parts: PartsDep, id: Id, body: PinBody) -> Response:
    """Take a pinned fact back."""
    await parts.archive.unpin(viewer.scope, ref_of(id), body.text)
    return json_response(Done("unpin", DETAILS["unpin"]))


@router.post("/sessions/{id}/rate", operation_id="compaction_rate", response_model=Done)
async def set_rate(viewer: Doer, parts: PartsDep, id: Id, body: RateBody) -> Response:
    """Let the next summaries of this conversation have another rate than its policy says; null gives it back.

    What is written already stays as it is. With `for_key` it holds for every conversation of the same key,
    which other processes learn of within 5 seconds; a rate of a conversation's own goes before it.
    """
    await parts.archive.set_rate(viewer.scope, ref_of(id), body.rate, for_key=body.for_key)
    await parts.attend()
    return json_response(Done("rate", DETAILS["rate"]))


@router.post("/sessions/{id}/reset", operation_id="compaction_reset", response_model=Done)
async def reset(viewer: Doer, parts: PartsDep, id: Id) -> Response:
    """Forget compactions, pins, pauses and wishes; events and labels stay."""
    await parts.archive.reset(viewer.scope, ref_of(id))
    await parts.attend()
    return json_response(Done("reset", DETAILS["reset"]))


@router.delete("/sessions/{id}", operation_id="compaction_forget", response_model=Erased)
async def forget(viewer: Doer, parts: PartsDep, id: Id) -> Response:
    """Erase a session: nothing of it is left."""
    gone = await parts.archive.forget(viewer.scope, ref_of(id))
    await parts.attend()
    return json_response(Erased(gone, DETAILS["forget"]))


@router.delete("/tenants/{tenant}", operation_id="compaction_forget_tenant", response_model=Erased)
async def forget_tenant(
    viewer: Doer, parts: PartsDep, tenant: Annotated[str, Path(max_length=100)]
) -> Response:
    """Erase all sessions of a tenant (the first part of their ids); `gone` counts sessions."""
    if viewer.role not in ("proxy admin", "team admin"):
        raise Problem(403, NOT_A_TEAMS)
    # As strict as for a session's id: what can be no tenant is as one that is not there.
    gone = await parts.archive.forget_tenant(viewer.scope, ref_of(f"{tenant}.-").tenant)
    await parts.attend()
    return json_response(Erased(gone, DETAILS["forget"]))


@router.get("/sessions/{id}/export", operation_id="compaction_export", response_model=dict[str, Any])
async def export(viewer: Reader, parts: PartsDep, id: Id) -> Response:
    """Return a session as one JSON document with a schema version; importing it gives the same again.

    Only the note of the import itself differs, which stands before the other events (200 are kept). Values
    that cannot be what they should be, after somebody changed them in Redis, are left out.
    """
    response = await json_response_off_loop(await parts.archive.export(viewer.scope, ref_of(id)))
    response.headers["Content-Disposition"] = f'attachment; filename="{id}.json"'
    return response


@router.post("/import", operation_id="compaction_import", response_model=Imported, status_code=201)
@limit_body(LARGEST_DOCUMENT)
async def load(viewer: Doer, parts: PartsDep, document: Document) -> Response:
    """Store an exported session under its own id; refused where one is there already.

    Every value is looked at before any is stored: 422 says which cannot be used, and why. Proxy admins import
    into every tenant, and only for them the document says whose the session is. Team admins import into the
    tenants of their teams; the session is of the key that the document names where the store has seen calls
    of that key in that tenant, else admins alone see it, until the conversation's next call: if that is the
    named key's, the session is. Any other key imports only where all that the store knows of the tenant is
    its own (or, outside of teams, its user's), since a summary stands for the conversations of everybody in a
    tenant. Where nothing is left of a tenant, a key can import into the one of its own calls (without an end
    user). Audit events that others than proxy admins import are marked `imported: `: a document is nobody's
    witness.
    """
    scope = replace(viewer.scope, home=(tenant_of(viewer.auth), owner_of(viewer.auth)))
    try:
        session = await parts.archive.load(scope, document)
    except NotFound as error:
        raise Problem(404, NOT_INTO) from error
    await parts.attend()
    return json_response(Imported(session.session_id), 201)
