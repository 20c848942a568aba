"""Background work: summaries, claimed once across replicas, and the writes that no request waits for."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from gateway_compaction.core.conversation.messages import Message
from gateway_compaction.core.planning.shared_prefix import SharedPrefix
from gateway_compaction.core.planning.summary_job import SummaryJob
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.records.compaction import Compaction, SessionRef, is_within
from gateway_compaction.core.records.event import CompactionEvent
from gateway_compaction.engine.local_buffer import LocalBuffer
from gateway_compaction.engine.rewrite_detector import Lineage, RewriteDetector
from gateway_compaction.errors import StoreBusy, StoreError, SummaryError
from gateway_compaction.ports import Caller, Store
from gateway_compaction.telemetry import Silent, Telemetry

__all__ = ["Limits", "MakeSummary", "SummaryTask", "Worker"]

log = logging.getLogger("gateway_compaction")
Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much runs at once, and for how long a claim holds before it must be renewed."""

    concurrency: int = 4
    queue: int = 200
    lease_seconds: float = 15.0


@dataclass(frozen=True, slots=True)
class SummaryTask:
    """One summary to be made. ``messages`` are those from the job's base to its cover.

    ``since`` is the index of the request's last user message, ``length`` the number of its answers.
    ``index`` builds the search index that requests will need, where they need one.
    ``prefix`` is what the model has just read of it, where the policy shares that.
    ``room`` tells (in some time: call it off the loop) how many tokens the summary's own text may have,
    ``shown`` what is read beside it.
    ``chain`` holds the request's other prefix digests, ``covered`` the lineage of what is
    covered. ``generation`` is the session's when the request was decided.
    """

    session: SessionRef
    job: SummaryJob
    messages: tuple[Message, ...]
    source_tokens: int
    covered_tokens: int
    chain: tuple[str, ...]
    covered: Lineage
    policy: Policy
    caller: Caller
    count: Count
    since: int
    length: int
    room: Callable[[], int]
    index: Callable[[], object] | None
    prefix: SharedPrefix | None = None
    generation: str = ""
    shown: Callable[[], str] = str


MakeSummary = Callable[[SummaryTask], Coroutine[Any, Any, Compaction]]


