"""Messages that no client should send: they are passed on, never a fault of ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_compaction.core.conversation.transcript import parse_transcript
from gateway_compaction.core.planning.plan import make_plan
from gateway_compaction.errors import TranscriptError
from tests.core.builders import Bench, policy, sent_by, stored
from tests.core.scripts import script
from tests.core.search import search
from tests.core.strategies import JSON, odd_messages
from tests.core.weights import weighing


@search
@given(odd_messages, odd_messages, st.sampled_from([20, 400]), st.sampled_from(["prepare", "apply"]))
def test_every_list_of_messages_with_roles_gets_a_plan(
    first: list[Any], last: list[Any], words: int, then: str
) -> None:
    messages = [*first, weighing("user", words), weighing("assistant", words), *last]
    bench = Bench(300, policy(triggers__turns=1, triggers__then=then, summary__max_tokens=60))
    context = bench.context(messages)
    kept = [stored(context, c, k) for c in context.transcript.cuts for k in ("model", "cleared")]
    for compactions in ((), kept):
        context = bench.context(messages, compactions)
        sent = sent_by(make_plan(context), context)
        assert {**sent[-1], "content": 0} == {**messages[-1], "content": 0}


@search
@given(st.lists(JSON, max_size=5))
def test_anything_else_is_no_transcript(entries: list[Any]) -> None:
    good = all(isinstance(e, Mapping) and isinstance(e.get("role"), str) for e in entries)
    if good:
        assert len(parse_transcript(entries).history) <= len(entries)
        return
    with pytest.raises(TranscriptError):
        parse_transcript(entries)


@pytest.mark.parametrize("part", [{"type": []}, {"type": {"a": 1}}, {"type": "text", "text": []}, [[]], 0])
@pytest.mark.parametrize("role", ["user", "assistant", "tool"])
def test_odd_parts_in_a_request_that_must_shrink(part: Any, role: str) -> None:
    long = {"role": "user", "content": [part, {"type": "text", "text": "word " * 400}]}
    messages = [long, *script("text user text"), {"role": role, "content": [part]}, *script("user")]
    plan = Bench(300, policy(summary__max_tokens=60)).plan(messages)
    assert plan.outcome == "fallback" and plan.view.tokens < 300
