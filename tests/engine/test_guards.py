"""Guardrails and waiting; and what the request's span is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import litellm
import pytest
from litellm.integrations.custom_guardrail import CustomGuardrail
from litellm.integrations.custom_logger import CustomLogger
from litellm.proxy._types import UserAPIKeyAuth
from litellm.proxy.hooks.autorouter_baseline_cache import AutoRouterBaselineCache
from opentelemetry.trace import NonRecordingSpan, SpanContext

from gateway_compaction.adapters.litellm.callbacks import can_block_later, has_pre_call_hook, is_guard
from tests.engine.histories import chat
from tests.engine.host import EVERY_DOOR, Host

WAITING = {"summary": {"model": "small"}, "levels": {"aggressive": {"wait_seconds": 10}}}
LONG = chat(60)


class Beside(CustomLogger):
    """Runs beside the call, and may block it."""

    async def async_moderation_hook(self, data: Any, user_api_key_dict: Any, call_type: Any) -> Any:
        return data


class Before(CustomLogger):
    """Runs before the call."""

    async def async_pre_call_hook(self, user_api_key_dict: Any, cache: Any, data: Any, call_type: Any) -> Any:
        return None


class ForDeployments(CustomLogger):
    """Runs once a deployment is chosen."""

    async def async_pre_call_deployment_hook(self, kwargs: Any, call_type: Any) -> Any:
        return kwargs


class BesideMixin:
    """A moderation hook to be mixed in."""

    async def async_moderation_hook(self, data: Any, user_api_key_dict: Any, call_type: Any) -> Any:
        return data


class Mixed(BesideMixin, CustomLogger):
    """Takes its hook from elsewhere."""


class Inherited(ForDeployments):
    """Takes its hook from a base of its own."""


class Watching(CustomLogger):
    """Only listens."""


def guardrail(hook: Any) -> CustomGuardrail:
    return CustomGuardrail(guardrail_name="g", event_hook=hook)


@pytest.mark.parametrize(
    ("other", "guards", "before", "later"),
    [
        (Beside(), True, False, True),
        (Before(), False, True, False),
        (Watching(), False, False, False),
        (ForDeployments(), True, True, False),
        (Inherited(), True, True, False),
        (Mixed(), True, False, True),
        # One of those that LiteLLM gives to every proxy.
        (AutoRouterBaselineCache(None, None), False, False, False),
        ("a name", False, True, False),
        (guardrail("pre_call"), True, True, False),
        (guardrail("during_call"), True, True, True),
        (guardrail("post_call"), True, True, True),
        (guardrail(["pre_call", "during_call"]), True, True, True),
        (guardrail(None), True, True, True),
    ],
)
def test_what_a_callback_may_do(other: Any, guards: bool, before: bool, later: bool) -> None:
    assert (is_guard(other), has_pre_call_hook(other), can_block_later(other)) == (guards, before, later)


@EVERY_DOOR
class TestWaiting:
    """A policy that waits for its summary."""

    @pytest.mark.parametrize(
        ("other", "waits"),
        [
            (Watching(), True),
            (guardrail("pre_call"), True),
            (Beside(), False),
            (guardrail("during_call"), False),
            (guardrail("post_call"), False),
        ],
    )
    async def test_no_summariser_reads_what_may_still_be_blocked(
        self, hosts: Callable[..., Host], other: Any, waits: bool
    ) -> None:
        host = hosts(**WAITING)
        litellm.callbacks = [other, host.hook]
        call = host.call(list(LONG))
        await call.pre()
        await call.deploy()
        assert bool(host.summarizer.requests) is waits
        assert call.state is not None and call.state.decision is not None
        assert call.state.decision.outcome == ("applied" if waits else "fallback")

    async def test_after_the_answer_it_is_summarised_all_the_same(self, hosts: Callable[..., Host]) -> None:
        host = hosts(**WAITING)
        litellm.callbacks = [Beside(), host.hook]
        await host.call(list(LONG)).whole()
        assert host.summarizer.requests


class Span(NonRecordingSpan):
    """Keeps what it is told."""

    def __init__(self) -> None:
        super().__init__(SpanContext(1, 1, False))
        self.said: dict[str, Any] = {}

    def set_attributes(self, attributes: Mapping[str, Any]) -> None:
        self.said |= attributes


class TestSpans:
    """LiteLLM's OpenTelemetry callback hands its span on with the identity."""

    async def test_the_span_is_told_what_the_client_is_told(self, host: Host) -> None:
        span = Span()
        call = host.call(list(LONG), auth=UserAPIKeyAuth(api_key="hash", team_id="t", parent_otel_span=span))
        told = await call.whole()
        assert told is not None
        name = "gateway_compaction."
        assert span.said[f"{name}outcome"] == told["x-compaction"] == "fallback"
        assert str(span.said[f"{name}tokens_before"]) == told["x-compaction-tokens-before"]
        assert str(span.said[f"{name}tokens_after"]) == told["x-compaction-tokens-after"]
        assert span.said[f"{name}session"] == told["x-compaction-session"]
        assert span.said[f"{name}policy"] == "default" and span.said[f"{name}level"] == "aggressive"

    async def test_a_quiet_request_says_little(self, host: Host) -> None:
        span = Span()
        await host.call(
            [{"role": "user", "content": "Hi"}], auth=UserAPIKeyAuth(api_key="hash", parent_otel_span=span)
        ).whole()
        assert set(span.said) == {f"gateway_compaction.{n}" for n in ("outcome", "reason", "policy")}
