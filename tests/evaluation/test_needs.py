"""Identifiers that later messages use again."""

from __future__ import annotations

import pytest

from gateway_compaction.evaluation.needs import find_names, find_points
from tests.evaluation.talks import AGENT, CHAT, said


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("open src/app/main.py now", {"src/app/main.py"}),
        ("see https://a.example/x?id=7.", {"https://a.example/x?id=7"}),
        ("mail ann@b.example", {"ann@b.example"}),
        ("call get_user and getUser", {"get_user", "getUser"}),
        ("the class OrderedSet has __iter__", {"OrderedSet", "__iter__"}),
        ("order HAT021 of 2024-05-11, number 4711", {"HAT021", "2024-05-11", "4711"}),
        ("commit deadbeef1", {"deadbeef1"}),
        ("sed -n '1870p' and/or 7.8/10, in 2024", set()),
        ("<returncode>0</returncode>", set()),
        ("  1830: x", set()),
        ("Nothing of that kind, I think.", set()),
    ],
)
def test_what_counts_as_an_identifier(text: str, names: set[str]) -> None:
    assert find_names(text) == names


def test_needed_is_what_the_model_writes_again_unseen() -> None:
    messages = [
        said("user", "Use alpha_key, beta_key, gamma_key and delta_key."),
        said("assistant", "Good."),
        said("user", "Go."),
        said("assistant", "I take alpha_key, beta_key and gamma_key."),
        said("user", "And delta_key?"),
        said("assistant", "Yes, delta_key as well."),
    ]
    assert {p.needed for p in find_points(messages)} == {("alpha_key", "beta_key", "gamma_key")}


def test_a_point_ends_before_a_call() -> None:
    points = find_points(AGENT)
    assert points and all(AGENT[len(p.sent)]["role"] == "assistant" for p in points)
    assert all("src/shop/cart.py" in p.needed for p in points)


def test_where_nothing_is_used_again_there_is_no_point() -> None:
    assert find_points(CHAT) == [] == find_points([])
