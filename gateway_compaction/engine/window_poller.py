"""Taking over what other replicas, and this one before its restart, have learned of windows."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from gateway_compaction.core.tokens.windows import LearnedWindow, WindowBook
from gateway_compaction.errors import StoreError
from gateway_compaction.ports import Store

log = logging.getLogger("gateway_compaction")

READY_SECONDS = 0.2
"""Seconds that the first requests of a process wait, at most, for what was learned before it started."""


class WindowPoller:
    """Reads the learnt windows from the store, now and then, into this process's book."""

    def __init__(
        self, store: Store, book: WindowBook, seconds: float, clock: Callable[[], float] = time.time
    ) -> None:
        self._store, self._book = store, book
        self._seconds, self._clock = seconds, clock
        self._first: asyncio.Event | None = None

    async def run(self) -> None:
        """Read them now, and again after each pause."""
        self._first = self._first or asyncio.Event()
        while True:
            try:
                self._book.adopt(await self._store.windows())
            except StoreError as error:
                log.debug("windows not read: %s", error)
            self._first.set()
            await asyncio.sleep(self._seconds)

    async def wait_first(self) -> None:
        """Wait until they were read once since the start, and no longer than a request may wait.

        A request that came before would be refused once more for what is known.
        """
        self._first = self._first or asyncio.Event()
        if not self._first.is_set():
            try:
                async with asyncio.timeout(READY_SECONDS):
                    await self._first.wait()
            except TimeoutError:
                self._first.set()

    def list_learned(self) -> dict[str, LearnedWindow]:
        """Return the learnt windows that hold, by deployment."""
        return self._book.all(self._clock())
