"""Answer errors as problem details (RFC 9457), the same for every route, and never in LiteLLM's own form."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, TypeVar

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from gateway_compaction.admin.json_response import UNCACHED
from gateway_compaction.errors import (
    ActionRefused,
    ConversationRefused,
    InvalidDocument,
    NotFound,
    PartNotFound,
    PolicyError,
    StoreError,
)

log = logging.getLogger("gateway_compaction")
Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
MEDIA_TYPE = "application/problem+json"
BODY_LIMIT = "largest_body"
"""The attribute of an endpoint that ``limit_body`` sets."""
LARGEST_BODY = 65_536
"""Bytes of a request body, unless ``limit_body`` says otherwise of the route."""
STORE_DOWN = (
    "The store does not answer: nothing can be shown or done at present. Requests go on without it, unchanged"
    " where they fit."
)
NOT_THERE = "There is no such session, version or pin, or it is not yours to see."
STATUS_MEANINGS = {
    401: "No key that LiteLLM accepts was sent.",
    403: "The key may not do this.",
    404: "Not there, or not yours to see: for sessions the two look the same.",
    409: "It cannot be done; the detail says why.",
    411: "The body came without a length.",
    413: "The body is too long.",
    422: "A parameter or the body cannot be used; errors or the detail says which.",
    429: "So much at once is more than one key may ask.",
    500: "A fault of the gateway's; its log says more.",
    503: "The store does not answer, or this process cannot serve more; the detail says which.",
}
SCHEMA = {
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "const": "about:blank"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "A sentence for people."},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"at": {"type": "string"}, "problem": {"type": "string"}},
            },
        },
    },
}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"description": meaning, "content": {MEDIA_TYPE: {"schema": SCHEMA}}}
    for status, meaning in STATUS_MEANINGS.items()
}
"""What every route may answer besides success, for OpenAPI."""


@dataclass(slots=True)
class Problem(Exception):
    """An HTTP error answer: status and sentence; ``errors`` names places and what is wrong there."""

    status: int
    detail: str
    errors: Sequence[Mapping[str, str]] = ()


class ProblemRoute(APIRoute):
    """A route whose every failure is a problem document."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Wrap FastAPI's own: dependencies and validation run inside it."""
        handle = super().get_route_handler()
        largest = getattr(self.endpoint, BODY_LIMIT, LARGEST_BODY)

        async def answer_or_problem(request: Request) -> Response:
            try:
                _check_size(request, largest)
                return await handle(request)
            except Exception as error:  # any fault of ours or of the host's must end as a problem as well
                return problem_response(problem_of(error))

        return answer_or_problem


def limit_body(most: int) -> Callable[[Endpoint], Endpoint]:
    """Return a decorator that lets the body of a route have up to ``most`` bytes."""

    def decorate(endpoint: Endpoint) -> Endpoint:
        setattr(endpoint, BODY_LIMIT, most)
        return endpoint

    return decorate


def problem_response(problem: Problem) -> Response:
    """Return the answer to a request that failed."""
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": title_of(problem.status),
        "status": problem.status,
        "detail": problem.detail,
    }
    if problem.errors:
        body["errors"] = list(problem.errors)
    headers = dict(UNCACHED)
    if problem.status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    if problem.status == HTTPStatus.SERVICE_UNAVAILABLE:
        headers["Retry-After"] = "5"
    return Response(json.dumps(body), problem.status, headers, MEDIA_TYPE)


def title_of(status: int) -> str:
    """Return the standard phrase of a status, or Refused or Failed for an unknown one."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Refused" if status < HTTPStatus.INTERNAL_SERVER_ERROR else "Failed"


def problem_of(error: Exception) -> Problem:
    """Map an exception to the problem that the caller sees."""
    match error:
        case Problem():
            return error
        case StoreError():
            log.warning("admin: no answer from the store: %s", error)
            return Problem(503, STORE_DOWN)
        case PartNotFound():
            return Problem(404, f"{error}.")
        case NotFound():
            return Problem(404, NOT_THERE)
        case InvalidDocument():
            where = {"at": error.path, "problem": error.problem}
            return Problem(422, "The document is no exported session, and nothing of it is stored.", [where])
        case ActionRefused():
            return Problem(409, str(error))
        case PolicyError():
            return Problem(422, str(error))
        case ConversationRefused():
            return Problem(error.status, f"{error.problem[:1].upper()}{error.problem[1:]}.")
        case RequestValidationError():
            found = error.errors()
            errors = [{"at": ".".join(map(str, e["loc"])), "problem": str(e["msg"])} for e in found[:20]]
            return Problem(422, "The request cannot be used as it is.", errors)
        case HTTPException():
            return Problem(error.status_code, str(error.detail))
    log.error("admin: a fault while answering", exc_info=error)
    return Problem(500, "A fault in the gateway; its log says more.")


def _check_size(request: Request, largest: int) -> None:
    if request.method in ("GET", "HEAD", "DELETE"):
        return
    length = request.headers.get("content-length", "")
    if "transfer-encoding" in request.headers and not length:
        raise Problem(411, "Send the body with a Content-Length.")
    if length.isdecimal() and int(length) > largest:
        raise Problem(413, f"The body is longer than {largest} bytes.")
