"""Sign in and out, and act: each action is confirmed on a page that says what it will mean."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response

from gateway_compaction.admin.access import LOOK_ONLY, Reader, Viewer, authenticate
from gateway_compaction.admin.dependencies import Parts, PartsDep
from gateway_compaction.admin.json_response import json_response_off_loop
from gateway_compaction.admin.origin import COOKIE, refuse_cross_origin, set_sign_in_cookie
from gateway_compaction.admin.paths import PATH
from gateway_compaction.admin.problems import Problem
from gateway_compaction.admin.read_routes import Id, ref_of
from gateway_compaction.admin.ui.actions import OperatorAction, explain_missing, find_action
from gateway_compaction.admin.ui.errors import PageRoute
from gateway_compaction.admin.ui.render import HEADERS, pages_url, render_page
from gateway_compaction.admin.ui.sessions import make_line
from gateway_compaction.archive import SessionDetail
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.errors import ActionRefused

router = APIRouter(prefix=f"{PATH}/ui", route_class=PageRoute, include_in_schema=False)
LARGEST_FORM = 65_536
LONGEST_KEY = 1000
KEYS = frozenset(
    {b"authorization", b"cookie", b"x-api-key", b"api-key", b"x-goog-api-key", b"x-litellm-api-key"}
)
STALE = "This page is older than your sign-in: go back, reload it and try again."
WRONG_KEY = "This proxy does not accept that key."
TOO_MANY = "Too many keys from your address were not accepted: try again in a minute."


@router.get("/signin")
async def show_sign_in(request: Request, next: str = "") -> Response:
    """Show the page that asks for a key."""
    return render_page(request, "signin.html", next=_safe_redirect(request, next))


@router.post("/signin")
async def sign_in(request: Request, parts: PartsDep) -> Response:
    """Let a cookie of the browser stand for a key that this proxy accepts."""
    refuse_cross_origin(request)
    form = await _read_form(request)
    wanted, key = _safe_redirect(request, form.get("next", "")), form.get("key", "").strip()
    address = request.client.host if request.client else ""
    try:
        if not await parts.sign_ins.may_try(address):
            raise Problem(429, TOO_MANY)
        if not key or len(key) > LONGEST_KEY or not key.isascii() or not key.isprintable():
            raise Problem(401, WRONG_KEY)
        await authenticate(_with_key_header(request, key), "GET")
    except Problem as problem:
        told = WRONG_KEY if problem.status == 401 else problem.detail
        return render_page(request, "signin.html", problem.status, next=wanted, problem=told)
    await parts.sign_ins.forgive(address)
    await parts.sign_ins.end(request.cookies.get(COOKIE, ""))
    response = _redirect(wanted)
    set_sign_in_cookie(response, request, await parts.sign_ins.begin(key))
    return response


@router.post("/signout")
async def sign_out(request: Request, viewer: Reader, parts: PartsDep) -> Response:
    """End the sign-in for all replicas, and take the cookie back."""
    _check_form_origin(viewer, await _read_form(request))
    await parts.sign_ins.end(request.cookies.get(COOKIE, ""))
    response = _redirect(f"{pages_url(request)}/signin")
    set_sign_in_cookie(response, request, None)
    return response


@router.get("/sessions/{id}/export")
async def export(viewer: Reader, parts: PartsDep, id: Id) -> Response:
    """Send all that is kept of a session, as a file."""
    session = ref_of(id)
    response = await json_response_off_loop(await parts.archive.export(viewer.scope, session))
    response.headers["Content-Disposition"] = f'attachment; filename="{session.key[:32]}.json"'
    return response


@router.get("/sessions/{id}/do/{name}")
async def confirm(
    request: Request,
    viewer: Reader,
    parts: PartsDep,
    id: Id,
    name: str,
    version: int | None = None,
    text: str = "",
    pin: str = "",
) -> Response:
    """Show what an action will mean, before it is done."""
    detail = await parts.archive.detail(viewer.scope, ref_of(id))
    action = find_action(name, detail, version, text, pin)
    if action is None:
        raise explain_missing(name, detail, version)
    return await _confirmation_page(request, viewer, detail, action)


@router.post("/sessions/{id}/do/{name}")
async def run_action(request: Request, viewer: Reader, parts: PartsDep, id: Id, name: str) -> Response:
    """Do the action, and go back to where it can be seen."""
    form = await _read_form(request)
    _check_form_origin(viewer, form)
    if not viewer.may_act:
        raise Problem(403, LOOK_ONLY)
    session = ref_of(id)
    detail = await parts.archive.detail(viewer.scope, session)
    number = form.get("version", "")
    version = int(number) if number.isdecimal() and len(number) < 10 else None
    text = form.get("text", "").strip()
    action = find_action(name, detail, version, text, form.get("pin", ""))
    if action is None:
        raise explain_missing(name, detail, version)
    if name == "rate":
        # Shown filled in with what holds; sent empty it is given back.
        action = replace(action, text=text, for_key=form.get("for_key") == "1")
    try:
        await _apply_action(parts, viewer, session, action)
    except ActionRefused as refusal:
        return await _confirmation_page(request, viewer, detail, action, str(refusal), 409)
    if name == "forget":
        return _redirect(f"{pages_url(request)}/sessions")
    return _redirect(
        f"{pages_url(request)}/sessions/{session.session_id}?{urlencode({'done': _done_word(action)})}"
    )


async def _apply_action(parts: Parts, viewer: Viewer, session: SessionRef, action: OperatorAction) -> None:
    archive, scope = parts.archive, viewer.scope
    match action.name:
        case "compact":
            await archive.compact(scope, session)
        case "rebuild":
            await archive.rebuild(scope, session)
        case "rollback" if action.version is not None:
            await archive.rollback(scope, session, action.version)
        case "pin":
            await archive.pin(scope, session, action.text)
        case "rate":
            await archive.set_rate(scope, session, _read_rate(action.text), for_key=action.for_key)
        case "unpin":
            await archive.unpin(scope, session, action.text)
        case "reset":
            await archive.reset(scope, session)
        case "forget":
            await archive.forget(scope, session)
    await parts.attend()


def _read_rate(text: str) -> float | None:
    """Return the rate that was filled in; None where nothing was.

    Raises:
        ActionRefused: it is no number.
    """
    try:
        return float(text) if text else None
    except ValueError:
        raise ActionRefused("A rate is a number from 0.1 to 0.5, such as 0.3") from None


def _done_word(action: OperatorAction) -> str:
    return "nothing" if action.name == "rollback" and not action.version else action.name


async def _confirmation_page(
    request: Request,
    viewer: Viewer,
    detail: SessionDetail,
    action: OperatorAction,
    problem: str = "",
    status: int = 200,
) -> Response:
    if not viewer.may_act:
        raise Problem(403, LOOK_ONLY)
    values: dict[str, Any] = {
        "actor": viewer.scope.actor,
        "csrf": viewer.csrf,
        "page": "sessions",
        "action": action,
        "problem": problem,
        "name": make_line(detail.row, 0.0).name,
        "here": f"{pages_url(request)}/sessions/{detail.row.session.session_id}",
    }
    template = "_action.html" if "hx-request" in request.headers else "action.html"
    return await asyncio.to_thread(render_page, request, template, status, None, **values)


async def _read_form(request: Request) -> Mapping[str, str]:
    length = request.headers.get("content-length", "")
    if not length.isdecimal() or int(length) > LARGEST_FORM:
        raise Problem(413, "That is more than any form here sends.")
    async with request.form(max_files=0, max_fields=10) as form:
        return {name: value for name, value in form.items() if isinstance(value, str)}


def _check_form_origin(viewer: Viewer, form: Mapping[str, str]) -> None:
    """Refuse a form that was not on one of our pages.

    Raises:
        Problem: 403.
    """
    sent = form.get("csrf", "").encode("utf-8", "replace")
    if viewer.csrf is not None and not hmac.compare_digest(sent, viewer.csrf.encode()):
        raise Problem(403, STALE)


def _with_key_header(request: Request, key: str) -> Request:
    """Return the request as one that brings this key in a header, and no other."""
    headers = [pair for pair in request.scope["headers"] if pair[0] not in KEYS]
    headers.append((b"authorization", f"Bearer {key}".encode()))
    return Request({**request.scope, "headers": headers})


def _safe_redirect(request: Request, wanted: str) -> str:
    """Return ``wanted`` where it is one of our pages, else the first one."""
    base = pages_url(request)
    plain = wanted.isascii() and wanted.isprintable() and not set("\\ ") & set(wanted)
    return wanted if plain and (wanted == base or wanted.startswith((f"{base}/", f"{base}?"))) else base


def _redirect(address: str) -> Response:
    return Response(status_code=303, headers={**HEADERS, "Location": address})
