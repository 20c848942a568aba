"""The proxy's models: their windows, and summaries asked through the proxy's own router."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import litellm
from litellm.exceptions import RateLimitError, Timeout
from litellm.llms.anthropic.pass_through.caller_model_checks import caller_model_verdict
from litellm.llms.anthropic.pass_through.utils import proxy_sub_call_metadata

from gateway_compaction.errors import SummaryDenied, SummaryError, SummaryLimited, SummaryTimeout
from gateway_compaction.ports import Caller, ModelFacts, SummaryAnswer, SummaryRequest

__all__ = ["DirectSummarizer", "ProxyModels", "RouterSummarizer", "live_router"]

FACTS_SECONDS = 60.0
FACTS_KEPT = 1_000
ORIGIN = "gateway_compaction"
PRICES = ("input_cost_per_token", "output_cost_per_token")


def live_router() -> Any:
    """The router of the running proxy, None outside one; looked up each time, since a reload replaces it."""
    from litellm.proxy import proxy_server

    return proxy_server.llm_router


class ProxyModels:
    """Windows of model groups, read from the router and remembered for a minute."""

    def __init__(
        self, router: Callable[[], Any] = live_router, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._router, self._clock = router, clock
        self._known: dict[str, tuple[float, ModelFacts]] = {}

    def facts(self, model: str) -> ModelFacts:
        """The smallest window of a group's deployments, and the model name that deployment counts by."""
        until, facts = self._known.get(model, (0.0, ModelFacts(None, model)))
        if until < self._clock():
            facts = self._look_up(model)
            if len(self._known) >= FACTS_KEPT:
                self._known.clear()
            self._known[model] = (self._clock() + FACTS_SECONDS, facts)
        return facts

    def deployment(self, model_id: str | None, model: str) -> ModelFacts:
        """The window of one deployment."""
        router = self._router()
        deployment = router.get_deployment(model_id=model_id) if router is not None and model_id else None
        if deployment is None:
            return ModelFacts(_catalogued(model), model)
        return _facts_of(router, deployment.model_dump())

    def groups(self) -> list[str]:
        """Names of all model groups."""
        router = self._router()
        return sorted({d["model_name"] for d in router.get_model_list() or ()}) if router is not None else []

    def _look_up(self, model: str) -> ModelFacts:
        router = self._router()
        deployments = (router.get_model_list(model_name=model) or ()) if router is not None else ()
        known = [facts for d in deployments if (facts := _facts_of(router, d)).window is not None]
        if known:
            return min(known, key=lambda f: f.window or 0)
        return ModelFacts(_catalogued(model), _name_of(deployments[0]) if deployments else model)


def _facts_of(router: Any, deployment: Mapping[str, Any]) -> ModelFacts:
    info = deployment.get("model_info") or {}
    name = _name_of(deployment)
    declared = info.get("max_input_tokens")
    if isinstance(declared, int) and not isinstance(declared, bool) and declared > 0:
        return ModelFacts(declared, name)
    found = _info_of(router, deployment)
    return ModelFacts(_window_in(found) or _catalogued(str(info.get("base_model") or name)), name)


