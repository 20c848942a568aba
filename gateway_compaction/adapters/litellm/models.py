"""The proxy's models: their windows, and summaries asked through the proxy's own router.

Everything here leans on LiteLLM 1.108: the router's lists of deployments, its catalogue of models, and two
functions that LiteLLM wrote for calls which it makes itself on behalf of a request
(``caller_model_verdict``, ``proxy_sub_call_metadata``). None of them is a documented interface. Each class
says what breaks when one changes; tests/engine/test_models.py runs them all against the installed version.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import litellm
from litellm.exceptions import RateLimitError, Timeout

from gateway_compaction.adapters.litellm.ask_again import describe_error
from gateway_compaction.adapters.litellm.auto_routers import is_auto_router, list_choices
from gateway_compaction.adapters.litellm.internals import find_internal
from gateway_compaction.adapters.litellm.parameters import Correction, Corrections, list_sent
from gateway_compaction.core.tokens.refusal import LengthRefusal, read_refusal
from gateway_compaction.errors import (
    SummaryDenied,
    SummaryError,
    SummaryLimited,
    SummaryRefused,
    SummaryTimeout,
    SummaryTooLong,
)
from gateway_compaction.ports import Caller, ModelFacts, SummaryAnswer, SummaryRequest

NO_SUMMARIES = "No summary is asked of a model: the caller's rights, or their costs, would be nobody's"

caller_model_verdict = find_internal(
    "litellm.llms.anthropic.pass_through.caller_model_checks", "caller_model_verdict", without=NO_SUMMARIES
)
proxy_sub_call_metadata = find_internal(
    "litellm.llms.anthropic.pass_through.utils", "proxy_sub_call_metadata", without=NO_SUMMARIES
)
find_fallback_groups = find_internal(
    "litellm.router_utils.fallback_event_handlers",
    "get_fallback_model_group_for_lookup_groups",
    without="Where context_window_fallbacks are configured, refusals for length are left to LiteLLM",
)
ROUTING_REQUEST_TAGS_METADATA_KEY = find_internal(
    "litellm.constants",
    "ROUTING_REQUEST_TAGS_METADATA_KEY",
    instead="tags",
    without="Summaries are routed by the tags that the chat's deployment added, too",
)
RouterErrors = find_internal(
    "litellm.types.router",
    "RouterErrors",
    without="A summariser that has no deployment for a request's tags counts as one that fails",
)

# Seconds that facts are cached: a model that an admin adds or changes is seen within a minute.
FACTS_SECONDS = 60.0

# Most groups cached; clients choose the names.
MOST_FACTS = 1_000

# Auto-routers that may choose one another, one behind the other; a config may make a circle of them.
MOST_CHAINED = 3

# How LiteLLM's spend logs name our own calls (``internal_call_origin``).
ORIGIN = "gateway_compaction"

# Fields of a deployment, or of the catalogue, with the dollars for a token.
PRICES = ("input_cost_per_token", "output_cost_per_token")

# Characters per token, for a rough estimate of a price.
TOKEN_CHARS = 4

# Statuses that refuse the request itself: the same one would be refused again, others need not be.
REFUSALS = frozenset((400, 413, 415, 422))

# So much longer than the provider's own deadline we wait, so that LiteLLM's error comes first.
EXTRA_SECONDS = 1


def get_live_router() -> Any:
    """Return the router of the running proxy, None outside one.

    Relies on ``litellm.proxy.proxy_server.llm_router``. It is looked up each time, since the proxy replaces
    it when its models change: one that was kept would go on sending summaries to models that are gone.
    """
    from litellm.proxy import proxy_server

    return proxy_server.llm_router


def has_window_fallback(router: Any, group: str, request: Mapping[str, Any]) -> bool:
    """Tell whether LiteLLM goes to another group where one refuses a request as too long.

    Relies on ``context_window_fallbacks`` of the router, which a request's, a key's or a team's own replace,
    and on LiteLLM's function that finds a group's.
    """
    if request.get("disable_fallbacks") is True:
        return False
    configured = request.get("context_window_fallbacks", getattr(router, "context_window_fallbacks", None))
    if not configured:
        return False
    if find_fallback_groups is None:
        return True
    try:
        targets, _ = find_fallback_groups(configured, (group,))
    except Exception:  # a shape that LiteLLM does not take either
        return False
    return any(target != group for target in targets or ())


class ProxyModels:
    """Windows of model groups, read from the router and remembered for a minute.

    The window of an auto-router's group is that of the smallest group that it may choose.

    Relies on ``get_model_list`` (aliases and patterns included), ``get_deployment`` and
    ``get_deployment_model_info`` of the router, and on ``max_input_tokens`` in a deployment's ``model_info``
    and in LiteLLM's catalogue. Where a window is not found, requests of that group are left alone.
    """

    def __init__(
        self, router: Callable[[], Any] = get_live_router, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._router = router
        self._clock = clock
        # By group: until when the facts are cached, and the facts.
        self._facts: dict[str, tuple[float, ModelFacts]] = {}

    def facts(self, model: str) -> ModelFacts:
        """See ``Models.facts``: the smallest window of a group, since any deployment may be chosen."""
        until, facts = self._facts.get(model, (0.0, ModelFacts(None, model)))
        if until < self._clock():
            facts = self._look_up(model)
            if len(self._facts) >= MOST_FACTS:
                self._facts.clear()
            self._facts[model] = (self._clock() + FACTS_SECONDS, facts)
        return facts

    def find_deployment_facts(self, model_id: str | None, model: str) -> ModelFacts:
        """Return the facts of the deployment that was chosen, or, where that is unknown, of ``model``."""
        router = self._router()
        deployment = router.get_deployment(model_id=model_id) if router is not None and model_id else None
        if deployment is None:
            return ModelFacts(_find_catalogued_window(model), model)
        found = deployment.model_dump()
        params = found.get("litellm_params") or {}
        if "*" in str(params.get("model")):
            # A pattern serves many models, each with a window of its own.
            found = {**found, "litellm_params": {**params, "model": model}}
        return _find_facts(router, found)

    def list_groups(self) -> list[str]:
        """Return the names of all model groups."""
        router = self._router()
        return sorted({d["model_name"] for d in router.get_model_list() or ()}) if router is not None else []

    def _look_up(self, model: str, depth: int = 0) -> ModelFacts:
        router = self._router()
        deployments = (router.get_model_list(model_name=model) or ()) if router is not None else ()
        facts = [_find_facts(router, deployment) for deployment in deployments]
        if depth < MOST_CHAINED:
            choices = [name for d in deployments if is_auto_router(d) for name in list_choices(d)]
            facts += [self._look_up(name, depth + 1) for name in choices]
        with_window = [one for one in facts if one.window is not None]
        if with_window:
            smallest = min(with_window, key=lambda one: one.window or 0)
            return ModelFacts(smallest.window, smallest.name, deployments=tuple(facts))
        window = _find_catalogued_window(model)
        if not facts:
            return ModelFacts(window, model)
        return ModelFacts(window, facts[0].name, deployments=tuple(replace(f, window=window) for f in facts))


class RouterSummarizer:
    """Asks a model group of the proxy, on the account and with the rights of the calling team.

    A call through the router does not pass the proxy's own checks of keys, budgets and rates. So this relies
    on ``caller_model_verdict`` for the caller's rights and limits, and on ``proxy_sub_call_metadata`` for
    what the router and the spend logs need to know of the caller. Without the first, a team could have
    summaries made by a model it may not use; without the second, they would be nobody's cost.
    ``internal_call_origin`` in the metadata marks the call as not the user's own.
    """

    def __init__(self, router: Callable[[], Any] = get_live_router) -> None:
        self._router = router
        self._corrections = Corrections()

    async def complete(self, request: SummaryRequest) -> SummaryAnswer:
        """See ``ports.Summarizer``."""
        router = self._router()
        if router is None:
            raise SummaryError("the proxy has no router")
        await self._check_caller(router, request)
        # A fallback would be a model that nobody checked the caller's rights for.
        options = {"disable_fallbacks": True, **_build_routing(request.caller)}
        deployments = router.get_model_list(model_name=request.model) or ()
        question = _Question(router.acompletion, request, options, *list_sent(deployments))
        return await _complete(question, self._corrections)

    async def _check_caller(self, router: Any, request: SummaryRequest) -> None:
        """Check that the caller may use the model and pay for it; no caller (a CLI) may do anything.

        Raises:
            SummaryDenied: it may not.
        """
        metadata = request.caller.metadata
        if caller_model_verdict is None or proxy_sub_call_metadata is None:
            raise SummaryDenied("this LiteLLM does not tell whether the caller may use a model (see doctor)")
        caller = metadata.get("user_api_key_auth")
        if caller is None:
            return
        if _is_over_budget(router, caller, request):
            raise SummaryDenied(f"no budget left for {request.model}")
        verdict = await caller_model_verdict(caller, request.model, router, metadata)
        if verdict != "allowed":
            raise SummaryDenied(f"the caller may not use {request.model} ({verdict})")


class DirectSummarizer:
    """Asks one model without a proxy, with the credentials that LiteLLM finds in the environment."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._corrections = Corrections()
        # Suppress LiteLLM's feedback banner.
        litellm.suppress_debug_info = True

    async def complete(self, request: SummaryRequest) -> SummaryAnswer:
        """See ``ports.Summarizer``."""
        question = _Question(litellm.acompletion, replace(request, model=self._model), {})
        return await _complete(question, self._corrections)


