"""Whole calls in this process: our pre-call hook, a real router, the fake upstream, and the call's end."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import litellm
from litellm.litellm_core_utils.rules import Rules
from litellm.proxy._types import UserAPIKeyAuth

from gateway_compaction.adapters.litellm import ask_again
from gateway_compaction.call_refusals import CallRefusals
from gateway_compaction.call_state import CallState, find_state
from gateway_compaction.hook import CompactionHook
from tests.engine.host import Host
from tests.lab.waiting import until

__all__ = ["Gateway", "deployment"]


def deployment(url: str, window: int | None, model: str = "") -> dict[str, Any]:
    """An entry of a model list whose upstream is the fake one.

    LiteLLM keeps a window for each model name, so each window has a name of its own.
    """
    model = model or f"gpt-4o-of-{window}"
    info: dict[str, Any] = {"id": model, **({} if window is None else {"max_input_tokens": window})}
    params = {"model": f"openai/{model}", "api_base": url, "api_key": "sk-upstream", "max_retries": 0}
    return {"model_name": "chat", "litellm_params": params, "model_info": info}


class Gateway:
    """A host whose calls reach an upstream.

    Attributes:
        failed: the errors that its clients saw.
        states: what the hooks shared, call by call.
        beside: further callbacks of LiteLLM.
        told: the headers of the last answer that are ours.
        metadata: what the router left in the last call's metadata.
    """

    def __init__(self, host: Host, models: Sequence[dict[str, Any]]) -> None:
        self.host = host
        self.failed: list[Exception] = []
        self.states: list[CallState] = []
        self.beside: list[Any] = []
        self.told: dict[str, str] = {}
        self.metadata: dict[str, Any] = {}
        host.router.set_model_list([*models])
        # LiteLLM keeps one callback of a class: those of earlier hosts would be told of this one's calls.
        for name in ("success_callback", "failure_callback"):
            for listed in (getattr(litellm, name), getattr(litellm, f"_async_{name}")):
                listed[:] = [one for one in listed if not isinstance(one, CompactionHook)]

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Let this host's refusals be asked again, as ``install`` does for a proxy's process."""
        originals = {name: getattr(litellm, name) for name in ask_again.FUNCTIONS.values()}
        ask_again.install(CallRefusals(self.host.runtime, lambda: self.host.router))
        try:
            yield
        finally:
            for name, original in originals.items():
                setattr(litellm, name, original)

    async def ask(self, messages: Sequence[Any], *, stream: bool = False, **fields: Any) -> str | None:
        """Make one call as the proxy makes it; None where the client sees an error."""
        litellm.callbacks = [self.host.hook, *self.beside]
        body = {"model": "chat", "messages": [*messages], "stream": stream, **fields}
        data: dict[str, Any] = {
            **body,
            "metadata": {"user_api_key_team_id": "research"},
            "proxy_server_request": {"headers": {}, "body": body},
            "litellm_call_id": str(uuid.uuid4()),
        }
        now = datetime.datetime.now()
        logging_obj, data = litellm.utils.function_setup("acompletion", Rules(), now, **data)
        data["litellm_logging_obj"] = logging_obj
        auth = UserAPIKeyAuth(api_key="hash", team_id="research")
        await self.host.hook.async_pre_call_hook(auth, None, data, "acompletion")
        state = find_state(logging_obj)
        assert state is not None
        self.states.append(state)
        with self.serving():
            try:
                answer = await self.host.router.acompletion(**data)
            except Exception as error:
                self.failed.append(error)
                await self.host.runtime.worker.drain(5.0)
                return None
        self.metadata = data["metadata"]
        told = await self.host.hook.async_post_call_response_headers_hook(data, auth, answer)
        self.told = told or {}
        if stream:
            text = "".join([chunk.choices[0].delta.content or "" async for chunk in answer])
        else:
            text = answer.choices[0].message.content
        await until(lambda: state.followed, "the call's end")
        await self.host.runtime.worker.drain(5.0)
        return str(text)
