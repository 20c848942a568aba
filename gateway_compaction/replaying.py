"""Recorded conversations through the real pipeline, call by call, without a proxy."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gateway_compaction.aftermath import Ending
from gateway_compaction.core.digest import fingerprint
from gateway_compaction.core.policy_book import Identity, PolicyBook
from gateway_compaction.decision import Request
from gateway_compaction.errors import SummaryError
from gateway_compaction.ports import Caller, ModelFacts, Summarizer, SummaryAnswer, SummaryRequest
from gateway_compaction.settings import Runtime, Settings, build

__all__ = ["Call", "FixedModels", "NoSummarizer", "ScriptedSummarizer", "replay", "replay_runtime"]

DRAIN_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a replay. Tokens are what the client sent and what went upstream, reserve included."""

    number: int
    messages_client: int
    messages_upstream: int
    tokens_client: int
    tokens_upstream: int
    level: str | None
    outcome: str
    reason: str
    covers: int
    version: int | None
    upstream: list[Any]


@dataclass(frozen=True, slots=True)
class FixedModels:
    """One window for every model."""

    window: int | None
    name: str

    def facts(self, model: str) -> ModelFacts:
        """See ``ports.Models``."""
        return ModelFacts(self.window, self.name)


class ScriptedSummarizer:
    """Stands in for a model: answers with the first words of what it is asked to summarise."""

    def __init__(self) -> None:
        self.calls = 0

    async def complete(self, request: SummaryRequest) -> SummaryAnswer:
        """See ``ports.Summarizer``."""
        self.calls += 1
        shown = request.user.split("<transcript>", 1)[-1].split("</transcript>")[0]
        words = " ".join(shown.split()[: max(20, request.max_tokens // 4)])
        return SummaryAnswer(f"<summary>Summary {self.calls}. {words}</summary>", "stop", "scripted")


class NoSummarizer:
    """For policies that ask no model; asking is an error."""

    async def complete(self, request: SummaryRequest) -> SummaryAnswer:
        """See ``ports.Summarizer``."""
        raise SummaryError("no model is to be asked in this replay")


def replay_runtime(models: FixedModels, summarizer: Summarizer, book: PolicyBook) -> Runtime:
    """A runtime with a store inside the process, whatever the environment names."""
    settings = Settings(redis_url=None, redis_timeout_seconds=5.0, recall_cold_tokens=10**9)
    return build(settings, models, summarizer, lambda: book)


async def replay(
    runtime: Runtime, calls: Iterable[tuple[Any, ...]], body: Mapping[str, Any], identity: Identity, name: str
) -> AsyncIterator[Call]:
    """Send the calls of one conversation in order; background work is finished after each."""
    tenant = fingerprint("replay", name)
    model = identity.model or "replay"
    for number, messages in enumerate(calls, 1):
        request = Request(list(messages), body, model, tenant, identity, Caller(model))
        decision = await runtime.compactor.compact(request)
        runtime.aftermath.follow(decision, Ending("answered"))
        await runtime.worker.drain(DRAIN_SECONDS)
        plan = decision.plan
        upstream = list(decision.messages if decision.messages is not None else messages)
        before = (
            plan.tokens_before
            if plan
            else runtime.counter.raw_total([m for m in messages if isinstance(m, Mapping)], body, model)
        )
        used = plan.view.compaction if plan and decision.messages is not None else None
        yield Call(
            number,
            len(messages),
            len(upstream),
            before,
            plan.view.tokens if plan and decision.messages is not None else before,
            plan.level if plan else None,
            decision.outcome,
            decision.reason,
            used.covers if used else 0,
            used.version if used else None,
            upstream,
        )
