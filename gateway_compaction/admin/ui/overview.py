"""Show the first page as values: what compaction saved, what it cost and where it failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from gateway_compaction.admin.schemas import Overview, Share, Totals
from gateway_compaction.admin.ui.charts import HourChart, HourTokens, make_hour_chart
from gateway_compaction.admin.ui.text import format_compact, format_money, format_percent, format_thousands
from gateway_compaction.archive import Hour
from gateway_compaction.core.records.event import EXTRACTIVE
from gateway_compaction.core.tokens.windows import LearnedWindow

PERIODS: Mapping[int, str] = {24: "24 hours", 72: "3 days", 192: "8 days"}
GROUPS_SHOWN = 50
NEAR_HINT = (
    "Counted are requests from the light level on, and smaller ones where a trigger of the policy fires,"
    " somebody asked to compact or rebuild, or the policy notes all. All others pass without being recorded."
)
SAVED_HINT = (
    "An estimate: the history as it came, by our count, less all that was sent in its place: summary, note,"
    " pins and quotes. It is told as a share of what requests took of the window, with what is kept free for"
    " the answer."
)
MONEY_HINT = (
    "An estimate: what the history as it came would have cost, less what was sent. Where a provider reports"
    " what it read from its prompt cache or wrote to it, that is at those prices on both sides, and the"
    " history as it came is taken to have been cached up to the call before."
)


@dataclass(frozen=True, slots=True)
class Tile:
    """One figure with its name and a line that puts it into proportion; ``hint`` says how it is reckoned."""

    name: str
    figure: str
    note: str = ""
    tone: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """The sums of one owner or model.

    Attributes:
        label: its name as people say it.
        query: the filter that finds its sessions by ``name``, empty for none.
    """

    name: str
    label: str
    query: str
    totals: Totals
    share: float
    would_share: float


@dataclass(frozen=True, slots=True)
class WindowRow:
    """One deployment whose window is known from its refusals.

    Attributes:
        source: what the refusals told: the limit, or bounds of it.
        since: when it was refused last.
    """

    model: str
    deployment: str
    declared: str
    window: str
    source: str
    since: str


@dataclass(frozen=True, slots=True)
class OverviewView:
    """The first page. ``shadow``: nothing was rewritten, so savings are would-be ones."""

    hours: int
    tiles: tuple[Tile, ...]
    chart: HourChart
    teams: tuple[Group, ...]
    models: tuple[Group, ...]
    requests: int
    shadow: bool
    mixed: bool
    saved_hint: str = SAVED_HINT
    money_hint: str = MONEY_HINT
    windows: tuple[WindowRow, ...] = ()


def make_overview_view(
    found: Overview, hours: int, now: float, windows: Mapping[str, LearnedWindow] | None = None
) -> OverviewView:
    """Show the last ``hours``, ``now`` in seconds since 1970, and the windows that refusals have taught."""
    sums = found.totals
    shadow = bool(sums.would_save) and not sums.saved
    return OverviewView(
        hours,
        _make_tiles(found, shadow),
        _make_chart(found.hours, hours, now),
        tuple(_make_group(share) for share in found.teams[:GROUPS_SHOWN]),
        tuple(_make_group(share) for share in found.models[:GROUPS_SHOWN]),
        sums.requests,
        shadow,
        bool(sums.would_save) and bool(sums.saved),
        windows=tuple(_make_window_row(name, one, now) for name, one in sorted((windows or {}).items())),
    )


def _make_window_row(deployment: str, learned: LearnedWindow, now: float) -> WindowRow:
    if learned.told is not None:
        source = f"{format_thousands(learned.told)} told by the provider"
    else:
        passed = "nothing" if learned.passed is None else format_thousands(learned.passed)
        source = f"{passed} passed, {format_thousands(learned.refused or 0)} was refused"
    return WindowRow(
        model=learned.model,
        deployment=deployment,
        declared="unknown" if learned.declared is None else format_thousands(learned.declared),
        window=format_thousands(learned.window(now) or 0),
        source=source,
        since=datetime.fromtimestamp(learned.at[0], UTC).strftime("%d %b %H:%M"),
    )


def _make_tiles(found: Overview, shadow: bool) -> tuple[Tile, ...]:
    sums = found.totals
    would = "would have been saved" if shadow else "saved"
    tokens, dollars = (
        (sums.would_save, sums.would_save_dollars) if shadow else (sums.saved, sums.saved_dollars)
    )
    rate = format_percent(tokens / sums.tokens_before if sums.tokens_before else 0.0)
    tried = sums.failures + sums.summaries
    near = "request near its window" if sums.requests == 1 else "requests near their window"
    near = f"{format_thousands(sums.requests)} {near}, {format_thousands(sums.rewritten)} rewritten"
    return (
        Tile("Sessions", format_thousands(found.sessions), near, hint=NEAR_HINT),
        Tile(
            f"Tokens {would}",
            format_compact(tokens),
            f"an estimate; {rate} of {format_compact(sums.tokens_before)} in requests near their window",
            "good",
            f"{SAVED_HINT} {NEAR_HINT}",
        ),
        Tile(
            f"Money {would}",
            "–" if sums.unpriced and not dollars else format_money(dollars),
            _describe_worth(sums, dollars),
            "good" if dollars > sums.cost else "",
            MONEY_HINT,
        ),
        Tile("Summaries", format_thousands(sums.summaries), f"{format_money(sums.cost)} paid to summarisers"),
        Tile("Cache breaks", format_thousands(sums.breaks), _describe_breaks(sums)),
        Tile(
            "Failures",
            format_thousands(sums.failures),
            f"{format_percent(sums.failures / tried)} of the summaries tried" if sums.failures else "none",
            "bad" if sums.failures else "",
        ),
    )


def _describe_worth(sums: Totals, dollars: float) -> str:
    if sums.unpriced:
        told = f"no price is known for {format_compact(sums.unpriced)} tokens"
    elif sums.cost:
        told = f"{format_money(dollars - sums.cost)} after paying for summaries"
    else:
        told = "summaries cost nothing"
    return f"an estimate; {told}" if dollars else told


def _describe_breaks(sums: Totals) -> str:
    return (
        f"one in {format_thousands(sums.requests / sums.breaks)} requests near their window"
        if sums.breaks
        else "no call was sent a new compaction"
    )


def _make_chart(found: Sequence[Hour], hours: int, now: float) -> HourChart:
    # A column for each hour where they can still be told apart, else for each quarter of a day.
    width = 3600 if hours <= 72 else 6 * 3600
    last = int(now) // width
    columns = [last - n for n in range(hours * 3600 // width - 1, -1, -1)]
    sums: dict[int, list[int]] = {column: [0, 0, 0] for column in columns}
    for hour in found:
        column = sums.get(hour.start // width)
        if column is not None:
            column[0] += hour.tokens_after
            column[1] += hour.saved
            column[2] += hour.would_save
    form = "%H:%M" if hours <= 24 else "%d %b %H:%M"
    names = [datetime.fromtimestamp(column * width, UTC).strftime(form) for column in columns]
    rows = zip(names, columns, strict=True)
    return make_hour_chart([HourTokens(name, *sums[column]) for name, column in rows])


def _make_group(share: Share) -> Group:
    sums = share.totals
    before = sums.tokens_before or 1
    label = share.name if share.kind in ("model", "nobody") else f"{share.kind} {share.name}"
    query = share.kind if share.kind in ("team", "model") else ""
    if share.kind == "model" and share.name == EXTRACTIVE:
        label, query = f"{EXTRACTIVE} (no model)", ""
    return Group(share.name, label, query, sums, sums.saved / before, sums.would_save / before)
