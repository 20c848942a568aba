"""List all routes, in the order in which they are looked through."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import RedirectResponse

from gateway_compaction.admin import read_routes as reading
from gateway_compaction.admin import watch_routes as watching
from gateway_compaction.admin import write_routes as acting
from gateway_compaction.admin.paths import PATH, root_url
from gateway_compaction.admin.problems import Problem, problem_response
from gateway_compaction.admin.ui import forms as page_forms
from gateway_compaction.admin.ui import routes as page
from gateway_compaction.admin.ui.errors import not_found_page as no_page
from gateway_compaction.admin.v1 import conversations, summarize

API: tuple[APIRouter, ...] = (
    reading.router,
    acting.router,
    watching.router,
    conversations.router,
    summarize.router,
)
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]


def include_routes(app: FastAPI) -> None:
    """Serve the API and the page; a path that is nowhere gets a problem document, below the page a page."""
    for router in (*API, page.router, page_forms.router):
        app.include_router(router)
    for path in (PATH, f"{PATH}/"):
        app.add_api_route(path, _redirect_to_page, include_in_schema=False)
    app.add_api_route(f"{PATH}/ui/{{rest:path}}", no_page, methods=METHODS, include_in_schema=False)
    app.add_api_route(f"{PATH}/{{rest:path}}", _not_found, methods=METHODS, include_in_schema=False)


async def _redirect_to_page(request: Request) -> Response:
    return RedirectResponse(f"{root_url(request)}/ui")


async def _not_found(request: Request) -> Response:
    return problem_response(Problem(404, f"{request.method} finds no route here; docs/api.md lists them."))
