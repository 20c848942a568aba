"""Levels, which view is sent, and what is said about it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_compaction.core.planning.context import SessionState, lowest_threshold
from gateway_compaction.core.planning.plan import make_plan, plan_without_store
from gateway_compaction.core.planning.views import ViewBuilder
from gateway_compaction.core.records.compaction import Clip
from tests.core.builders import Bench, policy, sent_by, stored
from tests.core.cases import Case, cases
from tests.core.scripts import script
from tests.core.search import search
from tests.core.weights import FIXED, chat, filled, loop, weighing

WINDOW = 1000
SMALL = {"summary__max_tokens": 60, "recall__max_tokens": 0, "levels__medium__keep_last": 2}


def bench(**paths: Any) -> Bench:
    """A window of a thousand tokens, summaries of sixty, no quotes."""
    return Bench(WINDOW, policy(**{**SMALL, **paths}))


def table(total: int) -> list[Any]:
    """Fifteen messages of that many tokens, the first four of a hundred each at least."""
    messages = chat(8, 100)
    rest = total - FIXED - 400
    messages[4:] = [weighing(m["role"], rest // 11) for m in messages[4:]]
    messages[-1] = weighing("user", rest - 10 * (rest // 11))
    return messages


class TestWeights:
    """The messages of these tables weigh what they say."""

    def test_exactly(self) -> None:
        assert bench().context(filled(777)).measure.total == 777
        assert bench().context(chat(3, 20)).measure.total == 103
        assert bench().calibrated_tokens(loop(1, 90)[2]) == 90


class TestLevels:
    """Usage of the window decides; each level begins at its own share."""

    @pytest.mark.parametrize(
        ("total", "level"),
        [(200, None), (749, None), (750, "light"), (849, "light"), (850, "medium"), (949, "medium")],
    )
    def test_below_aggressive_with_nothing_ready_all_is_sent(self, total: int, level: str | None) -> None:
        plan = bench().plan(filled(total))
        assert (plan.level, plan.view.compaction, plan.made) == (level, None, None)
        assert plan.view.tokens == plan.tokens_before == total

    @pytest.mark.parametrize("total", [950, 1000, 5000])
    def test_from_aggressive_on_it_is_made_to_fit(self, total: int) -> None:
        plan = bench().plan(filled(total))
        assert plan.level == "aggressive" and plan.outcome == "fallback"
        assert plan.made == plan.view.compaction and plan.view.tokens < WINDOW

    @pytest.mark.parametrize(
        ("each", "begins"), [(2 * 5, 750), (25, 750), (50, 650), (100, 450), (120, 425), (300, 425)]
    )
    def test_light_begins_earlier_where_calls_are_large(self, each: int, begins: int) -> None:
        # Two calls like the largest recent one must not jump from below light past medium.
        assert bench().context(chat(4, each)).levels.light == begins

    def test_only_recent_calls_count(self) -> None:
        messages = [*chat(3, 200), *script("text"), *chat(10, 10)]
        assert bench().context(messages).levels.light == 750

    def test_the_reserve_and_the_schemas_are_usage(self) -> None:
        reserving = bench()
        reserving.reserve = 200
        assert reserving.plan(filled(600)).level == "light"
        reserving.body = {"tools": [{"name": "word " * 300}]}
        assert reserving.plan(filled(600)).level == "aggressive"


class TestChoice:
    """Raw below medium; else the shortest cover that is; else the smallest view."""

    def plan(self, total: int, *covers: int, kinds: tuple[str, ...] = (), **paths: Any) -> Any:
        """The plan with compactions of these covers stored."""
        setup, messages = bench(**paths), table(total)
        context = setup.context(messages)
        kinds = kinds or ("model",) * len(covers)
        return setup.plan(messages, [stored(context, c, k) for c, k in zip(covers, kinds, strict=True)])

    def test_a_larger_window_gets_the_whole_history_back(self) -> None:
        assert self.plan(840, 2, 4).view.compaction is None

    def test_the_shortest_cover_that_is_enough(self) -> None:
        plan = self.plan(900, 4, 2, 6)
        assert plan.view.compaction.covers == 2
        assert (plan.outcome, plan.reason) == ("applied", "model")
        assert plan.view.tokens < 850 and plan.tokens_before == 900

    def test_a_cover_that_is_not_enough_is_passed_over(self) -> None:
        plan = self.plan(1060, 2, 4, 6, 8)
        views = {c: self.view(1060, c) for c in (2, 4, 6, 8)}
        enough = [c for c in views if views[c] < 850]
        assert views[2] >= 850 and plan.view.compaction.covers == enough[0] > 2

    def test_where_none_is_enough_the_smallest(self) -> None:
        plan = self.plan(1250, 2, 4)
        assert self.view(1250, 2) > self.view(1250, 4) >= 850
        assert plan.view.compaction.covers == 4
        assert (plan.outcome, plan.level) == ("applied", "medium")

    def view(self, total: int, covers: int) -> int:
        """What a view would weigh."""
        context = bench().context(table(total))
        return ViewBuilder(context).build_view(stored(context, covers)).tokens

    def test_a_view_that_its_quotes_make_no_smaller_is_not_sent(self) -> None:
        """Without its quotes it would be sent now, with them at the next call: the prefix would change."""
        setup = bench(recall__max_tokens=90)
        facts = [f"Gate {n} of harbour {7 * n} opens with code {4700 + n}, said Ingrid." for n in range(6)]
        talk: list[Any] = [{"role": ("user", "assistant")[i % 2], "content": f} for i, f in enumerate(facts)]
        talk.append({"role": "user", "content": "Which code opens gate 2 of harbour 14? " + "word " * 740})
        context = setup.context(talk)
        kept = stored(context, 6, text="They named the codes of all gates.")
        view = ViewBuilder(context).build_view(kept)
        assert view.tokens < context.measure.total <= ViewBuilder(context).add_quotes(view).tokens
        plan = setup.plan(talk, [kept])
        assert plan.view.compaction is None and plan.view.tokens == plan.tokens_before
        assert (plan.outcome, plan.level) == ("passthrough", "medium")
        assert plan.reason.startswith("what is ready is no smaller")

    @pytest.mark.parametrize("order", [("extractive", "model"), ("model", "extractive")])
    def test_on_a_tie_the_better_kind(self, order: tuple[str, str]) -> None:
        assert self.plan(900, 4, 4, kinds=order).view.compaction.kind == "model"

    def test_what_is_sent_is_told_from_what_is_made(self) -> None:
        assert self.plan(900, 2, kinds=("extractive",)).reason == "extractive"

    def test_an_extract_that_is_to_be_replaced_gives_way_to_a_models_text_of_as_much(self) -> None:
        extract, summary = ("extractive", "model"), ("model", "extractive")
        assert self.plan(900, 4, 6, kinds=extract).view.compaction.covers == 6
        assert self.plan(900, 4, 6, kinds=summary).view.compaction.covers == 4


class TestStaying:
    """What these calls were made to fit with stays while it fits, whatever is stored since."""

    @pytest.mark.parametrize("kind", ["extractive", "cleared"])
    @pytest.mark.parametrize("covers", [4, 6, 8])
    def test_a_models_text_waits(self, kind: str, covers: int) -> None:
        messages = table(900)
        context = bench().context(messages)
        sent = bench().context(messages[:-2]).sent
        made = replace(stored(context, 6, kind), sent_with=sent)
        kept, written = ViewBuilder(context).build_view(made), stored(context, covers)
        fits = kept.tokens < 850
        assert fits is (kind == "extractive")
        used = bench().plan(messages, [written, made]).view.compaction
        assert used == (made if fits else written)

    def test_the_latest_of_it(self) -> None:
        messages = table(900)
        context = bench().context(messages)
        made = [
            replace(stored(context, covers, "extractive"), sent_with=bench().context(messages[:end]).sent)
            for covers, end in ((4, 11), (6, 13))
        ]
        assert bench().plan(messages, made).view.compaction == made[1]

    def test_a_client_that_went_back_is_at_another_place(self) -> None:
        messages = table(900)
        context = bench().context(messages)
        later = bench().context([*messages, *chat(2, 20)]).sent
        made, written = replace(stored(context, 6, "extractive"), sent_with=later), stored(context, 4)
        assert bench().plan(messages, [written, made]).view.compaction == written

    @pytest.mark.parametrize("end", [13, 15])
    def test_in_another_branch_it_is_one_of_many(self, end: int) -> None:
        messages = table(900)
        elsewhere = [*messages[:12], *filled(300, 4, 40)][:end]
        context = bench().context(messages)
        made = replace(stored(context, 6, "extractive"), sent_with=bench().context(elsewhere).sent)
        written = stored(context, 4)
        assert bench().plan(messages, [written, made]).view.compaction == written


class TestPassedBy:
    """Reasons to leave a request alone."""

    def test_a_bypassed_session_is_sent_as_it_came(self) -> None:
        plan = bench().plan(filled(2000), bypass="the upstream refused")
        assert (plan.outcome, plan.reason, plan.level) == ("bypassed", "the upstream refused", None)
        assert plan.view.compaction is None and plan.job is None

    @pytest.mark.parametrize(
        ("rest", "why"), [({"in_flight": True}, "being made"), ({"backoff": "it failed"}, "it failed")]
    )
    @pytest.mark.parametrize("total", [800, 900, 1200])
    def test_no_job_while_one_is_made_or_the_session_backs_off(
        self, rest: dict[str, Any], why: str, total: int
    ) -> None:
        plan = bench(levels__aggressive__wait_seconds=1).plan(filled(total, 8, 40), **rest)
        assert plan.job is None and why in plan.reason

    def test_where_no_job_is_wanted_nothing_is_said_of_it(self) -> None:
        assert bench().plan(filled(100), in_flight=True).reason == bench().plan(filled(100)).reason

    def test_a_triggered_job_that_has_to_wait_is_explained(self) -> None:
        plan = bench(triggers__turns=1).plan(chat(4, 10), backoff="it failed")
        assert (plan.job, plan.outcome, plan.reason) == (None, "none", "it failed")

    def test_so_it_is_beside_a_summary_that_is_sent(self) -> None:
        messages = chat(12, 40)
        setup = bench(triggers__turns=3, triggers__then="apply")
        kept = stored(setup.context(messages), 6)
        plan = setup.plan(messages, [kept], in_flight=True)
        assert (plan.outcome, plan.reason) == ("applied", "model; a summary is being made")

    def test_what_cannot_be_made_to_fit_is_passed_on(self) -> None:
        setup, messages = bench(), [weighing("user", 2000)]
        plan = setup.plan(messages)
        assert (plan.level, plan.outcome, plan.made) == ("aggressive", "passthrough", None)
        assert sent_by(plan, setup.context(messages))[0] is messages[0]

    def test_a_stored_view_that_cannot_be_made_smaller_is_sent(self) -> None:
        setup = bench()
        messages = [*chat(2, 30), *script("text"), weighing("user", 1500)]
        context = setup.context(messages)
        plan = setup.plan(messages, [stored(context, 4, text="x")])
        assert plan.level == "aggressive" and plan.outcome in ("applied", "fallback")
        assert plan.view.compaction is not None

    @pytest.mark.parametrize("words", ["sys", "sys dev"])
    def test_instructions_alone_that_are_too_long_are_passed_on(self, words: str) -> None:
        messages = [{**m, "content": "word " * 1200} for m in script(words)]
        plan = bench().plan(messages)
        assert plan.outcome == "passthrough" and plan.view.compaction is None


class TestOutcome:
    """What the client is told."""

    def test_nothing_to_do(self) -> None:
        plan = bench().plan(filled(100))
        assert (plan.outcome, plan.reason) == ("none", "below every level")

    def test_a_summary_is_prepared(self) -> None:
        plan = bench().plan(filled(800, 8, 40))
        assert plan.outcome == "prepared" and plan.job is not None
        assert str(plan.job.covers) in plan.reason

    def test_something_should_have_been_done(self) -> None:
        plan = bench().plan(filled(900, 8, 40))
        assert plan.outcome == "passthrough" and plan.job is not None

    def test_a_stored_compaction_prepares_its_successor(self) -> None:
        setup, messages = bench(), table(1000)
        plan = setup.plan(messages, [stored(setup.context(messages), 4)])
        assert (plan.outcome, plan.level) == ("applied", "light")
        assert plan.job is not None and plan.job.covers > 4 and plan.job.base == plan.view.compaction

    @pytest.mark.parametrize(
        ("aggressive", "triggered", "waits"), [(0, 0, 0), (3, 0, 3), (0, 5, 0), (3, 5, 3)]
    )
    def test_an_aggressive_request_may_wait(self, aggressive: int, triggered: int, waits: int) -> None:
        waiting = bench(levels__aggressive__wait_seconds=aggressive, triggers__wait_seconds=triggered)
        plan = waiting.plan(filled(1200, 8, 40))
        # An extract that is to stay prepares nothing, so that there is nothing to wait for.
        assert (plan.job is not None) is (aggressive > 0) and plan.wait_seconds == waits

    def test_a_triggered_request_may_wait(self) -> None:
        waiting = bench(triggers__turns=2, triggers__wait_seconds=5, levels__aggressive__wait_seconds=3)
        assert waiting.plan(chat(4, 10)).wait_seconds == 5
        assert waiting.plan(filled(1200, 8, 40)).wait_seconds == 5
        assert waiting.plan(chat(2, 10)).wait_seconds == 0

    def test_of_two_waits_the_longer_counts(self) -> None:
        waiting = bench(triggers__turns=2, triggers__wait_seconds=5, levels__aggressive__wait_seconds=7)
        assert waiting.plan(chat(4, 10)).wait_seconds == 5
        assert waiting.plan(filled(1200, 8, 40)).wait_seconds == 7


class TestQuiet:
    """Small requests need neither tokeniser nor store."""

    @search
    @given(cases)
    def test_a_quiet_plan_is_what_would_be_decided_with_an_empty_store(self, case: Case) -> None:
        context = case.bench.context(case.messages)
        quiet = plan_without_store(context)
        plan = make_plan(context)
        if quiet is not None:
            assert plan == quiet
        if plan.level is None and plan.job is None and quiet is None:
            assert case.bench.policy.triggers.turns or case.bench.policy.triggers.tokens

    @search
    @given(cases, st.integers(0, 3000))
    def test_below_its_limit_every_request_is_quiet(self, case: Case, window: int) -> None:
        case.bench.window = max(200, window)
        context = case.bench.context(case.messages)
        limit = lowest_threshold(case.bench.policy, len(context.transcript.turn_starts), case.bench.window)
        if context.measure.total < limit:
            assert plan_without_store(context) is not None

    @pytest.mark.parametrize(
        ("paths", "turns", "limit"),
        [
            ({}, 3, 425),
            ({"levels__light__at": 0.4}, 3, 400),
            ({"triggers__tokens": 200}, 3, 200),
            ({"triggers__tokens": 900}, 3, 425),
            ({"triggers__turns": 3}, 3, 425),
            ({"triggers__turns": 2}, 3, 0),
        ],
    )
    def test_the_table(self, paths: dict[str, Any], turns: int, limit: int) -> None:
        assert lowest_threshold(policy(**paths), turns, WINDOW) == limit


class TestOtherWindows:
    """What was shortened without a model for another window."""

    @pytest.mark.parametrize(
        ("kind", "window", "usable"),
        [
            ("extractive", 0, True),
            ("extractive", 1_000, True),
            ("extractive", 900, True),
            ("extractive", 899, False),
            ("extractive", 500, False),
            ("cleared", 500, False),
        ],
    )
    def test_it_is_used_where_no_more_can_stay(self, kind: Any, window: int, usable: bool) -> None:
        s = bench().context(filled(900))
        made = replace(stored(s, 4, kind=kind), window=window)
        assert bool(s.with_session(SessionState((made,))).fitting_compactions) is usable

    def test_of_a_models_only_the_clipping_is_left_out(self) -> None:
        s = bench().context(filled(900))
        made = replace(stored(s, 4, clip=Clip(4, 50, (), s.chain[4])), window=500)
        assert s.with_session(SessionState((made,))).fitting_compactions == (
            replace(made, clip=None, window=0),
        )