@dataclass(frozen=True, slots=True)
class _Question:
    """A request, and how it is asked.

    Attributes:
        acompletion: LiteLLM's function, or that of its router.
        options: its arguments besides those of the request.
        sent: parameters that deployments of the model send besides.
        dropped: parameters that they leave out themselves.
    """

    acompletion: Callable[..., Any]
    request: SummaryRequest
    options: Mapping[str, Any]
    sent: Sequence[str] = ()
    dropped: Sequence[str] = ()


async def _complete(question: _Question, corrections: Corrections) -> SummaryAnswer:
    """Ask; where the provider refuses a parameter and names it, ask once more with that changed or left out.

    Raises:
        SummaryTimeout, SummaryLimited, SummaryRefused, SummaryTooLong, SummaryError: as in
            ``ports.Summarizer``.
    """
    model = question.request.model
    correction = corrections.find(model)
    try:
        answer = await _ask(question, correction)
    except _RefusedError as refused:
        if (too_long := _read_length(refused.cause, question.request)) is not None:
            # No parameter helps; the engine asks something shorter.
            limit = too_long.limit if too_long.in_tokens else None
            raise SummaryTooLong(f"{model}: the question is too long", limit) from refused.cause
        sent = (*question.sent, *question.request.tools)
        corrected = correction.correct(str(refused.cause), sent, question.request.max_tokens)
        if corrected is None:
            text = f"{model}: {type(refused.cause).__name__}; it names no parameter that was sent"
            raise SummaryRefused(text) from refused.cause
        try:
            answer = await _ask(question, corrected)
        except _RefusedError as again:
            kind = type(again.cause).__name__
            raise SummaryRefused(f"{model}: {kind}{_describe_change(correction, corrected)}") from again.cause
        corrections.remember(model, corrected)
    return _to_summary_answer(answer, model)


