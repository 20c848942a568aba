"""The decision about one request: which view is sent, and which summary is made afterwards.

It depends on the request, the policy and what is stored alone, so that every replica decides alike. The rules
stand in ARCHITECTURE.md under "Which view is sent".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from gateway_compaction.core.planning.context import LevelName, RequestContext, applies_at_once
from gateway_compaction.core.planning.fit import clear_results, compact_early, fit
from gateway_compaction.core.planning.summary_job import SummaryJob, is_replaceable, plan_summary_job
from gateway_compaction.core.planning.views import View, ViewBuilder
from gateway_compaction.core.records.compaction import KIND_RANK, Compaction
from gateway_compaction.core.records.event import Outcome

LEAST_SAVED = 0.1
"""Share of the request that compacting on request must save; for less no prompt cache is given up."""

LEAST_SAVED_TOKENS = 400
"""Tokens that it must save: the summary block of a short conversation would leave out more than it gains."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The decision about one request: which view is sent, why, and what is to be done afterwards.

    Attributes:
        view: what is sent; the raw view where nothing is touched.
        level: the level of usage that this view leaves.
        tokens_before: tokens of the request as it came.
        made: a compaction made on the way, to be stored after the call.
        job: a summary to be made after the call.
        wait_seconds: how long this request may wait for the job first.
    """

    view: View
    level: LevelName | None
    outcome: Outcome
    reason: str
    tokens_before: int
    made: Compaction | None = None
    job: SummaryJob | None = None
    wait_seconds: float = 0.0


def plan_without_store(context: RequestContext) -> Plan | None:
    """Return the plan of a request that needs nothing of the store, or None: the store is then not asked."""
    total = context.measure.total
    if total >= context.levels.light or context.is_triggered:
        return None
    return Plan(View(tokens=total), None, "none", "below every level", total)


def make_plan(context: RequestContext) -> Plan:
    """Decide about one request: choose a view, make one where none will do, and plan the next summary."""
    views, total = ViewBuilder(context), context.measure.total
    if context.session.bypass is not None:
        return Plan(View(tokens=total), None, "bypassed", context.session.bypass, total)
    view = _choose_view(views)
    level = context.levels.level_of(view.tokens)
    plan = Plan(view, level, "none", f"at level {level}" if level else "below every level", total)
    if view.compaction is not None:
        plan = replace(plan, outcome="applied", reason=view.compaction.kind)
    elif level == "medium":
        ready = "what is ready is no smaller" if context.fitting_compactions else "nothing is ready yet"
        plan = replace(plan, outcome="passthrough", reason=f"{ready}; it still fits")
    if level == "aggressive":
        plan = _make_fit(views, plan)
    elif context.session.controls.compact and view.compaction is None:
        plan = _compact_on_request(views, plan)
    elif level == "medium" and view.compaction is None:
        plan = _clear_old_results(views, plan)
    return _add_summary_job(views, plan)


def _choose_view(views: ViewBuilder) -> View:
    """Choose among the request as it came and what is stored.

    Each change of the view costs the provider's prompt cache, so the request stays as it came while it is
    below ``medium``, and beyond that what brings it below is used for as long as it does. Only an operator or
    a trigger that says ``apply`` wants the longest cover whatever the usage. Where nothing brings the request
    below ``medium``, the smallest view is sent.
    """
    context = views.context
    medium, raw = context.levels.medium, View(tokens=context.measure.total)
    at_once = context.session.controls.compact or applies_at_once(context.policy)
    if raw.tokens < medium and not at_once:
        return raw
    # By cover, and on a tie the better kind first.
    ordered = sorted(context.fitting_compactions, key=lambda c: (c.covers, -KIND_RANK[c.kind]))
    candidates = [views.build_view(compaction) for compaction in ordered]
    if at_once:
        longest = _find_below(views, reversed(candidates), medium)
        if longest is not None or raw.tokens < medium:
            return longest or raw
    in_order = sorted(candidates, key=lambda view: _find_turn(context, view.compaction))
    first = _find_below(views, in_order, medium)
    if first is not None:
        return first
    smallest = views.add_quotes(min([raw, *reversed(candidates)], key=lambda view: view.tokens))
    # With what it quotes a view may be no smaller than what came.
    return smallest if smallest.is_smaller_than(raw) else raw


def _find_turn(context: RequestContext, compaction: Compaction | None) -> float:
    """Return the turn of a compaction among those that bring the request below ``medium``, the lowest first.

    What these calls were made to fit with comes first, the latest of it: it was made because nothing stored
    did, so it is what was sent, and what has come since waits until the prefix breaks anyway. An extract that
    a model is to replace comes last where a model's text covers as much: sent in the order of covers it would
    stay, since what is covered by a model is not summarised again.
    """
    assert compaction is not None
    if compaction.sent_with is not None and context.goes_on_from(compaction.sent_with):
        return -compaction.sent_with.messages
    is_last = compaction.kind == "extractive" and compaction.sent_with is None
    return 1 if is_last and compaction.covers <= context.written else 0


def _find_below(views: ViewBuilder, candidates: Iterable[View], tokens: float) -> View | None:
    """Return the first view that is below ``tokens`` with all it quotes, and smaller than what came."""
    raw = View(tokens=views.context.measure.total)
    complete = (views.add_quotes(view) for view in candidates if view.tokens < tokens)
    return next((view for view in complete if view.tokens < tokens and view.is_smaller_than(raw)), None)


def _clear_old_results(views: ViewBuilder, plan: Plan) -> Plan:
    """At ``medium``, with nothing ready, clear old tool results if that alone leaves less than ``light``.

    With less gained, the next call would be there again, and the prompt cache given up for nothing.
    """
    levels = views.context.policy.levels
    cleared = clear_results(views, levels.medium.keep_last)
    if cleared is None or cleared.view.tokens >= levels.light.at * views.context.window:
        return plan
    compaction = _keep_in_use(views.context, cleared.compaction)
    return replace(
        plan,
        view=replace(cleared.view, compaction=compaction),
        made=compaction,
        outcome="fallback",
        reason="old tool results cleared",
    )


def _keep_in_use(context: RequestContext, made: Compaction) -> Compaction:
    """Return what was made for this request as what the calls after it keep while it fits.

    Replaced as soon as a model's text is there it would break the provider's prompt cache twice in two calls.
    """
    return made if context.wants_model_at_once else replace(made, sent_with=context.sent)


def _compact_on_request(views: ViewBuilder, plan: Plan) -> Plan:
    """Make an extract where an operator asked to compact, whatever the usage, and nothing is ready yet.

    Where keeping what ``medium`` keeps would save too little, only what ``aggressive`` keeps stays.
    """
    levels = views.context.policy.levels
    goal = int(levels.aggressive.target * views.context.window)
    for keep_last in (levels.medium.keep_last, levels.aggressive.keep_last):
        made = compact_early(views, keep_last, goal)
        most = plan.view.tokens - max(LEAST_SAVED * plan.view.tokens, LEAST_SAVED_TOKENS)
        if (
            made is not None
            and made.view.tokens <= most
            and (view := views.add_quotes(made.view)).is_smaller_than(plan.view)
        ):
            return replace(
                plan,
                view=view,
                made=made.compaction,
                outcome="fallback",
                reason="asked for; made without a model",
            )
    return replace(plan, reason=f"{plan.reason}; asked for, but little would be saved")


def _make_fit(views: ViewBuilder, plan: Plan) -> Plan:
    """At ``aggressive`` make a view without a model that is below it again, behind what a model wrote.

    What is stored for the same messages is made again, the same, rather than stored anew: its quotes stay as
    they were. What is new takes so many quotes that it stays below ``aggressive``, since each would otherwise
    be reason enough to make the next one.
    """
    context, levels = views.context, views.context.policy.levels
    most = int(context.levels.aggressive)
    keep_last = min(levels.aggressive.keep_last, levels.medium.keep_last)
    goal = int(levels.aggressive.target * context.window)
    made = fit(views, find_base(context, plan.view), keep_last, goal, most)
    as_chosen = replace(
        plan,
        outcome="applied" if plan.view.compaction else "passthrough",
        reason="cannot be made to fit",
    )
    if made is None:
        return as_chosen
    compaction = made.compaction
    rank = KIND_RANK[compaction.kind]
    same = (
        c for c in context.session.compactions if c.digest == compaction.digest and KIND_RANK[c.kind] >= rank
    )
    stored = next(same, None)
    if stored is not None:
        compaction = replace(compaction, since=stored.since, quotes=stored.quotes, sent_with=stored.sent_with)
        plain = replace(made.view, compaction=compaction)
        view = views.add_quotes(plain)
        if view.tokens > context.window and view.tokens != plain.tokens:
            view = plain
    else:
        compaction = _keep_in_use(context, compaction)
        plain = replace(made.view, compaction=compaction)
        view = views.add_quotes(plain)
        for quotes in (max(0, most - plain.tokens), 0):
            if view.tokens < most and view.is_smaller_than(plan.view):
                break
            compaction = replace(compaction, quotes=quotes)
            view = views.add_quotes(replace(plain, compaction=compaction))
    if not view.is_smaller_than(plan.view):
        return as_chosen
    fits = view.tokens <= context.window
    return replace(
        plan,
        view=view,
        made=compaction if stored is None else None,
        outcome="fallback",
        reason="made to fit without a model"
        if fits
        else "made smaller without a model, still over the window",
    )


def find_base(context: RequestContext, view: View) -> Compaction | None:
    """Return what an extract is built upon: the longest that a model wrote, though an extract may cover more.

    Without any, what is sent is built upon, so that its cover is not given up; a clearing covers nothing.
    """
    written = [c for c in context.fitting_compactions if c.kind == "model"]
    shown = None if view.summary_message is None else view.compaction
    return max(written, key=lambda c: c.covers, default=shown)


def _add_summary_job(views: ViewBuilder, plan: Plan) -> Plan:
    """Add the summary to be made after the call, and how long the request may wait for it.

    One is wanted at every level that what is sent leaves, by triggers that have fired, where an operator
    asked to rebuild, and where an extract is sent that a model is to replace; unless one is being made
    already or the session backs off.
    """
    context = views.context
    used = plan.made or plan.view.compaction
    is_asked_for = context.is_triggered or context.session.controls.rebuild
    left = context.levels.level_of(plan.view.tokens)
    if left is None and not is_asked_for and not is_replaceable(used, context.policy):
        return plan
    if context.session.in_flight or context.session.backoff is not None:
        why = "a summary is being made" if context.session.in_flight else str(context.session.backoff)
        # Below every level only this explains why what a trigger asks for is not made.
        is_explained = plan.level is not None or plan.outcome != "none"
        return replace(plan, reason=f"{plan.reason}; {why}" if is_explained else why)
    job = plan_summary_job(views, used, plan.view.tokens)
    if job is None:
        if plan.outcome != "none":
            return plan
        ready = "a summary is ready" if context.fitting_compactions else "too little can be summarised yet"
        return replace(plan, reason=ready)
    wait = context.policy.levels.aggressive.wait_seconds if plan.level == "aggressive" else 0.0
    if context.is_triggered:
        wait = max(wait, context.policy.triggers.wait_seconds)
    plan = replace(plan, job=job, wait_seconds=wait)
    if plan.outcome == "none":
        plan = replace(plan, outcome="prepared", reason=f"a summary of {job.covers} messages is prepared")
    return plan
