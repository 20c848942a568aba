"""The tokens that a provider counts in one conversation and we do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_compaction.core.tokens.session_surplus import (
    MOST_MEDIA,
    NO_CORRECTION,
    Growth,
    Report,
    SessionSurplus,
)
from tests.core.search import search

WINDOW = ROOM = 20_000
# The count of a request that is at least as long as what was reported of.
LONG = 10**6


def learned(*reports: Report, factor: float = 1.0) -> SessionSurplus:
    known = SessionSurplus()
    for report in reports:
        known, _ = known.learn(report, factor)
    return known


def floor(known: SessionSurplus, counted: int, media: int = 0) -> int:
    """Tokens of a request as it came, by our count and the correction."""
    correction = known.correct(1.0, WINDOW, ROOM, counted)
    more = int(media * (correction.media - 1))
    return counted + more + correction.beside + correction.unexplained


class TestFloor:
    """The last report bounds the next request from below."""

    @search
    @given(st.integers(1, 20_000), st.integers(1, 20_000), st.integers(0, 20_000), st.integers(0, 5_000))
    def test_it_is_never_below_what_was_reported_and_what_was_added(
        self, reported: int, counted: int, media: int, added: int
    ) -> None:
        media = min(media, counted)
        known = learned(Report(reported, counted, media))
        assert floor(known, counted + added, media) >= max(reported, counted) + added - 1

    def test_a_report_below_our_count_changes_nothing(self) -> None:
        known = learned(Report(4_000, 5_000), Report(3_000, 5_000, 1_500, compacted=True))
        assert known.correct(1.0, WINDOW, ROOM, LONG) == NO_CORRECTION

    def test_a_factor_that_explains_it_leaves_no_surplus(self) -> None:
        known = learned(Report(12_000, 10_000))
        assert known.correct(1.0, WINDOW, ROOM, LONG).beside == 2_000
        assert known.correct(1.2, WINDOW, ROOM, LONG) == NO_CORRECTION

    def test_it_stays_beside_whatever_is_compacted(self) -> None:
        assert learned(Report(17_660, 10_000)).correct(1.0, WINDOW, ROOM, LONG).beside == 7_660

    def test_a_compacted_request_says_how_much_of_it_stays(self) -> None:
        known = learned(Report(18_000, 10_000), Report(7_000, 4_000, compacted=True))
        correction = known.correct(1.0, WINDOW, ROOM, LONG)
        assert (correction.beside, correction.unexplained) == (3_000, 5_000)

    def test_and_never_that_the_request_would_fit_as_it_came(self) -> None:
        plain = learned(Report(18_000, 10_000))
        compacted, _ = plain.learn(Report(4_000, 4_000, compacted=True), 1.0)
        assert floor(compacted, 10_300) == floor(plain, 10_300) == 18_300

    def test_a_short_one_that_opens_alike_has_its_share(self) -> None:
        known = learned(Report(18_000, 10_000))
        assert floor(known, 1_000) == 1_800

    def test_until_then_it_leaves_half_of_the_window(self) -> None:
        correction = learned(Report(120_000, 50_000)).correct(1.0, WINDOW, ROOM, LONG)
        assert (correction.beside, correction.unexplained) == (WINDOW // 2, 70_000 - WINDOW // 2)

    @pytest.mark.parametrize("compacted", [False, True])
    def test_what_a_refusal_told_is_not_taken_back_by_an_estimate(self, compacted: bool) -> None:
        """Where a stream brings no usage, the host makes one up of its own count."""
        refusal = Report(21_000, 9_000, compacted=compacted, refused=True)
        known = learned(refusal, Report(8_000, 8_000, compacted=compacted))
        assert floor(known, 9_000) == 21_000
        correction = known.correct(1.0, WINDOW, ROOM, LONG)
        assert correction.beside == (12_000 if compacted else WINDOW // 2)

    @pytest.mark.parametrize("reported", [11_000, 12_000])
    def test_but_by_a_report_of_the_provider(self, reported: int) -> None:
        known = learned(Report(21_000, 9_000, refused=True), Report(reported, 8_000))
        assert floor(known, 9_000) == reported + 1_000

    def test_and_by_the_next_refusal(self) -> None:
        known = learned(Report(21_000, 9_000, refused=True), Report(20_500, 19_000, refused=True))
        assert floor(known, 19_000) == 20_500

    def test_a_refusal_without_a_number_says_that_it_was_more_than_fits(self) -> None:
        known = learned(Report(ROOM, 9_000, at_least=True))
        assert floor(known, 9_000) == ROOM
        # What is known of the window by now explains it: there is no fault in the count.
        assert known.correct(1.0, 8_000, 8_000, LONG) == NO_CORRECTION


class TestMedia:
    """What pictures and files really cost in this conversation."""

    def test_a_first_report_is_explained_by_them(self) -> None:
        known = learned(Report(9_488, 1_305, 1_105))
        assert known.media == pytest.approx(1 + (9_488 - 1_305) / 1_105)
        assert known.correct(1.0, WINDOW, ROOM, LONG).beside == 0

    def test_two_reports_tell_it_from_what_stands_beside(self) -> None:
        """Tools of 6,000 tokens, and pictures that cost twice what we say."""
        known = learned(Report(6_200 + 2_000, 1_200, 1_000), Report(6_400 + 4_000, 2_400, 2_000))
        correction = known.correct(1.0, WINDOW, ROOM, LONG)
        assert (correction.media, correction.beside) == (2.0, 6_000)

    def test_no_picture_costs_more_than_any_does(self) -> None:
        known = learned(Report(7_760, 185, 85))
        correction = known.correct(1.0, WINDOW, ROOM, LONG)
        assert correction.media == MOST_MEDIA
        assert correction.beside == 7_760 - 185 - 19 * 85

    def test_one_that_costs_less_is_not_made_cheaper(self) -> None:
        assert learned(Report(2_000, 23_000, 22_500)).media == 1.0

    def test_what_they_cost_goes_with_them(self) -> None:
        known = learned(Report(9_488 * 3, 1_305 * 3, 1_105 * 3))
        assert known.correct(1.0, WINDOW, ROOM, LONG).beside == 0, "a compacted request without them is small"


class TestGrowth:
    """What the model's factor may learn from."""

    def learn(self, *reports: Report) -> list[Growth | None]:
        known, growths = SessionSurplus(), []
        for report in reports:
            known, growth = known.learn(report, 1.0)
            growths.append(growth)
        return growths

    def test_a_first_report_teaches_nothing(self) -> None:
        assert self.learn(Report(17_660, 10_000)) == [None]

    def test_what_is_constant_is_not_in_it(self) -> None:
        assert self.learn(Report(17_660, 10_000), Report(18_160, 10_500)) == [None, Growth(500, 500)]

    def test_small_steps_are_waited_for(self) -> None:
        steps = [Report(1_000, 1_000), Report(1_150, 1_100), Report(1_300, 1_200), Report(1_345, 1_230)]
        assert self.learn(*steps) == [None, None, Growth(300, 200), None]

    def test_a_compaction_is_a_step_back(self) -> None:
        steps = [Report(17_660, 10_000), Report(9_660, 2_000, compacted=True)]
        assert self.learn(*steps) == [None, Growth(8_000, 8_000)]

    def test_what_is_priced_by_a_rule_of_thumb_is_not_compared(self) -> None:
        steps = [Report(9_000, 2_000, 1_105), Report(19_000, 4_000, 2_210), Report(19_600, 4_500, 2_210)]
        assert self.learn(*steps) == [None, None, Growth(600, 500)]

    @pytest.mark.parametrize("how", [{"at_least": True}, {"refused": True}])
    def test_a_refusal_is_no_report(self, how: dict[str, bool]) -> None:
        steps = [Report(9_000, 2_000), Report(ROOM, 2_500, **how), Report(9_600, 2_500)]
        assert self.learn(*steps) == [None, None, Growth(600, 500)]
