"""Turn tallies into rows for programs, and into a table for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import mean, median
from typing import Any

from rich.table import Table

from gateway_compaction.evaluation.intervals import Figure, mean_with_interval
from gateway_compaction.evaluation.peers import Absent
from gateway_compaction.evaluation.run import Tally
from gateway_compaction.evaluation.strategies import OURS

MEASURES = {
    "evidence": "evidence",
    "answers": "answers",
    "judged": "judged right",
    "evidence_unknown": "evidence, question unknown",
    "answers_unknown": "answers, question unknown",
    "probes": "probes",
    "hit3": "probes hit@3",
    "identifiers": "identifiers",
    "identifiers_summary": "identifiers in a summary of this length",
    "identifiers_in_context": "… with context",
    "task": "task",
    "rules": "rules",
}
"""Shares, by their name in rows, with their heading in tables."""
FITTING = "A share of 1.000 there says that nothing had to go, not that it survived a compaction."
LARGER = (
    f"{OURS} counts the room that its policy keeps for excerpts as used: it summarises requests that would"
    " fit, and what it sends, with excerpts in that room, can be larger than what came."
)


@dataclass(frozen=True, slots=True)
class Row:
    """One strategy at one budget. ``ms`` is a median, ``first_ms`` a mean over first requests."""

    strategy: str
    budget: int
    figures: dict[str, Figure]
    tokens: float | None
    ms: float | None
    first_ms: float | None
    counts: dict[str, int] = field(default_factory=dict)
    faults: tuple[str, ...] = ()

    @property
    def over(self) -> bool:
        """Whether most of its requests were still larger than the budget."""
        return 2 * self.counts.get("over_budget", 0) > self.counts.get("requests", 0)


def make_rows(tallies: Iterable[Tally], unknown_only: bool) -> list[Row]:
    """Make rows of tallies. Where no question was shown, evidence is that of the unknown question."""
    return [_make_row(t, unknown_only) for t in tallies]


def _make_row(tally: Tally, unknown_only: bool) -> Row:
    values = dict(tally.values)
    if unknown_only:
        for name in ("evidence", "answers"):
            values[name] = values.pop(f"{name}_unknown", [])
    figures = {
        name: found for name in MEASURES if (found := mean_with_interval(values.get(name, ()))) is not None
    }
    ms = [v for _, v in values.get("ms", ())]
    tokens = [v for _, v in values.get("tokens", ())]
    counts = {
        "requests": tally.requests,
        "over_budget": tally.over,
        "errors": tally.faults.total(),
        "left_out_small": tally.small,
        "left_out_tight": tally.tight,
        "fitting": tally.fitting,
        "larger": tally.larger,
    }
    return Row(
        tally.strategy,
        tally.budget,
        figures,
        mean(tokens) if tokens else None,
        median(ms) if ms else None,
        mean(tally.first_ms) if tally.first_ms else None,
        counts,
        tuple(sorted(tally.faults)),
    )


def row_to_json(row: Row) -> dict[str, Any]:
    """Return a row for JSON: shares (None where there was nothing to measure), then intervals and counts."""
    shares = {name: _round(row.figures[name].value) if name in row.figures else None for name in MEASURES}
    first = {name: shares.pop(name) for name in ("evidence", "answers", "identifiers")}
    return {
        "strategy": row.strategy,
        "budget": row.budget,
        **first,
        "tokens": _round(row.tokens, 1),
        "ms": _round(row.ms, 2),
        "first_ms": _round(row.first_ms, 2),
        **shares,
        "intervals": {n: [_round(f.low), _round(f.high)] for n, f in row.figures.items()},
        "measured": {
            n: {"items": f.items, "conversations": f.conversations, "resampled": f.over}
            for n, f in row.figures.items()
        },
        **row.counts,
    }


def _round(value: float | None, digits: int = 4) -> float | None:
    return None if value is None else round(value, digits)


def render_markdown(
    title: str, rows: Sequence[Row], absent: Sequence[Absent], unasked: str | None = None
) -> str:
    """Return the table for a page; notes stand below it."""
    shown = [name for name in MEASURES if any(name in row.figures for row in rows)]
    heads = ["budget", "strategy", "tokens", "ms", *(MEASURES[n] for n in shown)]
    lines = [f"**{title}**", "", f"| {' | '.join(heads)} |", "|---:|---|" + "---:|" * (len(heads) - 2)]
    for row in rows:
        shares = (format_share(row.figures.get(name), " (", ")") for name in shown)
        cells = [
            f"{row.budget:,}",
            row.strategy,
            _format_number(row.tokens),
            _format_number(row.ms, 1),
            *shares,
        ]
        lines.append(f"| {' | '.join(cells)} |")
    notes = [f"{row.strategy} at {row.budget:,}: {_row_notes(row)}." for row in rows if _row_notes(row)]
    return "\n".join([*lines, "", "  \n".join([*_table_caption(rows, absent, unasked), *notes])])


def render_table(
    title: str, rows: Sequence[Row], absent: Sequence[Absent], unasked: str | None = None
) -> Table:
    """Return rows as a table for a terminal; a measure that no row has is left out."""
    shown = [name for name in MEASURES if any(name in row.figures for row in rows)]
    caption = "\n".join(_table_caption(rows, absent, unasked))
    table = Table(title=title, title_justify="left", caption=caption, caption_justify="left")
    for heading in ("budget", "strategy", "tokens", "ms", *(MEASURES[n] for n in shown), "notes"):
        table.add_column(heading, justify="left" if heading in ("strategy", "notes") else "right")
    for number, row in enumerate(rows):
        ends = number + 1 == len(rows) or rows[number + 1].budget != row.budget
        cells = [
            _format_number(row.tokens),
            _format_number(row.ms, 1),
            *(format_share(row.figures.get(n)) for n in shown),
        ]
        table.add_row(f"{row.budget:,}", row.strategy, *cells, _row_notes(row), end_section=ends)
    return table


def _format_number(value: float | None, digits: int = 0) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"


def format_share(found: Figure | None, opening: str = "\n", closing: str = "") -> str:
    """Return a share with its interval between ``opening`` and ``closing``; a dash for none."""
    return "–" if found is None else f"{found.value:.3f}{opening}{found.low:.2f}–{found.high:.2f}{closing}"


def _row_notes(row: Row) -> str:
    counts = row.counts
    notes = []
    if counts["over_budget"]:
        notes.append(f"over the budget: {counts['over_budget']} of {counts['requests']}")
    if counts["larger"]:
        notes.append(f"larger than it came: {counts['larger']} of {counts['requests']}")
    if counts["errors"]:
        notes.append(f"errors: {counts['errors']} ({', '.join(row.faults)})")
    return "; ".join(notes)


def _table_caption(rows: Sequence[Row], absent: Sequence[Absent], unasked: str | None) -> list[str]:
    lines = [
        "Shares of what survives, with 95 % intervals "
        + ("over conversations." if _has_many(rows) else "over single items: there is only one conversation.")
    ]
    for name, what in (
        ("left_out_small", "fit as they are"),
        ("left_out_tight", "have a preamble and last message of more than half of the budget"),
    ):
        found = {f"{r.budget:,}: {r.counts[name]}" for r in rows if r.counts[name]}
        if found:
            lines.append(f"Requests left out, since they {what}: at {', at '.join(sorted(found))}.")
    fitting = sorted({row.budget for row in rows if row.counts["fitting"]})
    if fitting:
        named = ", at ".join(f"{budget:,}" for budget in fitting)
        lines.append(f"Every request fits as it is, and is measured all the same: at {named}. {FITTING}")
    if any(row.counts["larger"] for row in rows if row.strategy == OURS):
        lines.append(LARGER)
    lines += [unasked] if unasked else []
    return lines + [f"Not compared: {a.name} ({a.why})." for a in absent]


def _has_many(rows: Sequence[Row]) -> bool:
    return any(f.over == "conversations" for r in rows for f in r.figures.values())
