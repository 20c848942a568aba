"""What follows a call: the event, the stores, the count corrected, the session left alone."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, Literal

import pytest

from gateway_compaction.engine import offload
from gateway_compaction.engine.post_call import BYPASS_SECONDS, Ending
from gateway_compaction.engine.request import Decision, Planned
from gateway_compaction.errors import SummaryRejected
from tests.engine.histories import chat, grown
from tests.engine.rig import Fixed, Rig, events

LONG = chat(60)
ABOUT = {"team": "Legal", "key_alias": "k1"}


async def applied(rig: Rig, **more: Any) -> Decision:
    """A conversation up to a call that is sent with a model's summary; that call is not followed."""
    for call in grown(chat(35)):
        await rig.call(call, **more)
    decision = await rig.decide(chat(37), **more)
    assert decision.outcome == "applied"
    return decision


async def follow(rig: Rig, decision: Decision, ending: Ending) -> list[dict[str, Any]]:
    """What the store has recorded when all has been done."""
    rig.post_call.follow(decision, ending)
    await rig.settle()
    assert decision.session is not None
    return await events(rig.redis, decision.session)


class TestEvents:
    """One record for each decision about a request that came near a limit."""

    async def test_every_field(self, rig: Rig) -> None:
        decision = await applied(rig, model="gpt-4o")
        plan = decision.plan
        assert plan is not None and decision.messages is not None
        rig.make_post_call(rig.clock).follow(decision, Ending("answered", 900))
        await rig.settle()
        assert decision.session is not None
        assert (await events(rig.redis, decision.session))[-1] == {
            "type": "request",
            "at": 1_000.0,
            "outcome": "applied",
            "reason": "model",
            "model": "gpt-4o",
            "policy": "default",
            "endpoint": "chat",
            "tokens_before": plan.tokens_before,
            "tokens_after": decision.tokens_after,
            "window": 2_000,
            "messages_before": 38,
            "messages_after": len(decision.messages),
            "covers": 20,
            "version": 1,
        }

    async def test_labels_and_what_operators_may_know(self, rig: Rig) -> None:
        headers = {"x-session-id": "ticket-1"}
        decision = await applied(rig, headers=headers, body_labels=("chat-9",), about=ABOUT)
        assert decision.session is not None
        used = f"gwc:{{{decision.session.session_id}}}:used"
        [(digest, before)] = await rig.client.zrange(used, 0, -1, withscores=True)
        await follow(rig, decision, Ending("answered"))
        kept = await rig.client.hgetall(f"gwc:{{{decision.session.session_id}}}:session")
        assert kept[b"labels"] == b'["ticket-1","chat-9"]'
        assert (kept[b"about:team"], kept[b"about:key_alias"]) == (b"Legal", b"k1")
        assert await rig.client.zscore(used, digest) > before, "what was sent counts as used"

    async def test_nothing_is_recorded_of_a_quiet_request(self, rig: Rig) -> None:
        await rig.call(chat(15))
        assert rig.store.calls == {}

    @pytest.mark.parametrize("kind", ["cached", "disconnected", "refused"])
    async def test_how_the_call_ended_is_told(
        self, rig: Rig, kind: Literal["cached", "disconnected", "refused"]
    ) -> None:
        [*_, event] = await follow(rig, await applied(rig), Ending(kind))
        assert event["reason"] == f"model; {kind}"


