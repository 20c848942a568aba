"""Templates to answers: everything escaped, nothing from elsewhere, nothing kept by browsers."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import Request, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from gateway_compaction.admin.origin import root_of
from gateway_compaction.admin.ui import text

__all__ = ["HEADERS", "STATIC", "THEME_COOKIE", "asset", "assets", "base_of", "etag_of", "page", "render"]

FOLDER = Path(__file__).parent
THEME_COOKIE = "gateway_compaction_theme"
THEMES = ("light", "dark")
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Vary": "HX-Request, Cookie",
}
STATIC: Mapping[str, str] = {
    "htmx.min.js": "text/javascript",
    "htmx.LICENSE.txt": "text/plain",
    "icon.svg": "image/svg+xml",
    "ui.css": "text/css",
    "ui.js": "text/javascript",
}


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for function in (
        text.visible,
        text.plain,
        text.short,
        text.quoted,
        text.thousands,
        text.compact,
        text.percent,
        text.money,
    ):
        environment.filters[function.__name__] = function
    return environment


@cache
def asset(name: str) -> bytes:
    """A file of the folder ``static``."""
    return (FOLDER / "static" / name).read_bytes()


@cache
def assets() -> str:
    """What changes whenever a script or style does."""
    return hashlib.sha256(b"".join(asset(name) for name in sorted(STATIC))).hexdigest()[:12]


def base_of(request: Request) -> str:
    """Where the pages are, as seen by the browser."""
    return f"{root_of(request)}/ui"


def render(template: str, **values: Any) -> str:
    """A template with its values, as text."""
    # Text of strangers may hold what no encoding has: it was made visible, this is for what was not shown.
    return _environment().get_template(template).render(values).encode("utf-8", "replace").decode()


def page(
    request: Request, template: str, status: int = 200, etag: str | None = None, **values: Any
) -> Response:
    """An answer in HTML."""
    theme = request.cookies.get(THEME_COOKIE, "")
    shown = {
        "actor": None,
        "csrf": None,
        "page": "",
        "may_act": False,
        "problem": "",
        "etag": etag or "",
    } | values
    shown |= {"base": base_of(request), "assets": assets(), "theme": theme if theme in THEMES else ""}
    headers = HEADERS | ({"ETag": etag} if etag else {})
    return Response(render(template, **shown), status, headers, "text/html; charset=utf-8")


def etag_of(*values: Any) -> str:
    """A name for what a page shows: the same values, the same name."""
    return hashlib.sha256(repr(values).encode("utf-8", "backslashreplace")).hexdigest()[:24]
