"""The statistics of a summary: which turns each of its parts stands for, and how much shorter it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from gateway_compaction.core.conversation.messages import text_of
from gateway_compaction.core.conversation.transcript import Transcript, find_turn_starts
from gateway_compaction.core.records.compaction import Compaction, Segment

__all__ = ["SummaryRecord", "SummaryTotals", "build_summary_records", "compute_totals"]


@dataclass(frozen=True, slots=True)
class SummaryRecord:
    """One segment of a summary.

    Attributes:
        thread_id: the conversation, as the caller names it.
        turns: the turns it stands for, counted from 1; a divided turn belongs to all its segments.
        turn_length: how many they are.
        original_chars: characters of their messages' text.
        summary_chars: characters of the segment.
        compression_rate: the rate that the policy asks for; where it names none, the one that came out.
        summary: the segment's text.
    """

    thread_id: str
    turns: tuple[int, ...]
    turn_length: int
    original_chars: int
    summary_chars: int
    compression_rate: float
    summary: str

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {**asdict(self), "turns": list(self.turns)}


@dataclass(frozen=True, slots=True)
class SummaryTotals:
    """All segments together; ``saved`` is the share of the characters that is no longer sent."""

    summaries: int
    turns: int
    original_chars: int
    summary_chars: int
    saved: float


def build_summary_records(
    compaction: Compaction, transcript: Transcript, rate: float | None = None, thread_id: str = ""
) -> tuple[SummaryRecord, ...]:
    """A record for each segment of a compaction of this conversation, in order."""
    openers = find_turn_starts(transcript.history)
    ends = [*openers[1:], len(transcript.history)]
    turns = list(zip(openers, ends, strict=True)) if openers else []
    return tuple(_record(s, transcript, turns, rate, thread_id) for s in compaction.segments)


def compute_totals(records: Iterable[SummaryRecord]) -> SummaryTotals:
    """The sums of some records; a turn that two of them share counts once."""
    known = list(records)
    original = sum(r.original_chars for r in known)
    summary = sum(r.summary_chars for r in known)
    turns = {turn for r in known for turn in r.turns}
    saved = 1 - summary / original if original else 0.0
    return SummaryTotals(len(known), len(turns), original, summary, saved)


def _record(
    segment: Segment,
    transcript: Transcript,
    turns: list[tuple[int, int]],
    rate: float | None,
    thread_id: str,
) -> SummaryRecord:
    covered = transcript.history[segment.start : segment.end]
    numbers = tuple(n for n, (a, b) in enumerate(turns, 1) if a < segment.end and b > segment.start)
    original, short = sum(len(text_of(m)) for m in covered), len(segment.text)
    came_out = round(short / original, 2) if original else 0.0
    return SummaryRecord(
        thread_id,
        numbers,
        len(numbers),
        original,
        short,
        came_out if rate is None else rate,
        segment.text,
    )
