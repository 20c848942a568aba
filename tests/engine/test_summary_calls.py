"""The summariser's call: room for thoughts, parameters that a provider refuses, and who it is routed as."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from typing import Any

import pytest
from litellm.proxy._types import UserAPIKeyAuth

from gateway_compaction.adapters.litellm.models import RouterSummarizer
from gateway_compaction.adapters.litellm.parameters import LIMIT, NEW_LIMIT, Correction
from gateway_compaction.call_state import CallState, request_of
from gateway_compaction.core.endpoints.chat import read_chat
from gateway_compaction.errors import SummaryError, SummaryRefused, SummaryRejected, SummaryTooLong
from gateway_compaction.ports import Caller, SummaryAnswer, SummaryRequest
from tests.engine.rig import Fixed, Rig
from tests.engine.test_models import entry, router_of
from tests.engine.test_summary_pipeline import task
from tests.lab.scripts import Reply, Seen
from tests.lab.upstream import Upstream

pytestmark = pytest.mark.filterwarnings("ignore:Items? .* qualifier:UserWarning")

MODEL = "summariser-of-the-calls"
TEXT = "<summary>The pump in Hull is to be replaced by Friday.</summary>"
TRIED = itertools.count()


class Thinker:
    """A summariser that thinks ``tokens`` before it writes, and is cut off where there is no room."""

    def __init__(self, tokens: int) -> None:
        self.tokens, self.cut_off_text = tokens, ""
        self.asked: list[int] = []

    async def complete(self, request: SummaryRequest) -> SummaryAnswer:
        """Answer as far as there is room."""
        self.asked.append(request.max_tokens)
        if request.max_tokens < self.tokens + 100:
            return SummaryAnswer(self.cut_off_text, "length", request.model, cost=0.25)
        return SummaryAnswer(TEXT, "stop", request.model, cost=0.5)


@pytest.fixture
def thinking(rigs: Callable[..., Rig]) -> Callable[..., tuple[Rig, Thinker]]:
    """A gateway whose summariser thinks, by the tokens of its thoughts."""

    def make(tokens: int, window: int = 100_000, **summary: Any) -> tuple[Rig, Thinker]:
        rig = rigs(2_000, {"summary": {"model": "small", **summary}}, models=Fixed(2_000, small=window))
        thinker = Thinker(tokens)
        rig.pipeline.summarizer = thinker
        return rig, thinker

    return make


Thinking = Callable[..., tuple[Rig, Thinker]]


class TestRoom:
    """A model that thinks before it writes."""

    @pytest.mark.parametrize("strategy", ["segments", "rolling", "turns"])
    @pytest.mark.parametrize("tokens", [630, 1_500, 2_400, 7_000])
    async def test_gets_its_summary(self, thinking: Thinking, tokens: int, strategy: str) -> None:
        rig, _ = thinking(tokens, strategy=strategy)
        assert "pump" in (await rig.pipeline.make_summary(await task(rig))).text

    async def test_is_cut_off_once_and_then_has_the_room_from_the_start(self, thinking: Thinking) -> None:
        rig, thinker = thinking(1_500, strategy="rolling")
        made = await rig.pipeline.make_summary(await task(rig))
        assert len(thinker.asked) == 2 and thinker.asked[1] > thinker.asked[0] + 5_000
        assert made.cost == 0.75, "what was cut off has cost something too"
        await rig.pipeline.make_summary(await task(rig, name="another"))
        assert len(thinker.asked) == 3 and thinker.asked[2] > 5_000

    async def test_one_that_does_not_think_is_asked_as_before(self, thinking: Thinking) -> None:
        rig, thinker = thinking(0, strategy="rolling")
        await rig.pipeline.make_summary(await task(rig))
        assert len(thinker.asked) == 1 and thinker.asked[0] < 2_000
        assert not rig.pipeline.roomy_models

    async def test_is_not_asked_a_third_time(self, thinking: Thinking) -> None:
        rig, thinker = thinking(20_000, strategy="rolling")
        with pytest.raises(SummaryRejected, match="finish_reason is length"):
            await rig.pipeline.make_summary(await task(rig))
        assert len(thinker.asked) == 2
        assert not rig.pipeline.roomy_models, "it did not help"

    async def test_one_that_never_ends_in_time_is_believed_as_far_as_its_sentences_are_whole(
        self, thinking: Thinking
    ) -> None:
        rig, thinker = thinking(20_000, strategy="rolling")
        whole = "The pump in Hull is to be replaced by Friday."
        thinker.cut_off_text = f"<summary>{whole} And then the pu"
        for _ in range(2):
            with pytest.raises(SummaryRejected, match="finish_reason is length"):
                await rig.pipeline.make_summary(await task(rig))
        assert (await rig.pipeline.make_summary(await task(rig))).text == whole
        assert len(thinker.asked) == 6
        assert (await rig.pipeline.make_summary(await task(rig, name="another"))).text == whole
        assert len(thinker.asked) == 7, "it is not tried with less room first"
        thinker.cut_off_text = "<think>It is only thought about. And never sa"
        with pytest.raises(SummaryRejected, match="empty"):
            await rig.pipeline.make_summary(await task(rig))

    async def test_more_thoughts_have_the_room_that_the_policy_gives(self, thinking: Thinking) -> None:
        rig, thinker = thinking(20_000, strategy="rolling", thinking_tokens=20_000)
        assert (await rig.pipeline.make_summary(await task(rig))).text
        assert len(thinker.asked) == 1

    async def test_the_window_bounds_it(self, thinking: Thinking) -> None:
        rig, thinker = thinking(30_000, window=6_000, strategy="rolling")
        with pytest.raises(SummaryRejected):
            await rig.pipeline.make_summary(await task(rig))
        assert max(thinker.asked) <= 6_000 * 0.4

    async def test_where_there_is_no_more_it_is_not_asked_again(self, thinking: Thinking) -> None:
        rig, thinker = thinking(30_000, window=2_000, strategy="rolling")
        with pytest.raises(SummaryRejected):
            await rig.pipeline.make_summary(await task(rig))
        assert len(thinker.asked) == 1


RENAMED = (
    "Unsupported parameter: 'max_tokens' is not supported with this model."
    " Use 'max_completion_tokens' instead."
)


def refusing(*refusals: tuple[Callable[[dict[str, Any]], bool], str], status: int = 400) -> Any:
    """A provider that refuses the bodies for which something holds, with an error text."""

    def script(seen: Seen) -> Reply:
        for holds, text in refusals:
            if holds(seen.body):
                return Reply.failing(status, text, kind="invalid_request_error")
        return Reply(text=TEXT)

    return script


Ask = Callable[..., Any]


@pytest.fixture
def ask(upstream: Upstream) -> Ask:
    """Asks one deployment, whose further parameters are given, for a summary; the same adapter each time."""
    upstream.reset()
    adapters: dict[str, RouterSummarizer] = {}

    def asking(**params: Any) -> Any:
        key = repr(params)
        if key not in adapters:
            deployment = entry("small", f"openai/{MODEL}", next(TRIED))
            deployment["litellm_params"] |= {"api_base": upstream.url, **params}
            router = router_of(deployment)
            adapters[key] = RouterSummarizer(lambda: router)
        request = SummaryRequest("small", "You sum up.", "They met.", 100, 5.0, Caller("g"))
        return adapters[key].complete(request)

    return asking


def bodies(upstream: Upstream) -> list[dict[str, Any]]:
    """What the provider was sent, without the messages."""
    return [
        {k: v for k, v in seen.body.items() if k not in ("model", "messages")} for seen in upstream.requests
    ]


class TestRefusals:
    """A 400 is never asked again unchanged."""

    @pytest.mark.parametrize("status", [400, 422])
    async def test_the_parameter_that_is_wanted_is_used_and_remembered(
        self, ask: Ask, upstream: Upstream, status: int
    ) -> None:
        upstream.scripts[MODEL] = refusing((lambda body: LIMIT in body, RENAMED), status=status)
        assert (await ask()).text == TEXT
        assert (await ask()).text == TEXT
        assert bodies(upstream) == [{LIMIT: 100}, {NEW_LIMIT: 100}, {NEW_LIMIT: 100}]

    @pytest.mark.parametrize(
        ("params", "text", "left"),
        [
            ({"temperature": 0.2}, "Unsupported value: 'temperature' does not support 0.2", {LIMIT: 100}),
            ({"temperature": 0.2}, "temperature: Extra inputs are not permitted", {LIMIT: 100}),
            ({"top_p": 0.9, "temperature": 0.2}, "`top_p` is deprecated", {LIMIT: 100, "temperature": 0.2}),
            ({"reasoning_effort": "low"}, "Unrecognized request argument: reasoning_effort", {LIMIT: 100}),
            ({"stop": ["x"]}, "'stop' is not supported with this model", {LIMIT: 100}),
            ({}, "max_tokens: 100 > 64, which is the maximum allowed number of output tokens", {}),
            ({}, "'max_tokens' or 'max_completion_tokens' is too large: 100", {}),
            ({}, "The maximum tokens you requested exceeds the model limit of 64.", {}),
            ({"temperature": 0.2}, "Number of output tokens requested (100) > 64", {"temperature": 0.2}),
        ],
    )
    async def test_the_parameter_that_is_named_is_left_out(
        self, ask: Ask, upstream: Upstream, params: dict[str, Any], text: str, left: dict[str, Any]
    ) -> None:
        upstream.scripts[MODEL] = refusing((lambda body: body.keys() > {"model", "messages", *left}, text))
        assert (await ask(**params)).text == TEXT
        first, second = bodies(upstream)
        assert first == {LIMIT: 100, **params} and second == left

    async def test_two_of_them_are_mended_one_after_the_other(self, ask: Ask, upstream: Upstream) -> None:
        upstream.scripts[MODEL] = refusing(
            (lambda body: LIMIT in body, RENAMED),
            (lambda body: "temperature" in body, "'temperature' is not supported"),
        )
        with pytest.raises(SummaryRefused, match=f"also with {NEW_LIMIT} in place of {LIMIT}"):
            await ask(temperature=0.2)
        assert len(upstream.requests) == 2

    async def test_what_a_deployment_leaves_out_itself_stays_out(self, ask: Ask, upstream: Upstream) -> None:
        upstream.scripts[MODEL] = refusing((lambda body: "temperature" in body, "temperature: no"))
        await ask(temperature=0.2, top_p=0.9, additional_drop_params=["top_p"])
        assert bodies(upstream)[-1] == {LIMIT: 100}

    @pytest.mark.parametrize("text", ["You sum up.", "Invalid value.", "messages: at least one is required"])
    async def test_where_none_is_named_it_is_asked_once_and_said(
        self, ask: Ask, upstream: Upstream, text: str
    ) -> None:
        upstream.scripts[MODEL] = refusing((lambda body: True, text))
        with pytest.raises(SummaryRefused) as caught:
            await ask()
        assert str(caught.value) == "small: BadRequestError; it names no parameter that was sent"
        assert len(upstream.requests) == 1

    @pytest.mark.parametrize(
        ("text", "limit"),
        [
            ("This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.", 4096),
            ("Input is too long for requested model.", None),
        ],
    )
    async def test_one_that_is_too_long_is_not_asked_again_here(
        self, ask: Ask, upstream: Upstream, text: str, limit: int | None
    ) -> None:
        upstream.scripts[MODEL] = refusing((lambda body: True, text))
        with pytest.raises(SummaryTooLong) as caught:
            await ask()
        assert caught.value.limit == limit and len(upstream.requests) == 1

    async def test_what_did_not_help_is_not_remembered(self, ask: Ask, upstream: Upstream) -> None:
        upstream.scripts[MODEL] = refusing((lambda body: True, RENAMED))
        with pytest.raises(SummaryRefused):
            await ask()
        upstream.scripts[MODEL] = refusing()
        await ask()
        assert bodies(upstream)[-1] == {LIMIT: 100}

    async def test_one_refusal_leaves_the_model_to_the_others(self, rig: Rig) -> None:
        rig.summarizer.answers = [SummaryRefused("small: BadRequestError")] * 5
        wanted = await task(rig)
        for number in range(5):
            with pytest.raises(SummaryRefused):
                await rig.pipeline.make_summary(wanted)
            assert len(rig.summarizer.requests) == number + 1, "it is not asked again for the task"
        assert not rig.pipeline.paused_models
        assert (await rig.pipeline.make_summary(wanted)).text


@pytest.mark.parametrize(
    ("text", "sent", "expected"),
    [
        (RENAMED, (), Correction(NEW_LIMIT)),
        ("max_tokens is not supported, use max_completion_tokens", (), Correction(NEW_LIMIT)),
        ("please stop sending too much", ("stop",), None),
        ("the user asked for n things", ("user", "n"), None),
        ("`n` must be 1", ("n",), Correction(LIMIT, ("n",))),
        ("temperatures are high", ("temperature",), None),
        (
            "temperature and top_p cannot both be given",
            ("top_p", "temperature"),
            Correction(LIMIT, ("temperature",)),
        ),
    ],
)
def test_what_an_error_asks_for(text: str, sent: tuple[str, ...], expected: Correction | None) -> None:
    assert Correction().correct(text, sent) == expected


def test_no_correction_is_made_twice() -> None:
    once = Correction().correct(RENAMED, ())
    assert once is not None and once.correct(RENAMED, ()) == Correction(NEW_LIMIT, (NEW_LIMIT,))
    prose = "Maximum tokens 64000 is greater than the limit 8192"
    assert Correction().correct(prose, ()) == Correction(LIMIT, (LIMIT,))
    assert Correction(LIMIT, (LIMIT,)).correct(prose, ()) is None
    without = Correction(left_out=("temperature",))
    assert without.correct("temperature: no", ("temperature",)) is None


GROUPS: dict[str, list[list[str] | None]] = {
    "untagged": [None],
    "tagged": [["blue"]],
    "with default": [["blue"], ["default"]],
    "two colours": [["blue"], ["red"]],
}
"""The tags of the deployments of a group."""

TAGS: list[list[str] | None] = [None, [], ["blue"], ["red"], ["blue", "red"], ["green"], ["!blue"], ["&red"]]
"""Those of a request."""


class TestRouting:
    """The call is routed as the caller's request is."""

    @pytest.mark.parametrize("match_any", [True, False])
    @pytest.mark.parametrize("tags", TAGS)
    @pytest.mark.parametrize("group", GROUPS)
    async def test_by_tags(
        self, upstream: Upstream, group: str, tags: list[str] | None, match_any: bool
    ) -> None:
        upstream.reset()
        entries = []
        for number, own in enumerate(GROUPS[group]):
            deployment = entry("small", f"openai/{'-'.join(own or ['plain'])}", number)
            deployment["litellm_params"] |= {"api_base": upstream.url, **({"tags": own} if own else {})}
            entries.append(deployment)
        router = router_of(
            *entries, enable_tag_filtering=True, tag_filtering_match_any=match_any, num_retries=0
        )
        metadata: dict[str, Any] = {} if tags is None else {"tags": tags}

        async def try_as_caller() -> bool:
            try:
                await router.acompletion("small", [{"role": "user", "content": "x"}], metadata=dict(metadata))
            except ValueError:
                return False
            return True

        request = SummaryRequest("small", "s", "u", 9, 5.0, Caller("g", metadata))
        summarizer = RouterSummarizer(lambda: router)
        if await try_as_caller():
            await summarizer.complete(request)
        else:
            with pytest.raises(SummaryRefused, match="no deployment of small takes the request's tags"):
                await summarizer.complete(request)
        router.discard()

    async def test_a_tag_of_our_own_would_be_refused(self, upstream: Upstream) -> None:
        deployment = entry("small", "openai/plain")
        deployment["litellm_params"]["api_base"] = upstream.url
        router = router_of(deployment, enable_tag_filtering=True, num_retries=0)
        with pytest.raises(ValueError, match="tag"):
            await router.acompletion("small", [{"role": "user", "content": "x"}], metadata={"tags": ["ours"]})

    @pytest.mark.parametrize("where", ["router_settings_override", "itself"])
    async def test_by_the_settings_of_key_or_team(self, upstream: Upstream, where: str) -> None:
        on = {"enable_tag_filtering": True}
        data = {
            "model": "chat",
            "messages": [{"role": "user", "content": "x"}],
            "metadata": {"tags": ["red"], "user_agent": "odd/1", "inherited_tags": ["red"]},
            **({"router_settings_override": on} if where == "router_settings_override" else on),
        }
        caller = request_of(CallState(UserAPIKeyAuth(), data), read_chat(data)).caller
        asked: list[dict[str, Any]] = []

        class Router:
            """Keeps what it is asked."""

            def get_model_list(self, model_name: str) -> list[Any]:
                return []

            async def acompletion(self, **arguments: Any) -> Any:
                asked.append(arguments)
                raise ValueError

        with pytest.raises(SummaryError):
            await RouterSummarizer(Router).complete(
                SummaryRequest(
                    "small", "s", "u", 9, 5.0, Caller("g", {**caller.metadata, "user_api_key_auth": None})
                )
            )
        [arguments] = asked
        assert arguments["enable_tag_filtering"] is True
        metadata = arguments["metadata"]
        assert (metadata["tags"], metadata["user_agent"], metadata["inherited_tags"]) == (
            ["red"],
            "odd/1",
            ["red"],
        )

    async def test_the_tags_of_the_chats_own_deployment_are_not_the_callers(self, upstream: Upstream) -> None:
        seen: list[Any] = []
        metadata: dict[str, Any] = {"tags": ["blue"]}
        deployment = entry("chat", "openai/chat-of-blue")
        deployment["litellm_params"] |= {"api_base": upstream.url, "tags": ["of-the-deployment"]}
        await router_of(deployment).acompletion("chat", [{"role": "user", "content": "x"}], metadata=metadata)
        assert "of-the-deployment" in metadata["tags"], "the router adds them"

        class Router:
            """Keeps the tags that it is asked with."""

            def get_model_list(self, model_name: str) -> list[Any]:
                return []

            async def acompletion(self, **arguments: Any) -> Any:
                seen.append(arguments["metadata"].get("tags"))
                await asyncio.sleep(0)
                raise ValueError

        with pytest.raises(SummaryError):
            await RouterSummarizer(Router).complete(
                SummaryRequest("small", "s", "u", 9, 5.0, Caller("g", metadata))
            )
        assert seen == [["blue"]]