class Worker:
    """Runs summaries with bounded concurrency and a bounded queue; drained at shutdown."""

    def __init__(
        self,
        store: Store,
        make_summary: MakeSummary,
        local: LocalBuffer,
        rewrite_detector: RewriteDetector,
        limits: Limits | None = None,
        clock: Callable[[], float] = time.time,
        telemetry: Telemetry | None = None,
    ) -> None:
        self._store, self._make_summary = store, make_summary
        self._local, self._rewrite_detector = local, rewrite_detector
        self._telemetry: Telemetry = telemetry or Silent()
        self._limits, self._clock = limits or Limits(), clock
        self._slots = asyncio.Semaphore(self._limits.concurrency)
        self._summaries: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._writes: set[asyncio.Task[None]] = set()
        self.counts: dict[str, int] = {"submitted": 0, "made": 0, "failed": 0, "taken": 0, "dropped": 0}

    @property
    def queue_length(self) -> int:
        """Summaries waiting or being made."""
        return len(self._summaries)

    def submit(self, task: SummaryTask) -> asyncio.Task[None] | None:
        """Queue a summary; the running one if it is on its way already, None when the queue is full."""
        key = (task.session.session_id, task.job.digest)
        if key in self._summaries:
            return self._summaries[key]
        if len(self._summaries) >= self._limits.queue:
            self.counts["dropped"] += 1
            log.warning("summary dropped, the queue is full: session=%s", task.session.session_id)
            return None
        self.counts["submitted"] += 1
        running = asyncio.get_running_loop().create_task(self._summarise(task))
        self._summaries[key] = running
        running.add_done_callback(partial(self._end_summary, key))
        return running

    def forget(self, name: str) -> None:
        """Give up the summaries of a session (``tenant.session``) or a whole tenant: it was erased."""
        for (session_id, _), running in list(self._summaries.items()):
            if is_within(session_id, name):
                running.cancel()

    def run_later(self, write: Coroutine[Any, Any, object]) -> None:
        """Do a write in the background; a store that fails is logged, never raised, as is a fault of ours."""
        running = asyncio.get_running_loop().create_task(_log_store_errors(write))
        self._writes.add(running)
        running.add_done_callback(self._end_write)

    def _end_write(self, running: asyncio.Task[None]) -> None:
        self._writes.discard(running)
        if not running.cancelled() and (fault := running.exception()) is not None:
            log.error("background write: a fault of ours", exc_info=fault)

    async def drain(self, seconds: float) -> None:
        """Wait for everything under way, then give up what is left."""
        deadline = asyncio.get_running_loop().time() + seconds
        while pending := [*self._summaries.values(), *self._writes]:
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0:
                for task in pending:
                    task.cancel()
                await asyncio.wait(pending, timeout=1.0)
                return
            await asyncio.wait(pending, timeout=left)

    def _end_summary(self, key: tuple[str, str], running: asyncio.Task[None]) -> None:
        self._summaries.pop(key, None)
        if not running.cancelled() and (fault := running.exception()) is not None:
            self.counts["failed"] += 1
            log.error("summary: session=%s a fault of ours", key[0], exc_info=fault)

    async def _summarise(self, task: SummaryTask) -> None:
        async with self._slots:
            try:
                await self._claim_and_make(task)
            except StoreError as error:
                self.counts["failed"] += 1
                log.log(_log_level(error), "summary not made: session=%s %s", task.session.session_id, error)

    async def _claim_and_make(self, task: SummaryTask) -> None:
        digest, session = task.job.digest, task.session
        seconds = self._limits.lease_seconds
        token = await self._store.claim(session, digest, task.chain, seconds, task.generation)
        if not token:
            self.counts["taken"] += 1
            return
        started = self._clock()
        renewal = asyncio.get_running_loop().create_task(self._renew_claim(session, digest, token))
        try:
            made = await self._make_summary(task)
        except SummaryError as error:
            self.counts["failed"] += 1
            log.warning("summary failed: session=%s covers=%d %s", session.session_id, task.job.covers, error)
            await self._record_failure(task, token, str(error), self._clock() - started)
            return
        except Exception as fault:
            # Counted and logged where the task ends. Without a pause it would come again with every call.
            reason = f"a fault of ours: {type(fault).__name__}"
            await _log_store_errors(self._record_failure(task, token, reason, self._clock() - started))
            raise
        except BaseException:
            await _log_store_errors(self._store.release(session, digest, token, ttl=task.policy.storage.ttl))
            raise
        finally:
            renewal.cancel()
        await self._store_summary(task, made, token, self._clock() - started)

    async def _store_summary(self, task: SummaryTask, made: Compaction, token: int, seconds: float) -> None:
        storage, session = task.policy.storage, task.session
        made = replace(made, created_at=self._clock())
        if storage.content == "none":
            await self._store.release(session, made.digest, token, ttl=storage.ttl)
        else:
            limit = storage.max_compactions
            version = await self._store.put(
                session, made, token=token, ttl=storage.ttl, limit=limit, generation=task.generation
            )
            if not version:
                self.counts["taken"] += 1
                log.info("summary refused, the claim was lost: session=%s", session.session_id)
                return
            made = replace(made, version=version)
        self.counts["made"] += 1
        self._local.keep(session, made, task.generation)
        self._rewrite_detector.record_summary(session.tenant, task.covered, task.length)
        event = self._report(task, "made", _reason_of(made), seconds, made)
        await self._store.append(session, event, ttl=storage.ttl, generation=task.generation)

    async def _record_failure(self, task: SummaryTask, token: int, reason: str, seconds: float) -> None:
        ttl = task.policy.storage.ttl
        await self._store.release(task.session, task.job.digest, token, failure=reason, ttl=ttl)
        event = self._report(task, "failed", reason, seconds)
        await self._store.append(task.session, event, ttl=ttl, generation=task.generation)

    def _report(
        self, task: SummaryTask, outcome: str, reason: str, seconds: float, made: Compaction | None = None
    ) -> CompactionEvent:
        event = CompactionEvent(
            type="summary",
            at=self._clock(),
            outcome=outcome,
            reason=reason,
            model=made.model if made else task.policy.summary.model,
            policy=task.policy.name,
            tokens_before=made.tokens_before if made else task.covered_tokens,
            tokens_after=made.tokens_after if made else 0,
            covers=task.job.covers,
            version=made.version if made else None,
            seconds=round(seconds, 3),
            cost=made.cost if made else None,
        )
        self._telemetry.record_summary(event)
        return event

    async def _renew_claim(self, session: SessionRef, digest: str, token: int) -> None:
        lease = self._limits.lease_seconds
        while True:
            await asyncio.sleep(lease / 3)
            await _log_store_errors(self._store.renew(session, digest, token, lease))


def _reason_of(made: Compaction) -> str:
    if not made.unsourced:
        return made.kind
    return f"{made.kind}; {made.unsourced} identifier{'s' * (made.unsourced > 1)} not in the source"


async def _log_store_errors(write: Coroutine[Any, Any, object]) -> None:
    try:
        await write
    except StoreError as error:
        log.log(_log_level(error), "store: %s", error)


def _log_level(error: StoreError) -> int:
    # The store says it once when it is no longer asked.
    return logging.DEBUG if isinstance(error, StoreBusy) else logging.WARNING
