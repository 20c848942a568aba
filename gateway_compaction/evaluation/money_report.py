"""Run a comparison of bills, and turn it into rows for programs and a table for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from gateway_compaction.core.conversation.messages import Message
from gateway_compaction.core.conversation.transcript import split_at_answers
from gateway_compaction.core.policy.book import Identity, PolicyBook
from gateway_compaction.core.policy.optimize import ModelCosts
from gateway_compaction.core.tokens.counter import TokenCounter
from gateway_compaction.evaluation.money import (
    PRICES,
    GatewayVariant,
    PassThrough,
    PinnedSummary,
    Prices,
    Scales,
    Sliding,
    Spending,
    Variant,
    spend,
)
from gateway_compaction.runtime import use_bundled_encodings

OURS = "gateway-compaction"
PLAIN = "one pinned summary, target .5"
DEFAULTS: Mapping[str, Any] = {"version": 1, "defaults": {"mode": "enforce"}}
EXTRACTS: Mapping[str, Any] = {
    "version": 1,
    "defaults": {"mode": "enforce", "summary": {"model": "extractive"}},
}
CHEAPEST: Mapping[str, Any] = {"version": 1, "defaults": {"mode": "enforce", "optimize": "cost"}}
"""The policy that follows the price of cached tokens; it is played once for each of two prices."""


@dataclass(frozen=True, slots=True)
class MoneyRow:
    """The bill of one strategy in one window.

    Attributes:
        bills: uncached tokens of a prompt that a call costs, summaries included, by the name of the prices.
        shares: the same as a share of what the plain strategy costs.
        spending: what it was charged for.
    """

    window: int
    strategy: str
    bills: Mapping[str, float]
    shares: Mapping[str, float]
    spending: Spending


def list_variants(model: str, book: PolicyBook | None, window: int) -> list[Variant]:
    """Return the strategies that are compared; the plain one, by which bills are told, comes first."""

    def by_cost(cached: float) -> PolicyBook:
        return PolicyBook(CHEAPEST, OURS, find_costs=lambda _: ModelCosts(cached, window))

    identity = Identity(model=model)
    ours = [
        GatewayVariant(OURS, PolicyBook(DEFAULTS, OURS), identity),
        GatewayVariant(f"{OURS}, extracts", PolicyBook(EXTRACTS, OURS), identity),
        *(
            GatewayVariant(f"{OURS}, optimize: cost, cached {cached}", by_cost(cached), identity)
            for cached in (0.1, 0.5)
        ),
    ]
    if book is not None:
        ours = [GatewayVariant(f"{OURS}, your policy", book, identity)]
    return [
        PinnedSummary(PLAIN, 0.5),
        PinnedSummary("one pinned summary, target .35", 0.35),
        PinnedSummary("one pinned summary, target .35, prefix shared", 0.35, True),
        PassThrough(),
        Sliding(),
        *ours,
    ]


async def compare_bills(
    conversations: Sequence[Sequence[Message]],
    windows: Sequence[int],
    model: str,
    books: Callable[[int], PolicyBook] | None,
    prices: Mapping[str, Prices],
    progress: Callable[[int, int], None],
) -> list[MoneyRow]:
    """Play conversations with every strategy in every window, and return what each would be billed.

    ``books`` returns somebody's own policies for a window, in place of four of ours.
    """
    use_bundled_encodings()
    counter = TokenCounter()
    variants = {w: list_variants(model, books(w) if books else None, w) for w in windows}
    scales = Scales(
        lambda messages: counter.raw_prompt_tokens(messages, {}, model),
        lambda text: counter.raw_tokens(text, model),
    )
    calls = sum(1 for messages in conversations for _ in split_at_answers(messages))
    done, total = 0, calls * sum(map(len, variants.values()))

    def step() -> None:
        nonlocal done
        done += 1
        progress(done, total)

    rows: list[MoneyRow] = []
    for window in windows:
        found = [await spend(variant, conversations, window, scales, step) for variant in variants[window]]
        plain = {name: found[0].bill(listed) for name, listed in prices.items()}
        for one in found:
            bills = {name: one.bill(listed) for name, listed in prices.items()}
            shares = {name: bill / plain[name] if plain[name] else 1.0 for name, bill in bills.items()}
            rows.append(MoneyRow(window, one.strategy, bills, shares, one))
    return rows


def money_row_to_json(row: MoneyRow) -> dict[str, Any]:
    """Return a row for JSON."""
    spending = row.spending
    return {
        "window": row.window,
        "strategy": row.strategy,
        "bill": {name: round(bill, 3) for name, bill in row.bills.items()},
        "of_plain": {name: round(share, 3) for name, share in row.shares.items()},
        "calls": spending.calls,
        "cached": spending.cached,
        "written": spending.written,
        "summaries": spending.summaries,
        "summary_read": spending.summary_read,
        "summary_cached": spending.summary_cached,
        "summary_output": spending.summary_output,
        "breaks": spending.breaks,
        "over_window": spending.over_window,
        "invalid": spending.invalid,
    }


def render_money_markdown(title: str, rows: Sequence[MoneyRow]) -> str:
    """Return the table for a page; its note stands below it."""
    heads = _headings(rows)
    lines = [f"**{title}**", "", f"| {' | '.join(heads)} |", "|---:|---|" + "---:|" * (len(heads) - 2)]
    lines += [f"| {' | '.join(_cells(row))} |" for row in rows]
    return "\n".join([*lines, "", _caption(rows)])


def render_money_table(title: str, rows: Sequence[MoneyRow]) -> Table:
    """Return the table for a terminal."""
    table = Table(title=title, title_justify="left", caption=_caption(rows), caption_justify="left")
    for heading in _headings(rows):
        table.add_column(heading, justify="left" if heading == "strategy" else "right")
    for number, row in enumerate(rows):
        ends = number + 1 == len(rows) or rows[number + 1].window != row.window
        table.add_row(*_cells(row), end_section=ends)
    return table


def _headings(rows: Sequence[MoneyRow]) -> list[str]:
    names = rows[0].bills if rows else PRICES
    bills = [f"bill a call: {name}" for name in names]
    return ["window", "strategy", *bills, "cached", "breaks", "summaries", "over the window", "invalid"]


def _cells(row: MoneyRow) -> list[str]:
    spending = row.spending
    sent = max(1, spending.cached + spending.written)
    bills = [f"{bill:,.0f} ({row.shares[name]:.2f})" for name, bill in row.bills.items()]
    return [
        f"{row.window:,}",
        row.strategy,
        *bills,
        f"{spending.cached / sent:.0%}",
        f"{spending.breaks:,}",
        f"{spending.summaries:,}",
        f"{spending.over_window / max(1, spending.calls):.0%}",
        f"{spending.invalid:,}",
    ]


def _caption(rows: Sequence[MoneyRow]) -> str:
    calls = rows[0].spending.calls if rows else 0
    return (
        f"{calls:,} calls. A bill is in tokens of an uncached prompt, summaries included; in brackets as a"
        f" share of “{PLAIN}”. Cached is the share of the prompt that stood where it stood in the call"
        " before; a break is a call that changed what had been sent. Calls over the window are refused by"
        " the provider."
    )
