"""A request as the host hands it over, and what was decided about it.

A decision is ``Untouched``, ``Measured`` or ``Planned``, by how closely the request was looked at: most go
out as they came after a glance, some after their tokens were counted, and only those near their window after
the store was asked. Each holds what is there by then, so that whoever follows a plan never asks whether there
is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

from gateway_compaction.core.conversation.body import PlainSize
from gateway_compaction.core.conversation.messages import Message
from gateway_compaction.core.conversation.transcript import Transcript
from gateway_compaction.core.endpoints.wire import EndpointName
from gateway_compaction.core.planning.context import LevelName, RequestContext, build_detector
from gateway_compaction.core.planning.plan import Plan
from gateway_compaction.core.planning.single_message import lay_out
from gateway_compaction.core.planning.views import render
from gateway_compaction.core.policy.book import Identity
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.records.client_state import ClientState
from gateway_compaction.core.records.compaction import Compaction, SessionRef
from gateway_compaction.core.records.event import Outcome
from gateway_compaction.core.records.exchange import to_conversation_id
from gateway_compaction.core.redaction.marks import mask_text
from gateway_compaction.core.tokens.counter import output_reserve
from gateway_compaction.engine.rewrite_detector import Lineage
from gateway_compaction.ports import Caller, LoadedSession
from gateway_compaction.telemetry import Stage

LABEL_CHARS = 200
"""Characters kept of an id that a client sent: labels are for people who look a session up."""


WOULD: dict[str, str] = {
    "none": "would be sent as it came",
    "prepared": "would be sent as it came",
    "applied": "would be sent with a stored compaction",
    "fallback": "would be compacted at once",
    "passthrough": "would be sent as it came",
    "bypassed": "would be left alone",
}
"""What ``enforce`` would have done to a request that is only observed, in words, by the plan's outcome."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request for an answer, as the host hands it over.

    Attributes:
        messages: as the client sent them, as chat messages, not yet checked.
        body: the rest of the request; read for schemas, response format and limits only.
        model: the model group that the client named.
        tenant: the hashed name of who is calling; nothing crosses it.
        identity: what policies match on.
        caller: on whose account summaries are made.
        headers: the client's, with names in lower case.
        body_labels: ids of the conversation that the client sent in the body.
        about: whose the call is, by the names of ``archive.Owner``.
        endpoint: the endpoint that the client called.
        left_alone: why nothing of this request may be changed, or None.
        managed: why nothing is changed unless the policy says otherwise: the provider shortens it. Or None.
        size: what is known of the messages before they are read, or None. With a size nothing is left alone.
        may_wait: False where no policy may let the request wait for a summary, because somebody may still
            block it: the summariser would read, and the store keep, what is blocked a moment later.
        conversation: the session's name, where the gateway keeps the conversation; empty elsewhere.
        loaded: its session, where that was read with the conversation a moment ago; None elsewhere.
        client_state: what the client tells of its work; None where it tells nothing that can be used.
    """

    messages: Sequence[Any]
    body: Mapping[str, Any]
    model: str
    tenant: str
    identity: Identity
    caller: Caller
    headers: Mapping[str, str] = field(default_factory=dict)
    body_labels: tuple[str, ...] = ()
    about: Mapping[str, str] = field(default_factory=dict)
    endpoint: EndpointName = "chat"
    left_alone: str | None = None
    managed: str | None = None
    size: PlainSize | None = None
    may_wait: bool = True
    conversation: str = ""
    loaded: LoadedSession | None = field(default=None, repr=False, compare=False)
    client_state: ClientState | None = None


@dataclass(frozen=True, slots=True)
class SizedModel:
    """The model that a request must fit: the name that tokens are counted by, and its window in tokens."""

    name: str
    window: int


@dataclass(frozen=True, slots=True)
class DecisionBase:
    """The part that every decision has: what becomes of which request, by which policy, and why."""

    request: Request
    policy: Policy
    outcome: Outcome
    reason: str

    @property
    def wish(self) -> str:
        """What the client asks for in the header that its policy allows: ``off``, ``now`` or nothing."""
        return read_wish(self.request, self.policy)

    @property
    def is_laid_out(self) -> bool:
        """Whether the policy has the whole of it sent as one message of the user."""
        request, policy = self.request, self.policy
        if policy.layout != "single_message" or policy.mode != "enforce" or self.outcome == "bypassed":
            return False
        is_left = request.left_alone or (request.managed and policy.provider_compaction == "leave")
        return not is_left and request.endpoint in policy.endpoints

    def arrange(self, messages: Sequence[Any], summary: Message | None = None) -> Sequence[Any]:
        """Return messages in the policy's layout; ``summary`` is the one that stands for earlier ones."""
        if not self.is_laid_out:
            return messages
        return lay_out(messages, summary, self.policy.single_message)

    @property
    def labels(self) -> tuple[str, ...]:
        """Ids that the client sent, in the headers that the policy names and in the body; a key is masked.

        The id of a kept conversation is ours, and tells that it is one: no pattern of a policy hides it.
        """
        detector, own = build_detector(self.policy), to_conversation_id(self.request.conversation)
        headers = (self.request.headers.get(name.lower(), "") for name in self.policy.labels.headers)
        labels = (
            label if label == own else mask_text(label, detector)[:LABEL_CHARS]
            for label in (*headers, *self.request.body_labels)
            if label
        )
        return tuple(dict.fromkeys(labels))


