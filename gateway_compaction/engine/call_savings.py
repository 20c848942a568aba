"""The savings of the calls of this process: each is estimated as it ends, by what its provider reports."""

from __future__ import annotations

from gateway_compaction.core.planning.context import reserved_tokens
from gateway_compaction.core.planning.savings import (
    estimate_observed_savings,
    estimate_savings,
    measure_call,
)
from gateway_compaction.core.records.savings import CacheUse, Savings
from gateway_compaction.engine.request import Decision, Planned
from gateway_compaction.telemetry import CacheBreakDetector, PromptCacheDetector


class CallSavings:
    """Estimates savings; remembers whose prompts are cached, and what was only observed before."""

    def __init__(self) -> None:
        self._caching = PromptCacheDetector()
        self._observed = CacheBreakDetector()

    def record_report(self, decision: Decision, report: CacheUse | None) -> bool:
        """Note what a provider reports of its cache, of small calls too; tell whether it caches at all."""
        request, read = decision.request, report.read if report else 0
        return self._caching.record_report(request.tenant, request.model, read)

    def estimate(self, decision: Planned, report: CacheUse | None, *, first: bool) -> Savings:
        """Estimate what a call saved that was answered, or would have saved where it was only observed.

        Args:
            decision: what was decided about it.
            report: what the provider reports of its cache, None for nothing.
            first: its compaction was sent for the first time.
        """
        policy, context, shown = decision.policy, decision.context, decision.plan.view.compaction
        if shown is None:
            return Savings()
        reserved = reserved_tokens(decision.request.body, context.window, policy)
        sizes = measure_call(context, decision.plan.view, reserved)
        if decision.messages is None:
            first = self._observed.record_sent(decision.session.session_id, shown.digest, shown.kind)
            return estimate_observed_savings(sizes, report, first=first)
        caching = self.record_report(decision, report)
        return estimate_savings(sizes, report, first=first, caching=caching)
