"""The summary that is to be made after a call, if any."""

from __future__ import annotations

from dataclasses import dataclass

from gateway_compaction.core.planning.views import ViewBuilder
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.records.compaction import Compaction

LEAST_GAIN = 0.1
"""Share of the window that a new summary must cover beyond the stored one; less is not worth a call."""


@dataclass(frozen=True, slots=True)
class SummaryJob:
    """A summary to be made after the call, of the messages from ``base``'s cover to ``covers``.

    Attributes:
        digest: the name of the messages that it will stand for.
        covers: how many messages these are.
        base: the model's summary that it builds upon, or None.
        block: the longest summary block in tokens, note and pins included.
    """

    digest: str
    covers: int
    base: Compaction | None
    block: int


def plan_summary_job(views: ViewBuilder, used: Compaction | None) -> SummaryJob | None:
    """Return the summary that is worth making after this call, or None.

    An extract that a model is to replace is replaced over the same messages. Otherwise a summary must cover
    more than the one at hand, and no less than an extract that is sent. Where neither a trigger nor an
    operator asks for it, it must cover clearly more, and the one at hand must not do for long: each summary
    is a call to a model, and changes the beginning of the prompt that the provider has cached.

    Args:
        views: the views of the request.
        used: the compaction that is sent, stored or just made.
    """
    context = views.context
    policy, levels = context.policy, context.policy.levels
    candidates = [*context.fitting_compactions, *([] if used is None else [used])]
    final = [
        c for c in candidates if c.kind == "model" or (c.kind == "extractive" and not can_ask_model(policy))
    ]
    base = max(final, key=lambda c: c.covers, default=None)
    replaces = is_replaceable(used, policy)
    cut = used.covers if used is not None and replaces else _find_cut(views)
    if used is not None and used.kind == "extractive":
        # What covers less would be longer than what is sent, and never be used.
        cut = max(cut or 0, used.covers)
    covered = 0 if base is None else base.covers
    if cut is None or (base is not None and covered >= cut):
        return None
    if not (replaces or context.is_triggered or context.session.controls.rebuild):
        if context.measure.between(covered, cut) < LEAST_GAIN * context.window:
            return None
        enough = (levels.medium.target + levels.light.at) / 2 * context.window
        if base is not None and views.build_view(base).tokens < enough:
            return None
    # An extract is made anew from its source; only what a model wrote is built upon.
    built_on = base if base is not None and base.kind == "model" else None
    return SummaryJob(context.chain[cut], cut, built_on, views.summary_block_limit(cut))


def _find_cut(views: ViewBuilder) -> int | None:
    """Return the shortest cover that brings usage to the target and keeps the last N; else the longest.

    Where a trigger has started it, what that counts is covered, whatever the usage.
    """
    context = views.context
    if context.is_triggered:
        return context.triggered_cut
    cuts, target = context.coverable_cuts, context.policy.levels.medium.target * context.window
    # What operators want rebuilt may be far below the target.
    if not (context.session.controls.rebuild and context.measure.total <= target):
        for cut in cuts:
            if views.tokens_with_full_block(cut) <= target:
                return cut
    return cuts[-1] if cuts else None


def can_ask_model(policy: Policy) -> bool:
    """Tell whether summaries of this policy are written by a model."""
    return policy.summary.model != "extractive" and policy.summary.strategy != "window"


def is_replaceable(used: Compaction | None, policy: Policy) -> bool:
    """Tell whether an extract is sent that a model is to replace at once, and not when it no longer fits."""
    is_standing_in = used is not None and used.kind == "extractive" and used.sent_with is None
    return is_standing_in and can_ask_model(policy)
