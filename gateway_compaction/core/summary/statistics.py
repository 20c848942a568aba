"""The records of a summary: which turns became how long a text, and what the whole of it saves.

For those who tune ``summary.rate`` and ``triggers.turns``. The records are made with the compaction and
stored in it; API, page and command line show what ``list_summary_records`` makes of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gateway_compaction.core.conversation.messages import told_text_of
from gateway_compaction.core.conversation.transcript import Transcript
from gateway_compaction.core.records.compaction import Compaction
from gateway_compaction.core.records.summary_record import SummaryRecord
from gateway_compaction.core.summary.turn_labels import find_turns

# Characters asked for, by the range of the messages that a text stands for.
Targets = Mapping[tuple[int, int], int]


@dataclass(frozen=True, slots=True)
class RecordedPart:
    """One part of a summary as it is shown.

    Attributes:
        start: position of its first message, after the preamble, from 0.
        end: position behind its last one.
        turns: the turns that it stands for, from 1; none where they are not known.
        turn_length: their number.
        original_chars: characters of its messages' text, None where they are not known.
        summary_chars: characters of the part.
        target_chars: characters that were asked for, None where the length was asked for in tokens.
        requested_rate: the rate that was asked for, None where none was.
        actual_rate: the rate that came out, None where it is not known.
        created_at: seconds since 1970.
        summary: its text.
    """

    start: int
    end: int
    turns: tuple[int, ...]
    turn_length: int
    original_chars: int | None
    summary_chars: int
    target_chars: int | None
    requested_rate: float | None
    actual_rate: float | None
    created_at: float
    summary: str


@dataclass(frozen=True, slots=True)
class SummaryTotals:
    """All parts of a summary together.

    Attributes:
        summaries: the number of parts.
        turns: the number of turns that they stand for; one that two of them share counts once.
        original_chars: characters of the messages' text, of the parts for which it is known.
        summary_chars: characters of the parts.
        tokens_before: tokens of the messages.
        tokens_after: tokens of all that stands in their place: note, pins, texts, a repeated user message.
        saved: share of these tokens that is no longer sent; negative where the place takes more.
    """

    summaries: int
    turns: int
    original_chars: int
    summary_chars: int
    tokens_before: int
    tokens_after: int
    saved: float


@dataclass(frozen=True, slots=True)
class SummaryRecords:
    """The parts of one version of a summary, in order, and their totals; version 0 where there is none."""

    version: int
    records: tuple[RecordedPart, ...]
    totals: SummaryTotals


def build_summary_records(
    compaction: Compaction,
    transcript: Transcript,
    rate: float | None = None,
    base: Compaction | None = None,
    targets: Targets | None = None,
) -> tuple[SummaryRecord, ...]:
    """Build a record for each segment of a compaction, in order.

    Args:
        compaction: a compaction of this conversation.
        transcript: the conversation.
        rate: the rate that new segments were to have, None where none was asked for.
        base: the compaction that this one continues: of segments taken over from it the records are too.
        targets: the characters that were asked for; None where ``rate`` alone says it.
    """
    kept = {} if base is None else {(s.start, s.end, s.text): base.created_at for s in base.segments}
    older = {} if base is None else {(r.start, r.end): r for r in base.records}
    records: list[SummaryRecord] = []
    for segment in compaction.segments:
        place = (segment.start, segment.end)
        taken_over = (*place, segment.text) in kept
        if taken_over and place in older:
            records.append(older[place])
            continue
        original = sum(len(told_text_of(m)) for m in transcript.history[segment.start : segment.end])
        first, last = find_turns(segment, transcript.turn_starts)
        record = SummaryRecord(*place, first, last, original, len(segment.text))
        if taken_over:
            record = replace(record, created_at=kept[*place, segment.text])
        else:
            by_rate = None if rate is None else int(original * rate)
            target = by_rate if targets is None else targets.get(place)
            record = replace(record, target_chars=target, rate=rate)
        records.append(record)
    return tuple(records)


def list_summary_records(compaction: Compaction | None) -> SummaryRecords:
    """Return the parts of a summary with their records, and the totals; of older summaries what is known."""
    if compaction is None:
        return SummaryRecords(0, (), SummaryTotals(0, 0, 0, 0, 0, 0, 0.0))
    known = {(record.start, record.end): record for record in compaction.records}
    parts = []
    for segment in compaction.segments:
        record = known.get((segment.start, segment.end))
        parts.append(
            RecordedPart(
                start=segment.start,
                end=segment.end,
                turns=record.turns if record else (),
                turn_length=len(record.turns) if record else 0,
                original_chars=record.original_chars if record else None,
                summary_chars=len(segment.text),
                target_chars=record.target_chars if record else None,
                requested_rate=record.rate if record else None,
                actual_rate=record.actual_rate if record else None,
                created_at=record.created_at if record else compaction.created_at,
                summary=segment.text,
            )
        )
    return SummaryRecords(compaction.version, tuple(parts), _add_up(parts, compaction))


def _add_up(parts: Sequence[RecordedPart], compaction: Compaction) -> SummaryTotals:
    before, after = compaction.tokens_before, compaction.tokens_after
    return SummaryTotals(
        summaries=len(parts),
        turns=len({turn for part in parts for turn in part.turns}),
        original_chars=sum(part.original_chars or 0 for part in parts),
        summary_chars=sum(part.summary_chars for part in parts),
        tokens_before=before,
        tokens_after=after,
        saved=round(1 - after / before, 4) if before else 0.0,
    )
