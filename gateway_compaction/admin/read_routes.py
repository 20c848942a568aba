"""Define the routes that only look."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Annotated, Any

from fastapi import Path, Query, Request, Response

from gateway_compaction.adapters.redis.index import MOST_HOURS
from gateway_compaction.admin.access import Reader, new_router, require_admin
from gateway_compaction.admin.dependencies import PartsDep
from gateway_compaction.admin.details import events_after, find_version
from gateway_compaction.admin.json_response import UNCACHED, json_response, json_response_off_loop
from gateway_compaction.admin.measures import load_overview
from gateway_compaction.admin.policy_view import explain_policy, identity_for, identity_of_session
from gateway_compaction.admin.preview import preview_call
from gateway_compaction.admin.problems import STORE_DOWN
from gateway_compaction.admin.restoring import restore_session
from gateway_compaction.admin.schemas import (
    EventPage,
    Explanation,
    Health,
    Overview,
    Preview,
    PreviewBody,
    RestoreBody,
    Restored,
    Version,
)
from gateway_compaction.archive import CallSnapshot, Scope, SessionDetail, SessionPage, Sort, State
from gateway_compaction.archive import Query as Wanted
from gateway_compaction.core.planning.context import LevelName
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.core.records.restore_point import RestorePoint
from gateway_compaction.core.records.snapshots import PointChange, SnapshotLine, compare_points
from gateway_compaction.core.summary.statistics import SummaryRecords, list_summary_records
from gateway_compaction.errors import NotFound, StoreError

router = new_router()
Id = Annotated[str, Path(max_length=200, description="`tenant.key`: the two parts of a row's `session`.")]
SnapshotName = Annotated[str, Path(max_length=20, description="The second in which it was taken.")]
Team = Annotated[str | None, Query(max_length=200, description="Id or alias of a team.")]
Model = Annotated[str | None, Query(max_length=200, description="A model group.")]
Seconds = Annotated[float | None, Query(ge=0, le=1e11, description="When last seen, in seconds since 1970.")]
HEALTH_SECONDS = 1.0
STORE_SERVES = "The store answers what is read, and takes what is written."
STORE_READS = (
    "The store answers what is read, and takes nothing that is written: it is full, or a read-only replica."
    " No summary is stored at present."
)
"""A full or read-only server reads on: to say only that it answers would hide that nothing is stored."""
Limit = Annotated[int, Query(ge=1, le=200)]
TRANSCRIPT_TEXT: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/jsonl": {}}, "description": "One message a line."}
}
METRICS_TEXT: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/plain": {}}, "description": "In Prometheus' text format."}
}


def ref_of(text: str) -> SessionRef:
    """Return the session that a route's id names.

    Raises:
        NotFound: it can be none.
    """
    tenant, dot, key = text.partition(".")
    if not (dot and tenant and key) or not text.isascii() or not text.isprintable() or set("{}*") & set(text):
        raise NotFound("no id")
    return SessionRef(tenant, key)


@router.get("/overview", operation_id="compaction_overview", response_model=Overview)
async def overview(
    viewer: Reader,
    parts: PartsDep,
    hours: Annotated[int, Query(ge=1, le=MOST_HOURS, description="Counts are kept for 8 days.")] = 24,
) -> Response:
    """Return counts, tokens and dollars of the last hours: in all, by team, by model, and by hour."""
    return await json_response_off_loop(await load_overview(parts, viewer.scope, hours, time.time()))


@router.get("/sessions", operation_id="compaction_sessions", response_model=SessionPage)
async def sessions(
    viewer: Reader,
    parts: PartsDep,
    team: Team = None,
    model: Model = None,
    level: Annotated[LevelName | None, Query(description="Level of the latest call.")] = None,
    state: State | None = None,
    text: Annotated[
        str | None, Query(max_length=200, description="Looked for in ids, labels and aliases.")
    ] = None,
    since: Seconds = None,
    until: Seconds = None,
    sort: Sort = "seen",
    ascending: Annotated[bool, Query(description="The smallest or oldest first.")] = False,
    cursor: Annotated[str | None, Query(max_length=500, description="What the last page gave.")] = None,
    limit: Limit = 50,
) -> Response:
    """Return a page of the session list; every filter must hold."""
    query = Wanted(team, model, level, state, text, since, until, sort, ascending, cursor, limit)
    return await json_response_off_loop(await parts.archive.sessions(viewer.scope, query))


@router.get("/sessions/{id}", operation_id="compaction_session", response_model=SessionDetail)
async def session(viewer: Reader, parts: PartsDep, id: Id) -> Response:
    """Return all that is kept of one session."""
    return await json_response_off_loop(await parts.archive.detail(viewer.scope, ref_of(id)))


@router.get("/sessions/{id}/events", operation_id="compaction_events", response_model=EventPage)
async def events(
    viewer: Reader,
    parts: PartsDep,
    id: Id,
    cursor: Annotated[str | None, Query(max_length=60, description="What the last page gave.")] = None,
    limit: Limit = 50,
) -> Response:
    """Return decisions and actions, newest first; audit events (`type` is `audit`) say who did what."""
    detail = await parts.archive.detail(viewer.scope, ref_of(id))
    return await json_response_off_loop(events_after(detail, cursor, limit))


@router.get("/sessions/{id}/versions/{number}", operation_id="compaction_version", response_model=Version)
async def version(
    viewer: Reader, parts: PartsDep, id: Id, number: Annotated[int, Path(ge=1, le=10**9)]
) -> Response:
    """Return one version, and how its text came from its parent's."""
    detail = await parts.archive.detail(viewer.scope, ref_of(id))
    return await json_response_off_loop(await asyncio.to_thread(find_version, detail, number))


