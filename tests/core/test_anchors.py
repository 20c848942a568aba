"""Anchors: the score of a sentence, and the few that survive every summary word for word."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_compaction.core.pins.anchors import Scoring, choose_anchors, score_message, score_sentence
from gateway_compaction.core.planning.views import ViewBuilder
from gateway_compaction.core.tokens.counter import TokenCounter
from tests.core.builders import Bench, policy, stored
from tests.core.invariants import text_in
from tests.core.search import search
from tests.core.strategies import Json, Talk, odd_messages, talks
from tests.core.weights import chat

COUNTER = TokenCounter()
PLAIN = Scoring()
SILENT = Scoring(0.0, 0.0, 0.0, 0.0)


def count(text: str) -> int:
    """Tokens of a text."""
    return COUNTER.raw_tokens(text, "gpt-4o")


def said(role: str, text: str) -> Json:
    """A message."""
    return {"role": role, "content": text}


def anchored(*messages: Json, most: int = 9, tokens: int = 900, scoring: Scoring = PLAIN) -> list[str]:
    """The anchors of some messages."""
    return [a.text for a in choose_anchors(messages, most, tokens, scoring, count)]


EXPLICIT = "Please remember that the gate code is 4711."
DECIDED = "We decided to use Postgres for the ledger."
FOUND = "error: 3 tests failed in tests/test_cart.py"
IDLE = "The weather was quite nice on that long afternoon."


class TestScore:
    """Reasons add up, each by the weight of the policy."""

    @pytest.mark.parametrize(
        ("sentence", "part"), [(EXPLICIT, "user"), (DECIDED, "assistant"), (FOUND, "tool")]
    )
    def test_a_reason_makes_a_sentence_matter(self, sentence: str, part: str) -> None:
        assert score_sentence(sentence, part, PLAIN) > 0.5 > score_sentence(IDLE, part, PLAIN)

    def test_an_explicit_wish_counts_most_and_idle_talk_nothing(self) -> None:
        scores = [score_sentence(s, "user", PLAIN) for s in (EXPLICIT, DECIDED, IDLE)]
        assert scores[0] == 1.0 > scores[1] > scores[2] == 0.0

    @pytest.mark.parametrize("part", ["tool", "assistant"])
    def test_only_users_ask_to_remember(self, part: str) -> None:
        assert score_sentence(EXPLICIT, part, PLAIN) < score_sentence(EXPLICIT, "user", PLAIN)

    @pytest.mark.parametrize(
        ("sentence", "part"),
        [
            ("Do you remember that code?", "user"),
            ("Have we decided to use Postgres?", "user"),
            ("We have not decided yet on that.", "user"),
            ("If we decide to use Postgres we need disks.", "user"),
        ],
    )
    def test_questions_and_open_points_decide_nothing(self, sentence: str, part: str) -> None:
        assert score_sentence(sentence, part, PLAIN) < 0.5

    def test_a_mark_counts_as_explicit(self) -> None:
        assert score_sentence(IDLE, "user", PLAIN, is_marked=True) == 1.0
        assert score_sentence(f"{IDLE} <!-- anchor -->", "assistant", PLAIN) == 1.0

    def test_keys_count(self) -> None:
        keyed = Scoring(keys=("order_id",))
        assert score_sentence("The order id: AB12.", "user", keyed) > score_sentence(
            "The order id: AB12.", "user", PLAIN
        )

    @search
    @given(st.text(max_size=80), st.sampled_from(["user", "assistant", "tool"]))
    def test_it_is_a_share_and_nothing_where_nothing_counts(self, sentence: str, part: str) -> None:
        assert 0.0 <= score_sentence(sentence, part, PLAIN) <= 1.0
        assert score_sentence(sentence, part, SILENT) == 0.0

    def test_a_message_matters_as_much_as_its_best_sentence(self) -> None:
        assert score_message(said("user", f"{IDLE} {EXPLICIT}"), PLAIN) == 1.0
        assert score_message(said("user", ""), PLAIN) == 0.0


class TestAnchors:
    """Few, short, verbatim, the best first taken."""

    def test_what_matters_is_found_in_the_order_it_was_said(self) -> None:
        messages = [said("user", f"{IDLE} {EXPLICIT}"), said("tool", FOUND), said("assistant", DECIDED)]
        assert anchored(*messages) == [EXPLICIT, FOUND, DECIDED]

    def test_the_best_are_taken(self) -> None:
        messages = [said("assistant", DECIDED), said("user", EXPLICIT)]
        assert anchored(*messages, most=1) == [EXPLICIT]

    @pytest.mark.parametrize(("most", "tokens"), [(0, 900), (9, 0), (9, 8)])
    def test_none_where_none_may_be(self, most: int, tokens: int) -> None:
        assert anchored(said("user", EXPLICIT), most=most, tokens=tokens) == []

    def test_what_is_shown_anyway_is_none(self) -> None:
        messages = [said("user", EXPLICIT)]
        assert choose_anchors(messages, 9, 900, PLAIN, count, (f"Task: {EXPLICIT}",)) == ()

    def test_the_same_words_are_kept_once(self) -> None:
        assert anchored(said("user", EXPLICIT), said("user", EXPLICIT)) == [EXPLICIT]

    def test_of_results_that_differ_in_numbers_the_last_stays(self) -> None:
        messages = [said("tool", f"error: {n} tests failed in tests/test_cart.py") for n in (3, 2, 1)]
        assert anchored(*messages) == ["error: 1 tests failed in tests/test_cart.py"]

    @pytest.mark.parametrize(
        "text",
        [
            f"```\n{EXPLICIT}\n```",
            f"> {EXPLICIT}",
            f"12: {EXPLICIT}",
            "Remember that " + "x" * 500 + ".",
            "Please remember that " + "the gate code is 4711 and " * 12 + "so on.",
            "Remember this.",
        ],
    )
    def test_code_quotes_and_oversized_or_empty_ones_are_none(self, text: str) -> None:
        assert anchored(said("user", text)) == []

    def test_instructions_are_left_to_the_rules(self) -> None:
        assert anchored(said("system", EXPLICIT), said("developer", DECIDED)) == []

    @pytest.mark.parametrize(
        "text",
        [
            "The heron flies low tonight. <!-- anchor -->",
            "<!-- anchor -->\nThe heron flies low tonight.",
            "Well. The heron flies low tonight <!-- anchor -->.",
            "<!-- anchor --> The heron flies low tonight.",
        ],
    )
    def test_a_mark_beside_a_sentence_is_meant_for_it(self, text: str) -> None:
        (found,) = anchored(said("user", text))
        assert "The heron flies low tonight" in found and "anchor" not in found

    @pytest.mark.parametrize("stray", ["Use ``` for code.", "So it is ```", "```py\nx = 1"])
    def test_a_fence_that_is_never_closed_takes_no_later_paragraph_away(self, stray: str) -> None:
        assert anchored(said("user", f"{stray}\n\n{EXPLICIT}")) == [EXPLICIT]

    @pytest.mark.parametrize(
        "decision",
        [
            "We decided to meet Mr. Briggs at gate 7.",
            "Wir haben beschlossen, am 3. Mai zu liefern.",
            "We agreed on v1.2 e.g. for the builds.",
        ],
    )
    def test_abbreviations_and_dates_cut_nothing_off(self, decision: str) -> None:
        assert anchored(said("assistant", f"Well. {decision} See you.")) == [decision]

    def test_a_mark_with_nothing_beside_it_is_none(self) -> None:
        assert anchored(said("user", "<!-- anchor -->")) == []

    def test_of_a_long_line_only_a_key_with_its_value_stays(self) -> None:
        row = ", ".join(f"field_{i}: value {i}" for i in range(80)) + ", order_id: AB-4711, done"
        found = anchored(said("tool", row), scoring=Scoring(keys=("order id",)))
        assert found == ["order_id: AB-4711"]

    def test_where_nothing_counts_there_is_none(self) -> None:
        messages = [said("user", EXPLICIT), said("tool", FOUND), said("assistant", DECIDED)]
        assert anchored(*messages, scoring=SILENT) == []

    def test_lines_of_programs_are_no_findings(self) -> None:
        code = "def failed(self): return self.total  # error 12\n    raise FailedError(12);"
        assert anchored(said("tool", code)) == []

    @search
    @given(talks, st.integers(0, 6), st.integers(0, 300))
    def test_they_keep_to_their_budget_and_are_verbatim(self, talk: Talk, most: int, tokens: int) -> None:
        found = choose_anchors(talk.messages, most, tokens, PLAIN, count)
        assert len(found) <= most and sum(count(a.text) for a in found) <= tokens
        assert all(a.text in text_in(talk.messages[a.message]).replace("<!-- anchor -->", "") for a in found)
        assert [(a.message, a.start) for a in found] == sorted((a.message, a.start) for a in found)

    @search
    @given(odd_messages)
    def test_every_json_message_can_be_searched(self, messages: list[Any]) -> None:
        keyed = Scoring(keys=("name", "order id"))
        assert choose_anchors(messages, 5, 300, keyed, count) == choose_anchors(
            messages, 5, 300, keyed, count
        )


class TestPolicy:
    """The policy says how many, and what counts."""

    def shown(self, **paths: Any) -> str:
        """The summary message of a chat in which something was decided."""
        bench = Bench(4000, policy(summary__max_tokens=600, **paths))
        messages = [*chat(2, 20), said("assistant", DECIDED), *chat(4, 20)]
        context = bench.context(messages)
        view = ViewBuilder(context).build_view(stored(context, 4))
        assert view.summary_message is not None
        return text_in(view.summary_message)

    def test_an_anchor_is_shown_with_whose_words_it_is(self) -> None:
        assert f"<anchors>\n- [assistant] {DECIDED}\n</anchors>" in self.shown()

    @pytest.mark.parametrize("paths", [{"anchors__max": 0}, {"anchors__weights__decision": 0.0}])
    def test_none_where_the_policy_wants_none(self, paths: dict[str, Any]) -> None:
        assert "<anchors>" not in self.shown(**paths)
