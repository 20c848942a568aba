"""The snapshot of one call for operators: what the client sent and what the model got, message by message."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from gateway_compaction.core.conversation.digest import digest_history
from gateway_compaction.core.conversation.messages import Message, declared_role
from gateway_compaction.core.conversation.transcript import parse_transcript
from gateway_compaction.core.planning.caches import DerivedCache
from gateway_compaction.core.planning.context import RequestContext
from gateway_compaction.core.planning.plan import Plan
from gateway_compaction.core.planning.views import View, apply_compaction, is_cleared
from gateway_compaction.core.records.call_snapshot import CallSnapshot
from gateway_compaction.core.records.compaction import Compaction
from gateway_compaction.core.redaction.detector import Detector
from gateway_compaction.core.redaction.marks import NO_MARKS, Redactor
from gateway_compaction.errors import TranscriptError

QUOTED = re.compile(r"(?m)^\[(\d{1,9}) ")
"""Each line of a quote begins with the index of the message that it was taken from."""

MOST_CACHED = 1_000
"""Messages whose secrets are remembered between the two looks at them, where a snapshot is filled."""


def build_snapshot(
    context: RequestContext,
    plan: Plan,
    messages: Sequence[Message] | None,
    at: float,
    endpoint: str | None = None,
    exchange: int = 0,
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
        exchange: of a kept conversation, that which holds what was sent as it came; then the messages are
            not put in again. They would be masked, written and stored with each call, which takes longer
            than all the rest of it.
    """
    view = plan.view if messages is not None else View(tokens=plan.tokens_before)
    transcript, levels, used = context.transcript, context.levels, view.compaction
    client, sent = (*transcript.preamble, *transcript.history), _describe_sent(context, view)
    full = context.policy.storage.content == "full"
    redactor = context.redactor
    exchange = exchange if full and messages is None else 0
    if exchange:
        client = transcript.preamble
    marks = redactor.marks() if full and (client or not exchange) else NO_MARKS
    return CallSnapshot(
        at=at,
        sent=sent,
        saw=_describe_seen(context, view, messages or client) if view.compaction else sent,
        client=redactor.mask_whole(client, marks) if full else None,
        model=redactor.mask_whole(messages or client, marks) if full and not exchange else None,
        levels=(int(levels.light), int(levels.medium), int(levels.aggressive)),
        window=context.window,
        fixed=context.measure.fixed + context.measure.unexplained,
        covers=used.covers if used else 0,
        version=(used.version or None) if used else None,
        cuts=tuple(len(transcript.preamble) + cut for cut in transcript.cuts),
        endpoint=endpoint,
        exchange=exchange,
    )


def fill_snapshot(call: CallSnapshot, messages: Sequence[Message] | None, detector: Detector) -> CallSnapshot:
    """Put the messages into a snapshot that only says where they stand.

    Without them, where they are not there any more, or are others than were counted.

    Args:
        call: as it is stored.
        messages: those of its conversation that it sent, without the preamble; None where they are gone.
        detector: finds the secrets that are masked, as everywhere in what operators see.
    """
    bare = replace(call, client=None, model=None, exchange=0)
    try:
        history = parse_transcript(messages or ()).history
    except TranscriptError:
        return bare
    preamble = call.client or ()
    if [role for role, _, _ in call.sent] != [declared_role(m) for m in (*preamble, *history)]:
        return bare
    redactor = Redactor(detector, history, digest_history(history), DerivedCache(MOST_CACHED))
    masked = (*preamble, *redactor.mask_whole(history, redactor.marks()))
    return replace(call, client=masked, model=masked, exchange=0)


def _describe_sent(context: RequestContext, view: View) -> tuple[tuple[str, int, str], ...]:
    """Return role, tokens and fate of each message that the client sent."""
    count, transcript, compaction = context.calibrated_tokens, context.transcript, view.compaction
    quoted = {int(index) for text in view.recalls.values() for index in QUOTED.findall(text)}
    described = [(declared_role(m), count(m), "preamble") for m in transcript.preamble]
    if compaction is None:
        sizes = zip(transcript.history, pairwise(context.measure.history), strict=True)
        return (*described, *[(declared_role(m), end - start, "verbatim") for m, (start, end) in sizes])
    for index, message in enumerate(transcript.history):
        if index == view.opener:
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
    """Return role, tokens and origin of each message of a compacted view, in the order of ``render``."""
    transcript, compaction = context.transcript, view.compaction
    assert compaction is not None
    between, tokens = context.measure.between, dict[int, int]()
    # What is sent as it came was counted. The transcript keeps it alive, so that an id names nothing else.
    for index, message in enumerate(transcript.history):
        tokens[id(message)] = between(index, index + 1)
    origins = ["preamble"] * len(transcript.preamble)
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
