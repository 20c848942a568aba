"""The story of one request, told in order: policy, measure, buffer, plan, messages; and what comes after."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any, TypeVar

from gateway_compaction.core.conversation.body import wants_json
from gateway_compaction.core.conversation.digest import (
    OPENING,
    build_digest_chain,
    count_characters,
    digest_history,
)
from gateway_compaction.core.conversation.messages import Message
from gateway_compaction.core.conversation.transcript import Transcript, parse_transcript
from gateway_compaction.core.planning.caches import DerivedCaches
from gateway_compaction.core.planning.context import (
    INDEX_TOKENS,
    RequestContext,
    reserved_tokens,
)
from gateway_compaction.core.planning.plan import lowest_threshold, make_plan, plan_without_store
from gateway_compaction.core.planning.views import render
from gateway_compaction.core.policy.book import Identity, PolicyBook
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.core.text.identifiers import forget_identifiers
from gateway_compaction.core.text.terms import forget_terms
from gateway_compaction.core.tokens.counter import TokenCounter
from gateway_compaction.engine.local_buffer import LocalBuffer
from gateway_compaction.engine.request import Decision, Request, lineage_of, task_of
from gateway_compaction.engine.rewrite_detector import RewriteDetector
from gateway_compaction.engine.worker import Worker
from gateway_compaction.errors import PolicyError, StoreError, TranscriptError
from gateway_compaction.ports import Buffer, ModelFacts, Models, Store

__all__ = ["Compactor"]

log = logging.getLogger("gateway_compaction")
T = TypeVar("T")

COLD_CHARS = 20_000
LARGE_TOKENS = 8_000
# About two milliseconds of hashing each.
LARGE_CHARS, LARGE_HISTORY = 1_000_000, 1_000
WARNINGS = 1_000
MODELS_KEPT = 50
# Stronger than the file, the environment's defaults and the metadata blocks.
SWITCHED_OFF = Policy(name="GATEWAY_COMPACTION_ENABLED", mode="off")


class Compactor:
    """Decides about requests. One for each process; holds no state that a replica would miss."""

    def __init__(
        self,
        store: Store,
        worker: Worker,
        policies: Callable[[], PolicyBook],
        models: Models,
        counter: TokenCounter,
        executor: Executor,
        local: LocalBuffer,
        rewrite_detector: RewriteDetector,
        index_tokens: int = INDEX_TOKENS,
        *,
        enabled: bool = True,
    ) -> None:
        self._store, self._worker, self._policies, self._models = store, worker, policies, models
        self._counter, self._executor, self._local = counter, executor, local
        self._rewrite_detector = rewrite_detector
        self._index_tokens, self._enabled = index_tokens, enabled
        self._warned: set[str] = set()
        self._caches: dict[str, DerivedCaches] = {}
        self._requested: frozenset[str] = frozenset()

    async def compact(self, request: Request) -> Decision:
        """Decide about one request, in at most one round trip to the store.

        Raises:
            CompactionError: only for faults of ours; the caller sends the request unchanged.
        """
        policy = self.policy_of(request.identity)
        decision = Decision("none", "", request, policy)
        if policy.mode == "off":
            return replace(decision, reason="the policy is off")
        if policy.bypass.allow and request.headers.get(policy.bypass.header.lower(), "").lower() == "off":
            return replace(decision, outcome="bypassed", reason="the client asked for it")
        facts = self._models.facts(request.model)
        facts = replace(facts, window=policy.context_window or facts.window)
        if facts.window is None:
            return replace(decision, reason="the context window of the model is unknown")
        return await self._measured(replace(decision, facts=facts), facts.window)

    async def refit(self, decision: Decision, facts: ModelFacts) -> Decision:
        """Decide again for a deployment with another window; the store is asked if it was not before.

        What is not rewritten by policy or by the client's wish is not rewritten for any deployment.
        """
        policy, old = decision.policy, decision.context
        unasked = decision.outcome == "bypassed" and old is None
        if policy is None or policy.mode != "enforce" or unasked or facts.window is None:
            return decision
        if old is None or decision.session is None:
            return await self._measured(replace(decision, facts=facts), facts.window)
        context = await self._context(decision.request, policy, old.transcript, facts.name, facts.window)
        context = replace(
            context,
            compactions=old.compactions,
            in_flight=old.in_flight,
            bypass=old.bypass,
            backoff=old.backoff,
            controls=old.controls,
        )
        return await self._planned(replace(decision, facts=facts, messages=None), context)

    def set_requested(self, requested: frozenset[str]) -> None:
        """Ask the store at the next call of these sessions, however small it is."""
        self._requested = requested

    def forget(self) -> None:
        """Drop everything that holds text: something was erased."""
        self._caches.clear()
        forget_terms()
        forget_identifiers()

    def policy_of(self, identity: Identity) -> Policy:
        """The policy in force; a metadata block that cannot be used is left out, with one log line."""
        if not self._enabled:
            return SWITCHED_OFF
        book = self._policies()
        for usable in (identity, replace(identity, key_block=None), replace(identity, team_block=None)):
            try:
                return book.resolve(usable)
            except PolicyError as error:
                self._warn_once(str(error))
        return book.resolve(replace(identity, team_block=None, key_block=None))

    async def _measured(self, decision: Decision, window: int) -> Decision:
        request, policy, facts = decision.request, decision.policy, decision.facts
        assert policy is not None and facts is not None
        try:
            transcript = await self._run(
                len(request.messages) > LARGE_HISTORY, parse_transcript, request.messages
            )
        except TranscriptError as error:
            return replace(decision, reason=str(error))
        reserve = reserved_tokens(request.body, window, policy)
        quiet = lowest_threshold(policy, transcript, window) - reserve
        wanted = bool(self._requested) and _opened(request, transcript).session_id in self._requested
        if (
            not wanted
            and self._counter.upper_bound(request.messages, request.body, facts.name, quiet) < quiet
        ):
            return replace(decision, reason="below every level")
        context = await self._context(request, policy, transcript, facts.name, window)
        plan = None if wanted else plan_without_store(context)
        if plan is not None:
            return replace(decision, context=context, plan=plan, reason=plan.reason)
        session = SessionRef(request.tenant, context.chain[min(OPENING, len(transcript.history))])
        context = await self._loaded(session, context)
        return await self._planned(replace(decision, session=session), context)

    async def _context(
        self, request: Request, policy: Policy, transcript: Transcript, name: str, window: int
    ) -> RequestContext:
        history = transcript.history
        large = _takes_long(history)
        digests = await self._run(large, digest_history, history)
        apart = large or self._counter.uncached_characters(history, digests, name) > COLD_CHARS
        return await self._run(apart, self._laid_out, request, policy, transcript, name, window, digests)

    def _laid_out(
        self,
        request: Request,
        policy: Policy,
        transcript: Transcript,
        name: str,
        window: int,
        digests: list[bytes],
    ) -> RequestContext:
        # The transcript keeps its messages alive, so that an id names one of them and nothing else.
        named = dict(zip(map(id, transcript.history), digests, strict=True))
        reserve = reserved_tokens(request.body, window, policy)
        measure = self._counter.measure(transcript, request.body, name, reserve, digests)
        return RequestContext(
            transcript=transcript,
            chain=build_digest_chain(digests),
            digests=tuple(digests),
            measure=measure,
            window=window,
            policy=policy,
            calibrated_tokens=lambda m: self._counter.calibrated_tokens(m, name, named.get(id(m))),
            raw_tokens=lambda t: self._counter.raw_tokens(t, name),
            wants_json=wants_json(request.body),
            index_tokens=self._index_tokens,
            caches=self._caches_of(name),
        )

    async def _loaded(self, session: SessionRef, context: RequestContext) -> RequestContext:
        digests = [context.chain[0], *(context.chain[c] for c in context.transcript.cuts)]
        try:
            buffer = await self._store.load(session, digests)
            controls = self._local.remember_controls(session, buffer.controls)
        except StoreError as error:
            log.debug("store: session=%s %s", session.session_id, error)
            buffer = Buffer(backoff="the store does not answer")
            # What operators asked for holds on, so that the same bytes are sent.
            controls = self._local.get_controls(session)
        compactions = self._local.merge_compactions(
            session, digests, buffer.compactions, buffer.controls.generation
        )
        skip_reason = self._rewrite_detector.find_skip_reason(session.tenant, lineage_of(context))
        return replace(
            context,
            compactions=compactions,
            in_flight=bool(buffer.in_flight),
            bypass=self._local.get_bypass(session, buffer.bypass, buffer.controls.generation),
            backoff=buffer.backoff or (None if controls.rebuild else skip_reason),
            controls=controls,
        )

    async def _planned(self, decision: Decision, context: RequestContext) -> Decision:
        large = context.measure.total > LARGE_TOKENS
        decided = await self._run(large, self._decided, replace(decision, context=context))
        plan, may_wait = decided.plan, decision.request.may_wait and context.policy.mode == "enforce"
        if plan and plan.job and plan.wait_seconds and may_wait:
            context = await self._awaited(decided, plan.wait_seconds)
            decided = await self._run(large, self._decided, replace(decision, context=context))
        return decided

    async def _awaited(self, decision: Decision, seconds: float) -> RequestContext:
        """The situation once the summary is there, or after so many seconds."""
        context, session = decision.context, decision.session
        assert context is not None and session is not None
        task = task_of(decision)
        future = self._worker.submit(task) if task else None
        if future is not None:
            await asyncio.wait([future], timeout=seconds)
        return await self._loaded(session, context)

    @staticmethod
    def _decided(decision: Decision) -> Decision:
        """With the plan of the decision's situation, and the messages that follow from it."""
        context = decision.context
        assert context is not None
        plan = make_plan(context)
        decision = replace(decision, plan=plan)
        if context.policy.mode == "observe":
            would = "stay as it is" if plan.outcome == "none" else f"be {plan.outcome}"
            reason = f"would {would}: {plan.reason}"
            return replace(decision, outcome="observed", reason=reason, tokens_after=plan.view.tokens)
        sent = None
        if plan.view.compaction is not None:
            sent = render(plan.view, context)
        return replace(
            decision, outcome=plan.outcome, reason=plan.reason, messages=sent, tokens_after=plan.view.tokens
        )

    def _warn_once(self, problem: str) -> None:
        if problem not in self._warned and len(self._warned) < WARNINGS:
            self._warned.add(problem)
            log.warning("metadata policy ignored: %s", problem)

    def _caches_of(self, name: str) -> DerivedCaches:
        # Names can be a client's own where a wildcard serves any model.
        if name not in self._caches and len(self._caches) >= MODELS_KEPT:
            self._caches.clear()
        return self._caches.setdefault(name, DerivedCaches())

    async def _run(self, apart: bool, work: Callable[..., T], *args: Any) -> T:
        """On the loop when it is quick, else on the one thread kept for it."""
        if not apart:
            return work(*args)
        return await asyncio.get_running_loop().run_in_executor(self._executor, work, *args)


def _opened(request: Request, transcript: Transcript) -> SessionRef:
    """The session of a request whose messages have no names yet."""
    return SessionRef(request.tenant, build_digest_chain(digest_history(transcript.history[:OPENING]))[-1])


def _takes_long(history: tuple[Message, ...]) -> bool:
    """Whether naming these messages would hold up other requests."""
    return len(history) > LARGE_HISTORY or sum(map(count_characters, history)) > LARGE_CHARS