def _info_of(router: Any, deployment: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What LiteLLM's catalogue says of a deployment."""
    model_id = (deployment.get("model_info") or {}).get("id")
    try:
        found: Mapping[str, Any] | None = router.get_deployment_model_info(
            model_id=model_id, model_name=_name_of(deployment)
        )
    except Exception:  # LiteLLM raises bare exceptions for what it does not know
        found = None
    return found


def _name_of(deployment: Mapping[str, Any]) -> str:
    info = deployment.get("model_info") or {}
    return str(info.get("base_model") or (deployment.get("litellm_params") or {}).get("model") or "")


def _catalogued(model: str) -> int | None:
    try:
        return _window_in(litellm.get_model_info(model))
    except Exception:  # LiteLLM raises bare exceptions for what it does not know
        return None


def _window_in(info: Mapping[str, Any] | None) -> int | None:
    # `max_tokens` is a window only where it is not the limit of the answer.
    known = info or {}
    window = known.get("max_input_tokens") or (not known.get("max_output_tokens") and known.get("max_tokens"))
    return window if isinstance(window, int) and not isinstance(window, bool) and window > 0 else None


class RouterSummarizer:
    """Asks a model group of the proxy, on the account and with the rights of the calling team."""

    def __init__(self, router: Callable[[], Any] = live_router) -> None:
        self._router = router

    async def complete(self, request: SummaryRequest) -> SummaryAnswer:
        """See ``ports.Summarizer``."""
        router = self._router()
        if router is None:
            raise SummaryError("the proxy has no router")
        await self._allowed(router, request)
        extra = {"disable_fallbacks": True, "metadata": _metadata(request.caller)}
        return await _ask(router.acompletion, request, extra)

    async def _allowed(self, router: Any, request: SummaryRequest) -> None:
        metadata = request.caller.metadata
        caller = metadata.get("user_api_key_auth")
        if caller is None:
            return
        if _over_budget(router, caller, request):
            raise SummaryDenied(f"no budget left for {request.model}")
        verdict = await caller_model_verdict(caller, request.model, router, metadata)
        if verdict != "allowed":
            raise SummaryDenied(f"the caller may not use {request.model} ({verdict})")


class DirectSummarizer:
    """Asks one model without a proxy, with the credentials that LiteLLM finds in the environment."""

    def __init__(self, model: str) -> None:
        self._model = model
        # Nobody wants its plea for feedback among what is printed.
        litellm.suppress_debug_info = True

    async def complete(self, request: SummaryRequest) -> SummaryAnswer:
        """See ``ports.Summarizer``."""
        return await _ask(litellm.acompletion, replace(request, model=self._model), {})


async def _ask(
    complete: Callable[..., Any], request: SummaryRequest, extra: Mapping[str, Any]
) -> SummaryAnswer:
    system = {"role": "system", "content": request.system}
    before = request.prefix or (system,)
    messages = [*(dict(m) for m in before), {"role": "user", "content": request.user}]
    try:
        async with asyncio.timeout(request.timeout_seconds + 1):
            answer = await complete(
                model=request.model,
                messages=messages,
                max_tokens=request.max_tokens,
                timeout=request.timeout_seconds,
                num_retries=0,
                max_retries=0,
                **request.tools,
                **extra,
            )
    except (TimeoutError, Timeout) as error:
        raise SummaryTimeout(f"{request.model} did not answer in {request.timeout_seconds:g} s") from error
    except RateLimitError as error:
        raise SummaryLimited(f"{request.model} is rate limited") from error
    except Exception as error:
        # Providers put prompts into their error texts: the class says enough.
        raise SummaryError(f"{request.model}: {type(error).__name__}") from error
    return _read(answer, request.model)


def _over_budget(router: Any, caller: Any, request: SummaryRequest) -> bool:
    budget, spent = getattr(caller, "max_budget", None), getattr(caller, "spend", None) or 0.0
    return budget is not None and bool(spent + _expected_cost(router, request) >= budget)


def _expected_cost(router: Any, request: SummaryRequest) -> float:
    """What the dearest deployment of a group would ask; 0 where no price is known."""
    asked = (len(request.system + request.user) + sum(len(str(m)) for m in request.prefix)) // 4
    answered = request.max_tokens
    costs = [0.0]
    for deployment in router.get_model_list(model_name=request.model) or ():
        known = (deployment.get("model_info"), deployment.get("litellm_params"), _info_of(router, deployment))
        prices = [next((i[name] for i in known if i and i.get(name)), 0.0) for name in PRICES]
        costs.append(asked * prices[0] + answered * prices[1])
    return max(costs)


def _metadata(caller: Caller) -> dict[str, Any]:
    tags = caller.metadata.get("tags")
    return {
        **proxy_sub_call_metadata(caller.metadata),
        "internal_call_origin": ORIGIN,
        "tags": [*(tags if isinstance(tags, list) else ()), "gateway-compaction"],
    }


def _read(answer: Any, model: str) -> SummaryAnswer:
    try:
        choice = answer.choices[0]
        content = choice.message.content
        hidden = getattr(answer, "_hidden_params", None) or {}
    except (AttributeError, IndexError) as error:
        raise SummaryError(f"{model}: no choice in the answer") from error
    return SummaryAnswer(
        text=content if isinstance(content, str) else "",
        finish_reason=choice.finish_reason,
        model=str(answer.model or model),
        cost=hidden.get("response_cost"),
        has_tool_calls=bool(choice.message.tool_calls),
    )
