"""Passages: pieces of messages that can be found and quoted."""

from __future__ import annotations

import pytest
from hypothesis import given

from gateway_compaction.core.recall.passages import searchable_text_of, split_into_passages
from tests.core.scripts import CALL
from tests.core.search import search
from tests.core.strategies import Talk, talks


class TestPassages:
    """Pieces of messages that can be quoted."""

    @search
    @given(talks)
    def test_they_are_verbatim_and_leave_out_only_blank_space(self, talk: Talk) -> None:
        for message in talk.messages:
            text, end = searchable_text_of(message), 0
            for passage in split_into_passages(message):
                assert text[passage.start : passage.end] == passage.text
                assert not text[end : passage.start].strip()
                assert passage.words > 0
                end = passage.end
            assert not text[end:].strip()

    @pytest.mark.parametrize("text", ["word " * 1000, "語" * 900, "One. " * 300, "x" * 5000])
    def test_none_is_very_long(self, text: str) -> None:
        pieces = split_into_passages({"role": "user", "content": text})
        assert all(len(p.text.split()) <= 70 for p in pieces)

    def test_arguments_of_calls_can_be_found(self) -> None:
        message = {
            "role": "assistant",
            "content": "Look.",
            "tool_calls": [CALL, "x", {"function": {"name": "y"}}],
        }
        assert searchable_text_of(message) == "Look.\nn = 1"
