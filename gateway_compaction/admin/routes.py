"""All routes of the API, in the order in which they are looked through."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI, Request, Response

from gateway_compaction.admin import acting, reading, watching
from gateway_compaction.admin.origin import PATH
from gateway_compaction.admin.problems import Problem, problem_response
from gateway_compaction.admin.ui import doing
from gateway_compaction.admin.ui import routes as pages

__all__ = ["API", "PAGES", "include"]

API: tuple[APIRouter, ...] = (reading.router, acting.router, watching.router)
PAGES: tuple[APIRouter, ...] = (pages.router, doing.router)
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]


def include(app: FastAPI) -> None:
    """Serve everything below /compaction; what is nowhere is a problem document as well."""
    for router in (*API, *PAGES):
        app.include_router(router)
    app.add_api_route(f"{PATH}/{{rest:path}}", _nowhere, methods=METHODS, include_in_schema=False)


async def _nowhere(request: Request) -> Response:
    return problem_response(Problem(404, f"{request.method} is no route here; docs/api.md lists them."))
