"""What is told of a summary, and what a request reserves."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from gateway_compaction.core.conversation.body import wants_json
from gateway_compaction.core.conversation.transcript import parse_transcript
from gateway_compaction.core.planning.context import reserved_tokens
from gateway_compaction.core.records.compaction import Compaction, Segment
from gateway_compaction.core.records.summary_record import SummaryRecord
from gateway_compaction.core.summary.statistics import build_summary_records, list_summary_records
from gateway_compaction.core.summary.turn_labels import label_segments
from tests.core.builders import policy
from tests.core.weights import chat


def compact(*spans: tuple[int, int, str]) -> Compaction:
    """A compaction of these segments."""
    return Compaction("d" * 32, spans[-1][1] if spans else 0, "model", tuple(Segment(*s) for s in spans))


class TestRecords:
    """One record for each segment, made with the compaction."""

    def test_which_turns_and_how_much_shorter(self) -> None:
        transcript = parse_transcript(chat(4, 24))
        first, second = build_summary_records(compact((0, 4, "x" * 40), (4, 6, "y" * 20)), transcript)
        assert (first.turns, second.turns) == ((1, 2), (3,))
        assert first.original_chars == 4 * len(transcript.history[0]["content"])
        assert (first.summary_chars, first.target_chars, first.rate) == (40, None, None)
        assert first.actual_rate == round(40 / first.original_chars, 4)

    def test_what_was_asked_for_is_kept(self) -> None:
        transcript = parse_transcript(chat(4, 24))
        two = compact((0, 4, "x"), (4, 6, "y"))
        [first, second] = build_summary_records(two, transcript, 0.3)
        assert first.target_chars == int(first.original_chars * 0.3) and first.rate == second.rate == 0.3
        asked = build_summary_records(two, transcript, 0.3, targets={(4, 6): 7})
        assert [r.target_chars for r in asked] == [None, 7]

    def test_of_segments_taken_over_the_records_are_too(self) -> None:
        transcript = parse_transcript(chat(4, 24))
        base = replace(compact((0, 4, "x")), records=(SummaryRecord(0, 4, 1, 2, 99, 1, 9, 0.1, 5.0),))
        grown = compact((0, 4, "x"), (4, 6, "y"))
        [first, second] = build_summary_records(grown, transcript, 0.3, base)
        assert first == base.records[0] and (second.rate, second.created_at) == (0.3, 0.0)
        # A compaction of before there were records tells when its parts were made at the latest.
        old = replace(base, records=(), created_at=4.0)
        [first, _] = build_summary_records(grown, transcript, 0.3, old)
        assert (first.rate, first.target_chars, first.created_at) == (None, None, 4.0)
        # What was written anew over the same messages is no part of the base.
        [first] = build_summary_records(compact((0, 4, "z")), transcript, 0.3, base)
        assert first.rate == 0.3
        stamped = replace(grown, records=build_summary_records(grown, transcript, 0.3, base)).created(8.0)
        assert [r.created_at for r in stamped.records] == [5.0, 8.0] and stamped.created_at == 8.0

    def test_a_divided_turn_belongs_to_both(self) -> None:
        halves, transcript = compact((0, 1, "x"), (1, 2, "y")), parse_transcript(chat(2, 24))
        records = build_summary_records(halves, transcript)
        assert [r.turns for r in records] == [(1,), (1,)]
        assert list_summary_records(replace(halves, records=records)).totals.turns == 1

    def test_totals_count_all_that_stands_in_the_place_of_the_messages(self) -> None:
        two = replace(compact((0, 4, "x" * 40), (4, 6, "y" * 20)), tokens_before=1000, tokens_after=50)
        records = build_summary_records(two, parse_transcript(chat(4, 24)))
        totals = list_summary_records(replace(two, records=records)).totals
        assert (totals.summaries, totals.turns, totals.summary_chars) == (2, 3, 60)
        # Not the 60 characters of the texts alone, but note and pins as well.
        assert totals.saved == 0.95

    def test_what_is_not_known_is_not_made_up(self) -> None:
        assert list_summary_records(None).totals.saved == 0.0
        old = list_summary_records(replace(compact((0, 4, "x" * 40)), version=3, created_at=7.0))
        [part] = old.records
        assert (old.version, part.turns, part.original_chars, part.actual_rate) == (3, (), None, None)
        assert (part.summary_chars, part.created_at, old.totals.saved) == (40, 7.0, 0.0)
        silent = parse_transcript([{"role": "assistant", "content": text} for text in ("", "x")])
        [record] = build_summary_records(compact((0, 1, "")), silent)
        assert (record.turns, record.actual_rate) == ((), 0.0)

    def test_they_are_stored_beside_the_segments(self) -> None:
        two = replace(compact((0, 4, "x"), (4, 6, "y")), parent="p" * 32)
        records = build_summary_records(two, parse_transcript(chat(4, 24)), 0.3)
        stored = json.loads(json.dumps(replace(two, records=records).to_dict()))
        assert Compaction.from_dict(stored).records == records
        # The version before unpacks segments as triples, and asks for no key that it does not know.
        assert [len(s) for s in stored["segments"]] == [3, 3] and list(stored)[-1] == "records"
        del stored["records"]
        assert Compaction.from_dict(stored) == two and "records" not in two.to_dict()
        for damaged in (7, ["x"], [{}], [{**records[0].to_dict(), "turns": [1]}]):
            assert Compaction.from_dict({**stored, "records": damaged}) == two


class TestLabels:
    """The turns of each text, as the model reads them."""

    def test_each_text_stands_behind_its_turns(self) -> None:
        segments = compact((0, 6, "a"), (6, 7, "b"), (7, 8, "")).segments
        assert label_segments(segments, [0, 2, 4, 6]) == "[turns 1–3]\na\n\n[turn 4]\nb"

    def test_without_a_user_there_is_no_turn(self) -> None:
        assert label_segments(compact((0, 2, "a")).segments, [5]) == "a"

    def test_later_turns_change_no_label(self) -> None:
        segments = compact((0, 3, "a"), (3, 6, "b")).segments
        assert label_segments(segments, [1, 4]) == label_segments(segments, [1, 4, 6, 8])
        assert label_segments(segments, [1, 4]) == "[turn 1]\na\n\n[turns 1–2]\nb"


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
