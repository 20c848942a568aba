"""Contexts for plans: a conversation measured, a policy, stored compactions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gateway_compaction.core.conversation.messages import Message
from gateway_compaction.core.conversation.transcript import parse_transcript
from gateway_compaction.core.planning.caches import DerivedCaches
from gateway_compaction.core.planning.context import RequestContext, SessionState
from gateway_compaction.core.planning.plan import Plan, make_plan
from gateway_compaction.core.planning.views import render
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.recall.index import PassageIndex, Query
from gateway_compaction.core.recall.recall import (
    AlreadySent,
    Count,
    Quote,
    choose_quote,
    find_candidates,
    quote_reserve,
)
from gateway_compaction.core.records.compaction import Clip, Compaction, Segment
from gateway_compaction.core.text.lexicon import Phrases
from gateway_compaction.core.tokens.counter import TokenCounter

__all__ = ["Bench", "policy", "sent_by", "stored"]


def policy(**paths: Any) -> Policy:
    """The default policy but for some values, named by path with ``__`` for the dots."""
    tree: dict[str, Any] = {}
    for path, value in paths.items():
        *sections, key = path.split("__")
        node = tree
        for section in sections:
            node = node.setdefault(section, {})
        node[key] = value
    return Policy.model_validate(tree)


@dataclass
class Bench:
    """A model, its window and a policy; one counter and its memos, as in one process."""

    window: int
    policy: Policy = field(default_factory=Policy)
    model: str = "gpt-4o"
    reserve: int = 0
    wants_json: bool = False
    body: Mapping[str, Any] = field(default_factory=dict)
    counter: TokenCounter = field(default_factory=TokenCounter)
    caches: DerivedCaches = field(default_factory=DerivedCaches)

    def raw_tokens(self, text: str) -> int:
        """Tokens of a text, before calibration."""
        return self.counter.raw_tokens(text, self.model)

    def calibrated_tokens(self, message: Message) -> int:
        """Tokens of a message, calibrated."""
        return self.counter.calibrated_tokens(message, self.model)

    @property
    def quotes(self) -> int:
        """Tokens kept free for quotes, besides the reserve for the answer."""
        levels = self.policy.levels
        slack = int((levels.aggressive.at - levels.medium.at) * self.window)
        recall = self.policy.recall
        return quote_reserve(recall.max_tokens, recall.priority, self.window, slack)

    def context(
        self, messages: Sequence[Any], compactions: Sequence[Compaction] = (), **rest: Any
    ) -> RequestContext:
        """The context of a request with these messages."""
        transcript = parse_transcript(messages)
        digests = transcript.digests
        reserve = self.reserve + self.quotes
        measure = self.counter.measure(transcript, self.body, self.model, reserve, digests)
        return RequestContext(
            transcript=transcript,
            chain=transcript.chain,
            digests=digests,
            measure=measure,
            window=self.window,
            policy=self.policy,
            calibrated_tokens=self.calibrated_tokens,
            raw_tokens=self.raw_tokens,
            raw_message_tokens=lambda message: self.counter.raw_message_tokens(message, self.model),
            wants_json=self.wants_json,
            caches=self.caches,
            session=SessionState(tuple(compactions), **rest),
        )

    def plan(self, messages: Sequence[Any], compactions: Sequence[Compaction] = (), **rest: Any) -> Plan:
        """The plan for a request with these messages."""
        return make_plan(self.context(messages, compactions, **rest))


def sent_by(plan: Plan, context: RequestContext) -> list[Message]:
    """What is sent: the rendered view, or the messages as they came."""
    if plan.view.compaction is None:
        return [*context.transcript.preamble, *context.transcript.history]
    return render(plan.view, context)


def stored(
    context: RequestContext,
    covers: int,
    kind: Any = "model",
    text: str = "They agreed on a plan.",
    *,
    limit: int | None = None,
    clip: Clip | None = None,
    since: int = 0,
) -> Compaction:
    """A compaction that fits the context."""
    segments = (Segment(0, covers, text),) if kind != "cleared" else ()
    return Compaction(context.chain[covers], covers, kind, segments, limit, clip, since=since)


def find_quote(
    index: PassageIndex, query: Query, sent: AlreadySent, room: int, phrases: Phrases, count: Count
) -> Quote:
    """What a message is shown in so much room, whatever it needs."""
    return choose_quote(index, find_candidates(index, query), sent, room, phrases, count)
