"""From a task to a compaction: who is asked what, how often, and what is believed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from gateway_compaction.core.policy.book import PolicyBook
from gateway_compaction.core.records.compaction import Compaction, Segment
from gateway_compaction.engine.request import Planned
from gateway_compaction.engine.summary_pipeline import SummaryPipeline
from gateway_compaction.engine.summary_task import SummaryTask
from gateway_compaction.errors import (
    SummaryDenied,
    SummaryError,
    SummaryLimited,
    SummaryRejected,
    SummaryTimeout,
    SummaryTooLong,
)
from gateway_compaction.ports import SummaryAnswer, SummaryRequest
from tests.engine.histories import chat, grown
from tests.engine.rig import Fixed, Rig

RUSSIAN = " ".join(["Пользователь хочет заменить насос и живёт в Гулле."] * 5)
DOWN = SummaryError("small: ServiceUnavailableError")


async def task(rig: Rig, messages: int = 31, name: str = "chat") -> SummaryTask:
    """The summary that a conversation near its window asks for."""
    decision = await rig.decide(chat(messages, name))
    assert isinstance(decision, Planned)
    wanted = SummaryTask.from_decision(decision)
    assert wanted is not None
    return wanted


def asked(rig: Rig) -> list[str]:
    """The models that were asked, in order."""
    return [request.model for request in rig.summarizer.requests]


class Narrow:
    """A summariser that refuses what is longer than its window, in characters of four to a token."""

    def __init__(self, window: int, *, tells: bool) -> None:
        self.window, self.told = window, window if tells else None
        self.refused, self.answered = list[int](), list[int]()

    async def complete(self, request: SummaryRequest) -> SummaryAnswer:
        """Answer, or refuse as a provider does."""
        tokens = len(request.system + request.user) // 4 + request.max_tokens
        if tokens > self.window:
            self.refused.append(tokens)
            raise SummaryTooLong("small: the question is too long", self.told)
        self.answered.append(tokens)
        return SummaryAnswer("<summary>It went well.</summary>", "stop", request.model)


class TestTooLong:
    """A question that is too long teaches the summariser's window, and shorter ones are asked."""

    @pytest.mark.parametrize("tells", [True, False])
    async def test_shorter_ones_are_asked_and_the_window_is_remembered(self, rig: Rig, tells: bool) -> None:
        model = Narrow(2_000, tells=tells)
        pipeline = SummaryPipeline(model, rig.models, rig.executor, rig.clock, 0.0)
        wanted = await task(rig)
        assert (await pipeline.make_summary(wanted)).text == "It went well."
        assert 1 <= len(model.refused) <= 2 and model.answered
        before = len(model.refused)
        await pipeline.make_summary(wanted)
        assert len(model.refused) == before
        assert not pipeline.paused_models

    async def test_it_does_not_go_on_for_ever(self, rig: Rig) -> None:
        model = Narrow(10, tells=False)
        pipeline = SummaryPipeline(model, rig.models, rig.executor, rig.clock, 0.0)
        with pytest.raises(SummaryTooLong):
            await pipeline.make_summary(await task(rig))
        assert len(model.refused) <= 3 and sorted(model.refused, reverse=True) == model.refused


class TestRetries:
    """What is transient is tried again; what is final is not."""

    async def test_a_transient_error_is_tried_again_twice(self, rig: Rig) -> None:
        rig.summarizer.answers = [DOWN, DOWN, "<summary>It went well.</summary>"]
        made = await rig.pipeline.make_summary(await task(rig))
        assert made.text == "It went well." and len(asked(rig)) == 3

    async def test_and_no_more(self, rig: Rig) -> None:
        rig.summarizer.answers = [DOWN] * 4
        with pytest.raises(SummaryError, match="ServiceUnavailable"):
            await rig.pipeline.make_summary(await task(rig))
        assert len(asked(rig)) == 3

    async def test_pauses_grow(self, rig: Rig) -> None:
        pipeline = SummaryPipeline(rig.summarizer, rig.models, rig.executor, rig.clock, 0.05)
        rig.summarizer.answers = [DOWN, DOWN, "<summary>It went well.</summary>"]
        wanted = await task(rig)
        started = asyncio.get_running_loop().time()
        await pipeline.make_summary(wanted)
        assert asyncio.get_running_loop().time() - started >= 0.15

    @pytest.mark.parametrize(
        "error",
        [
            SummaryLimited("rate limited"),
            SummaryRejected("the answer is empty"),
            SummaryTimeout("did not answer"),
            SummaryDenied("no budget left"),
        ],
    )
    async def test_a_final_error_is_not_tried_again(self, rig: Rig, error: SummaryError) -> None:
        rig.summarizer.answers = [error]
        with pytest.raises(type(error), match=str(error)):
            await rig.pipeline.make_summary(await task(rig))
        assert len(asked(rig)) == 1


