"""Metrics: what is counted, by several workers too; the page, the dashboard and the alerts that name them."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from gateway_compaction.adapters.policy_watcher import PolicySource
from gateway_compaction.adapters.prometheus import (
    COUNTERS,
    GAUGES,
    HISTOGRAMS,
    PREFIX,
    PrometheusTelemetry,
    get_telemetry,
    render_metrics,
)
from gateway_compaction.core.policy.book import Identity
from gateway_compaction.core.records.event import CompactionEvent
from gateway_compaction.engine.post_call import Ending
from gateway_compaction.engine.request import Request
from gateway_compaction.ports import Caller
from gateway_compaction.runtime import Runtime, build
from gateway_compaction.settings import Settings
from gateway_compaction.telemetry import CacheBreakDetector, NoTelemetry, Sample, Telemetry
from tests.engine.histories import chat, grown
from tests.engine.rig import Fixed, Scripted
from tests.policy_books import book, entry

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
SAMPLE = Sample(0, {}, False, 0)
Labels = dict[str, str]


class Read:
    """What Prometheus would read."""

    def __init__(self, registry: CollectorRegistry) -> None:
        body, content_type = render_metrics(registry)
        assert content_type.startswith("text/plain")
        self.samples = [
            sample
            for family in text_string_to_metric_families(body.decode())
            for sample in family.samples
            if not sample.name.endswith("_created")
        ]

    def value(self, name: str, **labels: str) -> float:
        """The sum of the samples of a name that have these labels."""
        return sum(
            s.value for s in self.samples if s.name == PREFIX + name and labels.items() <= s.labels.items()
        )


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> CollectorRegistry:
    monkeypatch.delenv("PROMETHEUS_MULTIPROC_DIR", raising=False)
    return CollectorRegistry()


@pytest.fixture
async def runtimes(registry: CollectorRegistry) -> AsyncIterator[Callable[..., Runtime]]:
    made: list[Runtime] = []

    def make(defaults: dict[str, Any], *policies: Any, summarizer: Scripted | None = None) -> Runtime:
        policy_book = book({"recall": {"max_tokens": 0}, **defaults}, *policies)
        settings = Settings(redis_url=None, redis_timeout_seconds=5.0)
        models = Fixed(2_000, small=100_000)
        telemetry = PrometheusTelemetry(registry)
        made.append(build(settings, models, summarizer or Scripted(), lambda: policy_book, telemetry))
        return made[-1]

    yield make
    for runtime in made:
        await runtime.aclose()


async def talk(
    runtime: Runtime,
    messages: int,
    ending: Ending | None = None,
    *,
    model: str = "gpt-4o",
    tenant: str = "t" * 32,
    identity: Identity | None = None,
) -> list[Any]:
    """A conversation, each call decided, answered and followed up."""
    identity = identity or Identity(model=model)
    decisions = []
    for call in grown(chat(messages)):
        request = Request(list(call), {}, model, tenant, identity, Caller(model))
        decision = await runtime.compactor.compact(request)
        runtime.post_call.measure_decision(decision, 0.003)
        runtime.post_call.follow(decision, ending or Ending("answered"))
        await runtime.worker.drain(20.0)
        decisions.append(decision)
    return decisions


class TestCounting:
    """From requests to numbers."""

    async def test_a_conversation(
        self, runtimes: Callable[..., Runtime], registry: CollectorRegistry
    ) -> None:
        runtime = runtimes({"summary": {"model": "small"}})
        decisions = await talk(runtime, 89)
        runtime.telemetry.record_sample(runtime.take_sample())
        read = Read(registry)
        for outcome in ("none", "prepared", "applied"):
            wanted = sum(d.outcome == outcome for d in decisions)
            assert read.value("requests_total", outcome=outcome, policy="default") == wanted > 0
        levels = [d.level or "none" for d in decisions]
        for level in set(levels):
            assert read.value("requests_total", level=level) == levels.count(level)
        assert read.value("hook_seconds_count") == len(decisions)
        assert read.value("hook_seconds_bucket", le="0.005") == len(decisions)
        assert read.value("hook_seconds_bucket", le="0.0025") == 0
        closely = [d for d in decisions if d.session is not None]
        assert read.value("tokens_before_total", mode="enforce") == sum(d.tokens_before for d in closely)
        assert read.value("tokens_after_total", mode="enforce") == sum(d.tokens_after for d in closely)
        versions = {d.version for d in decisions if d.version}
        assert read.value("cache_breaks_total") == len(versions) == 4
        assert read.value("summaries_total", outcome="made") == 4
        assert read.value("summary_seconds_count", outcome="made") == 4

    async def test_stages(self, runtimes: Callable[..., Runtime], registry: CollectorRegistry) -> None:
        runtime = runtimes({"summary": {"model": "extractive"}})
        decisions = await talk(runtime, 41)
        planned = sum(d.session is not None for d in decisions)
        quiet = sum(d.stage == "quiet" for d in decisions)
        read = Read(registry)
        assert read.value("hook_seconds_count", stage="planned") == planned > 0
        assert read.value("hook_seconds_count", stage="quiet") == quiet > 0
        assert read.value("hook_seconds_count", stage="counted") == len(decisions) - planned - quiet
        runtime.post_call.measure_decision(None, 0.5)
        read = Read(registry)
        assert read.value("hook_seconds_count", stage="failed") == 1
        assert read.value("requests_total", outcome="failed", policy="none", level="none") == 1

    async def test_shadow_mode_counts_what_would_be(
        self, runtimes: Callable[..., Runtime], registry: CollectorRegistry
    ) -> None:
        runtime = runtimes(
            {"mode": "observe", "summary": {"model": "extractive"}}, entry("lab", {"team": "lab"})
        )
        await talk(runtime, 61, identity=Identity(team_id="lab"))
        read = Read(registry)
        assert read.value("tokens_before_total", mode="enforce") == 0
        after = read.value("tokens_after_total", mode="observe", policy="lab")
        assert 0 < after < read.value("tokens_before_total", mode="observe", policy="lab")
        assert read.value("cache_breaks_total") == 0

    async def test_refusals(self, runtimes: Callable[..., Runtime], registry: CollectorRegistry) -> None:
        runtime = runtimes({"summary": {"model": "extractive"}})
        decisions = await talk(runtime, 61, Ending("refused"))
        rewritten = sum(d.messages is not None for d in decisions)
        read = Read(registry)
        assert read.value("refusals_total", policy="default") == rewritten > 0
        assert read.value("tokens_before_total") == read.value("cache_breaks_total") == 0

    async def test_what_the_response_cache_answered_cost_nothing(
        self, runtimes: Callable[..., Runtime], registry: CollectorRegistry
    ) -> None:
        await talk(runtimes({"summary": {"model": "extractive"}}), 61, Ending("cached"))
        read = Read(registry)
        assert read.value("tokens_before_total") == read.value("refusals_total") == 0
        assert read.value("requests_total") > 0

    async def test_failed_summaries_and_a_summariser_that_rests(
        self, runtimes: Callable[..., Runtime], registry: CollectorRegistry
    ) -> None:
        summarizer = Scripted(*["I cannot help with that."] * 50)
        runtime = runtimes({"summary": {"model": "small"}}, summarizer=summarizer)
        await talk(runtime, 41)
        runtime.telemetry.record_sample(runtime.take_sample())
        read = Read(registry)
        failed = read.value("summaries_total", outcome="failed")
        assert failed == runtime.worker.counts["failed"] > 0
        assert read.value("summary_seconds_count", outcome="failed") == failed
        assert read.value("summarisers_open") == len(runtime.summary_pipeline.paused_models)

    def test_cost_and_what_sampling_adds(self, registry: CollectorRegistry) -> None:
        telemetry = PrometheusTelemetry(registry)
        event = CompactionEvent("summary", 0.0, "made", "model", policy="lab", seconds=2.0, cost=0.25)
        telemetry.record_summary(event)
        telemetry.record_summary(event)
        for made in (3, 5):
            telemetry.record_sample(Sample(made, {"made": made}, True, 2, 1_000.0, True))
        read = Read(registry)
        assert read.value("summary_cost_dollars_total", policy="lab") == 0.5
        assert read.value("summary_seconds_sum") == 4.0
        assert read.value("summaries_total", outcome="made") == 5
        gauges = ("queue_length", "store_breaker_open", "summarisers_open", "policy_problem")
        assert [read.value(name) for name in gauges] == [5, 1, 2, 1]
        assert read.value("policy_loaded_timestamp_seconds") == 1_000.0
        telemetry.record_sample(Sample(0, {"made": 5}, False, 0))
        assert [Read(registry).value(name) for name in gauges] == [0, 0, 0, 0]

    async def test_a_policy_file_that_cannot_be_used(
        self, tmp_path: Path, registry: CollectorRegistry
    ) -> None:
        path = tmp_path / "policies.yaml"
        path.write_text("version: 1\n")
        source = PolicySource(path)
        telemetry = PrometheusTelemetry(registry)
        runtime = build(Settings(redis_url=None), Fixed(2_000), Scripted(), source, telemetry)
        telemetry.record_sample(runtime.take_sample())
        assert Read(registry).value("policy_problem") == 0
        loaded = Read(registry).value("policy_loaded_timestamp_seconds")
        assert loaded == source.state.loaded_at
        path.write_text("version: 2\n")
        source.reload_if_changed()
        source.reload_if_changed()
        telemetry.record_sample(runtime.take_sample())
        assert Read(registry).value("policy_problem") == 1
        await runtime.aclose()


class TestLabels:
    """Few, and never chosen by a client."""

    def test_names_of_policies_are_bounded(self, registry: CollectorRegistry) -> None:
        telemetry = PrometheusTelemetry(registry)
        for number in range(200):
            telemetry.record_decision("none", None, f"policy {number}", "chat", "quiet", 0.0)
        policies = {s.labels["policy"] for s in Read(registry).samples if "policy" in s.labels}
        assert len(policies) == 51 and "other" in policies
        assert Read(registry).value("requests_total") == 200

    async def test_nothing_of_a_client_is_in_them(
        self, runtimes: Callable[..., Runtime], registry: CollectorRegistry
    ) -> None:
        runtime = runtimes({"summary": {"model": "extractive"}})
        identity = Identity(team_id="secret-team", user_id="secret-user", model="secret-model")
        await talk(runtime, 61, identity=identity, model="secret-model", tenant="secret" * 6)
        assert b"secret" not in render_metrics(registry)[0]

    def test_the_host_s_own_metrics_are_not_shown(self, registry: CollectorRegistry) -> None:
        from prometheus_client import Counter

        Counter("litellm_something", "Of somebody else.", registry=registry).inc()
        PrometheusTelemetry(registry).record_sample(SAMPLE)
        assert b"litellm_something" not in render_metrics(registry)[0]

    def test_one_for_each_registry(self, registry: CollectorRegistry) -> None:
        assert get_telemetry(registry) is get_telemetry(registry)


class TestWorkers:
    """Several processes, one folder."""

    SCRIPT = """
