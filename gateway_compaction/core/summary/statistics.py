"""The statistics of a summary: the turns that each of its parts stands for, and how much shorter it is.

For those who tune ``summary.rate`` and ``triggers.turns``: which group of turns became how long a text, and
whether the rate that the policy asks for came out. Nothing in the gateway reads these records yet; they are
made from a stored compaction and the conversation it was made of (see tests/seeds/test_turns.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from gateway_compaction.core.conversation.messages import told_text_of
from gateway_compaction.core.conversation.transcript import Transcript
from gateway_compaction.core.records.compaction import Compaction, Segment


@dataclass(frozen=True, slots=True)
class SummaryRecord:
    """One segment of a summary, held against the messages that it stands for.

    Attributes:
        thread_id: the conversation, as the caller names it.
        turns: the turns it stands for, counted from 1; a divided turn belongs to all its segments.
        turn_length: the number of these turns.
        original_chars: characters of the text of the messages that it stands for.
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
        """Return the record in plain JSON types."""
        return {**asdict(self), "turns": list(self.turns)}


@dataclass(frozen=True, slots=True)
class SummaryTotals:
    """All segments of a summary together.

    Attributes:
        summaries: the number of segments.
        turns: the number of turns that they stand for.
        original_chars: characters of the messages' text.
        summary_chars: characters of the segments.
        saved: share of the characters that is no longer sent.
    """

    summaries: int
    turns: int
    original_chars: int
    summary_chars: int
    saved: float


def build_summary_records(
    compaction: Compaction, transcript: Transcript, rate: float | None = None, thread_id: str = ""
) -> tuple[SummaryRecord, ...]:
    """Build a record for each segment of a compaction, in order.

    Args:
        compaction: a compaction of this conversation.
        transcript: the conversation.
        rate: the rate that the policy asks for, None where it names none.
        thread_id: a name for the conversation.
    """
    openers = transcript.turn_starts
    ends = [*openers[1:], len(transcript.history)]
    turns = list(zip(openers, ends, strict=True)) if openers else []
    records: list[SummaryRecord] = []
    for segment in compaction.segments:
        covered = transcript.history[segment.start : segment.end]
        numbers = _find_turns(segment, turns)
        original_chars = sum(len(told_text_of(message)) for message in covered)
        summary_chars = len(segment.text)
        compression_rate = rate
        if compression_rate is None:
            compression_rate = round(summary_chars / original_chars, 2) if original_chars else 0.0
        records.append(
            SummaryRecord(
                thread_id=thread_id,
                turns=numbers,
                turn_length=len(numbers),
                original_chars=original_chars,
                summary_chars=summary_chars,
                compression_rate=compression_rate,
                summary=segment.text,
            )
        )
    return tuple(records)


def _find_turns(segment: Segment, turns: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Return the numbers of the turns (each with its first message and its end) that a segment touches."""
    return tuple(
        number for number, (start, end) in enumerate(turns, 1) if start < segment.end and end > segment.start
    )


def compute_totals(records: Iterable[SummaryRecord]) -> SummaryTotals:
    """Add up records; a turn that two of them share counts once."""
    records = list(records)
    original_chars = sum(record.original_chars for record in records)
    summary_chars = sum(record.summary_chars for record in records)
    turns = {turn for record in records for turn in record.turns}
    saved = 1 - summary_chars / original_chars if original_chars else 0.0
    return SummaryTotals(len(records), len(turns), original_chars, summary_chars, saved)