class TestFallbacks:
    """Other models, in the order of the policy."""

    @pytest.fixture
    def rig(self, rigs: Callable[..., Rig]) -> Rig:
        windows = dict.fromkeys(("small", "second", "third"), 100_000)
        summary = {"model": "small", "fallbacks": ["second", "third"]}
        return rigs(2_000, {"summary": summary}, models=Fixed(2_000, **windows))

    async def test_they_are_asked_in_order(self, rig: Rig) -> None:
        rig.summarizer.answers = [
            SummaryDenied("no"),
            SummaryLimited("later"),
            "<summary>The third wrote this.</summary>",
        ]
        made = await rig.pipeline.make_summary(await task(rig))
        assert asked(rig) == ["small", "second", "third"]
        assert (made.text, made.model) == ("The third wrote this.", "third")

    async def test_the_last_error_is_told_when_all_fail(self, rig: Rig) -> None:
        rig.summarizer.answers = [SummaryDenied("no"), SummaryLimited("later"), SummaryRejected("empty")]
        with pytest.raises(SummaryRejected, match="empty"):
            await rig.pipeline.make_summary(await task(rig))

    async def test_null_is_the_requests_own_model(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(2_000, {"summary": {"model": None}}, models=Fixed(2_000, own=100_000))
        decision = await rig.decide(chat(31), model="gpt-4o")
        assert isinstance(decision, Planned)
        wanted = SummaryTask.from_decision(decision)
        assert wanted is not None
        await rig.pipeline.make_summary(replace(wanted, caller=replace(wanted.caller, model="own")))
        assert set(asked(rig)) == {"own"}


class TestBreaker:
    """A model that failed three times in a row is left alone for ten seconds."""

    async def test_it_opens_and_tries_again(self, rig: Rig) -> None:
        rig.summarizer.answers = [DOWN] * 3
        wanted = await task(rig)
        for _ in range(2):
            with pytest.raises(SummaryError):
                await rig.pipeline.make_summary(wanted)
        assert len(asked(rig)) == 3
        rig.clock.now += 9
        with pytest.raises(SummaryError, match="small failed 3 times in a row; not asked"):
            await rig.pipeline.make_summary(wanted)
        assert len(asked(rig)) == 3
        rig.clock.now += 1
        assert (await rig.pipeline.make_summary(wanted)).text
        assert len(asked(rig)) == 4

    async def test_one_failure_after_the_pause_opens_it_again(self, rig: Rig) -> None:
        rig.summarizer.answers = [DOWN] * 5
        wanted = await task(rig)
        with pytest.raises(SummaryError):
            await rig.pipeline.make_summary(wanted)
        rig.clock.now += 11
        for _ in range(2):
            with pytest.raises(SummaryError, match="not asked"):
                await rig.pipeline.make_summary(wanted)
        assert len(asked(rig)) == 4

    async def test_a_success_closes_it(self, rig: Rig) -> None:
        wanted = await task(rig)
        for _ in range(3):
            rig.summarizer.answers = [DOWN, DOWN, "<summary>All fine.</summary>"]
            assert (await rig.pipeline.make_summary(wanted)).text == "All fine."
        assert len(asked(rig)) == 9

    async def test_a_refusal_of_ours_says_nothing_about_the_model(self, rig: Rig) -> None:
        wanted = await task(rig)
        for _ in range(5):
            rig.summarizer.answers = [SummaryDenied("no budget left")]
            with pytest.raises(SummaryDenied):
                await rig.pipeline.make_summary(wanted)
        assert len(asked(rig)) == 5

    async def test_models_have_a_breaker_each(self, rigs: Callable[..., Rig]) -> None:
        summary = {"model": "small", "fallbacks": ["second"]}
        rig = rigs(2_000, {"summary": summary}, models=Fixed(2_000, small=100_000, second=100_000))
        rig.summarizer.answers = [DOWN] * 3
        wanted = await task(rig)
        for _ in range(2):
            assert (await rig.pipeline.make_summary(wanted)).model == "second"
        assert asked(rig) == ["small"] * 3 + ["second"] * 2


class TestBelief:
    """What is not a summary is rejected, and the previous one stays."""

    @pytest.mark.parametrize(
        ("answer", "reason"),
        [
            ("", "empty"),
            ("   \n", "empty"),
            ("<summary></summary>", "empty"),
            (SummaryAnswer("It went", "length", "small"), "length"),
            (SummaryAnswer("It went", "content_filter", "small"), "content_filter"),
            (SummaryAnswer("", "tool_calls", "small", has_tool_calls=True), "tool_calls"),
            (SummaryAnswer("calling", "stop", "small", has_tool_calls=True), "tool call"),
            ("I'm sorry, but I can't help with that.", "refusal"),
            ("I cannot summarise this conversation.", "refusal"),
            ("Error generating summary: connection reset", "refusal"),
            ('{"error": {"message": "overloaded"}}', "refusal"),
            ("Yes.", "refusal"),
            ("Your request was blocked by the content filter.", "refusal"),
            ("What would you like me to summarize?", "the answer is a question"),
            ("All went well.", "the answer says too little"),
            ("banana " * 30, "the answer says too little"),
            ("Пользователь хочет заменить насос. " * 5, "another script"),
        ],
    )
    async def test_it_is_rejected_and_the_previous_summary_stays(
        self, rig: Rig, answer: SummaryAnswer | str, reason: str
    ) -> None:
        for call in grown(chat(35)):
            before = await rig.call(call)
        assert (before.reason, before.version) == ("model", 1)
        # What was cut off is asked for once more, with more room.
        asked = 2 if reason == "length" else 1
        rig.summarizer.answers = [answer] * asked
        for call in grown(chat(51), 37):
            after = await rig.call(call)
        assert len(rig.summarizer.requests) == 1 + asked
        assert (after.outcome, after.version) == ("applied", 1) and reason in after.reason

    @pytest.mark.parametrize("answer", [RUSSIAN, f"<summary>{RUSSIAN}</summary>"])
    async def test_what_nobody_could_have_written_is_rejected(self, rig: Rig, answer: str) -> None:
        wanted = await task(rig)
        rig.summarizer.answers = [answer]
        with pytest.raises(SummaryRejected, match="another script"):
            await rig.pipeline.make_summary(wanted)
        spoken = replace(wanted, messages=(*wanted.messages, {"role": "user", "content": RUSSIAN}))
        rig.summarizer.answers = [answer]
        assert (await rig.pipeline.make_summary(spoken)).text == RUSSIAN

    async def test_what_a_summary_builds_on_is_known(self, rig: Rig) -> None:
        wanted = await task(rig)
        rig.summarizer.answers = [f"<summary>{RUSSIAN}</summary>"]
        base = Compaction("d" * 32, 4, "model", (Segment(0, 4, RUSSIAN),), 500)
        built = replace(wanted, job=replace(wanted.job, base=base))
        made = await rig.pipeline.make_summary(built)
        assert [s.text for s in made.segments] == [RUSSIAN, RUSSIAN]

    async def test_an_operators_own_prompt_may_ask_for_any_language(self, rigs: Callable[..., Rig]) -> None:
        raw = {"version": 1, "defaults": {"summary": {"model": "small", "prompt": "tax.txt"}}}
        rig = rigs(2_000, policy_book=PolicyBook(raw, "p.yaml", None, lambda name: "write in Russian"))
        rig.summarizer.answers = [f"<summary>{RUSSIAN}</summary>"]
        assert (await rig.pipeline.make_summary(await task(rig))).text == RUSSIAN

    async def test_what_is_not_smaller_is_rejected(self, rig: Rig) -> None:
        wanted = await task(rig)
        short = replace(wanted, messages=({"role": "user", "content": "Thanks a lot!"},))
        rig.summarizer.answers = [" ".join(["word"] * 35)]
        with pytest.raises(SummaryRejected, match="not smaller"):
            await rig.pipeline.make_summary(short)

    async def test_tags_are_taken_off_and_what_is_too_long_is_shortened(self, rig: Rig) -> None:
        rig.summarizer.answers = ["Sure!\n<summary>" + "It went well. " * 300 + "</summary> Anything else?"]
        wanted = await task(rig)
        made = await rig.pipeline.make_summary(wanted)
        assert made.text.startswith("It went well.") and "Sure" not in made.text and "else" not in made.text
        assert wanted.count(made.text) <= wanted.job.block


class TestRequests:
    """What the summariser is asked."""

    async def test_the_question_is_plain_and_on_the_callers_account(self, rig: Rig) -> None:
        wanted = await task(rig)
        await rig.pipeline.make_summary(wanted)
        [request] = rig.summarizer.requests
        assert request.caller is wanted.caller and request.timeout_seconds == 60
        assert request.max_tokens > wanted.job.block / 2
        assert "[0] user wrote: chat 0:" in request.user
        assert f"[{wanted.job.covers - 1}] " in request.user and f"[{wanted.job.covers}]" not in request.user

    async def test_the_policy_has_its_say(self, rigs: Callable[..., Rig]) -> None:
        summary = {"preserve_keys": ["order_id"], "timeout_seconds": 5}
        summary |= {"message_chars": 120, "prompt": "coding"}
        rig = rigs(2_000, {"summary": summary})
        wanted = await task(rig)
        await rig.pipeline.make_summary(wanted)
        [request] = rig.summarizer.requests
        assert "Keep everything about: order_id" in request.user and "every file read" in request.user
        assert request.timeout_seconds == 5
        assert request.user.count("characters left out") == wanted.job.covers

    async def test_a_prompt_file_is_asked_with(self, rigs: Callable[..., Rig]) -> None:
        raw = {"version": 1, "defaults": {"summary": {"model": "small", "prompt": "tax.txt"}}}
        book = PolicyBook(raw, "p.yaml", None, lambda name: f"figures named in {name}")
        rig = rigs(2_000, policy_book=book)
        await rig.pipeline.make_summary(await task(rig))
        [request] = rig.summarizer.requests
        assert request.system == "" and request.user.endswith("</transcript>\n\nfigures named in tax.txt")

    async def test_costs_and_the_model_that_answered_are_kept(self, rig: Rig) -> None:
        rig.summarizer.answers = [SummaryAnswer("<summary>All fine.</summary>", "stop", "small-2026", 0.25)]
        made = await rig.pipeline.make_summary(await task(rig))
        assert (made.cost, made.model, made.parent, made.kind) == (0.25, "small-2026", None, "model")
        # Note and pins stand in the place of what is covered too.
        assert made.tokens_before > 800 and 50 < made.tokens_after < made.tokens_before / 2

    async def test_a_history_larger_than_the_summarisers_window_is_summarised_in_parts(
        self, rigs: Callable[..., Rig]
    ) -> None:
        rig = rigs(models=Fixed(2_000, small=1_500))
        texts = [f"<summary>Part {n}.</summary>" for n in range(9)]
        answers = [SummaryAnswer(t, "stop", "small", 0.1 if n != 1 else None) for n, t in enumerate(texts)]
        rig.summarizer.answers = list(answers)
        wanted = await task(rig)
        made = await rig.pipeline.make_summary(wanted)
        requests = rig.summarizer.requests
        assert len(requests) > 1
        for number, request in enumerate(requests[1:]):
            assert f"<previous_summary>\nPart {number}.\n</previous_summary>" in request.user
        assert all(wanted.count(r.system + r.user) + r.max_tokens // 2 < 1_500 for r in requests)
        shown = [n for n in range(wanted.job.covers) for r in requests if f"[{n}] " in r.user]
        assert shown == list(range(wanted.job.covers))
        assert made.text == f"Part {len(requests) - 1}." and len(made.segments) == 1
        assert made.cost == pytest.approx(0.1 * (len(requests) - 1))

    async def test_an_unknown_window_of_the_summariser_is_taken_for_a_small_one(
        self, rigs: Callable[..., Rig]
    ) -> None:
        rig = rigs(200_000, {"context_window": 60_000}, models=Fixed(None))
        wanted = await task(rig, messages=951)
        await rig.pipeline.make_summary(wanted)
        assert len(rig.summarizer.requests) > 2
        assert all(wanted.count(r.user) < 16_000 for r in rig.summarizer.requests)
