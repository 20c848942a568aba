"""What counts as surviving."""

from __future__ import annotations

import pytest

from gateway_compaction.evaluation.intervals import mean_with_interval
from gateway_compaction.evaluation.metrics import SentText, answer_words
from gateway_compaction.evaluation.summaries import names_in_context
from tests.evaluation.talks import said

LONG = "We booked the ferry to Bergen. It leaves on the fourteenth of March. My sister meets us at the pier."


def context(*texts: str) -> SentText:
    """What some texts hold."""
    return SentText.of([said("user", text) for text in texts])


class TestEvidence:
    """Whether a message is still there."""

    def test_the_whole_message_counts_whatever_its_spaces(self) -> None:
        assert context(LONG.replace(". ", ".\n")).keeps(said("user", LONG), answer_words("Oslo"))

    def test_an_excerpt_counts_with_every_answer_word_that_the_message_had(self) -> None:
        message, kept = said("user", LONG), context("It leaves on the fourteenth of March.")
        assert kept.keeps(message, answer_words("the fourteenth of March"))
        assert kept.keeps(message, answer_words("March, so in spring"))
        assert not kept.keeps(message, answer_words("March, from the pier"))

    def test_words_alone_are_no_excerpt(self) -> None:
        assert not context("fourteenth March ferry").keeps(said("user", LONG), answer_words("March"))

    def test_an_empty_message_is_not_there(self) -> None:
        assert not context("x").keeps(said("user", ""), answer_words("x"))


def test_an_answer_needs_all_its_words_in_any_form() -> None:
    assert context("She was booking ferries.").has_words(answer_words("booked a ferry"))
    assert not context("She was booking.").has_words(answer_words("booked a ferry"))


@pytest.mark.parametrize(("text", "kept"), [("see a/b_c.py:", True), ("a/b_c.pyx", False), ("b_c", False)])
def test_an_identifier_needs_its_exact_spelling(text: str, kept: bool) -> None:
    assert context(text).spells("a/b_c.py") is kept


def test_a_long_task_may_lose_its_middle() -> None:
    task = "Start here and go on. " * 20 + "word " * 200 + "And then this is the very end of it, thank you."
    assert context(task[:150], task[-80:]).holds_task(task)
    assert not context(task[:150]).holds_task(task) and not context(task[-80:]).holds_task(task)
    assert context("Do it.").holds_task("Do it.")


def test_an_identifier_in_context_stands_beside_its_words() -> None:
    source = [said("assistant", "I will now open the file src/cart.py because prices are rounded there.")]
    names = ("src/cart.py",)
    assert names_in_context("open the file src/cart.py because", source, names) == set(names)
    assert names_in_context("identifiers: src/cart.py, src/shop.py, prices", source, names) == set()
    assert names_in_context("nothing", source, names) == set()


class TestIntervals:
    """Means, and how sure they are."""

    def test_the_mean_is_over_items_the_interval_over_conversations(self) -> None:
        found = mean_with_interval([("a", 1.0)] * 30 + [("b", 0.0)] * 10)
        assert found is not None and found.value == 0.75
        assert (found.low, found.high) == (0.0, 1.0)
        assert (found.items, found.conversations, found.over) == (40, 2, "conversations")

    def test_with_one_conversation_it_is_over_items(self) -> None:
        found = mean_with_interval([("a", 1.0)] * 50 + [("a", 0.0)] * 50)
        assert found is not None and found.over == "items"
        assert 0.38 < found.low < 0.45 and 0.55 < found.high < 0.62

    def test_it_is_the_same_every_time(self) -> None:
        values = [(str(n % 7), n % 3 / 2) for n in range(100)]
        assert mean_with_interval(values) == mean_with_interval(values)

    def test_nothing_has_no_mean(self) -> None:
        assert mean_with_interval([]) is None
