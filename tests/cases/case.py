"""One line of a case file, its macros written out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any

__all__ = ["Case", "load", "written_out"]

VOCABULARY = (
    "river", "note", "rain", "field", "copper", "dawn", "motor", "paper", "glass", "nurse", "island", "shop",
    "summer", "bridge", "kitchen", "digit", "town", "class", "train", "corner", "season", "hammer", "harbour",
    "minute", "friend", "photo", "past", "wood", "reply", "cloud", "fence",
)  # fmt: skip
PNG = "iVBORw0KGgoAAAANSUhEUgAA"
MACRO = re.compile(r"\{\{(?:(?P<words>W)|(?P<base64>B64)|RUN:(?P<run>.)):(?P<n>\d+)\}\}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Case:
    """What a client sends in which situation, and what must hold.

    Attributes:
        name: the case's id, for people; nothing depends on it.
        request: the body without ``messages``.
        policy: the situation, in words.
        stated_fill: how full the window is meant to be, None where that does not matter.
        estimated: tokens that the case's author estimated.
    """

    name: str
    messages: tuple[dict[str, Any], ...]
    request: Mapping[str, Any]
    policy: str
    checks: tuple[str, ...]
    stated_fill: float | None = None
    estimated: int | None = None

    @classmethod
    def read(cls, raw: Mapping[str, Any]) -> Case:
        """One parsed line."""
        force = raw.get("force") or {}
        return cls(
            name=str(raw["id"]),
            messages=tuple(written_out(list(raw["messages"]))),
            request={k: written_out(v) for k, v in raw["request"].items() if k != "messages"},
            policy=str(raw.get("policy") or ""),
            checks=tuple(raw["checks"]),
            stated_fill=force.get("stated_fill"),
            estimated=force.get("est_tokens"),
        )


def load(path: Path) -> list[Case]:
    """All cases of a file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [Case.read(json.loads(line)) for line in lines if line.strip()]


def written_out(value: Any) -> Any:
    """A JSON value with the macros of its texts replaced.

    ``{{W:n}}`` is n words, ``{{RUN:c:n}}`` the character c n times, ``{{B64:n}}`` n characters of base64.
    """
    if isinstance(value, str):
        return MACRO.sub(_filler(len(value)), value)
    if isinstance(value, list):
        return [written_out(item) for item in value]
    if isinstance(value, Mapping):
        return {key: written_out(item) for key, item in value.items()}
    return value


def _filler(seed: int) -> Callable[[re.Match[str]], str]:
    def fill(found: re.Match[str]) -> str:
        n = int(found["n"])
        if found["words"]:
            return " ".join(VOCABULARY[(seed + 11 * i) % len(VOCABULARY)] for i in range(n))
        if found["base64"]:
            return "".join(islice(cycle(PNG), n))
        return str(found["run"]) * n

    return fill
