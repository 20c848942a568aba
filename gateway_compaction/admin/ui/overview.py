"""The first page as values: what compaction saved, what it cost and where it failed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from gateway_compaction.admin.ui.charts import HourChart, hour_chart
from gateway_compaction.admin.ui.text import compact, money, percent, thousands
from gateway_compaction.archive import Hour, Owner

__all__ = ["PERIODS", "Group", "Overview", "Prices", "Tile", "Totals", "overview", "owner_name", "totals"]

Prices = Callable[[str], float | None]
"""Dollars for one input token of a model group, None where nobody knows."""

PERIODS: Mapping[int, str] = {24: "24 hours", 72: "3 days", 168: "7 days", 720: "30 days"}
GROUPS_SHOWN = 50
COUNTS = ("requests", "rewritten", "tokens_before", "tokens_after", "saved", "would_save")
COUNTS += ("breaks", "summaries", "failures", "cost")


@dataclass(frozen=True, slots=True)
class Tile:
    """One figure with its name and a line that puts it into proportion."""

    name: str
    figure: str
    note: str = ""
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over hours. ``money`` and ``would_money`` are dollars, of the models that have a price."""

    requests: int = 0
    rewritten: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    saved: int = 0
    would_save: int = 0
    breaks: int = 0
    summaries: int = 0
    failures: int = 0
    cost: float = 0.0
    money: float = 0.0
    would_money: float = 0.0
    unpriced: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """Tokens saved as a share of what clients sent."""
        return self.saved / self.tokens_before if self.tokens_before else 0.0

    @property
    def would_share(self) -> float:
        """The same for what would have been saved."""
        return self.would_save / self.tokens_before if self.tokens_before else 0.0


@dataclass(frozen=True, slots=True)
class Group:
    """The sums of one team or model; ``query`` finds its sessions in the list."""

    name: str
    query: str
    totals: Totals


@dataclass(frozen=True, slots=True)
class Overview:
    """All that the first page shows. ``shadow``: nothing is rewritten, so savings are would-be ones."""

    hours: int
    tiles: tuple[Tile, ...]
    chart: HourChart
    teams: tuple[Group, ...]
    models: tuple[Group, ...]
    totals: Totals
    shadow: bool
    mixed: bool
    sessions: int


def owner_name(owner: Owner) -> str:
    """What people call the owner: the team, else the user, else the key."""
    named = owner.team or owner.team_id or owner.user_id or owner.key_alias
    return named or (f"key {owner.key_hash[:8]}" if owner.key_hash else "nobody in particular")


def totals(hours: Iterable[Hour], prices: Prices) -> Totals:
    """The sums of ``hours``, tokens turned into money model by model."""
    found = list(hours)
    sums = {name: sum(getattr(hour, name) for hour in found) for name in COUNTS}
    saved: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for hour in found:
        saved[hour.model][0] += hour.saved
        saved[hour.model][1] += hour.would_save
    priced = {model: prices(model) for model in saved}
    return Totals(
        **sums,
        money=sum(tokens * (priced[model] or 0.0) for model, (tokens, _) in saved.items()),
        would_money=sum(tokens * (priced[model] or 0.0) for model, (_, tokens) in saved.items()),
        unpriced=tuple(sorted(m for m, price in priced.items() if price is None and any(saved[m]))),
    )


def overview(found: Sequence[Hour], hours: int, sessions: int, now: float, prices: Prices) -> Overview:
    """The first page of the last ``hours``, ``now`` in seconds since 1970."""
    sums = totals(found, prices)
    shadow = bool(sums.would_save) and not sums.saved
    return Overview(
        hours,
        _tiles(sums, sessions, shadow),
        _chart(found, hours, now),
        _groups(found, lambda hour: owner_name(hour.owner), "team", prices),
        _groups(found, lambda hour: hour.model, "model", prices),
        sums,
        shadow,
        bool(sums.would_save) and bool(sums.saved),
        sessions,
    )


def _tiles(sums: Totals, sessions: int, shadow: bool) -> tuple[Tile, ...]:
    rate = percent(sums.would_share if shadow else sums.share)
    would = "would have been saved" if shadow else "saved"
    tokens, dollars = (sums.would_save, sums.would_money) if shadow else (sums.saved, sums.money)
    net = f"{money(dollars - sums.cost)} after paying for summaries" if sums.cost else "no summary cost anything"
    if sums.unpriced:
        net = f"no price is known for {', '.join(sums.unpriced[:3])}"
    failed = sums.failures / (sums.failures + sums.summaries) if sums.failures else 0.0
    return (
        Tile("Sessions", thousands(sessions), f"{thousands(sums.requests)} requests, {thousands(sums.rewritten)} rewritten"),
        Tile(f"Tokens {would}", compact(tokens), f"{rate} of {compact(sums.tokens_before)} that clients sent", "good"),
        Tile(f"Money {would}", money(dollars), net, "good" if dollars > sums.cost else ""),
        Tile("Summaries", thousands(sums.summaries), f"{money(sums.cost)} paid to summarisers"),
        Tile("Cache breaks", thousands(sums.breaks), _per(sums.breaks, sums.requests)),
        Tile("Failures", thousands(sums.failures), f"{percent(failed)} of the summaries tried" if failed else "none", "bad" if failed else ""),
    )  # fmt: skip


def _per(breaks: int, requests: int) -> str:
    return f"one in {thousands(requests / breaks)} requests" if breaks else "every prompt cache stayed warm"


def _chart(found: Sequence[Hour], hours: int, now: float) -> HourChart:
    # A column for each hour where they can still be told apart, else for each quarter of a day.
    width = 3600 if hours <= 72 else 6 * 3600 if hours <= 336 else 24 * 3600
    last = int(now) // width
    columns = [last - n for n in range(hours * 3600 // width - 1, -1, -1)]
    sums: dict[int, list[int]] = {column: [0, 0, 0] for column in columns}
    for hour in found:
        column = sums.get(hour.start // width)
        if column is not None:
            column[0] += hour.tokens_after
            column[1] += hour.saved
            column[2] += hour.would_save
    form = "%H:%M" if hours <= 24 else "%d %b %H:%M" if width < 24 * 3600 else "%d %b"
    names = [datetime.fromtimestamp(column * width, UTC).strftime(form) for column in columns]
    return hour_chart([(name, *sums[column]) for name, column in zip(names, columns, strict=True)])


def _groups(
    found: Sequence[Hour], name: Callable[[Hour], str], query: str, prices: Prices
) -> tuple[Group, ...]:
    parts: dict[str, list[Hour]] = defaultdict(list)
    for hour in found:
        parts[name(hour)].append(hour)
    groups = [Group(key, query, totals(hours, prices)) for key, hours in parts.items()]
    groups.sort(key=lambda group: (-(group.totals.saved + group.totals.would_save), group.name))
    return tuple(groups[:GROUPS_SHOWN])

