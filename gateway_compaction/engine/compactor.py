"""The story of one request: policy, measure, session, plan and messages, in that order."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, replace
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
from gateway_compaction.core.planning.context import INDEX_TOKENS, RequestContext, reserved_tokens
from gateway_compaction.core.planning.plan import lowest_threshold, make_plan, plan_without_store
from gateway_compaction.core.planning.views import render
from gateway_compaction.core.policy.book import Identity, PolicyBook
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.core.text.identifiers import forget_identifiers
from gateway_compaction.core.text.terms import forget_terms
from gateway_compaction.engine.parts import EngineParts
from gateway_compaction.engine.request import (
    Decision,
    Measured,
    Planned,
    Request,
    SizedModel,
    Untouched,
    lineage_of,
)
from gateway_compaction.engine.summary_task import SummaryTask
from gateway_compaction.engine.worker import Worker
from gateway_compaction.errors import PolicyError, StoreError, TranscriptError
from gateway_compaction.ports import Buffer, ModelFacts, Models

log = logging.getLogger("gateway_compaction")
T = TypeVar("T")

# Work that would hold up other requests for more than about two milliseconds leaves the loop; see ``_run``.
LARGE_HISTORY = 1_000
"""Messages from which on a history is parsed and named off the loop."""

LARGE_CHARS = 1_000_000
"""Characters from which on a history is named off the loop, by hashing."""

COLD_CHARS = 20_000
"""Characters that were never counted from which on counting leaves the loop."""

LARGE_TOKENS = 8_000
"""Tokens from which on planning and rendering leave the loop."""

WARNINGS = 1_000
"""Different problems with metadata blocks that are told, so that nobody fills the log or this memory."""

MODELS_KEPT = 50
"""Model names whose derived caches are kept: a client may invent names where a wildcard serves any model."""

WOULD: dict[str, str] = {
    "none": "would be sent as it came",
    "prepared": "would be sent as it came",
    "applied": "would be sent with a stored compaction",
    "fallback": "would be compacted at once",
    "passthrough": "would be sent as it came",
    "bypassed": "would be left alone",
}
"""What ``enforce`` would have done to a request that is only observed, in words, by the plan's outcome."""

SWITCHED_OFF = Policy(name="GATEWAY_COMPACTION_ENABLED", mode="off")
"""The policy of everybody while the environment switches compaction off, whatever files and metadata say."""


@dataclass(frozen=True, slots=True)
class CompactorSettings:
    """The part of the environment that decisions depend on.

    Attributes:
        enabled: False leaves every request alone, whatever policies say.
        index_tokens: covered tokens up to which a search index is built while a request waits.
    """

    enabled: bool = True
    index_tokens: int = INDEX_TOKENS


