"""Measuring a request: at a bound of its bytes where that is enough, else message by message.

Most requests are small, and all pass here: what is below every level must cost next to nothing.
"""

from __future__ import annotations

from functools import cache

from gateway_compaction.core.conversation.body import wants_json
from gateway_compaction.core.conversation.digest import OPENING
from gateway_compaction.core.conversation.transcript import Transcript, forget_histories, parse_transcript
from gateway_compaction.core.endpoints.read import forget_items
from gateway_compaction.core.planning.caches import DerivedCaches
from gateway_compaction.core.planning.context import RequestContext, find_least_tokens, reserved_tokens
from gateway_compaction.core.planning.plan import Plan, plan_without_store
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.text.identifiers import forget_identifiers
from gateway_compaction.core.text.terms import forget_terms
from gateway_compaction.core.tokens.session_surplus import NO_CORRECTION
from gateway_compaction.engine.offload import (
    LARGE_HISTORY,
    LARGE_UNCOUNTED_CHARS,
    Offloader,
    is_large_history,
)
from gateway_compaction.engine.parts import EngineParts
from gateway_compaction.engine.request import Measured, Request, SizedModel, Untouched, find_session
from gateway_compaction.errors import TranscriptError

MODELS_KEPT = 50
"""Model names whose derived caches are kept: a client may invent names where a wildcard serves any model."""

REQUESTED_SECONDS = 600.0
"""Seconds for which this process itself remembers that a client asked for compaction: a long call's."""


