"""Fill templates and answer: everything escaped, nothing from elsewhere, nothing kept by browsers."""

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
def _make_environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "visible": text.show_hidden_html,
        "plain": text.show_hidden,
        "short": text.shorten_line,
        "quoted": text.quote_for_url,
        "thousands": text.format_thousands,
        "compact": text.format_compact,
        "percent": text.format_percent,
        "money": text.format_money,
    }
    return environment


@cache
def read_asset(name: str) -> bytes:
    """Return a file of the folder ``static``."""
    return (FOLDER / "static" / name).read_bytes()


@cache
def assets_version() -> str:
    """Return a name that changes whenever a script or style does."""
    return hashlib.sha256(b"".join(read_asset(name) for name in sorted(STATIC))).hexdigest()[:12]


def base_of(request: Request) -> str:
    """Return the address of the pages, as seen by the browser."""
    return f"{root_of(request)}/ui"


def render(template: str, **values: Any) -> str:
    """Fill a template with its values, and return the text."""
    # Text of strangers may hold what no encoding has: it was made visible, this is for what was not shown.
    return _make_environment().get_template(template).render(values).encode("utf-8", "replace").decode()


def html_page(
    request: Request, template: str, status: int = 200, etag: str | None = None, **values: Any
) -> Response:
    """Return an answer in HTML."""
    theme = request.cookies.get(THEME_COOKIE, "")
    shown = {
        "actor": None,
        "csrf": None,
        "page": "",
        "may_act": False,
        "problem": "",
        "etag": etag or "",
    } | values
    shown |= {"base": base_of(request), "assets": assets_version(), "theme": theme if theme in THEMES else ""}
    headers = HEADERS | ({"ETag": etag} if etag else {})
    return Response(render(template, **shown), status, headers, "text/html; charset=utf-8")


def etag_of(*values: Any) -> str:
    """Return a name for what a page shows: the same values, the same name."""
    return hashlib.sha256(repr(values).encode("utf-8", "backslashreplace")).hexdigest()[:24]
