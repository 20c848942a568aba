"""Laying partial policies over each other, remembering where each value was written."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway_compaction.core.policy.document import Origin
from gateway_compaction.core.policy.fields import is_prompt_file
from gateway_compaction.core.policy.model import Conflict, Policy, PolicyBody, find_conflicts, flatten
from gateway_compaction.core.policy.presets import PRESETS
from gateway_compaction.errors import PolicyError

__all__ = ["BUILT_IN", "Layer", "Setting", "build_policy", "find_faults", "stack_layers"]


@dataclass(frozen=True, slots=True)
class Layer:
    """Values by path that were written in one place.

    ``name`` tells the place inside its source, ``label`` the place with its source.
    """

    name: str
    label: str
    origin: Origin
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Setting:
    """One value, and where it was written; of two settings the one of the higher ``rank`` came later."""

    value: Any
    label: str
    origin: Origin
    path: str
    rank: int


BUILT_IN = Layer(
    "built-in default",
    "built-in default",
    Origin("built-in default"),
    {"name": Policy().name, **flatten(Policy())},
)


@functools.cache
def _preset_values(name: str) -> dict[str, Any]:
    return flatten(PolicyBody.model_validate(PRESETS[name]), only_set=True)


def stack_layers(layers: Sequence[Layer]) -> dict[str, Setting]:
    """What holds when ``layers`` lie over each other, the last on top.

    The topmost layer that names a preset gets the preset's values under its own; it replaces presets named
    below it, so that values of two presets never mix. What those layers wrote themselves stays.
    """
    settings: dict[str, Setting] = {}
    with_preset = max((i for i, layer in enumerate(layers) if "preset" in layer.values), default=-1)
    for rank, layer in enumerate(layers):
        if rank == with_preset:
            preset = layer.values["preset"]
            label = f"preset {preset!r} ({layer.name})"
            for path, value in _preset_values(preset).items():
                settings[path] = Setting(value, label, layer.origin, "preset", rank)
        for path, value in layer.values.items():
            settings[path] = Setting(value, layer.label, layer.origin, path, rank)
    return settings


def find_faults(settings: Mapping[str, Setting], prompts: Mapping[str, str]) -> list[PolicyError]:
    """What keeps ``settings`` from being a policy, each at the place that was written last."""
    errors = [_conflict_error(pair, settings) for pair in find_conflicts(_values(settings))]
    prompt = settings["summary.prompt"]
    if is_prompt_file(prompt.value) and prompt.value not in prompts:
        errors.append(
            prompt.origin.error(
                prompt.path,
                f"the prompt file {prompt.value!r} was not read",
                "Write general, coding, support or research, or a file that the policy file names too",
            )
        )
    return errors


def build_policy(settings: Mapping[str, Setting], prompts: Mapping[str, str]) -> Policy:
    """The policy that ``settings`` without faults make up."""
    return Policy.model_validate(_nest(_values(settings)), context={"prompts": prompts})


def _values(settings: Mapping[str, Setting]) -> dict[str, Any]:
    return {path: setting.value for path, setting in settings.items()}


def _nest(values: Mapping[str, Any]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for path, value in values.items():
        *sections, key = path.split(".")
        functools.reduce(lambda node, name: node.setdefault(name, {}), sections, tree)[key] = value
    return tree


def _conflict_error(pair: Conflict, settings: Mapping[str, Setting]) -> PolicyError:
    low, high = settings[pair.low], settings[pair.high]
    sides = [(low, pair.low, "below"), (high, pair.high, "above")]
    if low.rank < high.rank:
        sides.reverse()
    (mine, at, relation), (theirs, other, reverse) = sides
    return mine.origin.error(
        mine.path,
        f"{at} is {mine.value} ({mine.label}) but must be {relation} {other}, "
        f"which is {theirs.value} ({theirs.label})",
        f"Write {at} {relation} {theirs.value}, or write {other} {reverse} {mine.value} in the same place",
    )
