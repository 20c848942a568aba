"""The callback that LiteLLM loads: ``litellm_settings.callbacks: ["gateway_compaction.hook.handler"]``.

It decides nothing: it hands requests to the compactor, and what became of them to what follows a call.

A call's state travels in ``litellm_logging_obj.model_call_details``: it reaches every later hook, never the
upstream, and is found by no id that a client can choose. Nothing is stored before the proxy lets the answer
go: what a guardrail blocks leaves nothing behind."""

from __future__ import annotations

import asyncio
import gc
import inspect
import logging
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar

import litellm
from litellm.integrations.custom_logger import CustomLogger
from litellm.proxy._types import ProxyException, UserAPIKeyAuth
from openai import OpenAIError

from gateway_compaction.adapters.litellm import answer_headers, ask_again
from gateway_compaction.adapters.litellm.answer_headers import find_call, note_call
from gateway_compaction.adapters.litellm.callbacks import can_block_later, has_pre_call_hook, is_guard
from gateway_compaction.adapters.litellm.doors import COVERED, UNCOVERED, endpoint_of
from gateway_compaction.adapters.litellm.kept_streams import KeptStreams, to_body
from gateway_compaction.adapters.litellm.models import ProxyModels, RouterSummarizer
from gateway_compaction.adapters.litellm.prices import CostFinder
from gateway_compaction.adapters.prometheus import get_telemetry
from gateway_compaction.admin.mount import mount
from gateway_compaction.call_refusals import CallRefusals
from gateway_compaction.call_state import (
    KEY,
    CallState,
    EmptyCall,
    UncoveredCall,
    answer_of,
    build_response_headers,
    describe_call,
    details_of,
    ending_of,
    field_of,
    find_exchange,
    find_state,
    has_decision_for,
    headers_of,
    holds_messages,
    identity_of,
    is_edited,
    is_rewritten,
    list_items,
    list_sent,
    metadata_of,
    read_body,
    request_of,
    set_span_attributes,
    set_spend_metadata,
    tenant_of,
    write_decision,
)
from gateway_compaction.client_metadata import (
    CONVERSATION_NAME,
    STATE_NAME,
    drop_own_metadata,
    find_conversation_id,
    read_told_state,
)
from gateway_compaction.core.endpoints.answers import read_answer
from gateway_compaction.core.pins.rules import compile_grammars
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.text.language import load_classifier
from gateway_compaction.engine.offload import Offloader, is_large_decision
from gateway_compaction.engine.post_call import Ending
from gateway_compaction.engine.request import Decision
from gateway_compaction.engine.restoring import HEADER, find_reason_to_begin_anew
from gateway_compaction.errors import (
    CompactionError,
    ConversationRefused,
    PolicyError,
    SourceNotFound,
    StoreError,
)
from gateway_compaction.ports import ModelFacts
from gateway_compaction.runtime import Runtime, build, log_to_stderr, policy_source_from
from gateway_compaction.settings import Settings

log = logging.getLogger("gateway_compaction")
P = ParamSpec("P")
R = TypeVar("R")

SETTLED_SECONDS = 120.0
"""Seconds after we moved behind a new callback in which the deployment hook decides.

A request that iterates over an older list of callbacks does not know that we are last in the new one.
"""


def fail_open(entry: Callable[P, Coroutine[Any, Any, R]]) -> Callable[P, Coroutine[Any, Any, R | None]]:
    """Let a fault of ours in a hook be logged once and change nothing for the caller.

    What refuses a call whose conversation is not there is no fault, and reaches the caller.
    """

    @wraps(entry)
    async def guarded(*args: P.args, **kwargs: P.kwargs) -> R | None:
        try:
            return await entry(*args, **kwargs)
        except ProxyException:
            raise
        except CompactionError as error:
            log.warning("%s: %s", entry.__name__, error)
        except Exception:
            log.exception("%s failed; the request goes on unchanged", entry.__name__)
        return None

    return guarded


