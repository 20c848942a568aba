"""Compute means with 95 % intervals, by resampling whole conversations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 2_000
SEED = 20_240_229


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean, its interval, and the number of things that it was taken over.

    Attributes:
        over: the kind of thing that was resampled: ``conversations``, or ``items`` where there is only
            one conversation.
    """

    value: float
    low: float
    high: float
    items: int
    conversations: int
    over: str


def mean_with_interval(values: Sequence[tuple[str, float]]) -> Figure | None:
    """Return the mean over all items of (conversation, value) pairs, or None without any.

    Whole conversations are drawn with replacement: the items of one are alike, so drawing items would promise
    too narrow an interval.
    """
    if not values:
        return None
    groups: dict[str, list[float]] = {}
    for conversation, value in values:
        groups.setdefault(conversation, []).append(value)
    drawn = list(groups.values()) if len(groups) > 1 else [[v] for _, v in values]
    sums = np.array([sum(g) for g in drawn])
    sizes = np.array([len(g) for g in drawn])
    chosen = np.random.default_rng(SEED).integers(0, len(drawn), (RESAMPLES, len(drawn)))
    means = sums[chosen].sum(axis=1) / sizes[chosen].sum(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    mean = float(sums.sum() / sizes.sum())
    over = "conversations" if len(groups) > 1 else "items"
    return Figure(mean, float(low), float(high), len(values), len(groups), over)
