"""Making texts and messages shorter: within the limit, both ends kept, no character cut in half."""

from __future__ import annotations

from typing import Any

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from gateway_compaction.core.text.shorten import clear_result, clip_message, is_clearable, shorten
from gateway_compaction.core.tokens.counter import TokenCounter
from tests.core.invariants import marks, text_in
from tests.core.scripts import CALL, THOUGHT, script
from tests.core.search import search
from tests.core.strategies import MARK, SAMPLES, Json, Talk, talks, texts

COUNTER = TokenCounter()
LONG = " ".join(f"word{i}" for i in range(2000))
SIGN = "[…]"
limits = st.integers(-2, 400)
long_texts = st.builds(lambda s, n: s * n, st.sampled_from(SAMPLES), st.integers(1, 60)) | texts


def count(text: str) -> int:
    """Tokens of a text."""
    return COUNTER.raw_tokens(text, "gpt-4o")


def characters(text: str) -> list[int]:
    """Where characters, as people see them, begin and end."""
    return [0, *(m.end() for m in regex.finditer(r"\X", text))]


class TestShorten:
    """A text around a marker."""

    @search
    @given(long_texts, limits)
    def test_it_is_never_longer_than_its_limit(self, text: str, limit: int) -> None:
        short = shorten(text, limit, count)
        assert count(short) <= max(limit, 0)

    @search
    @given(long_texts, st.integers(0, 2000))
    def test_characters_may_be_the_measure_too(self, text: str, limit: int) -> None:
        assert len(shorten(text, limit, len)) <= limit

    @search
    @given(long_texts, limits)
    def test_what_fits_stays_as_it_is(self, text: str, limit: int) -> None:
        # There is one empty string: what is left of it is the same object.
        assert not text or (shorten(text, limit, count) is text) == (count(text) <= limit)

    @search
    @given(long_texts, st.integers(20, 400))
    def test_both_ends_are_verbatim_and_cut_between_characters(self, text: str, limit: int) -> None:
        short = shorten(text, limit, count, SIGN)
        if short is text or SIGN in text:
            return
        edges = characters(text)
        head, sign, tail = short.partition(SIGN)
        head, tail = head.rstrip(), tail.lstrip()
        assert sign and text.lstrip().startswith(head) and text.rstrip().endswith(tail)
        start = len(text) - len(text.lstrip()) + len(head)
        end = len(text.rstrip()) - len(tail)
        assert start in edges
        assert end in edges or text[end - 1].isspace()

    @pytest.mark.parametrize("sample", ["🇩🇪", "🇩🇪🇰🇷🇯🇵", "👩‍👩‍👧‍👦", "👍🏽", "e\u0301", "각", "한"])
    @pytest.mark.parametrize("lead", ["", "a", "ab"])
    def test_runs_without_spaces_are_cut_between_characters_too(self, sample: str, lead: str) -> None:
        text = lead + sample * 400
        edges = characters(text)
        for limit in range(60, 120, 7):
            head, sign, tail = (p.strip() for p in shorten(text, limit, count, SIGN).partition(SIGN))
            assert sign and head and tail
            assert len(head) in edges and len(text) - len(tail) in edges

    @pytest.mark.parametrize("lead", ["", "a", "ab\U0001f1e9", "\u6570"])
    @pytest.mark.parametrize("limit", [2_000, 2_003, 9_001])
    def test_flags_without_end_are_cut_between_flags(self, lead: str, limit: int) -> None:
        text = lead + "\U0001f1e9\U0001f1ea" * 20_000
        odd = lead.endswith("\U0001f1e9")
        head, _, tail = (p.strip() for p in shorten(text, limit, len, SIGN).partition(SIGN))
        assert (len(head) - len(lead) + odd) % 2 == 0
        assert (len(text) - len(tail) - len(lead) + odd) % 2 == 0

    @pytest.mark.parametrize("limit", [60, 200, 1000])
    def test_most_of_the_room_is_used_and_most_of_it_for_the_head(self, limit: int) -> None:
        short = shorten(LONG, limit, count, SIGN)
        head, _, tail = short.partition(SIGN)
        assert head.startswith("word0 word1") and tail.endswith("word1999")
        assert count(short) > limit * 0.7
        assert count(head) > count(tail)

    def test_the_marker_says_how_much_is_missing(self) -> None:
        assert f"[… {count(LONG) - 100} tokens left out …]" in shorten(LONG, 100, count)

    def test_where_only_the_marker_fits_it_stands_alone(self) -> None:
        assert shorten(LONG, 2, count, SIGN) == SIGN

    @pytest.mark.parametrize("limit", [-5, 0, 1])
    def test_where_nothing_fits_there_is_nothing(self, limit: int) -> None:
        assert shorten(LONG, limit, count) == ""

    def test_words_are_kept_whole_where_they_are_short(self) -> None:
        head, _, tail = shorten(LONG, 100, count, SIGN).partition(SIGN)
        known = set(LONG.split())
        assert {*head.split(), *tail.split()} <= known


