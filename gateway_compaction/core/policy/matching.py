"""The entries of a policy file: for whom each holds, and which two of them contradict each other.

Two entries may each be consistent and yet make no policy together, where one request matches both. Without
the search for such clashes a file would load, and the first request that matches both would fail.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from fnmatch import fnmatchcase
from typing import Any

from gateway_compaction.core.policy.document import Match
from gateway_compaction.core.policy.layers import Layer, find_faults, stack_layers
from gateway_compaction.core.policy.model import NEEDS, ORDERED_PAIRS, find_conflicts, find_unmet_needs
from gateway_compaction.errors import PolicyError


class Rank(IntEnum):
    """The strength of an entry: the higher rank lies on top."""

    MODEL = 0
    TEAM = 1
    KEY = 2

    @property
    def label(self) -> str:
        """The rank's name in explanations and errors."""
        return self.name.lower()


# An entry has the highest rank of the fields it matches by.
RANKS = {
    "model": Rank.MODEL,
    "tag": Rank.MODEL,
    "endpoint": Rank.MODEL,
    "team": Rank.TEAM,
    "key": Rank.KEY,
    "user": Rank.KEY,
}
# The paths in which two entries can contradict each other; a preset may set any of them.
ORDERED_PATHS = frozenset(
    {
        "preset",
        *(path for pair in ORDERED_PAIRS for path in (pair.low, pair.high)),
        *(path for need in NEEDS for path in (need.path, need.needed_path)),
    }
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One policy of a file: its values, for whom they hold, and how strong that makes them."""

    layer: Layer
    match: Match
    rank: Rank

    @property
    def name(self) -> str:
        """The name as written in the file."""
        return str(self.layer.values["name"])

    def describe_match(self) -> str:
        """Say in words for whom the entry holds."""
        parts = ((field, getattr(self.match, field)) for field in RANKS)
        return ", ".join(f"{field} {' or '.join(patterns)}" for field, patterns in parts if patterns)


def find_clashes(
    base: Sequence[Layer], entries: Sequence[Entry], prompts: Mapping[str, str]
) -> Iterator[PolicyError]:
    """Find what is wrong where one request surely matches two entries; each pair once.

    Args:
        base: the layers that hold for everybody.
        entries: the policies of the file.
        prompts: the texts of the prompt files, as for ``find_faults``.
    """
    ordered = sorted((e for e in entries if ORDERED_PATHS & e.layer.values.keys()), key=lambda e: e.rank)
    below = [_keep_ordered_paths(layer) for layer in base]
    # Many entries set the same few values: each pair of values is stacked once.
    known_conflicts: dict[Any, bool] = {}
    for first, second in itertools.combinations(ordered, 2):
        pair = (_keep_ordered_paths(first.layer), _keep_ordered_paths(second.layer))
        key = tuple(tuple(layer.values.items()) for layer in pair)
        if key not in known_conflicts:
            values = {path: setting.value for path, setting in stack_layers([*below, *pair]).items()}
            known_conflicts[key] = bool(find_conflicts(values) or find_unmet_needs(values))
        if known_conflicts[key] and can_match_same_request(first.match, second.match):
            for error in find_faults(stack_layers([*base, first.layer, second.layer]), prompts):
                problem = f"where {first.name!r} and {second.name!r} match one request, {error.problem}"
                remedy = f"{error.remedy}; or let the two match different requests"
                yield PolicyError(error.source, error.path, problem, remedy)


def _keep_ordered_paths(layer: Layer) -> Layer:
    values = {path: value for path, value in layer.values.items() if path in ORDERED_PATHS}
    return Layer(layer.name, layer.label, layer.origin, values)


def can_match_same_request(first: Match, second: Match) -> bool:
    """Tell whether one request can surely match both.

    A request has one key, one model, one user and one endpoint, but any number of tags. A team may be matched
    by its id in one policy and by its alias in the other, which a file cannot tell: only a name that fits
    both counts.
    """
    for field in ("team", "key", "model", "user", "endpoint"):
        ours = getattr(first, field)
        theirs = getattr(second, field)
        if ours and theirs and not any(can_match_same_text(p, q) for p in ours for q in theirs):
            return False
    return True


def can_match_same_text(first: str, second: str) -> bool:
    """Tell whether there is a text that both shell globs match.

    A search over pairs of positions, one in each glob: such a pair says what is left of both once the same
    text was read by both.
    """
    ours, theirs = _split_glob(first), _split_glob(second)
    seen = {(0, 0)}
    open_ends = deque([(0, 0)])
    while open_ends:
        i, j = open_ends.popleft()
        if i == len(ours) and j == len(theirs):
            return True
        for step in _list_steps(ours[i : i + 1], theirs[j : j + 1]):
            position = (i + step[0], j + step[1])
            if position not in seen:
                seen.add(position)
                open_ends.append(position)
    return False


def _list_steps(ours: list[str], theirs: list[str]) -> list[tuple[int, int]]:
    """List how far each glob can move on from its next piece (an empty list at its end)."""
    our_star, their_star = ours == ["*"], theirs == ["*"]
    if not our_star and not their_star:
        return [(1, 1)] if ours and theirs and _can_match_same_char(ours[0], theirs[0]) else []
    # A star matches nothing more, or what the other side asks for next.
    steps = [(int(our_star), int(their_star)), (int(our_star), 0), (0, int(their_star))]
    if our_star and theirs:
        steps.append((0, 1))
    if their_star and ours:
        steps.append((1, 0))
    return steps


def _split_glob(pattern: str) -> list[str]:
    """Split a glob into stars, question marks, classes in brackets and single characters."""
    tokens: list[str] = []
    i = 0
    while i < len(pattern):
        end = i + 1
        if pattern[i] == "[":
            # A closing bracket right at the beginning belongs to the class; without one it is a character.
            start = i + 2 if pattern[i + 1 : i + 2] == "!" else i + 1
            close = pattern.find("]", start + 1)
            end = close + 1 if close > 0 else end
        if pattern[i:end] != "*" or tokens[-1:] != ["*"]:
            tokens.append(pattern[i:end])
        i = end
    return tokens


def _can_match_same_char(first: str, second: str) -> bool:
    if "?" in (first, second):
        return True
    if len(first) == 1 and len(second) == 1:
        return first == second
    candidates = {*first, *second, *map(chr, range(32, 127))}
    return any(_can_match_char(first, char) and _can_match_char(second, char) for char in candidates)


def _can_match_char(token: str, char: str) -> bool:
    return char == token if len(token) == 1 else fnmatchcase(char, token)
