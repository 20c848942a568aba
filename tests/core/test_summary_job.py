"""Which summary is made after a call: from where, how far, and when not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import pytest
from hypothesis import given

from gateway_compaction.core.planning.context import RequestContext, has_triggers
from gateway_compaction.core.planning.plan import make_plan
from gateway_compaction.core.planning.summary_job import (
    SURE_SHARE,
    SummaryJob,
    can_ask_model,
    plan_summary_job,
)
from gateway_compaction.core.planning.views import ViewBuilder
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.policy.presets import PRESETS
from gateway_compaction.core.records.compaction import Compaction
from gateway_compaction.core.records.controls import SessionControls
from tests.core.builders import Bench, policy, stored
from tests.core.cases import Case, growing_cases
from tests.core.scripts import script
from tests.core.search import search
from tests.core.weights import chat, filled, loop, weighing

WINDOW = 1000
PLAIN = {"summary__max_tokens": 60, "recall__max_tokens": 0, "levels__medium__keep_last": 2}


def bench(**paths: Any) -> Bench:
    """A window of a thousand tokens, summaries of sixty, no quotes."""
    return Bench(WINDOW, policy(**{**PLAIN, **paths}))


def job(messages: list[Any], *kept: Compaction, **paths: Any) -> SummaryJob | None:
    """The job after a request."""
    return bench(**paths).plan(messages, kept).job


def at(messages: list[Any], covers: int, kind: str = "model") -> Compaction:
    """A compaction of the first messages."""
    return stored(bench().context(messages), covers, kind)


class TestCut:
    """The shortest cover that brings usage to the target when it is used, else the longest; N are kept."""

    @pytest.mark.parametrize("target", [0.2, 0.3, 0.5, 0.6])
    @pytest.mark.parametrize("keep", [1, 4, 9])
    def test_the_shortest_that_reaches_the_target(self, target: float, keep: int) -> None:
        paths = {"levels__medium__target": target, "levels__medium__keep_last": keep}
        messages = filled(800, 10, 40)
        context = bench(**paths).context(messages)
        allowed = [c for c in context.transcript.cuts if c <= len(messages) - keep]
        # It is used from 850 on, and the conversation goes on growing until then.
        grown = 850 - 800 + 60
        views = ViewBuilder(context)
        enough = [c for c in allowed if views.tokens_beside_block(c) + grown <= target * WINDOW]
        found = job(messages, **paths)
        assert found is not None and found.covers == (enough[0] if enough else allowed[-1])

    @pytest.mark.parametrize("used", [750, 800, 849])
    def test_it_is_made_so_much_ahead(self, used: int) -> None:
        found = job(filled(used, 10, 40))
        assert found is not None and found.lead_tokens == int(SURE_SHARE * (850 - used))

    @pytest.mark.parametrize("factor", [1.0, 1.5, 2.0])
    def test_the_lead_is_counted_without_calibration(self, factor: float) -> None:
        setup = bench()
        messages = filled(int(780 / factor), 5, 30)
        setup.counter.calibration.adopt({setup.model: factor})
        found = setup.plan(messages).job
        left = 850 - setup.context(messages).measure.total
        assert found is not None and left > 0
        assert found.lead_tokens == pytest.approx(SURE_SHARE * left / factor, abs=3)

    @pytest.mark.parametrize("controls", [SessionControls(rebuild=True), SessionControls(compact=True)])
    def test_what_is_used_at_once_has_no_lead(self, controls: SessionControls) -> None:
        messages = filled(800, 10, 40)
        found = bench().plan(messages, controls=controls).job
        assert found is None or found.lead_tokens == 0
        triggered = bench(triggers__tokens=100, triggers__then="apply").plan(messages).job
        assert triggered is not None and triggered.lead_tokens == 0

    def test_while_a_compaction_is_sent_quotes_grow_as_well_and_no_lead_is_sure(self) -> None:
        messages = filled(1_300, 20, 40)
        plan = bench().plan(messages, [at(messages, 20)])
        assert plan.view.compaction is not None and plan.level == "light"
        assert plan.job is not None and plan.job.lead_tokens == 0

    def test_where_all_must_be_kept_there_is_none(self) -> None:
        assert job(filled(800, 3, 100), levels__medium__keep_last=5) is None

    def test_it_names_exactly_what_it_covers(self) -> None:
        messages = filled(800, 10, 40)
        context = bench().context(messages)
        found = job(messages)
        assert found is not None and found.digest == context.chain[found.covers]
        assert found.base is None and found.block == 60

    def test_a_loop_is_divided_inside_its_turn(self) -> None:
        messages = loop(12, 60)
        found = job(messages)
        assert found is not None and messages[found.covers]["role"] == "assistant"

    def test_by_turns_whole_turns_are_covered_where_there_are_any(self) -> None:
        messages = [*chat(3, 40), *script("text"), *loop(8, 60)]
        for strategy, role in (("turns", "user"), ("segments", "assistant")):
            found = job(messages, summary__strategy=strategy, levels__medium__target=0.2)
            assert found is not None and messages[found.covers]["role"] == role
        within = job(loop(12, 60), summary__strategy="turns")
        assert within is not None

    def test_a_long_turn_is_divided_where_all_whole_ones_are_covered(self) -> None:
        messages = [*chat(3, 40), *script("text"), *loop(10, 60)]
        found = job(messages, at(messages, 6), summary__strategy="turns")
        assert found is not None and found.covers > 6 and messages[found.covers]["role"] == "assistant"

    def test_below_light_there_is_none(self) -> None:
        assert job(filled(700, 20, 10)) is None


class TestGain:
    """A new summary must cover clearly more than the stored one."""

    def test_a_short_one_is_not_worth_a_call(self) -> None:
        # All that may be covered is less than a tenth of the window.
        messages = [*chat(4, 12), *script("text"), weighing("user", 400), weighing("assistant", 300)]
        messages.append(weighing("user", 10))
        assert job(messages, levels__medium__keep_last=3) is None

    def test_one_is_not_made_twice(self) -> None:
        messages = filled(800, 10, 40)
        first = job(messages)
        assert first is not None
        assert job(messages, at(messages, first.covers)) is None

    def test_a_longer_one_builds_on_what_a_model_wrote(self) -> None:
        messages = filled(1300, 13, 55)
        base = at(messages, 12)
        found = job(messages, base)
        assert found is not None and found.covers > 12 and found.base == base

    @pytest.mark.parametrize("kind", ["extractive", "cleared"])
    def test_other_kinds_are_made_anew_from_their_source(self, kind: str) -> None:
        messages = filled(1300, 24, 50)
        found = job(messages, at(messages, 12, kind), levels__aggressive__wait_seconds=1)
        assert found is not None and found.base is None

    def test_where_the_stored_one_would_do_it_waits(self) -> None:
        # The stored view is far below the middle between target and light.
        messages = filled(800, 10, 40)
        assert job(messages, at(messages, 14)) is None

    @pytest.mark.parametrize(("covers", "made"), [(10, False), (6, True)])
    def test_it_does_up_to_the_middle_between_target_and_light(self, covers: int, made: bool) -> None:
        messages = filled(800, 10, 40)
        kept = at(messages, covers)
        used = ViewBuilder(bench().context(messages)).build_view(kept).tokens
        assert used > 250 and (used >= 500) == made
        assert (job(messages, kept) is not None) == made

    def test_without_a_model_an_extract_is_final(self) -> None:
        messages = filled(800, 10, 40)
        extract = at(messages, 14, "extractive")
        assert job(messages, extract, summary__model="extractive") is None
        assert job(messages, extract, summary__strategy="window") is None


class TestWaiting:
    """Where the last N keep a summary far above its target, it waits until the next call may reach medium."""

    KEPT: ClassVar[dict[str, Any]] = {"levels__medium__keep_last": 12, "levels__medium__target": 0.3}

    @pytest.mark.parametrize(("used", "made"), [(755, False), (760, False), (775, True), (849, True)])
    def test_while_the_largest_call_leaves_it_below_medium(self, used: int, made: bool) -> None:
        messages = filled(used, 10, 40)
        growth = bench().context(messages).largest_growth
        assert (used + growth >= 850) == made
        assert (job(messages, **self.KEPT) is not None) == made

    def test_not_where_the_target_is_near(self) -> None:
        assert job(filled(755, 10, 40), **{**self.KEPT, "levels__medium__target": 0.7}) is not None

    def test_not_where_somebody_asks(self) -> None:
        messages = filled(755, 10, 40)
        assert job(messages, triggers__tokens=100, **self.KEPT) is not None
        assert bench(**self.KEPT).plan(messages, controls=SessionControls(rebuild=True)).job is not None

    def test_why_is_said(self) -> None:
        plan = bench(**self.KEPT).plan(filled(755, 10, 40))
        assert (plan.outcome, plan.reason) == ("none", "too little can be summarised yet")


class TestReplacing:
    """An extract that a model is to replace at once is replaced, once; another one stays while it fits."""

    def test_one_that_is_stored(self) -> None:
        messages = filled(900, 10, 40)
        extract = at(messages, 8, "extractive")
        plan = bench().plan(messages, [extract])
        assert plan.view.compaction == extract
        assert plan.job == SummaryJob(extract.digest, 8, None, 60)

    @pytest.mark.parametrize(
        "wanting",
        [
            {"levels__aggressive__wait_seconds": 1},
            {"triggers__tokens": 10**6, "triggers__then": "apply"},
            {"controls": SessionControls(rebuild=True)},
            {"controls": SessionControls(compact=True)},
        ],
    )
    def test_one_that_was_just_made_where_a_model_is_wanted_at_once(self, wanting: dict[str, Any]) -> None:
        messages = filled(1300, 20, 40)
        asked = {key: value for key, value in wanting.items() if key == "controls"}
        plan = bench(**{k: v for k, v in wanting.items() if k != "controls"}).plan(messages, **asked)
        assert plan.made is not None and plan.job is not None and plan.made.sent_with is None
        assert (plan.job.covers, plan.job.digest) == (plan.made.covers, plan.made.digest)

    def test_else_it_stays_and_nothing_is_prepared_while_there_is_room(self) -> None:
        messages = filled(1300, 20, 40)
        plan = bench().plan(messages)
        assert plan.made is not None and plan.made.sent_with == bench().context(messages).sent
        assert plan.job is None

    @pytest.mark.parametrize(("keep", "ahead"), [(2, True), (60, False)])
    def test_its_successor_covers_no_less(self, keep: int, ahead: bool) -> None:
        """Where the last messages that stay leave nothing more to cover, a model writes it anew."""
        made = bench().plan(filled(1300, 20, 40)).made
        assert made is not None
        longer = [*filled(1300, 20, 40), *script("text"), *chat(8, 40)]
        kept = {"levels__medium__keep_last": keep, "levels__aggressive__keep_last": 2}
        plan = bench(**kept).plan(longer, [made])
        assert plan.view.compaction == made and plan.job is not None
        assert (plan.job.covers > made.covers) is ahead and plan.job.covers >= made.covers

    def test_not_where_no_model_is_asked(self) -> None:
        messages = filled(1300, 20, 40)
        plan = bench(summary__model="extractive").plan(messages)
        assert plan.made is not None and plan.job is None

    def test_not_a_second_time(self) -> None:
        messages = filled(1300, 20, 40)
        made = bench().plan(messages).made
        assert made is not None
        context = bench().context(messages, [made, replace(made, kind="model", limit=None)])
        assert plan_summary_job(ViewBuilder(context), made, context.measure.total) is None


def turns(count: int) -> list[Any]:
    """A chat of that many turns, the last one open."""
    return chat(count, 10)


EACH_THREE = {"triggers__turns": 3, "levels__medium__keep_last": 1}


class TestTurns:
    """A job for every so many finished turns."""

    @pytest.mark.parametrize("keep", range(1, 20))
    def test_the_last_n_are_in_no_block(self, keep: int) -> None:
        """Of 10 turns, or 19 messages; a turn that one of the last belongs to waits with it."""
        found = job(turns(10), triggers__turns=3, levels__medium__keep_last=keep)
        assert (found.covers if found else 0) == (19 - keep) // 6 * 6

    def test_at_turn_four_seven_ten(self) -> None:
        kept: list[Compaction] = []
        covers: dict[int, int] = {}
        for count in range(1, 12):
            found = job(turns(count), *kept, **EACH_THREE)
            if found is not None:
                covers[count] = found.covers
                kept.append(at(turns(count), found.covers))
        assert covers == {4: 6, 7: 12, 10: 18}

    def test_each_builds_on_the_last(self) -> None:
        first = at(turns(7), 6)
        found = job(turns(7), first, **EACH_THREE)
        assert found is not None and found.base == first

    def test_missed_ones_are_made_up_for_in_whole_blocks(self) -> None:
        found = job(turns(9), triggers__turns=3)
        assert found is not None and found.covers == 12

    def test_results_in_content_parts_are_no_turns(self) -> None:
        assert job(script("user use ures use ures use ures use ures"), triggers__turns=3) is None

    def test_a_block_that_cannot_be_cut_off_waits(self) -> None:
        # The second user message stands between a call and its result.
        assert job(script("user call user res text user"), triggers__turns=1, levels__medium__keep_last=1)
        assert job(script("user call user res"), triggers__turns=1) is None


class TestTokens:
    """A job whenever so many tokens are not summarised."""

    def test_above_it_all_but_the_last_n(self) -> None:
        found = job(chat(8, 20), triggers__tokens=200)
        assert found is not None and found.covers == 12

    def test_at_it_there_is_none(self) -> None:
        assert job(chat(8, 20), triggers__tokens=300) is None

    def test_only_what_is_not_covered_counts(self) -> None:
        messages = chat(8, 20)
        assert job(messages, at(messages, 8), triggers__tokens=200) is None
        found = job(messages, at(messages, 2), triggers__tokens=190)
        assert found is not None and found.base is not None

    def test_characters_may_be_counted_instead(self) -> None:
        # Two hundred words of five characters, four characters to a token.
        messages = [weighing("user", 204), *script("text"), *chat(3, 4)]
        by_text = {"triggers__count": "characters", "levels__medium__keep_last": 1}
        assert job(messages, triggers__tokens=230, **by_text) is not None
        assert job(messages, triggers__tokens=260, **by_text) is None

    @pytest.mark.parametrize(
        "made",
        [
            {"tool_calls": [{"id": "1", "function": {"name": "write", "arguments": "x" * 995}}]},
            {"tool_calls": [{"id": "1", "function": {"name": "write", "arguments": {"text": "x" * 983}}}]},
            {"function_call": {"name": "write", "arguments": "x" * 995}},
            {"content": [{"type": "tool_use", "id": "1", "name": "write", "input": {"text": "x" * 983}}]},
        ],
    )
    def test_what_tools_are_called_with_counts_among_the_characters(self, made: dict[str, Any]) -> None:
        """Two hundred and fifty tokens of four characters; the other messages have less than one each."""
        said = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": None, **made}]
        results = {"tool_calls": ("tool", "tool_call_id"), "function_call": ("function", "name")}
        kind, name = results.get(next(iter(made)), ("", ""))
        result = {"type": "tool_result", "tool_use_id": "1", "content": "ok"}
        said += [
            {"role": kind, name: "1", "content": "ok"} if kind else {"role": "user", "content": [result]}
        ]
        said += [*script("text"), {"role": "user", "content": "Hi"}, *script("text user")]
        by_text = {"triggers__count": "characters", "levels__medium__keep_last": 1}
        assert job(said, triggers__tokens=249, **by_text) is not None
        assert job(said, triggers__tokens=260, **by_text) is None

    @pytest.mark.parametrize("keep", [1, 5, 9])
    def test_what_always_stays_does_not_count(self, keep: int) -> None:
        messages, paths = chat(8, 40), {"levels__medium__keep_last": keep}
        covered = 15 - keep
        assert job(messages, at(messages, covered), triggers__tokens=100, **paths) is None
        assert job(messages, triggers__tokens=40 * covered, **paths) is None
        assert job(messages, triggers__tokens=40 * covered - 1, **paths) is not None

    @pytest.mark.parametrize(("covered", "wanted"), [(22, True), (24, False)])
    def test_one_that_would_cover_hardly_more_waits(self, covered: int, wanted: bool) -> None:
        """Of 26 that could be covered; two more than 24 are less than a tenth, four more than 22 are not."""
        messages = chat(14, 100)
        large = Bench(20_000, policy(triggers__tokens=100, levels__medium__keep_last=1))
        kept = stored(large.context(messages), covered)
        assert (large.plan(messages, [kept]).job is not None) is wanted

    @pytest.mark.parametrize(("covered", "wanted"), [(10, True), (24, False)])
    def test_nor_does_a_turn_that_is_hardly_more(self, covered: int, wanted: bool) -> None:
        messages = chat(14, 20)
        assert (job(messages, at(messages, covered), triggers__turns=1) is not None) is wanted

    def test_a_clearing_covers_nothing(self) -> None:
        messages = chat(8, 20)
        assert job(messages, at(messages, 8, "cleared"), triggers__tokens=200) is not None


class TestApply:
    """``then: apply`` uses a summary as soon as it is there; ``prepare`` waits for medium."""

    @pytest.mark.parametrize(("then", "used"), [("apply", True), ("prepare", False)])
    def test_far_below_medium(self, then: str, used: bool) -> None:
        messages = chat(8, 40)
        kept = at(messages, 6)
        plan = bench(triggers__turns=3, triggers__then=then).plan(messages, [kept])
        assert (plan.view.compaction == kept) == used
        assert plan.outcome == ("applied" if used else "prepared")

    def test_the_longest_is_used(self) -> None:
        messages = chat(12, 40)
        kept = [at(messages, c) for c in (6, 18, 12)]
        plan = bench(triggers__turns=3, triggers__then="apply").plan(messages, kept)
        assert plan.view.compaction is not None and plan.view.compaction.covers == 18

    def test_one_that_saves_nothing_is_not(self) -> None:
        messages = [*script("user text user text user text user")]
        plan = bench(triggers__turns=1, triggers__then="apply").plan(messages, [at(messages, 4)])
        assert plan.view.compaction is None

    def test_without_a_trigger_it_means_nothing(self) -> None:
        messages = chat(8, 40)
        assert bench(triggers__then="apply").plan(messages, [at(messages, 6)]).view.compaction is None


class TestNamed:
    """What a policy asks for."""

    @pytest.mark.parametrize(
        ("paths", "asks"),
        [
            ({}, True),
            ({"summary__model": "small"}, True),
            ({"summary__model": "extractive"}, False),
            ({"summary__strategy": "window"}, False),
            ({"summary__strategy": "rolling"}, True),
        ],
    )
    def test_whether_a_model_writes(self, paths: dict[str, Any], asks: bool) -> None:
        assert can_ask_model(policy(**paths)) == asks

    @pytest.mark.parametrize(
        ("name", "triggers"), [("hybrid", False), ("turns", True), ("incremental", True)]
    )
    def test_which_presets_have_triggers(self, name: str, triggers: bool) -> None:
        assert has_triggers(Policy.model_validate(dict(PRESETS[name]))) == triggers


@search
@given(growing_cases)
def test_a_job_has_a_reason_and_moves_forward(case: Case) -> None:
    context = case.context()
    plan = make_plan(context)
    if plan.job is None:
        return
    sent = plan.view.compaction
    assert plan.level is not None or context.is_triggered or (sent is not None and sent.kind == "extractive")
    written = [c.covers for c in context.session.compactions if c.kind == "model" and fits(c, context)]
    assert plan.job.covers > max(written, default=0)
    assert plan.job.base is None or (plan.job.base.kind == "model" and plan.job.base.covers in written)
    assert plan.job.block == ViewBuilder(context).summary_block_limit(plan.job.covers)


def fits(compaction: Compaction, context: RequestContext) -> bool:
    """Whether a compaction stands for the beginning of this history."""
    covers = compaction.covers
    return covers in context.transcript.cuts and context.chain[covers] == compaction.digest
