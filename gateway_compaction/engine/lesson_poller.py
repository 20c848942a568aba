"""Taking over what other replicas, and this one before its restart, have learned of windows and of counts."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Mapping

from gateway_compaction.core.tokens.windows import LearnedWindow
from gateway_compaction.engine.parts import EngineParts
from gateway_compaction.errors import StoreError

log = logging.getLogger("gateway_compaction")

FIRST_WAITS = 5
"""The first requests of a process wait at most so many times as long as any request waits for the store: the
first question to it also connects. They are waited one by one: a process that is busy with its start stands
still for longer than all of them, and what it waits for is there when it goes on."""

START_SECONDS = 2.0
"""Seconds that a process that starts waits for them at most, as where the store is down."""

RETRY_SECONDS = 1.0
"""Seconds at most until the store is asked again, where nothing was read since the start. At first it is
asked sooner: a process that stands still takes its own delay for the store's."""


class LessonPoller:
    """Reads learnt windows and factors of the count from the store, now and then, into this process's books.

    Args:
        seconds: the pause between two looks, once something was read.
        wait_seconds: how long a request may wait for the store.
    """

    def __init__(self, parts: EngineParts, seconds: float, wait_seconds: float) -> None:
        self._parts, self._seconds, self._wait_seconds = parts, seconds, wait_seconds
        self._first: asyncio.Event | None = None

    async def run(self) -> None:
        """Read them now, and again after each pause; soon, until the store has answered once."""
        self._first = self._first or asyncio.Event()
        retry: float | None = self._wait_seconds / 2
        while True:
            try:
                self._parts.windows.adopt(await self._parts.store.windows())
                self._parts.counter.calibration.adopt(await self._parts.store.factors())
                self._first.set()
                retry = None
            except StoreError as error:
                log.debug("windows and factors not read: %s", error)
                retry = None if retry is None else min(2 * retry, RETRY_SECONDS)
            await asyncio.sleep(self._seconds if retry is None else retry)

    async def wait_start(self) -> None:
        """Wait at the start of a process, before it takes requests, until they were read or for two seconds.

        What a request may be held up for is far less than a busy start can take to connect to a store.
        """
        self._first = self._first or asyncio.Event()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(START_SECONDS):
                await self._first.wait()

    async def wait_first(self) -> None:
        """Wait until they were read once since the start, or until that takes too long.

        A request that did not wait would be refused once more for what is known already.
        """
        self._first = self._first or asyncio.Event()
        for _ in range(FIRST_WAITS):
            if self._first.is_set():
                return
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._wait_seconds):
                    await self._first.wait()
        # Those that come later need not find out again.
        self._first.set()

    def list_learned(self) -> Mapping[str, LearnedWindow]:
        """Return the learnt windows that hold, by deployment."""
        return self._parts.windows.all(self._parts.clock())
