"""Groups that only choose among other groups: their window is that of the smallest one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gateway_compaction.adapters.litellm.auto_routers import compacts_itself, is_auto_router, list_choices
from gateway_compaction.adapters.litellm.models import ProxyModels
from tests.engine.rig import Clock
from tests.engine.test_models import brief, entry, router_of

pytestmark = pytest.mark.filterwarnings("ignore:Items? .* qualifier:UserWarning")

TIERS = [
    entry("small", "openai/of-the-small-tier", max_input_tokens=4_000),
    entry("middle", "openai/of-the-middle-tier", max_input_tokens=9_000),
    entry("large", "openai/of-the-large-tier", max_input_tokens=16_000),
    entry("judge", "openai/of-the-judge", max_input_tokens=1_000),
    entry("nameless", "openai/of-an-unknown-window"),
]


def choosing(model: str, group: str = "auto", **params: Any) -> dict[str, Any]:
    """The entry of an auto-router."""
    return {"model_name": group, "litellm_params": {"model": f"auto_router/{model}", **params}}


COMPLEXITY = {
    "tiers": {"SIMPLE": "small", "MEDIUM": ["middle", "large"], "COMPLEX": "large", "REASONING": "large"}
}
ROUTERS: dict[str, dict[str, Any]] = {
    "complexity": choosing("complexity_router", complexity_router_config=COMPLEXITY),
    "complexity with a judge": choosing(
        "complexity_router",
        complexity_router_config={
            **COMPLEXITY,
            "classifier_type": "llm",
            "classifier_llm_config": {"model": "judge"},
            "context_compaction": {"model": "judge"},
        },
        complexity_router_default_model="middle",
    ),
    "complexity by its default model": choosing(
        "complexity_router",
        complexity_router_config={"tiers": dict.fromkeys(COMPLEXITY["tiers"], "large")},
        complexity_router_default_model="small",
    ),
    "adaptive": choosing("adaptive_router", adaptive_router_config={"available_models": ["small", "large"]}),
    "quality": choosing(
        "quality_router",
        quality_router_config={"available_models": ["large", "small"], "default_model": "large"},
    ),
}
"""Entries whose smallest choice is the group ``small``."""


@pytest.mark.parametrize("kind", ROUTERS)
def test_the_window_is_that_of_the_smallest_choice(kind: str) -> None:
    for group in ("judge", "middle"):
        assert group in {tier["model_name"] for tier in TIERS}
    router = router_of(*TIERS, ROUTERS[kind])
    try:
        models = ProxyModels(lambda: router, Clock())
        assert brief(models.facts("auto")) == (4_000, "openai/of-the-small-tier")
        assert brief(models.facts("large")) == (16_000, "openai/of-the-large-tier")
    finally:
        router.discard()


SEMANTIC = choosing(
    "semantic",
    auto_router_config=json.dumps({"routes": [{"name": "large", "utterances": ["x"]}, {"name": "middle"}]}),
    auto_router_default_model="large",
    auto_router_embedding_model="judge",
)


class Listed:
    """A router, as far as models are looked up; a real semantic one needs a package of its own."""

    def __init__(self, *entries: dict[str, Any]) -> None:
        self.entries = entries

    def get_model_list(self, model_name: str | None = None) -> list[dict[str, Any]]:
        """The deployments of a group."""
        return [one for one in self.entries if model_name in (None, one["model_name"])]

    def get_deployment_model_info(self, model_id: str | None, model_name: str) -> None:
        """The catalogue knows nothing."""
        return


def window_of(*entries: dict[str, Any], group: str = "auto") -> int | None:
    """The window that is found for a group."""
    return ProxyModels(lambda: Listed(*entries), Clock()).facts(group).window


def test_routes_of_a_semantic_router_are_choices_and_its_embeddings_are_none() -> None:
    assert list_choices(SEMANTIC) == ["large", "middle"]
    assert window_of(*TIERS, SEMANTIC) == 9_000


def test_a_declared_window_counts_as_well() -> None:
    declared = {**ROUTERS["complexity"], "model_info": {"max_input_tokens": 3_000}}
    assert window_of(*TIERS, declared) == 3_000
    declared = {**ROUTERS["complexity"], "model_info": {"max_input_tokens": 90_000}}
    assert window_of(*TIERS, declared) == 4_000


def test_a_choice_without_a_window_hides_no_other() -> None:
    mixed = choosing("adaptive_router", adaptive_router_config={"available_models": ["nameless", "large"]})
    assert window_of(*TIERS, mixed) == 16_000


def test_routers_may_choose_routers_and_even_themselves() -> None:
    outer = choosing(
        "adaptive_router", "outer", adaptive_router_config={"available_models": ["auto", "large"]}
    )
    circle = choosing(
        "quality_router", "circle", quality_router_config={"available_models": ["circle", "large"]}
    )
    assert window_of(*TIERS, ROUTERS["complexity"], outer, group="outer") == 4_000
    assert window_of(*TIERS, circle, group="circle") == 16_000


def test_without_tiers_litellms_own_hold() -> None:
    assert "gpt-4o-mini" in list_choices(choosing("complexity_router", complexity_router_config={}))


@pytest.mark.parametrize(
    "config", [None, 3, "{", "[]", {"tiers": 3}, {"tiers": {"A": None}}, {"routes": [3, {}]}]
)
def test_a_config_that_cannot_be_read_names_none(config: Any) -> None:
    assert list_choices(choosing("semantic", auto_router_config=config)) == []
    assert list_choices({}) == list_choices({"litellm_params": None}) == []


@pytest.mark.parametrize(
    ("config", "itself"),
    [
        ({}, True),
        (None, True),
        ({"context_compaction": {}}, True),
        ({"context_compaction": False}, False),
        ({"context_compaction": None}, False),
    ],
)
def test_a_complexity_router_compacts_unless_it_is_told_not_to(config: Any, itself: bool) -> None:
    assert compacts_itself(choosing("complexity_router", complexity_router_config=config)) is itself
    assert not compacts_itself(choosing("adaptive_router", complexity_router_config=config))
    assert not compacts_itself(TIERS[0]) and not is_auto_router(TIERS[0])