@router.get("/sessions/{id}/records", operation_id="compaction_records", response_model=SummaryRecords)
async def records(viewer: Reader, parts: PartsDep, id: Id) -> Response:
    """Return a record for each part of the summary: turns, characters, rates asked for and come out; totals.

    It is the version that the last call was sent with, else the longest in use.
    """
    detail = await parts.archive.detail(viewer.scope, ref_of(id))
    return await json_response_off_loop(list_summary_records(detail.summary))


@router.get("/sessions/{id}/last-call", operation_id="compaction_last_call", response_model=CallSnapshot)
async def last_call(viewer: Reader, parts: PartsDep, id: Id) -> Response:
    """Return the last call's messages on both sides; contents only where `storage.content` is `full`."""
    detail = await parts.archive.detail(viewer.scope, ref_of(id))
    if detail.last_call is None:
        raise NotFound("no call was looked at closely")
    return await json_response_off_loop(detail.last_call)


@router.post("/sessions/{id}/preview", operation_id="compaction_preview", response_model=Preview)
async def preview(viewer: Reader, parts: PartsDep, id: Id, body: PreviewBody) -> Response:
    """Tell what the latest call would have sent under other values. Nothing is changed by asking."""
    detail = await parts.archive.detail(viewer.scope, ref_of(id))
    policy = parts.policies().resolve(await identity_of_session(detail.row))
    return await json_response_off_loop(
        await asyncio.to_thread(preview_call, detail, policy, body, parts.count)
    )


@router.post("/sessions/{id}/restore", operation_id="compaction_restore", response_model=Restored)
async def restore(viewer: Reader, parts: PartsDep, id: Id, body: RestoreBody) -> Response:
    """Tell this conversation as a new one can be told of it: work, rules, summary and last messages.

    The last messages are there where `storage.content` is `full`. Nothing is changed by asking.
    """
    detail = await parts.archive.detail(viewer.scope, ref_of(id))
    point = None
    if body.snapshot is not None:
        point = await parts.archive.snapshot(viewer.scope, ref_of(id), body.snapshot)
    policy = parts.policies().resolve(await identity_of_session(detail.row))
    return await json_response_off_loop(
        await asyncio.to_thread(restore_session, detail, policy, body, parts.count, point)
    )


@router.get(
    "/sessions/{id}/snapshots", operation_id="compaction_snapshots", response_model=tuple[SnapshotLine, ...]
)
async def snapshots(viewer: Reader, parts: PartsDep, id: Id) -> Response:
    """Return the snapshots of a session, the newest first: earlier states that can be restored from."""
    return json_response(await parts.archive.snapshots(viewer.scope, ref_of(id)))


