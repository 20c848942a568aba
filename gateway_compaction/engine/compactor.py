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

from gateway_compaction.core.conversation.body import wants_json
from gateway_compaction.core.conversation.digest import (
    OPENING,
    build_digest_chain,
    digest_history,
    forget_digests,
)
from gateway_compaction.core.conversation.transcript import Transcript, parse_transcript
from gateway_compaction.core.planning.caches import DerivedCaches
from gateway_compaction.core.planning.context import (
    INDEX_TOKENS,
    RequestContext,
    SessionState,
    reserved_tokens,
)
from gateway_compaction.core.planning.plan import Plan, lowest_threshold, make_plan, plan_without_store
from gateway_compaction.core.planning.views import render
from gateway_compaction.core.policy.book import Identity, PolicyBook
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.records.client_state import ClientState
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.core.redaction.marks import NO_MARKS
from gateway_compaction.core.text.identifiers import forget_identifiers
from gateway_compaction.core.text.terms import forget_terms
from gateway_compaction.core.tokens.session_surplus import NO_CORRECTION
from gateway_compaction.engine.offload import (
    LARGE_HISTORY,
    LARGE_TOKENS,
    LARGE_UNCOUNTED_CHARS,
    Offloader,
    is_large_history,
)
from gateway_compaction.engine.parts import EngineParts
from gateway_compaction.engine.policy_problems import PolicyProblems
from gateway_compaction.engine.request import (
    LABEL_CHARS,
    Decision,
    Measured,
    Planned,
    Request,
    SizedModel,
    Untouched,
    describe_observed,
    find_session,
    lineage_of,
    read_wish,
)
from gateway_compaction.engine.summary_task import SummaryTask
from gateway_compaction.engine.worker import Worker
from gateway_compaction.errors import PolicyError, StoreError, TranscriptError
from gateway_compaction.ports import Buffer, ModelFacts, Models

log = logging.getLogger("gateway_compaction")

WARNINGS = 1_000
"""Different problems with metadata blocks that are told, so that nobody fills the log or this memory."""

