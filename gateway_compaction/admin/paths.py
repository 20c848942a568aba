"""The common prefix of all routes, and the same as a browser sees it behind a proxy."""

from __future__ import annotations

from fastapi import Request

PATH = "/compaction"


def root_url(request: Request) -> str:
    """Return the address below which all routes are, as seen by the browser."""
    return f"{request.scope.get('root_path', '').rstrip('/')}{PATH}"
