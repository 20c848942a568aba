"""Show the summary history as values: a card for each version, and their sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gateway_compaction.admin.schemas import Version
from gateway_compaction.admin.ui.text import (
    Folded,
    fold,
    format_age,
    format_compact,
    format_money,
    format_percent,
    format_thousands,
    format_time,
    pluralize,
    shorten_line,
)
from gateway_compaction.archive import CallSnapshot, SessionDetail
from gateway_compaction.core.records.call_snapshot import find_bounds, name_messages
from gateway_compaction.core.records.compaction import Compaction
from gateway_compaction.core.summary.statistics import RecordedPart, list_summary_records
from gateway_compaction.core.summary.turn_labels import name_turns

KINDS = {
    "model": "summary by a model",
    "extractive": "extract, made without a model",
    "cleared": "old tool results cleared",
}
PIECE_CHARS = 4000
LAST_CALL_SAVING = (
    "Of the covered messages alone, at the last call: the tokens they had, less those of all that stood in"
    " their place. Messages that were sent as they came are not in it."
)
LONGEST_SAVING = (
    "Of the covered messages alone, by the longest version: the tokens they had, less those of the summary"
    " with its note and pins. Quotes come with a call, and none was sent with it yet."
)
RECORDS_SAVING = (
    "Of the messages that this version covers: their tokens, less those of its text with note and pins."
    " Quotes are not in it, since they differ from call to call."
)


@dataclass(frozen=True, slots=True)
class Card:
    """One version of the summary."""

    version: int
    kind: str
    range: str
    turns: str
    before: str
    after: str
    rate: str
    kept: int
    model: str
    when: str
    at: str
    cost: str
    parent: str
    text: Folded
    retired: bool
    current: bool
    ready: bool


@dataclass(frozen=True, slots=True)
class Statistics:
    """The sums of the versions in use; ``covered`` in words.

    ``note`` says what ``after`` counts, ``hint`` what the saving is of.
    """

    number: str
    covered: str
    before: str
    after: str
    saving: str
    note: str
    hint: str
    retired: int


@dataclass(frozen=True, slots=True)
class RecordCard:
    """One part of the summary; ``asked`` says which length was asked for."""

    turns: str
    messages: str
    before: str
    after: str
    asked: str
    rate: str
    kept: int
    when: str
    at: str
    text: Folded


@dataclass(frozen=True, slots=True)
class RecordsView:
    """The parts of the summary in order, and what they come to, note and pins counted."""

    version: int
    cards: tuple[RecordCard, ...]
    totals: tuple[tuple[str, str], ...]
    saving_hint: str = RECORDS_SAVING


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a summary as compared with its parent's: same, added or removed."""

    kind: str
    text: Folded


@dataclass(frozen=True, slots=True)
class VersionView:
    """One version closely; ``newer`` are the versions that a rollback to it would take back."""

    card: Card
    pieces: tuple[Piece, ...]
    segments: tuple[tuple[str, Folded], ...]
    digest: str
    parent: int | None
    newer: tuple[int, ...]


def preamble_length(call: CallSnapshot | None) -> int:
    """Return how many leading messages of a call are its preamble."""
    return find_bounds(call)[0] if call else 0


def number_turns(call: CallSnapshot | None) -> tuple[int, ...]:
    """Return for each message after the preamble its turn, from 1 on (0 before the first user message)."""
    turn, turns = 0, list[int]()
    for role, _, _ in (call.sent if call else ())[preamble_length(call) :]:
        turn += role == "user"
        turns.append(turn)
    return tuple(turns)


def describe_range(start: int, end: int, turns: Sequence[int]) -> tuple[str, str]:
    """Describe messages ``start`` to ``end`` (after the preamble, end excluded), and their turns if known."""
    named = name_messages(start, end)
    if not turns or end > len(turns) or end <= start:
        return named, ""
    first, last = max(turns[start], 1), max(turns[end - 1], 1)
    return named, name_turns(first, last)


def make_cards(detail: SessionDetail, now: float) -> tuple[Card, ...]:
    """Return all versions by number, newest first: one that was taken back stands where it stood."""
    turns = number_turns(detail.last_call)
    current = _current_version(detail)
    known = {c.digest: c.version for c in (*detail.retired, *detail.compactions)}
    newest = max((c.version for c in detail.compactions), default=None)
    found = [(c, False) for c in detail.compactions] + [(c, True) for c in detail.retired]
    found.sort(key=lambda one: one[0].version, reverse=True)
    return tuple(
        _make_card(c, turns, known, now, _version_status(c.version, retired, current, newest))
        for c, retired in found
    )


