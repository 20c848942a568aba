"""One call's refusals for length: judged by what LiteLLM raises, answered by a smaller request."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from gateway_compaction.adapters.litellm.ask_again import describe_error
from gateway_compaction.adapters.litellm.models import get_live_router, has_window_fallback
from gateway_compaction.call_state import CallState, find_state, metadata_of
from gateway_compaction.core.conversation.body import requested_output
from gateway_compaction.core.endpoints.wire import EndpointName
from gateway_compaction.core.tokens.refusal import LengthRefusal, read_refusal
from gateway_compaction.engine.length_refusals import MOST_ASKED_AGAIN, RefusedCall
from gateway_compaction.engine.request import Decision, list_sizes
from gateway_compaction.runtime import Runtime

log = logging.getLogger("gateway_compaction")


class CallRefusals:
    """``ask_again.Refusals`` for the calls that the hook has decided about."""

    def __init__(self, runtime: Runtime, router: Callable[[], Any] = get_live_router) -> None:
        self._runtime, self._router = runtime, router

    def is_watched(self, endpoint: EndpointName, kwargs: Mapping[str, Any]) -> bool:
        """See ``ask_again.Refusals``."""
        state = find_state(kwargs.get("litellm_logging_obj"))
        return state is not None and state.endpoint == endpoint

    def may_ask_again(self, kwargs: Mapping[str, Any], error: Exception) -> bool:
        """See ``ask_again.Refusals``."""
        try:
            state = find_state(kwargs.get("litellm_logging_obj"))
            if state is None or not _is_settled(state) or state.asked_again >= MOST_ASKED_AGAIN:
                return False
            if state.decision is None or read_error(error, state.decision) is None:
                return False
            wanted = state.decision.policy.length_refusals
            return wanted == "compact" or (wanted == "fallback" and not self._has_fallback(state, kwargs))
        except Exception:  # LiteLLM's own error must reach whoever waits for it
            log.exception("a refusal was not looked at; the call goes on as without us")
            return False

    async def ask_again(self, kwargs: Mapping[str, Any], error: Exception) -> bool:
        """See ``ask_again.Refusals``."""
        try:
            state = find_state(kwargs.get("litellm_logging_obj"))
            refused = _describe(state, error) if state is not None else None
            if state is None or refused is None:
                return False
            state.judged = error
            state.again = await self._runtime.refusals.plan_again(refused)
            state.asked_again += 1
            if state.again is not None and refused.refusal.counted is not None:
                self._runtime.post_call.learn_count(refused.decision, refused.refusal.counted)
        except Exception:  # the same
            log.exception("a refused request was not made smaller; the refusal goes on to the client")
            return False
        return state.again is not None

    async def learn(self, state: CallState, error: Exception) -> None:
        """Learn from a refusal that nothing is asked again for."""
        refused = _describe(state, error)
        if refused is not None:
            state.judged = error
            await self._runtime.refusals.learn(refused)

    def _has_fallback(self, state: CallState, kwargs: Mapping[str, Any]) -> bool:
        """Tell whether LiteLLM has another group for the one that is asked now."""
        group = metadata_of(kwargs).get("model_group") or state.data.get("model")
        return has_window_fallback(self._router(), str(group), state.data)


def read_error(error: Exception, decision: Decision) -> LengthRefusal | None:
    """Return what an error says about the length of what was sent, or None where it says nothing."""
    told = describe_error(error)
    return read_refusal(
        told.status,
        told.text,
        context_exceeded=told.context_exceeded,
        sizes=list_sizes(decision),
        asked=requested_output(decision.request.body),
    )


def _is_settled(state: CallState) -> bool:
    """Tell whether what was sent is what was decided: only then can less of it be sent."""
    return not (state.failed or state.altered or state.base is None or state.deployment is None)


def _describe(state: CallState, error: Exception) -> RefusedCall | None:
    if state.base is None or state.decision is None or state.deployment is None:
        return None
    refusal = read_error(error, state.decision)
    if refusal is None:
        return None
    return RefusedCall(state.base, state.decision, state.deployment, refusal, state.asked_again)
