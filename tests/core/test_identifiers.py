"""Identifiers: names that later messages use by their exact spelling."""

from __future__ import annotations

import pytest

from gateway_compaction.core.text.identifiers import find_identifiers


class TestIdentifiers:
    """Identifiers of a text."""

    @pytest.mark.parametrize(
        "name",
        [
            "src/shop/cart.py",
            "cart.py",
            "https://example.org/a?b=1",
            "ops@example.org",
            "total_price",
            "totalPrice",
            "CartItem",
            "ORD-1234",
            "#4711",
            "a1b2c3d4e5f6",
            "--verbose",
            "/etc/hosts.conf",
        ],
    )
    def test_they_are_found_within_a_sentence(self, name: str) -> None:
        assert find_identifiers(f"Please look at {name}, again.") == [name]
        assert find_identifiers(f"({name}) and `{name}`") == [name]

    @pytest.mark.parametrize(
        "text", ["Please look at this again.", "It is 12 o'clock.", "", "base64", "x" * 500]
    )
    def test_words_are_none(self, text: str) -> None:
        assert find_identifiers(text) == []

    def test_each_is_named_once_in_order(self) -> None:
        assert find_identifiers("b.py a.py b.py") == ["b.py", "a.py"]
