"""The kinds of values that a policy file holds, each with the words that tell what to write.

An error about a key ends in "Write …" and then the text of the key's ``Expects``: whoever mistypes a policy
reads what is expected instead of pydantic's messages. Names of these kinds do not appear in the JSON schema.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

import regex
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    model_validator,
)

from gateway_compaction.core.endpoints.wire import EndpointName

# No count of tokens, messages or turns is larger: a typing error, not a wish.
LARGEST = 1_000_000_000
# Seconds: ten years, far below what Redis refuses as an expiry.
LONGEST_TTL = 3650 * 86_400
# Seconds: no request is held, and no model waited for, longer than an hour.
LONGEST_WAIT = 3600
BuiltInPrompt = Literal["general", "coding", "support", "research"]
# Headers that carry a credential: labels are stored and shown, so none of these may be one.
SECRET_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "x-api-key", "api-key"})
UNIT_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


@dataclass(frozen=True, slots=True)
class Expects:
    """The words that follow "Write" in an error about a key: what the key takes."""

    text: str


class Section(BaseModel):
    """A mapping of the policy file: frozen, strict, without unknown keys.

    A section that is left empty (``levels:`` with nothing behind it, which YAML reads as null) counts as not
    written and so inherits. Without that, emptying a section in an editor would refuse the whole file.
    The docstrings of subclasses are the descriptions in ``config/policies.schema.json``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _drop_empty_sections(cls, raw: Any) -> Any:
        if not isinstance(raw, Mapping):
            return raw
        fields = cls.model_fields
        return {
            key: value
            for key, value in raw.items()
            if value is not None or key not in fields or section_of(fields[key].annotation) is None
        }


def section_of(annotation: Any) -> type[Section] | None:
    """Return the section that an annotation (or the items of its tuple) names, or None."""
    for candidate in (annotation, *get_args(annotation)):
        if isinstance(candidate, type) and issubclass(candidate, Section):
            return candidate
    return None


def is_prompt_file(name: str) -> bool:
    """Tell whether ``summary.prompt`` names a file and not one of the built-in prompts."""
    return "/" in name or name.endswith((".txt", ".md"))


def _read_false_as_off(raw: Any) -> Any:
    # YAML 1.1 reads a bare off as false.
    return "off" if raw is False else raw


def _parse_duration(raw: Any) -> Any:
    """Return seconds for a text such as ``12h``; anything else as it is, for pydantic to judge."""
    parts = re.fullmatch(r"([0-9]{1,9})([smhd])", raw) if isinstance(raw, str) else None
    return int(parts[1]) * UNIT_SECONDS[parts[2]] if parts else raw


def _read_assumed(raw: Any) -> Any:
    """Return the tokens of ``assume 8000`` or ``{assume: 8000}``; anything else as it is."""
    if isinstance(raw, Mapping) and list(raw) == ["assume"]:
        return raw["assume"]
    parts = re.fullmatch(r"assume ([0-9]{1,10})", raw) if isinstance(raw, str) else None
    return int(parts[1]) if parts else raw


def _check_prompt(name: str) -> str:
    if name not in get_args(BuiltInPrompt) and not is_prompt_file(name):
        raise ValueError("neither a built-in prompt nor a file")
    return name


def _check_pattern(pattern: str) -> str:
    """Refuse a regular expression that cannot be used, or that would mask every text."""
    try:
        compiled = regex.compile(pattern)
    except (regex.error, RecursionError, OverflowError) as error:
        raise ValueError("no regular expression") from error
    if compiled.search("") is not None:
        raise ValueError("matches an empty text")
    return pattern


def _check_label_header(name: str) -> str:
    if name in SECRET_HEADERS:
        raise ValueError("carries a credential")
    return name


Mode = Annotated[
    Literal["off", "observe", "enforce"],
    BeforeValidator(_read_false_as_off),
    WithJsonSchema({"enum": ["enforce", "observe", "off", False]}),
    Expects("enforce, observe or off"),
]
Preset = Annotated[
    Literal["turns", "incremental", "agent", "hybrid"], Expects("hybrid, turns, incremental or agent")
]
Strategy = Annotated[
    Literal["segments", "rolling", "turns", "window"], Expects("segments, rolling, turns or window")
]
Replace = Annotated[Literal["later", "at_once"], Expects("later or at_once")]
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
    AfterValidator(_check_prompt),
    Expects("general, coding, support or research, or the path of a .txt or .md file"),
]
Endpoints = Annotated[
    tuple[EndpointName, ...],
    Field(strict=False),
    Expects("a list of chat, messages and responses, such as [chat, messages]"),
]
WorkNames = Annotated[
    tuple[Literal["project", "plan", "task", "cwd"], ...],
    Field(strict=False),
    Expects("a list of project, plan, task and cwd, such as [plan, task]"),
]
Names = Annotated[tuple[Name, ...], Field(strict=False), Expects("a list of names, such as [first, second]")]
Header = Annotated[
    str,
    Field(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$"),
    AfterValidator(str.lower),
    Expects("the name of a request header, such as x-compaction"),
]
LabelHeaders = Annotated[
    tuple[Annotated[Header, AfterValidator(_check_label_header)], ...],
    Field(strict=False),
    Expects("a list of header names, such as [x-session-id]; none that carries a credential"),
]
SecretPatterns = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=500), AfterValidator(_check_pattern)], ...],
    Field(strict=False, max_length=50),
    Expects(
        "a list of at most 50 regular expressions of at most 500 characters, none of which matches an empty"
        r" text, such as ['EMP-\d{6}']"
    ),
]
Ttl = Annotated[
    int,
    Field(ge=60, le=LONGEST_TTL),
    BeforeValidator(_parse_duration),
    WithJsonSchema(
        {"anyOf": [{"type": "integer", "minimum": 60}, {"type": "string", "pattern": "^[0-9]{1,9}[smhd]$"}]}
    ),
    Expects("seconds, or a whole number with s, m, h or d such as 12h or 7d; from 60 seconds to 3650 days"),
]
UnknownWindow = Annotated[
    Literal["learn", "leave"] | Annotated[int, Field(ge=200, le=LARGEST)],
    BeforeValidator(_read_assumed),
    WithJsonSchema(
        {
            "anyOf": [
                {"enum": ["learn", "leave"]},
                {"type": "integer", "minimum": 200, "maximum": LARGEST},
                {"type": "string", "pattern": "^assume [0-9]{3,10}$"},
                {
                    "type": "object",
                    "properties": {"assume": {"type": "integer", "minimum": 200, "maximum": LARGEST}},
                    "required": ["assume"],
                    "additionalProperties": False,
                },
            ]
        }
    ),
    Expects("learn, leave, or assume with a number of tokens of at least 200, such as assume 8000"),
]
