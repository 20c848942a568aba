"""Asking a deployment again within the same call, where it refused what was sent as too long.

Relies on three things of LiteLLM 1.108 to 1.110. The proxy's router calls each of ``FUNCTIONS`` once for
each attempt, so that what is put in its place is asked with the deployment chosen and its slot held: the
first by its name, the others as they were when the router was made, which is after callbacks are loaded. A
second call with the same arguments passes ``async_pre_call_deployment_hook`` again, which may send less.
And ``resent_on`` is LiteLLM's own word for an attempt that its caller sends again: its failure is neither
logged as the request's, nor counted against the deployment, and its budget stays reserved.

A fallback entry that names the same group (``{"model": group}``) would do too, but it shows: as a fallback in
the answer's headers and in the logs, and as a failure of the deployment. Another deployment of the group may
be chosen, and only errors that LiteLLM has classed as a full context come that way.

Should the router come to call something else, or should one of these things be missing or of another form,
refusals reach the client as without this module, and every call is answered as before. It is pinned by
tests/e2e/test_length_refusals.py, on each LiteLLM of ``make compat``, and by tests/test_ask_again.py.
"""

from __future__ import annotations

import datetime
import inspect
import logging
import traceback
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial, wraps
from typing import Any, Protocol

import litellm
from litellm.exceptions import ContextWindowExceededError

from gateway_compaction.core.endpoints.wire import EndpointName
from gateway_compaction.ports import ProviderError

log = logging.getLogger("gateway_compaction")

FUNCTIONS: Mapping[EndpointName, str] = {
    "chat": "acompletion",
    "messages": "anthropic_messages",
    "responses": "aresponses",
}
"""LiteLLM's function for the calls of each endpoint."""

MARK = "_gateway_compaction_asks_again"
"""An attribute of the function that stands in for LiteLLM's: it is put there once."""


class Refusals(Protocol):
    """Judges the failures of one process's calls."""

    def is_watched(self, endpoint: EndpointName, kwargs: Mapping[str, Any]) -> bool:
        """Tell whether a call is one that was decided about; a translated one within it is not."""
        ...

    def may_ask_again(self, kwargs: Mapping[str, Any], error: Exception) -> bool:
        """Tell whether the call is to be asked again after an error, without waiting for anything."""
        ...

    async def ask_again(self, kwargs: Mapping[str, Any], error: Exception) -> bool:
        """Prepare the next attempt, and tell whether there is one. Never raises."""
        ...


def describe_error(error: Any) -> ProviderError:
    """Return an error of LiteLLM's as the engine sees it.

    Some providers name the error, and its numbers, beside a message that says nothing.
    """
    try:
        status = int(error.status_code)
    except (AttributeError, TypeError, ValueError):
        status = None
    body = getattr(error, "body", None)
    beside = {k: v for k, v in body.items() if k != "message"} if isinstance(body, Mapping) else {}
    named = "".join(f"; {name}: {value}" for name, value in beside.items() if isinstance(value, str | int))
    return ProviderError(status, isinstance(error, ContextWindowExceededError), f"{error}{named}")


def install(refusals: Refusals) -> None:
    """Let every call of LiteLLM's that is refused as too long be asked again, where ``refusals`` say so."""
    for endpoint, name in FUNCTIONS.items():
        original: Any = getattr(litellm, name, None)
        if getattr(original, MARK, False):
            original = original.__wrapped__
        if not inspect.iscoroutinefunction(original):
            log.warning("this LiteLLM has no litellm.%s to be asked again: refusals reach the client", name)
            continue
        setattr(litellm, name, wrap(original, endpoint, refusals))


def wrap(function: Callable[..., Any], endpoint: EndpointName, refusals: Refusals) -> Callable[..., Any]:
    """Return a function like LiteLLM's that asks again."""

    @wraps(function)
    async def asking_again(*args: Any, **kwargs: Any) -> Any:
        if not refusals.is_watched(endpoint, kwargs):
            return await function(*args, **kwargs)
        may_ask_again = partial(refusals.may_ask_again, kwargs)
        while True:
            try:
                with _resent_on(may_ask_again):
                    answer = await function(*args, **kwargs)
                    await _open_stream(answer)
                    return answer
            except Exception as error:
                if may_ask_again(error) and await _prepare(refusals, kwargs, error):
                    continue
                raise

    setattr(asking_again, MARK, True)
    return asking_again


async def _prepare(refusals: Refusals, kwargs: Mapping[str, Any], error: Exception) -> bool:
    """Prepare the next attempt, and tell whether there is one; if not, the failure is logged here.

    LiteLLM has logged what could not be asked again, and nothing else.
    """
    if await refusals.ask_again(kwargs, error):
        return True
    await _log_failure(kwargs.get("litellm_logging_obj"), error)
    return False


async def _open_stream(answer: Any) -> None:
    """Send the request of a stream that is only prepared, as the router does next: its refusal comes here."""
    fetch = getattr(answer, "fetch_stream", None)
    if (
        getattr(answer, "completion_stream", answer) is None
        and getattr(answer, "make_call", None) is not None
        and inspect.iscoroutinefunction(fetch)
    ):
        await fetch()


def _resent_on(predicate: Callable[[Exception], bool]) -> AbstractContextManager[None]:
    try:
        from litellm._internal_context import resent_on

        told = resent_on(predicate)
    except (ImportError, TypeError):
        told = None
    # Without it the attempt is logged as a failure too; the call is asked again all the same.
    return told if isinstance(told, AbstractContextManager) else nullcontext()


async def _log_failure(logging_obj: Any, error: Exception) -> None:
    """Log a failure as LiteLLM does it: it was told that the attempt would be sent again."""
    # Naive, as LiteLLM's own times.
    now = datetime.datetime.now()
    started = getattr(logging_obj, "start_time", None) or now
    try:
        logging_obj.failure_handler(error, traceback.format_exc(), started, now)
        await logging_obj.async_failure_handler(error, traceback.format_exc(), started, now)
    except Exception:  # other callbacks run in it, and the provider's error is what counts
        log.exception("the failure of a call was not logged")
