"""Guard the page against CSRF and DNS rebinding: its cookie, its token, and the origins that are refused.

LiteLLM answers any origin by default, so a browser would let every page on the web read what the cookie's key
can see, or anybody on a proxy without keys. A key in a header is safe from that: no other page knows it.
"""

from __future__ import annotations

import hmac
from ipaddress import ip_address

from fastapi import Request, Response

from gateway_compaction.admin.paths import root_url
from gateway_compaction.admin.problems import Problem
from gateway_compaction.admin.sign_ins import SIGN_IN_SECONDS
from gateway_compaction.core.conversation.digest import fingerprint

COOKIE = "gateway_compaction_sign_in"
KEY_COOKIE = "gateway_compaction_key"
"""The cookie of earlier versions, which held the key itself: browsers are told to forget it."""
CSRF_HEADER = "x-compaction-csrf"
CROSS_SITE = "Another site's page may not ask this in your browser's name."
NO_CSRF_TOKEN = f"A change from the page needs its {CSRF_HEADER} header; reload the page."
DNS_REBINDING = (
    "This proxy serves everybody, so it is looked into by its address only: open it as localhost or by its IP"
    " address, or give it a master key."
)


def set_sign_in_cookie(response: Response, request: Request, secret: str | None) -> None:
    """Let the browser hold the secret of its sign-in, out of reach of scripts; None takes it back."""
    path = root_url(request)
    forwarded = request.headers.get("x-forwarded-proto", "")
    secure = "https" in (request.scope["scheme"], forwarded.partition(",")[0].strip().lower())
    for cookie, value in ((KEY_COOKIE, None), (COOKIE, secret)):
        age, text = (0, "") if value is None else (SIGN_IN_SECONDS, value)
        response.set_cookie(
            cookie, text, max_age=age, path=path, secure=secure, httponly=True, samesite="strict"
        )


def csrf_token(secret: str) -> str:
    """Return what the page sends along with changes.

    It follows from the secret of the sign-in, so all replicas agree on it and each sign-in has another one.
    """
    return fingerprint("csrf", secret)


def require_csrf_token(request: Request, secret: str) -> None:
    """Refuse a change whose sender only has the cookie, and has not read the page.

    Raises:
        Problem: 403.
    """
    sent = request.headers.get(CSRF_HEADER, "")
    if not hmac.compare_digest(sent.encode("utf-8", "replace"), csrf_token(secret).encode()):
        raise Problem(403, NO_CSRF_TOKEN)


def refuse_cross_origin(request: Request, *, open_proxy: bool = False) -> None:
    """Refuse what a page of another origin asks.

    Browsers say so in Sec-Fetch-Site, older ones and those on plain HTTP in Origin. A rebound DNS name (one
    that its owner has pointed at this proxy) would be same-origin. Where a proxy asks for keys that gains
    nothing, since the cookie is another name's; without keys, only an address is accepted as the host.

    Raises:
        Problem: 403.
    """
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    host = request.headers.get("host", "")
    if site is not None:
        is_navigation = request.method == "GET" and request.headers.get("sec-fetch-mode") == "navigate"
        if site not in ("same-origin", "none") and not is_navigation:
            raise Problem(403, CROSS_SITE)
    elif origin is not None and origin.partition("://")[2].lower() != host.lower():
        raise Problem(403, CROSS_SITE)
    if open_proxy and not _is_address(host.lower()):
        raise Problem(403, DNS_REBINDING)


def _is_address(host: str) -> bool:
    """Tell whether nobody can point this host at us: an IP address, localhost, or a name without a dot."""
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    # No public DNS has names of one label, and an IPv6 address has colons.
    is_single_label = name != "" and "." not in name and ":" not in name
    if is_single_label or name.endswith(".localhost"):
        return True
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