class TestSummaries:
    """Which endings start the work that was planned."""

    @pytest.mark.parametrize(
        ("kind", "made"),
        [("answered", 1), ("disconnected", 1), ("cached", 0), ("refused", 0)],
    )
    async def test_only_an_answer_starts_it(
        self, rig: Rig, kind: Literal["answered", "disconnected", "cached", "refused"], made: int
    ) -> None:
        decision = await rig.call(chat(31), Ending(kind))
        assert isinstance(decision, Planned) and decision.plan.job is not None
        assert len(rig.summarizer.requests) == made

    @pytest.mark.parametrize(("kind", "kept"), [("answered", 1), ("disconnected", 1), ("cached", 0)])
    async def test_only_an_answer_keeps_an_extract(
        self, rigs: Callable[..., Rig], kind: Literal["answered", "disconnected", "cached"], kept: int
    ) -> None:
        rig = rigs()
        rig.summarizer.answers = [SummaryRejected("the answer is empty")]
        first = await rig.call(LONG, Ending(kind))
        assert first.outcome == "fallback"
        assert ("put" in rig.store.calls) == bool(kept)
        again = await rigs(redis=rig.redis).decide(LONG)
        assert again.outcome == ("applied" if kept else "fallback")
        assert again.messages == first.messages

    async def test_an_extract_is_of_the_time_of_its_call_and_sent_as_it_was(
        self, rigs: Callable[..., Rig]
    ) -> None:
        defaults = {"summary": {"model": "extractive"}}
        rig = rigs(2_000, defaults)
        first = await rig.decide(LONG)
        assert first.session is not None and first.used is not None
        assert first.used.created_at == 0.0, "what is decided depends on no clock"
        rig.make_post_call(rig.clock).follow(first, Ending("answered"))
        await rig.settle()
        [stored] = (await rig.redis.load(first.session, [first.used.digest])).compactions
        [kept] = rig.local.merge_compactions(first.session, [first.used.digest], ())
        assert (stored.created_at, kept.created_at) == (1_000.0, 1_000.0)
        for process in (rig, rigs(2_000, defaults, redis=rig.redis)):
            assert (await process.decide(LONG)).messages == first.messages

    async def test_an_extract_that_was_sent_is_sent_again_where_no_model_is_asked(
        self, rigs: Callable[..., Rig]
    ) -> None:
        rig = rigs(2_000, {"summary": {"model": "extractive"}})
        first = await rig.call(LONG)
        assert (await rig.call(LONG)).messages == first.messages


