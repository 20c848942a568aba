"""What other replicas have learned, as a process takes it over."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from gateway_compaction.core.tokens.windows import LearnedWindow
from gateway_compaction.engine import polling
from gateway_compaction.engine.parts import EngineParts
from gateway_compaction.engine.polling import FIRST_WAITS, LessonPoller
from gateway_compaction.errors import StoreError
from tests.lab import until

WAIT = 0.04


class Lessons:
    """The part of a store that is asked: it fails so many times, and answers so late."""

    def __init__(self, failing: int = 0, late: float = 0.0) -> None:
        self.failing, self.late, self.asked = failing, late, 0

    async def windows(self) -> Mapping[str, LearnedWindow]:
        self.asked += 1
        await asyncio.sleep(self.late)
        if self.asked <= self.failing:
            raise StoreError("it did not answer in time")
        return {"d": LearnedWindow(told=3_000, at=(time.time(),))}

    async def factors(self) -> Mapping[str, float]:
        return {"gpt-4o": 1.3}


@asynccontextmanager
async def running(store: Any, seconds: float = 3_600.0) -> AsyncIterator[tuple[EngineParts, LessonPoller]]:
    """Its parts and a poller that looks once an hour."""
    parts = EngineParts(store)
    poller = LessonPoller(parts, seconds, WAIT)
    task = asyncio.ensure_future(poller.run())
    try:
        yield parts, poller
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def window(parts: EngineParts) -> int | None:
    return parts.windows.window("d", 8_000, parts.clock())


async def test_the_first_requests_know_windows_and_factors() -> None:
    async with running(Lessons(late=2 * WAIT)) as (parts, poller):
        await asyncio.gather(*(poller.wait_first() for _ in range(3)))
        assert window(parts) == 3_000 and parts.counter.calibration.factor("gpt-4o") == 1.3


async def test_a_loop_that_stands_still_takes_one_wait_only() -> None:
    async with running(Lessons(late=WAIT / 4)) as (parts, poller):
        waiting = asyncio.ensure_future(poller.wait_first())
        await asyncio.sleep(0)
        # As a busy start does.
        asyncio.get_running_loop().call_soon(time.sleep, 2 * FIRST_WAITS * WAIT)
        await waiting
        assert window(parts) == 3_000


async def test_nobody_waits_for_long_nor_twice() -> None:
    async with running(Lessons(late=60)) as (parts, poller):
        began = time.monotonic()
        await poller.wait_first()
        assert time.monotonic() - began >= FIRST_WAITS * WAIT / 2
        async with asyncio.timeout(WAIT / 2):
            await poller.wait_first()
        assert window(parts) == 8_000


async def test_a_first_look_that_failed_is_repeated_before_the_first_requests_go() -> None:
    # A process that stands still at its start takes that for a store that is late.
    async with running(Lessons(failing=1)) as (parts, poller):
        await poller.wait_first()
        assert window(parts) == 3_000


async def test_what_could_not_be_read_is_read_soon() -> None:
    async with running(Lessons(failing=4)) as (parts, poller):
        await poller.wait_first()
        await until(lambda: window(parts) == 3_000, "another look")


async def test_a_store_that_failed_later_is_asked_again_after_the_usual_pause() -> None:
    store = Lessons()
    async with running(store, seconds=WAIT) as (_, poller):
        await poller.wait_first()
        store.failing = store.asked + 2
        await until(lambda: store.asked > store.failing, "looks after the failed ones")


async def test_a_process_that_starts_waits_longer_than_any_request() -> None:
    late = 2 * FIRST_WAITS * WAIT
    async with running(Lessons(late=late)) as (parts, poller):
        await poller.wait_start()
        assert window(parts) == 3_000


async def test_a_store_that_is_down_delays_the_start_by_a_bounded_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(polling, "START_SECONDS", WAIT)
    async with running(Lessons(late=60)) as (parts, poller):
        async with asyncio.timeout(20 * WAIT):
            await poller.wait_start()
        assert window(parts) == 8_000
