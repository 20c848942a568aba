"""The shape of a policy file, and its errors in words: where, what was found, what to write."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, WithJsonSchema, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, PydanticCustomError

from gateway_compaction.core.policy.fields import Expects, Section, section_of
from gateway_compaction.core.policy.model import PolicyBody, list_paths
from gateway_compaction.errors import PolicyError

__all__ = [
    "ENVIRONMENT_PREFIX",
    "Match",
    "Origin",
    "Outline",
    "PolicyEntry",
    "build_policy_schema",
    "describe_unknown_key",
    "parse_section",
    "raise_errors",
]

ENVIRONMENT_PREFIX = "GATEWAY_COMPACTION_DEFAULTS__"
MATCH_REMEDY = (
    "Write at least one of team, key, model, tag and user under match; "
    "what holds for everybody is written under defaults"
)
POLICIES = Expects("a list of policies, each item starting with - name:")
SectionT = TypeVar("SectionT", bound=Section)


def _listed(raw: Any) -> Any:
    if raw is not None and not isinstance(raw, list | tuple):
        raise ValueError("not a list")
    return raw


def _one_or_many(raw: Any) -> Any:
    return (raw,) if isinstance(raw, str) else raw


def _not_empty(patterns: tuple[str, ...]) -> tuple[str, ...]:
    if not patterns:
        raise ValueError("matches nothing")
    return patterns


Pattern = Annotated[str, Field(min_length=1, max_length=256)]
Patterns = Annotated[
    tuple[Pattern, ...],
    Field(strict=False),
    BeforeValidator(_one_or_many),
    AfterValidator(_not_empty),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "minLength": 1},
                {"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 1}},
            ]
        }
    ),
    Expects('a name or a list of names, such as [research, "lab-*"]'),
]


class Match(Section):
    """For whom a policy holds. Keys are joined with AND, a key's patterns with OR; shell globs."""

    team: Patterns = Field(default=(), description="Team ids or aliases.")
    key: Patterns = Field(default=(), description="Aliases of virtual keys.")
    model: Patterns = Field(default=(), description="Model groups, as the client names them.")
    tag: Patterns = Field(default=(), description="Request tags.")
    user: Patterns = Field(default=(), description="User ids.")

    @model_validator(mode="after")
    def _names_somebody(self) -> Match:
        if not self.model_fields_set:
            raise PydanticCustomError("empty_match", "matches everybody")
        return self


class PolicyEntry(PolicyBody):
    """One policy: its name, for whom it holds, and the keys that differ from what is inherited."""

    name: Annotated[
        str,
        Field(max_length=64, pattern=r"^[^\s\x00-\x1f\x7f]([^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f])?$"),
        Expects("name: and 1 to 64 characters in one line, in quotes if they look like a number"),
    ] = Field(description="Shown in events and by policy explain; each name once.")
    match: Annotated[Match, Expects(MATCH_REMEDY.removeprefix("Write "))] = Field(
        description="For whom this policy holds."
    )


class PolicyFile(Section):
    """Policies of gateway_compaction."""

    version: Annotated[
        int,
        Field(ge=1, le=1),  # a literal 1 would take true as well
        WithJsonSchema({"const": 1}),
        Expects("version: 1 at the top of the file"),
    ] = Field(description="Version of this format.")
    defaults: PolicyBody = Field(default=PolicyBody(), description="What holds for everybody.")
    policies: Annotated[tuple[PolicyEntry, ...], POLICIES] = Field(
        default=(), description="What holds for some; key and user > team > model and tag."
    )


class Outline(PolicyFile):
    """A policy file's top level alone, so that a fault in one policy does not hide those in the others."""

    defaults: Any = None
    policies: Annotated[Any, AfterValidator(_listed), POLICIES] = None


def build_policy_schema() -> dict[str, Any]:
    """The JSON schema of a policy file, for editors."""
    schema = PolicyFile.model_json_schema()
    for section in (schema, *schema["$defs"].values()):
        for name, field in section.get("properties", {}).items():
            if "$ref" in field and name not in section.get("required", ()):
                # A section left empty inherits.
                field["anyOf"] = [{"$ref": field.pop("$ref")}, {"type": "null"}]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


