"""Tell what the latest call would have sent under other values: the rules of ``core`` over that call's
counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

from gateway_compaction.admin.problems import Problem
from gateway_compaction.admin.schemas import Preview, PreviewBody
from gateway_compaction.archive import CallSnapshot, Owner, SessionDetail
from gateway_compaction.core.conversation.messages import Message, role_of
from gateway_compaction.core.conversation.transcript import Transcript, find_turn_starts
from gateway_compaction.core.planning.context import RequestContext, SessionState
from gateway_compaction.core.planning.plan import make_plan
from gateway_compaction.core.planning.summary_job import SummaryJob, plan_summary_job
from gateway_compaction.core.planning.views import NOTE_AND_PINS_TOKENS, ViewBuilder
from gateway_compaction.core.policy.model import Policy, find_conflicts, flatten
from gateway_compaction.core.records.call_snapshot import find_bounds
from gateway_compaction.core.records.compaction import Compaction
from gateway_compaction.core.summary.block import compute_block_limit, is_acknowledgement
from gateway_compaction.core.tokens.counter import Measure

ACKNOWLEDGED = 6
"""Tokens of the one-word acknowledgement, at most."""
ASSUMED = ("levels.medium.at", "levels.medium.target", "levels.medium.keep_last")
LENGTH = ("summary.rate", "summary.max_tokens")
OVER = ("medium", "aggressive")
UNSEEN = "No call of this session has come near its window yet, so there is nothing to try values on."
EITHER = "Give rate or max_tokens: a rate takes the place of max_tokens."


def preview_call(
    detail: SessionDetail, policy: Policy, body: PreviewBody, count: Callable[[str, str], int]
) -> Preview:
    """Return what another rate, target, number of last messages or summary length would come to.

    ``count`` gives the tokens of a text for a model.

    Raises:
        Problem: 409 where no call is known, 422 for values that do not hold together.
    """
    last = detail.last_call
    if last is None or not last.window or not last.sent:
        raise Problem(409, UNSEEN)
    changed = _changed_values(body)
    if detail.steering.rate is not None:
        # What is tried goes before what was set, and that before the policy.
        policy = _with_values(policy, {"summary.rate": detail.steering.rate})
    tried = _with_values(policy, changed)
    model = detail.row.model or ""
    context = _rebuild_context(last, tried, lambda text: count(text, model))
    context = context.with_session(SessionState(controls=replace(detail.steering, rate=None)))
    views = ViewBuilder(context)
    # Shown is what the call itself would come to, so its summary is made at the very moment of its use.
    job = plan_summary_job(views, None, context.window)
    sent, cut = context.measure.total, job.covers if job else None
    summary, expected = _block_sizes(detail, views, job) if job else (0, 0)
    total = sent if cut is None else views.tokens_beside_block(cut) + summary
    return Preview(
        compacts=_would_compact(context, job),
        covers=cut,
        covers_now=last.covers,
        kept=len(context.transcript.history) - (cut or 0),
        summary=summary,
        total=total,
        total_now=last.fixed + sum(tokens for _, tokens, _ in last.saw),
        total_sent=sent,
        window=last.window,
        summary_expected=expected,
        total_expected=total - summary + expected,
        share=round(total / last.window, 4),
        fits=total <= tried.levels.medium.target * last.window,
        fates=_list_fates(context.transcript, cut),
        policy=policy.name,
        values={path: value for path, value in flatten(tried).items() if path in (*ASSUMED, *LENGTH)},
        change=_policy_entry(detail.row.owner, changed),
    )


def _block_sizes(detail: SessionDetail, views: ViewBuilder, job: SummaryJob) -> tuple[int, int]:
    """Return the tokens of the whole block: the most, and what is likely.

    A rate gives the likely size of the text, not its bound.
    """
    # Operators' pins come on top of its length.
    context, pins = views.context, views.pinned_tokens
    summary, most = context.policy.summary, job.block + pins
    if summary.rate is None:
        return most, most
    text = compute_block_limit(
        summary.max_tokens, summary.rate, context.window, context.measure.between(0, job.covers)
    )
    text = min(text, views.text_room(job.covers, job.block))
    framed = _frame_tokens(detail, views)
    return most, min(most, text + (NOTE_AND_PINS_TOKENS // 2 + pins if framed is None else max(framed, pins)))


def _frame_tokens(detail: SessionDetail, views: ViewBuilder) -> int | None:
    """Return the tokens of note and pins in the summary of the last call; None where there was none."""
    last, versions = detail.last_call, (*detail.compactions, *detail.retired)
    block = sum(tokens for _, tokens, origin in last.saw if origin == "summary") if last else 0
    used = next((c for c in versions if last and c.version == last.version and c.text), None)
    if used is None or not block:
        return None
    # What was longer than its room was sent shortened.
    context = views.context
    covers = min(used.covers, len(context.transcript.history))
    room = views.text_room(covers, used.limit or context.window // 4)
    return max(0, block - min(context.raw_tokens(used.text), room))


def _would_compact(s: RequestContext, job: SummaryJob | None) -> bool:
    """Tell whether planning would send a summary, were the one it asks for there, however short."""
    plan = make_plan(s)
    if job is not None and plan.job is not None:
        plan = make_plan(
            s.with_session(replace(s.session, compactions=(Compaction(job.digest, job.covers, "model"),)))
        )
    return plan.view.compaction is not None or plan.level in OVER


def _fixed_weight(message: Message) -> int:
    # What else is weighed is a block, and how long that is planning is not to ask.
    return ACKNOWLEDGED if is_acknowledgement(message) else 0


def _changed_values(body: PreviewBody) -> dict[str, Any]:
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


def _with_values(policy: Policy, changed: dict[str, Any]) -> Policy:
    """Return a policy with other values.

    Raises:
        Problem: 422, they do not hold together.
    """
    medium = {path.rpartition(".")[2]: v for path, v in changed.items() if path.startswith("levels.")}
    summary = {path.rpartition(".")[2]: v for path, v in changed.items() if path.startswith("summary.")}
    levels = policy.levels.model_copy(update={"medium": policy.levels.medium.model_copy(update=medium)})
    update = {"levels": levels, "summary": policy.summary.model_copy(update=summary)}
    tried = policy.model_copy(update=update)
    for conflict in find_conflicts(flatten(tried)):
        raise Problem(422, f"{conflict.low} must be below {conflict.high}.")
    return tried


def _rebuild_context(last: CallSnapshot, policy: Policy, count: Callable[[str], int]) -> RequestContext:
    """Rebuild a call from counts alone: messages without contents, cuts as they were found."""
    # Characters are not known any more; what quotes may take is in the counts that were kept.
    triggers = policy.triggers.model_copy(update={"count": "tokens"})
    recall = policy.recall.model_copy(update={"max_tokens": 0})
    policy = policy.model_copy(update={"triggers": triggers, "recall": recall})
    start, tokens = find_bounds(last)[0], [size for _, size, _ in last.sent]
    messages: list[Message] = [{"role": role, "content": ""} for role, _, _ in last.sent]
    history = tuple(messages[start:])
    openers = find_openers(history, [c - start for c in last.cuts if start < c < len(messages)])
    turns = tuple(find_turn_starts(history))
    texts = ("",) * len(history)
    roles = tuple(map(role_of, history))
    transcript = Transcript(tuple(messages[:start]), history, tuple(openers), openers, turns, texts, roles)
    measure = Measure(last.fixed, sum(tokens[:start]), (0, *accumulate(tokens[start:])))
    chain = tuple(str(i) for i in range(len(history) + 1))
    digests = tuple(name.encode() for name in chain[1:])
    return RequestContext(
        transcript=transcript,
        chain=chain,
        digests=digests,
        measure=measure,
        window=last.window,
        policy=policy,
        calibrated_tokens=_fixed_weight,
        raw_tokens=count,
        raw_message_tokens=_fixed_weight,
    )


def find_openers(history: Sequence[Message], cuts: Sequence[int]) -> Mapping[int, int | None]:
    """Return for each cut the user message whose turn it divides, None where it begins one."""
    wanted, found, opener = frozenset(cuts), dict[int, int | None](), None
    for index, message in enumerate(history):
        begins = role_of(message) == "user"
        if index in wanted:
            found[index] = None if begins else opener
        if begins:
            opener = index
    return found


def _list_fates(transcript: Transcript, cut: int | None) -> tuple[str, ...]:
    opener = transcript.openers.get(cut) if cut is not None else None
    history = (
        "covered" if cut is not None and i < cut and i != opener else "verbatim"
        for i in range(len(transcript.history))
    )
    return (*("preamble" for _ in transcript.preamble), *history)


def _policy_entry(owner: Owner, changed: dict[str, Any]) -> str:
    """Return the entry of the policy file that makes it so; JSON's strings and numbers are YAML's."""
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
