"""Texts of many megabytes: searched in slices, and of what is only read no more than somebody reads."""

from __future__ import annotations

import pytest

from gateway_compaction.core.conversation.rewrite import LONGEST_READ, leave_out_middle
from gateway_compaction.core.conversation.slices import SLICE, split_text
from gateway_compaction.core.conversation.visible_text import replace_embedded_data
from gateway_compaction.core.planning import fit
from gateway_compaction.core.text.identifiers import find_identifiers

LINE = "the deploy of api-server failed, see infra/k8s/deploy.yaml and OPS-17\n"


@pytest.mark.parametrize(
    ("text", "longest"),
    [
        ("", 0),
        ("short", 5),
        (LINE * 20, 70),
        ("a word " * 200, 105),
        ("x" * 1_000, 1_000),
        ("x" * 500 + " y" * 500, 501),
    ],
)
def test_slices_are_the_text_and_end_behind_a_word(text: str, longest: int) -> None:
    slices = list(split_text(text, 100))
    assert "".join(slices) == text and max(map(len, slices)) == longest
    assert all(one[-1:].isspace() for one in slices[:-1])


def test_what_is_found_in_slices_is_what_is_found_in_all() -> None:
    text = LINE * (3 * SLICE // len(LINE))
    assert find_identifiers(text) == find_identifiers(LINE)
    data = "QUJD1" * 100
    hidden = replace_embedded_data(f"{text} {data}\n{text}")
    assert hidden == f"{text} [embedded data]\n{text}"
    # A word without end is one piece of data, however long.
    assert replace_embedded_data("QUJD1" * SLICE) == "[embedded data]"


def test_the_middle_of_a_text_without_end_is_not_read() -> None:
    short = {"role": "user", "content": "x" * LONGEST_READ, "id": "1"}
    assert leave_out_middle(short) is short
    long = {"role": "user", "content": [{"type": "text", "text": "a" + "x" * LONGEST_READ + "z"}]}
    text = leave_out_middle(long)["content"][0]["text"]
    assert len(text) == LONGEST_READ + 2 and (text[0], text[-1]) == ("a", "z")


@pytest.mark.parametrize(
    ("characters", "messages", "start", "first"),
    [
        (10, 100, 0, 0),
        (10, 100, 7, 7),
        (10, fit.MOST_READ + 50, 0, 50),
        (LONGEST_READ // 2, 100, 0, 93),
        (2 * LONGEST_READ, 100, 97, 97),
        (2 * LONGEST_READ, 100, 0, 96),
    ],
)
def test_an_extract_of_a_huge_history_is_made_of_its_end(
    characters: int, messages: int, start: int, first: int
) -> None:
    history = [{"role": "user", "content": "x" * characters}] * messages
    assert fit._find_first_read(history, start, messages) == first
