"""What follows a call: the event, the stores, the summary to make, the count to correct."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from gateway_compaction.core.planning.fit import read_ahead
from gateway_compaction.core.planning.plan import find_base
from gateway_compaction.core.planning.snapshot import build_snapshot
from gateway_compaction.core.planning.views import ViewBuilder
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.core.records.event import CompactionEvent
from gateway_compaction.core.tokens.calibration import MAX_FACTOR
from gateway_compaction.core.tokens.counter import TokenCounter, output_reserve
from gateway_compaction.engine.local_buffer import LocalBuffer
from gateway_compaction.engine.request import Decision, lineage_of, task_of
from gateway_compaction.engine.rewrite_detector import RewriteDetector
from gateway_compaction.engine.worker import Worker
from gateway_compaction.ports import Store
from gateway_compaction.telemetry import CacheBreakDetector, Silent, Stage, Telemetry

__all__ = ["Ending", "PostCall"]

log = logging.getLogger("gateway_compaction")
BYPASS_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Ending:
    """How a call ended.

    Attributes:
        kind: ``answered``, ``cached`` (LiteLLM's response cache), ``disconnected`` (the client left a
            stream) or ``refused`` (400, 413 or 422).
        prompt_tokens: as the provider reported them, None where it did not.
        too_long: a refusal because of the length: of the context, or of the request (413).
    """

    kind: Literal["answered", "cached", "disconnected", "refused"]
    prompt_tokens: int | None = None
    too_long: bool = False


class PostCall:
    """Starts what is to be done after a call; everything happens in the background."""

    def __init__(
        self,
        store: Store,
        worker: Worker,
        counter: TokenCounter,
        local: LocalBuffer,
        rewrite_detector: RewriteDetector,
        executor: Executor,
        clock: Callable[[], float] = time.time,
        telemetry: Telemetry | None = None,
    ) -> None:
        self._store, self._worker, self._counter = store, worker, counter
        self._local, self._rewrite_detector, self._executor, self._clock = (
            local,
            rewrite_detector,
            executor,
            clock,
        )
        self._telemetry: Telemetry = telemetry or Silent()
        self._cache_breaks = CacheBreakDetector()

    def measure_decision(self, decision: Decision | None, seconds: float) -> None:
        """Measure a decision; None is a fault of ours."""
        if decision is None:
            self._telemetry.record_decision("failed", None, None, "failed", seconds)
            return
        level = decision.plan.level if decision.plan else None
        policy = decision.policy.name if decision.policy else None
        self._telemetry.record_decision(decision.outcome, level, policy, _stage_of(decision), seconds)

    def keep_compaction(self, decision: Decision) -> None:
        """An answer is on its way: what was made for it is kept in the process, whether it is logged or not.

        LiteLLM logs no call that asks for ``no-log``; the next one shall begin with the same bytes.
        """
        plan, session = decision.plan, decision.session
        if plan is None or plan.made is None or session is None or decision.messages is None:
            return
        self._local.keep(session, replace(plan.made, created_at=self._clock()), decision.generation)

    def follow(self, decision: Decision, ending: Ending) -> None:
        """Called once for each call; returns at once."""
        looked_at = decision.context is not None and decision.facts is not None
        if ending.kind == "answered" and ending.prompt_tokens and looked_at:
            self._worker.run_later(self._calibrate(decision, ending.prompt_tokens))
        if ending.kind == "refused":
            self._follow_refusal(decision, ending)
        if decision.session is None or decision.plan is None or decision.context is None:
            return
        if ending.kind in ("answered", "disconnected"):
            self._prepare_next_call(decision)
            task = task_of(decision)
            if task is not None:
                self._worker.submit(task)
        self._record_event(decision, ending)

    def _prepare_next_call(self, decision: Decision) -> None:
        plan, session, context = decision.plan, decision.session, decision.context
        assert plan is not None and session is not None and context is not None
        used = plan.view.compaction
        if plan.level is not None:
            base = find_base(context, plan.view)
            start = base.covers if base is not None and base.kind == "model" else 0
            self._run_apart(read_ahead, context, start)
        views = ViewBuilder(context)
        if used is not None and not views.has_index(used):
            self._run_apart(views.get_index, used.covers)
        if decision.used is not None:
            self._rewrite_detector.record_use(session.tenant, lineage_of(context, decision.used.covers))
        if plan.made is None or decision.messages is None:
            return
        made = replace(plan.made, created_at=self._clock())
        self._local.keep(session, made, decision.generation)
        storage = context.policy.storage
        if storage.content != "none":
            self._worker.run_later(
                self._store.put(
                    session,
                    made,
                    token=None,
                    ttl=storage.ttl,
                    limit=storage.max_compactions,
                    generation=decision.generation,
                )
            )

    def _run_apart(self, work: Callable[..., object], *args: object) -> None:
        """On the one thread kept for it; a fault of ours is logged."""
        self._executor.submit(work, *args).add_done_callback(_log_fault)

    def _record_event(self, decision: Decision, ending: Ending) -> None:
        plan, session, context = decision.plan, decision.session, decision.context
        assert plan is not None and session is not None and context is not None
        used = decision.used
        event = CompactionEvent(
            type="request",
            at=self._clock(),
            outcome=decision.outcome,
            reason=decision.reason if ending.kind == "answered" else f"{decision.reason}; {ending.kind}",
            level=plan.level,
            model=decision.request.model,
            policy=context.policy.name,
            tokens_before=plan.tokens_before,
            tokens_after=decision.tokens_after or plan.tokens_before,
            window=context.window,
            messages_before=len(decision.request.messages),
            messages_after=len(decision.messages or decision.request.messages),
            covers=plan.view.compaction.covers if plan.view.compaction else 0,
            version=decision.version,
        )
        _log_event(session, event)
        sent = used if ending.kind in ("answered", "disconnected") else None
        begins = sent is not None and self._cache_breaks.record_sent(
            session.session_id, sent.digest, sent.kind
        )
        self._telemetry.record_call(event, ending.kind, rewritten=used is not None, cache_break=begins)
        view = None if ending.kind == "cached" else "raw" if used is None else f"{used.kind}:{used.digest}"
        self._worker.run_later(self._write_event(decision, event, view))

    async def _write_event(self, decision: Decision, event: CompactionEvent, view: str | None) -> None:
        plan, session, context = decision.plan, decision.session, decision.context
        assert plan is not None and session is not None and context is not None
        storage, last = context.policy.storage, None
        if storage.content != "none":
            work = partial(build_snapshot, context, plan, decision.messages, event.at)
            last = await asyncio.get_running_loop().run_in_executor(self._executor, work)
        used = decision.used
        await self._store.append(
            session,
            event,
            ttl=storage.ttl,
            used=used.digest if used and plan.made is None else None,
            labels=decision.labels,
            about=decision.request.about,
            generation=decision.generation,
            view=view,
            last=last,
        )

    async def _calibrate(self, decision: Decision, reported: int) -> None:
        """Correct the count by what the provider reported, and share that."""
        assert decision.facts is not None
        model = decision.facts.name

        def observed() -> float | None:
            if self._counter.has_media(decision.sent):
                return None
            counted = self._counter.raw_prompt_tokens(decision.sent, decision.request.body, model)
            return self._counter.calibration.observe(model, counted, reported)

        factor = await asyncio.get_running_loop().run_in_executor(self._executor, observed)
        if factor is not None:
            await self._store.save_factor(model, factor)

    def _follow_refusal(self, decision: Decision, ending: Ending) -> None:
        if ending.too_long and decision.facts is not None:
            # What is too long after compaction would be longer without it: correct the count instead.
            self._worker.run_later(self._raise_factor(decision))
            if decision.outcome == "bypassed" and decision.session is not None:
                # As it came it is refused in any case: the bypass helps nobody.
                self._local.set_bypass(decision.session, None, BYPASS_SECONDS, decision.generation)
            return
        if decision.messages is None or decision.session is None:
            return
        reason = "the upstream refused the rewritten request"
        log.warning("bypassed for %d s: session=%s %s", BYPASS_SECONDS, decision.session.session_id, reason)
        known = decision.generation
        self._local.set_bypass(decision.session, reason, BYPASS_SECONDS, known)
        self._worker.run_later(self._store.bypass(decision.session, reason, BYPASS_SECONDS, known))

    async def _raise_factor(self, decision: Decision) -> None:
        """Count a model's prompts as longer, for this process only, where that may be why one was refused."""
        assert decision.facts is not None
        model, calibration = decision.facts.name, self._counter.calibration

        def learned() -> None:
            if self._is_explained_by_count(decision, calibration.factor(model)):
                calibration.raise_factor(model)

        await asyncio.get_running_loop().run_in_executor(self._executor, learned)

    def _is_explained_by_count(self, decision: Decision, factor: float) -> bool:
        """Whether we count what was sent as fitting, and some factor would count it as too long.

        So a hundred refusals at once raise it no further than the first ones did. Images, and an answer asked
        for that is longer than what was kept free for it, explain a refusal by themselves.
        """
        policy, facts, body = decision.policy, decision.facts, decision.request.body
        assert policy is not None and facts is not None and facts.window is not None
        if self._counter.has_media(decision.sent):
            return False
        asked = body.get("max_completion_tokens") or body.get("max_tokens") or 0
        reserve = output_reserve(body, facts.window, policy.output_reserve)
        if not isinstance(asked, int) or asked > reserve:
            return False
        counted = self._counter.raw_prompt_tokens(decision.sent, body, facts.name)
        return counted * factor + reserve <= facts.window < counted * MAX_FACTOR + reserve


def _log_fault(done: Future[object]) -> None:
    if not done.cancelled() and (fault := done.exception()) is not None:
        log.error("background work: a fault of ours", exc_info=fault)


def _stage_of(decision: Decision) -> Stage:
    if decision.context is None:
        return "quiet"
    return "counted" if decision.session is None else "planned"


def _log_event(session: SessionRef, event: CompactionEvent) -> None:
    log.info(
        "request: session=%s policy=%s model=%s level=%s outcome=%s tokens=%d->%d reason=%s",
        session.session_id,
        event.policy,
        event.model,
        event.level or "none",
        event.outcome,
        event.tokens_before,
        event.tokens_after,
        event.reason,
    )
