"""One summary to be made in the background, because the plan of a request asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

from gateway_compaction.core.conversation.messages import Message, declared_role
from gateway_compaction.core.planning.shared_prefix import SharedPrefix, find_shared_prefix
from gateway_compaction.core.planning.summary_job import SummaryJob
from gateway_compaction.core.planning.views import ViewBuilder
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.records.compaction import Compaction, Segment, SessionRef
from gateway_compaction.engine.request import Planned, lineage_of
from gateway_compaction.engine.rewrite_detector import Lineage
from gateway_compaction.ports import Caller


@dataclass(frozen=True)
class SummaryTask:
    """A summary to be made, and the decision that asks for it; everything else follows from these two.

    Attributes:
        decision: whose plan asks for the summary.
        job: the messages that the summary is to stand for, and what it builds upon.
        caller: on whose account it is made.
        messages: those to be summarised: behind what the job's base covers, as far as the summary will.
        prefix: the same messages as the chat's own model has just read them, where the policy asks that model
            to summarise them out of its prompt cache. Taken now, since the host may change them once the call
            is over.
    """

    decision: Planned
    job: SummaryJob
    caller: Caller
    messages: tuple[Message, ...]
    prefix: SharedPrefix | None = None

    @classmethod
    def from_decision(cls, decision: Planned) -> Self | None:
        """Return the background work that a decision asks for, or None.

        In ``observe`` a summary is only made where the policy names who makes it: the caller did not ask for
        anything that its own model would be paid for.
        """
        job, context, request = decision.plan.job, decision.context, decision.request
        if job is None or (decision.policy.mode == "observe" and decision.policy.summary.model is None):
            return None
        start = job.base.covers if job.base else 0
        messages = context.transcript.history[start : job.covers]
        prefix = None
        # What was sent to another endpoint was written in its own form, which is no prefix of a chat.
        # Nor is what was put together as one message, in which most of the messages are not.
        if request.endpoint == "chat" and not decision.is_laid_out:
            prefix = find_shared_prefix(context, job, decision.used, decision.sent, request.body)
        return cls(decision, job, request.caller, messages, prefix)

    @property
    def session(self) -> SessionRef:
        """The session that the summary is of."""
        return self.decision.session

    @cached_property
    def policy(self) -> Policy:
        """The policy that it is made by, with the rate that an operator set for the session."""
        policy, rate = self.decision.policy, self.decision.context.rate
        if policy.summary.rate == rate:
            return policy
        return policy.model_copy(update={"summary": policy.summary.model_copy(update={"rate": rate})})

    @property
    def reset_at(self) -> int:
        """Number of messages at which the client's plan or task changed: a running summary begins there."""
        told = self.decision.context.session.client_state
        return 0 if told is None else told.since

    @property
    def generation(self) -> str:
        """The session's generation when the request was decided: what was reset since takes no summary."""
        return self.decision.generation

    @property
    def source_tokens(self) -> int:
        """Tokens of ``messages``."""
        start = self.job.base.covers if self.job.base else 0
        return self.decision.context.measure.between(start, self.job.covers)

    @property
    def covered_tokens(self) -> int:
        """Tokens of everything that the summary will stand for."""
        return self.decision.context.measure.between(0, self.job.covers)

    @property
    def other_digests(self) -> tuple[str, ...]:
        """Digests of the request's other prefixes: where one of them is being summarised, this one is not.

        Nor is it where a summary of one was stored since: another call, which planned another cut, may have
        had it made while this task waited. Without that, two calls of one conversation would pay for two
        summaries of nearly the same messages. What the request knew is left out: the job builds upon that.
        """
        context, covers = self.decision.context, self.job.covers
        known = {found.digest for found in context.session.compactions if found.kind == "model"}
        return tuple(
            context.chain[cut]
            for cut in context.transcript.cuts
            if cut != covers and context.chain[cut] not in known
        )

    @property
    def covered_lineage(self) -> Lineage:
        """The model's answers in what is covered, by which a client that rewrites its history is noticed."""
        return lineage_of(self.decision.context, self.job.covers)

    @property
    def answer_count(self) -> int:
        """The number of the model's answers in the whole history."""
        return sum(
            declared_role(message) == "assistant" for message in self.decision.context.transcript.history
        )

    @property
    def since(self) -> int:
        """Index of the request's last user message: no quote is put before an earlier one, which was sent."""
        return self.decision.context.transcript.last_user or 0

    @property
    def needs_index(self) -> bool:
        """True where requests that use the summary will search what it covers."""
        return bool(self.policy.recall.max_tokens)

    @cached_property
    def _views(self) -> ViewBuilder:
        return ViewBuilder(self.decision.context)

    def count(self, text: str) -> int:
        """Count the tokens of a text, uncalibrated."""
        return self.decision.context.raw_tokens(text)

    # What follows takes some time: call it off the loop.

    def mask_secrets(self) -> SummaryTask:
        """Return the same task without secrets: no summariser reads one.

        Where the chat's own model would be asked behind the messages that it has read, and one of them holds
        a secret, it is asked in the plain way: those messages cannot be changed without losing what its
        provider has cached.
        """
        redactor, job = self.decision.context.redactor, self.job
        marks, base, prefix = redactor.marks(job.covers), job.base, self.prefix
        if base is not None:
            # Written before secrets were masked, or under another policy.
            segments = tuple(replace(s, text=redactor.mask_text(s.text, marks)) for s in base.segments)
            base = replace(base, segments=segments)
        if prefix is not None:
            read = (*prefix.messages, prefix.tools)
            masked = redactor.mask_whole(read, marks)
            prefix = prefix if all(new is old for new, old in zip(masked, read, strict=True)) else None
        messages = redactor.mask_whole(self.messages, marks)
        return replace(self, job=replace(job, base=base), messages=messages, prefix=prefix)

    def mask_text(self, text: str) -> str:
        """Return what a model wrote without secrets: it may know one that it did not read here."""
        redactor = self.decision.context.redactor
        return redactor.mask_text(text, redactor.marks(self.job.covers))

    def build_index(self) -> None:
        """Build the search index that requests with this summary will need."""
        self._views.quotes.get_index(self.job.covers)

    def text_room(self) -> int:
        """Return the tokens that the summary's own text may have."""
        return self._views.text_room(self.job.covers, self.job.block)

    def text_beside_summary(self) -> str:
        """Return what the summary message says besides the summary's text: an extract need not repeat it."""
        return self.mask_text(self._views.text_beside_summary(self.job.covers, self.job.block))

    def tokens_in_place(self, compaction: Compaction) -> int:
        """Return the tokens of all that will stand for what is covered, with note and pins."""
        return self._views.measure_in_place(compaction)

    def count_segments(self, segments: Sequence[Segment]) -> list[int]:
        """Return the tokens of each segment of a summary."""
        return [self.count(segment.text) for segment in segments]
