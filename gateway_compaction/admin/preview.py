"""What the latest call would have sent under other values: the rules of ``core`` over that call's counts."""

from __future__ import annotations

import json
import re
from itertools import accumulate
from typing import Any

from gateway_compaction.admin.problems import Problem
from gateway_compaction.admin.schemas import Preview, PreviewBody
from gateway_compaction.archive import LastCall, Owner, SessionDetail
from gateway_compaction.core.desk import Desk
from gateway_compaction.core.jobs import job_of
from gateway_compaction.core.messages import Message, Transcript, part_of
from gateway_compaction.core.policy import Policy, conflicts, flatten
from gateway_compaction.core.situation import Situation
from gateway_compaction.core.tokens import Measure

__all__ = ["ACKNOWLEDGED", "previewed"]

ACKNOWLEDGED = 6
"""Tokens of the one-word acknowledgement, at most."""
ASSUMED = ("levels.medium.at", "levels.medium.target", "levels.medium.keep_last")
LENGTH = ("summary.rate", "summary.max_tokens")
UNSEEN = "No call of this session has come near its window yet, so there is nothing to try values on."
EITHER = "Give rate or max_tokens: a rate takes the place of max_tokens."


def previewed(detail: SessionDetail, policy: Policy, body: PreviewBody) -> Preview:
    """What another rate, target, number of last messages or summary length would come to.

    Raises:
        Problem: 409 where no call is known, 422 for values that do not hold together.
    """
    last = detail.last_call
    if last is None or not last.window or not last.sent:
        raise Problem(409, UNSEEN)
    changed = _changes(body)
    tried = _with(policy, changed)
    situation = _situation(last, tried)
    job = job_of(situation, None)
    sent = situation.measure.total
    cut = job.covers if job else None
    summary = situation.desk.limit(cut) if cut is not None else 0
    total = sent if cut is None else situation.desk.rest(cut) + summary
    values = flatten(tried)
    return Preview(
        compacts=sent >= tried.levels.medium.at * last.window,
        covers=cut,
        covers_now=last.covers,
        kept=len(situation.transcript.history) - (cut or 0),
        summary=summary,
        total=total,
        total_now=last.fixed + sum(tokens for _, tokens, _ in last.saw),
        total_sent=sent,
        window=last.window,
        share=round(total / last.window, 4),
        fits=total <= tried.levels.medium.target * last.window,
        fates=_fates(situation.transcript, cut),
        policy=policy.name,
        values={path: values[path] for path in (*ASSUMED, *LENGTH)},
        change=_yaml(detail.row.owner, changed),
    )


def _changes(body: PreviewBody) -> dict[str, Any]:
    if body.rate is not None and body.max_tokens is not None:
        raise Problem(422, EITHER)
    changed: dict[str, Any] = {
        "levels.medium.target": body.target,
        "levels.medium.keep_last": body.keep_last,
        "summary.rate": body.rate,
        "summary.max_tokens": body.max_tokens,
    }
    found = {path: value for path, value in changed.items() if value is not None}
    if body.max_tokens is not None:
        found["summary.rate"] = None
    return found


def _with(policy: Policy, changed: dict[str, Any]) -> Policy:
    """A policy with other values.

    Raises:
        Problem: 422, they do not hold together.
    """
    medium = {path.rpartition(".")[2]: v for path, v in changed.items() if path.startswith("levels.")}
    summary = {path.rpartition(".")[2]: v for path, v in changed.items() if path.startswith("summary.")}
    levels = policy.levels.model_copy(update={"medium": policy.levels.medium.model_copy(update=medium)})
    update = {"levels": levels, "summary": policy.summary.model_copy(update=summary)}
    tried = policy.model_copy(update=update)
    for conflict in conflicts(flatten(tried)):
        raise Problem(422, f"{conflict.low} must be below {conflict.high}.")
    return tried


def _situation(last: LastCall, policy: Policy) -> Situation:
    """A call as it can be told from counts alone: messages without contents, cuts as they were found."""
    start = sum(1 for _, _, fate in last.sent if fate == "preamble")
    tokens = [count for _, count, _ in last.sent]
    messages: list[Message] = [{"role": role, "content": ""} for role, _, _ in last.sent]
    history = tuple(messages[start:])
    users = [i for i, m in enumerate(history) if part_of(m) == "user"]
    cuts = tuple(c - start for c in last.cuts if start < c < len(messages))
    openers = {c: None if c in users else max((u for u in users if u < c), default=None) for c in cuts}
    transcript = Transcript(tuple(messages[:start]), history, cuts, openers, users[-1] if users else None)
    measure = Measure(last.fixed, sum(tokens[:start]), (0, *accumulate(tokens[start:])))
    chain = ("",) * (len(history) + 1)
    desk = Desk(transcript, chain, measure, last.window, policy, lambda m: ACKNOWLEDGED, len)
    return Situation(transcript, chain, measure, last.window, policy, desk)


def _fates(transcript: Transcript, cut: int | None) -> tuple[str, ...]:
    opener = transcript.openers.get(cut) if cut is not None else None
    history = (
        "covered" if cut is not None and i < cut and i != opener else "verbatim"
        for i in range(len(transcript.history))
    )
    return (*("preamble" for _ in transcript.preamble), *history)


def _yaml(owner: Owner, changed: dict[str, Any]) -> str:
    """The entry of the policy file that makes it so; JSON's strings and numbers are YAML's."""
    sections: dict[str, list[str]] = {}
    for path, value in changed.items():
        section, _, key = path.rpartition(".")
        sections.setdefault(section, []).append(f"{key}: {json.dumps(value)}")
    medium, summary = sections.get("levels.medium"), sections.get("summary")
    lines = [f"levels: {{medium: {{{', '.join(medium)}}}}}"] if medium else []
    lines += [f"summary: {{{', '.join(summary)}}}"] if summary else []
    team = owner.team_id or owner.team
    if not lines:
        return ""
    if team is None:
        return "\n".join(["defaults:", *(f"  {line}" for line in lines), ""])
    name = "".join(c if c.isprintable() else " " for c in f"preview for {owner.team or team}")[:64].strip()
    # A team's id is no pattern, whatever is in it.
    match = json.dumps(re.sub(r"([*?[])", r"[\1]", team))
    head = ["policies:", f"  - name: {json.dumps(name)}", f"    match: {{team: {match}}}"]
    return "\n".join([*head, *(f"    {line}" for line in lines), ""])
