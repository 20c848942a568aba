"""Fill templates and answer: everything escaped, nothing from elsewhere, nothing kept by browsers."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import Request, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from gateway_compaction.admin.paths import root_url
from gateway_compaction.admin.ui import text

FOLDER = Path(__file__).parent
THEME_COOKIE = "gateway_compaction_theme"
THEMES = ("light", "dark")
PAGE_DEFAULTS: Mapping[str, Any] = {"actor": None, "csrf": None, "page": "", "may_act": False, "problem": ""}
"""Values of a page that is shown to nobody in particular."""
CONTENT_SECURITY_POLICY = "; ".join(
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
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
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


def pages_url(request: Request) -> str:
    """Return the address of the pages, as seen by the browser."""
    return f"{root_url(request)}/ui"


def render(template: str, **values: Any) -> str:
    """Fill a template with its values, and return the text."""
    # Lone surrogates cannot be encoded: those that the filter "visible" did not show become "?".
    return _make_environment().get_template(template).render(values).encode("utf-8", "replace").decode()


def render_page(
    request: Request, template: str, status: int = 200, etag: str | None = None, **values: Any
) -> Response:
    """Return an answer in HTML.

    Args:
        values: of the template. What a page leaves out of ``PAGE_DEFAULTS`` is as there; what every page
            says alike (its address, the assets, the theme) cannot be given.
    """
    theme = request.cookies.get(THEME_COOKIE, "")
    context = {
        **PAGE_DEFAULTS,
        "etag": etag or "",
        **values,
        "base": pages_url(request),
        "assets": assets_version(),
        "theme": theme if theme in THEMES else "",
    }
    headers = HEADERS | ({"ETag": etag} if etag else {})
    return Response(render(template, **context), status, headers, "text/html; charset=utf-8")


def make_etag(*values: Any) -> str:
    """Return an ETag: equal values have equal tags."""
    return hashlib.sha256(repr(values).encode("utf-8", "backslashreplace")).hexdigest()[:24]
