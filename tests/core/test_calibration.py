"""Which encoding counts a model's texts, and how far a count may be corrected."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_compaction.core.tokens.calibration import MOST_MODELS, Calibration, family_of
from tests.core.cases import MODELS
from tests.core.search import search

LEAST, MOST = 0.85, 4.0
reports = st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 30_000)), max_size=30)


class TestFamilies:
    """Names with and without provider, version and deployment suffix."""

    @pytest.mark.parametrize(
        ("model", "encoding", "exact"),
        [
            ("gpt-4o-mini", "o200k_base", True),
            ("azure/my-gpt-4o", "o200k_base", True),
            ("openai/gpt-4.1", "o200k_base", True),
            ("chatgpt-4o-latest", "o200k_base", True),
            ("gpt-5-nano", "o200k_base", True),
            ("o3", "o200k_base", True),
            ("openai/o4-mini", "o200k_base", True),
            ("gpt-4", "cl100k_base", True),
            ("azure/gpt-35-turbo", "cl100k_base", True),
            ("gpt-3.5-turbo-16k", "cl100k_base", True),
            ("anthropic/claude-sonnet-4-5", "o200k_base", False),
            ("gemini/gemini-2.5-pro", "o200k_base", False),
            ("mistral/mistral-large", "o200k_base", False),
            ("somebody/model-x", "o200k_base", False),
            ("", "o200k_base", False),
        ],
    )
    def test_the_table(self, model: str, encoding: str, exact: bool) -> None:
        family = family_of(model)
        assert (family.encoding, family.exact) == (encoding, exact)
        assert family.factor >= 1.0

    def test_an_encoding_of_their_own_needs_no_margin(self) -> None:
        assert family_of("gpt-4o").factor == 1.0
        assert family_of("claude-haiku").factor > family_of("gemini-flash").factor > 1.0


class TestLearning:
    """A factor follows what providers report, slowly and within bounds."""

    @search
    @given(st.sampled_from(MODELS), reports)
    def test_it_stays_within_its_bounds(self, model: str, calls: list[tuple[int, int]]) -> None:
        calibration = Calibration()
        for counted, reported in calls:
            calibration.observe(model, counted, reported)
            least = 1.0 if family_of(model).exact else LEAST
            assert least <= calibration.factor(model) <= MOST

    @pytest.mark.parametrize("model", sorted(set(MODELS)))
    @pytest.mark.parametrize("ratio", [0.01, 0.5, 2.0, 30.0])
    def test_its_bounds_hold_in_the_long_run(self, model: str, ratio: float) -> None:
        calibration = Calibration()
        for _ in range(100):
            calibration.observe(model, 1000, int(1000 * ratio))
        least = 1.0 if family_of(model).exact else LEAST
        assert least <= calibration.factor(model) <= MOST

    @pytest.mark.parametrize("ratio", [0.9, 1.0, 1.15, 1.35, 1.5, 1.9, 2.2, 3.0])
    def test_it_comes_near_what_is_reported(self, ratio: float) -> None:
        calibration = Calibration()
        for _ in range(60):
            calibration.observe("claude", 10_000, int(10_000 * ratio))
        assert calibration.factor("claude") == pytest.approx(ratio, abs=0.05)

    def test_a_report_moves_it_a_quarter_of_the_way(self) -> None:
        calibration = Calibration()
        assert calibration.observe("claude", 1000, 1600) == pytest.approx(1.3)
        assert calibration.factor("claude") == pytest.approx(1.3)

    @pytest.mark.parametrize(("counted", "reported"), [(199, 250), (1000, 499), (1000, 2001), (0, 10)])
    def test_small_and_wild_reports_teach_nothing(self, counted: int, reported: int) -> None:
        calibration = Calibration()
        assert calibration.observe("claude", counted, reported) is None
        assert calibration.factor("claude") == family_of("claude").factor

    def test_wild_reports_that_repeat_are_believed(self) -> None:
        calibration = Calibration()
        assert [calibration.observe("claude", 1000, r) for r in (2500, 2600)] == [None, None]
        assert calibration.observe("claude", 1000, 2400) == pytest.approx(1.5)
        assert calibration.observe("claude", 1000, 2500) == pytest.approx(1.76, abs=0.02)

    @pytest.mark.parametrize("between", [1200, 9000, 0])
    def test_but_not_with_another_one_between(self, between: int) -> None:
        calibration = Calibration()
        for reported in (2500, 2500, between, 2500, 2500):
            assert calibration.observe("claude", 1000, reported) is None

    def test_a_wild_report_near_the_factor_in_force_is_not_doubted(self) -> None:
        calibration = Calibration()
        calibration.adopt({"claude": 2.4})
        assert calibration.observe("claude", 1000, 2600) == pytest.approx(2.45, abs=0.02)

    def test_reports_that_are_far_too_small_take_it_back_to_where_it_began_at_most(self) -> None:
        calibration = Calibration()
        calibration.adopt({"claude": 3.0})
        for _ in range(60):
            calibration.observe("claude", 1000, 100)
        assert calibration.factor("claude") == pytest.approx(family_of("claude").factor, abs=0.05)
        assert calibration.factor("claude") >= family_of("claude").factor

    @pytest.mark.parametrize("times", [4, 1_500])
    def test_no_report_moves_it_by_more_than_a_quarter(self, times: int) -> None:
        calibration = Calibration()
        for _ in range(3):
            before = calibration.factor("claude")
            calibration.observe("claude", 1000, 1000 * times)
            assert calibration.factor("claude") <= 1.25 * before + 0.01

    def test_a_change_too_small_to_matter_is_none(self) -> None:
        assert Calibration().observe("claude", 1000, 1210) is None

    def test_models_learn_apart(self) -> None:
        calibration = Calibration()
        calibration.observe("claude-a", 1000, 1600)
        assert calibration.factor("claude-b") == family_of("claude-b").factor

    def test_reports_move_it_back(self) -> None:
        calibration = Calibration()
        calibration.adopt({"gpt-4o": 4.0})
        for _ in range(20):
            calibration.observe("gpt-4o", 1000, 1000)
        assert calibration.factor("gpt-4o") == pytest.approx(1.0, abs=0.05)


class TestAdopting:
    """Factors of other replicas are taken over, within the same bounds."""

    @pytest.mark.parametrize(
        ("model", "sent", "kept"),
        [
            ("claude", 1.3, 1.3),
            ("claude", 9.0, MOST),
            ("claude", 0.1, LEAST),
            ("claude", math.inf, MOST),
            ("gpt-4o", 0.9, 1.0),
        ],
    )
    def test_the_table(self, model: str, sent: float, kept: float) -> None:
        calibration = Calibration()
        calibration.adopt({model: sent})
        assert calibration.factor(model) == pytest.approx(kept)

    def test_models_are_bounded_and_those_heard_of_last_stay(self) -> None:
        calibration = Calibration()
        for number in range(MOST_MODELS + 50):
            calibration.observe(f"claude-{number}", 1_000, 1_000)
            calibration.observe(f"claude-{number}", 1_000, 9_000)
        calibration.adopt({"claude-x": 2.0})
        known = (calibration._factors, calibration._shared, calibration._doubted)
        assert [len(one) for one in known] == [MOST_MODELS] * 3
        assert calibration.factor("claude-x") == 2.0 and "claude-0" not in calibration._factors

    def test_nonsense_is_bounded_too(self) -> None:
        calibration = Calibration()
        calibration.adopt({"claude": math.nan})
        assert LEAST <= calibration.factor("claude") <= MOST
