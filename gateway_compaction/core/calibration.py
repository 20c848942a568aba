"""Which encoding counts a model's texts, and by how much the count is off.

tiktoken has the encodings of OpenAI's models only; others are counted with the nearest one times a factor.
The first factors are safety margins by family; the usage that the provider reports replaces them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

__all__ = ["Calibration", "Family", "family_of"]


@dataclass(frozen=True, slots=True)
class Family:
    """How a model's texts are counted: an encoding, a first factor, and whether the encoding is its own."""

    encoding: str
    factor: float
    exact: bool


FAMILIES: tuple[tuple[str, Family], ...] = (
    (
        r"(chatgpt|gpt)-?4o|gpt-4\.[15]|gpt-[5-9]|gpt-oss|(^|[/-])o[134]([-_]|$)",
        Family("o200k_base", 1.0, True),
    ),
    (r"gpt-4|gpt-3\.5|gpt-35|text-embedding", Family("cl100k_base", 1.0, True)),
    (r"claude", Family("o200k_base", 1.2, False)),
    (r"mistral|mixtral|codestral|llama-?2", Family("o200k_base", 1.2, False)),
    (r"gemini|gemma|llama|qwen|deepseek|command|grok|nova", Family("o200k_base", 1.08, False)),
)
UNKNOWN = Family("o200k_base", 1.0, False)


@lru_cache(maxsize=1024)
def family_of(model: str) -> Family:
    """The family of a model name, provider prefixes and deployment suffixes allowed."""
    name = model.lower()
    return next((family for pattern, family in FAMILIES if re.search(pattern, name)), UNKNOWN)


class Calibration:
    """Factors by model, learned from the usage that providers report.

    A factor moves a quarter of the way at each report, in steps of 0.02, within 0.85 and 1.6; never below 1
    for an encoding that is the model's own. A report off by more than half is taken for a fault.
    """

    def __init__(self) -> None:
        self._factors: dict[str, float] = {}

    def factor(self, model: str) -> float:
        """The factor in force."""
        return self._factors.get(model, family_of(model).factor)

    def adopt(self, factors: Mapping[str, float]) -> None:
        """Take over factors that another replica learned."""
        self._factors.update({m: _bounded(m, f) for m, f in factors.items()})

    def observe(self, model: str, counted: int, reported: int) -> float | None:
        """Learn from one call; ``counted`` is uncalibrated. Returns the new factor if it changed."""
        if counted < 200 or not 0.5 <= reported / counted <= 2.0:
            return None
        return self._move(model, self.factor(model) + (reported / counted - self.factor(model)) / 4)

    def raise_for(self, model: str) -> float | None:
        """Learn from a refusal for length: our count was too low."""
        return self._move(model, self.factor(model) * 1.15)

    def _move(self, model: str, wanted: float) -> float | None:
        new = _bounded(model, round(wanted / 0.02) * 0.02)
        if abs(new - self.factor(model)) < 0.01:
            return None
        self._factors[model] = new
        return new


def _bounded(model: str, factor: float) -> float:
    return min(1.6, max(1.0 if family_of(model).exact else 0.85, factor))
