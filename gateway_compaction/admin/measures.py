"""Sum hours up, by team and by model, with the dollars that the saved tokens would have cost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from typing import Any

from gateway_compaction.admin.dependencies import Parts
from gateway_compaction.admin.schemas import Overview, Share, ShareKind, Totals
from gateway_compaction.archive import Hour, Query, Scope
from gateway_compaction.core.records.savings import PromptPrice

Price = Callable[[str], PromptPrice | None]
COUNTED = tuple({f.name for f in fields(Totals)} & {f.name for f in fields(Hour)})


async def load_overview(parts: Parts, scope: Scope, hours: int, now: float) -> Overview:
    """Return the last ``hours`` of what is in scope; ``now`` in seconds since 1970."""
    since = now - 3600 * hours
    counted = await parts.archive.overview(scope, hours)
    seen = await parts.archive.sessions(scope, Query(since=since, limit=1))
    # What is counted may be long, so it is gone through beside the loop; prices are LiteLLM's own lists,
    # which only the loop changes.
    models = await asyncio.to_thread(_model_names, counted)
    prices = {model: parts.price(model) for model in models}
    return await asyncio.to_thread(make_overview, since, seen.total, counted, prices.get)


def _model_names(hours: Sequence[Hour]) -> frozenset[str]:
    return frozenset(hour.model for hour in hours)


def make_overview(since: float, sessions: int, hours: Sequence[Hour], price: Price) -> Overview:
    """Sum some hours up as a whole, by owner and by model."""
    return Overview(
        since=since,
        sessions=sessions,
        totals=_sum_hours(hours, price),
        teams=_sum_by_name(hours, lambda h: (h.owner.kind, h.owner.name), price),
        models=_sum_by_name(hours, lambda h: ("model", h.model), price),
        hours=tuple(hours),
    )


def _sum_by_name(
    hours: Iterable[Hour], named: Callable[[Hour], tuple[ShareKind, str]], price: Price
) -> tuple[Share, ...]:
    groups: dict[tuple[ShareKind, str], list[Hour]] = {}
    for hour in hours:
        groups.setdefault(named(hour), []).append(hour)
    shares = [Share(name, _sum_hours(found, price), kind) for (kind, name), found in groups.items()]
    return tuple(sorted(shares, key=lambda s: (-s.totals.saved, -s.totals.would_save, s.name)))


def _sum_hours(hours: Iterable[Hour], price: Price) -> Totals:
    sums: dict[str, Any] = dict.fromkeys((f.name for f in fields(Totals)), 0)
    for hour in hours:
        for name in COUNTED:
            sums[name] += getattr(hour, name)
        prices = price(hour.model)
        if prices is None:
            sums["unpriced"] += hour.saved + hour.would_save
            continue
        sums["saved_dollars"] += prices.cost(hour.saved, hour.saved_cached, hour.saved_written)
        sums["would_save_dollars"] += prices.cost(
            hour.would_save, hour.would_save_cached, hour.would_save_written
        )
    return Totals(**sums)
