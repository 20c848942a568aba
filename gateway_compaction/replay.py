"""Send recorded conversations through the real pipeline, call by call, without a proxy.

``gateway-compaction replay`` and ``eval`` use it, so that they show what the gateway would do.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gateway_compaction.archive import Scope
from gateway_compaction.core.conversation.digest import fingerprint
from gateway_compaction.core.policy.book import Identity, PolicyBook
from gateway_compaction.core.records.compaction import Compaction, SessionRef
from gateway_compaction.engine.post_call import Ending
from gateway_compaction.engine.request import Planned, Request
from gateway_compaction.errors import NotFound, SummaryError
from gateway_compaction.ports import Caller, ModelFacts, Summarizer, SummaryAnswer, SummaryRequest
from gateway_compaction.runtime import Runtime, build
from gateway_compaction.settings import Settings

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
    session: SessionRef | None = None


@dataclass(frozen=True, slots=True)
class FixedModels:
    """A ``ports.Models`` that gives every model the same window."""

    window: int | None
    name: str

    def facts(self, model: str) -> ModelFacts:
        """See ``ports.Models``."""
        return ModelFacts(self.window, self.name)


class ScriptedSummarizer:
    """A stand-in for a model: it answers with the first words of what it is asked to summarise."""

    def __init__(self) -> None:
        self.calls = 0

    async def complete(self, request: SummaryRequest) -> SummaryAnswer:
        """See ``ports.Summarizer``."""
        self.calls += 1
        shown = request.user.split("<transcript>", 1)[-1].split("</transcript>")[0]
        words = " ".join(shown.split()[: max(20, request.max_tokens // 4)])
        return SummaryAnswer(f"<summary>Summary {self.calls}. {words}</summary>", "stop", "scripted")


class NoSummarizer:
    """A summariser for policies that ask no model; asking it is an error."""

    async def complete(self, request: SummaryRequest) -> SummaryAnswer:
        """See ``ports.Summarizer``."""
        raise SummaryError("no model is to be asked in this replay")


def identity_for_replay(
    book: PolicyBook, identity: Identity, *, extract: bool, asks: str
) -> tuple[Identity, tuple[str, ...]]:
    """Return the policies to replay with, so that the figures say what they would do, and the differences in
    words.

    What is only observed is replayed as if it were enforced. With ``extract`` an extract stands in for the
    policy's summariser; ``asks`` tells how to have a model asked.
    """
    policy = book.resolve(identity)
    block: dict[str, Any] = {}
    notes: list[str] = []
    if policy.mode == "observe":
        block["mode"] = "enforce"
        notes.append("mode observe: shown as it would be under enforce")
    summary = policy.summary
    if extract and (summary.model != "extractive" or summary.fallbacks):
        block["summary"] = {"model": "extractive", "fallbacks": []}
        if summary.strategy != "window":
            named = summary.model or "null, the request's own model"
            notes.append(f"summary.model {named}: an extract stands in for its summaries; {asks}")
    # A key's metadata is stronger than everything in the file.
    return (replace(identity, key_block=block) if block else identity), tuple(notes)


async def collect_summaries(runtime: Runtime, calls: Sequence[Call]) -> tuple[Compaction, ...]:
    """Return the compactions that were made on the way and are kept, oldest first."""
    found: list[Compaction] = []
    for session in dict.fromkeys(c.session for c in calls if c.session is not None):
        try:
            detail = await runtime.archive.detail(Scope(everything=True), session)
        except NotFound:
            continue
        found += reversed(detail.compactions)
    return tuple(found)


def build_replay_runtime(models: FixedModels, summarizer: Summarizer, book: PolicyBook) -> Runtime:
    """Build a runtime with a store inside the process, whatever the environment names."""
    settings = Settings(enabled=True, redis_url=None, redis_timeout_seconds=5.0, recall_cold_tokens=10**9)
    return build(settings, models, summarizer, lambda: book)


async def replay_conversation(
    runtime: Runtime,
    calls: Iterable[Sequence[Any]],
    body: Mapping[str, Any],
    identity: Identity,
    name: str,
    **told: Any,
) -> AsyncIterator[Call]:
    """Send the calls of one conversation in order; background work is finished after each.

    ``told`` are more fields of each request: its ``endpoint``, and why it may be left alone.
    """
    tenant = fingerprint("replay", name)
    model = identity.model or "replay"
    for number, messages in enumerate(calls, 1):
        request = Request(list(messages), body, model, tenant, identity, Caller(model), **told)
        decision = await runtime.compactor.compact(request)
        runtime.post_call.follow(decision, Ending("answered"))
        await runtime.worker.drain(DRAIN_SECONDS)
        upstream = list(decision.sent)
        before = decision.tokens_before
        if before is None:
            before = runtime.counter.raw_prompt_tokens(
                [m for m in messages if isinstance(m, Mapping)], body, model
            )
        after = before
        if isinstance(decision, Planned) and decision.messages is not None:
            after = decision.tokens_after
        used = decision.used
        yield Call(
            number,
            len(messages),
            len(upstream),
            before,
            after,
            decision.level,
            decision.outcome,
            decision.reason,
            used.covers if used else 0,
            used.version if used else None,
            upstream,
            decision.session,
        )
