"""One conversation from its first call to its third summary, call by call."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import Any

import pytest

from gateway_compaction.engine.request import Decision, Planned, Untouched
from gateway_compaction.ports import ModelFacts
from tests.engine.histories import chat, grown, loop
from tests.engine.rig import Fixed, Rig, events
from tests.lab.validity import violations

WINDOW = 2_000
MEDIUM = 0.85 * WINDOW


def sent(decision: Decision) -> list[Any]:
    """What goes upstream."""
    return list(decision.messages if decision.messages is not None else decision.request.messages)


async def told(rig: Rig, messages: list[Any], **more: Any) -> list[Decision]:
    """Every call of a conversation, the background finished after each."""
    return [await rig.call(call, **more) for call in grown(messages)]


class TestChat:
    """Ninety messages of chat in a window of two thousand tokens."""

    async def test_it_is_prepared_then_used_then_extended(self, rig: Rig) -> None:
        calls = await told(rig, chat(89))
        outcomes = [c.outcome for c in calls]
        first = outcomes.index("prepared")
        assert set(outcomes[:first]) == {"none"}
        applied = outcomes.index("applied")
        assert first < applied and set(outcomes[applied:]) == {"applied"}
        prepared = calls[first].plan
        assert prepared is not None and prepared.level == "light"
        tokens = [c.tokens_after for c in calls[applied:]]
        assert all(t is not None and t < MEDIUM for t in tokens)
        versions = [c.version for c in calls[applied:]]
        assert versions == sorted(versions, key=lambda v: v or 0) and set(versions) == {1, 2, 3, 4}
        assert len(rig.summarizer.requests) == 4

    async def test_raw_is_sent_until_medium_though_a_summary_is_ready(self, rig: Rig) -> None:
        for call in await told(rig, chat(89)):
            if not isinstance(call, Untouched) and call.plan.tokens_before < MEDIUM:
                assert call.messages is None and call.version is None
            elif not isinstance(call, Untouched):
                assert call.messages is not None

    async def test_within_an_epoch_a_request_only_grows_at_its_end(self, rig: Rig) -> None:
        calls = await told(rig, chat(89))
        epochs: dict[int | None, list[Any]] = {}
        for call in calls:
            now, before = sent(call), epochs.get(call.version)
            if before is not None:
                assert now[: len(before)] == before
            epochs[call.version] = now
        assert len(epochs) == 5

    async def test_a_summary_is_extended_not_written_anew(self, rig: Rig) -> None:
        last = (await told(rig, chat(89)))[-1]
        assert isinstance(last, Planned) and last.plan.view.compaction is not None
        used = last.plan.view.compaction
        assert [s.text[: len("Summary number")] for s in used.segments] == ["Summary number"] * 4
        assert [(s.start, s.end) for s in used.segments] == [(0, 20), (20, 38), (38, 56), (56, 74)]
        for request, base in zip(rig.summarizer.requests[1:], used.segments, strict=False):
            assert base.text not in request.user
            assert f"[{base.end}]" in request.user and f"[{base.end - 1}]" not in request.user

    async def test_untouched_messages_are_the_objects_that_came(self, rig: Rig) -> None:
        calls = await told(rig, chat(60))
        for call in calls:
            came = {id(m) for m in call.request.messages}
            strange = [m for m in sent(call) if id(m) not in came]
            assert len(strange) == (0 if call.messages is None else 2)
            assert sent(call)[0] is call.request.messages[0]
            assert sent(call)[-1] is call.request.messages[-1]
            assert not violations(sent(call), call.request.messages)

    async def test_what_happened_is_recorded_in_order(self, rig: Rig) -> None:
        calls = await told(rig, chat(60))
        session = next(c.session for c in calls if c.session)
        happened = await events(rig.redis, session)
        requests = [e for e in happened if e["type"] == "request"]
        close = [c for c in calls if c.session is not None]
        assert [e["outcome"] for e in requests] == [c.outcome for c in close]
        assert [e["tokens_before"] for e in requests] == [
            c.plan.tokens_before for c in close if not isinstance(c, Untouched)
        ]
        made = [e for e in happened if e["type"] == "summary"]
        assert [e["version"] for e in made] == [1, 2]
        assert {e["outcome"] for e in made} == {"made"}

    async def test_the_summariser_holds_nobody_up(self, rig: Rig) -> None:
        rig.summarizer.gate.clear()
        calls = [await rig.call(call, settle=False) for call in grown(chat(89))]
        assert {c.outcome for c in calls} >= {"prepared", "passthrough", "fallback"}
        for call in calls:
            assert call.tokens_after is None or call.tokens_after < WINDOW
            assert not violations(sent(call), call.request.messages)
        rig.summarizer.gate.set()
        await rig.settle()
        assert (await rig.call(chat(89))).outcome == "applied"


class TestAgent:
    """One user message and a long loop of tool calls."""

    async def test_the_loop_is_divided_and_its_opener_stays(self, rig: Rig) -> None:
        messages = loop(60)
        for call in await told(rig, messages):
            assert not violations(sent(call), call.request.messages)
            assert any(m is messages[1] for m in sent(call))
            assert (call.tokens_after or 0) < WINDOW

    async def test_old_results_are_cleared_when_nothing_is_ready(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(4_000)
        rig.summarizer.gate.clear()
        calls = [await rig.call(call, settle=False) for call in grown(loop(20, words=260))]
        cleared = next(c for c in calls if c.reason.startswith("old tool results cleared"))
        assert cleared.outcome == "fallback" and isinstance(cleared, Planned)
        assert cleared.plan.made is not None and cleared.plan.made.kind == "cleared"
        assert len(sent(cleared)) == len(cleared.request.messages)
        assert not violations(sent(cleared), cleared.request.messages)

    async def test_an_extract_is_replaced_once_by_what_a_model_writes(self, rig: Rig) -> None:
        long = chat(60)
        first = await rig.call(long)
        assert first.outcome == "fallback" and isinstance(first, Planned) and first.plan.made is not None
        assert first.plan.made.kind == "extractive"
        second = await rig.call(long)
        assert (second.outcome, second.reason) == ("applied", "model")
        assert isinstance(second, Planned) and second.plan.view.compaction is not None
        assert second.plan.view.compaction.digest == first.plan.made.digest
        for _ in range(3):
            await rig.call(long)
        assert len(rig.summarizer.requests) == 1

    async def test_an_extract_stays_while_it_fits_and_a_models_summary_follows(
        self, rigs: Callable[..., Rig]
    ) -> None:
        """The prefix breaks once for each of them, though the history jumped over the window."""
        rig = rigs(WINDOW, {"levels": {}})
        calls = [await rig.call(call) for call in grown(chat(159)) if len(call) >= 60]
        shown = [c.plan.view.compaction for c in calls if isinstance(c, Planned)]
        assert len(shown) == len(calls) and None not in shown
        kinds = [(c.kind, c.covers) for c in shown if c is not None]
        epochs = [one for one, _ in groupby(kinds)]
        assert [kind for kind, _ in epochs] == ["extractive", *["model"] * (len(epochs) - 1)]
        assert len(set(epochs)) == len(epochs) >= 3
        assert kinds.count(epochs[0]) >= kinds.count(epochs[1]) >= 5
        made = len(rig.summarizer.requests)
        assert len(epochs) - 1 <= made <= len(epochs)

    async def test_what_is_not_stored_yet_has_no_version(self, rig: Rig) -> None:
        assert (await rig.decide(chat(60))).version is None


class TestRecall:
    """Passages of covered messages before the user message that needs them."""

    async def test_they_stay_where_they_are_within_an_epoch(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(4_000, {"recall": {"max_tokens": "auto"}})
        said = chat(159, words=80)
        wanted = "The vault in Zurich opens with the code QX-7731."
        said[1::2] = [{"role": "user", "content": "Go on."} for _ in said[1::2]]
        said[7] = {"role": "user", "content": wanted}
        for place in range(69, 160, 10):
            said[place] = {"role": "user", "content": f"Which code opens the vault in Zurich? ({place})"}
        epochs: dict[int | None, list[Any]] = {}
        recalled = 0
        for call in await told(rig, said):
            now, before = sent(call), epochs.get(call.version)
            assert before is None or now[: len(before)] == before
            epochs[call.version] = now
            recalled += any(wanted in str(m["content"]) for m in now[3:]) and call.messages is not None
            assert not violations(now, call.request.messages)
            assert (call.tokens_after or 0) < 4_000
        assert recalled > 3 and len(epochs) > 2


class TestWindows:
    """The same conversation, sent to larger and smaller models."""

    async def test_a_larger_window_gets_the_whole_history_back(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(models=Fixed(WINDOW, large=50_000, small=100_000))
        await told(rig, chat(59))
        small, large = await rig.call(chat(59)), await rig.call(chat(59), model="large")
        assert small.outcome == "applied" and small.messages is not None
        assert large.outcome == "none" and large.messages is None
        assert (await rig.call(chat(59))).version == small.version

    async def test_a_smaller_deployment_is_fitted_again_without_the_store(self, rig: Rig) -> None:
        await told(rig, chat(59))
        decision = await rig.decide(chat(59))
        trips = rig.redis.connection.round_trips
        again = await rig.compactor.refit(decision, ModelFacts(WINDOW // 3, "gpt-4o"))
        assert rig.redis.connection.round_trips == trips
        assert again.messages is not None and again.tokens_after is not None
        assert again.tokens_after < WINDOW // 3 < (decision.tokens_after or 0)
        assert not violations(again.messages, decision.request.messages)

    @pytest.mark.parametrize("strange", [5, {"content": "no role"}])
    async def test_what_cannot_be_read_is_fitted_to_nothing(self, rig: Rig, strange: Any) -> None:
        decision = await rig.decide([strange, *chat(5)])
        again = await rig.compactor.refit(decision, ModelFacts(160, "gpt-4o"))
        assert (again.outcome, again.reason, again.messages) == ("none", decision.reason, None)
        assert decision.reason

    async def test_a_quiet_request_is_fitted_too(self, rig: Rig) -> None:
        decision = await rig.decide(chat(5, words=20))
        assert isinstance(decision, Untouched)
        again = await rig.compactor.refit(decision, ModelFacts(160, "gpt-4o"))
        assert again.messages is not None and again.session is not None
        assert again.tokens_after is not None and again.tokens_after <= 160

    @pytest.mark.parametrize("facts", [ModelFacts(None, "gpt-4o"), ModelFacts(500, "gpt-4o")])
    async def test_nothing_is_fitted_where_only_observed(
        self, rigs: Callable[..., Rig], facts: ModelFacts
    ) -> None:
        mode = "enforce" if facts.window is None else "observe"
        rig = rigs(WINDOW, {"mode": mode})
        decision = await rig.decide(chat(29))
        assert await rig.compactor.refit(decision, facts) is decision

    async def test_what_was_shortened_for_a_smaller_window_is_none_for_a_larger(
        self, rigs: Callable[..., Rig]
    ) -> None:
        rig = rigs(models=Fixed(3_200, small=100_000, tiny=1_000))
        rig.summarizer.gate.clear()
        tiny = await rig.call(chat(55), model="tiny", settle=False)
        assert tiny.outcome == "fallback" and (tiny.tokens_after or 0) <= 1_000
        large = await rig.call(chat(55), settle=False)
        assert (large.outcome, large.messages) == ("passthrough", None)
        assert (await rig.call(chat(55), model="tiny", settle=False)).messages == tiny.messages

    async def test_a_bypassed_session_stays_bypassed_in_a_smaller_deployment(self, rig: Rig) -> None:
        decision = await rig.decide(chat(59))
        assert decision.session is not None
        await rig.redis.bypass(decision.session, "refused", 60)
        decision = await rig.decide(chat(59))
        assert (decision.outcome, decision.reason) == ("bypassed", "refused")
        again = await rig.compactor.refit(decision, ModelFacts(WINDOW // 3, "gpt-4o"))
        assert again.outcome == "bypassed" and again.messages is None


class TestTriggers:
    """What starts a summary besides the usage of the window."""

    async def test_turns_are_summarised_in_blocks_and_used(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(100_000, {"preset": "turns"})
        calls = await told(rig, chat(25))
        assert [c.outcome for c in calls][:5] == ["none", "none", "none", "applied", "applied"]
        last = calls[-1]
        assert isinstance(last, Planned) and last.plan.view.compaction is not None
        assert [(s.start, s.end) for s in last.plan.view.compaction.segments] == [
            (0, 6), (6, 12), (12, 18), (18, 24)
        ]  # fmt: skip

    @pytest.mark.parametrize("window", [1_000, 2_000, 100_000])
    async def test_what_is_told_is_what_was_sent(self, rigs: Callable[..., Rig], window: int) -> None:
        """With its quotes a view may be no smaller than what came: then that is sent, and told."""
        triggers = {"tokens": 100, "then": "apply"}
        rig = rigs(window, {"triggers": triggers, "recall": {"max_tokens": 400}})
        found = set()
        for sent in grown(chat(41)):
            question = {"role": "user", "content": f"What was said in {sent[-3 % len(sent)]['content']}?"}
            decision = await rig.call([*sent[:-1], question])
            rewritten = decision.messages is not None
            assert rewritten == (decision.outcome in ("applied", "fallback"))
            if not isinstance(decision, Untouched):
                before, after = decision.tokens_before, decision.tokens_after
                assert after is None or (after < before if rewritten else after == before)
            found.add(decision.outcome)
        assert {"none", "applied"} <= found

    async def test_tokens_may_only_prepare(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(100_000, {"triggers": {"tokens": 600}})
        calls = await told(rig, chat(41))
        assert {c.outcome for c in calls} == {"none", "prepared"}
        assert all(c.messages is None for c in calls)
        assert len(rig.summarizer.requests) >= 2


class TestWaiting:
    """A team may let a request wait for the model."""

    async def test_a_request_waits_for_its_summary(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(WINDOW, {"levels": {"aggressive": {"wait_seconds": 10}}})
        decision = await rig.call(chat(60))
        assert (decision.outcome, decision.reason, decision.version) == ("applied", "model", 1)
        assert len(rig.summarizer.requests) == 1

    async def test_and_goes_on_without_it_when_it_is_late(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(WINDOW, {"levels": {"aggressive": {"wait_seconds": 0.05}}})
        rig.summarizer.gate.clear()
        decision = await rig.decide(chat(60))
        assert decision.outcome == "fallback" and decision.messages is not None
        rig.summarizer.gate.set()
        await rig.settle()
        assert (await rig.call(chat(60))).reason == "model"

    async def test_a_failing_summary_is_not_waited_for_twice(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(WINDOW, {"levels": {"aggressive": {"wait_seconds": 10}}})
        rig.summarizer.answers = ["", "", "", ""]
        decision = await rig.call(chat(60))
        assert decision.outcome == "fallback" and "empty" in decision.reason
        assert len(rig.summarizer.requests) == 1

    async def test_triggered_requests_wait_too(self, rigs: Callable[..., Rig]) -> None:
        triggers = {"tokens": 600, "then": "apply", "wait_seconds": 10}
        rig = rigs(100_000, {"triggers": triggers})
        assert (await rig.call(chat(31))).outcome == "applied"
