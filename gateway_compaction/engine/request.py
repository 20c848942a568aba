"""A request as the host hands it over, what was decided about it, and the summary that follows from that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from gateway_compaction.core.conversation.messages import Message, declared_role
from gateway_compaction.core.planning.context import RequestContext
from gateway_compaction.core.planning.plan import Plan
from gateway_compaction.core.planning.shared_prefix import find_shared_prefix
from gateway_compaction.core.planning.views import ViewBuilder
from gateway_compaction.core.policy.book import Identity
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.records.compaction import Compaction, SessionRef
from gateway_compaction.core.records.event import Outcome
from gateway_compaction.engine.rewrite_detector import Lineage
from gateway_compaction.engine.worker import SummaryTask
from gateway_compaction.ports import Caller, ModelFacts

__all__ = ["Decision", "Request", "lineage_of", "task_of"]


@dataclass(frozen=True, slots=True)
class Request:
    """One chat completion, as the host hands it over.

    ``body`` is read for schemas and limits only. ``may_wait`` False: no policy may let it wait for a summary.
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
    may_wait: bool = True


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided about a request. ``messages`` is None where nothing is to be touched.

    ``context`` and ``plan`` are None where the request was never looked at closely.
    """

    outcome: Outcome
    reason: str
    request: Request
    policy: Policy | None = None
    facts: ModelFacts | None = None
    session: SessionRef | None = None
    context: RequestContext | None = None
    plan: Plan | None = None
    messages: list[Message] | None = None
    tokens_after: int | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """Ids that the client sent, in the headers that the policy names and in the body."""
        names = self.policy.labels.headers if self.policy else ()
        sent = (self.request.headers.get(name.lower(), "") for name in names)
        return tuple(dict.fromkeys(label[:200] for label in (*sent, *self.request.body_labels) if label))

    @property
    def sent(self) -> Sequence[Any]:
        """The messages that go to the model."""
        return self.request.messages if self.messages is None else self.messages

    @property
    def generation(self) -> str:
        """The session's generation when this was decided."""
        return self.context.controls.generation if self.context else ""

    @property
    def used(self) -> Compaction | None:
        """The compaction that is sent."""
        return self.plan.view.compaction if self.plan and self.messages is not None else None

    @property
    def version(self) -> int | None:
        """Version of the stored compaction that is sent."""
        return (self.used.version or None) if self.used else None


def lineage_of(context: RequestContext, covers: int | None = None) -> Lineage:
    """What the model answered in a history, or in its first ``covers`` messages."""
    roles = [declared_role(m) for m in context.transcript.history[:covers]]
    return Lineage.from_messages(roles, context.digests, context.chain)


def task_of(decision: Decision) -> SummaryTask | None:
    """The background work that a decision asks for, or None.

    In ``observe`` a summary is only made where the policy names who makes it.
    """
    plan, context, session = decision.plan, decision.context, decision.session
    if plan is None or plan.job is None or context is None or session is None or decision.facts is None:
        return None
    if context.policy.mode == "observe" and context.policy.summary.model is None:
        return None
    views = ViewBuilder(context)
    job = plan.job
    start = job.base.covers if job.base else 0
    return SummaryTask(
        session=session,
        generation=decision.generation,
        job=job,
        messages=context.transcript.history[start : job.covers],
        source_tokens=context.measure.between(start, job.covers),
        covered_tokens=context.measure.between(0, job.covers),
        chain=tuple(context.chain[c] for c in context.transcript.cuts if c != job.covers),
        covered=lineage_of(context, job.covers),
        policy=context.policy,
        caller=decision.request.caller,
        count=context.raw_tokens,
        since=context.transcript.last_user or 0,
        length=sum(declared_role(m) == "assistant" for m in context.transcript.history),
        index=partial(views.get_index, job.covers) if context.policy.recall.max_tokens else None,
        room=partial(views.text_room, job.covers, job.block),
        shown=partial(views.text_beside_summary, job.covers, job.block),
        prefix=find_shared_prefix(context, job, decision.used, decision.sent, decision.request.body),
    )
