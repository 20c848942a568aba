"""What the client sent and what the model got at one call, message by message."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gateway_compaction.core.conversation.messages import Message, declared_role
from gateway_compaction.core.planning.context import RequestContext
from gateway_compaction.core.planning.plan import Plan
from gateway_compaction.core.planning.render import View, is_cleared, shown
from gateway_compaction.core.records.call_snapshot import CallSnapshot
from gateway_compaction.core.records.compaction import Compaction

__all__ = ["build_snapshot"]

QUOTED = re.compile(r"(?m)^\[(\d{1,9}) ")


def build_snapshot(
    s: RequestContext, plan: Plan, messages: Sequence[Message] | None, at: float
) -> CallSnapshot:
    """A call as operators look at it; ``messages`` are those sent in place of the client's, if any.

    The messages themselves are in it where the policy lets them be stored.
    """
    view = plan.view if messages is not None else View(tokens=plan.tokens_before)
    client = (*s.transcript.preamble, *s.transcript.history)
    full = s.policy.storage.content == "full"
    used = view.compaction
    return CallSnapshot(
        at=at,
        sent=_sent(s, view),
        saw=_saw(s, view, messages or client),
        client=client if full else None,
        model=tuple(messages or client) if full else None,
        levels=(
            int(s.levels.light),
            int(s.levels.medium),
            int(s.levels.aggressive),
        ),
        window=s.window,
        fixed=s.measure.fixed,
        covers=used.covers if used else 0,
        version=(used.version or None) if used else None,
        cuts=tuple(len(s.transcript.preamble) + cut for cut in s.transcript.cuts),
    )


def _sent(s: RequestContext, view: View) -> tuple[tuple[str, int, str], ...]:
    head = [(declared_role(m), s.calibrated_tokens(m), "preamble") for m in s.transcript.preamble]
    quoted = _quoted(view)
    tail = [
        (declared_role(m), s.measure.between(i, i + 1), _fate(s, view, i, quoted))
        for i, m in enumerate(s.transcript.history)
    ]
    return (*head, *tail)


def _fate(s: RequestContext, view: View, index: int, quoted: frozenset[int]) -> str:
    """What became of a message of the history."""
    compaction = view.compaction
    if compaction is None or index == view.opener:
        return "verbatim"
    if view.summary_message is not None and index < compaction.covers:
        return "recalled" if index in quoted else "covered"
    return _changed(s, compaction, index)


def _changed(s: RequestContext, compaction: Compaction, index: int) -> str:
    """How a message that stands in the view was changed, if it was."""
    message = s.transcript.history[index]
    if is_cleared(compaction, index, message, s.raw_tokens):
        return "cleared"
    return "verbatim" if shown(compaction, index, message, s.raw_tokens) is message else "shortened"


def _quoted(view: View) -> frozenset[int]:
    """Indexes of covered messages of which passages are quoted: each line of a quote begins with its own."""
    return frozenset(int(n) for text in view.recalls.values() for n in QUOTED.findall(text))


def _saw(s: RequestContext, view: View, messages: Sequence[Message]) -> tuple[tuple[str, int, str], ...]:
    return tuple(
        (declared_role(m), s.calibrated_tokens(m), origin)
        for m, origin in zip(messages, _origins(s, view, len(messages)), strict=True)
    )


def _origins(s: RequestContext, view: View, length: int) -> list[str]:
    """Where each message that the model got comes from, in the order of ``render``."""
    head = ["preamble"] * len(s.transcript.preamble)
    compaction, start = view.compaction, 0
    if compaction is None:
        return [*head, *["verbatim"] * (length - len(head))]
    if view.summary_message is not None:
        head.append("summary")
        if view.acknowledge:
            head.append("acknowledgement")
        if view.opener is not None:
            head.append("quoting" if view.opener in view.recalls else "opener")
        start = compaction.covers
    rest = range(start, len(s.transcript.history))
    return [*head, *("quoting" if i in view.recalls else _changed(s, compaction, i) for i in rest)]
