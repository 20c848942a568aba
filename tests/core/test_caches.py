"""Results that are kept, by several threads at once."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from gateway_compaction.core.planning.caches import DerivedCache


@pytest.fixture
def impatient() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_the_oldest_go_first_and_what_is_kept_is_not_made_again() -> None:
    memo = DerivedCache(2)
    assert [memo.get(key, lambda: object()) is memo.get(key, lambda: object()) for key in "abc"] == [True] * 3
    assert ("a" in memo, "b" in memo, "c" in memo) == (False, True, True)


@pytest.mark.usefixtures("impatient")
def test_threads_share_it() -> None:
    memo = DerivedCache(3)

    def use(thread: int) -> bool:
        return all(memo.get((thread, i), lambda i=i: i + 1) == i + 1 for i in range(30_000))

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(use, range(8)))
