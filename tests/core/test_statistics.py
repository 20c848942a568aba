"""What is told of a summary, and what a request reserves."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gateway_compaction.core.conversation.body import wants_json
from gateway_compaction.core.conversation.transcript import parse_transcript
from gateway_compaction.core.planning.context import reserved_tokens
from gateway_compaction.core.records.compaction import Compaction, Segment
from gateway_compaction.core.summary.statistics import build_summary_records, compute_totals
from tests.core.builders import policy
from tests.core.weights import chat


def compact(*spans: tuple[int, int, str]) -> Compaction:
    """A compaction of these segments."""
    return Compaction("d" * 32, spans[-1][1] if spans else 0, "model", tuple(Segment(*s) for s in spans))


class TestHistory:
    """One record for each segment."""

    def test_which_turns_and_how_much_shorter(self) -> None:
        transcript = parse_transcript(chat(4, 24))
        first, second = build_summary_records(
            compact((0, 4, "x" * 40), (4, 6, "y" * 20)), transcript, thread_id="t1"
        )
        assert (first.turns, first.turn_length, second.turns) == ((1, 2), 2, (3,))
        assert first.original_chars == 4 * len(transcript.history[0]["content"])
        assert first.summary_chars == 40 and first.summary == "x" * 40 and first.thread_id == "t1"
        assert first.compression_rate == round(40 / first.original_chars, 2)

    def test_a_divided_turn_belongs_to_both(self) -> None:
        records = build_summary_records(compact((0, 1, "x"), (1, 2, "y")), parse_transcript(chat(2, 24)))
        assert [r.turns for r in records] == [(1,), (1,)]
        assert compute_totals(records).turns == 1

    def test_a_rate_of_the_policy_is_told_as_it_is(self) -> None:
        (record,) = build_summary_records(compact((0, 2, "x")), parse_transcript(chat(2, 24)), rate=0.3)
        assert record.compression_rate == 0.3

    def test_sums(self) -> None:
        records = build_summary_records(
            compact((0, 4, "x" * 40), (4, 6, "y" * 20)), parse_transcript(chat(4, 24))
        )
        sums = compute_totals(records)
        assert (sums.summaries, sums.turns, sums.summary_chars) == (2, 3, 60)
        assert sums.saved == pytest.approx(1 - 60 / sums.original_chars)

    def test_nothing_saves_nothing(self) -> None:
        assert compute_totals([]).saved == 0.0
        empty = parse_transcript(
            [{"role": "assistant", "content": ""}, {"role": "assistant", "content": "x"}]
        )
        (record,) = build_summary_records(compact((0, 1, "")), empty)
        assert (record.turns, record.compression_rate) == ((), 0.0)

    def test_it_is_plain_json(self) -> None:
        (record,) = build_summary_records(compact((0, 2, "x")), parse_transcript(chat(2, 24)))
        assert json.loads(json.dumps(record.to_dict())) == record.to_dict()


class TestReserved:
    """Tokens kept free for the answer and for quotes."""

    @pytest.mark.parametrize(
        ("body", "recall", "tokens"),
        [({}, "auto", 0), ({"max_tokens": 100}, "auto", 100), ({"max_tokens": 100}, 1500, 600), ({}, 0, 0)],
    )
    def test_the_table(self, body: dict[str, Any], recall: Any, tokens: int) -> None:
        levels = {"levels__medium__at": 0.8, "levels__aggressive__at": 0.9}
        assert reserved_tokens(body, 10_000, policy(recall__max_tokens=recall, **levels)) == pytest.approx(
            tokens, abs=1
        )


class TestWantsJson:
    """Requests that must say JSON somewhere."""

    @pytest.mark.parametrize(
        ("body", "wants"),
        [
            ({"response_format": {"type": "json_object"}}, True),
            ({"response_format": {"type": "json_schema", "json_schema": {}}}, False),
            ({"response_format": {"type": "text"}}, False),
            ({"response_format": "json_object"}, False),
            ({"response_format": None}, False),
            ({}, False),
        ],
    )
    def test_the_table(self, body: dict[str, Any], wants: bool) -> None:
        assert wants_json(body) == wants
