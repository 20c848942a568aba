"""Everything that a decision about one request depends on."""

from __future__ import annotations

from dataclasses import dataclass

from gateway_compaction.core.compaction import Compaction
from gateway_compaction.core.desk import Desk
from gateway_compaction.core.messages import Transcript
from gateway_compaction.core.policy import Policy
from gateway_compaction.core.tokens import Measure

__all__ = ["Situation", "fitting"]


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


def fitting(s: Situation) -> list[Compaction]:
    """Those that stand for exactly the messages this request begins with, and end where it may be cut."""
    return [
        c
        for c in s.compactions
        if (c.covers in s.transcript.openers or c.covers == 0) and s.chain[c.covers] == c.digest
    ]
