"""The estimate of what a call saves: the prompt that was sent against the one that was not.

Without the prompt cache in it the savings in money would be several times what is really spared: a provider
reads most of a growing history from its cache, for a fraction of the price, and little of a new compaction.
"""

from __future__ import annotations

from dataclasses import dataclass

from gateway_compaction.core.conversation.messages import declared_role
from gateway_compaction.core.planning.context import RequestContext
from gateway_compaction.core.planning.views import View
from gateway_compaction.core.records.savings import CacheUse, Savings

LEAST_CACHED = 1_024
"""Tokens below which most providers cache no prompt, so that a report of nothing read says nothing."""


@dataclass(frozen=True, slots=True)
class CallSizes:
    """The tokens of one call's prompt, without what is kept free for the answer.

    Attributes:
        as_came: with the history as it came.
        compacted: with everything that stands in the place of what is covered.
        previous: as it came at the session's call before; 0 where this is the first one.
        fixed: of what no compaction changes: schemas, response format, preamble.
    """

    as_came: int
    compacted: int
    previous: int
    fixed: int

    @property
    def saved(self) -> int:
        """The tokens that are not sent."""
        return self.as_came - self.compacted


def measure_call(context: RequestContext, view: View, reserved: int) -> CallSizes:
    """Measure the prompts of a call, with ``reserved`` tokens kept free in both for answer and quotes."""
    measure, history = context.measure, context.transcript.history
    fixed = measure.overhead - reserved
    # Each assistant message was the answer to a call, which ended before it.
    answers = [i for i, message in enumerate(history) if declared_role(message) == "assistant"]
    previous = fixed + measure.history[answers[-1]] if answers else 0
    compacted = view.tokens + view.reserve_used - reserved
    return CallSizes(measure.total - reserved, compacted, previous, fixed)


def estimate_savings(sizes: CallSizes, report: CacheUse | None, *, first: bool, caching: bool) -> Savings:
    """Estimate what a call saved that was sent compacted.

    The history as it came would have been in the cache up to the call before, if what was sent was. Only
    differences are taken, since the provider's tokens are not ours.

    Args:
        sizes: of the two prompts.
        report: what the provider reports of the compacted one, None where it reports nothing of a cache.
        first: the compaction was sent for the first time, so that nothing behind the preamble was cached.
        caching: the provider is known to cache prompts of this caller.
    """
    before = sizes.previous - sizes.saved
    if report is None:
        cached = 0
    elif first or before < LEAST_CACHED:
        # What is new or too short is read by nobody, so this report does not tell whether anything would be.
        is_cached = caching or report.read > 0 or report.written > 0
        cached = max(0, sizes.previous - report.read) if is_cached else 0
    else:
        cached = sizes.saved if _reaches(report.read, before) else 0
    return _tell_apart(sizes.saved, cached, report)


def estimate_observed_savings(sizes: CallSizes, report: CacheUse | None, *, first: bool) -> Savings:
    """Estimate what a call would have saved that was sent as it came, since it was only observed.

    Args:
        sizes: of the two prompts.
        report: what the provider reports of the history as it came.
        first: the compaction would have been sent for the first time.
    """
    before = sizes.previous - sizes.saved
    if report is None or not _reaches(report.read, sizes.previous):
        cached = 0
    elif first or before < LEAST_CACHED:
        fixed = sizes.fixed if first and sizes.fixed >= LEAST_CACHED else 0
        cached = report.read - min(fixed, report.read)
    else:
        cached = sizes.saved
    return _tell_apart(sizes.saved, cached, report)


def _reaches(read: int, previous: int) -> bool:
    """Tell whether a provider read the call before from its cache, and not just what it begins with."""
    return 2 * read > previous


def _tell_apart(saved: int, cached: int, report: CacheUse | None) -> Savings:
    """Return savings; a provider that charges what it writes writes whatever it does not read."""
    if not saved:
        return Savings()
    return Savings(saved, cached, saved - cached if report is not None and report.written else 0)
