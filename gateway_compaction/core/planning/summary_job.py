"""The summary that is to be made after a call, if any."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from gateway_compaction.core.planning.context import RequestContext, applies_at_once
from gateway_compaction.core.planning.views import ViewBuilder
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.records.compaction import Compaction

LEAST_GAIN = 0.1
"""Share of the window that a new summary must cover beyond the stored one; less is not worth a call."""

SURE_SHARE = 0.9
"""Share of the growth before a summary's first use that is counted on: reports may still move the count."""


@dataclass(frozen=True, slots=True)
class SummaryJob:
    """A summary to be made after the call, of the messages from ``base``'s cover to ``covers``.

    Attributes:
        digest: the name of the messages that it will stand for.
        covers: how many messages these are.
        base: the model's summary that it builds upon, or None.
        block: the longest summary block in tokens, note and pins included.
        lead_tokens: tokens (uncalibrated) by which a conversation that is sent as it came grows at least
            before this is used; 0 while a compaction is sent.
    """

    digest: str
    covers: int
    base: Compaction | None
    block: int
    lead_tokens: int = 0


def plan_summary_job(views: ViewBuilder, used: Compaction | None, tokens: int) -> SummaryJob | None:
    """Return the summary that is worth making after this call, or None.

    An extract that a model is to replace is replaced over the same messages. Otherwise a summary must cover
    more than the one at hand, and no less than an extract that is sent. Where neither a trigger nor an
    operator asks for it, it must cover clearly more, and the one at hand must not do for long: each summary
    is a call to a model, and changes the beginning of the prompt that the provider has cached.

    Args:
        views: the views of the request.
        used: the compaction that is sent, stored or just made.
        tokens: usage of the window by what is sent.
    """
    context = views.context
    policy, levels = context.policy, context.policy.levels
    candidates = [*context.fitting_compactions, *([] if used is None else [used])]
    final = [
        c for c in candidates if c.kind == "model" or (c.kind == "extractive" and not can_ask_model(policy))
    ]
    base = max(final, key=lambda c: c.covers, default=None)
    replaces = is_replaceable(used, policy)
    lead = find_lead(context, tokens)
    cut = used.covers if used is not None and replaces else _find_cut(views, lead)
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
        # What it quotes fills the window like any other message.
        if base is not None and views.add_quotes(views.build_view(base)).tokens < enough:
            return None
        if _can_wait(views, cut, lead, tokens):
            return None
    # An extract is made anew from its source; only what a model wrote is built upon.
    built_on = base if base is not None and base.kind == "model" else None
    # While a compaction is sent, quotes grow with the messages, and how fast is not known ahead: the present
    # question would be taken for one from before.
    ahead = _count_raw(context, lead) if used is None else 0
    return SummaryJob(context.chain[cut], cut, built_on, views.summary_block_limit(cut), ahead)


def _can_wait(views: ViewBuilder, cut: int, lead: int, tokens: int) -> bool:
    """Tell whether a summary would be far above its target, and there is time for a better one.

    Where the last N are most of a conversation, what it saves is soon used up, and the next one breaks the
    provider's prompt cache again. Until the next call may reach ``medium``, more can be covered.
    """
    context = views.context
    most = (context.policy.levels.medium.target + LEAST_GAIN) * context.window
    is_far = views.tokens_with_full_block(cut) + lead > most
    return is_far and tokens + context.largest_growth < context.levels.medium


def _count_raw(context: RequestContext, lead: int) -> int:
    """Return what is sure of a growth, uncalibrated."""
    newest = context.transcript.history[-1]
    raw = context.raw_message_tokens(newest) / max(1, context.calibrated_tokens(newest))
    return int(SURE_SHARE * raw * lead)


def find_lead(context: RequestContext, tokens: int) -> int:
    """Return the tokens by which a conversation will grow before a summary that is made now is used.

    It is made from ``light`` on and used from ``medium`` on. Where a trigger or an operator asks for it, it
    may be used at once.
    """
    controls = context.session.controls
    if controls.compact or controls.rebuild or applies_at_once(context.policy):
        return 0
    return max(0, int(context.levels.medium) - tokens)


def _find_cut(views: ViewBuilder, lead: int) -> int | None:
    """Return the shortest cover that brings usage to the target when it is used; else the longest.

    The last N always stay. Where a trigger has started it, what that counts is covered, whatever the usage.
    """
    context = views.context
    if context.is_triggered:
        return context.triggered_cut
    cuts, target = context.coverable_cuts, context.policy.levels.medium.target * context.window
    # What operators want rebuilt may be far below the target.
    if not (context.session.controls.rebuild and context.measure.total <= target):
        # What stays behind a cut is less from cut to cut: those that leave too much of it come first.
        first = bisect_left(cuts, True, key=lambda cut: views.tokens_behind(cut) + lead <= target)
        for cut in cuts[first:]:
            if views.tokens_with_full_block(cut) + lead <= target:
                return cut
    return cuts[-1] if cuts else None


def can_ask_model(policy: Policy) -> bool:
    """Tell whether summaries of this policy are written by a model."""
    return policy.summary.model != "extractive" and policy.summary.strategy != "window"


def is_replaceable(used: Compaction | None, policy: Policy) -> bool:
    """Tell whether an extract is sent that a model is to replace at once, and not when it no longer fits."""
    is_standing_in = used is not None and used.kind == "extractive" and used.sent_with is None
    return is_standing_in and can_ask_model(policy)
