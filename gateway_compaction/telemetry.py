"""The contract of what a process tells those who measure it.

Message contents and ids are never part of it: metrics are read by more people than conversations.

To add a metric: its name in ``COUNTERS``, ``HISTOGRAMS`` or ``GAUGES`` of ``adapters.prometheus``, and

- of something that happens: fill it in the ``record_…`` method that is called then. A new kind of event is
  a new method, in ``Telemetry``, ``NoTelemetry`` and ``adapters.prometheus``, and a call of it in ``engine``,
  or in ``hook`` where only LiteLLM tells of it; tests/test_prometheus.py lists the methods.
- of a state: a field of ``Sample``, filled by ``runtime.Runtime.take_sample``, and set in ``record_sample``
  of ``adapters.prometheus``.
- of every call near its window: a field of ``CompactionEvent``, read in ``record_call``. That is stored as
  well, so it also needs a check in ``EVENT`` of ``adapters.redis.transfer_checks``, a line in docs/redis.md
  and, where it is a text, a place in ``TEXT_FIELDS`` of ``adapters.redis.codec`` (without which an event that
  has it is taken for unreadable). The API shows it: docs/api.md is made anew.

Then docs/metrics.md and the dashboard config/grafana/gateway-compaction.json, which tests compare with the
names; where somebody should be woken, config/prometheus/alerts.yaml. A label takes only names of the policy
file and words of ours, or one client could make time series without end.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from gateway_compaction.core.records.event import CompactionEvent

__all__ = ["CacheBreakDetector", "NoTelemetry", "PromptCacheDetector", "Sample", "Stage", "Telemetry"]

ENTRIES = 10_000
"""Entries that each detector below remembers; the least recently used go first."""

Stage = Literal["quiet", "counted", "planned", "failed"]
"""How far a decision came: settled by policy or size alone (``quiet``), after counting, with store and plan,
or ended by a fault of ours."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The state of one process at a moment.

    Attributes:
        queued: summaries waiting or being made.
        counts: what became of summaries since the start, by outcome.
        store_open: whether the store is not asked at present, because it failed.
        summarisers_open: how many summariser models are not asked at present.
        policies_loaded_at: when the policies in force were read, in seconds since 1970.
        policies_refused: whether the policy file as it is now cannot be used.
        windows_learned: deployments whose window is known from refusals.
    """

    queued: int
    counts: Mapping[str, int]
    store_open: bool
    summarisers_open: int
    policies_loaded_at: float | None = None
    policies_refused: bool = False
    windows_learned: int = 0


class Telemetry(Protocol):
    """Takes measurements. Never raises and never waits: it is called while a request waits."""

    def record_decision(
        self,
        outcome: str,
        level: str | None,
        policy: str | None,
        endpoint: str | None,
        stage: Stage,
        seconds: float,
    ) -> None:
        """Record that a request was decided about, and the seconds that it spent in the plugin for that."""
        ...

    def record_call(self, event: CompactionEvent, ending: str, *, rewritten: bool, cache_break: bool) -> None:
        """Record that a call near its window is over.

        Args:
            event: what was decided about it.
            ending: how it ended, as in ``post_call.Ending.kind``.
            rewritten: other messages were sent than came.
            cache_break: a compaction was sent for the first time, so the provider's cache did not serve.
        """
        ...

    def record_uncovered(self, door: str) -> None:
        """Record that a call came through a door that compaction does not cover."""
        ...

    def record_length_refusal(self, policy: str, result: str) -> None:
        """Record a refusal for length: the request was ``asked_again`` with less, or ``passed_on``."""
        ...

    def record_summary(self, event: CompactionEvent) -> None:
        """Record that a summary was made, or failed."""
        ...

    def record_sample(self, sample: Sample) -> None:
        """Record how the process is doing."""
        ...


class NoTelemetry:
    """Measures nothing: for replays and tests, and where the folder of the metrics cannot be written."""

    def record_decision(
        self,
        outcome: str,
        level: str | None,
        policy: str | None,
        endpoint: str | None,
        stage: Stage,
        seconds: float,
    ) -> None:
        """See ``Telemetry``."""

    def record_call(self, event: CompactionEvent, ending: str, *, rewritten: bool, cache_break: bool) -> None:
        """See ``Telemetry``."""

    def record_uncovered(self, door: str) -> None:
        """See ``Telemetry``."""

    def record_length_refusal(self, policy: str, result: str) -> None:
        """See ``Telemetry``."""

    def record_summary(self, event: CompactionEvent) -> None:
        """See ``Telemetry``."""

    def record_sample(self, sample: Sample) -> None:
        """See ``Telemetry``."""


class CacheBreakDetector:
    """Notices where the provider's prompt cache breaks: a session is sent a compaction for the first time.

    Each process remembers for itself: a conversation that moves between replicas counts once in each.
    """

    def __init__(self, entries: int = ENTRIES) -> None:
        self._entries = entries
        self._sent: OrderedDict[tuple[str, str, str], None] = OrderedDict()

    def record_sent(self, session_id: str, digest: str, kind: str) -> bool:
        """Note that a session is sent a compaction, and tell whether that is the first time."""
        key = (session_id, digest, kind)
        known = key in self._sent
        self._sent[key] = None
        self._sent.move_to_end(key)
        while len(self._sent) > self._entries:
            self._sent.popitem(last=False)
        return not known


class PromptCacheDetector:
    """Remembers for whom a provider has read a prompt from its cache, by tenant and model group.

    Whether prompts are cached depends on the provider, and with some on the marks that a client sets. One
    call does not tell: it may have read nothing only because its compaction was new.
    """

    def __init__(self, entries: int = ENTRIES) -> None:
        self._entries = entries
        self._seen: OrderedDict[tuple[str, str], None] = OrderedDict()

    def record_report(self, tenant: str, model: str, read: int) -> bool:
        """Note how many tokens were read from the cache, and tell whether any ever were."""
        key = (tenant, model)
        if read or key in self._seen:
            self._seen[key] = None
            self._seen.move_to_end(key)
        while len(self._seen) > self._entries:
            self._seen.popitem(last=False)
        return key in self._seen