def _read_length(error: Exception, request: SummaryRequest) -> LengthRefusal | None:
    """Return what an error of LiteLLM's says about the question's length, or None."""
    told = describe_error(error)
    exceeded = told.context_exceeded
    return read_refusal(told.status, told.text, context_exceeded=exceeded, asked=request.max_tokens)


def _describe_change(before: Correction, after: Correction) -> str:
    if after.limit != before.limit:
        return f", also with {after.limit} in place of {before.limit}"
    return f", also without {after.left_out[-1]}"


class _RefusedError(Exception):
    """The request itself was refused; ``cause`` is LiteLLM's error, whose text is told to nobody."""

    def __init__(self, cause: Exception) -> None:
        super().__init__()
        self.cause = cause


async def _ask(question: _Question, correction: Correction) -> Any:
    """Ask once; LiteLLM's own retries are off, since the engine decides whether to ask again.

    Raises:
        _RefusedError: the request itself was refused.
        SummaryTimeout, SummaryLimited, SummaryRefused, SummaryError: as in ``ports.Summarizer``.
    """
    request = question.request
    system = {"role": "system", "content": request.system}
    # A prompt file is the whole prompt; an empty system message is refused by some providers.
    before = request.prefix or ((system,) if request.system else ())
    try:
        async with asyncio.timeout(request.timeout_seconds + EXTRA_SECONDS):
            return await question.acompletion(
                model=request.model,
                messages=[*(dict(m) for m in before), {"role": "user", "content": request.user}],
                timeout=request.timeout_seconds,
                num_retries=0,
                max_retries=0,
                **correction.apply(request.max_tokens, request.tools, question.dropped),
                **question.options,
            )
    except (TimeoutError, Timeout) as error:
        raise SummaryTimeout(f"{request.model} did not answer in {request.timeout_seconds:g} s") from error
    except RateLimitError as error:
        raise SummaryLimited(f"{request.model} is rate limited") from error
    except Exception as error:  # a provider's library may raise anything
        if getattr(error, "status_code", None) in REFUSALS or _read_length(error, request) is not None:
            raise _RefusedError(error) from error
        if isinstance(error, ValueError) and _lacks_tags(error):
            raise SummaryRefused(f"no deployment of {request.model} takes the request's tags") from error
        # Providers put prompts into their error texts: the class says enough.
        raise SummaryError(f"{request.model}: {type(error).__name__}") from error


def _lacks_tags(error: ValueError) -> bool:
    """Tell whether the router says that no deployment takes a request's tags."""
    said = getattr(RouterErrors, "no_deployments_with_tag_routing", None)
    return said is not None and said.value in str(error)