@dataclass(frozen=True, slots=True)
class Origin:
    """Where values were written: ``source`` is a file, a metadata block or the environment."""

    source: str
    prefix: str = ""
    variables: bool = False

    def error(self, path: str, problem: str, remedy: str) -> PolicyError:
        """An error at ``path`` of this origin; the environment's is named by its variable."""
        source = self.source
        if self.variables:
            source = ENVIRONMENT_PREFIX + path.upper().replace(".", "__")
        whole = ".".join(filter(None, (self.prefix, path)))
        return PolicyError(source, whole or "(top level)", problem, remedy)


def raise_errors(errors: Sequence[PolicyError]) -> None:
    """Raise the first of ``errors``, if any, with the rest as its ``others``."""
    if errors:
        first, *rest = errors
        raise PolicyError(first.source, first.path, first.problem, first.remedy, others=tuple(rest))


def parse_section(
    model: type[SectionT], raw: Any, origin: Origin, errors: list[PolicyError]
) -> SectionT | None:
    """Read ``raw`` as ``model``; None when it cannot be, with one error per key added to ``errors``."""
    try:
        return model.model_validate(raw)
    except ValidationError as failure:
        found = (_in_words(model, detail, origin) for detail in failure.errors(include_url=False))
        errors += {error.path: error for error in found}.values()  # a union reports each of its members
        return None


def describe_unknown_key(key: str, allowed: Sequence[str]) -> tuple[str, str]:
    """Problem and remedy for a key that does not exist."""
    homes = [path.rpartition(".")[0] for path in list_paths() if path.endswith(f".{key}")]
    near = difflib.get_close_matches(key, allowed, n=1)
    if homes:
        remedy = f"Write it under {' or '.join(homes)}"
    elif near:
        remedy = f"Did you mean {near[0]!r}?"
    else:
        remedy = f"Write one of {', '.join(allowed)}"
    return f"unknown key {key[:60]!r}", remedy


def _in_words(model: type[Section], detail: ErrorDetails, origin: Origin) -> PolicyError:
    path, section, field = _locate(model, detail["loc"])
    kind, key = detail["type"], str(detail["loc"][-1] if detail["loc"] else "")
    expects = _expected(field) if field else ""
    if kind == "extra_forbidden":
        problem, remedy = describe_unknown_key(key, tuple(section.model_fields))
    elif kind == "invalid_key":
        problem, remedy = f"the key {key[:60]} is not text", "Write the key in quotes, or remove it"
    elif kind == "string_unicode":
        problem, remedy = "found text that is not Unicode", "Write it without escapes such as \\ud800"
    elif kind == "missing":
        problem, remedy = f"there is no {key}", f"Write {expects}"
    elif kind == "empty_match":
        problem, remedy = "it would match everybody", MATCH_REMEDY
    elif kind == "model_type":
        problem, remedy = _found(detail["input"]), f"Write a mapping with keys such as {_some(section)}"
    else:
        problem, remedy = _found(detail["input"]), f"Write {expects}"
    return origin.error(path, problem, remedy)


def _locate(model: type[Section], loc: tuple[int | str, ...]) -> tuple[str, type[Section], FieldInfo | None]:
    """The path that ``loc`` names in the file, the innermost section on it, and the last key's field."""
    path: str = ""
    section, field = model, None
    for part in loc:
        if field is None or section_of(field.annotation):
            field = section.model_fields.get(str(part))
            section = (section_of(field.annotation) if field else None) or section
            word = str(part)[:60]
            path += ("." if path else "") + (word if word.isprintable() else repr(word))
        elif isinstance(part, int):  # an item of a list; other parts name the members of a union
            path += f"[{part}]"
    return path, section, field


def _expected(field: FieldInfo) -> str:
    texts = [item.text for item in field.metadata if isinstance(item, Expects)]
    return texts[-1] if texts else "what the schema allows"  # the last one was written for this very key


def _some(section: type[Section]) -> str:
    return ", ".join(list(section.model_fields)[:6])


def _found(value: Any) -> str:
    """What was found, short: an error is one line."""
    if value is None:
        return "found no value"
    if isinstance(value, bool):
        return f"found {str(value).lower()} (YAML reads yes, no, on and off as true and false)"
    if isinstance(value, int) and abs(value) >= 10**15:
        return "found a number that is far too large"  # Python refuses to print the longest ones
    if isinstance(value, int | float):
        return f"found the number {value}"
    if isinstance(value, str):
        return f"found the text {value[:60]!r}" + (" (shortened)" if len(value) > 60 else "")
    if isinstance(value, Mapping):
        return "found a mapping"
    if isinstance(value, list | tuple):
        return "found a list"
    return f"found a value of type {type(value).__name__}"