class TestCalibration:
    """The count is corrected by the usage that providers report."""

    async def test_a_report_moves_the_factor_and_is_shared(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(models=Fixed(2_000, small=100_000))
        model = "claude-x"
        before = rig.counter.calibration.factor(model)
        for messages in (chat(15), chat(21)):
            decision = await rig.decide(messages, model=model)
            counted = rig.counter.raw_prompt_tokens(messages, {}, model)
            rig.post_call.follow(decision, Ending("answered", int(counted * 1.5)))
            await rig.settle()
        after = rig.counter.calibration.factor(model)
        assert before < after < 1.5
        replica = rigs(redis=rig.redis)
        replica.counter.calibration.adopt(await replica.redis.factors())
        assert replica.counter.calibration.factor(model) == after

    async def test_it_is_compared_with_what_was_sent(self, rig: Rig) -> None:
        decision = await applied(rig)
        assert decision.messages is not None
        sent = rig.counter.raw_prompt_tokens(decision.messages, {}, "gpt-4o")
        await follow(rig, decision, Ending("answered", sent))
        assert rig.counter.calibration.factor("gpt-4o") == 1.0
        assert "save_factor" not in rig.store.calls

    @pytest.mark.parametrize(
        "ending",
        [
            Ending("answered", None),
            Ending("answered", 0),
            Ending("answered", 100_000),
            Ending("cached", 1_900),
            Ending("disconnected", 1_900),
            Ending("refused", 1_900),
        ],
    )
    async def test_what_tells_nothing_changes_nothing(self, rig: Rig, ending: Ending) -> None:
        await follow(rig, await applied(rig, model="claude-x"), ending)
        assert "save_factor" not in rig.store.calls

    async def test_a_quiet_request_is_not_counted_for_it(self, rig: Rig) -> None:
        await rig.call(chat(1), Ending("answered", 180))
        assert rig.counter.encodings == 0


class TestRefusals:
    """The upstream answered 400, 413 or 422."""

    async def test_a_rewritten_request_bypasses_its_session_everywhere(
        self, rigs: Callable[..., Rig], caplog: pytest.LogCaptureFixture
    ) -> None:
        rig = rigs()
        replica = rigs(redis=rig.redis)
        [*_, event] = await follow(rig, await applied(rig), Ending("refused"))
        assert event["reason"] == "model; refused"
        for process in (rig, replica):
            decision = await process.call(chat(41))
            assert (decision.outcome, decision.messages) == ("bypassed", None)
            assert decision.reason == "the upstream refused the rewritten request"
        assert "bypassed for 300 s" in caplog.text and BYPASS_SECONDS == 300
        other = await rig.call(chat(60, "other"))
        assert other.outcome == "fallback"

    async def test_a_bypass_that_is_refused_as_too_long_is_lifted(self, rig: Rig) -> None:
        await follow(rig, await applied(rig), Ending("refused"))
        bypassed = await rig.call(chat(61), Ending("refused", None, True))
        assert bypassed.outcome == "bypassed"
        assert (await rig.call(chat(61))).outcome in ("applied", "fallback")

    async def test_what_we_said_would_not_fit_says_nothing_about_the_count(self, rig: Rig) -> None:
        paste = [*chat(31)[:-1], {"role": "user", "content": "word " * 9_000}]
        decision = await rig.call(paste, Ending("refused", None, True))
        assert (decision.tokens_after or 0) > 2_000
        assert rig.counter.calibration.factor("gpt-4o") == 1.0

    async def test_an_untouched_request_is_refused_for_its_own_sake(self, rig: Rig) -> None:
        decision = await rig.call(chat(31), Ending("refused"))
        assert decision.messages is None and "bypass" not in rig.store.calls
        assert (await rig.call(chat(35))).outcome != "bypassed"

    async def test_too_long_corrects_the_count_instead(self, rig: Rig) -> None:
        decision = await applied(rig)
        await follow(rig, decision, Ending("refused", too_long=True))
        assert "bypass" not in rig.store.calls
        assert rig.counter.calibration.factor("gpt-4o") == 1.0
        again = await rig.decide(chat(37))
        assert again.outcome != "bypassed" and isinstance(again, Planned) and isinstance(decision, Planned)
        # As much as was sent is more than fits, so less is.
        assert again.messages is not None and decision.messages is not None
        shorter, longer = (
            rig.counter.raw_prompt_tokens(m, {}, "gpt-4o") for m in (again.messages, decision.messages)
        )
        assert shorter < longer

    async def test_so_does_too_long_of_an_untouched_request(self, rig: Rig) -> None:
        decision = await rig.call(chat(31), Ending("refused", too_long=True))
        assert decision.messages is None and isinstance(decision, Planned)
        again = await rig.decide(chat(31))
        assert isinstance(again, Planned) and again.plan.tokens_before > decision.plan.tokens_before
        assert again.messages is not None

    @pytest.mark.parametrize(("bias", "usage", "most"), [(2.2, True, 1), (2.2, False, 8), (1.5, False, 4)])
    async def test_a_provider_that_counts_more_is_learned_soon(
        self, rig: Rig, bias: float, usage: bool, most: int
    ) -> None:
        refused, calls = 0, list(grown(chat(80)))
        for call in calls:
            decision = await rig.decide(call, model="somebody-s-model")
            real = int(bias * rig.counter.raw_prompt_tokens(decision.sent, {}, "gpt-4o"))
            too_long = real > 2_000
            refused += too_long
            ending = Ending("answered", real if usage else None)
            rig.post_call.follow(decision, Ending("refused", too_long=True) if too_long else ending)
            await rig.settle()
        assert refused <= most < len(calls) / 4

    async def test_a_refit_without_a_session_is_not_bypassed(self, rig: Rig) -> None:
        decision = await rig.decide(chat(5, words=20))
        rig.post_call.follow(decision, Ending("refused"))
        await rig.settle()
        assert rig.store.calls == {}


class Broken(Executor):
    """Where all work fails."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        failed: Future[Any] = Future()
        failed.set_exception(ZeroDivisionError("by itself"))
        return failed


async def test_a_fault_in_the_background_is_told(
    rig: Rig, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What is quick is done at once, and not in the background.
    monkeypatch.setattr(offload, "LARGE_TOKENS", 0)
    decision = await rig.decide(chat(31))
    assert isinstance(decision, Planned) and decision.plan.level == "light"
    rig.background = Broken()
    rig.make_post_call().follow(decision, Ending("answered", 900))
    await rig.settle()
    faults = [r.getMessage() for r in caplog.records if r.exc_info]
    # Reading ahead; the corrected count, and the record with what the call looked like.
    assert faults == ["background work: a fault of ours", *["background write: a fault of ours"] * 2]
