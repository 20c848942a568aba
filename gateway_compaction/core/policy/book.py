"""All policies of a gateway: which of them hold for an identity, what they come to, and why.

Every request asks the book for its policy, so answers are remembered by all that can make a difference, and a
file is checked as a whole when it is loaded: what only the first request of some team would reveal must not
reach production.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
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
from gateway_compaction.core.policy.matching import RANKS, Entry, Rank, find_clashes
from gateway_compaction.core.policy.model import Policy, PolicyBody, flatten
from gateway_compaction.core.policy.optimize import FindCosts, ModelCosts, choose_by_cost, know_no_costs
from gateway_compaction.errors import PolicyError

# Resolved policies that are remembered; the oldest goes first. About one for each key and model group.
CACHE_SIZE = 4096
# Clashes that one error tells: every pair of entries may have one, and nobody reads thousands.
MAX_CLASHES = 20
# The fields of an identity that a pattern under each key of ``match`` is held against.
IDENTITY_FIELDS = {
    "model": ("model",),
    "tag": ("tags",),
    "endpoint": ("endpoint",),
    "team": ("team_id", "team_alias"),
    "key": ("key_alias",),
    "user": ("user_id",),
}
# Without a policy file nothing is rewritten and no model is called: who installs the plugin looks first.
WITHOUT_FILE = {"version": 1, "defaults": {"mode": "observe", "summary": {"model": "extractive"}}}
# What an administration page may leave in a team's or key's metadata when the block was emptied.
EMPTY_BLOCKS: tuple[Any, ...] = (None, "", [], {})


@dataclass(frozen=True, slots=True)
class Identity:
    """Who asks for what, as authenticated by the gateway; never what a client says of itself.

    Attributes:
        model: the model group, as the client names it.
        tags: the request's tags.
        endpoint: the endpoint that was called: ``chat``, ``messages`` or ``responses``.
        team_block: the ``compaction`` entry of the team's metadata, a partial policy.
        key_block: the same of the key's.
    """

    team_id: str | None = None
    team_alias: str | None = None
    key_alias: str | None = None
    user_id: str | None = None
    model: str | None = None
    tags: tuple[str, ...] = ()
    endpoint: str | None = None
    team_block: Mapping[str, Any] | None = None
    key_block: Mapping[str, Any] | None = None

    def names_for(self, field: str) -> tuple[str, ...]:
        """Return the names that a pattern under ``match.<field>`` is held against."""
        if field == "tag":
            return tuple(dict.fromkeys(tag for tag in self.tags if tag))
        values = (getattr(self, name) for name in IDENTITY_FIELDS[field])
        return tuple(dict.fromkeys(name for name in values if name))


@dataclass(frozen=True, slots=True)
class ExplainedValue:
    """One value of a resolved policy, and where it was written."""

    path: str
    value: Any
    source: str


@dataclass(frozen=True, slots=True)
class MatchReport:
    """One policy of the file held against an identity.

    Attributes:
        path: its place in the file, such as ``policies[2]``.
        name: its name.
        rank: how strong it is: ``model``, ``team`` or ``key``.
        reason: why it does not hold for the identity, or None when it does.
    """

    path: str
    name: str
    rank: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class EntryMode:
    """The mode of one policy for those whom no other matches; ``whom`` says in words who they are."""

    name: str
    whom: str
    mode: str


class PolicyBook:
    """A parsed policy file with its environment overrides; answers from memory once an identity was seen."""

    def __init__(
        self,
        raw: Any,
        source: str,
        environment: Mapping[str, Any] | None = None,
        read_prompt: Callable[[str], str] | None = None,
        find_costs: FindCosts = know_no_costs,
    ) -> None:
        """Read and check a policy file.

        Args:
            raw: what the file holds, as plain Python values; empty means the built-in defaults.
            source: the file's name, for errors and explanations.
            environment: overrides of ``defaults``, nested like it.
            read_prompt: returns the text of a prompt file named in a policy, or raises ``ValueError`` with
                the reason. Only called here, never for what a metadata block names.
            find_costs: returns what is known of a model's costs; what ``optimize: cost`` chooses follows
                from it.

        Raises:
            PolicyError: the first problem found; its ``others`` are the rest.
        """
        errors: list[PolicyError] = []
        self._source = PurePath(source).name or source
        self._find_costs = find_costs
        self._prompts: dict[str, str] = {}
        raw = {} if raw is None else raw
        if raw != {}:
            parse_section(Outline, raw, Origin(source), errors)
        if not isinstance(raw, Mapping):
            raise_errors(errors)
        common = self._parse_common_layers(raw, source, environment or {}, errors)
        self._base = [BUILT_IN, *(layer for layer in common if layer)]
        self._entries = self._parse_entries(raw, source, errors)
        for layer in (*self._base, *(entry.layer for entry in self._entries)):
            self._read_prompt(layer, read_prompt, errors)
        # A part that cannot be read may have held what the rest needs: then faults of the rest are no news.
        if None not in common:
            errors += self._check_entries()
        raise_errors(errors)
        clashes = find_clashes(self._base, self._entries, self._prompts)
        raise_errors(tuple(islice(clashes, MAX_CLASHES)))
        fields = {field for entry in self._entries for field in entry.match.model_fields_set}
        self._read_matched_fields = attrgetter(
            "model", *(name for field in fields for name in IDENTITY_FIELDS[field])
        )
        layers = (*self._base[1:], *(entry.layer for entry in self._entries))
        self._asks_for_cost = any(layer.values.get("optimize") == "cost" for layer in layers)
        self._resolved: dict[Any, Policy] = {}

    @classmethod
    def default(
        cls, environment: Mapping[str, Any] | None = None, find_costs: FindCosts = know_no_costs
    ) -> PolicyBook:
        """Build the book that holds without a policy file: only observe, and call no model."""
        return cls(WITHOUT_FILE, "no policy file", environment, find_costs=find_costs)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the policies, in the order of the file."""
        return tuple(entry.name for entry in self._entries)

    def resolve(self, identity: Identity) -> Policy:
        """Return the policy for ``identity``.

        Raises:
            PolicyError: a metadata block cannot be used, or two policies contradict each other of which one
                matches a team by its id and the other by its alias.
        """
        key = self._build_cache_key(identity)
        policy = self._resolved.get(key)
        if policy is None:
            policy = build_policy(self._resolve_settings(identity), self._prompts)
            if len(self._resolved) >= CACHE_SIZE:
                del self._resolved[next(iter(self._resolved))]
            self._resolved[key] = policy
        return policy

    def explain(self, identity: Identity) -> tuple[ExplainedValue, ...]:
        """List every value of the policy for ``identity``, with the place where it was written.

        Raises:
            PolicyError: as in ``resolve``.
        """
        settings = self._resolve_settings(identity)
        return tuple(ExplainedValue(path, setting.value, setting.label) for path, setting in settings.items())

    def report_matches(self, identity: Identity) -> tuple[MatchReport, ...]:
        """Report for each policy, in the order of the file, if it holds for ``identity`` and why not."""
        return tuple(
            MatchReport(
                f"policies[{index}]",
                entry.name,
                entry.rank.label,
                _explain_mismatch(entry.match, identity),
            )
            for index, entry in enumerate(self._entries)
        )

    def list_modes(self) -> tuple[EntryMode, ...]:
        """List for each policy, in the order of the file, for whom it holds and in which mode."""
        modes: list[EntryMode] = []
        for entry in self._entries:
            settings = stack_layers([*self._base, entry.layer])
            modes.append(EntryMode(entry.name, entry.describe_match(), settings["mode"].value))
        return tuple(modes)

    def list_prompt_files(self) -> tuple[tuple[str, Policy], ...]:
        """List the places that name a prompt file (``defaults`` or a policy), each with what holds there."""
        own = [e for e in self._entries if "summary.prompt" in e.layer.values]
        places = [("defaults", self._base), *((e.name, [*self._base, e.layer]) for e in own)]
        stacks = [(place, stack_layers(layers)) for place, layers in places]
        found = [(place, s) for place, s in stacks if is_prompt_file(s["summary.prompt"].value)]
        return tuple((place, build_policy(settings, self._prompts)) for place, settings in found)

    def _parse_common_layers(
        self, raw: Mapping[str, Any], source: str, environment: Mapping[str, Any], errors: list[PolicyError]
    ) -> list[Layer | None]:
        """Return the layers of ``defaults`` and of the environment, None for one that cannot be read."""
        defaults = raw.get("defaults")
        if defaults is None:
            defaults = {}
        label = f"{self._source}: defaults"
        return [
            _parse_layer("defaults", label, Origin(source, "defaults"), defaults, errors),
            _parse_layer(
                "environment", "environment", Origin("environment", variables=True), environment, errors
            ),
        ]

    def _parse_entries(self, raw: Mapping[str, Any], source: str, errors: list[PolicyError]) -> list[Entry]:
        """Return the entries of ``policies`` that can be read; errors of the others go to ``errors``."""
        listed = raw.get("policies")
        entries: list[Entry] = []
        first_uses: dict[str, int] = {}
        for index, item in enumerate(listed if isinstance(listed, list | tuple) else ()):
            path = f"policies[{index}]"
            origin = Origin(source, path)
            entry = parse_section(PolicyEntry, item, origin, errors)
            name = item.get("name") if isinstance(item, Mapping) else None
            # Also where something else of the policy cannot be read: all errors are told at once.
            if isinstance(name, str) and (first := first_uses.setdefault(name, index)) != index:
                problem = f"the name {name[:64]!r} is taken by policies[{first}]"
                errors.append(origin.build_error("name", problem, "Write a name of its own for each policy"))
            if entry is None:
                continue
            rank = max(RANKS[field] for field in entry.match.model_fields_set)
            name = f"{path} {entry.name!r}"
            label = f"{self._source}: {name} ({rank.label})"
            values = {k: v for k, v in flatten(entry, only_set=True).items() if not k.startswith("match.")}
            entries.append(Entry(Layer(name, label, origin, values), entry.match, rank))
        return entries

    def _read_prompt(
        self, layer: Layer, read: Callable[[str], str] | None, errors: list[PolicyError]
    ) -> None:
        """Read the prompt file that a layer names, once for each file."""
        name = layer.values.get("summary.prompt")
        if name is None or read is None or not is_prompt_file(name) or name in self._prompts:
            return
        try:
            self._prompts[name] = read(name)
        except ValueError as error:
            # Named once is enough: that the same file has no text is no further problem.
            self._prompts[name] = ""
            remedy = "Write the path of a text file, seen from the policy file's folder"
            problem = f"the prompt file {name!r} cannot be used: {error}"
            errors.append(layer.origin.build_error("summary.prompt", problem, remedy))

    def _check_entries(self) -> list[PolicyError]:
        """Return the faults of what holds for everybody, or else those of each entry laid over it."""
        common = find_faults(stack_layers(self._base), self._prompts)
        if common:
            return common
        stacks = (stack_layers([*self._base, entry.layer]) for entry in self._entries)
        return [fault for settings in stacks for fault in find_faults(settings, self._prompts)]

    def _resolve_settings(self, identity: Identity) -> dict[str, Setting]:
        """Lay the layers for ``identity`` over each other, weakest first.

        Raises:
            PolicyError: a metadata block cannot be read, or the values do not make a policy.
        """
        errors: list[PolicyError] = []
        matching = [entry for entry in self._entries if _explain_mismatch(entry.match, identity) is None]
        blocks = {
            Rank.TEAM: ("team metadata", identity.team_block),
            Rank.KEY: ("key metadata", identity.key_block),
        }
        layers = list(self._base)
        for rank in Rank:
            layers += [entry.layer for entry in matching if entry.rank == rank]
            label, block = blocks.get(rank, ("", None))
            if block not in EMPTY_BLOCKS:
                layer = _parse_layer(label, label, Origin(label, "compaction"), block, errors)
                layers += [layer] if layer else []
        raise_errors(errors)
        settings = stack_layers(layers)
        if settings["optimize"].value == "cost":
            settings = self._add_cheapest(settings, layers, self._find_costs(identity.model))
        raise_errors(find_faults(settings, self._prompts))
        return settings

    @staticmethod
    def _add_cheapest(
        settings: Mapping[str, Setting], layers: Sequence[Layer], costs: ModelCosts
    ) -> dict[str, Setting]:
        """Lay what ``optimize: cost`` chooses over the built-in defaults, and under all that is written."""
        written = (path for path, setting in settings.items() if setting.rank > 0)
        costs = replace(costs, window=settings["context_window"].value or costs.window)
        label = costs.explain()
        cheapest = Layer(label, label, settings["optimize"].origin, choose_by_cost(costs, written))
        return stack_layers([layers[0], cheapest, *layers[1:]])

    def _build_cache_key(self, identity: Identity) -> Any:
        """Build a key of what of ``identity`` can make a difference.

        A field that no entry matches by is left out: otherwise each user would have a place in the cache.
        """
        team_block = _to_canonical_json(identity.team_block, "team")
        key_block = _to_canonical_json(identity.key_block, "key")
        # Looked up only for those who ask for it: a price may change, and is not free to find.
        asks = self._asks_for_cost or "optimize" in f"{team_block}{key_block}"
        costs = self._find_costs(identity.model) if asks else None
        return self._read_matched_fields(identity), team_block, key_block, costs


def _parse_layer(name: str, label: str, origin: Origin, raw: Any, errors: list[PolicyError]) -> Layer | None:
    """Read one partial policy; None where it cannot be read, with the reasons in ``errors``."""
    body = parse_section(PolicyBody, raw, origin, errors)
    if body is None:
        return None
    return Layer(name, label, origin, flatten(body, only_set=True))


def _explain_mismatch(match: Match, identity: Identity) -> str | None:
    """Say why ``match`` does not hold for ``identity``; None when it does."""
    for field in RANKS:
        patterns = getattr(match, field)
        names = identity.names_for(field)
        if patterns and not any(fnmatchcase(name, pattern) for name in names for pattern in patterns):
            return f"{field} is {' or '.join(names) or 'not given'}, needed: {' or '.join(patterns)}"
    return None


def _to_canonical_json(block: Any, owner: str) -> str | None:
    """Return a hashable form of a metadata block; equal blocks give equal forms."""
    if block in EMPTY_BLOCKS:
        return None
    try:
        return json.dumps(block, sort_keys=True)
    except (TypeError, ValueError, RecursionError) as error:
        problem = "found what is not plain JSON"
        raise PolicyError(f"{owner} metadata", "compaction", problem, "Write a JSON object") from error
