"""The story of one request, told in the order in which it happens: ``Compactor.compact``.

Policy, model, measure, session, plan and render: then the host sends the messages. What follows the call is
told in ``PostCall.follow`` of ``engine/post_call.py``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace

from gateway_compaction.core.planning.context import INDEX_TOKENS, RequestContext, SessionState
from gateway_compaction.core.planning.plan import make_plan, plan_without_store
from gateway_compaction.core.policy.book import Identity, PolicyBook
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.records.client_state import ClientState
from gateway_compaction.core.redaction.marks import NO_MARKS
from gateway_compaction.engine.measuring import RequestMeter
from gateway_compaction.engine.model_windows import ModelWindows
from gateway_compaction.engine.offload import LARGE_TOKENS, Offloader
from gateway_compaction.engine.parts import EngineParts
from gateway_compaction.engine.policy_problems import PolicyProblems
from gateway_compaction.engine.request import (
    LABEL_CHARS,
    Decision,
    Planned,
    Request,
    SizedModel,
    Untouched,
    find_session,
    lineage_of,
    read_wish,
)
from gateway_compaction.engine.summary_task import SummaryTask
from gateway_compaction.engine.worker import Worker
from gateway_compaction.errors import PolicyError, StoreError
from gateway_compaction.ports import Buffer, ModelFacts, Models

log = logging.getLogger("gateway_compaction")

WARNINGS = 1_000
"""Different problems with metadata blocks that are told, so that nobody fills the log or this memory."""

SWITCHED_OFF = Policy(name="GATEWAY_COMPACTION_ENABLED", mode="off")
"""The policy of everybody while the environment switches compaction off, whatever files and metadata say."""

UNUSABLE = Policy(name="cannot be used", mode="off")
"""The policy of a request whose own cannot be used."""


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
    """Decides what is sent in the place of each request. One for each process.

    Whatever decides is in the request, the policy and the store, so that every replica decides alike. What is
    kept here are caches, and a copy of what operators asked for.

    Attributes:
        windows: finds the window that a request must fit.
    """

    def __init__(
        self,
        parts: EngineParts,
        worker: Worker,
        policies: Callable[[], PolicyBook],
        models: Models,
        executor: Executor,
        settings: CompactorSettings | None = None,
    ) -> None:
        self._parts, self._worker, self._policies = parts, worker, policies
        self._settings = settings or CompactorSettings()
        self.windows, self._offload = ModelWindows(parts, models), Offloader(executor)
        self._meter = RequestMeter(parts, self._offload, self._settings.index_tokens)
        self._warned: set[str] = set()
        self._policy_problems = PolicyProblems(parts.clock)
        self._key_rates: Mapping[str, float] = {}

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
        try:
            policy = policy or self.resolve_policy(request.identity)
        except PolicyError as error:
            return Untouched(request, UNUSABLE, "none", self._record_policy_problem(request, error))
        if policy.mode == "off":
            return Untouched(request, policy, "none", "the policy is off")
        if request.endpoint not in policy.endpoints:
            return Untouched(request, policy, "none", "this endpoint is switched off")
        wish = read_wish(request, policy)
        if wish == "off":
            return Untouched(request, policy, "bypassed", "the client asked for it")
        model = model or self.windows.find_model(request.model, policy)
        reason = request.left_alone or (request.managed if policy.provider_compaction == "leave" else None)
        if reason is not None:
            tokens = None if model is None else await self._meter.count_seen(request, policy, model)
            seen_by = None if tokens is None else model
            return Untouched(request, policy, "none", reason, seen_by, tokens_before=tokens)
        if model is None:
            return Untouched(request, policy, "none", "the context window of the model is unknown")
        # The store is asked about these calls however small they are: those that their client asked for, of
        # policies that note every conversation, of conversations that the gateway keeps, and those whose
        # client tells of its work.
        has_state = bool(request.conversation) or request.client_state is not None
        is_wanted = policy.note == "all" or has_state or wish == "now"
        measured = await self._meter.measure(request, policy, model, wanted=is_wanted)
        if not isinstance(measured, RequestContext):
            return measured
        state = await self.load_session(request, measured)
        if wish == "now":
            state = replace(state, controls=replace(state.controls, compact=True))
        planned = await self.plan_and_render(request, model, measured.with_session(state))
        if wish == "now" and policy.mode == "enforce":
            # The store is told after the call: until then the next one must not pass as small.
            self._meter.add_requested(planned.session.session_id)
        return await self.wait_for_summary(planned) if planned.wait_seconds else planned

    # The steps of the story, in order.

    def resolve_policy(self, identity: Identity) -> Policy:
        """Return the policy in force.

        Raises:
            PolicyError: a metadata block cannot be used, or two policies contradict each other. What is left
                without it may allow what it forbids, so there is no policy to go by.
        """
        return self._policies().resolve(identity) if self._settings.enabled else SWITCHED_OFF

    async def load_session(
        self, request: Request, context: RequestContext, *, anew: bool = False
    ) -> SessionState:
        """Ask the store for what fits this request, in one round trip, and add what this process knows.

        What was read with a kept conversation a moment ago is asked in the store's place, but ``anew``.

        A store that does not answer is no error: what this process remembers is used, no summary is started,
        and what operators asked for holds on, so that the same bytes are sent.
        """
        session = find_session(request, context.transcript)
        local, loaded = self._parts.local, None if anew else request.loaded
        digests = [context.chain[0], *(context.chain[cut] for cut in context.transcript.cuts)]
        try:
            buffer = loaded(digests) if loaded else await self._parts.store.load(session, digests)
            controls = local.remember_controls(session, buffer.controls)
        except StoreError as error:
            log.debug("store: session=%s %s", session.session_id, error)
            buffer = Buffer(backoff="the store does not answer")
            controls = local.get_controls(session)
        if controls.rate is None and self._key_rates:
            controls = replace(controls, rate=self._key_rates.get(request.about.get("key_hash", "")))
        generation = buffer.controls.generation
        skip_reason = self._parts.rewrite_detector.find_skip_reason(session.tenant, lineage_of(context))
        told = request.client_state
        if told is not None:
            told = follow_client_state(buffer.client_state, told, context)
        return SessionState(
            compactions=local.merge_compactions(session, digests, buffer.compactions, generation),
            in_flight=bool(buffer.in_flight),
            bypass=local.get_bypass(session, buffer.bypass, generation),
            backoff=buffer.backoff or (None if controls.rebuild else skip_reason),
            controls=controls,
            client_state=told or buffer.client_state,
            snapped_at=buffer.snapped_at,
        )

    async def plan_and_render(self, request: Request, model: SizedModel, context: RequestContext) -> Planned:
        """Choose the view that is sent, and make its messages; both read the same ones, on one thread."""

        def plan_then_render() -> Planned:
            planned = Planned.from_plan(request, model, context, make_plan(context))
            _ = planned.messages
            return planned

        known = context.session
        has_choice = bool(known.compactions) or known.controls.compact or known.controls.rebuild
        # Below every level, with nothing to choose from, the size does not matter.
        is_large = context.measure.total > LARGE_TOKENS and (
            has_choice or plan_without_store(context) is None
        )
        return await self._offload.run(is_large, plan_then_render)

    async def wait_for_summary(self, planned: Planned) -> Planned:
        """Start the summary that a plan asks for, wait as long as the policy says, and plan once more.

        The second plan is final: whatever it asks for is made after the call.
        """
        task = SummaryTask.from_decision(planned)
        running = self._worker.submit(task) if task else None
        if running is not None:
            await asyncio.wait([running], timeout=planned.wait_seconds)
        request, context = planned.request, planned.context
        state = await self.load_session(request, context, anew=True)
        return await self.plan_and_render(request, planned.model, context.with_session(state))

    # The story once more, for the deployment that was chosen.

    async def refit(self, decision: Decision, facts: ModelFacts) -> Decision:
        """Decide again for a deployment with another window; the store is asked only if it was not before.

        What is not rewritten by policy or by the client's wish is not rewritten for any deployment.
        """
        request, policy = decision.request, decision.policy
        is_unwanted = isinstance(decision, Untouched) and decision.outcome == "bypassed"
        if policy.mode != "enforce" or is_unwanted or facts.window is None:
            return decision
        model = SizedModel(facts.name, facts.window)
        if not isinstance(decision, Planned):
            return await self.compact(request, policy, model)
        context = await self._meter.build_context(request, policy, model, decision.context.transcript)
        planned = await self.plan_and_render(request, model, context.with_session(decision.context.session))
        return await self.wait_for_summary(planned) if planned.wait_seconds else planned

    # What operators did, as ``NoticePoller`` hears of it.

    def set_requested(self, requested: frozenset[str]) -> None:
        """Ask the store at the next call of these sessions, however small it is."""
        self._meter.set_requested(requested)

    def set_key_rates(self, rates: Mapping[str, float]) -> None:
        """Let the next summaries of these keys, by their hashes, have a rate that an operator set."""
        self._key_rates = rates

    def clear_caches(self) -> None:
        """Drop everything that holds text: something was erased."""
        self._meter.clear_caches()

    # Parts of the steps.

    def _record_policy_problem(self, request: Request, error: PolicyError) -> str:
        """Log what is wrong with a policy once, count it, and return the reason that the client is told."""
        told = str(error)
        if told not in self._warned and len(self._warned) < WARNINGS:
            self._warned.add(told)
            log.warning("left alone, the policy cannot be used: %s", told)
        identity = request.identity
        whose = identity.key_alias if error.source == "key metadata" else None
        whose = whose or identity.team_alias or identity.team_id or identity.key_alias or "somebody"
        path = error.path.removeprefix("compaction.")[:LABEL_CHARS]
        problem = f"{error.source} of {whose[:LABEL_CHARS]}: {path}: {error.problem[:LABEL_CHARS]}"
        untold = self._policy_problems.record(problem)
        if untold:
            self._worker.run_later(self._parts.store.add_policy_problem(problem, untold))
        return f"the policy cannot be used: {error.source}: {path}"


def follow_client_state(known: ClientState | None, told: ClientState, context: RequestContext) -> ClientState:
    """Return what a client tells of its work now, masked, with the turn at which that work last changed.

    Args:
        known: what it told before.
        told: what it tells.
        context: the request that tells it.
    """
    masked = told.map_texts(lambda text: context.redactor.mask_text(text, NO_MARKS))
    transcript = context.transcript
    # What the latest user message brought is of the new work.
    start = transcript.turn_starts[-1] if transcript.turn_starts else len(transcript.history)
    return (known or ClientState()).follow(masked, context.policy.restore.reset_on, start)
