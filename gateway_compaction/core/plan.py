"""The whole decision about one request, as a value. Pure: the same situation gives the same plan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from gateway_compaction.core.compaction import KIND_RANK, Compaction
from gateway_compaction.core.desk import Desk
from gateway_compaction.core.events import Outcome
from gateway_compaction.core.fit import clear, fit
from gateway_compaction.core.messages import Transcript
from gateway_compaction.core.policy import Policy
from gateway_compaction.core.render import View
from gateway_compaction.core.tokens import Measure

__all__ = ["Job", "LevelName", "Plan", "Situation", "asks_model", "make_plan", "quiet_below", "quiet_plan"]

LevelName = Literal["light", "medium", "aggressive"]
RECENT_CALLS = 8
EARLIEST_LIGHT = 0.5
LEAST_GAIN = 0.1


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything a plan depends on.

    ``compactions`` are those whose digest the request's own chain holds at their cover; ``in_flight``,
    ``bypass`` and ``backoff`` are as the store tells. ``digests`` names each message of the history.
    """

    transcript: Transcript
    chain: tuple[str, ...]
    measure: Measure
    window: int
    policy: Policy
    desk: Desk
    compactions: tuple[Compaction, ...] = ()
    in_flight: bool = False
    bypass: str | None = None
    backoff: str | None = None
    digests: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class Job:
    """A summary to be made after the call: of the messages from ``base``'s cover to ``covers``.

    ``block`` is the longest summary block in tokens, pins and frame included.
    """

    digest: str
    covers: int
    base: Compaction | None
    block: int


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
    job: Job | None = None
    wait_seconds: float = 0.0


def quiet_below(policy: Policy, transcript: Transcript, window: int) -> int:
    """Tokens below which a request can need nothing, whatever its messages are."""
    triggers, levels = policy.triggers, policy.levels
    if triggers.turns is not None and len(_turn_starts(transcript)) > triggers.turns:
        return 0
    earliest = int(min(levels.light.at, EARLIEST_LIGHT * levels.medium.at) * window)
    return min(earliest, triggers.tokens or earliest)


def quiet_plan(s: Situation) -> Plan | None:
    """The plan of a request that needs nothing of the store, or None."""
    total = s.measure.total
    if total >= light_tokens(s) or _triggered(s):
        return None
    return Plan(View(tokens=total), None, "none", "below every level", total)


def make_plan(s: Situation) -> Plan:
    """Decide about one request."""
    raw = View(tokens=s.measure.total)
    if s.bypass is not None:
        return Plan(raw, None, "bypassed", s.bypass, raw.tokens)
    view = _choose(s, raw)
    level = _level(s, view.tokens)
    plan = Plan(view, level, "none", "below every level", raw.tokens)
    if view.compaction is not None:
        plan = replace(plan, outcome="applied", reason=view.compaction.kind)
    elif level == "medium":
        plan = replace(plan, outcome="passthrough", reason="nothing is ready yet; it still fits")
    if level == "aggressive":
        plan = _made_to_fit(s, plan)
    elif level == "medium" and view.compaction is None:
        plan = _cleared(s, plan)
    return _with_job(s, replace(plan, view=s.desk.recalling(plan.view)))


def _choose(s: Situation, raw: View) -> View:
    """By the three rules: raw while it is below medium; else the shortest that is; else the longest."""
    medium = s.policy.levels.medium.at * s.window
    if s.policy.triggers.then == "apply" and _triggered_policy(s.policy):
        usable = [v for v in _views(s) if v.tokens < raw.tokens]
        applied = [v for v in usable if v.tokens < medium]
        if applied:
            return applied[-1]
    if raw.tokens < medium:
        return raw
    views = _views(s)
    below = [v for v in views if v.tokens < medium]
    if below:
        return below[0]
    return min([raw, *reversed(views)], key=lambda v: v.tokens) if views else raw


def _views(s: Situation) -> list[View]:
    """Every fitting compaction as a view, by cover, on a tie the better kind first."""
    ordered = sorted(_fitting(s), key=lambda c: (c.covers, -KIND_RANK[c.kind]))
    return [s.desk.view(c) for c in ordered]


def _fitting(s: Situation) -> list[Compaction]:
    """Those that stand for exactly the messages this request begins with, and end where it may be cut."""
    return [
        c
        for c in s.compactions
        if (c.covers in s.transcript.openers or c.covers == 0) and s.chain[c.covers] == c.digest
    ]


def _level(s: Situation, tokens: int) -> LevelName | None:
    levels = s.policy.levels
    if tokens >= levels.aggressive.at * s.window:
        return "aggressive"
    if tokens >= levels.medium.at * s.window:
        return "medium"
    return "light" if tokens >= light_tokens(s) else None


def light_tokens(s: Situation) -> float:
    """Where preparing begins: the policy's share, or earlier where two calls like the largest recent one
    would jump from there past medium."""
    levels = s.policy.levels
    early = levels.medium.at * s.window - 2 * _largest_growth(s)
    return min(levels.light.at * s.window, max(early, EARLIEST_LIGHT * levels.medium.at * s.window))


def _largest_growth(s: Situation) -> int:
    # Every assistant message marks a call: what lies between two of them came with one.
    calls = [i for i, m in enumerate(s.transcript.history) if m["role"] == "assistant"][-RECENT_CALLS:]
    return max((s.measure.between(a, b) for a, b in pairwise(calls)), default=0)


