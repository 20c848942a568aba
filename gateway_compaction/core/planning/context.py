"""Everything that a decision about one request depends on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gateway_compaction.core.conversation.transcript import Transcript
from gateway_compaction.core.planning.views import ViewBuilder
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.recall.recall import recall_reserve
from gateway_compaction.core.records.compaction import Compaction
from gateway_compaction.core.records.controls import SessionControls
from gateway_compaction.core.tokens.counter import Measure, output_reserve

__all__ = ["RequestContext", "fitting", "reserved"]

ALIKE = 0.9


@dataclass(frozen=True, slots=True)
class RequestContext:
    """Everything a plan depends on.

    ``compactions`` are those whose digest the request's own chain holds at their cover; ``in_flight``,
    ``bypass`` and ``backoff`` are as the store tells. ``digests`` names each message of the history.
    ``controls`` is what operators asked of the session.
    """

    transcript: Transcript
    chain: tuple[str, ...]
    measure: Measure
    window: int
    policy: Policy
    views: ViewBuilder
    compactions: tuple[Compaction, ...] = ()
    in_flight: bool = False
    bypass: str | None = None
    backoff: str | None = None
    digests: tuple[bytes, ...] = ()
    controls: SessionControls = field(default_factory=SessionControls)

    def with_controls(self, controls: SessionControls) -> RequestContext:
        """The same, with what operators asked for."""
        return replace(self, controls=controls, views=replace(self.views, pins=controls.pins))


def fitting(s: RequestContext) -> list[Compaction]:
    """Those that stand for exactly the messages this request begins with, and end where it may be cut.

    What was shortened without a model for a smaller window is none for this one: here more can stay.
    """
    found = []
    for c in s.compactions:
        if (c.covers in s.transcript.openers or c.covers == 0) and s.chain[c.covers] == c.digest:
            if c.window == 0 or c.window >= ALIKE * s.window:
                found.append(c)
            elif c.kind == "model":
                found.append(replace(c, clip=None, window=0))
    return found


def reserved(body: Mapping[str, Any], window: int, policy: Policy) -> int:
    """Tokens kept free: for the answer, and for a recall budget larger than what lies above medium."""
    slack = int((policy.levels.aggressive.at - policy.levels.medium.at) * window)
    quotes = recall_reserve(policy.recall.max_tokens, window, slack)
    return output_reserve(body, window, policy.output_reserve) + quotes
