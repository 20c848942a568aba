"""Calls through all hooks of the plugin as LiteLLM's proxy makes them, in this process, without a proxy."""

from __future__ import annotations

import asyncio
import os
import time
from types import SimpleNamespace
from typing import Any, NamedTuple

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

import litellm
from litellm.proxy._types import UserAPIKeyAuth

from gateway_compaction.adapters.litellm.models import ProxyModels
from gateway_compaction.call_state import KEY
from gateway_compaction.core.endpoints.wire import EndpointName
from gateway_compaction.hook import CompactionHook
from gateway_compaction.ports import ModelFacts
from gateway_compaction.replay import NoSummarizer
from gateway_compaction.runtime import Runtime, build
from gateway_compaction.settings import Settings
from tests.policy_books import book

MODEL = "gpt-4o"
CALL_TYPES: dict[EndpointName, str] = {
    "chat": "acompletion",
    "messages": "anthropic_messages",
    "responses": "aresponses",
}
AUTH = UserAPIKeyAuth(api_key="hash", team_id="research")


class OneModel(ProxyModels):
    """One model for every name, without a router; its window may be set between two calls."""

    def __init__(self, window: int) -> None:
        super().__init__()
        self.window = window

    def facts(self, model: str) -> ModelFacts:
        """See ``ports.Models``."""
        return ModelFacts(self.window, MODEL)

    def find_deployment_facts(self, identity: str | None, model: str) -> ModelFacts:
        """The same model again."""
        return ModelFacts(self.window, MODEL)


class PlayedCall(NamedTuple):
    """What one call cost, in seconds of CPU on all threads of the process.

    Attributes:
        outcome: the response header that tells what was decided, empty where nothing was done.
        before: until the request goes to the provider.
        after: the answer's headers, and all that follows in the background.
    """

    outcome: str
    before: float
    after: float


def build_hook(models: OneModel, redis_url: str) -> tuple[Runtime, CompactionHook]:
    """Build the plugin on a Redis server, with extracts for summaries, as the only callback of LiteLLM."""
    policies = book({"summary": {"model": "extractive"}})
    settings = Settings(redis_url=redis_url, redis_timeout_seconds=5.0)
    runtime = build(settings, models, NoSummarizer(), lambda: policies)
    hook = CompactionHook(runtime, models)
    # The tasks of a process would measure themselves beside us.
    hook._started, litellm.callbacks = True, [hook]
    return runtime, hook


async def play_call(
    runtime: Runtime, hook: CompactionHook, endpoint: EndpointName, body: dict[str, Any]
) -> PlayedCall:
    """Send a call through all hooks, and wait for what follows in the background."""
    kind, details = CALL_TYPES[endpoint], SimpleNamespace(model_call_details={})
    body = {"model": MODEL, **body}
    data: dict[str, Any] = {
        **body,
        "litellm_metadata": {},
        "proxy_server_request": {"headers": {"user-agent": "bench"}, "body": body},
        "litellm_logging_obj": details,
    }
    started = time.process_time()
    data = await hook.async_pre_call_hook(AUTH, None, data, kind) or data
    kwargs = {**data, "model": MODEL}
    await hook.async_pre_call_deployment_hook(kwargs, kind)
    sent = time.process_time()
    headers = await hook.async_post_call_response_headers_hook(data, AUTH, "an answer")
    decision = details.model_call_details[KEY].decision
    # The provider's report: it counts about as we do.
    usage = SimpleNamespace(prompt_tokens=(decision.tokens_after or 1_000) - 500)
    logged = dict(details.model_call_details)
    await hook.async_log_success_event(logged, SimpleNamespace(usage=usage), None, None)
    await runtime.worker.drain(60.0)
    for executor in runtime.executors:
        await asyncio.wrap_future(executor.submit(int))
    done = time.process_time()
    return PlayedCall((headers or {}).get("x-compaction", ""), sent - started, done - sent)
