"""Work that follows a call: the event, the stores, the summary to make, the count to correct."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, Self

from gateway_compaction.core.conversation.body import requested_output
from gateway_compaction.core.planning.fit import read_ahead
from gateway_compaction.core.planning.plan import find_base
from gateway_compaction.core.planning.quotes import QuoteFinder
from gateway_compaction.core.planning.snapshot import build_snapshot
from gateway_compaction.core.policy.fields import LARGEST
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.records.call_snapshot import CallSnapshot
from gateway_compaction.core.records.client_state import ClientState
from gateway_compaction.core.records.compaction import Compaction, SessionRef
from gateway_compaction.core.records.controls import is_stored, read_start
from gateway_compaction.core.records.event import CompactionEvent
from gateway_compaction.core.records.restore_point import RestorePoint
from gateway_compaction.core.records.savings import CacheUse, Savings
from gateway_compaction.core.records.snapshots import SnapshotBounds, is_snapshot_due
from gateway_compaction.core.summary.restore import make_restore_point
from gateway_compaction.core.summary.statistics import build_summary_records
from gateway_compaction.core.tokens.counter import output_reserve
from gateway_compaction.core.tokens.refusal import TOO_LARGE, read_refusal
from gateway_compaction.engine.call_savings import CallSavings
from gateway_compaction.engine.offload import Offloader, is_large_decision
from gateway_compaction.engine.parts import EngineParts
from gateway_compaction.engine.request import (
    Decision,
    Planned,
    lineage_of,
    list_sizes,
)
from gateway_compaction.engine.summary_task import SummaryTask
from gateway_compaction.engine.usage_reports import UsageReports
from gateway_compaction.engine.worker import Worker
from gateway_compaction.ports import CallRecord, ProviderError, RecordLimit
from gateway_compaction.telemetry import CacheBreakDetector

log = logging.getLogger("gateway_compaction")

MOST_APART = 200
"""Pieces of reading and indexing that wait for the thread of the background."""

BYPASS_SECONDS = 300.0
"""Seconds that a session is left alone after its provider refused a rewritten request."""

REFUSALS = frozenset({400, TOO_LARGE, 422})
"""Statuses by which a provider says that the request itself is at fault; all others say nothing about it."""


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a call.

    Attributes:
        kind: ``answered``, ``cached`` (LiteLLM's response cache), ``disconnected`` (the client left a
            stream) or ``refused`` (400, 413 or 422).
        prompt_tokens: as the provider reported them, be it in a refusal; None where it did not.
        prompt_cache: what of them it read from its prompt cache and wrote to it, None where it does not say.
        too_long: a refusal because of the length: of the context, or of the request (413).
        deployment: what the window of the deployment that was asked last is remembered under, if it is known.
        exchange: number of the exchange of a kept conversation that the call became; 0 for none.
    """

    kind: Literal["answered", "cached", "disconnected", "refused"]
    prompt_tokens: int | None = None
    too_long: bool = False
    prompt_cache: CacheUse | None = None
    deployment: str = ""
    exchange: int = 0

    @classmethod
    def from_error(cls, error: ProviderError, decision: Decision) -> Self | None:
        """Return the ending of a call whose request the provider refused; None where it failed otherwise."""
        exceeded, sizes = error.context_exceeded, list_sizes(decision)
        asked = requested_output(decision.request.body)
        refusal = read_refusal(error.status, error.text, context_exceeded=exceeded, sizes=sizes, asked=asked)
        if error.status not in REFUSALS and refusal is None:
            return None
        return cls("refused", refusal.counted if refusal else None, refusal is not None)


