"""Choosing pieces one by one where each choice makes others less worth having."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence

BYTES_PER_TOKEN = 4.2
MISSES = 60


def select_by_gain(
    bounds: Sequence[float], gain: Callable[[int], float], take: Callable[[int], bool], least: float = 0.0
) -> None:
    """Offer pieces by falling gain until sixty in a row were not taken.

    A gain of ``least`` or less is not worth having. ``bounds`` are at least the gains that pieces have at
    first, and gains may only fall as others are taken, so that each is looked at again when it comes up. On
    a tie the lower number comes first.
    """
    waiting = [(-bound, i) for i, bound in enumerate(bounds) if bound > least]
    heapq.heapify(waiting)
    misses = 0
    while waiting and misses < MISSES:
        _, i = heapq.heappop(waiting)
        now = gain(i)
        if now <= least:
            continue
        if waiting and -now > waiting[0][0]:
            heapq.heappush(waiting, (-now, i))
        elif take(i):
            misses = 0
        else:
            misses += 1


def estimate_tokens(text: str) -> float:
    """About how many tokens a text has: enough for an order of preference."""
    return (len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))) / BYTES_PER_TOKEN
