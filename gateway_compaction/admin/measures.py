"""Sums over hours, by team and by model, with what the saved tokens would have cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from typing import Any

from gateway_compaction.admin.schemas import Overview, Share, ShareKind, Totals
from gateway_compaction.archive import Hour

__all__ = ["overview_of"]

Price = Callable[[str], float | None]
COUNTED = tuple({f.name for f in fields(Totals)} & {f.name for f in fields(Hour)})


def overview_of(since: float, sessions: int, hours: Sequence[Hour], price: Price) -> Overview:
    """The whole of some hours."""
    return Overview(
        since=since,
        sessions=sessions,
        totals=_summed(hours, price),
        teams=_shares(hours, lambda h: (h.owner.kind, h.owner.name), price),
        models=_shares(hours, lambda h: ("model", h.model), price),
        hours=tuple(hours),
    )


def _shares(
    hours: Iterable[Hour], named: Callable[[Hour], tuple[ShareKind, str]], price: Price
) -> tuple[Share, ...]:
    groups: dict[tuple[ShareKind, str], list[Hour]] = {}
    for hour in hours:
        groups.setdefault(named(hour), []).append(hour)
    shares = [Share(name, _summed(found, price), kind) for (kind, name), found in groups.items()]
    return tuple(sorted(shares, key=lambda s: (-s.totals.saved, -s.totals.would_save, s.name)))


def _summed(hours: Iterable[Hour], price: Price) -> Totals:
    sums: dict[str, Any] = dict.fromkeys((f.name for f in fields(Totals)), 0)
    for hour in hours:
        for name in COUNTED:
            sums[name] += getattr(hour, name)
        dollars = price(hour.model)
        if dollars is None:
            sums["unpriced"] += hour.saved + hour.would_save
        else:
            sums["saved_dollars"] += hour.saved * dollars
            sums["would_save_dollars"] += hour.would_save * dollars
    return Totals(**sums)
