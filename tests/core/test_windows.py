"""Windows as refusals teach them."""

from __future__ import annotations

import pytest

from gateway_compaction.core.tokens.windows import (
    HOUR,
    LEARNED_SECONDS,
    LEAST_WINDOW,
    MOST_DEPLOYMENTS,
    LearnedWindow,
    WindowBook,
)

NOW = 1_000_000.0
ABOUT = LearnedWindow(model="gpt-4o", declared=8_000)


def refuse(book: WindowBook, told: int | None, sent: int | None, now: float = NOW) -> LearnedWindow:
    return book.refuse("d", told, sent, now, ABOUT)


def test_what_is_told_is_stronger_than_a_larger_declared_one_and_no_other() -> None:
    book = WindowBook()
    assert book.window("d", 8_000, NOW) == 8_000 and book.window("d", None, NOW) is None
    assert refuse(book, 3_000, 3_100) == LearnedWindow(3_000, at=(NOW,), model="gpt-4o", declared=8_000)
    assert book.window("d", 8_000, NOW) == book.window("d", None, NOW) == 3_000
    assert book.window("d", 2_000, NOW) == 2_000
    assert book.window("another", 8_000, NOW) == 8_000


def test_the_latest_told_holds() -> None:
    book = WindowBook()
    refuse(book, 3_000, 3_100)
    refuse(book, 4_000, 4_100)
    assert book.window("d", 8_000, NOW) == 4_000


def test_it_holds_for_a_day() -> None:
    book = WindowBook()
    refuse(book, 3_000, 3_100)
    assert book.window("d", 8_000, NOW + LEARNED_SECONDS - 1) == 3_000
    assert book.window("d", 8_000, NOW + LEARNED_SECONDS) == 8_000
    assert book.all(NOW + LEARNED_SECONDS) == {}
    assert refuse(book, None, 6_000, NOW + LEARNED_SECONDS).told is None


@pytest.mark.parametrize(
    ("passed", "refused", "window"),
    [
        (2_900, 3_050, 2_897),
        (2_000, 3_000, 2_000),
        (900, 8_000, 4_000),
        (None, 8_000, 4_000),
        (9_000, 3_000, 2_850),
    ],
)
def test_without_a_number_what_passed_and_what_was_refused_bound_it(
    passed: int | None, refused: int, window: int
) -> None:
    book = WindowBook()
    if passed is not None:
        assert book.answer("d", passed, NOW) is None
    refuse(book, None, refused)
    assert book.window("d", 200_000, NOW) == window


def test_after_two_refusals_in_an_hour_nothing_larger_than_what_passed_is_tried() -> None:
    book = WindowBook()
    book.answer("d", 900, NOW)
    refuse(book, None, 8_000)
    refuse(book, None, 4_000, NOW + 1)
    assert book.window("d", None, NOW + 2) == 900
    assert book.window("d", None, NOW + HOUR + 1) == 2_000
    raised = book.answer("d", 1_400, NOW + 2)
    assert raised is not None and raised.passed == 1_400
    assert book.window("d", None, NOW + 2) == 1_400
    assert book.answer("d", 1_400, NOW + 2) is None, "it is shared once"


def test_a_refusal_of_what_by_our_count_fits_bounds_what_was_told() -> None:
    book = WindowBook()
    refuse(book, 3_000, 3_100)
    refuse(book, None, 2_900, NOW + 1)
    assert book.window("d", None, NOW + 2) == 1_450
    refuse(book, None, 3_500, NOW + 3)
    assert book.all(NOW + 3)["d"].refused == 2_900


def test_a_refusal_that_says_nothing_of_the_window_teaches_none() -> None:
    book = WindowBook()
    assert refuse(book, None, None).window(NOW) is None
    assert book.window("d", 8_000, NOW) == 8_000 and book.all(NOW) == {}


def test_no_window_is_too_small_to_be_fitted() -> None:
    book = WindowBook()
    refuse(book, 150, 160)
    assert book.window("d", 8_000, NOW) == LEAST_WINDOW


def test_a_small_request_that_is_refused_bounds_nothing() -> None:
    book = WindowBook()
    refuse(book, None, 3)
    assert book.window("d", 8_000, NOW) == 8_000