import sys
from gateway_compaction.adapters.prometheus import get_telemetry
from gateway_compaction.telemetry import Sample
telemetry = get_telemetry()
for _ in range(int(sys.argv[1])):
    telemetry.record_decision("applied", "medium", "default", "chat", "planned", 0.02)
telemetry.record_sample(Sample(int(sys.argv[1]), {"made": 1}, sys.argv[1] == "3", 0, float(sys.argv[1])))
"""
    READER = """
import os, sys
from gateway_compaction.adapters.prometheus import render_metrics
sys.stdout.buffer.write(render_metrics()[0])
"""

    def run(self, folder: Path, script: str, *arguments: str) -> str:
        env = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(folder), "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", script, *arguments]
        done = subprocess.run(command, env=env, check=True, capture_output=True, text=True, timeout=60)
        assert done.stderr == ""
        return done.stdout

    def test_they_are_added_up(self, tmp_path: Path) -> None:
        folder = tmp_path / "made by the first"
        self.run(folder, self.SCRIPT, "2")
        self.run(folder, self.SCRIPT, "3")
        lines = self.run(folder, self.READER).splitlines()
        assert (
            "gateway_compaction_requests_total{"
            'endpoint="chat",level="medium",outcome="applied",policy="default"} 5.0' in lines
        )
        assert 'gateway_compaction_hook_seconds_count{stage="planned"} 5.0' in lines
        assert "gateway_compaction_queue_length 5.0" in lines
        assert "gateway_compaction_store_breaker_open 1.0" in lines
        assert "gateway_compaction_policy_loaded_timestamp_seconds 2.0" in lines
        assert 'gateway_compaction_summaries_total{outcome="made"} 2.0' in lines

    def test_a_folder_that_cannot_be_made_costs_the_metrics_alone(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        script = (
            "from gateway_compaction.adapters.prometheus import get_telemetry;"
            " print(type(get_telemetry()).__name__)"
        )
        env = {
            **os.environ,
            "PROMETHEUS_MULTIPROC_DIR": str(tmp_path / "file" / "x"),
            "PYTHONPATH": str(ROOT),
        }
        done = subprocess.run(
            [sys.executable, "-c", script], env=env, check=True, capture_output=True, text=True, timeout=60
        )
        assert done.stdout.strip() == "NoTelemetry" and "no metrics" in done.stderr


def test_an_epoch_begins_once() -> None:
    epochs = CacheBreakDetector(entries=2)
    assert epochs.record_sent("s", "a", "model") and not epochs.record_sent("s", "a", "model")
    assert epochs.record_sent("s", "a", "extractive") and not epochs.record_sent("s", "a", "model")
    assert epochs.record_sent("t", "a", "model") and epochs.record_sent("s", "a", "extractive")


@pytest.mark.parametrize("one", [NoTelemetry, PrometheusTelemetry])
def test_who_measures_takes_all_that_is_measured(one: type[object]) -> None:
    asked = {name: method for name, method in vars(Telemetry).items() if not name.startswith("_")}
    assert set(asked) == {
        "record_decision", "record_call", "record_uncovered", "record_length_refusal", "record_summary",
        "record_sample",
    }  # fmt: skip
    taken = {name: inspect.signature(getattr(one, name)) for name in asked}
    assert taken == {name: inspect.signature(method) for name, method in asked.items()}


def test_silence_measures_nothing() -> None:
    silent: Any = NoTelemetry()
    event = CompactionEvent("request", 0.0, "none", "")
    told = [
        silent.record_decision("none", None, None, None, "quiet", 0.0),
        silent.record_call(event, "answered", rewritten=False, cache_break=False),
        silent.record_uncovered("/v1/messages"),
        silent.record_summary(CompactionEvent("summary", 0.0, "made", "")),
        silent.record_sample(SAMPLE),
    ]
    assert told == [None] * 5 and not vars(silent)


# --- the page, the dashboard, the alerts


@pytest.fixture
def existing() -> dict[str, tuple[str, set[str]]]:
    """Kind and labels of each metric, by the name it is documented with."""
    kinds = {f"{PREFIX}{name}_total": ("counter", set(labels)) for name, (_, labels) in COUNTERS.items()}
    kinds |= {PREFIX + name: ("histogram", {label}) for name, (_, label, _) in HISTOGRAMS.items()}
    return kinds | {PREFIX + name: ("gauge", set()) for name in GAUGES}


def test_the_page_lists_every_metric_with_its_kind_and_labels(
    existing: dict[str, tuple[str, set[str]]],
) -> None:
    rows = [[c.strip() for c in line.strip("|").split("|")] for line in PAGE.splitlines()]
    listed = {
        row[0].strip("`"): (row[1], set(re.findall(r"`(\w+)`", row[2])))
        for row in rows
        if row[0].startswith(f"`{PREFIX}")
    }
    assert listed == existing


def names_in(text: str) -> set[str]:
    """Metrics that an expression names, without what histograms add to them."""
    found = set(re.findall(rf"{PREFIX}\w+", text))
    return {re.sub(r"(?<=_seconds)_(bucket|sum|count)$", "", name) for name in found}


def labels_in(text: str) -> set[str]:
    """Labels that an expression selects or groups by."""
    selected = {n for group in re.findall(r"\{([^}]*)\}", text) for n in re.findall(r"(\w+)\s*[=!]", group)}
    grouped = {n for group in re.findall(r"\bby \(([^)]*)\)", text) for n in re.findall(r"\w+", group)}
    return selected | grouped


def test_the_dashboard_names_what_there_is(existing: dict[str, tuple[str, set[str]]]) -> None:
    board = json.loads((ROOT / "config" / "grafana" / "gateway-compaction.json").read_text("utf-8"))
    expressions = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    expressions += [v["query"] for v in board["templating"]["list"] if v["type"] == "query"]
    named = {name for expression in expressions for name in names_in(expression)}
    assert named == set(existing)
    known = {"job", "le"}.union(*(labels for _, labels in existing.values()))
    assert {label for expression in expressions for label in labels_in(expression)} <= known
    places = [tuple(panel["gridPos"].values()) for panel in board["panels"]]
    assert len(set(places)) == len(places) and all(p["description"] for p in board["panels"])


def test_the_alerts_name_what_there_is(existing: dict[str, tuple[str, set[str]]]) -> None:
    document = yaml.safe_load((ROOT / "config" / "prometheus" / "alerts.yaml").read_text("utf-8"))
    [group] = document["groups"]
    for rule in group["rules"]:
        named = names_in(rule["expr"])
        assert named and named <= set(existing), rule["alert"]
        known = {"le"}.union(*(existing[name][1] for name in named))
        assert labels_in(rule["expr"]) <= known, rule["alert"]
    alerts = [rule["alert"] for rule in group["rules"]]
    assert re.findall(r"^\| `(Compaction\w+)`", PAGE, re.MULTILINE) == alerts
