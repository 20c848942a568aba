"""Keep other web pages out: the page's cookie, its token, and the origins that are refused.

LiteLLM answers any origin by default, so a browser would let every page on the web read what the cookie's key
can see, or anybody on a proxy without keys. A key in a header is safe from that: no other page knows it.
"""

from __future__ import annotations

import hmac
from ipaddress import ip_address

from fastapi import Request, Response

from gateway_compaction.admin.problems import Problem
from gateway_compaction.core.conversation.digest import fingerprint

PATH = "/compaction"
COOKIE = "gateway_compaction_key"
CSRF_HEADER = "x-compaction-csrf"
SECONDS = 12 * 3600
OTHERS = "Another site's page may not ask this in your browser's name."
UNMARKED = f"A change from the page needs its {CSRF_HEADER} header; reload the page."
REBOUND = (
    "This proxy serves everybody, so it is looked into by its address only: open it as localhost or by its IP"
    " address, or give it a master key."
)


def root_of(request: Request) -> str:
    """Return the address below which all routes are, as seen by the browser."""
    return f"{request.scope.get('root_path', '').rstrip('/')}{PATH}"


def set_key_cookie(response: Response, request: Request, key: str | None) -> None:
    """Let the browser hold a key for the page, out of reach of scripts; None takes it back."""
    path = root_of(request)
    forwarded = request.headers.get("x-forwarded-proto", "")
    secure = "https" in (request.scope["scheme"], forwarded.partition(",")[0].strip().lower())
    if key is None:
        response.delete_cookie(COOKIE, path=path, secure=secure, httponly=True, samesite="strict")
    else:
        response.set_cookie(
            COOKIE, key, max_age=SECONDS, path=path, secure=secure, httponly=True, samesite="strict"
        )


def csrf_token(key: str) -> str:
    """Return what the page sends along with changes: it follows from the key, so all replicas agree on it."""
    return fingerprint("csrf", key)


def refuse_unmarked(request: Request, key: str) -> None:
    """Refuse a change whose sender only has the cookie, and has not read the page.

    Raises:
        Problem: 403.
    """
    sent = request.headers.get(CSRF_HEADER, "")
    if not hmac.compare_digest(sent.encode("utf-8", "replace"), csrf_token(key).encode()):
        raise Problem(403, UNMARKED)


def refuse_others(request: Request, *, open_proxy: bool = False) -> None:
    """Refuse what a page of another origin asks.

    Browsers say so in Sec-Fetch-Site, older ones and those on plain HTTP in Origin. On a proxy without keys
    a name that resolves to this address would make any page ours: there the host must be no such name.

    Raises:
        Problem: 403.
    """
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    host = request.headers.get("host", "")
    if site is not None:
        opened = request.method == "GET" and request.headers.get("sec-fetch-mode") == "navigate"
        if site not in ("same-origin", "none") and not opened:
            raise Problem(403, OTHERS)
    elif origin is not None and origin.partition("://")[2].lower() != host.lower():
        raise Problem(403, OTHERS)
    if open_proxy and not _is_address(host.lower()):
        raise Problem(403, REBOUND)


def _is_address(host: str) -> bool:
    """Tell whether nobody can point this host at us: an IP address, localhost, or a name without a dot."""
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    if name == "localhost" or name.endswith(".localhost") or (name and not {".", ":"} & set(name)):
        return True
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
