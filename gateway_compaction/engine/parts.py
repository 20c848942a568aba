"""The parts that the engine's classes share within one process."""

from __future__ import annotations

from dataclasses import dataclass, field

from gateway_compaction.core.tokens.counter import TokenCounter
from gateway_compaction.engine.local_buffer import LocalBuffer
from gateway_compaction.engine.rewrite_detector import RewriteDetector
from gateway_compaction.engine.session_surpluses import SessionSurpluses
from gateway_compaction.ports import Store
from gateway_compaction.telemetry import NoTelemetry, Telemetry


@dataclass(frozen=True, slots=True)
class EngineParts:
    """The parts that compactor, worker and post-call work must share to see the same sessions.

    Attributes:
        store: where sessions live, shared by all replicas.
        counter: counts tokens, and learns from what providers report.
        local: what this process knows and the store may not have yet.
        surpluses: what providers count in a conversation and we do not.
        rewrite_detector: notices clients whose summaries can never be used.
        telemetry: takes measurements.
    """

    store: Store
    counter: TokenCounter = field(default_factory=TokenCounter)
    local: LocalBuffer = field(default_factory=LocalBuffer)
    surpluses: SessionSurpluses = field(default_factory=SessionSurpluses)
    rewrite_detector: RewriteDetector = field(default_factory=RewriteDetector)
    telemetry: Telemetry = field(default_factory=NoTelemetry)
