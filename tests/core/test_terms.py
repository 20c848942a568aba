"""Search terms: the words of a text as search sees them."""

from __future__ import annotations

import pytest
from hypothesis import given

from gateway_compaction.core.text.terms import extract_terms
from tests.core.search import search
from tests.core.strategies import texts


class TestTerms:
    """Words as search sees them."""

    @pytest.mark.parametrize(
        ("one", "other"),
        [("ferries", "ferry"), ("Bergen", "bergen"), ("Ingrid's", "ingrid"), ("booked", "booking")],
    )
    def test_forms_of_a_word_are_one_term(self, one: str, other: str) -> None:
        assert extract_terms(one) == extract_terms(other) != []

    def test_words_that_say_nothing_are_none(self) -> None:
        assert extract_terms("What is the and of it, please? OK a " + "x" * 80) == []

    def test_numbers_are_terms_and_repetitions_count(self) -> None:
        assert extract_terms("pier 7 pier 12") == ["pier", "7", "pier", "12"]

    def test_scripts_without_spaces_are_pairs_of_characters(self) -> None:
        assert extract_terms("東京都 ferry") == ["ferri", "東京", "京都"]
        assert extract_terms("水") == ["水"]

    def test_other_alphabets_are_words(self) -> None:
        assert extract_terms("Отчёт готов") == ["отчёт", "готов"]

    @search
    @given(texts)
    def test_any_text_has_terms_or_none(self, text: str) -> None:
        assert all(term and term == term.lower() for term in extract_terms(text))
