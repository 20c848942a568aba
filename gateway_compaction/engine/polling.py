"""Taking over from other replicas what operators did there, and what refusals and reports taught them.

Requests remember what the store told them last. Without this, a process that did not carry out an operator's
action itself would go on using what was erased elsewhere; and after a restart it would learn each model's
window and count anew.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence

from gateway_compaction.core.tokens.windows import LearnedWindow
from gateway_compaction.engine.compactor import Compactor
from gateway_compaction.engine.local_buffer import LocalBuffer
from gateway_compaction.engine.parts import EngineParts
from gateway_compaction.engine.restoring import ConversationRestorer
from gateway_compaction.engine.worker import Worker
from gateway_compaction.errors import StoreError
from gateway_compaction.ports import Notices, Store

log = logging.getLogger("gateway_compaction")

POLL_SECONDS = 5.0
"""Seconds between two looks; the admin pages tell operators that other processes know within them."""


FIRST_WAITS = 5
"""The first requests of a process wait at most so many times as long as any request waits for the store: the
first question to it also connects. The waits follow one another, since a process that is busy starting may
stand still for longer than all of them; what it waits for is there when it goes on."""

START_SECONDS = 2.0
"""Seconds that a process that starts waits for them at most, as where the store is down."""

RETRY_SECONDS = 1.0
"""Seconds at most until the store is asked again, where nothing was read since the start. At first it is
asked sooner: a process that stands still takes its own delay for the store's."""


class NoticePoller:
    """Asks the store for notices every five seconds, and at once when an operator has just acted here.

    Args:
        clear: called when something was erased, to drop what else holds text.
    """

    def __init__(
        self,
        store: Store,
        worker: Worker,
        compactor: Compactor,
        local: LocalBuffer,
        clear: Sequence[Callable[[], None]] = (),
        seconds: float = POLL_SECONDS,
    ) -> None:
        self._store, self._worker, self._compactor, self._local = store, worker, compactor, local
        self._clear, self._seconds = clear, seconds
        self._restorer: ConversationRestorer | None = None
        self._seen_forgotten: dict[str, float] = {}
        self._seen_voided: dict[str, float] = {}
        self._lock = asyncio.Lock()

    def serve(self, restorer: ConversationRestorer) -> None:
        """Tell a restorer of which tenants there are restored conversations, and what was erased."""
        self._restorer = restorer

    async def run(self) -> None:
        """Ask for as long as the process lives; for a task of its own."""
        while True:
            await asyncio.sleep(self._seconds)
            await self.try_poll()

    async def try_poll(self) -> None:
        """Ask now; where the store does not answer, the next look is soon enough."""
        try:
            await self.poll()
        except StoreError as error:
            log.debug("notices not read: %s", error)

    async def poll(self) -> None:
        """Ask once, and take over what is new.

        Raises:
            StoreError: the store does not answer.
        """
        async with self._lock:  # an older answer must not take the place of a newer one
            self._apply(await self._store.notices())

    def _apply(self, notices: Notices) -> None:
        self._compactor.set_requested(notices.requested)
        self._compactor.set_key_rates(notices.rates)
        if self._restorer is not None:
            self._restorer.set_tenants(notices.restoring)
        forgotten = _find_news(notices.forgotten, self._seen_forgotten)
        voided = _find_news(notices.voided, self._seen_voided)
        self._seen_forgotten, self._seen_voided = dict(notices.forgotten), dict(notices.voided)
        for session_id, at in voided.items():
            self._local.begin_generation(session_id, at)
        for name, at in forgotten.items():
            self._worker.cancel(name)
            self._local.forget(name, at)
            if self._restorer is not None:
                self._restorer.forget(name)
        if forgotten:
            for clear in (self._compactor.clear_caches, *self._clear):
                clear()


def _find_news(current: Mapping[str, float], seen: Mapping[str, float]) -> dict[str, float]:
    return {name: at for name, at in current.items() if seen.get(name) != at}


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
