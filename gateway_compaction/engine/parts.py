"""The parts that the engine's classes share within one process."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from gateway_compaction.core.tokens.counter import TokenCounter
from gateway_compaction.core.tokens.windows import WindowBook
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
        windows: what refusals have taught of deployments' windows.
        local: what this process knows and the store may not have yet.
        surpluses: what providers count in a conversation and we do not.
        rewrite_detector: notices clients whose summaries can never be used.
        telemetry: takes measurements.
        clock: tells the seconds since 1970.
    """

    store: Store
    counter: TokenCounter = field(default_factory=TokenCounter)
    windows: WindowBook = field(default_factory=WindowBook)
    local: LocalBuffer = field(default_factory=LocalBuffer)
    surpluses: SessionSurpluses = field(default_factory=SessionSurpluses)
    rewrite_detector: RewriteDetector = field(default_factory=RewriteDetector)
    telemetry: Telemetry = field(default_factory=NoTelemetry)
    clock: Callable[[], float] = time.time
