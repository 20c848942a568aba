"""GATEWAY_COMPACTION_ENABLED: one switch that is stronger than every policy."""

from __future__ import annotations

import pytest

from gateway_compaction.core.policy.book import Identity
from gateway_compaction.engine.request import Decision, Request, Untouched
from gateway_compaction.ports import Caller, ModelFacts
from gateway_compaction.replay import FixedModels, ScriptedSummarizer
from gateway_compaction.runtime import build
from gateway_compaction.settings import Settings
from tests.engine.histories import chat
from tests.policy_books import book


async def decided(settings: Settings) -> tuple[Decision, Decision]:
    """About a request over its window, of a key whose metadata enforces; then of a smaller deployment."""
    runtime = build(settings, FixedModels(2_000, "gpt-4o"), ScriptedSummarizer(), lambda: book({}))
    identity = Identity(model="gpt-4o", key_block={"mode": "enforce"})
    request = Request(chat(121), {}, "gpt-4o", "tenant", identity, Caller("gpt-4o"))
    decision = await runtime.compactor.compact(request)
    again = await runtime.compactor.refit(decision, ModelFacts(1_500, "gpt-4o"))
    await runtime.aclose()
    return decision, again


async def test_it_beats_metadata_that_enforces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_COMPACTION_ENABLED", "false")
    for decision in await decided(Settings(redis_url=None)):
        assert (decision.outcome, decision.reason) == ("none", "the policy is off")
        assert isinstance(decision, Untouched)
        assert decision.policy is not None and decision.policy.name == "GATEWAY_COMPACTION_ENABLED"


async def test_it_is_on_where_nobody_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GATEWAY_COMPACTION_ENABLED", raising=False)
    for decision in await decided(Settings(redis_url=None, redis_timeout_seconds=5.0)):
        assert decision.outcome == "fallback" and decision.messages is not None
