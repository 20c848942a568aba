"""One number for one message, wherever people see it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_compaction.core.records.call_snapshot import (
    CallSnapshot,
    find_bounds,
    name_messages,
    number_messages,
)

SENT = ("preamble", "covered", "recalled", "cleared", "shortened", "verbatim")
SAW = ("preamble", "summary", "acknowledgement", "opener", "cleared", "shortened", "quoting", "verbatim")


def call(sent: list[str], saw: list[str], covers: int = 0) -> CallSnapshot:
    """A call of these fates."""
    return CallSnapshot(
        0.0, tuple(("user", 1, f) for f in sent), tuple(("user", 1, f) for f in saw), covers=covers
    )


@pytest.mark.parametrize(
    ("start", "end", "words"), [(0, 1, "message 1"), (8, 9, "message 9"), (0, 30, "messages 1–30")]
)
def test_words(start: int, end: int, words: str) -> None:
    assert name_messages(start, end) == words


def test_the_tail_has_the_same_numbers_on_both_sides() -> None:
    found = call(
        ["preamble", "covered", "recalled", "covered", "cleared", "verbatim"],
        ["preamble", "summary", "acknowledgement", "cleared", "verbatim"],
        covers=3,
    )
    assert find_bounds(found) == (1, 4, 3)
    assert number_messages(found) == ((None, 1, 2, 3, 4, 5), (None, None, None, 4, 5))


@pytest.mark.parametrize("opener", ["opener", "quoting"])
def test_the_opener_of_a_divided_turn_is_part_of_the_block(opener: str) -> None:
    found = call(
        ["preamble", "covered", "verbatim", "covered", "recalled", "verbatim", "verbatim"],
        ["preamble", "summary", "acknowledgement", opener, "verbatim", "verbatim"],
        covers=4,
    )
    assert find_bounds(found) == (1, 5, 4)
    assert number_messages(found) == ((None, 1, 2, 3, 4, 5, 6), (None, None, None, None, 5, 6))


def test_a_quoting_user_message_behind_the_block_keeps_its_number() -> None:
    found = call(["covered", "covered", "verbatim"], ["summary", "acknowledgement", "quoting"], covers=2)
    assert find_bounds(found) == (0, 2, 2)
    assert number_messages(found) == ((1, 2, 3), (None, None, 3))


def test_without_a_summary_both_sides_are_numbered_alike() -> None:
    found = call(["preamble", "cleared", "verbatim"], ["preamble", "cleared", "verbatim"])
    assert number_messages(found) == ((None, 1, 2), (None, 1, 2))


def test_nothing_at_all() -> None:
    assert number_messages(call([], [])) == ((), ()) and find_bounds(call([], [])) == (0, 0, 0)


@given(st.lists(st.sampled_from(SENT)), st.lists(st.sampled_from(SAW)), st.integers(0, 20))
def test_every_message_has_its_place(sent: list[str], saw: list[str], covers: int) -> None:
    found = call(sent, saw, covers)
    start, end, block = find_bounds(found)
    assert start <= end <= len(sent) and block <= len(saw)
    for side, fates in zip(number_messages(found), (sent, saw), strict=True):
        known = [number for number in side if number is not None]
        assert len(side) == len(fates) and known == sorted(set(known))
        assert side[len(side) - len(known) :] == tuple(known)
