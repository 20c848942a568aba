"""The encoding that counts a model's texts, and the factor by which that count is off.

tiktoken has the encodings of OpenAI's models only; others are counted with the nearest one times a factor.
The first factors are safety margins by family; the usage that the provider reports replaces them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeVar

from gateway_compaction.core.tokens.pictures import PictureRule

# The bounds of a factor: beyond them a fault is likelier than such a tokeniser.
MIN_FACTOR = 0.85
MAX_FACTOR = 4.0
# Factors move in steps, so that the cost of a view does not tremble from call to call.
STEP = 0.02
# The share of itself by which one report moves a factor at most, whatever it says.
MOST_STEP = 0.25
# A prompt of fewer tokens says nothing: the framing that we guess is too large a share of it.
MIN_COUNTED = 200
# So many reports in a row that say nearly the same are believed, however far off they are.
BELIEVED_AFTER = 3
# Models of which a factor is remembered: where a wildcard serves any model, clients may invent names.
MOST_MODELS = 1_000

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Family:
    """A family of models whose texts are counted alike.

    Attributes:
        encoding: The name of tiktoken's encoding.
        factor: The factor before any report: a margin, so that a prompt is not too long at the first call.
        exact: True where the encoding is the models' own; then no factor below 1 is believed.
        pictures: The rule by which pictures are priced.
        key: Names the way of counting: models of one key count every message alike.
    """

    encoding: str
    factor: float
    exact: bool
    pictures: PictureRule = "tiles"
    key: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", f"{self.encoding} {self.pictures}")


FAMILIES: tuple[tuple[str, Family], ...] = (
    (
        r"(chatgpt|gpt)-?4o|gpt-4\.[15]|gpt-[5-9]|gpt-oss|(^|[/-])o[134]([-_]|$)",
        Family("o200k_base", 1.0, True),
    ),
    (r"gpt-4|gpt-3\.5|gpt-35|text-embedding", Family("cl100k_base", 1.0, True)),
    (r"claude", Family("o200k_base", 1.2, False, "area")),
    (r"mistral|mixtral|codestral|llama-?2", Family("o200k_base", 1.2, False)),
    (r"gemini|gemma", Family("o200k_base", 1.08, False, "crops")),
    (r"qwen", Family("o200k_base", 1.08, False, "patches")),
    (r"llama|deepseek|command|grok|nova", Family("o200k_base", 1.08, False)),
)
UNKNOWN = Family("o200k_base", 1.0, False)


@lru_cache(maxsize=1024)
def family_of(model: str) -> Family:
    """Return the family of a model by its name; a provider's prefix or a deployment's suffix does no harm."""
    name = model.lower()
    return next((family for pattern, family in FAMILIES if re.search(pattern, name)), UNKNOWN)


class Calibration:
    """Factors by model, learned from how much prompts grow between two reports of one conversation.

    A factor moves a quarter of the way at each report and by a quarter of itself at most, in steps of 0.02,
    within 0.85 and 4; never below 1 for an encoding that is the model's own. A report off by more than half
    is taken for a fault, unless it is near the factor in force, or the third in a row that says nearly the
    same; one that is off downwards never takes the factor below the first one.
    """

    def __init__(self) -> None:
        self._factors: dict[str, float] = {}
        self._shared: dict[str, float] = {}
        self._doubted: dict[str, tuple[float, int]] = {}

    def factor(self, model: str) -> float:
        """Return the factor in force for a model."""
        return self._factors.get(model, family_of(model).factor)

    def adopt(self, factors: Mapping[str, float]) -> None:
        """Take over factors that other replicas learned, by model."""
        adopted = {m: _clamp(m, f) for m, f in factors.items()}
        for model, factor in adopted.items():
            _remember(self._factors, model, factor)
            _remember(self._shared, model, factor)

    def observe(self, model: str, counted: int, reported: int) -> float | None:
        """Learn from how much a prompt grew between two usage reports of a provider.

        Args:
            model: The model that was called.
            counted: The raw tokens that were counted for what was added.
            reported: The tokens that the provider says it had.

        Returns:
            The new factor where it differs from the one that other replicas know; else None.
        """
        if counted < MIN_COUNTED:
            return None
        ratio, factor = reported / counted, self.factor(model)
        if not self._is_plausible(model, ratio):
            if not self._is_repeated(model, ratio):
                return None
            ratio = max(ratio, family_of(model).factor)
        else:
            self._doubted.pop(model, None)
        step = (ratio - factor) / 4
        self._move_factor(model, factor + max(-MOST_STEP * factor, min(MOST_STEP * factor, step)))
        new = self.factor(model)
        if abs(new - self._shared.get(model, family_of(model).factor)) < STEP / 2:
            return None
        _remember(self._shared, model, new)
        return new

    def _is_plausible(self, model: str, ratio: float) -> bool:
        return 0.5 <= ratio <= 2.0 or 0.8 <= ratio / self.factor(model) <= 1.25

    def _is_repeated(self, model: str, ratio: float) -> bool:
        before, times = self._doubted.get(model, (ratio, 0))
        alike = before > 0 and 0.8 <= ratio / before <= 1.25
        times = times + 1 if alike else 1
        _remember(self._doubted, model, (ratio, times))
        return times >= BELIEVED_AFTER

    def _move_factor(self, model: str, wanted: float) -> None:
        new = _clamp(model, round(wanted / STEP) * STEP)
        if abs(new - self.factor(model)) >= STEP / 2:
            _remember(self._factors, model, new)


def _remember(known: dict[str, T], model: str, value: T) -> None:
    """Remember something of a model; the one that was heard of longest ago makes room."""
    known.pop(model, None)
    known[model] = value
    if len(known) > MOST_MODELS:
        del known[next(iter(known))]


def _clamp(model: str, factor: float) -> float:
    return min(MAX_FACTOR, max(1.0 if family_of(model).exact else MIN_FACTOR, factor))
