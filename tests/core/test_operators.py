"""What operators ask of a session: compact now, pin a fact; and how they look at a call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gateway_compaction.core.planning.context import RequestContext
from gateway_compaction.core.planning.fit import compact_early
from gateway_compaction.core.planning.plan import make_plan
from gateway_compaction.core.planning.quotes import MOST_OF_SAVED
from gateway_compaction.core.planning.snapshot import build_snapshot
from gateway_compaction.core.planning.views import ViewBuilder
from gateway_compaction.core.records.compaction import Clip, Compaction, Segment
from gateway_compaction.core.records.controls import SessionControls, read_start
from tests.core.builders import Bench, policy, sent_by, stored
from tests.core.invariants import text_in
from tests.core.scripts import script
from tests.core.weights import chat, loop, weighing

NOW = SessionControls(compact=True)


def bench(window: int = 8_000, **paths: Any) -> Bench:
    """A window with much room, summaries of sixty tokens, no quotes."""
    return Bench(window, policy(**{"summary__max_tokens": 150, "recall__max_tokens": 0, **paths}))


def steered(context: RequestContext, controls: SessionControls) -> RequestContext:
    """The same request where operators asked this of its session."""
    return context.with_session(replace(context.session, controls=controls))


class TestCompactNow:
    """An operator asks, though there is room."""

    def test_all_but_the_last_messages_are_covered(self) -> None:
        setup = bench()
        context = steered(setup.context(chat(14, 60)), NOW)
        plan = make_plan(context)
        assert (plan.level, plan.outcome) == (None, "fallback") and plan.reason.startswith("asked for")
        assert plan.made is not None and plan.view.tokens < plan.tokens_before
        assert len(context.transcript.history) - plan.made.covers <= 11

    def test_above_the_target_no_more_is_covered_than_it_takes(self) -> None:
        messages = chat(40, 60)
        setup = bench(levels__aggressive__target=0.4)
        context = steered(setup.context(messages), NOW)
        made = make_plan(context).made
        assert made is not None and made.covers < len(messages) - 11
        assert ViewBuilder(context).tokens_beside_block(made.covers) <= 3_200

    @pytest.mark.parametrize(("crates", "limit"), [(3, 100), (6, 128), (7, 148), (12, 150)])
    def test_what_is_made_is_at_most_half_as_long(self, crates: int, limit: int) -> None:
        """A hundred tokens at least, and no more than the policy says."""
        facts = [" ".join(f"Crate {9 * n + k} went to pier {k}." for k in range(crates)) for n in range(4)]
        talk = [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(facts)]
        context = steered(bench(levels__medium__keep_last=1).context([*talk, weighing("user", 60)]), NOW)
        early = compact_early(ViewBuilder(context), 1, 2_000)
        assert early is not None and (early.compaction.covers, early.compaction.limit) == (4, limit)
        assert limit in (100, context.measure.between(0, 4) // 2, 150)

    @pytest.mark.parametrize("messages", [chat(1, 60), chat(2, 10), script("user text user")])
    def test_where_nothing_would_be_saved_nothing_is_done(self, messages: list[Any]) -> None:
        plan = make_plan(steered(bench().context(messages), NOW))
        assert plan.made is None and "little would be saved" in plan.reason

    def test_a_short_conversation_keeps_its_words(self) -> None:
        """Its summary block would have less room than what it stands for needs."""
        rule = "Always use port 8013 on node-03, and stop the old process with SIGTERM first."
        talk = [*chat(2, 40), {"role": "user", "content": rule}, *chat(6, 40)]
        plan = make_plan(steered(bench().context(talk), NOW))
        assert plan.made is None and "little would be saved" in plan.reason

    def test_once_asked_it_is_made_once(self) -> None:
        """However short the conversation: what is quoted beside it never outweighs what it saves."""
        setup = Bench(4_000, policy())
        gates = [f"Gate {n} of the marina: which code has it? Was it {4700 + n}? " * 3 for n in range(24)]
        talk = [{"role": ("user", "assistant")[n % 2], "content": gate} for n, gate in enumerate(gates)]
        kept: list[Compaction] = []
        outcomes: list[str] = []
        for length in range(1, len(talk) + 1, 2):
            context = steered(setup.context(talk[:length], kept), NOW)
            plan = make_plan(context)
            outcomes.append(plan.outcome)
            kept += [replace(plan.made, version=1)] if plan.made is not None else []
            if plan.view.compaction is not None:
                assert plan.view.tokens < context.measure.total
                quoted = sum(setup.raw_tokens(text) for text in plan.view.recalls.values())
                assert plan.view.summary_message is not None
                saved = plan.view.compaction.tokens_before - setup.raw_tokens(
                    text_in(plan.view.summary_message)
                )
                assert quoted <= saved * MOST_OF_SAVED
        begun = outcomes.index("fallback")
        assert len(kept) == 1 and set(outcomes[begun + 1 :]) == {"applied"} and begun < 9

    def test_a_conversation_is_not_rewritten_to_save_next_to_nothing(self) -> None:
        setup = bench(levels__medium__keep_last=10, levels__aggressive__keep_last=10)
        context = steered(setup.context([*chat(2, 120), *chat(5, 300)]), NOW)
        covering = compact_early(ViewBuilder(context), 10, 2_000)
        assert covering is not None and covering[1].tokens < context.measure.total
        plan = make_plan(context)
        assert plan.made is None and "little would be saved" in plan.reason

    def test_what_is_ready_is_used(self) -> None:
        plain = bench().context(chat(200, 60))
        plan = make_plan(steered(bench().context(chat(200, 60), [stored(plain, 380)]), NOW))
        assert plan.outcome == "applied" and plan.made is None


class TestPins:
    """Facts that operators pinned."""

    def test_they_stand_in_the_block_and_are_paid_for(self) -> None:
        context = bench(2_000).context(chat(40, 60))
        kept = stored(context, 60)
        plain = ViewBuilder(context).build_view(kept)
        pinned = ViewBuilder(steered(context, SessionControls(pins=("The gate code is 4711.",)))).build_view(
            kept
        )
        assert plain.summary_message is not None and pinned.summary_message is not None
        assert "- The gate code is 4711." in text_in(pinned.summary_message)
        assert "4711" not in text_in(plain.summary_message) and pinned.tokens > plain.tokens

    def test_of_too_many_the_newest_stay(self) -> None:
        context = bench(400).context(chat(40, 60))
        facts = tuple(f"Fact {n}: " + "word " * 40 for n in range(5))
        pinned = ViewBuilder(steered(context, SessionControls(pins=facts)))
        shown = text_in(pinned.build_view(stored(context, 60)).summary_message or {})
        assert "Fact 4:" in shown and "Fact 0:" not in shown


@pytest.mark.parametrize(
    ("generation", "moment"), [("", 0.0), ("12.5", 12.5), ("+12.5", 12.5), ("12.5*", 12.5), ("odd", 0.0)]
)
def test_when_a_generation_began(generation: str, moment: float) -> None:
    assert read_start(generation) == moment


class TestLayout:
    """A call as operators look at it."""

    def test_cleared_results(self) -> None:
        context = bench(2_000).context([*loop(8, 200), weighing("assistant", 20), weighing("user", 20)])
        context = bench(2_000).context([*context.transcript.history], [stored(context, 13, "cleared")])
        plan = make_plan(context)
        assert plan.view.compaction is not None and plan.view.compaction.kind == "cleared"
        call = build_snapshot(context, plan, sent_by(plan, context), 1.0)
        fates = [fate for _, _, fate in call.sent]
        assert "cleared" in fates and fates == [origin for _, _, origin in call.saw]

    @pytest.mark.parametrize("acknowledged", [True, False])
    def test_shortened_messages_behind_a_summary(self, acknowledged: bool) -> None:
        messages = [*chat(10, 20), weighing("assistant", 20), weighing("user", 20)]
        messages[16] = weighing("user", 400)
        plain = bench(2_000).context(messages)
        covers = 10 if acknowledged else 11
        clip = Clip(len(messages), 100, (), plain.chain[len(messages)])
        view = ViewBuilder(plain).build_view(stored(plain, covers, clip=clip))
        plan = make_plan(plain)
        call = build_snapshot(plain, plan, sent_by(plan, plain), 1.0)
        assert {fate for _, _, fate in call.sent} == {"verbatim"}
        shown = replace(plan, view=view)
        call = build_snapshot(plain, shown, sent_by(shown, plain), 1.0)
        assert [fate for _, _, fate in call.sent].count("shortened") == 1
        assert ("acknowledgement" in [origin for _, _, origin in call.saw]) == acknowledged


class TestRate:
    """The rate that an operator sets for one session, in force from the next summary on."""

    def test_the_next_summary_has_it_and_what_is_written_stays(self) -> None:
        setup = bench(levels__medium__keep_last=4)
        context = setup.context(chat(60, 60))
        views, rated = ViewBuilder(context), SessionControls(rate=0.5)
        cut = context.coverable_cuts[5]
        written = Compaction(
            context.chain[cut], cut, "model", (Segment(0, cut, "What was said. " * 40),), limit=150
        )
        asked = steered(context, rated)
        assert (context.rate, asked.rate) == (None, 0.5)
        assert ViewBuilder(asked).summary_block_limit(cut) > views.summary_block_limit(cut) == 150
        # Not a byte of the epoch changes: neither when it is set ...
        before, after = views.build_view(written), ViewBuilder(asked).build_view(written)
        assert before.summary_message == after.summary_message
        # ... nor when it is given back.
        long = replace(written, limit=ViewBuilder(asked).summary_block_limit(cut), rate=0.5)
        kept, left = ViewBuilder(asked).build_view(long), views.build_view(long)
        assert kept.summary_message == left.summary_message != before.summary_message
