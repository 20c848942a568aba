"""Refusals for length within a call: answered with less, learned, and seen by no client."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any

import litellm
import pytest
from litellm.exceptions import BadRequestError, ContextWindowExceededError
from litellm.integrations.custom_logger import CustomLogger

from gateway_compaction.adapters.litellm.ask_again import FUNCTIONS, MARK
from gateway_compaction.core.tokens.refusal import LengthRefusal
from gateway_compaction.core.tokens.windows import LearnedWindow
from gateway_compaction.engine.length_refusals import RefusedCall
from gateway_compaction.engine.model_windows import LearnedModels
from gateway_compaction.ports import ModelFacts
from tests.engine.calls import Gateway, deployment
from tests.engine.histories import chat
from tests.engine.host import Host
from tests.engine.rig import Fixed, Rig
from tests.lab import RedisServer, Upstream, until
from tests.lab.forwarder import Forwarder
from tests.lab.ports import free_port
from tests.lab.scripts import Reply, Seen

# LiteLLM warns of its own types, and of what it deprecates itself.
pytestmark = pytest.mark.filterwarnings("ignore")

WORDS = "The harbour office moved the crane to berth {n}; the invoice of ship {n} is due on day {n}. " * 3
LIMIT = 3_000
CALLS = 32
"""Calls of which the last twelve would be refused; the end-to-end test makes sixty."""

FORMS: dict[str, Callable[[int], Reply]] = {
    "told": lambda tokens: Reply.over_window(tokens, LIMIT),
    "anthropic": lambda tokens: Reply.bad_request(f"prompt is too long: {tokens} tokens > {LIMIT} maximum"),
    "bare": lambda tokens: Reply.bad_request("Input is too long for requested model."),
    "unheard": lambda tokens: Reply.failing(413, "Das passt nicht.", kind="invalid_request_error"),
    "code": lambda tokens: Reply.bad_request("Nope.", code="context_length_exceeded"),
}


class Limited:
    """A model of ``LIMIT`` tokens that refuses in one of the forms."""

    def __init__(self, form: str = "told", limit: int = LIMIT) -> None:
        self.refuse, self.limit = FORMS[form], limit
        self.refused: list[Seen] = []

    def __call__(self, seen: Seen) -> Reply | Awaitable[Reply]:
        if seen.tokens > self.limit:
            self.refused.append(seen)
            return self.refuse(seen.tokens)
        return Reply(text="an answer")


@pytest.fixture
def served(upstream: Upstream) -> Iterator[Upstream]:
    """The fake provider, for this test alone."""
    upstream.reset()
    yield upstream
    upstream.reset()


def growing(calls: int) -> list[list[dict[str, str]]]:
    """The requests of a conversation that grows by one exchange a call."""
    talk: list[dict[str, str]] = []
    requests = []
    for n in range(calls):
        talk.append({"role": "user", "content": f"Question {n}: " + WORDS.format(n=n)})
        requests.append(list(talk))
        talk.append({"role": "assistant", "content": f"Answer {n}. " + WORDS.format(n=n)})
    return requests


LONG = growing(40)[-1]


class Logged(CustomLogger):
    """What LiteLLM logs of calls."""

    def __init__(self) -> None:
        super().__init__()
        # LiteLLM takes two of a class that look alike for one.
        self.name = str(uuid.uuid4())
        self.events: list[str] = []

    async def async_log_success_event(self, *given: Any, **named: Any) -> None:
        self.events.append("success")

    async def async_log_failure_event(self, *given: Any, **named: Any) -> None:
        self.events.append("failure")


class TestMustHold:
    """Of growing calls none is refused, whatever is declared, and whatever the refusal says."""

    @pytest.mark.parametrize(
        ("declared", "stream", "form"),
        [
            (8_000, False, "told"),
            (200_000, True, "told"),
            (None, False, "told"),
            (8_000, True, "anthropic"),
            (None, True, "bare"),
            (200_000, False, "bare"),
            (8_000, False, "unheard"),
            (8_000, False, "code"),
        ],
    )
    async def test_no_client_sees_a_refusal(
        self, hosts: Callable[..., Host], served: Upstream, declared: int | None, stream: bool, form: str
    ) -> None:
        model = Limited(form)
        served.default = model
        gateway = Gateway(hosts(), [deployment(served.url, declared)])
        for messages in growing(CALLS):
            assert await gateway.ask(messages, stream=stream) == "an answer"
        assert gateway.failed == []
        assert len(model.refused) == 1
        assert len(served.requests) == CALLS + len(model.refused)

    @pytest.mark.parametrize("form", ["told", "bare"])
    async def test_nor_where_the_first_request_is_the_largest(
        self, hosts: Callable[..., Host], served: Upstream, form: str
    ) -> None:
        model = Limited(form)
        served.default = model
        gateway = Gateway(hosts(), [deployment(served.url, 200_000)])
        for messages in growing(66)[60:]:
            assert await gateway.ask(messages) == "an answer"
        assert len(model.refused) <= 2


class TestOneCall:
    """What becomes of one call that is refused."""

    async def test_a_request_whose_smallest_view_is_refused_ends_in_the_provider_s_refusal(
        self, hosts: Callable[..., Host], served: Upstream
    ) -> None:
        model = Limited("told", limit=0)
        served.default = model
        gateway = Gateway(hosts(), [deployment(served.url, 8_000)])
        assert await gateway.ask(LONG) is None
        sizes = [seen.tokens for seen in model.refused]
        assert len(sizes) <= 3 and sizes == sorted(sizes, reverse=True)
        [error] = gateway.failed
        assert isinstance(error, ContextWindowExceededError) and "maximum context length" in str(error)

    async def test_a_prompt_of_one_message_is_not_asked_again(
        self, hosts: Callable[..., Host], served: Upstream
    ) -> None:
        model = Limited()
        served.default = model
        gateway = Gateway(hosts(), [deployment(served.url, 8_000)])
        paste = [{"role": "user", "content": "word " * 5_000}]
        assert await gateway.ask(paste) is None
        assert len(model.refused) == 1
        assert await gateway.ask(growing(3)[-1]) == "an answer"

    async def test_an_answer_that_is_longer_than_the_window_is_not_asked_again(
        self, hosts: Callable[..., Host], served: Upstream
    ) -> None:
        model = Limited("told", limit=0)
        served.default = model
        gateway = Gateway(hosts(), [deployment(served.url, 8_000)])
        assert await gateway.ask(LONG, max_tokens=LIMIT) is None
        assert len(model.refused) == 1

    async def test_another_refusal_is_not_asked_again(
        self, hosts: Callable[..., Host], served: Upstream
    ) -> None:
        served.default = lambda seen: Reply.bad_request("Invalid value: 'developer'.")
        gateway = Gateway(hosts(), [deployment(served.url, 8_000)])
        assert await gateway.ask(LONG) is None
        [error] = gateway.failed
        assert isinstance(error, BadRequestError) and len(served.requests) == 1

    @pytest.mark.parametrize("mode", ["observe", "off"])
    async def test_what_is_not_rewritten_is_not_asked_again(
        self, hosts: Callable[..., Host], served: Upstream, mode: str
    ) -> None:
        served.default = Limited()
        gateway = Gateway(hosts(mode=mode), [deployment(served.url, 8_000)])
        assert await gateway.ask(LONG) is None
        assert len(served.requests) == 1

    async def test_it_is_logged_once(self, hosts: Callable[..., Host], served: Upstream) -> None:
        served.default = Limited()
        gateway = Gateway(hosts(), [deployment(served.url, 8_000)])
        logged = Logged()
        gateway.beside = [logged]
        router = gateway.host.router
        assert await gateway.ask(LONG) == "an answer"
        await until(lambda: bool(logged.events), "LiteLLM to log the call")
        assert logged.events == ["success"]
        metadata = gateway.metadata
        assert metadata.get("attempted_retries", 0) == metadata.get("attempted_fallbacks", 0) == 0
        assert sum(router.fail_calls.values()) == 0 and sum(router.success_calls.values()) == 1
        assert await router.cooldown_cache.async_get_active_cooldowns([], None) == []

    async def test_a_final_refusal_is_logged_once(self, hosts: Callable[..., Host], served: Upstream) -> None:
        served.default = Limited("told", limit=0)
        gateway = Gateway(hosts(), [deployment(served.url, 8_000)])
        for messages in (LONG, [{"role": "user", "content": "word " * 5_000}]):
            logged = Logged()
            gateway.beside = [logged]
            assert await gateway.ask(messages) is None
            await until(partial(bool, logged.events), "LiteLLM to log the call")
            assert logged.events == ["failure"]

    async def test_the_answer_tells_of_what_was_sent(
        self, hosts: Callable[..., Host], served: Upstream, caplog: pytest.LogCaptureFixture
    ) -> None:
        served.default = Limited()
        gateway = Gateway(hosts(), [deployment(served.url, 8_000)])
        with caplog.at_level(logging.WARNING, "gateway_compaction"):
            assert await gateway.ask(LONG) == "an answer"
        assert gateway.told["x-compaction"] == "fallback"
        assert gateway.told["x-compaction-reason"].endswith("; asked again after a refusal")
        sent = served.requests[-1]
        assert sent.tokens < LIMIT and len(sent.messages) < len(LONG)
        assert "refused for length: deployment=gpt-4o-of-8000 openai/gpt-4o-of-8000" in caplog.text
        assert f"limit={LIMIT}" in caplog.text and "declared=8000 window=3000" in caplog.text


class TestAfterARestart:
    """What an earlier process learned is known to the first call of the next one."""

    @pytest.fixture
    async def model(self, hosts: Callable[..., Host], served: Upstream, quiet_server: RedisServer) -> Limited:
        """A model whose window a process has learned, which is gone."""
        served.default = model = Limited()
        quiet_server.flush()
        gateway = Gateway(hosts(redis_url=quiet_server.url), [deployment(served.url, 8_000)])
        assert await gateway.ask(LONG) == "an answer" and len(model.refused) == 1
        model.refused.clear()
        return model

    @pytest.mark.parametrize("late", [0.0, 0.3])
    async def test_the_first_call_waits_for_it(
        self,
        hosts: Callable[..., Host],
        served: Upstream,
        quiet_server: RedisServer,
        model: Limited,
        late: float,
    ) -> None:
        async with Forwarder(quiet_server.port) as road:
            road.delay = (late, late)
            gateway = Gateway(hosts(redis_url=road.url), [deployment(served.url, 8_000)])
            assert await gateway.ask(LONG) == "an answer"
        assert model.refused == []

    async def test_a_store_that_does_not_answer_then_costs_a_refusal_that_no_client_sees(
        self, hosts: Callable[..., Host], served: Upstream, model: Limited
    ) -> None:
        nobody = hosts(redis_url=f"redis://127.0.0.1:{free_port()}", redis_seconds=0.04)
        gateway = Gateway(nobody, [deployment(served.url, 8_000)])
        assert await gateway.ask(LONG) == "an answer"
        assert len(model.refused) == 1 and gateway.failed == []


class TestFallbacks:
    """LiteLLM's own way out, and ours."""

    @pytest.fixture
    def models(self, served: Upstream) -> list[dict[str, Any]]:
        small, large = Limited(), Limited(limit=100_000)
        served.scripts = {"gpt-4o-limited": small, "gpt-4o-large": large}
        large_one = {**deployment(served.url, 128_000, "gpt-4o-large"), "model_name": "large"}
        return [deployment(served.url, 8_000, "gpt-4o-limited"), large_one]

    @pytest.mark.parametrize(
        ("policy", "asked"),
        [
            ("fallback", ["gpt-4o-limited", "gpt-4o-large"]),
            ("compact", ["gpt-4o-limited", "gpt-4o-limited"]),
            ("pass", ["gpt-4o-limited", "gpt-4o-large"]),
        ],
    )
    async def test_the_policy_says_which_comes_first(
        self, hosts: Callable[..., Host], served: Upstream, models: list[Any], policy: str, asked: list[str]
    ) -> None:
        gateway = Gateway(hosts(length_refusals=policy), models)
        gateway.host.router.context_window_fallbacks = [{"chat": ["large"]}]
        assert await gateway.ask(LONG) == "an answer"
        assert [seen.model for seen in served.requests] == asked

    async def test_a_request_brings_its_own(
        self, hosts: Callable[..., Host], served: Upstream, models: list[Any]
    ) -> None:
        gateway = Gateway(hosts(), models)
        assert await gateway.ask(LONG, context_window_fallbacks=[{"chat": ["large"]}]) == "an answer"
        assert [seen.model for seen in served.requests] == ["gpt-4o-limited", "gpt-4o-large"]

    async def test_fallbacks_for_failures_come_after_us(
        self, hosts: Callable[..., Host], served: Upstream, models: list[Any]
    ) -> None:
        gateway = Gateway(hosts(), models)
        gateway.host.router.fallbacks = [{"chat": ["large"]}]
        assert await gateway.ask(LONG) == "an answer"
        assert [seen.model for seen in served.requests] == ["gpt-4o-limited"] * 2

    async def test_none_is_passed_on_to_nobody(
        self, hosts: Callable[..., Host], served: Upstream, models: list[Any]
    ) -> None:
        gateway = Gateway(hosts(length_refusals="pass"), models)
        assert await gateway.ask(LONG) is None
        assert [seen.model for seen in served.requests] == ["gpt-4o-limited"]
        assert await gateway.ask(LONG) == "an answer", "what was learned holds all the same"


