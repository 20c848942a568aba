"""The snapshot of one call for operators: what the client sent and what the model got, message by message."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gateway_compaction.core.conversation.messages import Message, declared_role
from gateway_compaction.core.planning.context import RequestContext
from gateway_compaction.core.planning.plan import Plan
from gateway_compaction.core.planning.views import View, apply_compaction, is_cleared
from gateway_compaction.core.records.call_snapshot import CallSnapshot
from gateway_compaction.core.records.compaction import Compaction
from gateway_compaction.core.redaction.marks import NO_MARKS

QUOTED = re.compile(r"(?m)^\[(\d{1,9}) ")
"""Each line of a quote begins with the index of the message that it was taken from."""


def build_snapshot(
    context: RequestContext,
    plan: Plan,
    messages: Sequence[Message] | None,
    at: float,
    endpoint: str | None = None,
) -> CallSnapshot:
    """Build the record of a call that operators look at.

    The messages themselves are in it, with their secrets marked, where the policy lets them be stored; else
    only roles and counts.

    Args:
        context: the call, as it was planned.
        plan: what was decided.
        messages: those sent in place of the client's, or None where these were sent as they came.
        at: seconds since 1970.
        endpoint: where the call came in.
    """
    view = plan.view if messages is not None else View(tokens=plan.tokens_before)
    transcript, levels, used = context.transcript, context.levels, view.compaction
    client = (*transcript.preamble, *transcript.history)
    full = context.policy.storage.content == "full"
    redactor = context.redactor
    marks = redactor.marks() if full else NO_MARKS
    return CallSnapshot(
        at=at,
        sent=_describe_sent(context, view),
        saw=_describe_seen(context, view, messages or client),
        client=redactor.mask_whole(client, marks) if full else None,
        model=redactor.mask_whole(messages or client, marks) if full else None,
        levels=(int(levels.light), int(levels.medium), int(levels.aggressive)),
        window=context.window,
        fixed=context.measure.fixed + context.measure.unexplained,
        covers=used.covers if used else 0,
        version=(used.version or None) if used else None,
        cuts=tuple(len(transcript.preamble) + cut for cut in transcript.cuts),
        endpoint=endpoint,
    )


def _describe_sent(context: RequestContext, view: View) -> tuple[tuple[str, int, str], ...]:
    """Return role, tokens and fate of each message that the client sent."""
    count, transcript, compaction = context.calibrated_tokens, context.transcript, view.compaction
    quoted = {int(index) for text in view.recalls.values() for index in QUOTED.findall(text)}
    described = [(declared_role(m), count(m), "preamble") for m in transcript.preamble]
    for index, message in enumerate(transcript.history):
        if compaction is None or index == view.opener:
            fate = "verbatim"
        elif view.summary_message is not None and index < compaction.covers:
            fate = "recalled" if index in quoted else "covered"
        else:
            fate = _describe_change(context, compaction, index)
        described.append((declared_role(message), context.measure.between(index, index + 1), fate))
    return tuple(described)


def _describe_seen(
    context: RequestContext, view: View, messages: Sequence[Message]
) -> tuple[tuple[str, int, str], ...]:
    """Return role, tokens and origin of each message that the model got, in the order of ``render``."""
    transcript, compaction = context.transcript, view.compaction
    between, tokens = context.measure.between, dict[int, int]()
    # What is sent as it came was counted. The transcript keeps it alive, so that an id names nothing else.
    for index, message in enumerate(transcript.history):
        tokens[id(message)] = between(index, index + 1)
    origins = ["preamble"] * len(transcript.preamble)
    if compaction is None:
        origins += ["verbatim"] * (len(messages) - len(origins))
    else:
        start = 0
        if view.summary_message is not None:
            origins.append("summary")
            if view.acknowledgement is not None:
                origins.append("acknowledgement")
            if view.opener is not None:
                origins.append("quoting" if view.opener in view.recalls else "opener")
            start = compaction.covers
        for index in range(start, len(transcript.history)):
            is_quoting = index in view.recalls
            origins.append("quoting" if is_quoting else _describe_change(context, compaction, index))
    return tuple(
        (declared_role(m), tokens.get(id(m)) or context.calibrated_tokens(m), origin)
        for m, origin in zip(messages, origins, strict=True)
    )


def _describe_change(context: RequestContext, compaction: Compaction, index: int) -> str:
    """Tell how a message that stands in the view was changed, if it was."""
    if is_cleared(compaction, index, context):
        return "cleared"
    message = context.transcript.history[index]
    return "verbatim" if apply_compaction(compaction, index, context) is message else "shortened"
