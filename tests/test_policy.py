"""Policies as values: the defaults, what a file may say, the presets and the schema."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from pydantic import ValidationError

from gateway_compaction.core.policy.book import Identity
from gateway_compaction.core.policy.document import build_policy_schema
from gateway_compaction.core.policy.fields import Preset
from gateway_compaction.core.policy.model import Policy, PolicyBody, find_conflicts, flatten, list_paths
from gateway_compaction.core.policy.presets import PRESETS
from tests.policy_books import book, tree

DESIGN_DEFAULTS = {
    "mode": "enforce",
    "preset": "hybrid",
    "optimize": "fit",
    "endpoints": ("chat", "messages", "responses"),
    "note": "light",
    "context_window": None,
    "unknown_window": "learn",
    "length_refusals": "fallback",
    "provider_compaction": "leave",
    "output_reserve": "auto",
    "layout": "messages",
    "single_message.recent_messages": 6,
    "single_message.message_chars": 2_000,
    "levels.light.at": 0.75,
    "levels.medium.at": 0.85,
    "levels.medium.keep_last": 10,
    "levels.medium.target": 0.25,
    "levels.aggressive.at": 0.95,
    "levels.aggressive.keep_last": 4,
    "levels.aggressive.target": 0.25,
    "levels.aggressive.wait_seconds": 0,
    "levels.aggressive.replace": "later",
    "triggers.tokens": None,
    "triggers.count": "tokens",
    "triggers.turns": None,
    "triggers.then": "prepare",
    "triggers.wait_seconds": 0,
    "summary.model": None,
    "summary.fallbacks": (),
    "summary.strategy": "segments",
    "summary.prompt": "general",
    "summary.max_tokens": "auto",
    "summary.rate": None,
    "summary.thinking_tokens": "auto",
    "summary.preserve_keys": (),
    "summary.message_chars": None,
    "summary.share_prefix": False,
    "summary.timeout_seconds": 60,
    "anchors.max": 5,
    "anchors.constraints_max_tokens": 400,
    "anchors.weights.explicit": 1.0,
    "anchors.weights.decision": 0.8,
    "anchors.weights.tool_result": 0.7,
    "anchors.weights.keyword": 0.5,
    "recall.max_tokens": "auto",
    "recall.priority": "balanced",
    "labels.headers": ("x-session-id", "x-litellm-session-id"),
    "storage.ttl": 604_800,
    "storage.content": "summaries",
    "storage.max_compactions": 2000,
    "storage.max_versions": 16,
    "storage.max_messages": 2000,
    "storage.max_bytes": 8_000_000,
    "storage.snapshots.number": 20,
    "storage.snapshots.age": 604_800,
    "storage.snapshots.interval": 1_800,
    "conversation.keep": "client",
    "conversation.parallel": "refuse",
    "conversation.wait_seconds": 30,
    "conversation.stream_event": False,
    "restore.allow": True,
    "restore.summary_chars": "auto",
    "restore.recent_tokens": "auto",
    "restore.reset_on": ("plan", "task"),
    "redact.secrets": True,
    "redact.pii": False,
    "redact.patterns": (),
    "bypass.header": "x-compaction",
    "bypass.allow": True,
}


def at(policy: Policy, path: str) -> Any:
    return flatten(policy)[path]


def test_the_defaults_are_those_of_the_design() -> None:
    assert flatten(PolicyBody()) == DESIGN_DEFAULTS
    assert list_paths() == tuple(DESIGN_DEFAULTS)
    assert Policy().name == "default"
    assert book().resolve(Identity()) == Policy()


def test_the_defaults_pass_their_own_checks() -> None:
    assert Policy.model_validate(Policy().model_dump()) == Policy()


@pytest.mark.parametrize(
    ("path", "written", "value"),
    [
        ("mode", False, "off"),  # what YAML makes of a bare off
        ("mode", "off", "off"),
        ("mode", "observe", "observe"),
        ("context_window", 200, 200),
        ("context_window", None, None),
        ("unknown_window", "leave", "leave"),
        ("unknown_window", "assume 8000", 8_000),
        ("unknown_window", {"assume": 8_000}, 8_000),
        ("unknown_window", 200, 200),
        ("length_refusals", "compact", "compact"),
        ("length_refusals", "pass", "pass"),
        ("output_reserve", "request", "request"),
        ("output_reserve", "none", "none"),
        ("output_reserve", 0, 0),
        ("levels.aggressive.at", 1, 1.0),
        ("levels.aggressive.wait_seconds", 2.5, 2.5),
        ("triggers.tokens", 100, 100),
        ("triggers.count", "characters", "characters"),
        ("triggers.turns", 1, 1),
        ("summary.model", "extractive", "extractive"),
        ("summary.fallbacks", ["a", "b"], ("a", "b")),
        ("summary.strategy", "window", "window"),
        ("summary.prompt", "research", "research"),
        ("summary.max_tokens", 50, 50),
        ("summary.rate", 0.1, 0.1),
        ("summary.rate", 0.5, 0.5),
        ("summary.preserve_keys", ["order_id"], ("order_id",)),
        ("summary.message_chars", 100, 100),
        ("summary.timeout_seconds", 0.5, 0.5),
        ("anchors.max", 0, 0),
        ("anchors.weights.keyword", 0, 0.0),
        ("recall.max_tokens", 0, 0),
        ("recall.priority", "cost", "cost"),
        ("labels.headers", ["X-Chat-Id"], ("x-chat-id",)),
        ("labels.headers", [], ()),
        ("storage.ttl", 60, 60),
        ("storage.ttl", "60s", 60),
        ("storage.ttl", "30m", 1800),
        ("storage.ttl", "12h", 43_200),
        ("storage.ttl", "7d", 604_800),
        ("storage.content", "none", "none"),
        ("bypass.header", "X-Raw", "x-raw"),
        ("bypass.allow", False, False),
    ],
)
def test_what_is_written_holds(path: str, written: Any, value: Any) -> None:
    assert at(book(tree(path, written)).resolve(Identity()), path) == value


def test_policies_are_frozen_and_closed() -> None:
    policy = book().resolve(Identity())
    with pytest.raises(ValidationError):
        policy.levels.medium.keep_last = 3  # type: ignore[misc]
    with pytest.raises(ValidationError):
        Policy.model_validate({"levels": {"medium": {"keep": 3}}})


def test_a_policy_whose_values_contradict_each_other_cannot_be_made() -> None:
    with pytest.raises(ValidationError, match=r"levels\.medium\.at must be below levels\.aggressive\.at"):
        Policy.model_validate({"levels": {"medium": {"at": 0.99}}})


def test_equal_values_do_not_stand_in_order() -> None:
    assert find_conflicts(DESIGN_DEFAULTS | {"output_reserve": 500, "context_window": 500})
    assert not find_conflicts(DESIGN_DEFAULTS | {"output_reserve": 500})


def test_the_schema_describes_every_key() -> None:
    schema = build_policy_schema()
    sections = [schema, *schema["$defs"].values()]
    for section in sections:
        assert section["additionalProperties"] is False and section["description"]
        for name, key in section["properties"].items():
            assert key.get("description"), name
            assert key.get("title") or "$ref" in key or "$ref" in key["anyOf"][0], name
    assert {"PolicyBody", "PolicyEntry", "Match"} <= set(schema["$defs"])
    assert schema["$defs"]["PolicyEntry"]["required"] == ["name", "match"]
    assert schema["required"] == ["version"]


def test_the_presets_are_those_that_can_be_named() -> None:
    assert set(PRESETS) == set(get_args(get_args(Preset)[0]))


@pytest.mark.parametrize(
    ("preset", "changed"),
    [
        ("hybrid", {}),
        (
            "turns",
            {
                "levels.medium.keep_last": 1,
                "triggers.turns": 3,
                "triggers.then": "apply",
                "triggers.wait_seconds": 10,
                "summary.strategy": "turns",
                "summary.rate": 0.3,
            },
        ),
        (
            "incremental",
            {
                "triggers.tokens": 8000,
                "triggers.count": "characters",
                "triggers.then": "apply",
                "levels.medium.keep_last": 6,
                "summary.strategy": "rolling",
                "summary.max_tokens": 1024,
                "summary.message_chars": 3000,
            },
        ),
        (
            "agent",
            {
                "levels.light.at": 0.65,
                "levels.medium.at": 0.75,
                "levels.medium.keep_last": 4,
                "summary.strategy": "rolling",
                "summary.prompt": "coding",
                "summary.max_tokens": 1500,
            },
        ),
    ],
)
def test_what_a_preset_stands_for(preset: str, changed: dict[str, Any]) -> None:
    policy = book({"preset": preset}).resolve(Identity())
    assert flatten(policy) == DESIGN_DEFAULTS | changed | {"preset": preset, "name": "default"}


def test_keys_beside_a_preset_are_laid_over_it() -> None:
    policy = book({"preset": "turns", "triggers": {"turns": 5}}).resolve(Identity())
    assert (policy.triggers.turns, policy.triggers.then) == (5, "apply")
