"""The kinds of values a policy file holds, each with the words that tell what to write."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    model_validator,
)

__all__ = [
    "LARGEST",
    "LONGEST_TTL",
    "LONGEST_WAIT",
    "Amount",
    "Count",
    "Expects",
    "Header",
    "LabelHeaders",
    "Mode",
    "Name",
    "Names",
    "Preset",
    "Prompt",
    "Section",
    "Share",
    "Strategy",
    "Ttl",
    "Wait",
    "Weight",
    "is_prompt_file",
    "section_of",
]

LARGEST = 1_000_000_000
LONGEST_TTL = 3650 * 86_400
LONGEST_WAIT = 3600
BuiltInPrompt = Literal["general", "coding", "support", "research"]
SECRET_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "x-api-key", "api-key"})
UNIT_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


@dataclass(frozen=True, slots=True)
class Expects:
    """What a key takes, in the words that follow "Write" in an error."""

    text: str


class Section(BaseModel):
    """A mapping of the policy file: frozen, strict, no unknown keys; a section left empty inherits."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _empty_sections_inherit(cls, raw: Any) -> Any:
        if not isinstance(raw, Mapping):
            return raw
        fields = cls.model_fields
        return {
            key: value
            for key, value in raw.items()
            if value is not None or key not in fields or section_of(fields[key].annotation) is None
        }


def section_of(annotation: Any) -> type[Section] | None:
    """The section that an annotation (or the items of its tuple) names, or None."""
    for candidate in (annotation, *get_args(annotation)):
        if isinstance(candidate, type) and issubclass(candidate, Section):
            return candidate
    return None


def is_prompt_file(name: str) -> bool:
    """Whether ``summary.prompt`` names a file and not one of the built-in prompts."""
    return "/" in name or name.endswith((".txt", ".md"))


def _off_from_false(raw: Any) -> Any:
    return "off" if raw is False else raw  # YAML 1.1 reads a bare off as false


def _seconds(raw: Any) -> Any:
    parts = re.fullmatch(r"([0-9]{1,9})([smhd])", raw) if isinstance(raw, str) else None
    return int(parts[1]) * UNIT_SECONDS[parts[2]] if parts else raw


def _known_prompt(name: str) -> str:
    if name not in get_args(BuiltInPrompt) and not is_prompt_file(name):
        raise ValueError("neither a built-in prompt nor a file")
    return name


def _label_header(name: str) -> str:
    if name in SECRET_HEADERS:
        raise ValueError("carries a credential")  # labels are stored and shown
    return name


Mode = Annotated[
    Literal["off", "observe", "enforce"],
    BeforeValidator(_off_from_false),
    WithJsonSchema({"enum": ["enforce", "observe", "off", False]}),
    Expects("enforce, observe or off"),
]
Preset = Annotated[
    Literal["turns", "incremental", "agent", "hybrid"], Expects("hybrid, turns, incremental or agent")
]
Strategy = Annotated[
    Literal["segments", "rolling", "turns", "window"], Expects("segments, rolling, turns or window")
]
Share = Annotated[float, Field(gt=0, le=1), Expects("a number above 0 and at most 1, such as 0.85")]
Weight = Annotated[float, Field(ge=0, le=1), Expects("a number from 0 to 1, such as 0.5")]
Count = Annotated[int, Field(ge=1, le=LARGEST), Expects("a whole number of at least 1")]
Amount = Annotated[int, Field(ge=0, le=LARGEST), Expects("a whole number of at least 0")]
Wait = Annotated[float, Field(ge=0, le=LONGEST_WAIT), Expects("seconds, from 0 to 3600")]
Name = Annotated[
    str,
    Field(min_length=1, max_length=256, pattern=r"\S"),
    Expects("a name, in quotes where YAML reads it as something else"),
]
Prompt = Annotated[
    Name,
    AfterValidator(_known_prompt),
    Expects("general, coding, support or research, or the path of a .txt or .md file"),
]
Names = Annotated[tuple[Name, ...], Field(strict=False), Expects("a list of names, such as [first, second]")]
Header = Annotated[
    str,
    Field(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$"),
    AfterValidator(str.lower),
    Expects("the name of a request header, such as x-compaction"),
]
LabelHeaders = Annotated[
    tuple[Annotated[Header, AfterValidator(_label_header)], ...],
    Field(strict=False),
    Expects("a list of header names, such as [x-session-id]; none that carries a credential"),
]
Ttl = Annotated[
    int,
    Field(ge=60, le=LONGEST_TTL),
    BeforeValidator(_seconds),
    WithJsonSchema(
        {"anyOf": [{"type": "integer", "minimum": 60}, {"type": "string", "pattern": "^[0-9]{1,9}[smhd]$"}]}
    ),
    Expects("seconds, or a whole number with s, m, h or d such as 12h or 7d; from 60 seconds to 3650 days"),
]
