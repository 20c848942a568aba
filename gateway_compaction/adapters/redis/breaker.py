"""Deadlines, and the circuit breaker that keeps requests from a store that does not answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal

from gateway_compaction.errors import StoreBusy

# Grace at the end of a deadline, in which an answer that has already arrived is read.
GRACE_SECONDS = 0.005

# A timer that fires this late shows that the event loop itself was blocked.
STALL_SECONDS = 0.01

# Most starts of one deadline, should the loop be blocked again and again.
MOST_STARTS = 4


@dataclass(slots=True)
class Wait:
    """A wait under a deadline.

    Attributes:
        stalled: when the time was up the loop itself was late, so nothing is known of the other side.
    """

    stalled: bool = False


@asynccontextmanager
async def deadline(seconds: float) -> AsyncIterator[Wait]:
    """Raise ``TimeoutError`` when the block takes longer than ``seconds``, the grace for reading included.

    Where the loop stood still meanwhile (a burst of other requests), the answer may have arrived long ago and
    only wait to be read: the time counts anew then, four times at most. With a plain ``asyncio.timeout`` of
    40 ms, a busy gateway would take its own delays for failures of Redis and open the breaker.
    """
    loop, wait = asyncio.get_running_loop(), Wait()
    wait_seconds = max(seconds / 2, seconds - GRACE_SECONDS)
    async with asyncio.timeout(None) as limit:
        timers: list[asyncio.TimerHandle] = []

        def start(starts_left: int) -> None:
            timers[:] = [loop.call_later(wait_seconds, expire, loop.time() + wait_seconds, starts_left)]

        def expire(due: float, starts_left: int) -> None:
            wait.stalled = loop.time() - due > STALL_SECONDS
            if wait.stalled and starts_left > 1:
                start(starts_left - 1)
            else:
                limit.reschedule(loop.time() + GRACE_SECONDS)

        start(MOST_STARTS)
        try:
            yield wait
        finally:
            timers[0].cancel()


class Breaker:
    """A circuit breaker: opens after some failures in a row, then (half open) lets one call at a time probe.

    Without it every request would wait its 40 ms for a Redis that is gone. A caller calls ``enter`` before,
    one of ``record_success`` and ``record_failure`` after, and ``leave`` in any case.

    Args:
        failures: number of failures in a row that opens it.
        first: seconds of the first pause; it doubles with each probe that fails.
        longest: seconds of the longest pause.
    """

    __slots__ = ("_clock", "_failures", "_first", "_limit", "_longest", "_open_until", "_pause", "_probing")

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        *,
        failures: int = 3,
        first: float = 2.0,
        longest: float = 30.0,
    ) -> None:
        self._clock = clock
        self._limit = failures
        self._first = first
        self._longest = longest
        self._failures = 0
        self._pause = first
        self._open_until: float | None = None
        self._probing = False

    @property
    def state(self) -> Literal["closed", "open"]:
        """``open`` from the last failure that counted until a probe has been answered."""
        return "closed" if self._open_until is None else "open"

    @property
    def pause(self) -> float:
        """Seconds that it stays open."""
        return self._pause

    def enter(self) -> bool:
        """Ask for leave to call; True when this call is the probe.

        Raises:
            StoreBusy: the pause is not over, or another call is probing.
        """
        if self._open_until is None:
            return False
        left = self._open_until - self._clock()
        if left > 0:
            raise StoreBusy(f"the store failed; asked again in {left:.1f} s")
        if self._probing:
            raise StoreBusy("the store failed; a probe is under way")
        self._probing = True
        return True

    def record_success(self, probe: bool) -> None:
        """Note that the store answered; a call from before it opened proves nothing about now."""
        if probe or self._open_until is None:
            self._failures = 0
            self._pause = self._first
            self._open_until = None

    def record_failure(self, probe: bool) -> None:
        """Note that the store did not answer; calls under way when it opened do not prolong the pause."""
        if probe:
            self._pause = min(self._pause * 2, self._longest)
            self._open_until = self._clock() + self._pause
        elif self._open_until is None:
            self._failures += 1
            if self._failures >= self._limit:
                self._open_until = self._clock() + self._pause

    def leave(self, probe: bool) -> None:
        """End a call, however it ended; a probe that was cancelled leaves its place to the next."""
        if probe:
            self._probing = False
