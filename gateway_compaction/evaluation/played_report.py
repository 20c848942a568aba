"""Turn what was played into rows for programs, and into a table for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from rich.table import Table

from gateway_compaction.evaluation.intervals import Figure, mean_with_interval
from gateway_compaction.evaluation.peers import Absent
from gateway_compaction.evaluation.played import CACHED_PRICE, PlayedTally
from gateway_compaction.evaluation.report import format_share

SHARES = {
    "evidence": "evidence",
    "evidence_compacted": "… where messages are left out",
    "quoted": "with quotes there",
    "evidence_cold": "evidence, one cold request",
}
"""Shares, by their name in rows, with their heading in tables."""


@dataclass(frozen=True, slots=True)
class PlayedRow:
    """One strategy in one window. ``tokens`` and ``bill`` are means over all calls."""

    strategy: str
    window: int
    figures: dict[str, Figure]
    calls: int
    tokens: float
    bill: float
    rewrites: int
    faults: int


def make_played_rows(tallies: Iterable[PlayedTally]) -> list[PlayedRow]:
    """Make rows of tallies; what was not measured is left out."""
    return [_make_row(tally) for tally in tallies]


def _make_row(tally: PlayedTally) -> PlayedRow:
    compacted = [m for m in tally.marks if m.is_compacted]
    values = {
        "evidence": [(m.conversation, m.share) for m in tally.marks],
        "evidence_compacted": [(m.conversation, m.share) for m in compacted],
        "quoted": [(m.conversation, float(m.is_quoted)) for m in compacted if tally.is_ours],
        "evidence_cold": [(m.conversation, m.cold) for m in tally.marks if m.cold is not None],
    }
    figures = {n: found for n in SHARES if (found := mean_with_interval(values[n])) is not None}
    return PlayedRow(
        tally.strategy,
        tally.window,
        figures,
        len(tally.bills),
        mean(tally.tokens) if tally.tokens else 0.0,
        mean(tally.bills) if tally.bills else 0.0,
        tally.rewrites,
        tally.faults,
    )


def played_row_to_json(row: PlayedRow) -> dict[str, Any]:
    """Return a row for JSON: shares (None where there was nothing to measure), then intervals and counts."""
    figures = row.figures
    return {
        "strategy": row.strategy,
        "window": row.window,
        **{n: round(figures[n].value, 4) if n in figures else None for n in SHARES},
        "tokens": round(row.tokens, 1),
        "bill": round(row.bill, 1),
        "calls": row.calls,
        "questions": figures["evidence"].items if "evidence" in figures else 0,
        "rewrites": row.rewrites,
        "errors": row.faults,
        "intervals": {n: [round(f.low, 4), round(f.high, 4)] for n, f in figures.items()},
    }


def render_played_markdown(title: str, rows: Sequence[PlayedRow], absent: Sequence[Absent]) -> str:
    """Return the table for a page; notes stand below it."""
    heads = _headings(rows)
    lines = [f"**{title}**", "", f"| {' | '.join(heads)} |", "|---:|---|" + "---:|" * (len(heads) - 2)]
    lines += [f"| {' | '.join(_cells(row, rows, (' (', ')')))} |" for row in rows]
    return "\n".join([*lines, "", "  \n".join(_caption(rows, absent))])


def render_played_table(title: str, rows: Sequence[PlayedRow], absent: Sequence[Absent]) -> Table:
    """Return rows as a table for a terminal; a share that no row has is left out."""
    caption = "\n".join(_caption(rows, absent))
    table = Table(title=title, title_justify="left", caption=caption, caption_justify="left")
    for heading in _headings(rows):
        table.add_column(heading, justify="left" if heading == "strategy" else "right")
    for number, row in enumerate(rows):
        ends = number + 1 == len(rows) or rows[number + 1].window != row.window
        table.add_row(*_cells(row, rows, ("\n", "")), end_section=ends)
    return table


def _shown(rows: Sequence[PlayedRow]) -> list[str]:
    return [name for name in SHARES if any(name in row.figures for row in rows)]


def _headings(rows: Sequence[PlayedRow]) -> list[str]:
    shares = (SHARES[name] for name in _shown(rows))
    return ["window", "strategy", *shares, "tokens a call", "bill a call", "rewrites"]


def _cells(row: PlayedRow, rows: Sequence[PlayedRow], around: tuple[str, str]) -> list[str]:
    shares = (format_share(row.figures.get(name), *around) for name in _shown(rows))
    counts = (f"{row.tokens:,.0f}", f"{row.bill:,.0f}", f"{row.rewrites} in {row.calls:,} calls")
    return [f"{row.window:,}", row.strategy, *shares, *counts]


def _caption(rows: Sequence[PlayedRow], absent: Sequence[Absent]) -> list[str]:
    asked = max((row.figures["evidence"].items for row in rows if "evidence" in row.figures), default=0)
    failed = [f"{row.strategy} at {row.window:,}: {row.faults}" for row in rows if row.faults]
    return [
        f"{asked} questions asked on the way. Shares with 95 % intervals; a bill counts a token that stands"
        f" where it stood in the call before as {CACHED_PRICE} of one; a rewrite changes what had been sent.",
        *([f"Conversations given up after an error: {', '.join(failed)}."] if failed else []),
        *(f"Not compared: {a.name} ({a.why})." for a in absent),
    ]
