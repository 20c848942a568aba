"""Define the pages: overview, session list, one session, one version."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import ValidationError

from gateway_compaction.admin.access import Reader, Viewer
from gateway_compaction.admin.dependencies import Parts, PartsDep
from gateway_compaction.admin.details import find_version
from gateway_compaction.admin.measures import load_overview
from gateway_compaction.admin.paths import PATH
from gateway_compaction.admin.policy_view import explain_policy, identity_of_session
from gateway_compaction.admin.preview import preview_call
from gateway_compaction.admin.problems import Problem
from gateway_compaction.admin.read_routes import Id, ref_of
from gateway_compaction.admin.restoring import restore_session
from gateway_compaction.admin.schemas import PreviewBody, RestoreBody
from gateway_compaction.admin.ui.continuing import ContinueView, make_continue_view
from gateway_compaction.admin.ui.errors import PageRoute
from gateway_compaction.admin.ui.history import VersionView, make_version_view
from gateway_compaction.admin.ui.overview import PERIODS, make_overview_view
from gateway_compaction.admin.ui.policy import (
    PolicyView,
    PreviewView,
    make_policy_view,
    make_preview_view,
    read_preview_form,
)
from gateway_compaction.admin.ui.render import HEADERS, STATIC, make_etag, read_asset, render_page
from gateway_compaction.admin.ui.session import make_session_view
from gateway_compaction.admin.ui.sessions import (
    AGES,
    LEVELS,
    STATES,
    Listing,
    make_line,
    make_listing,
    read_filter,
)
from gateway_compaction.admin.ui.transcript import TranscriptView, is_kept, make_transcript_view
from gateway_compaction.admin.write_routes import DETAILS
from gateway_compaction.archive import Hour, SessionDetail
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.records.exchange import to_conversation_id
from gateway_compaction.core.records.snapshots import compare_points
from gateway_compaction.errors import NotFound, PolicyError

router = APIRouter(prefix=f"{PATH}/ui", route_class=PageRoute, include_in_schema=False)
SUGGESTED = 200
STOP_POLLING = 286
UNUSABLE_SHOWN = 5
REFUSED_FILE = "The policy file cannot be used as it is now; the last good policies stay in force."


def _common_values(viewer: Viewer, **values: Any) -> dict[str, Any]:
    return {"actor": viewer.scope.actor, "csrf": viewer.csrf, "may_act": viewer.may_act, **values}


async def _page_off_loop(
    request: Request, template: str, status: int, etag: str | None, values: Mapping[str, Any]
) -> Response:
    """Return a page, made on a thread: a long one takes a while, and requests must not wait for it."""
    return await asyncio.to_thread(render_page, request, template, status, etag, **values)


async def _live_fragment(request: Request, template: str, values: Mapping[str, Any], *named: Any) -> Response:
    """Return a part that follows what happens; nothing is sent where nothing has changed."""
    etag = await asyncio.to_thread(make_etag, *named)
    if request.headers.get("if-none-match") == etag:
        return Response(status_code=304, headers={**HEADERS, "ETag": etag})
    return await _page_off_loop(request, template, 200, etag, values)


async def _overview_values(viewer: Viewer, parts: Parts, hours: int) -> dict[str, Any]:
    hours = hours if hours in PERIODS else 24
    now = time.time()
    found = await load_overview(parts, viewer.scope, hours, now)
    # Deployments are the gateway's, not a team's.
    windows = parts.windows() if viewer.scope.everything else {}
    view = await asyncio.to_thread(make_overview_view, found, hours, now, windows)
    return _common_values(
        viewer,
        view=view,
        periods=PERIODS,
        page="overview",
        problem=_policy_problem(viewer, parts),
        unusable=await _unusable_policies(viewer, parts),
    )


def _policy_problem(viewer: Viewer, parts: Parts) -> str:
    """Say what is wrong while the policy file cannot be used; its contents are for proxy admins."""
    policies = parts.health().get("policies") or {}
    problem = policies.get("problem")
    if not problem:
        return ""
    return f"{REFUSED_FILE} {problem}" if viewer.scope.everything else REFUSED_FILE


async def _unusable_policies(viewer: Viewer, parts: Parts) -> Sequence[str]:
    """Say for which policies in metadata requests are left alone; other teams' are for proxy admins."""
    if not viewer.scope.everything:
        return ()
    found = await parts.policy_problems()
    ordered = sorted(found.items(), key=lambda item: -item[1])[:UNUSABLE_SHOWN]
    return [f"{count:,} requests were left alone: {problem}" for problem, count in ordered]


