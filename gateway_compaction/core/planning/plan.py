"""The whole decision about one request, as a value. Pure: the same situation gives the same plan."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from gateway_compaction.core.conversation.messages import declared_role
from gateway_compaction.core.conversation.transcript import Transcript
from gateway_compaction.core.planning.context import RequestContext, fitting
from gateway_compaction.core.planning.fit import clear, compacted, fit
from gateway_compaction.core.planning.render import View
from gateway_compaction.core.planning.summary_job import (
    SummaryJob,
    has_triggers,
    plan_summary_job,
    replaceable,
    triggered,
    turn_starts,
)
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.records.compaction import KIND_RANK, Compaction
from gateway_compaction.core.records.event import Outcome

__all__ = [
    "LevelName",
    "Plan",
    "below_thresholds_plan",
    "below_thresholds_tokens",
    "built_upon",
    "light_tokens",
    "make_plan",
]

LevelName = Literal["light", "medium", "aggressive"]
RECENT_CALLS = 8
EARLIEST_LIGHT = 0.5
LEAST_SAVED = 0.1


@dataclass(frozen=True, slots=True)
class Plan:
    """What is sent, why, and what is to be done afterwards.

    Attributes:
        view: what is sent; the raw view for "nothing is touched".
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


def below_thresholds_tokens(policy: Policy, transcript: Transcript, window: int) -> int:
    """Tokens below which a request can need nothing, whatever its messages are."""
    triggers, levels = policy.triggers, policy.levels
    if triggers.turns is not None and len(turn_starts(transcript)) > triggers.turns:
        return 0
    earliest = int(min(levels.light.at, EARLIEST_LIGHT * levels.medium.at) * window)
    return min(earliest, triggers.tokens or earliest)


def below_thresholds_plan(s: RequestContext) -> Plan | None:
    """The plan of a request that needs nothing of the store, or None."""
    total = s.measure.total
    if total >= light_tokens(s) or triggered(s):
        return None
    return Plan(View(tokens=total), None, "none", "below every level", total)


def make_plan(s: RequestContext) -> Plan:
    """Decide about one request."""
    raw = View(tokens=s.measure.total)
    if s.bypass is not None:
        return Plan(raw, None, "bypassed", s.bypass, raw.tokens)
    view = _choose(s, raw)
    level = _level(s, view.tokens)
    plan = Plan(view, level, "none", f"at level {level}" if level else "below every level", raw.tokens)
    if view.compaction is not None:
        plan = replace(plan, outcome="applied", reason=view.compaction.kind)
    elif level == "medium":
        ready = "what is ready is no smaller" if fitting(s) else "nothing is ready yet"
        plan = replace(plan, outcome="passthrough", reason=f"{ready}; it still fits")
    if level == "aggressive":
        plan = _made_to_fit(s, plan)
    elif s.controls.compact and view.compaction is None:
        plan = _asked_for(s, plan)
    elif level == "medium" and view.compaction is None:
        plan = _cleared(s, plan)
    return _with_job(s, plan)


def _choose(s: RequestContext, raw: View) -> View:
    """By the three rules: raw while it is below medium; else the shortest that is; else the longest."""
    medium = s.policy.levels.medium.at * s.window
    if s.controls.compact or (s.policy.triggers.then == "apply" and has_triggers(s.policy)):
        found = _first_below(s, reversed(_views(s)), min(medium, raw.tokens))
        if found is not None:
            return found
    if raw.tokens < medium:
        return raw
    views = _views(s)
    found = _first_below(s, views, medium)
    if found is not None:
        return found
    view = s.views.recalling(min([raw, *reversed(views)], key=lambda v: v.tokens))
    # With what it quotes a view may be no smaller than what came.
    return view if view.tokens < raw.tokens else raw


def _first_below(s: RequestContext, views: Iterable[View], tokens: float) -> View | None:
    """The first view that is below ``tokens`` with everything it quotes."""
    complete = (s.views.recalling(v) for v in views if v.tokens < tokens)
    return next((v for v in complete if v.tokens < tokens), None)


def _views(s: RequestContext) -> list[View]:
    """Every fitting compaction as a view, by cover, on a tie the better kind first."""
    ordered = sorted(fitting(s), key=lambda c: (c.covers, -KIND_RANK[c.kind]))
    return [s.views.view(c) for c in ordered]


def _level(s: RequestContext, tokens: int) -> LevelName | None:
    levels = s.policy.levels
    if tokens >= levels.aggressive.at * s.window:
        return "aggressive"
    if tokens >= levels.medium.at * s.window:
        return "medium"
    return "light" if tokens >= light_tokens(s) else None


def light_tokens(s: RequestContext) -> float:
    """Where preparing begins: the policy's share, or earlier where two calls like the largest recent one
    would jump from there past medium."""
    levels = s.policy.levels
    early = levels.medium.at * s.window - 2 * _largest_growth(s)
    return min(levels.light.at * s.window, max(early, EARLIEST_LIGHT * levels.medium.at * s.window))


