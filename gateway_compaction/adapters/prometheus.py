"""Metrics for Prometheus: on LiteLLM's own ``/metrics`` where its callback is on, else by ``render_metrics``.

With several workers every process writes to the folder PROMETHEUS_MULTIPROC_DIR, as LiteLLM's own metrics do,
and whoever renders reads them all. Labels are the policy file's names and words of ours: never what a client
can choose, or one client could make time series without end.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Literal

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Metric,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from gateway_compaction.core.records.event import CompactionEvent
from gateway_compaction.telemetry import NoTelemetry, Sample, Stage, Telemetry

log = logging.getLogger("gateway_compaction")
PREFIX = "gateway_compaction_"

# The variable by which prometheus_client finds the folder that several workers share.
FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"

# Policies with a label of their own. After many reloads with new names, the rest is OTHER.
MOST_POLICIES = 50
OTHER = "other"

# Upper bounds of the histograms' buckets, in seconds.
HOOK_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0)
SUMMARY_SECONDS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 60.0, 120.0, 300.0)

# By name: what it counts, and its labels.
COUNTERS = {
    "requests": ("Requests decided about.", ("policy", "level", "outcome", "endpoint")),
    "uncovered_requests": ("Calls through doors that are not covered; they pass untouched.", ("door",)),
    "tokens_before": ("Tokens of calls near their window as they came.", ("policy", "mode")),
    "tokens_after": ("Tokens of what was sent for them, or in observe would be.", ("policy", "mode")),
    "cache_breaks": ("Calls that were sent a compaction for the first time.", ("policy",)),
    "refusals": ("Rewritten requests that the provider refused with 400, 413 or 422.", ("policy",)),
    "length_refusals": (
        "Requests that a provider refused as too long, by what became of them.",
        ("policy", "result"),
    ),
    "summaries": ("Summaries in the background.", ("outcome",)),
    "summary_cost_dollars": ("What the summaries that were made cost.", ("policy",)),
}

# By name: what it measures, its label, and its buckets.
HISTOGRAMS = {
    "hook_seconds": ("Time of a request in the plugin, by how far its decision came.", "stage", HOOK_SECONDS),
    "summary_seconds": ("Time from the claim to a summary or its failure.", "outcome", SUMMARY_SECONDS),
}

# By name: what it tells, and how the values of several workers become one, of those that live.
GAUGES: Mapping[str, tuple[str, Literal["livesum", "livemax", "livemin"]]] = {
    "queue_length": ("Summaries waiting or being made.", "livesum"),
    "store_breaker_open": ("1 while the store is not asked, because it failed.", "livemax"),
    "summarisers_open": ("Summariser models that are not asked, because they failed.", "livemax"),
    "windows_learned": ("Deployments whose window is known from refusals.", "livemax"),
    "policy_problem": ("1 while the policy file as it is now cannot be used.", "livemax"),
    "policy_loaded_timestamp_seconds": ("When the policies in force were read.", "livemin"),
}


@cache
def get_telemetry(registry: CollectorRegistry = REGISTRY) -> Telemetry:
    """Return the telemetry of a registry, always the same: a registry refuses a second metric of a name.

    Where the workers' folder cannot be written there is none, and a warning: requests go on without metrics.
    """
    folder = os.environ.get(FOLDER_VARIABLE)
    try:
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
        return PrometheusTelemetry(registry)
    except OSError as error:
        log.warning("no metrics: %s=%s cannot be used (%s)", FOLDER_VARIABLE, folder, error.strerror)
        return NoTelemetry()


def render_metrics(registry: CollectorRegistry = REGISTRY) -> tuple[bytes, str]:
    """Return our metrics of all workers as text, and its content type; of several workers from files."""
    return generate_latest(_OwnMetrics(_collect_workers(registry))), CONTENT_TYPE_LATEST


def _collect_workers(registry: CollectorRegistry) -> CollectorRegistry:
    """Return a registry with the metrics of all workers; where there is one worker, its own."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder or not os.path.isdir(folder):
        return registry
    registry = CollectorRegistry()
    MultiProcessCollector(registry, path=folder)  # type: ignore[no-untyped-call]
    return registry