class PostCall:
    """Starts what is to be done after a call; everything happens in the background."""

    def __init__(
        self,
        parts: EngineParts,
        worker: Worker,
        executor: Executor,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._parts, self._store, self._worker = parts, parts.store, worker
        self._executor, self._offload, self._clock = executor, Offloader(executor), clock
        self._apart: set[Future[object]] = set()
        self._cache_breaks, self._savings = CacheBreakDetector(), CallSavings()
        self._usage_reports = UsageReports(parts, executor)

    def measure_decision(self, decision: Decision | None, seconds: float) -> None:
        """Measure a decision; None is a fault of ours."""
        telemetry = self._parts.telemetry
        if decision is None:
            telemetry.record_decision("failed", None, None, None, "failed", seconds)
            return
        policy, endpoint = decision.policy.name, decision.request.endpoint
        telemetry.record_decision(decision.outcome, decision.level, policy, endpoint, decision.stage, seconds)

    def keep_compaction(self, decision: Decision) -> None:
        """Keep in this process what stands in an answer's request, whether the call is logged or not.

        The next one shall begin with the same bytes, also where the store does not answer by then: what was
        made for this call, and what another process made. LiteLLM logs no call that asks for ``no-log``.
        What was made for a call that is only observed is kept as well: the next one is told what would have
        followed.
        """
        if not isinstance(decision, Planned):
            return
        made, used = decision.plan.made, decision.used
        if made is not None:
            compaction = replace(made, created_at=self._clock())
        elif used is not None:
            # As it is stored: what is sent may be a shorter form of it, for this request alone.
            stored = decision.context.session.compactions
            found = next((c for c in stored if (c.digest, c.kind) == (used.digest, used.kind)), None)
            if found is None:
                return
            compaction = found
        else:
            return
        self._parts.local.keep(decision.session, compaction, decision.generation)

    def follow(self, decision: Decision, ending: Ending) -> None:
        """Start what follows a call, and return at once; to be called once for each call."""
        self._savings.record_report(decision, ending.prompt_cache)
        if ending.kind == "answered" and ending.prompt_tokens:
            self._learn_count(decision, ending.prompt_tokens, refused=False)
        if ending.kind == "answered" and ending.prompt_tokens and ending.deployment:
            self._note_passed(decision, ending.deployment, ending.prompt_tokens)
        if ending.kind == "refused":
            self._follow_refusal(decision, ending)
        if not isinstance(decision, Planned):
            return
        if ending.kind in ("answered", "disconnected"):
            self._prepare_next_call(decision)
            self.keep_compaction(decision)
            self._store_made(decision)
            task = SummaryTask.from_decision(decision)
            if task is not None:
                self._worker.submit(task)
        self._record_event(decision, ending)

    def _prepare_next_call(self, decision: Planned) -> None:
        """Read and index what the next call of the session will need, so that it waits for neither."""
        plan, context = decision.plan, decision.context
        if plan.level is not None:
            base = find_base(context, plan.view)
            start = base.covers if base is not None and base.kind == "model" else 0
            self._run_apart(read_ahead, context, start)
        quotes, shown = QuoteFinder(context), plan.view.compaction
        if shown is not None and not quotes.has_index(shown):
            self._run_apart(quotes.get_index, shown.covers)
        if decision.used is not None:
            lineage = lineage_of(context, decision.used.covers)
            self._parts.rewrite_detector.record_use(decision.session.tenant, lineage)

    def _store_made(self, decision: Planned) -> None:
        """Put the compaction that was made on the way into the store.

        Of a call that is only observed no text is stored where the policy names nobody who summarises.
        """
        made, policy = decision.plan.made, decision.policy
        if made is None or (policy.mode == "observe" and policy.summary.model is None):
            return
        if decision.policy.storage.content != "none":
            compaction = replace(made, created_at=self._clock())
            self._worker.run_later(self._put_with_records(decision, compaction))

    async def _put_with_records(self, decision: Planned, compaction: Compaction) -> None:
        """Store a compaction with the records of its segments, which no request has waited for."""
        context, storage = decision.context, decision.policy.storage
        base = next((c for c in context.fitting_compactions if c.digest == compaction.parent), None)
        work = partial(build_summary_records, compaction, context.transcript, compaction.rate, base)
        records = await asyncio.get_running_loop().run_in_executor(self._executor, work)
        await self._store.put(
            decision.session,
            replace(compaction, records=records).created(compaction.created_at),
            token=None,
            ttl=storage.ttl,
            limit=RecordLimit(storage.max_compactions, storage.max_versions),
            generation=decision.generation,
        )

    def _run_apart(self, work: Callable[..., object], *args: object) -> None:
        """Run work on the one thread kept for the background; a fault of ours is logged.

        What waits there holds its conversation. So no more than some is kept: the next call does it then.
        """
        if len(self._apart) >= MOST_APART:
            return
        running = self._executor.submit(work, *args)
        self._apart.add(running)
        running.add_done_callback(self._end_apart)

    def _end_apart(self, done: Future[object]) -> None:
        self._apart.discard(done)
        _log_fault(done)

    def _record_event(self, decision: Planned, ending: Ending) -> None:
        """Log, measure and store what became of a call."""
        plan, session, used = decision.plan, decision.session, decision.used
        event = CompactionEvent(
            type="request",
            at=self._clock(),
            outcome=decision.outcome,
            reason=decision.reason if ending.kind == "answered" else f"{decision.reason}; {ending.kind}",
            level=plan.level,
            model=decision.request.model,
            policy=decision.policy.name,
            endpoint=decision.request.endpoint,
            tokens_before=decision.tokens_before,
            tokens_after=decision.tokens_after,
            window=decision.context.window,
            messages_before=len(decision.request.messages),
            messages_after=len(decision.messages or decision.request.messages),
            covers=plan.view.compaction.covers if plan.view.compaction else 0,
            version=decision.version,
        )
        breaks, savings = False, Savings()
        if ending.kind in ("answered", "disconnected"):
            if used is not None:
                breaks = self._cache_breaks.record_sent(session.session_id, used.digest, used.kind)
            savings = self._savings.estimate(decision, ending.prompt_cache, first=breaks)
        _log_event(session, event, savings)
        rewritten = used is not None
        self._parts.telemetry.record_call(event, ending.kind, rewritten=rewritten, cache_break=breaks)
        view = "raw" if used is None else f"{used.kind}:{used.digest}"
        record = CallRecord(view=None if ending.kind == "cached" else view, savings=savings)
        written = self._write_event(decision, event, record, ending.exchange)
        self._worker.run_later(written)

    async def _write_event(
        self, decision: Planned, event: CompactionEvent, record: CallRecord, exchange: int
    ) -> None:
        plan, storage, used = decision.plan, decision.policy.storage, decision.used
        endpoint, snapshot = decision.request.endpoint, None
        work = partial(build_snapshot, decision.context, plan, decision.messages, event.at, endpoint)
        run = partial(self._offload.run, True)
        if storage.content != "none":
            # Where texts are put in, their secrets are looked for, which takes longer than all the rest.
            is_large = is_large_decision(decision) or (storage.content == "full" and not exchange)
            snapshot = await self._offload.run(is_large, work, exchange)
        await self._store.append(
            decision.session,
            event,
            ttl=storage.ttl,
            generation=decision.generation,
            call=replace(
                record,
                used=used.digest if used and plan.made is None else None,
                labels=decision.labels,
                about=decision.request.about,
                snapshot=snapshot,
                compact=decision.wish == "now" and decision.policy.mode == "enforce",
                client_state=_find_told_state(decision),
                snapshots=_find_bounds(decision.policy),
                detector=decision.context.redactor.detector,
            ),
        )
        if snapshot is not None and _is_snapshot_due(decision, event.at):
            # What a snapshot tells is found in the messages themselves.
            whole = await run(work) if snapshot.exchange else snapshot
            point = await run(partial(_make_point, decision, whole))
            bounds = _find_bounds(decision.policy)
            await self._store.keep_snapshot(decision.session, point, bounds, decision.generation)

    def _learn_count(self, decision: Decision, reported: int | None, *, refused: bool) -> None:
        """Correct the count by what the provider said of the prompt's length."""
        if self._usage_reports.is_telling(decision, reported, refused=refused):
            self._worker.run_later(self._usage_reports.learn(decision, reported, refused=refused))

    def learn_count(self, decision: Decision, counted: int) -> None:
        """Take a provider's own count of a prompt that it refused for a report like any other."""
        self._learn_count(decision, counted, refused=True)

    def _note_passed(self, decision: Decision, deployment: str, reported: int) -> None:
        """Remember the largest request that a deployment has answered: its window is no smaller.

        Some reports add up several prompts, so that only what we counted as well can disprove a limit.
        """
        window = decision.model.window if decision.model is not None else LARGEST
        reserve = output_reserve(decision.request.body, window, decision.policy.output_reserve)
        prompt = min(reported, *list_sizes(decision)) if list_sizes(decision) else 0
        raised = self._parts.windows.answer(deployment, reported + reserve, self._clock(), prompt)
        if raised is not None:
            self._worker.run_later(self._store.save_window(deployment, raised))

    def _follow_refusal(self, decision: Decision, ending: Ending) -> None:
        """Leave a session alone whose rewritten request was refused, unless it was refused as too long.

        What is too long after compaction would be longer without it. ``LengthRefusals`` learns from those.
        """
        local = self._parts.local
        if ending.too_long:
            if ending.prompt_tokens or not ending.deployment:
                # Without a number it is the window of the deployment that is bounded, if that is known.
                self._learn_count(decision, ending.prompt_tokens, refused=True)
            if isinstance(decision, Planned) and decision.outcome == "bypassed":
                # As it came it is refused in any case: the bypass helps nobody.
                local.set_bypass(decision.session, None, BYPASS_SECONDS, decision.generation)
            return
        if not isinstance(decision, Planned) or decision.messages is None:
            return
        session, generation = decision.session, decision.generation
        reason = "the upstream refused the rewritten request"
        log.warning("bypassed for %d s: session=%s %s", BYPASS_SECONDS, session.session_id, reason)
        local.set_bypass(session, reason, BYPASS_SECONDS, generation)
        self._worker.run_later(self._store.bypass(session, reason, BYPASS_SECONDS, generation))


def _find_bounds(policy: Policy) -> SnapshotBounds:
    """Return how many snapshots a policy keeps of a session, none where it stores no text."""
    kept = policy.storage.snapshots
    return SnapshotBounds(0 if policy.storage.content == "none" else kept.number, float(kept.age))


def _is_snapshot_due(decision: Planned, at: float) -> bool:
    """Tell whether a call's session is to have a snapshot: so much time with calls has passed."""
    if not _find_bounds(decision.policy).number:
        return False
    began = read_start(decision.generation) if is_stored(decision.generation) else None
    last = began and max(began, decision.context.session.snapped_at)
    return is_snapshot_due(last, at, float(decision.policy.storage.snapshots.interval))


def _make_point(decision: Planned, call: CallSnapshot) -> RestorePoint:
    """Make a snapshot of a session after a call; takes some tenths of a second."""
    session, made = decision.context.session, decision.plan.made
    compactions = (*session.compactions, *(() if made is None else (made,)))
    point = make_restore_point(
        decision.session.session_id, call.at, compactions, call, session.client_state, session.controls.pins
    )
    minutes = decision.policy.storage.snapshots.interval // 60
    return replace(point, reason=f"every {minutes} minutes with calls")


def _find_told_state(decision: Planned) -> ClientState | None:
    """Return what the client told of its work in this call, where it may be stored."""
    if decision.request.client_state is None or decision.policy.storage.content == "none":
        return None
    return decision.context.session.client_state


def _log_fault(done: Future[object]) -> None:
    if not done.cancelled() and (fault := done.exception()) is not None:
        log.error("background work: a fault of ours", exc_info=fault)


def _log_event(session: SessionRef, event: CompactionEvent, savings: Savings) -> None:
    log.info(
        "request: session=%s policy=%s model=%s level=%s outcome=%s tokens=%d->%d saved=%d (%d of it cached)"
        " reason=%s",
        session.session_id,
        event.policy,
        event.model,
        event.level or "none",
        event.outcome,
        event.tokens_before,
        event.tokens_after,
        savings.tokens,
        savings.cached,
        event.reason,
    )
