"""How a summary grows, by ``summary.strategy``."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

import pytest

from gateway_compaction.core.records.compaction import Compaction
from gateway_compaction.engine.request import Planned
from gateway_compaction.errors import SummaryTooLong
from gateway_compaction.ports import Summarizer, SummaryAnswer, SummaryRequest
from tests.engine.histories import chat, grown
from tests.engine.rig import Rig


async def last(rig: Rig, messages: int = 60) -> Compaction:
    """What is sent at the end of a conversation."""
    for call in grown(chat(messages)):
        decision = await rig.call(call)
    assert isinstance(decision, Planned) and decision.plan.view.compaction is not None
    return decision.plan.view.compaction


async def test_segments_are_added(rig: Rig) -> None:
    made = await last(rig)
    assert [(s.start, s.end) for s in made.segments] == [(0, 20), (20, 38)]


async def test_segments_are_merged_when_no_room_is_left(rigs: Callable[..., Rig]) -> None:
    rig = rigs(2_000, {"summary": {"max_tokens": 200}})
    rig.summarizer.answers = ["It went well. " * 60] * 9
    made = await last(rig, 90)
    assert len(rig.summarizer.requests) > len(made.segments) and made.segments[0].start == 0
    merging = [r.user for r in rig.summarizer.requests if "Condense them into one summary" in r.user]
    assert merging and all("\n[0] It went well." in asked for asked in merging)


async def test_rolling_is_one_text_written_anew(rigs: Callable[..., Rig]) -> None:
    rig = rigs(2_000, {"summary": {"strategy": "rolling"}})
    made = await last(rig)
    assert [(s.start, s.end) for s in made.segments] == [(0, 38)]
    assert "Summary number 1" in rig.summarizer.requests[1].user


async def test_window_is_a_note_and_asks_nobody(rigs: Callable[..., Rig]) -> None:
    rig = rigs(2_000, {"summary": {"strategy": "window"}})
    made = await last(rig)
    assert made.kind == "extractive" and rig.summarizer.requests == []
    assert made.text == f"[earlier messages no longer shown: {made.covers}]"


async def test_extractive_asks_nobody(rigs: Callable[..., Rig]) -> None:
    rig = rigs(2_000, {"summary": {"model": "extractive"}})
    made = await last(rig)
    assert made.kind == "extractive" and rig.summarizer.requests == []
    assert any(m["content"][:40] in made.text for m in chat(60)[1 : made.covers])


class RefusesMerges:
    """A summariser that refuses to condense more parts than it may, and passes on all else."""

    def __init__(self, inner: Summarizer, parts: int) -> None:
        self.inner, self.parts = inner, parts
        self.asked: list[int] = []

    async def complete(self, request: SummaryRequest) -> SummaryAnswer:
        """Answer, or refuse as too long."""
        if "Condense them into one summary" in request.user:
            starts = set(re.findall(r"(?m)^\[(\d+)\] ", request.user))
            self.asked.append(len(starts))
            if len(starts) > self.parts:
                raise SummaryTooLong("small: the question is too long")
        return await self.inner.complete(request)


@pytest.mark.parametrize("parts", [2, 1])
async def test_fewer_segments_are_merged_where_all_are_too_long_to_ask(
    rigs: Callable[..., Rig], parts: int
) -> None:
    rig = rigs(2_000, {"summary": {"max_tokens": 200}})
    rig.summarizer.answers = ["It went well. " * 20] * 30
    model = RefusesMerges(rig.summarizer, parts)
    rig.pipeline.summarizer = model
    made = await last(rig, 130 if parts == 2 else 76)
    refused = [(asked, then) for asked, then in pairwise(model.asked) if asked > 2]
    assert all(then == 2 for _, then in refused) and bool(refused) == (parts == 2)
    # Of two segments, of which no fewer can be condensed, a shorter text is asked for, twice at most.
    assert parts == 2 or model.asked == [2, 2, 2]
    assert made.segments[0].start == 0