class TestClipMessage:
    """One message with its texts shortened, everything else as it came."""

    @search
    @given(talks, st.sampled_from([24, 60, 300]))
    def test_it_gets_lighter_or_stays_the_same_object(self, talk: Talk, limit: int) -> None:
        for message in talk.messages:
            clipped = clip_message(message, limit, count)
            if clipped is not message:
                assert COUNTER.raw_message_tokens(clipped, "gpt-4o") < COUNTER.raw_message_tokens(
                    message, "gpt-4o"
                )
                assert {**clipped, "content": None} == {**message, "content": None}
                assert marks([clipped]) == marks([message])

    @pytest.mark.parametrize("role", ["user", "assistant", "tool", "function"])
    def test_text_is_shortened(self, role: str) -> None:
        clipped = clip_message({"role": role, "content": LONG, "tool_calls": [CALL]}, 50, count)
        assert count(clipped["content"]) <= 50
        assert clipped["tool_calls"] == [CALL]

    def test_parts_share_the_limit_and_other_parts_stay(self) -> None:
        image = {"type": "image_url", "image_url": {"url": "https://x.y/a.png"}}
        long, short = {"type": "text", "text": LONG, "cache_control": MARK}, {"type": "text", "text": "Hi"}
        clipped = clip_message({"role": "user", "content": [long, image, short]}, 100, count)
        first, second, third = clipped["content"]
        assert count(first["text"]) <= 50 and first["cache_control"] == MARK
        assert second is image and third is short

    @pytest.mark.parametrize(
        "message",
        [
            {"role": "system", "content": LONG},
            {"role": "developer", "content": LONG},
            {"role": "assistant", "content": LONG, "thinking_blocks": [THOUGHT]},
            {"role": "user", "content": "Hello"},
            {"role": "user", "content": None},
            {"role": "user", "content": [{"type": "text", "text": "Hello"}]},
            {"role": "user", "content": [{"type": "text", "text": 5}, "plain", None]},
            {"role": "assistant", "tool_calls": [CALL]},
        ],
    )
    def test_what_may_not_or_need_not_be_touched_is_the_same_object(self, message: Json) -> None:
        assert clip_message(message, 50, count) is message

    def test_a_text_is_never_shortened_to_nothing(self) -> None:
        message = {"role": "user", "content": LONG}
        assert clip_message(message, 1, count) is message
        parts = {"role": "user", "content": [{"type": "text", "text": LONG}]}
        assert clip_message(parts, 1, count) is parts


class TestClearing:
    """Old tool results replaced by a marker."""

    @pytest.mark.parametrize(
        ("message", "clearable"),
        [
            ({"role": "tool", "content": LONG}, True),
            ({"role": "function", "name": "run", "content": LONG}, True),
            ({"role": "tool", "content": [{"type": "text", "text": LONG}]}, True),
            ({"role": "tool", "content": "42"}, False),
            ({"role": "tool", "content": None}, False),
            ({"role": "user", "content": LONG}, False),
            ({"role": "assistant", "content": LONG}, False),
        ],
    )
    def test_only_long_results_are_worth_it(self, message: Json, clearable: bool) -> None:
        assert is_clearable(message, count) == clearable

    @search
    @given(long_texts, st.booleans())
    def test_a_cleared_result_is_smaller_and_answers_the_same_call(self, text: str, parts: bool) -> None:
        content: Any = [{"type": "text", "text": text, "cache_control": MARK}] if parts else text
        message = {"role": "tool", "tool_call_id": "call_7", "content": content}
        if not is_clearable(message, count):
            return
        cleared = clear_result(message, count)
        assert COUNTER.raw_message_tokens(cleared, "gpt-4o") < COUNTER.raw_message_tokens(message, "gpt-4o")
        assert {**cleared, "content": None} == {**message, "content": None}
        assert marks([cleared]) == marks([message])

    def test_both_ends_and_the_size_stay_readable(self) -> None:
        cleared = text_in(clear_result({"role": "tool", "content": LONG}, count))
        assert "word0" in cleared and "word1999" in cleared
        assert f"{count(LONG)} tokens, 1 lines" in cleared

    def test_errors_stay_readable(self) -> None:
        lines = [*["line"] * 200, "FAILED tests/test_a.py::test_b", *["line"] * 200]
        cleared = text_in(clear_result({"role": "tool", "content": "\n".join(lines)}, count))
        assert "FAILED tests/test_a.py::test_b" in cleared

    @pytest.mark.parametrize("where", ["message", "part"])
    def test_a_cache_mark_stays_where_it_was_or_moves_to_the_marker(self, where: str) -> None:
        part: Json = {"type": "text", "text": LONG}
        message: Json = {"role": "tool", "content": [part]}
        (message if where == "message" else part)["cache_control"] = MARK
        cleared = clear_result(message, count)
        assert marks([cleared]) == 1
        assert ("cache_control" in cleared) == (where == "message")

    def test_odd_parts_do_no_harm(self) -> None:
        message = {"role": "tool", "content": ["plain " * 400, None, {"type": "text", "text": "x"}]}
        assert isinstance(clear_result(message, count)["content"], str)

    def test_the_message_that_came_is_not_changed(self) -> None:
        message = {**script("res")[0], "content": [{"type": "text", "text": LONG, "cache_control": MARK}]}
        before = repr(message)
        clear_result(message, count)["content"][0]["cache_control"]["type"] = "other"
        assert repr(message) == before
