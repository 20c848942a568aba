"""Identifiers that later messages will need, and choosing what to tell of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_compaction.core.extractive.identifier_ledger import (
    SourceText,
    choose_ledger_lines,
    identifier_density,
    list_identifiers,
    read_sources,
    weigh_identifiers,
)
from gateway_compaction.core.extractive.selection import estimate_tokens, select_by_gain
from gateway_compaction.core.recall.passages import searchable_text_of
from gateway_compaction.core.summary.identifier_check import check_identifiers
from gateway_compaction.core.text.identifiers import find_identifiers, is_spelled_in
from gateway_compaction.core.text.shorten import shorten
from gateway_compaction.core.tokens.counter import TokenCounter
from tests.core.search import search
from tests.core.strategies import Json, Talk, talks, texts

COUNTER = TokenCounter()


def count(text: str) -> int:
    """Tokens of a text."""
    return COUNTER.raw_tokens(text, "gpt-4o")


def said(role: str, text: str) -> Json:
    """A message."""
    return {"role": role, "content": text}


def found_in(messages: Iterable[Json]) -> list[tuple[SourceText, ...]]:
    """The texts of each message."""
    return [read_sources(message) for message in messages]


def searched(message: Json) -> str:
    """Everything that a message says."""
    return searchable_text_of(message)


def offering(offered: list[int], accepts: Callable[[int], bool] = lambda i: True) -> Callable[[int], bool]:
    """Takes pieces, and notes which were offered."""

    def take(i: int) -> bool:
        offered.append(i)
        return accepts(i)

    return take


class TestSelectByGain:
    """Pieces one by one, the best first, until too many are refused."""

    def test_the_best_first_and_of_equals_the_first(self) -> None:
        taken: list[int] = []
        worth = [1.0, 3.0, 3.0, 2.0]
        select_by_gain(worth, worth.__getitem__, offering(taken))
        assert taken == [1, 2, 3, 0]

    def test_what_is_worth_less_than_it_was_waits(self) -> None:
        worth = [5.0, 4.0, 3.0]
        taken: list[int] = []

        def take(i: int) -> bool:
            taken.append(i)
            worth[1] = 1.0
            return True

        select_by_gain([*worth], worth.__getitem__, take)
        assert taken == [0, 2, 1]

    def test_a_bound_that_promised_too_much_is_looked_at_again(self) -> None:
        taken: list[int] = []
        select_by_gain([9.0, 5.0, 4.0], [1.0, 2.0, 4.0].__getitem__, offering(taken))
        assert taken == [2, 1, 0]

    def test_what_is_worth_nothing_is_not_offered(self) -> None:
        select_by_gain([1.0] * 3, lambda i: 0.0, lambda i: pytest.fail("it was offered"))

    def test_many_refusals_in_a_row_end_it(self) -> None:
        offered: list[int] = []
        select_by_gain([1000.0] * 1000, lambda i: 1000.0 - i, offering(offered, lambda i: False))
        assert len(offered) < 100

    def test_one_taken_in_between_goes_on(self) -> None:
        offered: list[int] = []
        select_by_gain([1000.0] * 200, lambda i: 1000.0 - i, offering(offered, lambda i: i % 50 == 0))
        assert len(offered) == 200

    @pytest.mark.parametrize("text", ["word " * 100, "語" * 100, "\ud83d"])
    def test_a_rough_count_has_the_right_order(self, text: str) -> None:
        assert 0.3 < estimate_tokens(text) / count(text) < 4


class TestIdentifiers:
    """Parts of longer names are told with them."""

    @pytest.mark.parametrize(
        ("name", "text", "there"),
        [
            ("cart.py", "see src/cart.py", True),
            ("cart.py", "see smart.py", False),
            ("ORD-12", "ORD-12 and more", True),
            ("ORD-12", "ORD-123", False),
        ],
    )
    def test_spelled_in(self, name: str, text: str, there: bool) -> None:
        assert is_spelled_in(name, text) == there


class TestWeights:
    """Weights: more for what a model wrote, a user named, or came up often and lately."""

    def weight(self, *messages: Json) -> dict[str, float]:
        """The weights of the identifiers in some messages."""
        return weigh_identifiers(found_in(messages))

    def test_speakers_differ(self) -> None:
        found = self.weight(
            said("tool", "a_tool_name"), said("user", "a_user_name"), said("assistant", "an_own_name")
        )
        assert found["an_own_name"] > found["a_user_name"] > found["a_tool_name"]

    def test_often_and_lately(self) -> None:
        found = self.weight(
            *[said("user", t) for t in ("early_name", "often_name", "often_name", "late_name")]
        )
        assert found["often_name"] > found["late_name"] > found["early_name"]

    def test_one_of_hundreds_weighs_little(self) -> None:
        crowd = " ".join(f"name_{i}" for i in range(300))
        found = self.weight(said("user", f"lone_name {crowd[:0]}"), said("user", crowd))
        assert found["lone_name"] > found["name_299"]

    def test_years_are_none(self) -> None:
        assert self.weight(said("user", "In 1998 and 2024 there were 4711.")).keys() == {"4711"}

    def test_arguments_of_calls_are_sources(self) -> None:
        call = {
            "function": {"name": "edit", "arguments": '{"path": "src/a_b.py", "text": "x\\ndef new_name()"}'}
        }
        message = {"role": "assistant", "content": None, "tool_calls": [call, "odd", {"function": 7}]}
        assert {"src/a_b.py", "new_name"} <= self.weight(message).keys()

    def test_agents_are_dense_and_chats_are_not(self) -> None:
        agent = found_in(
            [said("tool", "src/a.py:12 total_price ORD-12 src/b.py"), said("user", "run test_a.py")]
        )
        chat = found_in([said("user", "We had a lovely walk along the shore this morning, all of us.")])
        assert identifier_density(agent) > 5 > 1 > identifier_density(chat) == identifier_density([])


class TestLedger:
    """Lines that tell of them, and a list of the rest."""

    MESSAGES = (
        said("user", "Fix the total in src/shop/cart.py, please."),
        said("tool", "\n".join(f"src/shop/file_{i}.py:{i}: unused import" for i in range(50))),
        said("tool", "FAILED tests/test_cart.py::test_total - AssertionError in total_price"),
        said(
            "assistant",
            "The method total_price in src/shop/cart.py forgets the discount of order ORD-4711, so I "
            "change it and run tests/test_cart.py again before anything else is done about the rest of it.",
        ),
    )

    @search
    @given(talks, st.integers(0, 400))
    def test_both_keep_to_their_budgets_and_are_verbatim(self, talk: Talk, budget: int) -> None:
        found = found_in(talk.messages)
        pieces = choose_ledger_lines(found, weigh_identifiers(found), budget, count)
        assert sum(count(p.text) for p in pieces) <= budget
        spoken = " ".join(" ".join(searched(m).split()) for m in talk.messages)
        assert all(" ".join(p.text.split()) in spoken for p in pieces)
        assert count(list_identifiers(weigh_identifiers(found), "", budget, count)) <= max(budget, 0)

    def test_short_lines_stand_whole_and_long_ones_are_cut_to_the_words_around(self) -> None:
        found = found_in(self.MESSAGES)
        told = "\n".join(p.text for p in choose_ledger_lines(found, weigh_identifiers(found), 200, count))
        assert "FAILED tests/test_cart.py::test_total" in told
        assert "src/shop/cart.py" in told and "before anything else is done" not in told

    @pytest.mark.parametrize(("role", "whole"), [("assistant", True), ("user", True), ("tool", False)])
    def test_of_a_long_line_that_was_said_whole_sentences_stand(self, role: str, whole: bool) -> None:
        told = "The pump of order ORD-4711 is on its way to the depot in Hull and should be there soon."
        text = f"{'We looked at all that has been sent so far, as you asked us to. ' * 3}{told} That is all."
        found = found_in([said(role, text)])
        [piece] = choose_ledger_lines(found, weigh_identifiers(found), 200, count)
        assert piece.text == (told if whole else "pump of order ORD-4711 is on")

    def test_what_is_told_is_not_told_again(self) -> None:
        found = found_in([said("user", "Look at src/shop/cart.py now.")] * 9)
        assert len(choose_ledger_lines(found, weigh_identifiers(found), 500, count)) == 1

    @pytest.mark.parametrize("others", [0, 20])
    def test_lines_are_found_however_many_names_there_are(self, others: int) -> None:
        lines = ["see a_lone_name", "nothing here", "run tests/test_cart.py", "a_lone_name again"]
        more = [f"name_{i}" for i in range(others)]
        found = read_sources(said("tool", "\n".join([*lines, *more])))
        assert [line.text for line in found[0].lines] == [lines[0], *lines[2:], *more]
        assert [line.place for line in found[0].lines][:3] == [0, 29, 52]

    def test_very_long_lines_are_left_to_the_list(self) -> None:
        found = found_in([said("tool", "x " * 2000 + "lone_name")])
        assert choose_ledger_lines(found, weigh_identifiers(found), 500, count) == []
        assert list_identifiers(weigh_identifiers(found), "", 500, count) == "identifiers: lone_name"

    def test_words_that_are_too_long_to_show_are_left_to_the_list(self) -> None:
        found = found_in([said("tool", f"{'w' * 200} see a_lone_name in {'v' * 200} " + "x " * 20)])
        assert choose_ledger_lines(found, weigh_identifiers(found), 500, count) == []
        assert "a_lone_name" in list_identifiers(weigh_identifiers(found), "", 500, count)

    def test_what_is_known_is_not_told(self) -> None:
        found = found_in(self.MESSAGES[:1])
        assert len(choose_ledger_lines(found, weigh_identifiers(found), 200, count)) == 1
        assert (
            choose_ledger_lines(found, weigh_identifiers(found), 200, count, known="see src/shop/cart.py")
            == []
        )

    def test_whole_lines_alone_where_words_around_would_say_little(self) -> None:
        found = found_in(self.MESSAGES)
        told = [p.text for p in choose_ledger_lines(found, weigh_identifiers(found), 400, count, whole=True)]
        assert any("FAILED" in text for text in told) and not any("of order" in text for text in told)
        assert any(
            "of order" in p.text for p in choose_ledger_lines(found, weigh_identifiers(found), 400, count)
        )

    def test_the_list_leaves_out_what_is_told(self) -> None:
        found = weigh_identifiers(found_in(self.MESSAGES))
        assert "cart.py" not in list_identifiers({"src/shop/cart.py": 1.0}, "in src/shop/cart.py", 100, count)
        assert list_identifiers(found, "", 3, count) == ""
        assert list_identifiers(found, "", 60, count).startswith("identifiers: ")


class TestChecked:
    """Identifiers that a model's summary lost come back in one line; those it made up are counted."""

    SOURCE = (
        said("user", "The order ORD-4711 of ops@example.org is late."),
        said("tool", "status of ORD-4711: shipped; invoice INV-2024-17; total 12,500"),
    )

    def test_lost_identifiers_follow_the_text(self) -> None:
        result = check_identifiers("The customer's order is late.", self.SOURCE, "", 200, count)
        assert result.text.startswith("The customer's order is late.\nidentifiers: ")
        assert "ORD-4711" in result.text and result.unsourced == 0

    def test_where_none_is_lost_the_text_is_all(self) -> None:
        whole = "ORD-4711 of ops@example.org is late; shipped; INV-2024-17; total 12,500."
        assert check_identifiers(whole, self.SOURCE, "", 200, count).text == whole

    def test_a_line_of_its_own_is_replaced(self) -> None:
        result = check_identifiers("It is late.\nidentifiers: ORD-1", self.SOURCE, "", 200, count)
        assert result.text.count("identifiers:") == 1 and "ORD-1," not in result.text

    def test_what_stands_nowhere_in_the_source_is_counted(self) -> None:
        result = check_identifiers(
            "The order ORD-9999 was sent from src/made_up.py.", self.SOURCE, "", 200, count
        )
        assert result.unsourced == 2

    @pytest.mark.parametrize("text", ["The total is 12500.", "The total is 12,500.", "order ord-4711"])
    def test_other_spellings_are_not_made_up(self, text: str) -> None:
        assert check_identifiers(text, self.SOURCE, "", 200, count).unsourced == 0

    def test_the_summary_so_far_is_a_source_too(self) -> None:
        assert (
            check_identifiers(
                "See src/old_file.py.", self.SOURCE, "They read src/old_file.py.", 200, count
            ).unsourced
            == 0
        )

    @search
    @given(texts, talks, st.integers(60, 300), st.integers(1, 60))
    def test_it_keeps_to_its_limit(self, text: str, talk: Talk, limit: int, lost: int) -> None:
        """The lost ones have a quarter of the limit, and the text makes room for them."""
        named = said("user", " ".join(f"See src/part_{n}/old_file.py." for n in range(lost)))
        whole = shorten(f"They met. {text * 9}", limit, count)
        found = check_identifiers(whole, [*talk.messages, named], "", limit, count).text
        assert count(found) <= limit
        body, _, line = found.partition("\nidentifiers: ")
        assert count(line) <= limit // 4 and body.startswith("They")


@search
@given(texts, st.lists(st.sampled_from(["src/a_b.py", "ORD-4711", "ops@example.org", "a_b"])))
def test_identifiers_are_spelled_in_the_text_they_come_from(text: str, names: list[str]) -> None:
    whole = "\n".join([text, *names])
    found = find_identifiers(whole)
    assert all(name in whole for name in found) and set(names) <= set(found)
