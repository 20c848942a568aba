"""The defaults of ``optimize: cost``: what is cheapest for a model, by its price of cached tokens.

A compaction pays where the tokens that it takes away, at the price at which they would be read again and
again, are worth more than the new beginning that the provider has to read. So it is made late where cached
tokens are cheap, and early where they are dear. What a policy or a preset writes itself is never changed.
docs/money.md has the bills from which the values were chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

DEAR_CACHE = 0.25
"""The price of a cached token, as a share of a new one's, from which compacting early is cheaper."""

LEAST_WINDOW = 8_000
"""Tokens of a window from which that is so: a smaller one is soon full again whenever it is compacted."""

LEVELS_OF_DEAR_CACHE: Mapping[str, Any] = {"levels.light.at": 0.5, "levels.medium.at": 0.6}
LEVELS = "levels."
CHEAPER_SUMMARIES: Mapping[str, Any] = {"summary.share_prefix": True}
"""The model is asked behind its own prompt, which the provider has cached."""

FEWER_QUOTES: Mapping[str, Any] = {"recall.priority": "cost"}


@dataclass(frozen=True, slots=True)
class ModelCosts:
    """A model's costs, as far as they are known; None for what is not.

    Attributes:
        cached: the price of a cached token, as a share of a new one's.
        window: tokens of its window.
    """

    cached: float | None = None
    window: int | None = None

    def explain(self) -> str:
        """Say in words what the values follow from, as ``policy explain`` shows it beside each of them."""
        if self.cached is None:
            return "optimize: cost (the price of the model's cached tokens is not known)"
        return f"optimize: cost (a cached token costs {self.cached:.2f} of a new one)"


FindCosts = Callable[[str | None], ModelCosts]


def know_no_costs(_model: str | None) -> ModelCosts:
    """Return what is known where nobody can be asked."""
    return ModelCosts()


def choose_by_cost(costs: ModelCosts, written: Iterable[str]) -> Mapping[str, Any]:
    """Return the values by path that make conversations cheapest.

    Args:
        costs: those of the model; the window is the policy's where that writes one.
        written: the paths that policies or their preset write. The levels must be in order, so where one of
            them is written none is chosen.
    """
    taken = frozenset(written)
    values = {**CHEAPER_SUMMARIES, **FEWER_QUOTES}
    is_dear = costs.cached is not None and costs.cached >= DEAR_CACHE
    is_large = costs.window is not None and costs.window >= LEAST_WINDOW
    if is_dear and is_large and not any(path.startswith(LEVELS) for path in taken):
        values |= LEVELS_OF_DEAR_CACHE
    return {path: value for path, value in values.items() if path not in taken}