MODELS_KEPT = 50
"""Model names whose derived caches are kept: a client may invent names where a wildcard serves any model."""

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
        self._parts, self._worker = parts, worker
        self._policies, self._models = policies, models
        self._offload, self._settings = Offloader(executor), settings or CompactorSettings()
        self._warned: set[str] = set()
        self._policy_problems = PolicyProblems(parts.clock)
        self._caches: dict[str, DerivedCaches] = {}
        self._requested: frozenset[str] = frozenset()
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
        reason = request.left_alone or (request.managed if policy.provider_compaction == "leave" else None)
        if reason is not None:
            return await self._leave_alone(request, policy, reason)
        model = model or self.find_model(request.model, policy)
        if model is None:
            return Untouched(request, policy, "none", "the context window of the model is unknown")
        measured = await self.measure_request(request, policy, model)
        if not isinstance(measured, RequestContext):
            return measured
        session = find_session(request, measured.chain)
        state = await self.load_session(session, measured, request)
        if request.client_state is not None:
            state = replace(state, client_state=follow_client_state(state.client_state, request, measured))
        if wish == "now":
            state = replace(state, controls=replace(state.controls, compact=True))
            if policy.mode == "enforce":
                # The store is told after the call: until then the next one must not pass as small.
                self._requested |= {session.session_id}
        context = measured.with_session(state)
        planned = await self.plan_and_render(request, model, session, context)
        return await self.wait_for_summary(planned) if planned.wait_seconds else planned

    # The steps of the story, in order.

    def resolve_policy(self, identity: Identity) -> Policy:
        """Return the policy in force.

        Raises:
            PolicyError: a metadata block cannot be used, or two policies contradict each other. What is left
                without it may allow what it forbids, so there is no policy to go by.
        """
        return self._policies().resolve(identity) if self._settings.enabled else SWITCHED_OFF

    async def _leave_alone(self, request: Request, policy: Policy, reason: str) -> Untouched:
        """Leave a request as it came, and count what is seen of it; the provider may keep more."""
        model = self.find_model(request.model, policy)
        try:
            transcript = parse_transcript(request.messages)
        except TranscriptError:
            model = None
        if model is None:
            return Untouched(request, policy, "none", reason)
        context = await self.build_context(request, policy, model, transcript)
        tokens = context.measure.total - context.reserved_for_quotes
        return Untouched(request, policy, "none", reason, model, tokens_before=tokens)

    def find_model(self, name: str, policy: Policy) -> SizedModel | None:
        """Return the model group of a name with its window, or None.

        Any of its deployments may be chosen: the smallest window holds, and a model whose window is not
        known has no say while another's is.
        """
        facts = self._models.facts(name)
        windows = [(self.find_window(one, policy), one.name) for one in facts.deployments or (facts,)]
        known = [SizedModel(name, window) for window, name in windows if window is not None]
        return min(known, key=lambda model: model.window, default=None)

    def find_group_window(self, name: str, policy: Policy) -> int | None:
        """Return the window of a model group, None where it is unknown."""
        model = self.find_model(name, policy)
        return None if model is None else model.window

    def find_window(self, facts: ModelFacts, policy: Policy, *, own_group: bool = True) -> int | None:
        """Return the window of a deployment, None where it is unknown.

        The policy's comes before the host's, unless another group is asked than the client named. What
        refusals have taught comes before both where it is smaller: no declaration makes a provider take more.
        """
        declared = (policy.context_window if own_group else None) or facts.window
        if declared is None and isinstance(policy.unknown_window, int):
            declared = policy.unknown_window
        if facts.window is None and declared is None and policy.unknown_window == "leave":
            return None
        return self._parts.windows.window(facts.key, declared, self._parts.clock())

    async def measure_request(
        self, request: Request, policy: Policy, model: SizedModel
    ) -> RequestContext | Untouched | Measured:
        """Count a request; return a decision at once where it is below every level.

        Most requests end at a bound that needs no tokeniser, and most of the others at their count: they must
        cost no round trip. One that an operator or its client asked for goes on however small it is, and so
        do all where the policy notes every conversation, those whose conversation the gateway keeps, and
        those whose client tells of its work.
        """
        is_wanted = (
            policy.note == "all"
            or bool(request.conversation)
            or request.client_state is not None
            or read_wish(request, policy) == "now"
        )
        small = None if is_wanted else self._find_small_unread(request, policy, model)
        if small is not None:
            return small
        try:
            is_large = len(request.messages) > LARGE_HISTORY
            transcript = await self._offload.run(is_large, parse_transcript, request.messages)
        except TranscriptError as error:
            return Untouched(request, policy, "none", str(error), model)
        # Before its opening is whole a conversation has another name with each call, and is not found again.
        is_named = bool(request.conversation) or len(transcript.history) >= OPENING
        is_requested = (is_wanted and is_named) or self._is_requested(request, transcript)
        least = self._find_least(request, policy, model, len(transcript.turn_starts))
        if not is_requested and self._is_small(request, model, transcript, least):
            return Untouched(request, policy, "none", "below every level", model, least)
        context = await self.build_context(request, policy, model, transcript)
        plan: Plan | None = None if is_requested else plan_without_store(context)
        if plan is None:
            return context
        return Measured(request, policy, plan.outcome, plan.reason, model, context, plan)

    async def build_context(
        self, request: Request, policy: Policy, model: SizedModel, transcript: Transcript
    ) -> RequestContext:
        """Hash and count the messages, and build all that a plan depends on, without the session."""
        history, counter = transcript.history, self._parts.counter
        is_large = is_large_history(history, request.size)
        digests = await self._offload.run(is_large, digest_history, history, transcript.plain_texts)
        uncounted = 0 if is_large else counter.uncached_characters(transcript, digests, model.name)
        is_large = is_large or uncounted > LARGE_UNCOUNTED_CHARS
        return await self._offload.run(
            is_large, self._count_messages, request, policy, model, transcript, digests
        )

    async def load_session(
        self, session: SessionRef, context: RequestContext, request: Request, *, anew: bool = False
    ) -> SessionState:
        """Ask the store for what fits this request, in one round trip, and add what this process knows.

        What was read with a kept conversation a moment ago is asked in the store's place, but ``anew``.

        A store that does not answer is no error: what this process remembers is used, no summary is started,
        and what operators asked for holds on, so that the same bytes are sent.
        """
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
        return SessionState(
            compactions=local.merge_compactions(session, digests, buffer.compactions, generation),
            in_flight=bool(buffer.in_flight),
            bypass=local.get_bypass(session, buffer.bypass, generation),
            backoff=buffer.backoff or (None if controls.rebuild else skip_reason),
            controls=controls,
            client_state=buffer.client_state,
            snapped_at=buffer.snapped_at,
        )

    async def plan_and_render(
        self, request: Request, model: SizedModel, session: SessionRef, context: RequestContext
    ) -> Planned:
        """Choose the view that is sent, and make its messages; both read the same ones, on one thread."""

        def plan_then_render() -> Planned:
            policy, plan, messages = context.policy, make_plan(context), None
            if plan.view.compaction is not None and policy.mode != "observe":
                messages = render(plan.view, context)
            planned = Planned(
                request, policy, plan.outcome, plan.reason, model, session, context, plan, messages
            )
            return describe_observed(planned) if policy.mode == "observe" else planned

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
        request = planned.request
        state = await self.load_session(planned.session, planned.context, request, anew=True)
        context = planned.context.with_session(state)
        return await self.plan_and_render(request, planned.model, planned.session, context)

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
        context = await self.build_context(request, policy, model, decision.context.transcript)
        context = context.with_session(decision.context.session)
        planned = await self.plan_and_render(request, model, decision.session, context)
        return await self.wait_for_summary(planned) if planned.wait_seconds else planned

    # What operators did, as ``NoticePoller`` hears of it.

    def set_requested(self, requested: frozenset[str]) -> None:
        """Ask the store at the next call of these sessions, however small it is."""
        self._requested = requested

    def set_key_rates(self, rates: Mapping[str, float]) -> None:
        """Let the next summaries of these keys, by their hashes, have a rate that an operator set."""
        self._key_rates = rates

    def clear_caches(self) -> None:
        """Drop everything that holds text: something was erased."""
        self._caches.clear()
        forget_terms()
        forget_identifiers()
        forget_digests()

    # Parts of the steps.

    def _is_requested(self, request: Request, transcript: Transcript) -> bool:
        """Tell whether an operator asked for the session of these messages, which are not hashed yet."""
        if not self._requested:
            return False
        chain = build_digest_chain(digest_history(transcript.history[:OPENING]))
        return find_session(request, chain).session_id in self._requested

    def _find_small_unread(self, request: Request, policy: Policy, model: SizedModel) -> Untouched | None:
        """Tell of most requests that they are below every level before their messages are even read.

        It decides as ``_is_small`` does, for whom the messages have to be there: None where only that can
        tell. A few messages more than there are turns do no harm.
        """
        size = request.size
        if size is None or self._requested or self._parts.surpluses.has_larger(request.tenant):
            return None
        least = self._find_least(request, policy, model, size.messages)
        if self._parts.counter.upper_bound_of_size(size, request.body, model.name, least) >= least:
            return None
        return Untouched(request, policy, "none", "below every level", model, least)

    def _find_least(self, request: Request, policy: Policy, model: SizedModel, turns: int) -> int:
        """Return the tokens of messages and schemas below which a request needs nothing."""
        reserve = reserved_tokens(request.body, model.window, policy)
        return lowest_threshold(policy, turns, model.window) - reserve

    def _is_small(self, request: Request, model: SizedModel, transcript: Transcript, least: int) -> bool:
        """Tell, without a tokeniser, that a request is below every level; False where that is not certain.

        It is not where the provider counts more in this conversation than we do. Hardly any tenant has such
        a conversation, so hardly any request is hashed for it.
        """
        counter, surpluses = self._parts.counter, self._parts.surpluses
        if counter.upper_bound(request.messages, request.body, model.name, least) >= least:
            return False
        if not surpluses.has_larger(request.tenant):
            return True
        chain = build_digest_chain(digest_history(transcript.history[:OPENING]))
        return not surpluses.is_larger(find_session(request, chain), model.name)

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
        measure = counter.measure(transcript, request.body, name, reserve, digests)
        chain = build_digest_chain(digests)
        surplus = self._parts.surpluses.find(find_session(request, chain), name)
        correction = NO_CORRECTION
        if surplus is not None:
            factor = counter.calibration.factor(name)
            correction = surplus.correct(
                factor, model.window, model.window - reserve, measure.total - reserve
            )
            measure = counter.correct(measure, transcript, name, correction)
        return RequestContext(
            transcript=transcript,
            chain=chain,
            digests=tuple(digests),
            measure=measure,
            window=model.window,
            policy=policy,
            calibrated_tokens=lambda message: counter.calibrated_tokens(
                message, name, names.get(id(message)), correction.media
            ),
            raw_tokens=lambda text: counter.raw_tokens(text, name),
            raw_message_tokens=lambda message: counter.raw_message_tokens(
                message, name, names.get(id(message))
            ),
            wants_json=wants_json(request.body),
            index_tokens=self._settings.index_tokens,
            caches=self._get_caches(name),
        )

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

    def _get_caches(self, name: str) -> DerivedCaches:
        if name not in self._caches and len(self._caches) >= MODELS_KEPT:
            self._caches.clear()
        return self._caches.setdefault(name, DerivedCaches())


def follow_client_state(
    known: ClientState | None, request: Request, context: RequestContext
) -> ClientState | None:
    """Return what a client tells of its work now, masked, with the turn at which that work last changed.

    Args:
        known: what it told before.
        request: tells the new state.
        context: the same request, counted.
    """
    if request.client_state is None:
        return known
    masked = request.client_state.map_texts(lambda text: context.redactor.mask_text(text, NO_MARKS))
    transcript = context.transcript
    # What the latest user message brought is of the new work.
    start = transcript.turn_starts[-1] if transcript.turn_starts else len(transcript.history)
    return (known or ClientState()).follow(masked, context.policy.restore.reset_on, start)