def test_reports_do_not_unteach_what_was_told() -> None:
    book = WindowBook()
    refuse(book, 3_000, 3_100)
    book.answer("d", 10**9, NOW)
    assert book.window("d", 8_000, NOW) == 3_000


@pytest.mark.parametrize(
    ("prompt", "refusals", "window"),
    [(3_050, 1, 3_000), (3_300, 1, 8_000), (3_300, 2, 3_000), (0, 1, 3_000)],
)
def test_a_prompt_that_passed_disproves_a_smaller_limit(prompt: int, refusals: int, window: int) -> None:
    book, other = WindowBook(), WindowBook()
    for number in range(refusals):
        refuse(book, 3_000, 3_100, NOW + number)
    other.adopt(book.all(NOW))
    shared = book.answer("d", prompt + 500, NOW + 5, prompt)
    assert book.window("d", 8_000, NOW + 5) == window and (shared is not None) == (window == 8_000)
    if shared is not None:
        other.adopt({"d": shared})
    assert other.window("d", 8_000, NOW + 5) == window
    # An hour later the several servers of one name may all have been started again.
    book.answer("d", 4_000, NOW + HOUR + 5, 3_300)
    assert book.window("d", 8_000, NOW + HOUR + 5) == 8_000


def test_what_passed_more_than_a_day_ago_says_nothing() -> None:
    book = WindowBook()
    book.answer("d", 50_000, NOW)
    assert refuse(book, 4_096, 4_500, NOW + LEARNED_SECONDS - 1).told is None
    assert refuse(book, 4_096, 4_500, NOW + LEARNED_SECONDS).told == 4_096
    book.answer("d", 900, NOW + LEARNED_SECONDS)
    assert refuse(book, 1_024, 1_100, NOW + LEARNED_SECONDS + 1).told == 1_024


def test_of_two_replicas_the_later_is_believed() -> None:
    ours, theirs = WindowBook(), WindowBook()
    refuse(ours, 3_000, 3_100, NOW + 5)
    refuse(theirs, 4_000, 4_100, NOW)
    ours.adopt(theirs.all(NOW))
    assert ours.window("d", None, NOW + 5) == 3_000
    theirs.adopt(ours.all(NOW + 5))
    assert theirs.window("d", None, NOW + 5) == 3_000
    theirs.adopt({"d": LearnedWindow(told=9)})
    assert theirs.window("d", None, NOW + 5) == 3_000


@pytest.mark.parametrize("own_refusal", [False, True])
def test_a_shared_limit_that_own_requests_contradict_is_not_adopted(own_refusal: bool) -> None:
    ours, theirs = WindowBook(), WindowBook()
    if own_refusal:
        refuse(ours, None, 100_000, NOW - 2)
    ours.answer("d", 50_000, NOW)
    before = ours.all(NOW)
    refuse(theirs, 8_192, 9_000)
    ours.adopt(theirs.all(NOW))
    assert ours.all(NOW) == before
    # Counts differ: what is not far below is believed, and so is a bound without a number.
    refuse(theirs, 20_000, 21_000, NOW + 1)
    ours.adopt(theirs.all(NOW + 1))
    assert ours.window("d", None, NOW + 1) == 20_000
    ours.adopt({"d": LearnedWindow(refused=60_000, at=(NOW + 2,))})
    assert ours.window("d", None, NOW + 2) == 30_000


def test_deployments_are_bounded() -> None:
    book = WindowBook()
    for number in range(MOST_DEPLOYMENTS + 50):
        book.answer(str(number), 5, NOW)
        book.refuse(str(number), 3_000, None, NOW, ABOUT)
    assert len(book.all(NOW)) == MOST_DEPLOYMENTS and "0" not in book.all(NOW)


@pytest.mark.parametrize(("told", "sent", "answered"), [(1_024, 60, 0), (1_024, 5_000, 150_000)])
def test_a_limit_that_nothing_bears_out_is_not_believed(told: int, sent: int, answered: int) -> None:
    book = WindowBook()
    if answered:
        book.answer("d", answered, NOW)
    book.refuse("d", told, sent, NOW, LearnedWindow())
    assert book.window("d", 200_000, NOW) == 200_000
