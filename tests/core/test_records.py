"""What is stored and reported: compactions and events, as plain JSON and back."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_compaction.core.records.compaction import (
    KIND_RANK,
    Clip,
    Compaction,
    HistoryPrefix,
    Segment,
    SessionRef,
)
from gateway_compaction.core.records.event import CompactionEvent
from tests.core.search import search
from tests.core.strategies import texts

numbers = st.integers(0, 10**6)
compactions = st.builds(
    Compaction,
    digest=st.text("0123456789abcdef", min_size=32, max_size=32),
    covers=numbers,
    kind=st.sampled_from(["cleared", "extractive", "model"]),
    segments=st.lists(st.builds(Segment, numbers, numbers, texts), max_size=3).map(tuple),
    limit=st.none() | numbers,
    clip=st.none() | st.builds(Clip, numbers, numbers, st.lists(numbers, max_size=2).map(tuple)),
    since=numbers,
    lead_tokens=numbers,
    window=numbers,
    quotes=st.none() | numbers,
    sent_with=st.none() | st.builds(HistoryPrefix, numbers, st.just("b" * 32)),
    rate=st.none() | st.floats(0.01, 1),
    parent=st.none() | st.just("a" * 32),
    version=st.integers(1, 99),
    model=st.none() | st.just("small"),
    tokens_before=numbers,
    tokens_after=numbers,
    cost=st.none() | st.floats(0, 10),
    created_at=st.floats(0, 2e9),
    asked=st.none() | st.just("cheap"),
)
PLAIN = Compaction("d" * 32, 4, "model", (Segment(0, 4, "They met."),), clip=Clip(9, 60, (7,)))


class TestCompaction:
    """The record of one compaction."""

    @search
    @given(compactions)
    def test_it_comes_back_from_json_as_it_went(self, made: Compaction) -> None:
        assert Compaction.from_dict(json.loads(json.dumps(made.to_dict()))) == made

    @pytest.mark.parametrize(
        ("segments", "text"),
        [
            ((), ""),
            ((Segment(0, 2, "a"),), "a"),
            ((Segment(0, 2, "a"), Segment(2, 4, "b")), "a\n\nb"),
            ((Segment(0, 2, "a"), Segment(2, 4, ""), Segment(4, 5, "c")), "a\n\nc"),
        ],
    )
    def test_its_text_are_its_segments_in_order(self, segments: tuple[Segment, ...], text: str) -> None:
        assert replace(PLAIN, segments=segments).text == text

    @pytest.mark.parametrize("field", sorted(PLAIN.to_dict()))
    def test_a_record_without_a_field_is_none(self, field: str) -> None:
        raw = PLAIN.to_dict()
        del raw[field]
        with pytest.raises(ValueError):
            Compaction.from_dict(raw)

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("v", 0),
            ("v", "1"),
            ("kind", "guess"),
            ("kind", None),
            ("covers", "many"),
            ("covers", None),
            ("segments", 7),
            ("segments", [[0, 1]]),
            ("segments", [["a", 1, "x"]]),
            ("limit", "x"),
            ("clip", [1]),
            ("clip", 5),
            ("version", None),
            ("created_at", "yesterday"),
        ],
    )
    def test_a_field_of_another_type_is_a_value_error(self, field: str, value: Any) -> None:
        with pytest.raises(ValueError):
            Compaction.from_dict({**PLAIN.to_dict(), field: value})

    @pytest.mark.parametrize("raw", [None, 7, "x", [], {}])
    def test_anything_else_is_a_value_error(self, raw: Any) -> None:
        with pytest.raises(ValueError):
            Compaction.from_dict(raw)

    def test_a_model_is_better_than_an_extract_and_an_extract_than_a_clearing(self) -> None:
        assert KIND_RANK["model"] > KIND_RANK["extractive"] > KIND_RANK["cleared"]


class TestSessionRef:
    """The name of a session in the store."""

    def test_tenant_and_key_share_a_slot(self) -> None:
        assert SessionRef("t1", "k1").session_id == "t1.k1"
        assert SessionRef("t2", "k1").session_id != SessionRef("t1", "k1").session_id


class TestEvent:
    """One decision, as reported."""

    def test_what_is_absent_is_left_out(self) -> None:
        event = CompactionEvent("request", 1.5, "applied", "model", level="medium", tokens_before=10)
        told = event.to_dict()
        assert told["outcome"] == "applied" and told["level"] == "medium" and told["tokens_before"] == 10
        assert "cost" not in told and "policy" not in told
        assert json.loads(json.dumps(told)) == told

    def test_zero_is_not_absent(self) -> None:
        assert CompactionEvent("summary", 0.0, "made", "", cost=0.0).to_dict()["cost"] == 0.0
