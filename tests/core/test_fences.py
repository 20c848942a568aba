"""The one parser of fenced code."""

from __future__ import annotations

import pytest

from gateway_compaction.core.text.fences import find_fences


@pytest.mark.parametrize(
    ("text", "fenced"),
    [
        ("see\n```\nx = 1\n```\nthere", ["```\nx = 1\n```"]),
        ("see ```x = 1``` and\n~~~\ny\n~~~", ["```x = 1```", "~~~\ny\n~~~"]),
        ("no fence `x` at all", []),
        ("```\nx = 1\n\nthat was it", ["```\nx = 1"]),
        ("The sign ``` opens a block.", []),
    ],
    ids=["closed", "within_a_line", "none", "not_closed", "mentioned"],
)
def test_what_is_fenced(text: str, fenced: list[str]) -> None:
    assert [text[start:end] for start, end in find_fences(text)] == fenced


def test_a_fence_that_a_cut_left_open_goes_on_to_the_end() -> None:
    text = "look:\n```\nx = 1\n\ny = 2"
    assert find_fences(text, is_cut=True) == [(6, len(text))]


def test_a_cut_changes_nothing_where_all_fences_are_closed() -> None:
    text = "look:\n```\nx = 1\n```\nthanks"
    assert find_fences(text, is_cut=True) == find_fences(text)
