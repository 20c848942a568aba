"""LiteLLM's side of a call, as far as our hook sees it: the order of hooks and what they are given."""

from __future__ import annotations

import warnings
from types import SimpleNamespace
from typing import Any

import litellm
import pytest
from litellm.integrations.custom_logger import CustomLogger
from litellm.proxy._types import UserAPIKeyAuth
from litellm.router import Router
from litellm.types.utils import CallTypes

from gateway_compaction.adapters.litellm.models import ProxyModels
from gateway_compaction.call_state import KEY, CallState
from gateway_compaction.hook import CompactionHook
from gateway_compaction.runtime import Runtime, build
from gateway_compaction.settings import Settings
from tests.engine.rig import Scripted
from tests.lab.endpoints import to_anthropic, to_responses
from tests.policy_books import book

with warnings.catch_warnings():
    # Importing LiteLLM's proxy warns of deprecations in LiteLLM itself.
    warnings.simplefilter("ignore")
    from litellm.proxy import proxy_server

__all__ = ["BIG", "CALL_TYPES", "EVERY_DOOR", "Host", "SentCall", "proxy_server", "write"]

# By deployment: group, model and window. LiteLLM keeps a window for each model name, hence names of our own.
BIG = "openai/gpt-4o-of-the-host"
DEPLOYMENTS = {"big": ("chat", BIG, 2_000), "little": ("backup", "openai/gpt-4o-little", 700)}
ELSEWHERE = ("backup", "openai/unheard-of", 0)
MODELS = [
    {
        "model_name": group,
        "litellm_params": {"model": model, "api_key": "sk-none"},
        "model_info": {"id": name, "max_input_tokens": window},
    }
    for name, (group, model, window) in DEPLOYMENTS.items()
]


CALL_TYPES = {"chat": "acompletion", "messages": "anthropic_messages", "responses": "aresponses"}
EVERY_DOOR = pytest.mark.parametrize("door", tuple(CALL_TYPES))
"""For tests whose hosts' calls come in through each of the three in turn."""

WRITERS = {"messages": to_anthropic, "responses": to_responses}


def write(door: str, messages: list[Any]) -> dict[str, Any]:
    """The fields of a body that hold some messages of a chat; no room is asked for an answer."""
    if door == "chat":
        return {"messages": messages}
    return {name: value for name, value in WRITERS[door](messages).items() if not name.startswith("max_")}


class Host:
    """A proxy without its server: a real router, our hook, and the list of callbacks."""

    def __init__(
        self,
        *,
        broken: bool = False,
        redis_url: str | None = None,
        redis_seconds: float = 5.0,
        door: str = "chat",
        **defaults: Any,
    ) -> None:
        self.door = door
        with warnings.catch_warnings():
            # The first router makes pydantic warn of LiteLLM's own types.
            warnings.simplefilter("ignore")
            self.router = Router(model_list=[{**m} for m in MODELS])
        self.summarizer = Scripted()
        models = ProxyModels(lambda: self.router)
        settings = Settings(redis_url=redis_url, redis_timeout_seconds=redis_seconds, drain_seconds=5.0)
        levels = {"aggressive": {"replace": "at_once"}}
        summary = {"model": "extractive"}
        defaults = {"recall": {"max_tokens": 0}, "levels": levels, "summary": summary, **defaults}
        self.book = book(defaults)
        self.broken = broken
        self.runtime: Runtime = build(settings, models, self.summarizer, self._policies)
        self.hook = CompactionHook(self.runtime, models)

    def _policies(self) -> Any:
        if self.broken:
            raise RuntimeError("a fault of ours")
        return self.book

    def call(self, messages: list[Any], **more: Any) -> SentCall:
        """A request as it reaches the pre-call hooks."""
        return SentCall(self, messages, **more)


class SentCall:
    """One call on its way; each method is one hook, called as LiteLLM calls it.

    It comes through the host's door; ``messages`` are its messages, or items, in the form of that door.
    """

    def __init__(
        self,
        host: Host,
        messages: list[Any],
        *,
        auth: UserAPIKeyAuth | None = None,
        headers: dict[str, str] | None = None,
        **fields: Any,
    ) -> None:
        self.host, self.door = host, host.door
        self.field = "input" if self.door == "responses" else "messages"
        written = write(self.door, messages)
        self.messages = written[self.field]
        self.auth = auth or UserAPIKeyAuth(api_key="hash", team_id="research")
        self.logging = SimpleNamespace(model_call_details={})
        body = {"model": "chat", **written, **fields}
        self.known = "metadata" if self.door == "chat" else "litellm_metadata"
        self.data: dict[str, Any] = {
            **body,
            self.known: {"user_api_key_team_id": "research"},
            "proxy_server_request": {"headers": headers or {}, "body": body},
            "litellm_call_id": "chosen-by-the-client",
            "litellm_logging_obj": self.logging,
        }

    @property
    def sent(self) -> Any:
        """The messages, or items, as they go on to the router."""
        return self.data[self.field]

    @property
    def state(self) -> CallState | None:
        """What our hooks share."""
        state: CallState | None = self.logging.model_call_details.get(KEY)
        return state

    async def pre(self, call_type: str | None = None) -> Any:
        """Before the router; what is returned takes the place of the data."""
        named = CALL_TYPES[self.door] if call_type is None else call_type
        returned = await self.host.hook.async_pre_call_hook(self.auth, None, self.data, named)
        self.data = returned if returned is not None else self.data
        return returned

    async def deploy(self, chosen: str = "big", **fields: Any) -> Any:
        """In the router, for a chosen deployment: every callback's hook, in the order of the list."""
        group, model, _ = DEPLOYMENTS.get(chosen, ELSEWHERE)
        kwargs = {
            **self.data,
            "model": model,
            "model_info": {"id": chosen},
            self.known: {**self.data[self.known], "model_group": group},
            **fields,
        }
        for callback in litellm.callbacks:
            if isinstance(callback, CustomLogger):
                named = CallTypes(CALL_TYPES[self.door])
                returned = await callback.async_pre_call_deployment_hook(kwargs, named)
                kwargs = returned if returned is not None else kwargs
        return kwargs

    async def sent_to(self, chosen: str = "big", **fields: Any) -> Any:
        """The messages, or items, that a deployment gets."""
        return (await self.deploy(chosen, **fields))[self.field]

    async def headers(self, response: Any = "an answer") -> dict[str, str] | None:
        """The answer is let go."""
        return await self.host.hook.async_post_call_response_headers_hook(self.data, self.auth, response)

    async def success(self, prompt_tokens: int | None = None, **details: Any) -> None:
        """The answer is logged."""
        response = SimpleNamespace(usage=SimpleNamespace(prompt_tokens=prompt_tokens))
        kwargs = {**self.logging.model_call_details, **details}
        await self.host.hook.async_log_success_event(kwargs, response, None, None)

    async def failure(self, error: Exception) -> None:
        """An attempt failed."""
        kwargs = {**self.logging.model_call_details, "exception": error}
        await self.host.hook.async_log_failure_event(kwargs, None, None, None)

    async def whole(self) -> dict[str, str] | None:
        """All of it, without a fault."""
        await self.pre()
        await self.deploy()
        told = await self.headers()
        await self.success()
        await self.host.runtime.worker.drain(20.0)
        return told
