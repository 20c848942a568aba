"""All policies of a gateway: which of them hold for an identity, what they come to, and why."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import islice
from operator import attrgetter
from pathlib import PurePath
from typing import Any

from gateway_compaction.core.policy.document import (
    Match,
    Origin,
    Outline,
    PolicyEntry,
    parse_section,
    raise_errors,
)
from gateway_compaction.core.policy.fields import is_prompt_file
from gateway_compaction.core.policy.layers import (
    BUILT_IN,
    Layer,
    Setting,
    build_policy,
    find_faults,
    stack_layers,
)
from gateway_compaction.core.policy.matching import KEY, MODEL, RANK_NAMES, RANKS, TEAM, Entry, find_clashes
from gateway_compaction.core.policy.model import Policy, PolicyBody, flatten
from gateway_compaction.errors import PolicyError

__all__ = ["EntryMode", "ExplainedValue", "Identity", "MatchReport", "PolicyBook"]

CACHE_SIZE = 4096
MOST_CLASHES = 20
ATTRIBUTES = {
    "model": ("model",),
    "tag": ("tags",),
    "team": ("team_id", "team_alias"),
    "key": ("key_alias",),
    "user": ("user_id",),
}
WITHOUT_FILE = {"version": 1, "defaults": {"mode": "observe", "summary": {"model": "extractive"}}}
EMPTY_BLOCKS: tuple[Any, ...] = (None, "", [], {})


@dataclass(frozen=True, slots=True)
class Identity:
    """Who asks for what, as authenticated by the gateway.

    ``team_block`` and ``key_block`` are the ``compaction`` entries of the team's and the key's metadata.
    """

    team_id: str | None = None
    team_alias: str | None = None
    key_alias: str | None = None
    user_id: str | None = None
    model: str | None = None
    tags: tuple[str, ...] = ()
    team_block: Mapping[str, Any] | None = None
    key_block: Mapping[str, Any] | None = None

    def names(self, field: str) -> tuple[str, ...]:
        """What a pattern under ``match.<field>`` is held against."""
        found = self.tags if field == "tag" else [getattr(self, name) for name in ATTRIBUTES[field]]
        return tuple(dict.fromkeys(name for name in found if name))


@dataclass(frozen=True, slots=True)
class ExplainedValue:
    """One value of a resolved policy, and where it was written."""

    path: str
    value: Any
    source: str


@dataclass(frozen=True, slots=True)
class MatchReport:
    """Whether one policy holds for an identity; ``reason`` says why not, or is None when it does."""

    path: str
    name: str
    rank: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class EntryMode:
    """What one policy comes to for those whom no other matches; ``whom`` says in words who they are."""

    name: str
    whom: str
    mode: str


class PolicyBook:
    """A parsed policy file with its environment overrides; answers from memory once an identity was seen.

    Args:
        raw: what the file holds, as plain Python values; empty means the built-in defaults.
        source: the file's name, for errors and explanations.
        environment: overrides of ``defaults``, nested like it.
        read_prompt: returns the text of a prompt file named in a policy, or raises ``ValueError`` with the
            reason. Only called here, never for what a metadata block names.

    Raises:
        PolicyError: the first problem found; its ``others`` are the rest.
    """

    def __init__(
        self,
        raw: Any,
        source: str,
        environment: Mapping[str, Any] | None = None,
        read_prompt: Callable[[str], str] | None = None,
    ) -> None:
        errors: list[PolicyError] = []
        self._source, self._prompts = PurePath(source).name or source, dict[str, str]()
        raw = {} if raw is None else raw
        if raw != {}:
            parse_section(Outline, raw, Origin(source), errors)
        if not isinstance(raw, Mapping):
            raise_errors(errors)
        common = self._common_layers(raw, source, environment or {}, errors)
        self._base = [BUILT_IN, *(layer for layer in common if layer)]
        self._entries = self._policy_entries(raw, source, errors)
        for layer in (*self._base, *(entry.layer for entry in self._entries)):
            self._read_prompt(layer, read_prompt, errors)
        if None not in common:  # a part that cannot be read may have held what the rest needs
            errors += self._faults([]) or [
                error for entry in self._entries for error in self._faults([entry.layer])
            ]
        raise_errors(errors)
        raise_errors(tuple(islice(find_clashes(self._base, self._entries, self._prompts), MOST_CLASHES)))
        used = {field for entry in self._entries for field in entry.match.model_fields_set}
        self._telling = attrgetter("model", *(name for field in used for name in ATTRIBUTES[field]))
        self._resolved: dict[Any, Policy] = {}

    @classmethod
    def default(cls, environment: Mapping[str, Any] | None = None) -> PolicyBook:
        """What holds without a policy file: only observe, and call no model."""
        return cls(WITHOUT_FILE, "no policy file", environment)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the policies, in the order of the file."""
        return tuple(entry.name for entry in self._entries)

    def resolve(self, identity: Identity) -> Policy:
        """The policy for ``identity``.

        Raises:
            PolicyError: a metadata block cannot be used, or two policies contradict each other of which one
                matches a team by its id and the other by its alias.
        """
        key = self._key(identity)
        policy = self._resolved.get(key)
        if policy is None:
            policy = build_policy(self._settle(identity), self._prompts)
            if len(self._resolved) >= CACHE_SIZE:
                del self._resolved[next(iter(self._resolved))]
            self._resolved[key] = policy
        return policy

    def explain(self, identity: Identity) -> tuple[ExplainedValue, ...]:
        """Every value of the policy for ``identity``, with the place it was written; fails as ``resolve``."""
        settings = self._settle(identity)
        return tuple(ExplainedValue(path, setting.value, setting.label) for path, setting in settings.items())

    def report_matches(self, identity: Identity) -> tuple[MatchReport, ...]:
        """For each policy in the order of the file, whether it holds for ``identity``."""
        return tuple(
            MatchReport(
                f"policies[{index}]",
                entry.name,
                RANK_NAMES[entry.rank],
                _mismatch(entry.match, identity),
            )
            for index, entry in enumerate(self._entries)
        )

    def list_modes(self) -> tuple[EntryMode, ...]:
        """For each policy in the order of the file, for whom it holds and in which mode."""
        return tuple(
            EntryMode(entry.name, entry.whom(), stack_layers([*self._base, entry.layer])["mode"].value)
            for entry in self._entries
        )

    def _common_layers(
        self, raw: Mapping[str, Any], source: str, environment: Mapping[str, Any], errors: list[PolicyError]
    ) -> list[Layer | None]:
        written = raw.get("defaults")
        label = f"{self._source}: defaults"
        return [
            _layer("defaults", label, Origin(source, "defaults"), {} if written is None else written, errors),
            _layer("environment", "environment", Origin("environment", variables=True), environment, errors),
        ]

    def _policy_entries(self, raw: Mapping[str, Any], source: str, errors: list[PolicyError]) -> list[Entry]:
        listed = raw.get("policies")
        entries, seen = list[Entry](), dict[str, int]()
        for index, item in enumerate(listed if isinstance(listed, list | tuple) else ()):
            path = f"policies[{index}]"
            origin = Origin(source, path)
            entry = parse_section(PolicyEntry, item, origin, errors)
            name = item.get("name") if isinstance(item, Mapping) else None
            # Also where something else of the policy cannot be read: all is told at once.
            if isinstance(name, str) and (first := seen.setdefault(name, index)) != index:
                problem = f"the name {name[:64]!r} is taken by policies[{first}]"
                errors.append(origin.error("name", problem, "Write a name of its own for each policy"))
            if entry is None:
                continue
            rank = max(RANKS[field] for field in entry.match.model_fields_set)
            name = f"{path} {entry.name!r}"
            label = f"{self._source}: {name} ({RANK_NAMES[rank]})"
            values = {k: v for k, v in flatten(entry, only_set=True).items() if not k.startswith("match.")}
            entries.append(Entry(Layer(name, label, origin, values), entry.match, rank))
        return entries

    def _read_prompt(
        self, layer: Layer, read: Callable[[str], str] | None, errors: list[PolicyError]
    ) -> None:
        name = layer.values.get("summary.prompt")
        if name is None or read is None or not is_prompt_file(name) or name in self._prompts:
            return
        try:
            self._prompts[name] = read(name)
        except ValueError as error:
            self._prompts[name] = ""  # named once is enough: the same file is no further problem
            remedy = "Write the path of a text file, seen from the policy file's folder"
            problem = f"the prompt file {name!r} cannot be used: {error}"
            errors.append(layer.origin.error("summary.prompt", problem, remedy))

    def _faults(self, layers: list[Layer]) -> list[PolicyError]:
        return find_faults(stack_layers([*self._base, *layers]), self._prompts)

    def _settle(self, identity: Identity) -> dict[str, Setting]:
        """The layers for ``identity`` laid over each other, without faults."""
        errors: list[PolicyError] = []
        held = [entry for entry in self._entries if _mismatch(entry.match, identity) is None]
        blocks = {TEAM: ("team metadata", identity.team_block), KEY: ("key metadata", identity.key_block)}
        layers = list(self._base)
        for rank in (MODEL, TEAM, KEY):
            layers += [entry.layer for entry in held if entry.rank == rank]
            label, block = blocks.get(rank, ("", None))
            if block not in EMPTY_BLOCKS:
                layer = _layer(label, label, Origin(label, "compaction"), block, errors)
                layers += [layer] if layer else []
        raise_errors(errors)
        settings = stack_layers(layers)
        raise_errors(find_faults(settings, self._prompts))
        return settings

    def _key(self, identity: Identity) -> Any:
        """What of ``identity`` can make a difference."""
        blocks = (_canonical(identity.team_block, "team"), _canonical(identity.key_block, "key"))
        return self._telling(identity), blocks


def _layer(name: str, label: str, origin: Origin, raw: Any, errors: list[PolicyError]) -> Layer | None:
    body = parse_section(PolicyBody, raw, origin, errors)
    return None if body is None else Layer(name, label, origin, flatten(body, only_set=True))


def _mismatch(match: Match, identity: Identity) -> str | None:
    """Why ``match`` does not hold for ``identity``, or None."""
    for field in RANKS:
        patterns = getattr(match, field)
        names = identity.names(field)
        if patterns and not any(fnmatchcase(name, pattern) for name in names for pattern in patterns):
            return f"{field} is {' or '.join(names) or 'not given'}, needed: {' or '.join(patterns)}"
    return None


def _canonical(block: Any, owner: str) -> str | None:
    """A hashable form of a metadata block; equal blocks give equal forms."""
    if block in EMPTY_BLOCKS:
        return None
    try:
        return json.dumps(block, sort_keys=True)
    except (TypeError, ValueError, RecursionError) as error:
        problem = "found what is not plain JSON"
        raise PolicyError(f"{owner} metadata", "compaction", problem, "Write a JSON object") from error
