"""One number for one message, wherever people see it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_compaction.core.last_call import LastCall
from gateway_compaction.core.numbering import messages, numbers, parted

SENT = ("preamble", "covered", "recalled", "cleared", "shortened", "verbatim")
SAW = ("preamble", "summary", "acknowledgement", "opener", "cleared", "shortened", "quoting", "verbatim")


def call(sent: list[str], saw: list[str]) -> LastCall:
    """A call of these fates."""
    return LastCall(0.0, tuple(("user", 1, f) for f in sent), tuple(("user", 1, f) for f in saw))


@pytest.mark.parametrize(
    ("start", "end", "words"), [(0, 1, "message 1"), (8, 9, "message 9"), (0, 30, "messages 1–30")]
)
def test_words(start: int, end: int, words: str) -> None:
    assert messages(start, end) == words


def test_the_tail_has_the_same_numbers_on_both_sides() -> None:
    found = call(
        ["preamble", "covered", "recalled", "covered", "cleared", "verbatim"],
        ["preamble", "summary", "acknowledgement", "cleared", "verbatim"],
    )
    assert parted(found) == (1, 4, 3)
    assert numbers(found) == ((None, 1, 2, 3, 4, 5), (None, None, None, 4, 5))


def test_without_a_summary_both_sides_are_numbered_alike() -> None:
    found = call(["preamble", "cleared", "verbatim"], ["preamble", "cleared", "verbatim"])
    assert numbers(found) == ((None, 1, 2), (None, 1, 2))


def test_nothing_at_all() -> None:
    assert numbers(call([], [])) == ((), ()) and parted(call([], [])) == (0, 0, 0)


@given(st.lists(st.sampled_from(SENT)), st.lists(st.sampled_from(SAW)))
def test_every_message_has_its_place_whatever_was_stored(sent: list[str], saw: list[str]) -> None:
    found = call(sent, saw)
    start, end, block = parted(found)
    assert start <= end <= len(sent) and block <= len(saw)
    for side, fates in zip(numbers(found), (sent, saw), strict=True):
        known = [number for number in side if number is not None]
        assert len(side) == len(fates) and known == sorted(set(known))
        assert side[len(side) - len(known) :] == tuple(known)
