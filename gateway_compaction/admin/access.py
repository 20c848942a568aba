"""Authenticate operators by LiteLLM's own rules, and turn the identity into a scope: the sessions that are
theirs.
"""

from __future__ import annotations

import inspect
import logging
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request, Security
from litellm._logging import verbose_proxy_logger
from litellm.proxy._types import (
    UI_TEAM_ID,
    LiteLLMRoutes,
    LitellmUserRoles,
    ProxyException,
    UserAPIKeyAuth,
)
from litellm.proxy.auth.user_api_key_auth import is_no_auth_dev_mode, user_api_key_auth
from starlette.exceptions import HTTPException

from gateway_compaction.admin.dependencies import parts_of
from gateway_compaction.admin.origin import COOKIE, csrf_token, refuse_cross_origin, require_csrf_token
from gateway_compaction.admin.paths import PATH
from gateway_compaction.admin.problems import PROBLEMS, Problem, ProblemRoute
from gateway_compaction.admin.teams import find_administered_teams
from gateway_compaction.archive import Scope
from gateway_compaction.core.conversation.digest import fingerprint

Role = Literal["proxy admin", "proxy admin viewer", "team admin", "key"]
KEY_HEADERS = {
    name: parameter.default.dependency
    for name, parameter in inspect.signature(user_api_key_auth).parameters.items()
    if parameter.default is not inspect.Parameter.empty
}
"""What LiteLLM reads keys from, as it says itself."""
READ_ONLY = frozenset({LitellmUserRoles.PROXY_ADMIN_VIEW_ONLY, LitellmUserRoles.INTERNAL_USER_VIEW_ONLY})
EVERYTHING = frozenset({LitellmUserRoles.PROXY_ADMIN, LitellmUserRoles.PROXY_ADMIN_VIEW_ONLY})
BODY_HEADERS = frozenset({b"content-type", b"content-length", b"transfer-encoding"})
NOBODY = "failed-to-connect-to-db"
NO_KEY = "Send a key that this proxy accepts, as in Authorization: Bearer sk-…"
NOTHING = (
    "This key stands for nobody: it names no team, no user and no key of its own, so nothing is its own."
)
LEFT_OUT = (
    "LiteLLM refuses it: the key's allowed_routes, or another rule of the proxy, leaves /compaction/* out."
)
LOOK_ONLY = "This key may look, and change nothing."
ADMINS_ONLY = "This is for proxy admins."
LONGEST_NAME = 100
ANYBODY = "anybody (no key is asked for)"
KEYLESS_ERROR = "No api key passed in"
"""What LiteLLM logs with a traceback where a request brings no key."""

_is_keyless: ContextVar[bool] = ContextVar("is_keyless", default=False)


@dataclass(frozen=True, slots=True)
class Viewer:
    """An authenticated operator.

    Attributes:
        scope: the sessions that they may see.
        role: the reason why.
        may_act: whether they may change what they see.
        auth: LiteLLM's authenticated identity.
        csrf: the token that the page must send along with changes; None where a header carried the key.
    """

    scope: Scope
    role: Role
    may_act: bool
    auth: UserAPIKeyAuth
    csrf: str | None = None


async def require_reader(request: Request) -> Viewer:
    """Return who asks to look; every valid key may, and sees what is its own."""
    return await authenticate(request, "GET")


async def require_actor(request: Request) -> Viewer:
    """Return who asks for a change.

    Raises:
        Problem: 403 for keys that may only look, and for pages of other origins.
    """
    viewer = await authenticate(request, request.method)
    if not viewer.may_act:
        raise Problem(403, LOOK_ONLY)
    return viewer


async def require_admin(request: Request) -> Viewer:
    """Return who asks for what is all tenants'; admins that may only look are admins too."""
    viewer = await require_reader(request)
    if not viewer.scope.everything:
        raise Problem(403, ADMINS_ONLY)
    return viewer


Reader = Annotated[Viewer, Depends(require_reader)]
Doer = Annotated[Viewer, Depends(require_actor)]


def new_router() -> APIRouter:
    """Return a router below /compaction whose failures are problem documents."""
    return APIRouter(
        prefix=PATH,
        tags=["compaction"],
        route_class=ProblemRoute,
        responses=PROBLEMS,
        # Nothing depends on it but OpenAPI: keys are read with everything that LiteLLM reads them from.
        dependencies=[Security(KEY_HEADERS["api_key"])],
    )


async def authenticate(request: Request, method: str) -> Viewer:
    """Return who sent a request, which counts as one of ``method``.

    Raises:
        Problem: 401 without a valid key, 403 where the key may not, or where another page asks.
    """
    by_header = any([await header(request) is not None for header in KEY_HEADERS.values()])
    asks_nobody = _asks_nobody()
    secret = None if by_header or asks_nobody else request.cookies.get(COOKIE)
    if asks_nobody:
        refuse_cross_origin(request, open_proxy=True)
    elif not by_header:
        refuse_cross_origin(request)
    key = None
    if secret is not None:
        if method != "GET":
            require_csrf_token(request, secret)
        key = await parts_of(request).sign_ins.find_key(secret)
        if key is None:
            raise Problem(401, NO_KEY)
    auth = await _ask_litellm(_without_our_fields(request, method, key))
    if auth.key_name == NOBODY:
        raise Problem(503, "LiteLLM cannot reach its database: whose key this is is not known at present.")
    return await _make_viewer(auth, None if secret is None else csrf_token(secret))