@router.get(
    "/sessions/{id}/snapshots/{name}", operation_id="compaction_snapshot", response_model=RestorePoint
)
async def snapshot(viewer: Reader, parts: PartsDep, id: Id, name: SnapshotName) -> Response:
    """Return one snapshot: all that a later conversation can be told of that moment."""
    return await json_response_off_loop(await parts.archive.snapshot(viewer.scope, ref_of(id), name))


@router.get(
    "/sessions/{id}/snapshots/{name}/diff",
    operation_id="compaction_snapshot_diff",
    response_model=tuple[PointChange, ...],
)
async def snapshot_diff(
    viewer: Reader,
    parts: PartsDep,
    id: Id,
    name: SnapshotName,
    to: Annotated[str | None, Query(max_length=20, description="A later snapshot; default: now.")] = None,
) -> Response:
    """Return what a later conversation would be told otherwise since a snapshot, part by part."""
    old = await parts.archive.snapshot(viewer.scope, ref_of(id), name)
    if to is not None:
        new = await parts.archive.snapshot(viewer.scope, ref_of(id), to)
    else:
        detail = await parts.archive.detail(viewer.scope, ref_of(id))
        new = await asyncio.to_thread(detail.make_restore_point)
    return await json_response_off_loop(compare_points(old, new))


@router.get(
    "/sessions/{id}/transcript",
    operation_id="compaction_transcript",
    responses=TRANSCRIPT_TEXT,
    response_class=Response,
)
async def transcript(viewer: Reader, parts: PartsDep, id: Id) -> Response:
    """Return all messages of a conversation that the gateway keeps, one line of JSON each, secrets masked.

    They are in the form of the endpoint, those of the branch that the next call goes on from.
    """
    found = await parts.archive.transcript(viewer.scope, ref_of(id))
    lines = await asyncio.to_thread(lambda: "".join(f"{json.dumps(one)}\n" for one in found))
    return Response(lines, 200, UNCACHED, "application/jsonl")


@router.get("/policy", operation_id="compaction_policy", response_model=Explanation)
async def policy(
    viewer: Reader,
    parts: PartsDep,
    team: Team = None,
    key: Annotated[str | None, Query(max_length=200, description="Alias of a key.")] = None,
    model: Model = None,
) -> Response:
    """Return every value that holds, and where it was written; without parameters, for the asking key."""
    identity = await identity_for(viewer, team, key, model)
    return json_response(explain_policy(parts.policies(), identity, everything=viewer.scope.everything))


@router.get("/metrics", operation_id="compaction_metrics", responses=METRICS_TEXT, response_class=Response)
async def metrics(request: Request, parts: PartsDep) -> Response:
    """Return all metrics, for proxy admins; for everybody where GATEWAY_COMPACTION_METRICS_PUBLIC is set."""
    if not parts.metrics_public:
        await require_admin(request)
    body, content_type = await asyncio.to_thread(parts.metrics)
    return Response(body, 200, UNCACHED, content_type)


@router.get("/health", operation_id="compaction_health", response_model=Health)
async def health(viewer: Reader, parts: PartsDep) -> Response:
    """Tell whether the store can be read and written; for proxy admins also how this process is doing.

    503 when it does not answer, or takes nothing that is written. It answers within about two seconds. It is
    for people and needs a key; what starts and stops processes asks LiteLLM's `/health/readiness`, which
    needs none: calls go on without the store.
    """
    process = dict(parts.health()) if viewer.scope.everything else None
    try:
        async with asyncio.timeout(HEALTH_SECONDS):
            # Nobody's sessions: the store tells the time, and reads no lists.
            await parts.archive.sessions(Scope(), Wanted(limit=1))
    except (StoreError, TimeoutError):
        return json_response(Health(False, STORE_DOWN, process), 503)
    try:
        async with asyncio.timeout(HEALTH_SECONDS):
            await parts.try_write()
    except (StoreError, TimeoutError):
        return json_response(Health(False, STORE_READS, process), 503)
    return json_response(Health(True, STORE_SERVES, process))
