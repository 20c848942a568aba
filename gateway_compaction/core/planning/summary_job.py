"""Which summary is to be made after a call, if any."""

from __future__ import annotations

from dataclasses import dataclass

from gateway_compaction.core.conversation.messages import role_of, text_of
from gateway_compaction.core.conversation.transcript import Transcript
from gateway_compaction.core.planning.context import RequestContext, fitting
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.records.compaction import Compaction

LEAST_GAIN = 0.1
CHARS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class SummaryJob:
    """A summary to be made after the call: of the messages from ``base``'s cover to ``covers``.

    ``block`` is the longest summary block in tokens, pins and frame included.
    """

    digest: str
    covers: int
    base: Compaction | None
    block: int


def plan_summary_job(s: RequestContext, used: Compaction | None) -> SummaryJob | None:
    """The job that a situation asks for, given the compaction that is sent (stored or just made)."""
    known = [*fitting(s), *([used] if used else [])]
    final = [c for c in known if c.kind != "cleared" and _is_final(s, c)]
    base = max(final, key=lambda c: c.covers, default=None)
    replaced = replaceable(s, used)
    cut = replaced or _cut(s)
    if cut is None:
        return None
    if base is not None and base.covers >= cut:
        return None
    asked = triggered(s) or s.controls.rebuild
    if replaced is None and not asked and not _gains(s, base, cut):
        return None
    # An extract is made anew from its source; only what a model wrote is built upon.
    built_on = base if base is not None and base.kind == "model" else None
    return SummaryJob(s.chain[cut], cut, built_on, s.views.limit(cut))


def _gains(s: RequestContext, base: Compaction | None, cut: int) -> bool:
    """Whether a new cover is clearly longer than the stored one, and the stored one would not do."""
    if s.measure.between(base.covers if base else 0, cut) < LEAST_GAIN * s.window:
        return False
    levels = s.policy.levels
    return (
        base is None or s.views.view(base).tokens >= (levels.medium.target + levels.light.at) / 2 * s.window
    )


def _is_final(s: RequestContext, compaction: Compaction) -> bool:
    """Whether nothing better could stand in its place: a model's, or any where no model is asked."""
    return compaction.kind == "model" or not asks_model(s.policy)


def asks_model(policy: Policy) -> bool:
    """Whether summaries of this policy are written by a model."""
    return policy.summary.model != "extractive" and policy.summary.strategy != "window"


def replaceable(s: RequestContext, used: Compaction | None) -> int | None:
    """The cover of an extract that is sent although a model could write in its place, or None."""
    if used is not None and used.kind == "extractive" and asks_model(s.policy):
        return used.covers
    return None


def _cut(s: RequestContext) -> int | None:
    """The shortest cover that brings usage to the target, the last N kept; else the longest there is."""
    level = s.policy.levels.medium
    if s.policy.triggers.turns is not None and _triggered_turns(s):
        return _turn_cut(s)
    allowed = [c for c in s.transcript.cuts if c <= len(s.transcript.history) - level.keep_last]
    if s.policy.summary.strategy == "turns":
        # A long turn is divided only where no other cut is left.
        covered = _covered(s)
        allowed = [c for c in allowed if s.transcript.openers[c] is None and c > covered] or allowed
    # What operators want rebuilt may be far below the target.
    small = s.controls.rebuild and s.measure.total <= level.target * s.window
    for cut in () if small or triggered(s) else allowed:
        if s.views.rest(cut) + s.views.limit(cut) <= level.target * s.window:
            return cut
    return allowed[-1] if allowed else None


def turn_starts(transcript: Transcript) -> list[int]:
    """Indexes of the user messages that open a turn."""
    return [i for i, m in enumerate(transcript.history) if role_of(m) == "user"]


def _turn_cut(s: RequestContext) -> int | None:
    """Whole blocks of turns behind what is covered already."""
    starts = turn_starts(s.transcript)
    step = s.policy.triggers.turns or 1
    blocks = (len(starts) - 1) // step
    cut = starts[blocks * step] if blocks else None
    return cut if cut in s.transcript.openers else None


def _covered(s: RequestContext) -> int:
    return max((c.covers for c in fitting(s) if c.kind != "cleared"), default=0)


def has_triggers(policy: Policy) -> bool:
    """Whether a policy starts summaries by anything besides usage."""
    return policy.triggers.tokens is not None or policy.triggers.turns is not None


def _triggered_turns(s: RequestContext) -> bool:
    wanted = s.policy.triggers.turns
    if wanted is None:
        return False
    covered = _covered(s)
    return sum(i >= covered for i in turn_starts(s.transcript)) > wanted


def triggered(s: RequestContext) -> bool:
    """Whether a trigger of the policy has fired: enough turns or tokens that no compaction covers."""
    wanted = s.policy.triggers.tokens
    return _triggered_turns(s) or (wanted is not None and _uncovered(s) > wanted)


def _uncovered(s: RequestContext) -> int:
    """Tokens that no compaction covers, counted as the trigger's policy says."""
    start = _covered(s)
    if s.policy.triggers.count == "tokens":
        return s.measure.between(start, len(s.transcript.history))
    return sum(len(text_of(m)) // CHARS_PER_TOKEN for m in s.transcript.history[start:])
