"""Show failures to people: a sentence, and where to go from there."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse
from fastapi.routing import APIRoute

from gateway_compaction.admin.problems import Problem, problem_of, title_of
from gateway_compaction.admin.ui.render import HEADERS, pages_url, render_page

TITLES = {
    403: "Not allowed",
    404: "Not there",
    409: "Not possible",
    422: "Not understood",
    500: "Something went wrong here",
    503: "The store does not answer",
}
UNUSABLE = "The address holds a value that cannot be used."
NO_PAGE = "There is no page at this address."


class PageRoute(APIRoute):
    """A route whose failures are pages for people; without a key it leads to where one is given."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Wrap FastAPI's own: dependencies and validation run inside it."""
        handle = super().get_route_handler()

        async def answer_or_problem(request: Request) -> Response:
            try:
                return await handle(request)
            except RequestValidationError:
                return _problem_page(request, Problem(422, UNUSABLE))
            except Exception as error:  # any fault of ours or of the host's must end as a page as well
                return _problem_page(request, problem_of(error))

        return answer_or_problem


async def not_found_page(request: Request) -> Response:
    """Answer for an address with no page; one with a slash too many leads to the one without."""
    path = request.url.path
    if request.method == "GET" and path.endswith("/"):
        return RedirectResponse(f"{path.rstrip('/')}{'?' * bool(request.url.query)}{request.url.query}")
    return _problem_page(request, Problem(404, NO_PAGE))


def _problem_page(request: Request, problem: Problem) -> Response:
    base = pages_url(request)
    if problem.status == HTTPStatus.UNAUTHORIZED:
        return _redirect_to_sign_in(request, base)
    values = {
        "title": TITLES.get(problem.status) or title_of(problem.status),
        "sentence": problem.detail,
    }
    if problem.status == HTTPStatus.FORBIDDEN:
        again = (f"{base}/signin", "Sign in with another key")
    elif problem.status == HTTPStatus.SERVICE_UNAVAILABLE:
        again = (str(request.url.path), "Try again")
    else:
        again = (f"{base}/sessions", "To the session list")
    return render_page(
        request, "problem.html", problem.status, None, again=again[0], again_label=again[1], **values
    )


def _redirect_to_sign_in(request: Request, base: str) -> Response:
    wanted = request.url.path if request.method == "GET" and not request.url.path.endswith("/live") else base
    address = f"{base}/signin?{urlencode({'next': wanted})}"
    if "hx-request" in request.headers:
        return Response(status_code=204, headers={**HEADERS, "HX-Redirect": address})
    return Response(status_code=303, headers={**HEADERS, "Location": address})
