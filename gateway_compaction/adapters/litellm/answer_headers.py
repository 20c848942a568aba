"""Headers on the answers that LiteLLM's own hook for headers does not reach.

LiteLLM asks its callbacks for headers where a call went well. Of a call that failed it has dropped by then
what the hooks of the call share, errors of ``/v1/messages`` and pass-through routes ask nobody, and a call
whose key is refused meets no hook at all. So every answer of the proxy's application is looked at as it
begins: where it says nothing yet, what is known of the call is added.

Relies on Starlette's ``Router.middleware_stack``, through which the application sends each request once it
has started, when no middleware can be added any more. Without it such answers carry no headers, and every
call is answered as before.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextvars import ContextVar
from typing import Any, TypeVar

log = logging.getLogger("gateway_compaction")
T = TypeVar("T")
PROXY = "litellm.proxy.proxy_server"

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[MutableMapping[str, Any], Any, Send], Awaitable[None]]

NAME = b"x-compaction"

COVERED_PATH = re.compile(
    r"(?:/v1|/engines/.+|/openai/deployments/.+|/cursor)?/chat/completions"
    r"|/v1/messages|(?:/openai)?(?:/v1)?/responses"
)
"""The paths under which LiteLLM serves the doors that are covered: each answer of theirs says something."""


class _Slot:
    """A request's place for what its hooks know of the call: tasks of the request share it."""

    __slots__ = ("call",)

    def __init__(self) -> None:
        self.call: Any = None


_slot: ContextVar[_Slot | None] = ContextVar("gateway_compaction_slot", default=None)


def note_call(call: T) -> T:
    """Note what is known of the call that this request makes, for its answer, and return it."""
    if (slot := _slot.get()) is not None:
        slot.call = call
    return call


def find_call() -> Any:
    """Return what was noted of this request's call; None where that is nothing, or no request is answered."""
    slot = _slot.get()
    return slot.call if slot is not None else None


def install(describe: Callable[[Any], Mapping[str, str] | None]) -> None:
    """Let the proxy of this process, if there is one, add headers to answers that have none of ours.

    Args:
        describe: returns the headers for what was noted of a call, or for None: it met no hook.
    """
    proxy = sys.modules.get(PROXY)
    router = getattr(getattr(proxy, "app", None), "router", None)
    inner = getattr(router, "middleware_stack", None)
    if proxy is None or isinstance(inner, AnswerHeaders):
        return
    if router is None or not callable(inner):
        log.warning("this LiteLLM has no Router.middleware_stack: answers of failed calls carry no headers")
        return
    router.middleware_stack = AnswerHeaders(inner, describe)


class AnswerHeaders:
    """Adds headers to the answers of an ASGI application that have none of ours."""

    def __init__(self, inner: Application, describe: Callable[[Any], Mapping[str, str] | None]) -> None:
        self._inner, self._describe = inner, describe

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Send) -> None:
        if scope.get("type") != "http":
            await self._inner(scope, receive, send)
            return
        slot = _Slot()

        async def send_with_headers(message: Message) -> None:
            if message.get("type") == "http.response.start":
                self._add(message, slot.call, scope)
            await send(message)

        token = _slot.set(slot)
        try:
            await self._inner(scope, receive, send_with_headers)
        finally:
            _slot.reset(token)

    def _add(self, message: Message, call: Any, scope: Mapping[str, Any]) -> None:
        """Add what is to be said to the beginning of an answer; a fault of ours leaves it as it is."""
        try:
            if call is None and not _is_covered(scope):
                return
            headers = list(message.get("headers") or ())
            if any(name.lower() == NAME for name, _ in headers):
                return
            said = (self._describe(call) or {}).items()
            message["headers"] = headers + [(k.encode("latin-1"), v.encode("latin-1")) for k, v in said]
        except Exception:  # the answer itself is what counts
            log.exception("an answer is sent without headers of ours")


def _is_covered(scope: Mapping[str, Any]) -> bool:
    path = str(scope.get("path", "")).removeprefix(str(scope.get("root_path") or ""))
    return scope.get("method") == "POST" and COVERED_PATH.fullmatch(path) is not None