def make_statistics(detail: SessionDetail) -> Statistics | None:
    """Return the figures under the cards; None where there is no summary.

    They are the last call's, where that was sent a summary: there it is known what stood in the place of what
    was covered, quotes included. Else they are the longest version's. A version stands for everything from
    the first message on, so the versions' own sums would count the beginning many times over.
    """
    if not detail.compactions:
        return None
    longest = max(detail.compactions, key=lambda c: (c.covers, c.version))
    sizes = _measure_last_call(detail.last_call)
    covers, before, after = sizes or (longest.covers, longest.tokens_before, longest.tokens_after)
    covered, turns = describe_range(0, covers, number_turns(detail.last_call))
    number = len(detail.compactions)
    return Statistics(
        f"{number} version{'' if number == 1 else 's'}",
        ", ".join(part for part in (covered, turns) if part),
        format_thousands(before),
        format_thousands(after),
        format_percent(1 - after / before if before else 0.0),
        "with the quotes of the last call" if sizes else "without quotes",
        LAST_CALL_SAVING if sizes else LONGEST_SAVING,
        len(detail.retired),
    )


def _measure_last_call(call: CallSnapshot | None) -> tuple[int, int, int] | None:
    """Return how many messages a summary stood for, their tokens, and those of all that stood for them."""
    if call is None:
        return None
    bounds = find_bounds(call)
    if bounds.covered_end == bounds.preamble:
        return None
    before = sum(tokens for _, tokens, _ in call.sent[bounds.preamble : bounds.covered_end])
    saved = sum(tokens for _, tokens, _ in call.sent) - sum(tokens for _, tokens, _ in call.saw)
    return bounds.covered_end - bounds.preamble, before, before - saved


def make_records_view(detail: SessionDetail, now: float) -> RecordsView | None:
    """Return a card for each part of the summary in use, in order; None where there is no summary."""
    compaction = detail.summary
    if compaction is None:
        return None
    found, turns = list_summary_records(compaction), number_turns(detail.last_call)
    totals = found.totals
    chars = (totals.original_chars, totals.summary_chars)
    tokens = (totals.tokens_before, totals.tokens_after)
    parts = pluralize(totals.summaries, "part")
    return RecordsView(
        found.version,
        tuple(_make_record_card(one, turns, now) for one in found.records),
        (
            ("Parts", f"{parts} for {pluralize(totals.turns, 'turn')}" if totals.turns else parts),
            ("Texts", f"{' → '.join(map(format_thousands, chars))} characters"),
            ("With note and pins", f"{' → '.join(map(format_thousands, tokens))} tokens"),
            ("Saving", format_percent(totals.saved)),
        ),
    )


def _make_record_card(one: RecordedPart, turns: Sequence[int], now: float) -> RecordCard:
    messages, named = describe_range(one.start, one.end, turns)
    if one.turns:
        named = name_turns(one.turns[0], one.turns[-1])
    asked = [] if one.requested_rate is None else [f"rate {one.requested_rate:g}"]
    asked += [] if one.target_chars is None else [f"{format_thousands(one.target_chars)} characters"]
    return RecordCard(
        named,
        messages,
        "?" if one.original_chars is None else format_thousands(one.original_chars),
        format_thousands(one.summary_chars),
        ", ".join(asked),
        "" if one.actual_rate is None else f"{one.actual_rate:.2f}",
        max(1, min(100, round(100 * (one.actual_rate or 0)))),
        format_age(one.created_at, now),
        format_time(one.created_at),
        fold(one.summary),
    )


def make_version_view(detail: SessionDetail, found: Version, now: float) -> VersionView:
    """Show one version closely."""
    compaction = found.compaction
    turns = number_turns(detail.last_call)
    card = next(card for card in make_cards(detail, now) if card.version == compaction.version)
    newer = tuple(sorted(c.version for c in detail.compactions if c.version > compaction.version))
    return VersionView(
        card,
        tuple(Piece(change.kind, fold(change.text, PIECE_CHARS)) for change in found.diff),
        tuple(
            (" · ".join(p for p in describe_range(s.start, s.end, turns) if p), fold(s.text, PIECE_CHARS))
            for s in compaction.segments
        ),
        compaction.digest,
        found.parent,
        newer,
    )


def _version_status(version: int, retired: bool, current: int | None, newest: int | None) -> str:
    if retired:
        return "retired"
    return "current" if version == current else "ready" if version == newest else "older"


def _current_version(detail: SessionDetail) -> int | None:
    """Return the version that the latest call was sent with; unknown, the newest."""
    if detail.last_call is not None:
        return detail.last_call.version
    return detail.compactions[0].version if detail.compactions else None


def _make_card(
    found: Compaction, turns: Sequence[int], known: dict[str, int], now: float, status: str
) -> Card:
    covered, named = describe_range(0, found.covers, turns)
    share = found.tokens_after / found.tokens_before if found.tokens_before else 0.0
    parent = known.get(found.parent or "")
    return Card(
        found.version,
        KINDS.get(found.kind, found.kind),
        covered,
        named,
        format_compact(found.tokens_before),
        format_compact(found.tokens_after),
        f"{share:.2f}",
        max(1, min(100, round(share * 100))),
        shorten_line(found.model or "no model"),
        format_age(found.created_at, now),
        format_time(found.created_at),
        format_money(found.cost) if found.cost else "",
        f"v{parent}" if parent else "",
        fold(found.text),
        status == "retired",
        status == "current",
        status == "ready",
    )