class Compactor:
    """Decides about requests. One for each process; holds no state that a replica would miss."""

    def __init__(
        self,
        parts: EngineParts,
        worker: Worker,
        policies: Callable[[], PolicyBook],
        models: Models,
        executor: Executor,
        settings: CompactorSettings | None = None,
    ) -> None:
        self._parts, self._worker = parts, worker
        self._policies, self._models = policies, models
        self._executor, self._settings = executor, settings or CompactorSettings()
        self._warned: set[str] = set()
        self._caches: dict[str, DerivedCaches] = {}
        self._requested: frozenset[str] = frozenset()

    async def compact(
        self, request: Request, policy: Policy | None = None, model: SizedModel | None = None
    ) -> Decision:
        """Decide about one request, in at most one round trip to the store; two where it may wait.

        Args:
            request: as the host hands it over.
            policy: the policy in force, where it is known already.
            model: the model that the request must fit, where it is not the group that the client named.

        Raises:
            CompactionError: only for faults of ours; the caller sends the request unchanged.
        """
        policy = policy or self.resolve_policy(request.identity)
        if policy.mode == "off":
            return Untouched(request, policy, "none", "the policy is off")
        if _is_bypassed(request, policy):
            return Untouched(request, policy, "bypassed", "the client asked for it")
        model = model or self.find_model(request.model, policy)
        if model is None:
            return Untouched(request, policy, "none", "the context window of the model is unknown")
        context = await self.measure_request(request, policy, model)
        if isinstance(context, Untouched):
            return context
        session = SessionRef(request.tenant, context.chain[min(OPENING, len(context.transcript.history))])
        plan = None if session.session_id in self._requested else plan_without_store(context)
        if plan is not None:
            return Measured(request, policy, plan.outcome, plan.reason, model, context, plan)
        context = await self.load_session(session, context)
        planned = await self.plan_views(request, model, session, context)
        return await self.wait_for_summary(planned) if planned.wait_seconds else planned

    async def refit(self, decision: Decision, facts: ModelFacts) -> Decision:
        """Decide again for a deployment with another window; the store is asked only if it was not before.

        What is not rewritten by policy or by the client's wish is not rewritten for any deployment.
        """
        request, policy = decision.request, decision.policy
        unwanted = isinstance(decision, Untouched) and decision.outcome == "bypassed"
        if policy.mode != "enforce" or unwanted or facts.window is None:
            return decision
        model = SizedModel(facts.name, facts.window)
        if not isinstance(decision, Planned):
            return await self.compact(request, policy, model)
        loaded = decision.context
        context = await self.build_context(request, policy, model, loaded.transcript)
        context = replace(
            context,
            compactions=loaded.compactions,
            in_flight=loaded.in_flight,
            bypass=loaded.bypass,
            backoff=loaded.backoff,
            controls=loaded.controls,
        )
        planned = await self.plan_views(request, model, decision.session, context)
        return await self.wait_for_summary(planned) if planned.wait_seconds else planned

    # The steps of the story, in order.

    def resolve_policy(self, identity: Identity) -> Policy:
        """Return the policy in force; a metadata block that cannot be used is left out, with one log line."""
        if not self._settings.enabled:
            return SWITCHED_OFF
        book = self._policies()
        for usable in (identity, replace(identity, key_block=None), replace(identity, team_block=None)):
            try:
                return book.resolve(usable)
            except PolicyError as error:
                self._warn_once(str(error))
        return book.resolve(replace(identity, team_block=None, key_block=None))

    def find_model(self, name: str, policy: Policy) -> SizedModel | None:
        """Return the model group of a name with its window, the policy's sooner than the host's, or None."""
        facts = self._models.facts(name)
        window = policy.context_window or facts.window
        return None if window is None else SizedModel(facts.name, window)

    async def measure_request(
        self, request: Request, policy: Policy, model: SizedModel
    ) -> RequestContext | Untouched:
        """Count a request, unless a bound that needs no tokeniser tells that it is small.

        Most requests end here: they must cost neither a count nor a round trip. One that an operator asked
        for is counted however small it is.
        """
        try:
            transcript = await self._run(
                len(request.messages) > LARGE_HISTORY, parse_transcript, request.messages
            )
        except TranscriptError as error:
            return Untouched(request, policy, "none", str(error), model)
        reserve = reserved_tokens(request.body, model.window, policy)
        least = lowest_threshold(policy, transcript, model.window) - reserve
        if not self._is_requested(request.tenant, transcript):
            most = self._parts.counter.upper_bound(request.messages, request.body, model.name, least)
            if most < least:
                return Untouched(request, policy, "none", "below every level", model)
        return await self.build_context(request, policy, model, transcript)

    async def build_context(
        self, request: Request, policy: Policy, model: SizedModel, transcript: Transcript
    ) -> RequestContext:
        """Build all that a plan depends on but what the store tells: messages are named and counted here."""
        history = transcript.history
        large = _is_large(history)
        digests = await self._run(large, digest_history, history)
        apart = large or self._parts.counter.uncached_characters(history, digests, model.name) > COLD_CHARS
        return await self._run(apart, self._count_messages, request, policy, model, transcript, digests)

    def _count_messages(
        self,
        request: Request,
        policy: Policy,
        model: SizedModel,
        transcript: Transcript,
        digests: list[bytes],
    ) -> RequestContext:
        counter, name = self._parts.counter, model.name
        # The transcript keeps its messages alive, so that an id names one of them and nothing else.
        names = dict(zip(map(id, transcript.history), digests, strict=True))
        reserve = reserved_tokens(request.body, model.window, policy)
        return RequestContext(
            transcript=transcript,
            chain=build_digest_chain(digests),
            digests=tuple(digests),
            measure=counter.measure(transcript, request.body, name, reserve, digests),
            window=model.window,
            policy=policy,
            calibrated_tokens=lambda message: counter.calibrated_tokens(
                message, name, names.get(id(message))
            ),
            raw_tokens=lambda text: counter.raw_tokens(text, name),
            wants_json=wants_json(request.body),
            index_tokens=self._settings.index_tokens,
            caches=self._caches_of(name),
        )

    async def load_session(self, session: SessionRef, context: RequestContext) -> RequestContext:
        """Return a context with what the store and this process know of its session.

        A store that does not answer is no error: what this process remembers is used, no summary is started,
        and what operators asked for holds on, so that the same bytes are sent.
        """
        local = self._parts.local
        digests = [context.chain[0], *(context.chain[cut] for cut in context.transcript.cuts)]
        try:
            buffer = await self._parts.store.load(session, digests)
            controls = local.remember_controls(session, buffer.controls)
        except StoreError as error:
            log.debug("store: session=%s %s", session.session_id, error)
            buffer = Buffer(backoff="the store does not answer")
            controls = local.get_controls(session)
        generation = buffer.controls.generation
        compactions = local.merge_compactions(session, digests, buffer.compactions, generation)
        skip_reason = self._parts.rewrite_detector.find_skip_reason(session.tenant, lineage_of(context))
        return replace(
            context,
            compactions=compactions,
            in_flight=bool(buffer.in_flight),
            bypass=local.get_bypass(session, buffer.bypass, generation),
            backoff=buffer.backoff or (None if controls.rebuild else skip_reason),
            controls=controls,
        )

    async def plan_views(
        self, request: Request, model: SizedModel, session: SessionRef, context: RequestContext
    ) -> Planned:
        """Plan what is sent and render it, on one thread: both read the same messages."""
        large = context.measure.total > LARGE_TOKENS
        return await self._run(large, plan_and_render, request, model, session, context)

    async def wait_for_summary(self, planned: Planned) -> Planned:
        """Start the summary that a plan asks for, wait as long as the policy says, and plan once more."""
        task = SummaryTask.from_decision(planned)
        running = self._worker.submit(task) if task else None
        if running is not None:
            await asyncio.wait([running], timeout=planned.wait_seconds)
        context = await self.load_session(planned.session, planned.context)
        return await self.plan_views(planned.request, planned.model, planned.session, context)

    # What operators did, as ``NoticePoller`` hears of it.

    def set_requested(self, requested: frozenset[str]) -> None:
        """Ask the store at the next call of these sessions, however small it is."""
        self._requested = requested

    def clear_caches(self) -> None:
        """Drop everything that holds text: something was erased."""
        self._caches.clear()
        forget_terms()
        forget_identifiers()

    def _is_requested(self, tenant: str, transcript: Transcript) -> bool:
        """Tell whether an operator asked for the session of messages that have no names yet."""
        if not self._requested:
            return False
        opening = build_digest_chain(digest_history(transcript.history[:OPENING]))[-1]
        return SessionRef(tenant, opening).session_id in self._requested

    def _warn_once(self, problem: str) -> None:
        if problem not in self._warned and len(self._warned) < WARNINGS:
            self._warned.add(problem)
            log.warning("metadata policy ignored: %s", problem)

    def _caches_of(self, name: str) -> DerivedCaches:
        if name not in self._caches and len(self._caches) >= MODELS_KEPT:
            self._caches.clear()
        return self._caches.setdefault(name, DerivedCaches())

    async def _run(self, apart: bool, work: Callable[..., T], *args: Any) -> T:
        """Run work on the loop when it is quick, else on the one thread kept for requests.

        Each step asks whether its own input is large, since a long history whose messages were counted before
        is quick to count and long to hash.
        """
        if not apart:
            return work(*args)
        return await asyncio.get_running_loop().run_in_executor(self._executor, work, *args)


def plan_and_render(
    request: Request, model: SizedModel, session: SessionRef, context: RequestContext
) -> Planned:
    """Plan what is sent, and make the messages of it; in ``observe`` only say what would be sent."""
    plan = make_plan(context)
    outcome, reason, messages = plan.outcome, plan.reason, None
    if context.policy.mode == "observe":
        outcome, reason = "observed", f"{WOULD[outcome]}: {reason}"
    elif plan.view.compaction is not None:
        messages = render(plan.view, context)
    return Planned(request, context.policy, outcome, reason, model, session, context, plan, messages)


def _is_bypassed(request: Request, policy: Policy) -> bool:
    """Tell whether the client asked, in the header that the policy allows, to be left alone."""
    header = policy.bypass.header.lower()
    return policy.bypass.allow and request.headers.get(header, "").lower() == "off"


def _is_large(history: tuple[Message, ...]) -> bool:
    """Tell whether naming these messages would hold up other requests."""
    return len(history) > LARGE_HISTORY or sum(map(count_characters, history)) > LARGE_CHARS