def _cleared(s: Situation, plan: Plan) -> Plan:
    made = clear(s.desk, s.policy.levels.medium.keep_last)
    if made is None or made[1].tokens >= s.policy.levels.light.at * s.window:
        return plan
    return replace(plan, view=made[1], made=made[0], outcome="fallback", reason="old tool results cleared")


def _made_to_fit(s: Situation, plan: Plan) -> Plan:
    level = s.policy.levels.aggressive
    keep = min(level.keep_last, s.policy.levels.medium.keep_last)
    made = fit(s.desk, plan.view, keep, int(level.target * s.window), int(level.at * s.window))
    if made is None or made[1].tokens >= plan.view.tokens:
        outcome: Outcome = "applied" if plan.view.compaction else "passthrough"
        return replace(plan, outcome=outcome, reason="cannot be made to fit")
    return replace(plan, view=made[1], made=made[0], outcome="fallback", reason="made to fit without a model")


def _with_job(s: Situation, plan: Plan) -> Plan:
    wanted = _triggered(s) if plan.level is None else True
    if not wanted:
        return plan
    if s.in_flight or s.backoff is not None:
        why = "a summary is being made" if s.in_flight else s.backoff
        return replace(plan, reason=f"{plan.reason}; {why}") if plan.level else plan
    job = _job(s, plan)
    if job is None:
        return plan
    wait = s.policy.levels.aggressive.wait_seconds if plan.level == "aggressive" else 0.0
    if _triggered(s):
        wait = max(wait, s.policy.triggers.wait_seconds)
    plan = replace(plan, job=job, wait_seconds=wait)
    return (
        replace(plan, outcome="prepared", reason=f"a summary of {job.covers} messages is prepared")
        if (plan.outcome == "none")
        else plan
    )


def _job(s: Situation, plan: Plan) -> Job | None:
    base = max(
        (c for c in _fitting(s) if c.kind != "cleared" and _is_final(s, c)),
        key=lambda c: c.covers,
        default=None,
    )
    replaced = _to_replace(s, plan)
    cut = replaced or _cut(s)
    if cut is None:
        return None
    if base is not None and base.covers >= cut:
        return None
    if replaced is None and not _triggered(s) and not _gains(s, base, cut):
        return None
    # An extract is made anew from its source; only what a model wrote is built upon.
    built_on = base if base is not None and base.kind == "model" else None
    return Job(s.chain[cut], cut, built_on, s.desk.limit(cut))


def _gains(s: Situation, base: Compaction | None, cut: int) -> bool:
    """Whether a new cover is clearly longer than the stored one, and the stored one would not do."""
    if s.measure.between(base.covers if base else 0, cut) < LEAST_GAIN * s.window:
        return False
    levels = s.policy.levels
    return base is None or s.desk.view(base).tokens >= (levels.medium.target + levels.light.at) / 2 * s.window


def _is_final(s: Situation, compaction: Compaction) -> bool:
    """Whether nothing better could stand in its place: a model's, or any where no model is asked."""
    return compaction.kind == "model" or not asks_model(s.policy)


def asks_model(policy: Policy) -> bool:
    """Whether summaries of this policy are written by a model."""
    return policy.summary.model != "extractive" and policy.summary.strategy != "window"


def _to_replace(s: Situation, plan: Plan) -> int | None:
    used = plan.made or plan.view.compaction
    if used is not None and used.kind == "extractive" and asks_model(s.policy):
        return used.covers
    return None


def _cut(s: Situation) -> int | None:
    """The shortest cover that brings usage to the target, the last N kept; else the longest there is."""
    level = s.policy.levels.medium
    if s.policy.triggers.turns is not None and _triggered_turns(s):
        return _turn_cut(s)
    allowed = [c for c in s.transcript.cuts if c <= len(s.transcript.history) - level.keep_last]
    for cut in () if _triggered(s) else allowed:
        if s.desk.rest(cut) + s.desk.limit(cut) <= level.target * s.window:
            return cut
    return allowed[-1] if allowed else None


def _turn_starts(transcript: Transcript) -> list[int]:
    return [i for i, m in enumerate(transcript.history) if m["role"] == "user"]


def _turn_cut(s: Situation) -> int | None:
    """Whole blocks of turns behind what is covered already."""
    starts = _turn_starts(s.transcript)
    step = s.policy.triggers.turns or 1
    blocks = (len(starts) - 1) // step
    cut = starts[blocks * step] if blocks else None
    return cut if cut in s.transcript.openers else None


def _covered(s: Situation) -> int:
    return max((c.covers for c in _fitting(s) if c.kind != "cleared"), default=0)


def _triggered_policy(policy: Policy) -> bool:
    return policy.triggers.tokens is not None or policy.triggers.turns is not None


def _triggered_turns(s: Situation) -> bool:
    wanted = s.policy.triggers.turns
    open_turns = [i for i in _turn_starts(s.transcript) if i >= _covered(s)]
    return wanted is not None and len(open_turns) > wanted


def _triggered(s: Situation) -> bool:
    wanted = s.policy.triggers.tokens
    uncovered = s.measure.between(_covered(s), len(s.transcript.history))
    return _triggered_turns(s) or (wanted is not None and uncovered > wanted)
