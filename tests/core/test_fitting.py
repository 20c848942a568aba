"""Making a request fit without a model: what is guaranteed, and the steps on the way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_compaction.core.conversation.messages import Message
from gateway_compaction.core.planning import fit as fitting
from gateway_compaction.core.planning.caches import DerivedCache
from gateway_compaction.core.planning.fit import MadeView, clear_results, read_ahead
from gateway_compaction.core.planning.plan import Plan, make_plan
from gateway_compaction.core.planning.views import View, ViewBuilder
from gateway_compaction.core.records.compaction import Compaction
from tests.core.builders import Bench, policy, sent_by, stored
from tests.core.cases import Case, cases
from tests.core.invariants import text_in
from tests.core.scripts import script
from tests.core.search import search
from tests.core.weights import chat, filled, loop, weighing

WINDOW = 1000
LEAST_BLOCK = 120


def bench(window: int = WINDOW, **paths: Any) -> Bench:
    """A window of a thousand tokens, summaries of sixty, no quotes."""
    return Bench(window, policy(**{"summary__max_tokens": 60, "recall__max_tokens": 0, **paths}))


def fitted(messages: list[Any], *kept: Compaction, **paths: Any) -> tuple[Plan, list[Message]]:
    """The plan of a request that does not fit, and what is sent."""
    setup = bench(**paths)
    context = setup.context(messages, kept)
    plan = make_plan(context)
    assert plan.level == "aggressive"
    return plan, sent_by(plan, context)


class TestGuarantee:
    """What can fit, fits."""

    @search
    @given(cases, st.sampled_from([1, 20, 60, 150, 400, 2000]))
    def test_what_can_fit_fits(self, case: Case, spare: int) -> None:
        """At the aggressive level the view is at most the window, which may be used to its last token, where
        everything that no cut may drop (preamble, schemas, reserve, last user message, last group) leaves 120
        tokens, calibrated, for a summary."""
        context = case.context()
        if not context.transcript.cuts:
            return
        factor = case.bench.counter.calibration.factor(case.bench.model)
        needed = min(ViewBuilder(context).tokens_beside_block(cut) for cut in context.transcript.cuts)
        case.bench.window = max(200, int(needed + LEAST_BLOCK * factor) + spare)
        context = case.context()
        plan = make_plan(context)
        # What is kept free for quotes depends on the window.
        needed = min(ViewBuilder(context).tokens_beside_block(cut) for cut in context.transcript.cuts)
        if plan.level == "aggressive" and needed + LEAST_BLOCK * factor <= case.bench.window:
            assert plan.view.tokens <= case.bench.window

    @search
    @given(
        st.lists(st.integers(5, 300), min_size=2, max_size=12),
        st.integers(5, 3000),
        st.integers(0, 11),
        st.sampled_from([None, 100, 400, 4000]),
        st.integers(1, 2000),
        st.integers(0, 400),
        st.sampled_from(["gpt-4o", "anthropic/claude-sonnet-4-5", "gpt-3.5-turbo"]),
    )
    def test_a_stored_summary_never_keeps_it_from_fitting(
        self, sizes: list[int], last: int, covers: int, limit: int | None, long: int, spare: int, model: str
    ) -> None:
        """Whatever its length and limit, and however long the message behind it."""
        setup = bench(summary__max_tokens=4000)
        setup.model = model
        talk = [weighing(("user", "assistant")[i % 2], size) for i, size in enumerate(sizes)]
        talk = [*talk[: len(talk) // 2 * 2], weighing("user", last)]
        context = setup.context(talk)
        cuts = context.transcript.cuts
        factor = setup.counter.calibration.factor(model)
        needed = min(ViewBuilder(context).tokens_beside_block(cut) for cut in cuts)
        setup.window = int(needed + LEAST_BLOCK * factor) + spare
        context = setup.context(talk)
        cover = cuts[covers % len(cuts)]
        kept = stored(context, cover, "model", "At pier 12 they left. " * long, limit=limit)
        plan = setup.plan(talk, [kept])
        assert plan.view.tokens < setup.window
        if plan.view.compaction is not None and plan.view.compaction.covers >= cover:
            assert "pier 12" in text_in(sent_by(plan, context)[0])

    @pytest.mark.parametrize("last", [3300, 3500, 3600, 3700, 3800])
    def test_a_long_last_message_leaves_room_for_a_short_summary(self, last: int) -> None:
        talk = [
            {
                "role": role,
                "content": f"On day {day} crate {day * 7} went from pier {day + 3} to Harbour{day}. " * 8,
            }
            for day in range(12)
            for role in ("user", "assistant")
        ]
        plan = Bench(4000).plan([*talk, weighing("user", last)])
        assert plan.level == "aggressive" and plan.view.tokens < 4000

    def test_a_stored_summary_is_shortened_where_it_leaves_no_room(self) -> None:
        setup = bench(summary__max_tokens=400)
        messages = [*chat(3, 100), *script("text"), weighing("user", 750)]
        kept = stored(setup.context(messages), 6, "model", "They met at the pier and left. " * 60)
        plan = setup.plan(messages, [kept])
        assert plan.level == "aggressive" and plan.view.tokens < WINDOW
        used = plan.view.compaction
        assert used is not None and (used.kind, used.text) == ("model", kept.text)

    def test_long_addresses_of_images_do_not_break_it(self) -> None:
        url = "https://x.y/" + "a1b2" * 120
        image = {
            "role": "user",
            "content": [{"type": "image_url", "image_url": {"url": url, "detail": "low"}}],
        }
        talk = [m for _ in range(12) for m in (dict(image), *script("text"))]
        plan = bench().plan([*talk, weighing("user", 400)])
        assert plan.level == "aggressive" and plan.view.tokens < WINDOW


class TestSteps:
    """From the gentlest to the last resort."""

    def test_an_extract_of_all_but_the_last_messages(self) -> None:
        messages = filled(1000, 20, 20)
        plan, sent = fitted(messages, levels__aggressive__keep_last=4)
        assert plan.made is not None and plan.made.kind == "extractive" and plan.made.clip is None
        assert plan.view.tokens <= 250
        assert all(a is b for a, b in zip(sent[-4:], messages[-4:], strict=True))

    def test_the_target_only_says_how_short_it_need_be(self) -> None:
        messages = filled(1000, 20, 20)
        short, _ = fitted(messages, levels__aggressive__target=0.25)
        long, _ = fitted(messages, levels__aggressive__target=0.5)
        assert long.view.tokens <= 500
        assert long.made is not None and short.made is not None and long.made.covers < short.made.covers

    def test_no_more_last_messages_are_kept_than_at_medium(self) -> None:
        messages = filled(1300, 20, 40)
        plan, _ = fitted(messages, levels__aggressive__keep_last=12, levels__medium__keep_last=2)
        assert plan.made is not None and 2 <= len(messages) - plan.made.covers < 12

    def test_fewer_last_messages_where_four_are_too_many(self) -> None:
        messages = chat(6, 350)
        plan, sent = fitted(messages)
        assert plan.made is not None and plan.made.covers > len(messages) - 4
        assert plan.made.clip is None and sent[-1] is messages[-1]

    def test_a_result_that_is_too_long_is_shown_head_and_tail(self) -> None:
        result = {"role": "tool", "tool_call_id": "call_0", "content": "first " + "word " * 2000 + "last"}
        messages = [*chat(3, 40), *script("text"), weighing("user", 30), *script("call"), result]
        plan, sent = fitted(messages)
        assert plan.view.tokens < WINDOW
        assert sent[-3] is messages[-3] and sent[-2] is messages[-2]
        assert text_in(sent[-1]).startswith("first") and text_in(sent[-1]).endswith("last")
        assert sent[-1]["tool_call_id"] == "call_0"

    def test_the_first_turn_cannot_be_covered_but_shortened(self) -> None:
        messages = [weighing("user", 40), *script("call"), weighing("tool", 3000, tool_call_id="call_0")]
        plan, sent = fitted(messages)
        assert plan.made is not None and (plan.made.kind, plan.made.covers) == ("cleared", 0)
        assert plan.view.tokens < WINDOW and len(sent) == 3 and sent[0] is messages[0]

    def test_shorter_and_shorter_until_it_fits(self) -> None:
        sizes = []
        for size in (2, 20, 60):
            call = {**script("call")[0], "tool_calls": script("calls")[0]["tool_calls"][:1] * size}
            results = [weighing("tool", 2500, tool_call_id="call_0") for _ in range(size)]
            plan, _ = fitted([weighing("user", 20), call, *results], window=4000)
            assert plan.view.tokens < 4000 and plan.made is not None and plan.made.clip is not None
            sizes.append(plan.made.clip.max_tokens)
        assert sizes == sorted(sizes, reverse=True) and len(set(sizes)) > 1

    def test_what_the_model_is_to_continue_is_never_shortened(self) -> None:
        messages = [*chat(3, 40), *script("text"), weighing("user", 500), weighing("assistant", 420)]
        plan, sent = fitted(messages)
        assert sent[-1] is messages[-1] and sent[-2] is messages[-2] and plan.view.tokens < WINDOW

    def test_the_best_try_is_sent_where_nothing_fits(self) -> None:
        messages = [*chat(3, 200), *script("text"), weighing("user", 1200)]
        plan, sent = fitted(messages)
        assert plan.outcome == "fallback" and sent[-1] is messages[-1]
        assert WINDOW <= plan.view.tokens < plan.tokens_before


class TestBase:
    """What is stored already is built upon."""

    def test_what_a_model_wrote_is_kept_and_what_follows_is_added(self) -> None:
        facts = [f"Gate {day} of the harbour has the code 47{day}, said Ingrid." for day in range(60)]
        messages = [
            {"role": "user" if i % 2 == 0 else "assistant", "content": f} for i, f in enumerate(facts)
        ]
        messages.append(weighing("user", 10))
        base = stored(bench().context(messages), 4, "model", "They met at the pier.")
        plan, sent = fitted(messages, base, summary__max_tokens=200)
        assert plan.made is not None and plan.made.parent == base.digest
        assert [(s.start, s.end) for s in plan.made.segments] == [(0, 4), (4, plan.made.covers)]
        assert "They met at the pier." in text_in(sent[0])

    def test_an_extract_is_made_anew_from_its_source(self) -> None:
        messages = filled(3000, 30, 50)
        base = stored(bench().context(messages), 4, "extractive", "They met at the pier.")
        plan, sent = fitted(messages, base)
        assert plan.made is not None and plan.made.parent is None
        assert all(s.start == 0 for s in plan.made.segments)
        assert "They met at the pier." not in text_in(sent[0])

    def test_one_that_covers_all_it_can_is_kept_and_the_rest_shortened(self) -> None:
        result = weighing("tool", 1500, tool_call_id="call_0")
        messages = [*chat(3, 100), *script("text"), weighing("user", 30), *script("call"), result]
        base = stored(bench().context(messages), 6, "model", "They met at the pier.")
        plan, sent = fitted(messages, base)
        used = plan.view.compaction
        assert used is not None and used.clip is not None
        assert (used.kind, used.covers, used.text) == ("model", 6, base.text)
        assert plan.view.tokens < WINDOW and sent[2] is messages[6]

    def test_what_is_stored_is_not_stored_again_in_another_form(self) -> None:
        result = weighing("tool", 1500, tool_call_id="call_0")
        messages = [*chat(3, 100), *script("text"), weighing("user", 30), *script("call"), result]
        base = stored(bench().context(messages), 6, "model", "They met at the pier.")
        assert fitted(messages, base)[0].made is None
        assert fitted(messages)[0].made is not None

    def test_a_block_that_never_comes_out_short_enough_is_given_up(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Its limit is not calibrated, and so may be missed each time: the next way to fit is tried."""
        views = ViewBuilder(bench(8_000, summary__max_tokens=2_000).context(filled(3000, 30, 50)))
        asked: list[int] = []

        def cover(views: ViewBuilder, base: Compaction | None, cut: int, limit: int) -> MadeView:
            asked.append(limit)
            made = Compaction(views.context.chain[cut], cut, "extractive")
            return MadeView(made, View(tokens=8_100, compaction=made))

        monkeypatch.setattr(fitting, "_cover", cover)
        assert fitting._cover_within(views, None, 56, 8_000) is None
        assert len(asked) == fitting.TRIES and asked == sorted(asked, reverse=True)

    def test_a_stored_extract_goes_without_quotes_where_they_leave_the_window(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def quote(self: ViewBuilder, view: View) -> View:
            return replace(view, tokens=view.tokens + WINDOW)

        monkeypatch.setattr(ViewBuilder, "add_quotes", quote)
        messages = filled(3000, 30, 50)
        context = bench().context(messages)
        kept = [
            Compaction(context.chain[cut], cut, "extractive", limit=60) for cut in context.transcript.cuts
        ]
        plan = fitted(messages, *kept)[0]
        assert plan.made is None and plan.view.tokens < WINDOW

    def test_of_what_a_model_wrote_nothing_is_lost_to_an_extract_that_covers_more(self) -> None:
        """The extract was sent until it overflowed; the next one is built on the model's text again."""
        messages = filled(3000, 30, 50)
        context = bench(summary__max_tokens=200).context(messages)
        base = stored(context, 4, "model", "They met at the pier.")
        longer = stored(context, 20, "extractive", "Some words.")
        plan, sent = fitted(messages, base, longer, summary__max_tokens=200)
        assert plan.made is not None and plan.made.parent == base.digest and plan.made.covers > 20
        assert "They met at the pier." in text_in(sent[0])
        assert "Some words." not in text_in(sent[0])

    def test_a_tool_result_gives_way_before_the_summary_does(self) -> None:
        result = weighing("tool", 3000, tool_call_id="call_0")
        messages = [*chat(3, 300), *script("text"), weighing("user", 30), *script("call"), result]
        told = " ".join(f"Crate {number} went to pier {number + 3}." for number in range(15))
        base = stored(bench(summary__max_tokens=400).context(messages), 6, "model", told)
        plan, sent = fitted(messages, base, summary__max_tokens=400)
        assert plan.view.tokens < WINDOW and told in text_in(sent[0])

    def test_a_long_text_of_a_model_makes_room_for_what_follows(self) -> None:
        messages = filled(3000, 30, 50)
        base = stored(bench().context(messages), 4, "model", "They met at the pier. " * 50)
        plan, _ = fitted(messages, base)
        assert plan.made is not None and plan.made.segments[0].text != base.text
        assert bench().raw_tokens(plan.made.text) <= 80

    def test_and_leaves_it_two_fifths(self) -> None:
        facts = [f"Gate {day} of the harbour has the code 47{day}, said Ingrid." for day in range(60)]
        messages = [
            {"role": "user" if i % 2 == 0 else "assistant", "content": f} for i, f in enumerate(facts)
        ]
        messages.append(weighing("user", 10))
        base = stored(bench().context(messages), 4, "model", "They met at the pier. " * 50)
        plan, _ = fitted(messages, base, summary__max_tokens=200)
        assert plan.made is not None and [segment.start for segment in plan.made.segments] == [0, 4]
        old, new = (bench().raw_tokens(segment.text) for segment in plan.made.segments)
        assert 40 < new < old <= 120

    def test_a_summary_is_never_shown_longer_than_it_was_made(self) -> None:
        result = weighing("tool", 1500, tool_call_id="call_0")
        messages = [*chat(3, 100), *script("text"), weighing("user", 30), *script("call"), result]
        setup = bench(summary__max_tokens=400)
        told = " ".join(f"Crate {number} went to pier {number + 3}." for number in range(60))
        base = stored(setup.context(messages), 6, "model", told, limit=150)
        plan, sent = fitted(messages, base, summary__max_tokens=400)
        used = plan.view.compaction
        assert used is not None and used.kind == "model" and used.limit is not None and used.limit <= 150
        assert setup.calibrated_tokens(sent[0]) <= 150

    def test_nor_longer_than_the_policy_says_now(self) -> None:
        messages = filled(900, 10, 40)
        context = bench().context(messages)
        told = "They met at the pier. " * 50
        views = [
            ViewBuilder(context).build_view(stored(context, 4, text=told, limit=n)) for n in (None, 60, 4_000)
        ]
        assert len({view.tokens for view in views}) == 1

    def test_it_says_what_it_replaced_and_by_how_much(self) -> None:
        messages = filled(1000, 20, 20)
        plan, sent = fitted(messages)
        context = bench().context(messages)
        assert plan.made is not None
        assert plan.made.tokens_before == context.measure.between(0, plan.made.covers)
        # Not only the summary message stands in the place of what was covered.
        kept = sum(map(context.calibrated_tokens, messages[plan.made.covers :]))
        assert plan.made.tokens_after == sum(map(context.calibrated_tokens, sent)) - kept
        assert plan.made.since == len(messages) - 1


class TestQuoted:
    """What is made to fit leaves room for what the question needs."""

    def asked(self, last: int, model: str = "gpt-4o", **paths: Any) -> Plan:
        """A question about an early message, behind so many words of its own."""
        keep = {"levels__medium__keep_last": 2, "levels__aggressive__keep_last": 1}
        setup = Bench(WINDOW, policy(**keep, **paths), model)
        day = "Crate {} went from pier {} to the old harbour of Bergen on a rainy day. "
        talk = [
            {"role": ("user", "assistant")[n % 2], "content": day.format(n, n + 3) * 3} for n in range(24)
        ]
        plan = setup.plan(
            [*talk, {"role": "user", "content": "word " * last + "Where did crate 3 go, and crate 8?"}]
        )
        assert plan.level == "aggressive" and plan.made is not None
        return plan

    @pytest.mark.parametrize("last", [460, 560, 660])
    def test_a_block_is_shorter_by_what_may_be_quoted(self, last: int) -> None:
        plan = self.asked(last, summary__max_tokens=400, recall__max_tokens=90)
        assert plan.made is not None and plan.made.limit is not None and plan.made.limit < 400
        assert plan.view.recalls and plan.made.quotes is None and plan.view.tokens < 950

    def test_where_not_all_quotes_fit_some_do(self) -> None:
        plan = self.asked(350, "anthropic/claude-sonnet-4-5", summary__max_tokens=60, recall__max_tokens=400)
        assert plan.made is not None and plan.made.quotes
        assert plan.view.recalls and plan.view.tokens < 950


class TestClear:
    """Old tool results replaced in one block, where nothing better is ready."""

    def test_at_medium_old_results_go_and_the_last_messages_stay(self) -> None:
        messages = loop(4, 200)
        plan = bench(levels__medium__keep_last=4).plan(messages)
        sent = sent_by(plan, bench(levels__medium__keep_last=4).context(messages))
        assert (plan.level, plan.outcome) == ("medium", "fallback")
        assert plan.made is not None and (plan.made.kind, plan.made.covers) == ("cleared", 5)
        assert all(a is b for a, b in zip(sent[5:], messages[5:], strict=True))
        cleared = [i for i, m in enumerate(sent) if text_in(m).startswith("[old tool result cleared")]
        assert cleared == [2, 4]
        assert plan.view.tokens < 750 and plan.view.summary_message is None

    def test_it_says_how_much_it_saved(self) -> None:
        messages = loop(4, 200)
        plan = bench(levels__medium__keep_last=4).plan(messages)
        assert plan.made is not None
        saved = plan.made.tokens_before - plan.made.tokens_after
        assert saved == plan.tokens_before - plan.view.tokens > 0

    def test_a_summary_that_is_ready_is_better(self) -> None:
        messages = loop(4, 200)
        kept = stored(bench().context(messages), 5)
        plan = bench(levels__medium__keep_last=4).plan(messages, [kept])
        assert plan.view.compaction == kept and plan.made is None

    def test_not_where_too_little_is_saved(self) -> None:
        messages = [weighing("user", 500), *loop(2, 160)[1:]]
        plan = bench(levels__medium__keep_last=2).plan(messages)
        assert (plan.level, plan.made) == ("medium", None)

    @pytest.mark.parametrize(
        ("messages", "keep"), [(loop(4, 140), 4), (loop(4, 200), 9), (loop(1, 860), 1), (chat(8, 58), 4)]
    )
    def test_not_where_there_is_nothing_to_clear(self, messages: list[Any], keep: int) -> None:
        assert clear_results(ViewBuilder(bench().context(messages)), keep) is None


def told(count: int) -> list[Any]:
    """So many messages, each its own."""
    return [{"role": ("user", "assistant")[i % 2], "content": f"Number {i}."} for i in range(count)]


class TestReadingAhead:
    """After a call near the window, for the next."""

    def read(self, setup: Bench, messages: list[Any], start: int) -> list[bool]:
        """Which messages are read after reading ahead from one on."""
        context = setup.context(messages)
        read_ahead(context, start)
        return [digest in setup.caches.readings for digest in context.digests]

    def test_what_a_model_covers_is_not_read(self) -> None:
        messages = told(12)
        assert self.read(bench(), messages, 8) == [False] * 8 + [True] * (len(messages) - 8)

    def test_no_more_is_read_than_is_kept(self) -> None:
        setup, messages = bench(), told(12)
        setup.caches = replace(setup.caches, readings=DerivedCache(5))
        # The mark of what has been read takes the fifth place.
        assert self.read(setup, messages, 2) == [False] * 2 + [True] * 4 + [False] * (len(messages) - 6)

    def test_what_an_earlier_call_has_read_is_not_read_again(self, monkeypatch: pytest.MonkeyPatch) -> None:
        setup, messages, read = bench(), told(12), list[Message]()
        monkeypatch.setattr(fitting, "_read", lambda _, masked, __: read.extend(masked))
        for end in (len(messages) - 2, len(messages), len(messages)):
            read_ahead(setup.context(messages[:end]), 0)
        assert read == messages
        branch = [*messages[:4], {"role": "user", "content": "Something else."}, *messages[5:]]
        read_ahead(setup.context(branch), 0)
        assert read[len(messages) :] == branch
