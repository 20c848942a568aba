"""Events as they stand in Redis: every field of one comes back."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, get_type_hints

import pytest

from gateway_compaction.adapters.redis.codec import decode_event, encode_event
from gateway_compaction.adapters.redis.rows import to_session_row
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.core.records.event import CompactionEvent


def example_of(name: str, kind: Any) -> Any:
    """A value for a field, by its annotation: a field of tomorrow gets one too."""
    if name == "type":
        return "request"
    return "chat" if "str" in str(kind) else 3


@pytest.mark.parametrize("name", [field.name for field in fields(CompactionEvent)])
def test_every_field_of_an_event_comes_back(name: str) -> None:
    hints = get_type_hints(CompactionEvent)
    needed = {"type": "request", "at": 1.0, "outcome": "applied", "reason": "model"}
    event = CompactionEvent(**{**needed, name: example_of(name, hints[name])})
    assert decode_event(encode_event(event)) == event


def test_a_row_tells_the_endpoint_of_the_last_call() -> None:
    assert to_session_row(SessionRef("t", "k"), {"endpoint": "messages"}, 0.0).endpoint == "messages"
    assert to_session_row(SessionRef("t", "k"), {}, 0.0).endpoint is None