def key_hash_of(auth: Any) -> str | None:
    """Return the name that sessions know a key by, or None for identities without a key."""
    return fingerprint(str(auth.api_key)) if auth.api_key else None


def declare_routes() -> None:
    """Tell LiteLLM that our routes decide themselves what a key may see.

    Without this it refuses the calls of all but admins.
    """
    own = LiteLLMRoutes.self_managed_routes.value
    own += [route for route in (PATH, f"{PATH}/*") if route not in own]
    if _is_worth_logging not in verbose_proxy_logger.filters:
        verbose_proxy_logger.addFilter(_is_worth_logging)


def _is_worth_logging(record: logging.LogRecord) -> bool:
    """Tell whether a record of LiteLLM's is news: that who opens the page has not signed in yet is none."""
    return not (_is_keyless.get() and KEYLESS_ERROR in record.getMessage())


async def _ask_litellm(bare: Request) -> UserAPIKeyAuth:
    """Return the identity that LiteLLM finds behind a request.

    Raises:
        Problem: LiteLLM refuses it.
    """
    keys: dict[str, Any] = {name: await header(bare) for name, header in KEY_HEADERS.items()}
    quiet = _is_keyless.set(not any(keys.values()))
    try:
        auth: UserAPIKeyAuth = await user_api_key_auth(bare, **keys)
    except (ProxyException, HTTPException) as error:
        raise _refusal_problem(error) from error
    finally:
        _is_keyless.reset(quiet)
    if auth.blocked or auth.team_blocked or _has_expired(auth):
        # Custom authentication hands these on without looking at them.
        raise Problem(401, NO_KEY)
    return auth


async def _make_viewer(auth: UserAPIKeyAuth, csrf: str | None) -> Viewer:
    may_act = auth.user_role not in READ_ONLY
    if _asks_nobody() or auth.user_role in EVERYTHING:
        role: Role = "proxy admin" if may_act else "proxy admin viewer"
        return Viewer(Scope(everything=True, actor=_actor_name(auth, role)), role, may_act, auth, csrf)
    teams = await find_administered_teams(auth)
    # A key of a team says nothing about its maker's own conversations.
    user = auth.user_id if auth.team_id in (None, UI_TEAM_ID) else None
    role = "team admin" if teams else "key"
    scope = Scope(False, teams, user or None, key_hash_of(auth), _actor_name(auth, role))
    if not (scope.teams or scope.user_id or scope.key_hash):
        raise Problem(403, NOTHING)
    return Viewer(scope, role, may_act, auth, csrf)


def _actor_name(auth: UserAPIKeyAuth, role: Role) -> str:
    """Return who it is, for the audit: an alias or an id, never a key."""
    if _asks_nobody():
        return ANYBODY
    if auth.key_alias:
        name = f"key {auth.key_alias}"
    elif auth.user_id:
        name = f"user {auth.user_id}"
    else:
        name = f"key #{(key_hash_of(auth) or 'unknown')[:12]}"
    name = name[:LONGEST_NAME]
    return name if role == "key" else f"{role}, {name}"


def _asks_nobody() -> bool:
    """Tell whether the proxy was set up to ask nobody for a key."""
    from litellm.proxy import proxy_server

    return proxy_server.user_custom_auth is None and is_no_auth_dev_mode(
        proxy_server.master_key, proxy_server.general_settings
    )


def _without_our_fields(request: Request, method: str, key: str | None) -> Request:
    """Return the request without what is ours: LiteLLM would take fields of a body or query for those of a
    call.
    """
    scope = {**request.scope, "method": method, "query_string": b"", "path_params": {}}
    scope["headers"] = [pair for pair in request.scope["headers"] if pair[0] not in BODY_HEADERS]
    if key is not None:
        scope["headers"].append((b"authorization", f"Bearer {key}".encode()))

    async def nothing() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    return Request(scope, nothing)


def _refusal_problem(error: ProxyException | HTTPException) -> Problem:
    """Return LiteLLM's refusal in our words; a key that nobody can know (no database) is one it does not
    accept.
    """
    status = _refusal_status(error.code if isinstance(error, ProxyException) else error.status_code)
    if status in (400, 401):
        return Problem(401, NO_KEY)
    if status == 403:
        return Problem(403, LEFT_OUT)
    said = error.message if isinstance(error, ProxyException) else error.detail
    return Problem(status, f"LiteLLM refuses: {str(said)[:300]}")


def _refusal_status(code: object) -> int:
    """Return the status that a refusal names, or that of a key not accepted where it names no failure."""
    text = str(code)
    number = int(text) if text.isascii() and text.isdecimal() and len(text) == 3 else 0
    return number if 400 <= number < 600 else 401


def _has_expired(auth: UserAPIKeyAuth) -> bool:
    expires = auth.expires
    if expires is None:
        return False
    at = expires if isinstance(expires, datetime) else datetime.fromisoformat(expires)
    return (at if at.tzinfo else at.replace(tzinfo=UTC)) < datetime.now(UTC)
