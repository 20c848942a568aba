"""What operators ask of a session: compact now, pin a fact; and how they look at a call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gateway_compaction.core.planning.fit import compacted
from gateway_compaction.core.planning.plan import make_plan
from gateway_compaction.core.planning.snapshot import layout
from gateway_compaction.core.records.compaction import Clip, Compaction
from gateway_compaction.core.records.controls import Steering, moment_of
from tests.core.desks import Bench, policy, sent_by, stored
from tests.core.invariants import text_in
from tests.core.scripts import script
from tests.core.weights import chat, loop, weighing

NOW = Steering(compact=True)


def bench(window: int = 8_000, **paths: Any) -> Bench:
    """A window with much room, summaries of sixty tokens, no quotes."""
    return Bench(window, policy(**{"summary__max_tokens": 150, "recall__max_tokens": 0, **paths}))


class TestCompactNow:
    """An operator asks, though there is room."""

    def test_all_but_the_last_messages_are_covered(self) -> None:
        desk = bench()
        situation = desk.situation(chat(14, 60)).steered(NOW)
        plan = make_plan(situation)
        assert (plan.level, plan.outcome) == (None, "fallback") and "an operator" in plan.reason
        assert plan.made is not None and plan.view.tokens < plan.tokens_before
        assert len(situation.transcript.history) - plan.made.covers <= 11

    def test_above_the_target_no_more_is_covered_than_it_takes(self) -> None:
        messages = chat(40, 60)
        desk = bench(levels__aggressive__target=0.4)
        situation = desk.situation(messages).steered(NOW)
        made = make_plan(situation).made
        assert made is not None and made.covers < len(messages) - 11
        assert situation.desk.rest(made.covers) <= 3_200

    @pytest.mark.parametrize(("crates", "limit"), [(3, 100), (6, 128), (7, 148), (12, 150)])
    def test_what_is_made_is_at_most_half_as_long(self, crates: int, limit: int) -> None:
        """A hundred tokens at least, and no more than the policy says."""
        facts = [" ".join(f"Crate {9 * n + k} went to pier {k}." for k in range(crates)) for n in range(4)]
        talk = [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(facts)]
        situation = bench(levels__medium__keep_last=1).situation([*talk, weighing("user", 60)]).steered(NOW)
        made = make_plan(situation).made
        assert made is not None and (made.covers, made.limit) == (4, limit)
        assert limit in (100, situation.measure.between(0, 4) // 2, 150)

    @pytest.mark.parametrize("messages", [chat(1, 60), chat(2, 10), script("user text user")])
    def test_where_nothing_would_be_saved_nothing_is_done(self, messages: list[Any]) -> None:
        plan = make_plan(bench().situation(messages).steered(NOW))
        assert plan.made is None and "little would be saved" in plan.reason

    def test_once_asked_it_is_made_once(self) -> None:
        """However short the conversation: what is quoted beside it never outweighs what it saves."""
        desk = Bench(4_000, policy())
        gates = [f"Gate {n} of the marina: which code has it? Was it {4700 + n}? " * 3 for n in range(24)]
        talk = [{"role": ("user", "assistant")[n % 2], "content": gate} for n, gate in enumerate(gates)]
        kept: list[Compaction] = []
        outcomes: list[str] = []
        for length in range(1, len(talk) + 1, 2):
            situation = desk.situation(talk[:length], kept).steered(NOW)
            plan = make_plan(situation)
            outcomes.append(plan.outcome)
            kept += [replace(plan.made, version=1)] if plan.made is not None else []
            if plan.view.compaction is not None:
                assert plan.view.tokens < situation.measure.total
                quoted = sum(desk.count(text) for text in plan.view.recalls.values())
                assert plan.view.carrier is not None
                saved = plan.view.compaction.tokens_before - desk.count(text_in(plan.view.carrier))
                assert quoted <= saved // 2
        begun = outcomes.index("fallback")
        assert len(kept) == 1 and set(outcomes[begun + 1 :]) == {"applied"} and begun < 6

    def test_a_conversation_is_not_rewritten_to_save_next_to_nothing(self) -> None:
        desk = bench(levels__medium__keep_last=10, levels__aggressive__keep_last=10)
        situation = desk.situation([*chat(2, 120), *chat(5, 300)]).steered(NOW)
        covering = compacted(situation.desk, 10, 2_000)
        assert covering is not None and covering[1].tokens < situation.measure.total
        plan = make_plan(situation)
        assert plan.made is None and "little would be saved" in plan.reason

    def test_what_is_ready_is_used(self) -> None:
        plain = bench().situation(chat(200, 60))
        plan = make_plan(bench().situation(chat(200, 60), [stored(plain, 380)]).steered(NOW))
        assert plan.outcome == "applied" and plan.made is None


class TestPins:
    """Facts that operators pinned."""

    def test_they_stand_in_the_block_and_are_paid_for(self) -> None:
        situation = bench(2_000).situation(chat(40, 60))
        kept = stored(situation, 60)
        plain = situation.desk.view(kept)
        pinned = situation.steered(Steering(pins=("The gate code is 4711.",))).desk.view(kept)
        assert plain.carrier is not None and pinned.carrier is not None
        assert "- The gate code is 4711." in text_in(pinned.carrier)
        assert "4711" not in text_in(plain.carrier) and pinned.tokens > plain.tokens

    def test_of_too_many_the_newest_stay(self) -> None:
        situation = bench(400).situation(chat(40, 60))
        facts = tuple(f"Fact {n}: " + "word " * 40 for n in range(5))
        shown = text_in(
            situation.steered(Steering(pins=facts)).desk.view(stored(situation, 60)).carrier or {}
        )
        assert "Fact 4:" in shown and "Fact 0:" not in shown


@pytest.mark.parametrize(
    ("generation", "moment"), [("", 0.0), ("12.5", 12.5), ("+12.5", 12.5), ("12.5*", 12.5), ("odd", 0.0)]
)
def test_when_a_generation_began(generation: str, moment: float) -> None:
    assert moment_of(generation) == moment


class TestLayout:
    """A call as operators look at it."""

    def test_cleared_results(self) -> None:
        situation = bench(2_000).situation([*loop(8, 200), weighing("assistant", 20), weighing("user", 20)])
        situation = bench(2_000).situation(
            [*situation.transcript.history], [stored(situation, 13, "cleared")]
        )
        plan = make_plan(situation)
        assert plan.view.compaction is not None and plan.view.compaction.kind == "cleared"
        call = layout(situation, plan, sent_by(plan, situation), 1.0)
        fates = [fate for _, _, fate in call.sent]
        assert "cleared" in fates and fates == [origin for _, _, origin in call.saw]

    @pytest.mark.parametrize("acknowledged", [True, False])
    def test_shortened_messages_behind_a_summary(self, acknowledged: bool) -> None:
        messages = [*chat(10, 20), weighing("assistant", 20), weighing("user", 20)]
        messages[16] = weighing("user", 400)
        plain = bench(2_000).situation(messages)
        covers = 10 if acknowledged else 11
        clip = Clip(len(messages), 100, (), plain.chain[len(messages)])
        view = plain.desk.view(stored(plain, covers, clip=clip))
        plan = make_plan(plain)
        call = layout(plain, plan, sent_by(plan, plain), 1.0)
        assert {fate for _, _, fate in call.sent} == {"verbatim"}
        shown = replace(plan, view=view)
        call = layout(plain, shown, sent_by(shown, plain), 1.0)
        assert [fate for _, _, fate in call.sent].count("shortened") == 1
        assert ("acknowledgement" in [origin for _, _, origin in call.saw]) == acknowledged