def _largest_growth(s: RequestContext) -> int:
    # Every assistant message marks a call: what lies between two of them came with one.
    calls = [i for i, m in enumerate(s.transcript.history) if declared_role(m) == "assistant"][-RECENT_CALLS:]
    return max((s.measure.between(a, b) for a, b in pairwise(calls)), default=0)


def _cleared(s: RequestContext, plan: Plan) -> Plan:
    made = clear(s.views, s.policy.levels.medium.keep_last)
    if made is None or made[1].tokens >= s.policy.levels.light.at * s.window:
        return plan
    return replace(plan, view=made[1], made=made[0], outcome="fallback", reason="old tool results cleared")


def _asked_for(s: RequestContext, plan: Plan) -> Plan:
    """An operator wants the session compacted whatever its usage, and nothing is ready yet."""
    levels = s.policy.levels
    for keep in (levels.medium.keep_last, levels.aggressive.keep_last):
        found = compacted(s.views, keep, int(levels.aggressive.target * s.window))
        if found and found[1].tokens <= (1 - LEAST_SAVED) * plan.view.tokens:
            reason = "an operator asked for it; made without a model"
            view = s.views.recalling(found[1])
            return replace(plan, view=view, made=found[0], outcome="fallback", reason=reason)
    return replace(plan, reason=f"{plan.reason}; an operator asked, but little would be saved")


def _made_to_fit(s: RequestContext, plan: Plan) -> Plan:
    level = s.policy.levels.aggressive
    keep = min(level.keep_last, s.policy.levels.medium.keep_last)
    most = int(level.at * s.window)
    found = fit(s.views, built_upon(s, plan.view), keep, int(level.target * s.window), most)
    if found is None:
        return _as_chosen(plan)
    compaction, view = found
    stored = _stored(s, compaction)
    if stored is not None:
        compaction = replace(compaction, since=stored.since, quotes=stored.quotes)
    view = replace(view, compaction=compaction)
    view = _quoting(s, view, most) if stored is None else _quoting_on(s, view)
    if view.tokens >= plan.view.tokens:
        return _as_chosen(plan)
    fits = view.tokens <= s.window
    reason = "made to fit without a model" if fits else "made smaller without a model, still over the window"
    made = view.compaction if stored is None else None
    return replace(plan, view=view, made=made, outcome="fallback", reason=reason)


def _as_chosen(plan: Plan) -> Plan:
    outcome: Outcome = "applied" if plan.view.compaction else "passthrough"
    return replace(plan, outcome=outcome, reason="cannot be made to fit")


def _stored(s: RequestContext, made: Compaction) -> Compaction | None:
    """What is stored for the same messages and stays; what was made of it is made again, the same."""
    rank = KIND_RANK[made.kind]
    return next((c for c in s.compactions if c.digest == made.digest and KIND_RANK[c.kind] >= rank), None)


def _quoting(s: RequestContext, view: View, most: int) -> View:
    """The view of what was just made, with its quotes: so many that it stays below ``most``."""
    quoting = s.views.recalling(view)
    for quotes in (max(0, most - view.tokens), 0):
        if quoting.tokens < most or view.compaction is None:
            break
        quoting = s.views.recalling(replace(view, compaction=replace(view.compaction, quotes=quotes)))
    return quoting


def _quoting_on(s: RequestContext, view: View) -> View:
    """The view of what is stored, with its quotes for as long as they fit the window."""
    quoting = s.views.recalling(view)
    return quoting if quoting.tokens <= s.window or quoting.tokens == view.tokens else view


def built_upon(s: RequestContext, view: View) -> Compaction | None:
    """What an extract is built upon: the longest that a model wrote, though an extract may cover more."""
    written = [c for c in fitting(s) if c.kind == "model"]
    return max(written, key=lambda c: c.covers, default=view.compaction if view.summary_message else None)


def _with_job(s: RequestContext, plan: Plan) -> Plan:
    used = plan.made or plan.view.compaction
    wanted = plan.level is not None or triggered(s) or s.controls.rebuild
    if not wanted and replaceable(s, used) is None:
        return plan
    if s.in_flight or s.backoff is not None:
        why = "a summary is being made" if s.in_flight else s.backoff
        return replace(plan, reason=f"{plan.reason}; {why}") if plan.level else plan
    job = plan_summary_job(s, used)
    if job is None:
        ready = "a summary is ready" if fitting(s) else "nothing can be summarised"
        return replace(plan, reason=ready) if plan.outcome == "none" else plan
    wait = s.policy.levels.aggressive.wait_seconds if plan.level == "aggressive" else 0.0
    if triggered(s):
        wait = max(wait, s.policy.triggers.wait_seconds)
    plan = replace(plan, job=job, wait_seconds=wait)
    if plan.outcome != "none":
        return plan
    return replace(plan, outcome="prepared", reason=f"a summary of {job.covers} messages is prepared")
