"""Operators' actions, taken over by every process: what they erased, took back, and asked for.

Requests remember what the store told them last. Without this, a process that did not carry out the action
itself would go on using what was erased elsewhere.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence

from gateway_compaction.engine.compactor import Compactor
from gateway_compaction.engine.local_buffer import LocalBuffer
from gateway_compaction.engine.restoring import ConversationRestorer
from gateway_compaction.engine.worker import Worker
from gateway_compaction.errors import StoreError
from gateway_compaction.ports import Notices, Store

log = logging.getLogger("gateway_compaction")

POLL_SECONDS = 5.0
"""Seconds between two looks; the admin pages tell operators that other processes know within them."""


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
