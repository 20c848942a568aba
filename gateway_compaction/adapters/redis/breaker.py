"""How long to wait for a store, and when to stop asking it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal

from gateway_compaction.errors import StoreBusy

__all__ = ["Breaker", "Waiting", "deadline"]

GRACE_SECONDS, STALL_SECONDS, TIMES = 0.005, 0.01, 4


@dataclass(slots=True)
class Waiting:
    """A wait under a deadline.

    Attributes:
        stalled: when the time was up the loop itself was late, so nothing is known of the other side.
    """

    stalled: bool = False


@asynccontextmanager
async def deadline(seconds: float) -> AsyncIterator[Waiting]:
    """Raise ``TimeoutError`` when the block takes longer.

    Where the loop stood still meanwhile (a burst of other requests), the answer may have arrived long ago and
    only wait to be read: the time counts anew then, four times at most.
    """
    loop, waiting = asyncio.get_running_loop(), Waiting()
    async with asyncio.timeout(None) as limit:
        timers: list[asyncio.TimerHandle] = []

        def begin(times: int) -> None:
            timers[:] = [loop.call_later(seconds, up, loop.time() + seconds, times)]

        def up(due: float, times: int) -> None:
            waiting.stalled = loop.time() - due > STALL_SECONDS
            if waiting.stalled and times > 1:
                begin(times - 1)
            else:
                limit.reschedule(loop.time() + GRACE_SECONDS)

        begin(TIMES)
        try:
            yield waiting
        finally:
            timers[0].cancel()


class Breaker:
    """Opens after ``failures`` failures in a row; then one call at a time probes.

    A pause starts at ``first`` seconds and doubles, up to ``longest``, with each probe that fails.
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
        self._limit, self._first, self._longest = failures, first, longest
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

    def succeeded(self, probe: bool) -> None:
        """The store answered. A call from before the breaker opened proves nothing about now."""
        if probe or self._open_until is None:
            self._failures, self._pause, self._open_until = 0, self._first, None

    def failed(self, probe: bool) -> None:
        """The store did not answer. Calls that were under way when it opened do not prolong the pause."""
        if probe:
            self._pause = min(self._pause * 2, self._longest)
            self._open_until = self._clock() + self._pause
        elif self._open_until is None:
            self._failures += 1
            if self._failures >= self._limit:
                self._open_until = self._clock() + self._pause

    def left(self, probe: bool) -> None:
        """The call is over, however it ended; a probe that was cancelled leaves its place to the next."""
        if probe:
            self._probing = False
