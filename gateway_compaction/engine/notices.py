"""What operators did, taken over by every process: what they erased, took back, and want."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence

from gateway_compaction.engine.compactor import Compactor
from gateway_compaction.engine.local_buffer import LocalBuffer
from gateway_compaction.engine.worker import Worker
from gateway_compaction.errors import StoreError
from gateway_compaction.ports import Notices, Store

__all__ = ["SECONDS", "NoticePoller"]

log = logging.getLogger("gateway_compaction")
SECONDS = 5.0


class NoticePoller:
    """Asks the store every five seconds, and when an operator has just done something here.

    Args:
        clearing: called when something was erased, to drop what else holds text.
    """

    def __init__(
        self,
        store: Store,
        worker: Worker,
        compactor: Compactor,
        local: LocalBuffer,
        clearing: Sequence[Callable[[], None]] = (),
        seconds: float = SECONDS,
    ) -> None:
        self._store, self._worker, self._compactor, self._local = store, worker, compactor, local
        self._clearing, self._seconds = clearing, seconds
        self._seen_forgotten: dict[str, float] = {}
        self._seen_voided: dict[str, float] = {}
        self._lock = asyncio.Lock()

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
        """Ask once.

        Raises:
            StoreError: the store does not answer.
        """
        async with self._lock:  # an older answer must not take the place of a newer one
            self._apply(await self._store.notices())

    def _apply(self, notices: Notices) -> None:
        self._compactor.set_requested(notices.requested)
        fresh, void = (
            _find_news(notices.forgotten, self._seen_forgotten),
            _find_news(notices.voided, self._seen_voided),
        )
        self._seen_forgotten, self._seen_voided = dict(notices.forgotten), dict(notices.voided)
        for session_id, at in void.items():
            self._local.begin_generation(session_id, at)
        for name, at in fresh.items():
            self._worker.forget(name)
            self._local.forget(name, at)
        if fresh:
            for clear in (self._compactor.forget, *self._clearing):
                clear()


def _find_news(told: Mapping[str, float], heard: Mapping[str, float]) -> dict[str, float]:
    return {name: at for name, at in told.items() if heard.get(name) != at}