class TestUnknownWindow:
    """The policy's ``unknown_window``."""

    @pytest.mark.parametrize(
        ("policy", "refused", "answered"), [("learn", 1, True), ("leave", 1, False), (2_000, 0, True)]
    )
    async def test_of_a_request_that_is_too_long(
        self, hosts: Callable[..., Host], served: Upstream, policy: Any, refused: int, answered: bool
    ) -> None:
        model = Limited()
        served.default = model
        gateway = Gateway(hosts(unknown_window=policy), [deployment(served.url, None)])
        assert (await gateway.ask(LONG) is not None) is answered
        assert len(model.refused) == refused
        model.refused.clear()
        assert (await gateway.ask(LONG) is not None) is answered
        assert len(model.refused) == (0 if answered else 1)


class TestWindowsAndCounts:
    """Two kinds of knowledge."""

    def refused(self, decision: Any, refusal: LengthRefusal, **more: Any) -> RefusedCall:
        facts = ModelFacts(2_000, "gpt-4o", "d")
        return RefusedCall(decision, decision, facts, refusal, **more)

    async def test_a_refusal_does_not_touch_the_count(self, rig: Rig) -> None:
        decision = await rig.decide(chat(31))
        await rig.refusals.learn(self.refused(decision, LengthRefusal(1_000)))
        assert rig.counter.calibration.factor("gpt-4o") == 1.0
        assert rig.parts.windows.window("d", 2_000, rig.parts.clock()) == 1_000
        await rig.settle()
        assert [one.told for one in (await rig.redis.windows()).values()] == [1_000]

    async def test_a_count_that_is_too_low_is_allowed_for(self, rig: Rig) -> None:
        decision = await rig.decide(chat(31))
        ours = rig.counter.raw_prompt_tokens(decision.sent, {}, "gpt-4o")
        told = LengthRefusal(2_000, counted=2 * ours)
        again = await rig.refusals.plan_again(self.refused(decision, told))
        assert again is not None and 2 * rig.counter.raw_prompt_tokens(again.sent, {}, "gpt-4o") < 2_000

    async def test_room_is_made_for_an_answer_that_is_longer_than_half_of_the_window(self, rig: Rig) -> None:
        decision = await rig.decide(chat(31), body={"max_tokens": 1_300})
        refused = self.refused(decision, LengthRefusal(2_000, requested=2_600))
        again = await rig.refusals.plan_again(refused)
        assert again is not None and rig.counter.raw_prompt_tokens(again.sent, {}, "gpt-4o") <= 700

    async def test_what_images_explain_teaches_no_bound(self, rig: Rig) -> None:
        image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}}
        decision = await rig.decide([*chat(30), {"role": "user", "content": [image]}])
        await rig.refusals.learn(self.refused(decision, LengthRefusal()))
        assert rig.parts.windows.window("d", 2_000, rig.parts.clock()) == 2_000

    @pytest.mark.parametrize("body", [{"max_tokens": 1_500}, {"max_completion_tokens": 99_000}])
    async def test_nor_does_a_long_answer_asked_for(self, rig: Rig, body: dict[str, Any]) -> None:
        decision = await rig.decide(chat(12), body=body)
        await rig.refusals.learn(self.refused(decision, LengthRefusal()))
        assert rig.parts.windows.window("d", 2_000, rig.parts.clock()) == 2_000

    async def test_nor_does_a_history_that_the_provider_keeps(self, rig: Rig) -> None:
        decision = await rig.decide(chat(12), left_alone="kept")
        await rig.refusals.learn(self.refused(decision, LengthRefusal()))
        assert rig.parts.windows.window("d", 2_000, rig.parts.clock()) == 2_000

    async def test_nor_do_bytes(self, rig: Rig) -> None:
        decision = await rig.decide(chat(31))
        await rig.refusals.learn(self.refused(decision, LengthRefusal(in_tokens=False)))
        assert rig.parts.windows.window("d", 2_000, rig.parts.clock()) == 2_000

    async def test_nor_does_a_small_request(self, rig: Rig) -> None:
        decision = await rig.decide(chat(3, words=20))
        await rig.refusals.learn(self.refused(decision, LengthRefusal()))
        assert rig.parts.windows.window("d", 2_000, rig.parts.clock()) == 2_000

    async def test_a_bypassed_session_is_compacted_all_the_same(self, rig: Rig) -> None:
        decision = await rig.call(chat(61))
        rig.local.set_bypass(decision.session, "refused", 300.0)  # type: ignore[arg-type]
        bypassed = await rig.decide(chat(61))
        assert bypassed.outcome == "bypassed"
        again = await rig.refusals.plan_again(self.refused(bypassed, LengthRefusal(2_000)))
        assert again is not None and again.messages is not None

    async def test_the_smallest_window_of_a_group_is_what_was_learned(self, rigs: Callable[..., Rig]) -> None:
        both = tuple(ModelFacts(window, f"m-{window}", f"d-{window}") for window in (2_000, 9_000))

        class Group(Fixed):
            def facts(self, model: str) -> ModelFacts:
                return ModelFacts(2_000, "m-2000", deployments=both)

        rig = rigs(models=Group(None))
        policy = rig.book.resolve(rig.request([]).identity)
        for deployment_of, window in (("d-9000", 2_000), ("d-9000", 1_500)):
            rig.parts.windows.refuse(deployment_of, window, None, rig.parts.clock(), LearnedWindow())
            found = rig.compactor.windows.find_model("g", policy)
            assert found is not None and found.window == min(2_000, window)


async def test_summaries_are_asked_for_within_what_chats_have_learned(rig: Rig) -> None:
    models = LearnedModels(Fixed(200_000, unheard=None), rig.parts)
    assert models.facts("m").window == 200_000 and models.facts("unheard").window is None
    for name in ("m", "unheard"):
        rig.parts.windows.refuse(name, 3_000, None, rig.parts.clock(), LearnedWindow())
        assert models.facts(name).window == 3_000 and models.facts(name).name == name


async def test_without_litellm_s_word_for_it_the_call_is_asked_again_all_the_same(
    hosts: Callable[..., Host], served: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    import litellm._internal_context as context

    monkeypatch.delattr(context, "resent_on")
    served.default = Limited()
    gateway = Gateway(hosts(), [deployment(served.url, 8_000)])
    assert await gateway.ask(LONG) == "an answer"


@pytest.mark.parametrize("name", FUNCTIONS.values())
def test_each_of_litellm_s_functions_is_stood_in_for_once(name: str) -> None:
    function = getattr(litellm, name)
    assert getattr(function, MARK) and not getattr(function.__wrapped__, MARK, False)
    assert function.__name__ == function.__wrapped__.__name__ == name