@dataclass(frozen=True, slots=True)
class Untouched(DecisionBase):
    """A request that goes out as it came after a glance: hardly one is counted, and no store was asked.

    Attributes:
        model: None where the policy or the client said no before a window was looked up, or none is known.
        threshold: where a bound of its bytes told that it is small, the tokens below which it needs nothing:
            what the provider reports may be more.
        tokens_before: tokens of what is seen of a request that is left alone, and what is kept free for the
            answer; None for the others, and where no window is known.
    """

    model: SizedModel | None = None
    threshold: int | None = None
    tokens_before: int | None = None

    stage: ClassVar[Stage] = "quiet"
    level: ClassVar[None] = None
    session: ClassVar[None] = None
    messages: ClassVar[None] = None
    used: ClassVar[None] = None
    version: ClassVar[None] = None
    tokens_after: ClassVar[None] = None

    @property
    def sent(self) -> Sequence[Any]:
        """The messages that go to the model."""
        return self.arrange(self.request.messages)


@dataclass(frozen=True, slots=True)
class Measured(DecisionBase):
    """A request that goes out as it came because its count is below every level: no store was asked."""

    model: SizedModel
    context: RequestContext
    plan: Plan

    stage: ClassVar[Stage] = "counted"
    session: ClassVar[None] = None
    messages: ClassVar[None] = None
    used: ClassVar[None] = None
    version: ClassVar[None] = None
    tokens_after: ClassVar[None] = None

    @property
    def level(self) -> LevelName | None:
        """The level of its usage."""
        return self.plan.level

    @property
    def tokens_before(self) -> int:
        """Tokens of the request as it came, and what is kept free for the answer."""
        return self.plan.tokens_before - self.context.reserved_for_quotes

    @property
    def sent(self) -> Sequence[Any]:
        """The messages that go to the model."""
        return self.arrange(self.request.messages)


@dataclass(frozen=True)
class Planned(DecisionBase):
    """A request whose session was loaded, and whose plan says what is sent and what is done afterwards."""

    model: SizedModel
    context: RequestContext
    plan: Plan

    stage: ClassVar[Stage] = "planned"

    @classmethod
    def from_plan(cls, request: Request, model: SizedModel, context: RequestContext, plan: Plan) -> Self:
        """Return the decision that a plan makes; in shadow mode its reason says what would be sent."""
        outcome, reason = plan.outcome, plan.reason
        if context.policy.mode == "observe":
            outcome, reason = "observed", f"{WOULD[outcome]}: {reason}"
        return cls(request, context.policy, outcome, reason, model, context, plan)

    @cached_property
    def messages(self) -> list[Message] | None:
        """The messages that are sent in place of the client's; None where these are sent as they came."""
        view = self.plan.view
        if view.compaction is None or self.policy.mode == "observe":
            return None
        return render(view, self.context)

    @cached_property
    def session(self) -> SessionRef:
        """The session of the conversation."""
        return find_session(self.request, self.context.transcript)

    @property
    def level(self) -> LevelName | None:
        """The level of the usage of what is sent."""
        return self.plan.level

    @property
    def tokens_before(self) -> int:
        """Tokens of the request as it came, and what is kept free for the answer."""
        return self.plan.tokens_before - self.context.reserved_for_quotes

    @property
    def tokens_after(self) -> int:
        """Tokens of all that is sent, or in ``observe`` would be, and what is kept free for the answer."""
        view = self.plan.view
        return view.tokens - self.context.reserved_for_quotes + view.reserve_used

    @property
    def sent(self) -> Sequence[Any]:
        """The messages that go to the model."""
        if self.messages is None:
            return self.arrange(self.request.messages)
        return self.arrange(self.messages, self.plan.view.summary_message)

    @property
    def generation(self) -> str:
        """The session's generation when this was decided."""
        return self.context.session.controls.generation

    @property
    def used(self) -> Compaction | None:
        """The compaction that is sent, if any."""
        return None if self.messages is None else self.plan.view.compaction

    @property
    def version(self) -> int | None:
        """Version of the compaction that is sent; None where it is not stored."""
        return (self.used.version or None) if self.used else None

    @property
    def wait_seconds(self) -> float:
        """Seconds that the request may wait for the plan's summary before it is sent; mostly none."""
        if self.plan.job is None or self.policy.mode != "enforce" or not self.request.may_wait:
            return 0.0
        return self.plan.wait_seconds


Decision = Untouched | Measured | Planned


def read_wish(request: Request, policy: Policy) -> str:
    """Return what the client asks for in the header that its policy allows.

    Returns:
        ``off`` to be left alone this once, ``now`` to be compacted from this call on; mostly empty.
    """
    wish = request.headers.get(policy.bypass.header.lower(), "").lower() if policy.bypass.allow else ""
    return wish if wish in ("off", "now") else ""


def find_session(request: Request, transcript: Transcript) -> SessionRef:
    """Return the session of a request: of one tenant, and named by how its conversation opens.

    A conversation that the gateway keeps has a name of its own, whatever it opens with.

    Args:
        request: two tenants never share a session.
        transcript: its messages, divided.
    """
    return SessionRef(request.tenant, request.conversation or transcript.opening)


def lineage_of(context: RequestContext, covers: int | None = None) -> Lineage:
    """Return what the model answered in a history, or in its first ``covers`` messages."""
    return Lineage.from_messages(context.transcript.roles[:covers], context.digests, context.chain)


def list_sizes(decision: Decision) -> tuple[int, ...]:
    """List the tokens of what a decision sends as far as they are counted: with and without the reserve.

    A provider that refuses it tells one of the two. None of a history that the provider keeps: only its end
    is seen.
    """
    if not isinstance(decision, Measured | Planned) or decision.request.left_alone is not None:
        return ()
    was_changed = isinstance(decision, Planned) and decision.messages is not None
    total = decision.tokens_after if was_changed else decision.tokens_before
    rule, body = decision.policy.output_reserve, decision.request.body
    return () if total is None else (total, total - output_reserve(body, decision.model.window, rule))