class CompactionHook(CustomLogger):
    """The LiteLLM callback. One instance for each process."""

    def __init__(self, runtime: Runtime, models: ProxyModels) -> None:
        super().__init__()
        self._runtime, self._models = runtime, models
        self._started = False
        self._moved_at = -SETTLED_SECONDS
        self._refusals = CallRefusals(runtime)
        self._streams = KeptStreams(self.append_answer)

    @property
    def refusals(self) -> CallRefusals:
        """What is done about refusals for length within a call."""
        return self._refusals

    @fail_open
    async def async_pre_call_hook(
        self, user_api_key_dict: UserAPIKeyAuth, cache: Any, data: dict[str, Any], call_type: str
    ) -> dict[str, Any] | None:
        """Compact the conversation of a request, in place in ``data``."""
        logging_obj, endpoint = data.get("litellm_logging_obj"), endpoint_of(call_type)
        if (door := UNCOVERED.get(call_type)) is not None:
            self._note_uncovered(door, logging_obj)
        if endpoint is None or logging_obj is None:
            return None
        details = logging_obj.model_call_details
        if isinstance(details.get(KEY), CallState):
            return None
        if not holds_messages(endpoint, data):
            details[KEY] = note_call(EmptyCall())
            return None
        state = CallState(user_api_key_dict, dict(data), endpoint, told=read_told_state(data))
        details[KEY] = note_call(state)
        self.start()
        drop_own_metadata(data, STATE_NAME)
        await self._begin(state, data)
        if self._should_defer():
            # The deployment hook comes after all of them.
            state.deferred = True
            return data if state.kept is not None else None
        await self._decide(state, data)
        return data

    @fail_open
    async def async_pre_call_deployment_hook(
        self, kwargs: dict[str, Any], call_type: Any
    ) -> dict[str, Any] | None:
        """Decide about what was deferred, and fit again where the deployment's window is smaller."""
        state = find_state(kwargs.get("litellm_logging_obj"))
        # Where LiteLLM translates between endpoints, the translated call comes here too.
        if state is None or state.failed or endpoint_of(call_type) != state.endpoint:
            return None
        if not holds_messages(state.endpoint, kwargs):
            return None
        field = field_of(state.endpoint)
        value = kwargs[field]
        if state.deferred and await self._has_changed(state, value):
            await self._decide(state, kwargs)
        elif not has_decision_for(state, value):
            # A client's fallback may bring its own. Of what a guard has changed, nothing is kept unchanged.
            state.altered = any(c is not self and is_guard(c) for c in litellm.callbacks)
            return None
        base, state.altered = state.base, False
        assert base is not None
        state.deployment, again = self._find_deployment(kwargs), state.again
        state.again = None
        # Each attempt starts from the client's request: the last one may have gone to a smaller deployment.
        facts = self._find_smaller_window(base, state.deployment, kwargs)
        if again is not None:
            decision = again
        else:
            decision = base if facts is None else await self._runtime.compactor.refit(base, facts)
        if is_rewritten(state, decision) or decision is not state.decision:
            kwargs[field] = write_decision(state, decision)
        state.decision = decision
        return kwargs

    async def async_post_call_response_headers_hook(
        self,
        data: dict[str, Any],
        user_api_key_dict: UserAPIKeyAuth,
        response: Any,
        request_headers: dict[str, str] | None = None,
        litellm_call_info: dict[str, Any] | None = None,
    ) -> dict[str, str] | None:
        """Tell the client what was done; from here on the answer is on its way."""
        logging_obj = data.get("litellm_logging_obj")
        state = find_state(logging_obj)
        if state is None:
            call = details_of(logging_obj).get(KEY)
            return describe_call(call, COVERED) if call is not None else None
        if response is not None:
            if data.get("stream") is not True:
                await self.append_answer(state, to_body(response))
            state.released = True
            self._follow(state)
            self._release(state, streamed=data.get("stream") is True)
        return build_response_headers(state)

    @fail_open
    async def async_log_success_event(
        self, kwargs: dict[str, Any], response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        """Note how the call ended; calls without state (our own summaries among them) are not ours."""
        state = kwargs.get(KEY)
        if isinstance(state, CallState):
            deployment = state.deployment.key if state.deployment else ""
            state.ending = replace(ending_of(kwargs, response_obj), deployment=deployment)
            if state.restored is not None:
                state.answer = answer_of(response_obj)
            self._follow(state)

    @fail_open
    async def async_log_failure_event(
        self, kwargs: dict[str, Any], response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        """Note a refusal by the provider; other failures say nothing about what we sent."""
        state, error = kwargs.get(KEY), kwargs.get("exception")
        # A guardrail's refusal passes here too: that is not the provider's, and leaves nothing behind.
        if not isinstance(state, CallState) or not isinstance(error, OpenAIError):
            return
        if state.decision is None or state.refused or state.altered:
            return
        ending = Ending.from_error(ask_again.describe_error(error), state.decision)
        if ending is None:
            return
        if ending.too_long and state.judged is not error:
            await self._refusals.learn(state, error)
        state.refused = True
        deployment = state.deployment.key if state.deployment else ""
        self._runtime.post_call.follow(state.decision, replace(ending, deployment=deployment))

    async def async_post_call_failure_hook(
        self,
        request_data: dict[str, Any],
        original_exception: Exception,
        user_api_key_dict: UserAPIKeyAuth,
        traceback_str: str | None = None,
    ) -> None:
        """Append nothing of a call that failed or was refused, whoever refused it."""
        # LiteLLM has taken the logging object out of the request by now.
        state = find_state(request_data.get("litellm_logging_obj")) or find_call()
        if isinstance(state, CallState) and state.kept is not None:
            await self._runtime.conversations.give_up(state.kept)

    @fail_open
    async def append_answer(self, state: CallState, body: Mapping[str, Any] | None) -> None:
        """Append to a kept conversation what a call brought and was answered; None: it did not end well.

        It is awaited before the client sees the end of the answer, so that its next call finds it.
        """
        if state.kept is None:
            return
        answer = read_answer(state.endpoint, body) if body is not None and not state.altered else None
        if answer is None:
            await self._runtime.conversations.give_up(state.kept)
        else:
            await self._runtime.conversations.append(state.kept, list_sent(state), answer)

    def start(self) -> None:
        """Start background reading, once in each process, and let the shutdown wait for our work."""
        if self._started:
            return
        self._started = True
        log_to_stderr()
        # Full collections over the host's half a million start-up objects stop the loop for 0.4 s.
        gc.freeze()
        self._tasks = [asyncio.create_task(fail_open(task)()) for task in self._runtime.tasks]
        # A first look at a language reads a file, a first rule in one compiles patterns: not on the loop.
        self._runtime.executors[0].submit(load_classifier)
        self._runtime.executors[1].submit(compile_grammars)
        from litellm.proxy import proxy_server

        # Where a LiteLLM has another way to stop, what is under way is lost, as when it is killed.
        shutdown = getattr(proxy_server, "proxy_shutdown_event", None)
        if not inspect.iscoroutinefunction(shutdown):
            return

        @wraps(shutdown)
        async def drain_first(*args: Any, **kwargs: Any) -> None:
            for task in self._tasks:
                task.cancel()
            await self._runtime.aclose()
            await shutdown(*args, **kwargs)

        proxy_server.proxy_shutdown_event = drain_first

    async def _begin(self, state: CallState, data: dict[str, Any]) -> None:
        """Put before the messages of a call what its client leaves to the gateway.

        Raises:
            ProxyException: the call cannot be answered; in OpenAI's form.
        """
        first, model = state.data, str(state.data.get("model"))
        identity = replace(identity_of(state.auth, model, metadata_of(first)), endpoint=state.endpoint)
        try:
            policy = self._runtime.compactor.resolve_policy(identity)
        except PolicyError:
            # The compactor leaves such a request alone, and says so in the answer's headers.
            if headers_of(first).get(HEADER):
                state.unrestored = "the policy cannot be used"
            return
        except Exception:
            state.failed = True
            raise
        await self._open_conversation(state, data, policy)
        # A kept conversation is told of an earlier one as any other is: its history is in place now.
        await self._restore(state, data, policy)

    async def _open_conversation(self, state: CallState, data: dict[str, Any], policy: Policy) -> None:
        """Put the conversation before the new messages of a call, where the policy has the gateway keep it.

        Raises:
            ProxyException: the call cannot be answered; in OpenAI's form.
        """
        if policy.conversation.keep != "gateway" or state.endpoint not in policy.endpoints:
            return
        first, field = state.data, field_of(state.endpoint)
        try:
            state.kept = await self._runtime.conversations.open(
                tenant_of(state.auth),
                headers_of(first),
                find_conversation_id(first),
                list_items(data[field]),
                state.endpoint,
                policy,
            )
        except ConversationRefused as refused:
            # LiteLLM writes the status into ``code``, so our own word for it is the type.
            raise ProxyException(refused.problem, refused.code, "conversation", refused.status) from refused
        data[field] = state.kept.placement.sent
        drop_own_metadata(data, CONVERSATION_NAME)
        if data.get("stream") is True:
            self._streams.listen()

    @fail_open
    async def _restore(self, state: CallState, data: Mapping[str, Any], policy: Policy) -> None:
        """Find the block that the conversation begins with, where it goes on from an earlier one.

        Raises:
            ProxyException: the client asks for what is not there, or is not its own.
        """
        restorer, headers = self._runtime.restorer, headers_of(data)
        if not restorer.concerns(tenant_of(state.auth), headers):
            return
        asked = bool(headers.get(HEADER))
        # Until it is known; a fault of ours ends this here.
        state.unrestored = "a fault in the gateway" if asked else None
        try:
            request = request_of(state, read_body(state, data[field_of(state.endpoint)]))
            reason = find_reason_to_begin_anew(request, policy)
            state.restored = None if reason else await restorer.find(request, policy)
        except SourceNotFound as error:
            # The client must know: a conversation that begins with nothing would pass for one that goes on.
            raise ProxyException(str(error), "invalid_request_error", HEADER, 404) from error
        except StoreError as error:
            log.warning("not restored: %s", error)
            reason = "the store does not answer"
        state.unrestored = reason if asked else None

    async def _has_changed(self, state: CallState, value: Any) -> bool:
        """Tell whether another hook left something else for this deployment than what was decided about."""
        if not has_decision_for(state, value):
            return True
        front = Offloader(self._runtime.executors[0])
        return await front.run(is_large_decision(state.base), is_edited, state)

    async def _decide(self, state: CallState, data: dict[str, Any]) -> None:
        """Let the compactor decide about the messages in ``data``, and put in what it makes of them."""
        await self._runtime.windows.wait_first()
        started, again = time.perf_counter(), state.base is not None
        # What was decided about before must not be followed if this fails.
        state.base = state.decision = None
        field = field_of(state.endpoint)
        try:
            state.conversation, state.values = read_body(state, data[field]), (data[field],)
            # A summary that is waited for would be made, and kept, of what is blocked a moment later.
            may_wait = not any(c is not self and can_block_later(c) for c in litellm.callbacks)
            loaded = state.kept.take_session() if state.kept else None
            request = request_of(state, state.conversation)
            request = replace(request, may_wait=may_wait, loaded=loaded)
            state.base = state.decision = await self._runtime.compactor.compact(request)
        except BaseException as fault:
            state.failed = True
            # A client that leaves cancels the request; that is nobody's fault.
            if isinstance(fault, Exception):
                self._runtime.post_call.measure_decision(None, time.perf_counter() - started)
            raise
        if not again:
            self._runtime.post_call.measure_decision(state.decision, time.perf_counter() - started)
        set_span_attributes(state)
        if is_rewritten(state, state.decision):
            data[field] = write_decision(state, state.decision)
            set_spend_metadata(state, data)

    def _follow(self, state: CallState) -> None:
        """Start what follows a call, once its answer was let go and its end is known."""
        if state.ending is None or not state.released or state.followed:
            return
        if state.decision is None or state.altered:
            return
        state.followed = True
        self._runtime.post_call.follow(state.decision, replace(state.ending, exchange=find_exchange(state)))
        if state.restored is not None and state.ending.kind in ("answered", "cached"):
            storage = state.decision.policy.storage
            ttl = None if storage.content == "none" else storage.ttl
            self._runtime.worker.run_later(self._runtime.restorer.keep(state.restored, state.answer, ttl))

    def _release(self, state: CallState, *, streamed: bool) -> None:
        """Keep what was made for an answer that nobody can block any more."""
        if state.followed or state.altered or state.decision is None:
            return
        # A stream may still be blocked, by whoever reads it as it comes.
        if not (streamed and any(c is not self and can_block_later(c) for c in litellm.callbacks)):
            self._runtime.post_call.keep_compaction(state.decision)

    def _should_defer(self) -> bool:
        """Tell whether somebody may still read, mask or block this request after our pre-call hook.

        Guardrails that run beside or after the pre-call hooks must see what the client sent, not a summary;
        and who iterates over an older list of callbacks does not know that we are last in the new one.
        """
        callbacks = litellm.callbacks
        if callbacks and callbacks[-1] is not self:
            behind = callbacks[callbacks.index(self) + 1 :] if self in callbacks else []
            if any(c is not self and has_pre_call_hook(c) for c in behind):
                # A new list: others may be iterating over the old one right now.
                litellm.callbacks = [*(c for c in callbacks if c is not self), self]
                self._moved_at = time.monotonic()
        if time.monotonic() - self._moved_at < SETTLED_SECONDS:
            return True
        return any(c is not self and is_guard(c) for c in callbacks)

    def _find_deployment(self, kwargs: Mapping[str, Any]) -> ModelFacts:
        """Return the facts of the deployment that is asked."""
        metadata = metadata_of(kwargs)
        info = kwargs.get("model_info") or metadata.get("model_info") or {}
        return self._models.find_deployment_facts(info.get("id"), str(kwargs.get("model")))

    def _find_smaller_window(
        self, decision: Decision, facts: ModelFacts, kwargs: Mapping[str, Any]
    ) -> ModelFacts | None:
        """Return the facts of the deployment that is asked, if its window is smaller than the one fitted."""
        own_group = metadata_of(kwargs).get("model_group") in (None, decision.request.model)
        window = self._runtime.compactor.windows.find_window(facts, decision.policy, own_group=own_group)
        known = decision.model.window if decision.model else None
        if window is None or (known is not None and window >= known):
            return None
        return replace(facts, window=window)

    def _note_uncovered(self, door: str, logging_obj: Any) -> None:
        """Count a call that compaction does not cover, once, and note it for the headers of its answer."""
        details = details_of(logging_obj)
        if not isinstance(details.get(KEY), UncoveredCall):
            details[KEY] = note_call(UncoveredCall(door))
            self._runtime.telemetry.record_uncovered(door)


def _build_hook() -> CompactionHook:
    settings, models = Settings(), ProxyModels()
    policies = policy_source_from(settings, CostFinder(models).find_costs)
    runtime = build(settings, models, RouterSummarizer(), policies, get_telemetry())
    runtime.counter.raw_tokens("warm", "gpt-4o")  # builds an encoding, which would hold the first request
    mount(runtime)
    hook = CompactionHook(runtime, models)
    ask_again.install(hook.refusals)
    answer_headers.install(partial(describe_call, covered=COVERED))
    return hook


handler = _build_hook()


async def startup() -> None:
    """Start before the first request rather than with it; for ``LITELLM_WORKER_STARTUP_HOOKS``."""
    handler.start()
    await handler._runtime.windows.wait_start()
