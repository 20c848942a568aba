"""The proxy's models: their windows, and summaries asked of a real router and a provider that is scripted."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
from litellm.proxy._types import UserAPIKeyAuth
from litellm.router import Router

from gateway_compaction.adapters.litellm.models import (
    DirectSummarizer,
    ProxyModels,
    RouterSummarizer,
    get_live_router,
)
from gateway_compaction.errors import (
    SummaryDenied,
    SummaryError,
    SummaryLimited,
    SummaryRefused,
    SummaryTimeout,
)
from gateway_compaction.ports import Caller, ModelFacts, SummaryRequest
from tests.engine.host import proxy_server
from tests.engine.rig import Clock
from tests.lab.scripts import Reply, answer, tool_call
from tests.lab.upstream import Upstream

KNOWN = "gpt-4o-mini"
NAME = "openai/summariser-of-these-tests"

# LiteLLM's own types, of which pydantic warns when they are first used.
pytestmark = pytest.mark.filterwarnings("ignore:Items? .* qualifier:UserWarning")


def entry(group: str, model: str, number: int = 0, **info: Any) -> dict[str, Any]:
    """A deployment of a group."""
    params = {"model": model, "api_key": "sk-none", "api_base": "http://127.0.0.1:1"}
    return {
        "model_name": group,
        "litellm_params": params,
        "model_info": {"id": f"{group}-{model}-{number}", **info},
    }


def router_of(*entries: dict[str, Any], **options: Any) -> Router:
    """A real router."""
    with warnings.catch_warnings():
        # The first router makes pydantic warn of LiteLLM's own types.
        warnings.simplefilter("ignore")
        return Router(model_list=list(entries), **options)


def models_of(*entries: dict[str, Any], clock: Clock | None = None) -> ProxyModels:
    """The models of a router of these deployments."""
    router = router_of(*entries)
    return ProxyModels(lambda: router, clock or Clock())


def brief(facts: ModelFacts) -> tuple[int | None, str]:
    """Window and name."""
    return facts.window, facts.name


class TestWindows:
    """The smallest window of a group, and by which name it counts."""

    @pytest.mark.parametrize("windows", [(9_000, 700, 2_000), (700, 9_000), (700,)])
    def test_the_smallest_that_is_declared(self, windows: tuple[int, ...]) -> None:
        entries = [
            entry("g", f"openai/of-{window}", n, max_input_tokens=window) for n, window in enumerate(windows)
        ]
        assert brief(models_of(*entries).facts("g")) == (700, "openai/of-700")

    def test_what_is_not_declared_is_looked_up(self) -> None:
        models = models_of(entry("g", f"openai/{KNOWN}"), entry("b", "azure/mine", base_model=KNOWN))
        assert brief(models.facts("g")) == (128_000, f"openai/{KNOWN}")
        assert brief(models.facts("b")) == (128_000, KNOWN)

    @pytest.mark.parametrize("declared", [0, -5, True, "many", None])
    def test_what_is_no_window_is_not_taken_for_one(self, declared: Any) -> None:
        # LiteLLM keeps what is declared for each name: a name for each case.
        models = models_of(entry("g", f"azure/of-{declared}", base_model=KNOWN, max_input_tokens=declared))
        assert brief(models.facts("g")) == (128_000, KNOWN)

    def test_the_limit_of_the_answer_is_no_window(self) -> None:
        unheard = {"max_tokens": 4_096, "max_output_tokens": 4_096}
        assert models_of(entry("g", "openai/unheard-of-1", **unheard)).facts("g").window is None
        whole = models_of(entry("g", "openai/unheard-of-2", max_tokens=4_096))
        assert whole.facts("g").window == 4_096

    def test_unknown_windows_do_not_hide_known_ones(self) -> None:
        entries = [entry("g", "openai/unheard-of"), entry("g", "openai/other", 1, max_input_tokens=900)]
        models = models_of(*entries)
        assert brief(models.facts("g")) == (900, "openai/other")
        assert brief(models_of(entry("g", "openai/unheard-of")).facts("g")) == (None, "openai/unheard-of")

    def test_a_model_that_is_no_group_is_looked_up_by_its_name(self) -> None:
        models = models_of(entry("g", "openai/other", max_input_tokens=900))
        assert brief(models.facts(KNOWN)) == (128_000, KNOWN)
        assert brief(models.facts("unheard-of")) == (None, "unheard-of")

    def test_one_deployment_has_its_own(self) -> None:
        entries = [entry("g", f"openai/of-{w}", n, max_input_tokens=w) for n, w in enumerate((700, 9_000))]
        models = models_of(*entries)
        assert brief(models.find_deployment_facts("g-openai/of-9000-1", "x")) == (9_000, "openai/of-9000")
        assert brief(models.find_deployment_facts("no such", KNOWN)) == (128_000, KNOWN)
        assert brief(models.find_deployment_facts(None, "unheard-of")) == (None, "unheard-of")

    def test_models_of_one_pattern_are_told_apart(self) -> None:
        models = models_of(entry("openai/*", "openai/*"))
        for name in ("openai/unheard-of", f"openai/{KNOWN}"):
            [one] = models.facts(name).deployments
            assert one == models.find_deployment_facts("openai/*-openai/*-0", name)
            assert one.key == f"openai/*-openai/*-0 {name}"

    def test_it_is_looked_up_once_a_minute(self) -> None:
        clock, asked = Clock(), []
        routers = [router_of(entry("g", "openai/m", max_input_tokens=w)) for w in (700, 900)]

        def current() -> Router:
            asked.append(clock.now)
            return routers[0] if clock.now < 1_030 else routers[1]

        models = ProxyModels(current, clock)
        for now in (1_000, 1_000, 1_059, 1_061):
            clock.now = now
            models.facts("g")
        assert asked == [1_000, 1_061] and models.facts("g").window == 900

    def test_the_router_is_the_one_that_the_proxy_has_now(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for router in (router_of(), None, router_of()):
            monkeypatch.setattr(proxy_server, "llm_router", router)
            assert get_live_router() is router

    def test_without_a_router_there_are_no_groups(self) -> None:
        models = ProxyModels(lambda: None, Clock())
        assert models.list_groups() == [] and models.facts(KNOWN).window == 128_000
        assert models_of(entry("b", "openai/m"), entry("a", "openai/n")).list_groups() == ["a", "b"]


Ask = Callable[..., Any]


@pytest.fixture
def ask(upstream: Upstream) -> Ask:
    """Asks a group named ``small`` for a summary, as somebody; what is known of the deployment is given."""

    def asking(
        caller: UserAPIKeyAuth | None = None,
        *,
        seconds: float = 5.0,
        system: str = "You sum up.",
        **info: Any,
    ) -> Any:
        # LiteLLM keeps prices for each name: what has one has a name of its own.
        deployment = entry("small", f"{NAME}-for-money" if info else NAME, **info)
        deployment["litellm_params"]["api_base"] = upstream.url
        router = router_of(deployment)
        metadata = {"user_api_key_auth": caller, "tags": ["chat"]} if caller else {"tags": ["chat"]}
        request = SummaryRequest("small", system, "They met. " * 40, 100, seconds, Caller("g", metadata))
        return RouterSummarizer(lambda: router).complete(request)

    upstream.reset()
    return asking


def says(upstream: Upstream, reply: Reply) -> None:
    """What the provider answers."""
    upstream.scripts[NAME.removeprefix("openai/")] = lambda seen: reply


class TestSummaries:
    """What is asked, and what is made of the answer."""

    async def test_a_question_and_its_answer(self, ask: Ask, upstream: Upstream) -> None:
        says(upstream, Reply(text="A summary."))
        told = await ask()
        assert (told.text, told.finish_reason, told.has_tool_calls) == ("A summary.", "stop", False)
        [seen] = upstream.requests
        assert [m["role"] for m in seen.messages] == ["system", "user"] and seen.body["max_tokens"] == 100
        assert "tools" not in seen.body

    async def test_without_a_system_text_there_is_no_system_message(
        self, ask: Ask, upstream: Upstream
    ) -> None:
        says(upstream, Reply(text="A summary."))
        await ask(system="")
        assert [m["role"] for m in upstream.requests[0].messages] == ["user"]

    async def test_calls_of_tools_are_told(self, ask: Ask, upstream: Upstream) -> None:
        says(upstream, Reply(text=None, tool_calls=[tool_call("look_up", {})]))
        told = await ask()
        assert (told.text, told.has_tool_calls) == ("", True)

    @pytest.mark.parametrize(
        ("reply", "error", "words"),
        [
            (Reply.rate_limited(), SummaryLimited, "small is rate limited"),
            (Reply.server_error(), SummaryError, "small: InternalServerError"),
            (
                Reply.bad_request("You sum up."),
                SummaryRefused,
                "small: BadRequestError; it names no parameter that was sent",
            ),
            (Reply(hang=True), SummaryTimeout, "small did not answer in 0.3 s"),
        ],
    )
    async def test_a_failure_is_told_without_the_providers_words_and_is_not_repeated(
        self, ask: Ask, upstream: Upstream, reply: Reply, error: type[SummaryError], words: str
    ) -> None:
        says(upstream, reply)
        with pytest.raises(SummaryError) as caught:
            await ask(seconds=0.3 if reply.hang else 5.0)
        assert type(caught.value) is error and str(caught.value) == words
        assert len(upstream.requests) == 1

    async def test_no_other_group_is_asked_in_its_place(self, upstream: Upstream) -> None:
        upstream.reset()
        says(upstream, Reply.server_error())
        entries = [entry("small", NAME), entry("other", "openai/other-of-these-tests")]
        for deployment in entries:
            deployment["litellm_params"]["api_base"] = upstream.url
        router = router_of(*entries, fallbacks=[{"small": ["other"]}])
        request = SummaryRequest("small", "s", "u", 9, 5.0, Caller("g"))
        with pytest.raises(SummaryError):
            await RouterSummarizer(lambda: router).complete(request)
        assert [seen.model for seen in upstream.requests] == [NAME.removeprefix("openai/")]

    async def test_no_router_no_summary(self) -> None:
        request = SummaryRequest("small", "s", "u", 9, 1.0, Caller("g"))
        with pytest.raises(SummaryError, match="the proxy has no router"):
            await RouterSummarizer(lambda: None).complete(request)


class TestRights:
    """On the account and with the rights of whom the chat is."""

    @pytest.mark.parametrize(
        ("spend", "denied"), [(0.0, False), (0.90, False), (0.95, True), (1.0, True), (None, False)]
    )
    async def test_a_summary_must_fit_the_budget(
        self, ask: Ask, upstream: Upstream, spend: float | None, denied: bool
    ) -> None:
        # A hundred tokens of question and a hundred of answer cost eight cents or so.
        prices = {"input_cost_per_token": 0.0004, "output_cost_per_token": 0.0004}
        caller = UserAPIKeyAuth(api_key="hash", max_budget=1.0)
        caller.spend = spend  # type: ignore[assignment]
        if not denied:
            assert (await ask(caller, **prices)).text == "ok"
            return
        with pytest.raises(SummaryDenied, match="no budget left for small"):
            await ask(caller, **prices)
        assert upstream.requests == []

    async def test_without_a_price_only_a_spent_budget_forbids_it(self, ask: Ask, upstream: Upstream) -> None:
        assert (await ask(UserAPIKeyAuth(api_key="hash", max_budget=1.0, spend=0.99))).text == "ok"
        with pytest.raises(SummaryDenied):
            await ask(UserAPIKeyAuth(api_key="hash", max_budget=1.0, spend=1.0))
        assert len(upstream.requests) == 1

    async def test_a_model_that_is_not_the_callers_is_not_asked(self, ask: Ask, upstream: Upstream) -> None:
        with pytest.raises(SummaryDenied, match=r"the caller may not use small \(denied\)"):
            await ask(UserAPIKeyAuth(api_key="hash", models=["chat"]))
        assert upstream.requests == []
        assert (await ask(UserAPIKeyAuth(api_key="hash", models=["small"]))).text == "ok"


async def test_one_model_is_asked_without_a_proxy(
    upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_BASE", upstream.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    upstream.reset()
    upstream.default = answer("A summary.")
    request = SummaryRequest("whatever", "You sum up.", "They met.", 100, 5.0, Caller("g"))
    assert (await DirectSummarizer(NAME).complete(request)).text == "A summary."
    says(upstream, Reply.server_error())
    with pytest.raises(SummaryError):
        await DirectSummarizer(NAME).complete(request)
    # Once each: what fails is not asked again.
    assert [seen.model for seen in upstream.requests] == [NAME.removeprefix("openai/")] * 2
