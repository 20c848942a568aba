"""Partial policies laid over each other; each value remembers where it was written.

A partial policy names only the keys it changes, so the values that hold for a request come from several
places. Without their origins neither ``policy explain`` could say where a value comes from, nor an error
where to mend two values that were written in different places and do not hold together.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway_compaction.core.policy.document import Origin
from gateway_compaction.core.policy.fields import is_prompt_file
from gateway_compaction.core.policy.model import (
    Conflict,
    Need,
    Policy,
    PolicyBody,
    find_conflicts,
    find_unmet_needs,
    flatten,
)
from gateway_compaction.core.policy.presets import PRESETS
from gateway_compaction.errors import PolicyError


@dataclass(frozen=True, slots=True)
class Layer:
    """One partial policy: the values by path that were written in one place.

    Attributes:
        name: the place inside its source, such as ``policies[2] 'research'``.
        label: the place with its source and rank, as explanations show it.
        origin: where it was written, for errors.
        values: only what was written, by path.
    """

    name: str
    label: str
    origin: Origin
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Setting:
    """The value that holds for one path, and where it was written.

    Attributes:
        value: the value.
        label: the place with its source; for a value of a preset the preset and who named it.
        origin: where to mend it.
        path: the key that was written there: ``preset`` for all values of a preset.
        rank: position of its layer; of two settings that contradict each other, the one of the higher rank
            came later and is the one to blame.
    """

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
def _flatten_preset(name: str) -> dict[str, Any]:
    return flatten(PolicyBody.model_validate(PRESETS[name]), only_set=True)


def stack_layers(layers: Sequence[Layer]) -> dict[str, Setting]:
    """Return what holds for each path when ``layers`` lie over each other, the last on top.

    The topmost layer that names a preset gets the preset's values under its own; it replaces presets named
    below it, so that values of two presets never mix. What those layers wrote themselves stays.
    """
    settings: dict[str, Setting] = {}
    naming_preset = [rank for rank, layer in enumerate(layers) if "preset" in layer.values]
    for rank, layer in enumerate(layers):
        if naming_preset and rank == naming_preset[-1]:
            preset = layer.values["preset"]
            label = f"preset {preset!r} ({layer.name})"
            for path, value in _flatten_preset(preset).items():
                settings[path] = Setting(value, label, layer.origin, "preset", rank)
        for path, value in layer.values.items():
            settings[path] = Setting(value, layer.label, layer.origin, path, rank)
    return settings


def find_faults(settings: Mapping[str, Setting], prompts: Mapping[str, str]) -> list[PolicyError]:
    """Return what keeps ``settings`` from being a policy, each at the place that was written last.

    Args:
        settings: values for all paths.
        prompts: the texts of the prompt files that the policy file names. A metadata block may name one of
            them and no other: a team must not read files of the gateway.
    """
    values = _drop_origins(settings)
    errors = [_build_conflict_error(pair, settings) for pair in find_conflicts(values)]
    errors += [_build_need_error(need, settings) for need in find_unmet_needs(values)]
    prompt = settings["summary.prompt"]
    if is_prompt_file(prompt.value) and prompt.value not in prompts:
        errors.append(
            prompt.origin.build_error(
                prompt.path,
                f"the prompt file {prompt.value!r} was not read",
                "Write general, coding, support or research, or a file that the policy file names too",
            )
        )
    return errors


def build_policy(settings: Mapping[str, Setting], prompts: Mapping[str, str]) -> Policy:
    """Build the policy of ``settings`` in which ``find_faults`` finds none."""
    return Policy.model_validate(_nest(_drop_origins(settings)), context={"prompts": prompts})


def _drop_origins(settings: Mapping[str, Setting]) -> dict[str, Any]:
    return {path: setting.value for path, setting in settings.items()}


def _nest(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values by path as nested mappings."""
    tree: dict[str, Any] = {}
    for path, value in values.items():
        *sections, key = path.split(".")
        functools.reduce(lambda node, name: node.setdefault(name, {}), sections, tree)[key] = value
    return tree


def _build_conflict_error(pair: Conflict, settings: Mapping[str, Setting]) -> PolicyError:
    """Build the error of two values in the wrong order; it stands at the one that was written later."""
    low, high = settings[pair.low], settings[pair.high]
    if low.rank < high.rank:
        later, later_path, relation = high, pair.high, "above"
        other, other_path, reverse = low, pair.low, "below"
    else:
        later, later_path, relation = low, pair.low, "below"
        other, other_path, reverse = high, pair.high, "above"
    return later.origin.build_error(
        later.path,
        f"{later_path} is {later.value} ({later.label}) but must be {relation} {other_path}, "
        f"which is {other.value} ({other.label})",
        f"Write {later_path} {relation} {other.value}, "
        f"or write {other_path} {reverse} {later.value} in the same place",
    )


def _build_need_error(need: Need, settings: Mapping[str, Setting]) -> PolicyError:
    """Build the error of a value whose need is not met; it stands at the one that was written later."""
    wanting, other = settings[need.path], settings[need.needed_path]
    later = wanting if wanting.rank >= other.rank else other
    return later.origin.build_error(
        later.path,
        f"{need.text}, which is {other.value} ({other.label})",
        f"Write {need.needed_path}: {need.needed_value} in the same place, or leave {need.path} out",
    )
