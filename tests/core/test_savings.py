"""What a call saves, told apart as a provider's prompt cache prices it."""

from __future__ import annotations

import pytest

from gateway_compaction.core.planning.savings import (
    LEAST_CACHED,
    CallSizes,
    estimate_observed_savings,
    estimate_savings,
)
from gateway_compaction.core.records.savings import CacheUse, PromptPrice, Savings

LONG = CallSizes(as_came=10_000, compacted=4_000, previous=9_000, fixed=2_000)
SHORT = CallSizes(as_came=3_000, compacted=1_100, previous=LEAST_CACHED + 1_899, fixed=50)


@pytest.mark.parametrize(
    ("sizes", "report", "first", "caching", "saved"),
    [
        # Nothing is said of a cache: all at the full price.
        (LONG, None, False, True, Savings(6_000)),
        # Both are read up to the call before; the provider's count may differ from ours.
        (LONG, CacheUse(3_000), False, True, Savings(6_000, 6_000)),
        (LONG, CacheUse(2_600), False, True, Savings(6_000, 6_000)),
        # Only the system prompt is marked for the cache, or the cache has expired.
        (LONG, CacheUse(1_500), False, True, Savings(6_000)),
        (LONG, CacheUse(0), False, True, Savings(6_000)),
        # A new compaction: little was read, and the history would have been.
        (LONG, CacheUse(500), True, False, Savings(6_000, 8_500)),
        (LONG, CacheUse(0), True, True, Savings(6_000, 9_000)),
        # The same where nothing was ever read for this caller: nobody caches.
        (LONG, CacheUse(0), True, False, Savings(6_000)),
        # Too short to be cached; the history would not have been.
        (SHORT, CacheUse(0), False, True, Savings(1_900, 2_923)),
        (SHORT, CacheUse(0), False, False, Savings(1_900)),
        # A provider that charges what it writes.
        (LONG, CacheUse(3_000, 1_000), False, True, Savings(6_000, 6_000)),
        (LONG, CacheUse(0, 4_000), True, False, Savings(6_000, 9_000, -3_000)),
        (LONG, CacheUse(0, 4_000), False, True, Savings(6_000, 0, 6_000)),
    ],
)
def test_of_a_call_that_was_sent_compacted(
    sizes: CallSizes, report: CacheUse | None, first: bool, caching: bool, saved: Savings
) -> None:
    assert estimate_savings(sizes, report, first=first, caching=caching) == saved


@pytest.mark.parametrize(
    ("sizes", "report", "first", "saved"),
    [
        (LONG, None, False, Savings(6_000)),
        (LONG, CacheUse(9_000), False, Savings(6_000, 6_000)),
        # A new compaction is read anew, but for what stands before it.
        (LONG, CacheUse(9_000), True, Savings(6_000, 7_000)),
        # Only the system prompt is cached, or nothing.
        (LONG, CacheUse(300), False, Savings(6_000)),
        (LONG, CacheUse(0), True, Savings(6_000)),
        # Compacted it would be too short to be cached.
        (SHORT, CacheUse(2_900), False, Savings(1_900, 2_900)),
        (SHORT, CacheUse(2_900), True, Savings(1_900, 2_900)),
        (LONG, CacheUse(9_000, 1_000), True, Savings(6_000, 7_000, -1_000)),
    ],
)
def test_of_a_call_that_was_only_observed(
    sizes: CallSizes, report: CacheUse | None, first: bool, saved: Savings
) -> None:
    assert estimate_observed_savings(sizes, report, first=first) == saved


def test_where_nothing_is_compacted_nothing_is_saved() -> None:
    same = CallSizes(4_000, 4_000, 3_000, 500)
    assert estimate_savings(same, CacheUse(3_000), first=False, caching=True) == Savings()
    assert estimate_observed_savings(same, CacheUse(3_000), first=False) == Savings()


def test_a_prompt_costs_by_how_its_tokens_were_read() -> None:
    price = PromptPrice(new=10.0, read=1.0, written=12.5)
    assert price.cost(100, 0, 0) == 1_000
    assert price.cost(100, 60, 20) == 20 * 10 + 60 * 1 + 20 * 12.5
    assert price.cached_share == 0.1
    assert PromptPrice(0.0, 0.0, 0.0).cached_share is None
