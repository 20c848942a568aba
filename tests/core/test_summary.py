"""Which answers of a model are believed, and how long a summary may be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_compaction.core.summary import accept, block_tokens
from gateway_compaction.errors import SummaryRejected
from tests.core.search import search
from tests.core.strategies import texts

GOOD = "The user asked for a report on harbour lights; the assistant counted 14 of them."


def accepted(text: str, reason: str | None = "stop", *, calls: bool = False, source: int = 10_000) -> str:
    """What is made of an answer, with characters for tokens."""
    return accept(text, reason, calls, source, 1000, len)


HONEST = (
    GOOD,
    "The build ended with error: exit code 1; the user asked why.",
    "The assistant said: I'm sorry, and offered a refund.",
    "User reported that an Internal Server Error appears on login; a rate limit was suspected.",
    "Errors in the login form were fixed; tests pass.",
    "Error handling was moved to one place.",
    "They discussed whether an AI can be sorry.",
    "- error budget: 3 %\n- traceback was read",
    "Sorry state of the harbour: 3 lights are broken.",
    "The user cannot log in; the traceback ends in auth.py.",
    "사용자가 오류 보고서를 요청했습니다. error 500 이 원인입니다.",
    '{"lights": 14, "note": "error in row 3"}',
)


class TestAccept:
    """An error text, an empty or a cut-off completion is never a summary."""

    @pytest.mark.parametrize("text", HONEST)
    def test_honest_summaries_are_believed(self, text: str) -> None:
        assert accepted(text) == text
        assert accepted(f"<summary>\n{text}\n</summary>") == text

    @pytest.mark.parametrize("reason", ["length", "content_filter", "tool_calls", "function_call"])
    def test_an_answer_that_did_not_end_by_itself_is_not(self, reason: str) -> None:
        with pytest.raises(SummaryRejected, match=reason):
            accepted(GOOD, reason)

    @pytest.mark.parametrize("reason", ["stop", None, "end_turn", "eos"])
    def test_other_ends_are_fine(self, reason: str | None) -> None:
        assert accepted(GOOD, reason) == GOOD

    def test_a_call_is_not(self) -> None:
        with pytest.raises(SummaryRejected, match="tool call"):
            accepted(GOOD, calls=True)

    @pytest.mark.parametrize(
        "text", ["", "  \n ", "<summary></summary>", "<summary>\n </summary> x", "<summary>"]
    )
    def test_nothing_is_not(self, text: str) -> None:
        with pytest.raises(SummaryRejected, match="empty"):
            accepted(text)

    @pytest.mark.parametrize(
        "text",
        [
            "Error generating summary: timeout",
            "error creating summary",
            "Error: the model is overloaded",
            "ERROR 503 upstream",
            "Exception: boom",
            "Traceback (most recent call last):",
            "I'm sorry, but I can't help with that.",
            "I’m sorry, I cannot do that.",
            "I am sorry.",
            "Sorry, I can't.",
            "I can't summarise this.",
            "I cannot assist with that request.",
            "I'm unable to do so.",
            "I am unable to help.",
            "As an AI language model I have no access.",
            "Internal Server Error",
            "Rate limit exceeded, try again",
            '{"error": {"message": "overloaded"}}',
            '{"name": "look_up", "arguments": {}}',
            '  { "tool": "run" }',
            "**Error:** something broke",
            '"Error: quoted"',
        ],
    )
    def test_errors_refusals_and_calls_as_text_are_not(self, text: str) -> None:
        for answer in (text, f"<summary>{text}</summary>", f"<SUMMARY>\n{text}"):
            with pytest.raises(SummaryRejected, match="refusal or an error"):
                accepted(answer)

    @pytest.mark.parametrize(
        ("answer", "summary"),
        [
            (f"Here you are:\n<summary>{GOOD}</summary>\nAnything else?", GOOD),
            (f"<Summary>{GOOD}", GOOD),
            (f"<summary>{GOOD}</summary><summary>another</summary>", GOOD),
            (f"  {GOOD}\n", GOOD),
        ],
    )
    def test_only_what_is_tagged_counts(self, answer: str, summary: str) -> None:
        assert accepted(answer) == summary

    def test_one_that_is_too_long_is_shortened_to_both_ends(self) -> None:
        text = "First. " + "word " * 1000 + "Last."
        short = accept(text, "stop", False, 10_000, 300, len)
        assert len(short) <= 300 and short.startswith("First.") and short.endswith("Last.")

    @pytest.mark.parametrize("source", [0, 10, len(GOOD), int(len(GOOD) / 0.95)])
    def test_one_that_saves_nothing_is_not_believed(self, source: int) -> None:
        with pytest.raises(SummaryRejected, match="not smaller"):
            accepted(GOOD, source=source)

    def test_one_that_saves_a_little_is(self) -> None:
        assert accepted(GOOD, source=int(len(GOOD) / 0.89)) == GOOD

    @search
    @given(texts, st.integers(24, 500), st.integers(0, 2000))
    def test_what_is_believed_is_within_its_limits(self, text: str, limit: int, source: int) -> None:
        try:
            summary = accept(text, "stop", False, source, limit, len)
        except SummaryRejected:
            return
        assert summary.strip() and len(summary) <= min(limit, source)


class TestBlockTokens:
    """The longest summary block."""

    @pytest.mark.parametrize(
        ("window", "tokens"),
        [(1000, 250), (2000, 500), (16_000, 500), (100_000, 2000), (200_000, 4000), (10**6, 4000)],
    )
    def test_auto_is_two_percent_within_bounds(self, window: int, tokens: int) -> None:
        assert block_tokens("auto", None, window, 0) == tokens

    def test_a_number_is_taken_within_the_window(self) -> None:
        assert block_tokens(300, None, 10_000, 0) == 300
        assert block_tokens(5000, None, 4000, 0) < 4000

    @pytest.mark.parametrize(("covered", "tokens"), [(10_000, 3000), (100, 100), (0, 100), (10**6, 25_000)])
    def test_a_rate_is_a_share_of_what_is_covered(self, covered: int, tokens: int) -> None:
        assert block_tokens("auto", 0.3, 100_000, covered) == tokens
        assert block_tokens(700, 0.3, 100_000, covered) == tokens
