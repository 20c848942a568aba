"""Sums over hours, by team and by model, with what the saved tokens would have cost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from typing import Any

from gateway_compaction.admin.dependencies import Parts
from gateway_compaction.admin.schemas import Overview, Share, ShareKind, Totals
from gateway_compaction.archive import Hour, Query, Scope

__all__ = ["counted_overview", "overview_of"]

Price = Callable[[str], float | None]
COUNTED = tuple({f.name for f in fields(Totals)} & {f.name for f in fields(Hour)})


async def counted_overview(parts: Parts, scope: Scope, hours: int, now: float) -> Overview:
    """The last ``hours`` of what is in scope; ``now`` in seconds since 1970."""
    since = now - 3600 * hours
    counted = await parts.archive.overview(scope, hours)
    seen = await parts.archive.sessions(scope, Query(since=since, limit=1))
    # What is counted may be long, so it is gone through beside the loop; prices are LiteLLM's own lists,
    # which only the loop changes.
    models = await asyncio.to_thread(_models_of, counted)
    prices = {model: parts.price(model) for model in models}
    return await asyncio.to_thread(overview_of, since, seen.total, counted, prices.get)


def _models_of(hours: Sequence[Hour]) -> frozenset[str]:
    return frozenset(hour.model for hour in hours)


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