@router.get("")
async def overview(request: Request, viewer: Reader, parts: PartsDep, hours: int = 24) -> Response:
    """Show the first page."""
    return await _page_off_loop(
        request, "overview.html", 200, None, await _overview_values(viewer, parts, hours)
    )


@router.get("/live")
async def overview_live(request: Request, viewer: Reader, parts: PartsDep, hours: int = 24) -> Response:
    """Send the parts of the first page that change."""
    values = await _overview_values(viewer, parts, hours)
    named = (values[name] for name in ("view", "problem", "unusable"))
    return await _live_fragment(request, "_overview.html", values, *named)


@router.get("/sessions")
async def sessions(request: Request, viewer: Reader, parts: PartsDep) -> Response:
    """Show the session list; only the list where htmx asks for it."""
    form, now = read_filter(request.query_params), time.time()
    found = await parts.archive.sessions(viewer.scope, form.to_query(now))
    part = "hx-request" in request.headers and "hx-history-restore-request" not in request.headers
    if part:
        view = await asyncio.to_thread(make_listing, found, form, now)
        return await _live_fragment(request, "_list.html", _common_values(viewer, list=view), view)
    teams, models = await _filter_suggestions(viewer, parts)
    whole: Listing = await asyncio.to_thread(make_listing, found, form, now, teams, models)
    values = _common_values(viewer, list=whole, page="sessions", levels=LEVELS, states=STATES, ages=AGES)
    return await _page_off_loop(request, "sessions.html", 200, None, values)


async def _filter_suggestions(viewer: Viewer, parts: Parts) -> tuple[list[str], list[str]]:
    return await asyncio.to_thread(_names_by_count, await parts.archive.overview(viewer.scope, max(PERIODS)))


def _names_by_count(counted: Sequence[Hour]) -> tuple[list[str], list[str]]:
    teams = {hour.owner.team or hour.owner.team_id or "" for hour in counted} - {""}
    return sorted(teams)[:SUGGESTED], sorted({hour.model for hour in counted})[:SUGGESTED]


@router.get("/sessions/{id}")
async def session(request: Request, viewer: Reader, parts: PartsDep, id: Id, done: str = "") -> Response:
    """Show one session."""
    detail = await parts.archive.detail(viewer.scope, ref_of(id))
    view = await asyncio.to_thread(make_session_view, detail, time.time())
    shown = await _policy_values(viewer, parts, detail)
    told = DETAILS.get(done, "")
    values = _common_values(viewer, view=view, policy=shown, done=told, page="sessions", kept=is_kept(detail))
    return await _page_off_loop(request, "session.html", 200, None, values)


@router.get("/sessions/{id}/live")
async def session_live(request: Request, viewer: Reader, parts: PartsDep, id: Id) -> Response:
    """Send the parts of one session's page that change."""
    try:
        detail = await parts.archive.detail(viewer.scope, ref_of(id))
    except NotFound:
        return await _page_off_loop(request, "_gone.html", STOP_POLLING, None, {})
    view = await asyncio.to_thread(make_session_view, detail, time.time())
    return await _live_fragment(request, "_session.html", _common_values(viewer, view=view), view)


@router.get("/sessions/{id}/versions/{number}")
async def version(request: Request, viewer: Reader, parts: PartsDep, id: Id, number: int) -> Response:
    """Show one version."""
    detail = await parts.archive.detail(viewer.scope, ref_of(id))
    view, name = await asyncio.to_thread(_version_values, detail, number, time.time())
    values = _common_values(viewer, view=view, path=detail.row.session.session_id, name=name, page="sessions")
    return await _page_off_loop(request, "version.html", 200, None, values)