def _to_summary_answer(answer: Any, model: str) -> SummaryAnswer:
    """Read LiteLLM's answer; ``_hidden_params`` holds the cost where its catalogue has a price.

    Raises:
        SummaryError: there is no choice in it.
    """
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


def _find_facts(router: Any, deployment: Mapping[str, Any]) -> ModelFacts:
    """Return the window of a deployment: as its config declares it, else as LiteLLM's catalogue has it."""
    info = deployment.get("model_info") or {}
    name = _read_name(deployment)
    model_id, model = info.get("id"), (deployment.get("litellm_params") or {}).get("model")
    known_as = f"{model_id} {model}" if model_id else ""
    declared = info.get("max_input_tokens")
    if isinstance(declared, int) and not isinstance(declared, bool) and declared > 0:
        return ModelFacts(declared, name, known_as)
    window = _read_window(_find_model_info(router, deployment))
    window = window or _find_catalogued_window(str(info.get("base_model") or name))
    return ModelFacts(window, name, known_as)


def _find_model_info(router: Any, deployment: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return what LiteLLM's catalogue says of a deployment, or None."""
    model_id = (deployment.get("model_info") or {}).get("id")
    try:
        info: Mapping[str, Any] | None = router.get_deployment_model_info(
            model_id=model_id, model_name=_read_name(deployment)
        )
    except Exception:  # LiteLLM raises bare exceptions for what it does not know
        info = None
    return info


def _read_name(deployment: Mapping[str, Any]) -> str:
    """Return the model that a deployment's tokens are counted by."""
    info = deployment.get("model_info") or {}
    return str(info.get("base_model") or (deployment.get("litellm_params") or {}).get("model") or "")


def _find_catalogued_window(model: str) -> int | None:
    """Return the window that LiteLLM's catalogue has for a model, or None."""
    try:
        return _read_window(litellm.get_model_info(model))
    except Exception:  # LiteLLM raises bare exceptions for what it does not know
        return None


def _read_window(info: Mapping[str, Any] | None) -> int | None:
    """Return the window in an entry of the catalogue, or None."""
    info = info or {}
    window = info.get("max_input_tokens")
    if not window and not info.get("max_output_tokens"):
        # `max_tokens` is a window only where it is not the limit of the answer.
        window = info.get("max_tokens")
    return window if isinstance(window, int) and not isinstance(window, bool) and window > 0 else None


def _is_over_budget(router: Any, caller: Any, request: SummaryRequest) -> bool:
    """Tell whether a summary would cost more than the key has left.

    Relies on ``max_budget`` and ``spend`` of LiteLLM's ``UserAPIKeyAuth``. ``caller_model_verdict`` checks
    budgets for a model, not that of the key.
    """
    budget, spent = getattr(caller, "max_budget", None), getattr(caller, "spend", None) or 0.0
    return budget is not None and bool(spent + _estimate_cost(router, request) >= budget)


def _estimate_cost(router: Any, request: SummaryRequest) -> float:
    """Return what the dearest deployment of a group would ask, in dollars; 0 where no price is known."""
    asked_chars = len(request.system + request.user) + sum(len(str(m)) for m in request.prefix)
    asked, answered = asked_chars // TOKEN_CHARS, request.max_tokens
    costs = [0.0]
    for deployment in router.get_model_list(model_name=request.model) or ():
        sources = (
            deployment.get("model_info"),
            deployment.get("litellm_params"),
            _find_model_info(router, deployment),
        )
        prices = [next((one[name] for one in sources if one and one.get(name)), 0.0) for name in PRICES]
        costs.append(asked * prices[0] + answered * prices[1])
    return max(costs)


def _build_routing(caller: Caller) -> dict[str, Any]:
    """Build what our own call says of the caller, so that it is routed as the caller's request is.

    Relies on how LiteLLM routes by tags: by ``tags``, by ``inherited_tags`` of key and team, by the client's
    ``user_agent``, and where ``enable_tag_filtering`` comes from the router settings of key or team. A tag of
    our own would route too: it is one that no deployment has. That the call is ours is told by
    ``internal_call_origin`` alone.
    """
    parent = caller.metadata
    metadata = {**proxy_sub_call_metadata(parent), "internal_call_origin": ORIGIN}
    # The router has added the chat's deployment's own tags to the others, and kept those that came.
    tags = parent.get(ROUTING_REQUEST_TAGS_METADATA_KEY, parent.get("tags"))
    if isinstance(tags, list | tuple) and tags:
        metadata["tags"] = list(tags)
    metadata |= {name: parent[name] for name in ("inherited_tags", "user_agent") if parent.get(name)}
    filtering = {"enable_tag_filtering": True} if parent.get("enable_tag_filtering") is True else {}
    return {"metadata": metadata, **filtering}
