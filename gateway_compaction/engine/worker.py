"""Background work: summaries, claimed once across replicas, and the writes that no request waits for."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from gateway_compaction.core.planning.context import build_detector
from gateway_compaction.core.planning.summary_job import can_ask_model
from gateway_compaction.core.records.compaction import Compaction, SessionRef, is_within
from gateway_compaction.core.records.event import EXTRACTIVE, CompactionEvent
from gateway_compaction.core.redaction.marks import mask_text
from gateway_compaction.engine.parts import EngineParts
from gateway_compaction.engine.summary_task import SummaryTask
from gateway_compaction.errors import StoreBusy, StoreError, SummaryError
from gateway_compaction.ports import LONGEST_PAUSE_SECONDS, RecordLimit

log = logging.getLogger("gateway_compaction")

MakeSummary = Callable[[SummaryTask], Coroutine[Any, Any, Compaction]]
"""Makes the compaction that a task asks for, or raises ``SummaryError``."""

OUTAGE_PAUSE_SECONDS = 10.0
"""Longest pause of a session whose summariser does not work: it is to be used as soon as it does again."""

GIVE_UP_SECONDS = 1.0
"""Seconds that work which was given up at shutdown has to end."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of the work that runs at once.

    Attributes:
        concurrency: summaries made at once.
        queue: summaries waiting or being made; further ones are dropped.
        lease_seconds: seconds that a claim holds before it must be renewed.
        write_pauses: seconds after which a summary is written once more where the store failed; a lease holds
            longer than all of them.
        writes: other writes under way; further ones are dropped. Each holds the conversation of its call.
    """

    concurrency: int = 4
    queue: int = 200
    lease_seconds: float = 15.0
    write_pauses: tuple[float, ...] = (0.5, 1.0, 2.0)
    writes: int = 2_000


class Worker:
    """Runs summaries with bounded concurrency and a bounded queue; drained at shutdown.

    A summary is claimed in the store before a model is asked, so that replicas which see the same
    conversation pay for it once. The claim is renewed while the model writes, and what came too late is
    refused.
    """

    def __init__(
        self,
        parts: EngineParts,
        make_summary: MakeSummary,
        limits: Limits | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._parts, self._store = parts, parts.store
        self._make_summary = make_summary
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
        """Queue a summary.

        Returns:
            What runs it: the one under way already where there is one, None when the queue is full.
        """
        key = (task.session.session_id, task.job.digest)
        if key in self._summaries:
            return self._summaries[key]
        if len(self._summaries) >= self._limits.queue:
            self.counts["dropped"] += 1
            log.warning("summary dropped, the queue is full: session=%s", task.session.session_id)
            return None
        self.counts["submitted"] += 1
        running = asyncio.get_running_loop().create_task(self._run_summary(task))
        self._summaries[key] = running
        running.add_done_callback(partial(self._end_summary, key))
        return running

    def cancel(self, name: str) -> None:
        """Give up the summaries of a session (``tenant.session``) or a whole tenant: it was erased."""
        for (session_id, _), running in list(self._summaries.items()):
            if is_within(session_id, name):
                running.cancel()

    def run_later(self, write: Coroutine[Any, Any, object]) -> None:
        """Do a write in the background; a store that fails is logged, never raised, as is a fault of ours.

        Where the store or the thread that makes what is written is too slow for the calls that come, what
        would not be written for long is not kept either.
        """
        if len(self._writes) >= self._limits.writes:
            write.close()
            log.warning("background write dropped: %d are under way", len(self._writes))
            return
        running = asyncio.get_running_loop().create_task(_log_store_errors(write))
        self._writes.add(running)
        running.add_done_callback(self._end_write)

    async def drain(self, seconds: float) -> None:
        """Wait for everything under way, at most so many seconds, then give up what is left."""
        deadline = asyncio.get_running_loop().time() + seconds
        while pending := [*self._summaries.values(), *self._writes]:
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0:
                for task in pending:
                    task.cancel()
                await asyncio.wait(pending, timeout=GIVE_UP_SECONDS)
                return
            await asyncio.wait(pending, timeout=left)

    def _end_write(self, running: asyncio.Task[None]) -> None:
        self._writes.discard(running)
        if not running.cancelled() and (fault := running.exception()) is not None:
            log.error("background write: a fault of ours", exc_info=fault)

    def _end_summary(self, key: tuple[str, str], running: asyncio.Task[None]) -> None:
        self._summaries.pop(key, None)
        if not running.cancelled() and (fault := running.exception()) is not None:
            self.counts["failed"] += 1
            log.error("summary: session=%s a fault of ours", key[0], exc_info=fault)

    async def _run_summary(self, task: SummaryTask) -> None:
        """Claim, make and store a summary as soon as a slot is free."""
        async with self._slots:
            try:
                await self._claim_and_make(task)
            except StoreError as error:
                self.counts["failed"] += 1
                log.log(_log_level(error), "summary not made: session=%s %s", task.session.session_id, error)

    async def _claim_and_make(self, task: SummaryTask) -> None:
        digest, session = task.job.digest, task.session
        seconds = self._limits.lease_seconds
        token = await self._store.claim(session, digest, task.other_digests, seconds, task.generation)
        if not token:
            self.counts["taken"] += 1
            return
        started = self._clock()
        renewal = asyncio.get_running_loop().create_task(self._renew_claim(session, digest, token))
        try:
            compaction = await self._make_summary(task)
        except SummaryError as error:
            self.counts["failed"] += 1
            # A provider's error may repeat what it was asked, and with what key.
            reason = mask_text(str(error), build_detector(task.policy))
            log.warning(
                "summary failed: session=%s covers=%d %s", session.session_id, task.job.covers, reason
            )
            pause = OUTAGE_PAUSE_SECONDS if error.is_outage else LONGEST_PAUSE_SECONDS
            await self._record_failure(task, token, reason, self._clock() - started, pause)
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
        await self._store_summary(task, compaction, token, self._clock() - started)

    async def _store_summary(
        self, task: SummaryTask, compaction: Compaction, token: int, seconds: float
    ) -> None:
        """Store a summary and what became of it, unless the claim was lost meanwhile."""
        storage, session = task.policy.storage, task.session
        compaction = compaction.created(self._clock())
        if storage.content == "none":
            await self._store.release(session, compaction.digest, token, ttl=storage.ttl)
        else:
            version = await self._put(task, compaction, token)
            if not version:
                self.counts["taken"] += 1
                log.info("summary refused, the claim was lost: session=%s", session.session_id)
                return
            compaction = replace(compaction, version=version)
        self.counts["made"] += 1
        self._parts.local.keep(session, compaction, task.generation)
        self._parts.rewrite_detector.record_summary(session.tenant, task.covered_lineage, task.answer_count)
        event = self._report(task, "made", _reason_of(compaction), seconds, compaction)
        await self._store.append(session, event, ttl=storage.ttl, generation=task.generation)

    async def _put(self, task: SummaryTask, compaction: Compaction, token: int) -> int:
        """Write a summary, more than once where the store fails; return its version, 0 where it was refused.

        Raises:
            StoreError: the store failed each time.
        """
        storage = task.policy.storage
        limit = RecordLimit(storage.max_compactions, storage.max_versions)
        for pause in (*self._limits.write_pauses, None):
            try:
                return await self._store.put(
                    task.session,
                    compaction,
                    token=token,
                    ttl=storage.ttl,
                    limit=limit,
                    generation=task.generation,
                )
            except StoreError:
                if pause is None:
                    raise
                await asyncio.sleep(pause)
        raise AssertionError("unreachable")

    async def _record_failure(
        self,
        task: SummaryTask,
        token: int,
        reason: str,
        seconds: float,
        longest_pause: float = LONGEST_PAUSE_SECONDS,
    ) -> None:
        """Give the claim back, with a pause for the session, and store that nothing came of it."""
        ttl = task.policy.storage.ttl
        await self._store.release(
            task.session, task.job.digest, token, failure=reason, ttl=ttl, longest_pause=longest_pause
        )
        event = self._report(task, "failed", reason, seconds)
        await self._store.append(task.session, event, ttl=ttl, generation=task.generation)

    def _report(
        self, task: SummaryTask, outcome: str, reason: str, seconds: float, made: Compaction | None = None
    ) -> CompactionEvent:
        """Measure what became of a summary, and return it as an event."""
        event = CompactionEvent(
            type="summary",
            at=self._clock(),
            outcome=outcome,
            reason=reason,
            model=_summariser_of(task, made),
            policy=task.policy.name,
            tokens_before=made.tokens_before if made else task.covered_tokens,
            tokens_after=made.tokens_after if made else 0,
            covers=task.job.covers,
            version=made.version if made else None,
            seconds=round(seconds, 3),
            cost=made.cost if made else None,
        )
        self._parts.telemetry.record_summary(event)
        return event

    async def _renew_claim(self, session: SessionRef, digest: str, token: int) -> None:
        lease = self._limits.lease_seconds
        while True:
            await asyncio.sleep(lease / 3)
            await _log_store_errors(self._store.renew(session, digest, token, lease))


def _summariser_of(task: SummaryTask, made: Compaction | None) -> str:
    """Return the summariser that a summary is counted under: a model group, or ``extractive`` without one.

    Neither the provider's name of the model that answered nor nothing at all: one summariser would be several
    rows in the counts by model, its failures in another one than what it made.
    """
    if (made is not None and made.kind != "model") or not can_ask_model(task.policy):
        return EXTRACTIVE
    return (made.asked if made else None) or task.policy.summary.model or task.caller.model


def _reason_of(compaction: Compaction) -> str:
    if not compaction.unsourced:
        return compaction.kind
    plural = "s" if compaction.unsourced > 1 else ""
    return f"{compaction.kind}; {compaction.unsourced} identifier{plural} not in the source"


async def _log_store_errors(write: Coroutine[Any, Any, object]) -> None:
    """Do a write, and log a store that fails instead of raising."""
    try:
        await write
    except StoreError as error:
        log.log(_log_level(error), "store: %s", error)


def _log_level(error: StoreError) -> int:
    # The store says it once when it is no longer asked.
    return logging.DEBUG if isinstance(error, StoreBusy) else logging.WARNING