def _version_values(detail: SessionDetail, number: int, now: float) -> tuple[VersionView, str]:
    return make_version_view(detail, find_version(detail, number), now), make_line(detail.row, now).name


@router.get("/sessions/{id}/continue")
async def continue_session(
    request: Request, viewer: Reader, parts: PartsDep, id: Id, snapshot: str = ""
) -> Response:
    """Show what a new conversation would be told of this one; nothing is changed by looking."""
    ref = ref_of(id)
    detail = await parts.archive.detail(viewer.scope, ref)
    lines = await parts.archive.snapshots(viewer.scope, ref)
    taken = await parts.archive.snapshot(viewer.scope, ref, snapshot) if snapshot else None
    policy = parts.policies().resolve(await identity_of_session(detail.row))

    def make_view() -> tuple[ContinueView, str]:
        body = RestoreBody(form="text")
        told = restore_session(detail, policy, body, parts.count, taken)
        changes = compare_points(taken, detail.make_restore_point()) if taken else ()
        now = time.time()
        view = make_continue_view(detail, lines, told, snapshot, changes, now)
        return view, make_line(detail.row, now).name

    view, name = await asyncio.to_thread(make_view)
    values = _common_values(viewer, view=view, path=ref.session_id, name=name, page="sessions")
    return await _page_off_loop(request, "continue.html", 200, None, values)


@router.get("/sessions/{id}/transcript")
async def transcript(
    request: Request, viewer: Reader, parts: PartsDep, id: Id, page: int | None = None
) -> Response:
    """Show a conversation that the gateway keeps, a page of messages at a time; the last one first."""
    ref = ref_of(id)
    detail = await parts.archive.detail(viewer.scope, ref)
    items = await parts.archive.transcript(viewer.scope, ref)

    def make_view() -> tuple[TranscriptView, str]:
        view = make_transcript_view(to_conversation_id(ref.key), items, page)
        return view, make_line(detail.row, time.time()).name

    view, name = await asyncio.to_thread(make_view)
    values = _common_values(viewer, view=view, path=ref.session_id, name=name, page="sessions")
    return await _page_off_loop(request, "transcript.html", 200, None, values)


@router.get("/sessions/{id}/preview")
async def preview(request: Request, viewer: Reader, parts: PartsDep, id: Id) -> Response:
    """Show what other values would have sent; nothing is changed by looking."""
    detail = await parts.archive.detail(viewer.scope, ref_of(id))
    values = _common_values(viewer, shown=None, problem="")
    try:
        policy = parts.policies().resolve(await identity_of_session(detail.row))
        body = read_preview_form(request.query_params, policy)
        values["shown"] = await asyncio.to_thread(_preview_values, detail, policy, body, parts.count)
    except (Problem, PolicyError) as error:
        values["problem"] = error.detail if isinstance(error, Problem) else str(error)
    except (ValueError, ValidationError):
        values["problem"] = "These are no values that can be tried."
    return await _page_off_loop(request, "_preview.html", 200, None, values)


def _preview_values(
    detail: SessionDetail, policy: Policy, body: PreviewBody, count: Callable[[str, str], int]
) -> PreviewView | None:
    found = preview_call(detail, policy, body, count)
    return make_preview_view(found, detail.last_call) if detail.last_call else None


@router.get("/static/{name}")
async def static(name: str) -> Response:
    """Send scripts and styles; their address changes with their contents."""
    if name not in STATIC:
        raise NotFound(name)
    headers = HEADERS | {"Cache-Control": "public, max-age=31536000, immutable"}
    return Response(read_asset(name), 200, headers, STATIC[name])


async def _policy_values(viewer: Viewer, parts: Parts, detail: SessionDetail) -> PolicyView:
    try:
        book, identity = parts.policies(), await identity_of_session(detail.row)
        told = explain_policy(book, identity, everything=viewer.scope.everything)
        return make_policy_view(told, book.resolve(identity))
    except PolicyError as error:
        return PolicyView(problem=str(error))