class _OwnMetrics(Collector):
    """The metrics of this package alone: the host's have a route, and rights, of their own."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector

    def collect(self) -> Iterable[Metric]:
        """See ``Collector``."""
        return (metric for metric in self._collector.collect() if metric.name.startswith(PREFIX))


class PrometheusTelemetry:
    """``Telemetry`` for Prometheus, one for each registry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._policies: set[str] = set()
        # Outcomes of summaries as of the last sample: a sample tells totals, a counter takes differences.
        self._counted: dict[str, int] = {}
        self._counters = {
            name: Counter(PREFIX + name, text, labels, registry=registry)
            for name, (text, labels) in COUNTERS.items()
        }
        self._histograms = {
            name: Histogram(PREFIX + name, text, (label,), buckets=buckets, registry=registry)
            for name, (text, label, buckets) in HISTOGRAMS.items()
        }
        self._gauges = {
            name: Gauge(PREFIX + name, text, multiprocess_mode=mode, registry=registry)
            for name, (text, mode) in GAUGES.items()
        }

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
        labels = (self._to_label(policy), level or "none", outcome, endpoint or "none")
        self._counters["requests"].labels(*labels).inc()
        self._histograms["hook_seconds"].labels(stage).observe(seconds)

    def record_call(self, event: CompactionEvent, ending: str, *, rewritten: bool, cache_break: bool) -> None:
        """See ``Telemetry``."""
        policy = self._to_label(event.policy)
        if ending == "refused":
            if rewritten:
                self._counters["refusals"].labels(policy).inc()
            return
        if ending == "cached":
            return
        mode = "observe" if event.outcome == "observed" else "enforce"
        self._counters["tokens_before"].labels(policy, mode).inc(event.tokens_before)
        self._counters["tokens_after"].labels(policy, mode).inc(event.tokens_after)
        if cache_break:
            self._counters["cache_breaks"].labels(policy).inc()

    def record_uncovered(self, door: str) -> None:
        """See ``Telemetry``."""
        self._counters["uncovered_requests"].labels(door).inc()

    def record_length_refusal(self, policy: str, result: str) -> None:
        """See ``Telemetry``."""
        self._counters["length_refusals"].labels(self._to_label(policy), result).inc()

    def record_summary(self, event: CompactionEvent) -> None:
        """See ``Telemetry``."""
        if event.seconds is not None:
            self._histograms["summary_seconds"].labels(event.outcome).observe(event.seconds)
        if event.cost:
            self._counters["summary_cost_dollars"].labels(self._to_label(event.policy)).inc(event.cost)

    def record_sample(self, sample: Sample) -> None:
        """See ``Telemetry``."""
        self._gauges["queue_length"].set(sample.queued)
        self._gauges["store_breaker_open"].set(sample.store_open)
        self._gauges["summarisers_open"].set(sample.summarisers_open)
        self._gauges["windows_learned"].set(sample.windows_learned)
        self._gauges["policy_problem"].set(sample.policies_refused)
        if sample.policies_loaded_at is not None:
            self._gauges["policy_loaded_timestamp_seconds"].set(sample.policies_loaded_at)
        for outcome, count in sample.counts.items():
            new = count - self._counted.get(outcome, 0)
            self._counters["summaries"].labels(outcome).inc(new)
            self._counted[outcome] = count

    def _to_label(self, policy: str | None) -> str:
        """Return a policy's name as a label; beyond ``MOST_POLICIES`` names the rest is one."""
        name = policy or "none"
        if name not in self._policies and len(self._policies) >= MOST_POLICIES:
            return OTHER
        self._policies.add(name)
        return name