class RequestMeter:
    """Counts requests, and builds what a plan depends on. One for each process, with its caches.

    Args:
        parts: count tokens, and know what providers count besides.
        offload: runs what takes long off the loop.
        index_tokens: covered tokens up to which a search index is built while a request waits.
    """

    def __init__(self, parts: EngineParts, offload: Offloader, index_tokens: int) -> None:
        self._parts, self._offload, self._index_tokens = parts, offload, index_tokens
        self._caches: dict[str, DerivedCaches] = {}
        self._requested: frozenset[str] = frozenset()
        self._requested_here: dict[str, float] = {}

    async def measure(
        self, request: Request, policy: Policy, model: SizedModel, *, wanted: bool
    ) -> RequestContext | Untouched | Measured:
        """Count a request; return a decision at once where it is below every level.

        Most requests end at a bound that needs no tokeniser, and most of the others at their count: they must
        cost no round trip.

        Args:
            wanted: the store is asked however small the request is, as it is where an operator asked for it.
        """
        small = None if wanted else self._find_small_unread(request, policy, model)
        if small is not None:
            return small
        try:
            transcript = await self._parse(request)
        except TranscriptError as error:
            return Untouched(request, policy, "none", str(error), model)
        # Before its opening is whole a conversation has another name with each call, and is not found again.
        is_named = bool(request.conversation) or len(transcript.history) >= OPENING
        is_requested = (wanted and is_named) or self._is_requested(request, transcript)
        least = find_least_tokens(policy, model.window, request.body, len(transcript.turn_starts))
        if not is_requested and self._is_small(request, model, transcript, least):
            return Untouched(request, policy, "none", "below every level", model, least)
        context = await self.build_context(request, policy, model, transcript)
        plan: Plan | None = None if is_requested else plan_without_store(context)
        if plan is None:
            return context
        return Measured(request, policy, plan.outcome, plan.reason, model, context, plan)

    async def count_seen(self, request: Request, policy: Policy, model: SizedModel) -> int | None:
        """Count what is seen of a request that is left alone, and the answer's reserve; None for no messages.

        The provider may keep more of it.
        """
        try:
            transcript = await self._parse(request)
        except TranscriptError:
            return None
        context = await self.build_context(request, policy, model, transcript)
        return context.measure.total - context.reserved_for_quotes

    async def build_context(
        self, request: Request, policy: Policy, model: SizedModel, transcript: Transcript
    ) -> RequestContext:
        """Hash and count the messages, and build all that a plan depends on, without the session."""
        is_large = is_large_history(transcript.history, request.size)
        await self._offload.run(is_large, _name_messages, transcript)
        counter = self._parts.counter
        uncounted = 0 if is_large else counter.uncached_characters(transcript, transcript.digests, model.name)
        is_large = is_large or uncounted > LARGE_UNCOUNTED_CHARS
        return await self._offload.run(is_large, self._count_messages, request, policy, model, transcript)

    def set_requested(self, requested: frozenset[str]) -> None:
        """Have the store asked at the next call of these sessions, however small it is."""
        self._requested = requested

    def add_requested(self, session_id: str) -> None:
        """Have the store asked at the next call of this session as well.

        The store is told of it after a call, and a call may take minutes: until then it is known here alone.
        """
        now = self._parts.clock()
        recent = {name: at for name, at in self._requested_here.items() if now - at < REQUESTED_SECONDS}
        self._requested_here = {**recent, session_id: now}

    def clear_caches(self) -> None:
        """Drop everything that holds text: something was erased."""
        self._caches.clear()
        forget_terms()
        forget_identifiers()
        forget_histories()
        forget_items()

    # Parts of the steps.

    async def _parse(self, request: Request) -> Transcript:
        # With a size the messages may not have been read yet: that belongs to the work.
        number = request.size.messages if request.size is not None else len(request.messages)
        is_large = number > LARGE_HISTORY
        return await self._offload.run(is_large, parse_transcript, request.messages)

    def _is_requested(self, request: Request, transcript: Transcript) -> bool:
        """Tell whether an operator asked for the session of these messages, which are not hashed yet."""
        if not self._requested and not self._requested_here:
            return False
        session_id = find_session(request, transcript).session_id
        return session_id in self._requested or session_id in self._requested_here

    def _find_small_unread(self, request: Request, policy: Policy, model: SizedModel) -> Untouched | None:
        """Tell of most requests that they are below every level before their messages are even read.

        It decides as ``_is_small`` does, for whom the messages have to be there: None where only that can
        tell. A few messages more than there are turns do no harm.
        """
        size = request.size
        if (
            size is None
            or self._requested
            or self._requested_here
            or self._parts.surpluses.has_larger(request.tenant)
        ):
            return None
        least = find_least_tokens(policy, model.window, request.body, size.messages)
        if self._parts.counter.upper_bound_of_size(size, request.body, model.name, least) >= least:
            return None
        return Untouched(request, policy, "none", "below every level", model, least)

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
        return not surpluses.is_larger(find_session(request, transcript), model.name)

    def _count_messages(
        self, request: Request, policy: Policy, model: SizedModel, transcript: Transcript
    ) -> RequestContext:
        counter, name, digests = self._parts.counter, model.name, transcript.digests

        @cache
        def name_messages() -> dict[int, bytes]:
            # The transcript keeps its messages alive, so that an id names one of them and nothing else.
            return dict(zip(map(id, transcript.history), digests, strict=True))

        reserve = reserved_tokens(request.body, model.window, policy)
        measure = counter.measure(transcript, request.body, name, reserve, digests)
        surplus = self._parts.surpluses.find(find_session(request, transcript), name)
        correction = NO_CORRECTION
        if surplus is not None:
            factor = counter.calibration.factor(name)
            correction = surplus.correct(
                factor, model.window, model.window - reserve, measure.total - reserve
            )
            measure = counter.correct(measure, transcript, name, correction)
        return RequestContext(
            transcript=transcript,
            chain=transcript.chain,
            digests=digests,
            measure=measure,
            window=model.window,
            policy=policy,
            calibrated_tokens=lambda message: counter.calibrated_tokens(
                message, name, name_messages().get(id(message)), correction.media
            ),
            raw_tokens=lambda text: counter.raw_tokens(text, name),
            raw_message_tokens=lambda message: counter.raw_message_tokens(
                message, name, name_messages().get(id(message))
            ),
            wants_json=wants_json(request.body),
            index_tokens=self._index_tokens,
            caches=self._get_caches(name),
        )

    def _get_caches(self, name: str) -> DerivedCaches:
        if name not in self._caches and len(self._caches) >= MODELS_KEPT:
            self._caches.clear()
        return self._caches.setdefault(name, DerivedCaches())


def _name_messages(transcript: Transcript) -> None:
    """Hash the messages: the transcript keeps their names once they were asked for."""
    _ = transcript.chain
