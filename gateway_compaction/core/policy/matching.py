"""For whom a policy holds, and which two policies can hold for one request but not together."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from gateway_compaction.core.policy.document import Match
from gateway_compaction.core.policy.layers import Layer, find_faults, stack_layers
from gateway_compaction.core.policy.model import ORDERED_PAIRS, find_conflicts
from gateway_compaction.errors import PolicyError

__all__ = [
    "KEY",
    "MODEL",
    "RANKS",
    "RANK_NAMES",
    "TEAM",
    "Entry",
    "can_match_same_request",
    "can_match_same_text",
    "find_clashes",
]

MODEL, TEAM, KEY = range(3)
RANK_NAMES = ("model", "team", "key")
RANKS = {"model": MODEL, "tag": MODEL, "team": TEAM, "key": KEY, "user": KEY}
# What two policies can contradict each other in; a preset may set any of it.
ORDERED = frozenset({"preset", *(path for pair in ORDERED_PAIRS for path in (pair.low, pair.high))})


@dataclass(frozen=True, slots=True)
class Entry:
    """One policy of a file: its values, for whom they hold, and how strong that makes them."""

    layer: Layer
    match: Match
    rank: int

    @property
    def name(self) -> str:
        """As written in the file."""
        return str(self.layer.values["name"])

    def whom(self) -> str:
        """For whom it holds, in words."""
        parts = ((field, getattr(self.match, field)) for field in RANKS)
        return ", ".join(f"{field} {' or '.join(patterns)}" for field, patterns in parts if patterns)


def find_clashes(
    base: Sequence[Layer], entries: Sequence[Entry], prompts: Mapping[str, str]
) -> Iterator[PolicyError]:
    """What is wrong where two policies match one request, of those that surely can; each pair once."""
    ordered = sorted((e for e in entries if ORDERED & e.layer.values.keys()), key=lambda e: e.rank)
    below = [_ordered_only(layer) for layer in base]
    known: dict[Any, bool] = {}
    for first, second in itertools.combinations(ordered, 2):
        pair = (_ordered_only(first.layer), _ordered_only(second.layer))
        key = tuple(tuple(layer.values.items()) for layer in pair)
        if key not in known:
            values = {path: one.value for path, one in stack_layers([*below, *pair]).items()}
            known[key] = bool(find_conflicts(values))
        if known[key] and can_match_same_request(first.match, second.match):
            for error in find_faults(stack_layers([*base, first.layer, second.layer]), prompts):
                problem = f"where {first.name!r} and {second.name!r} match one request, {error.problem}"
                remedy = f"{error.remedy}; or let the two match different requests"
                yield PolicyError(error.source, error.path, problem, remedy)


def _ordered_only(layer: Layer) -> Layer:
    values = {path: value for path, value in layer.values.items() if path in ORDERED}
    return Layer(layer.name, layer.label, layer.origin, values)


def can_match_same_request(first: Match, second: Match) -> bool:
    """Whether one request can surely match both.

    A request has one key, one model and one user, but any number of tags. A team may be matched by its id in
    one policy and by its alias in the other, which a file cannot tell: only a name that fits both counts.
    """
    for field in ("team", "key", "model", "user"):
        ours, theirs = getattr(first, field), getattr(second, field)
        if ours and theirs and not any(can_match_same_text(p, q) for p in ours for q in theirs):
            return False
    return True


def can_match_same_text(first: str, second: str) -> bool:
    """Whether there is a text that both shell globs match."""
    ours, theirs = _tokens(first), _tokens(second)
    seen, open_ends = {(0, 0)}, deque([(0, 0)])
    while open_ends:
        i, j = open_ends.popleft()
        if i == len(ours) and j == len(theirs):
            return True
        a, b = ours[i : i + 1], theirs[j : j + 1]
        steps = []
        if a == ["*"] or b == ["*"]:
            # A star matches nothing more, or what the other side asks for next.
            steps = [(i + (a == ["*"]), j + (b == ["*"])), (i + (a == ["*"]), j), (i, j + (b == ["*"]))]
            steps += [(i, j + 1)] if a == ["*"] and b else []
            steps += [(i + 1, j)] if b == ["*"] and a else []
        elif a and b and _chars_meet(a[0], b[0]):
            steps = [(i + 1, j + 1)]
        for step in steps:
            if step not in seen:
                seen.add(step)
                open_ends.append(step)
    return False


def _tokens(pattern: str) -> list[str]:
    """A glob in pieces: stars, question marks, classes in brackets, single characters."""
    tokens, i = list[str](), 0
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


def _chars_meet(first: str, second: str) -> bool:
    if "?" in (first, second):
        return True
    if len(first) == 1 and len(second) == 1:
        return first == second
    candidates = {*first, *second, *map(chr, range(32, 127))}
    return any(_is(char, first) and _is(char, second) for char in candidates)


def _is(char: str, token: str) -> bool:
    return char == token if len(token) == 1 else fnmatchcase(char, token)
