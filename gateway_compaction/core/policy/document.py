"""The shape of a policy file, and its errors in words: where, what was found, what to write.

Policies are written by people who do not know this code. All that is wrong with a file is told at once, each
error with the key's path and a remedy; pydantic's own messages name unions and validators that no file has.
"""

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

# A variable overrides ``defaults``: its path follows the prefix in capitals, with ``__`` for each dot.
ENVIRONMENT_PREFIX = "GATEWAY_COMPACTION_DEFAULTS__"
MATCH_REMEDY = (
    "Write at least one of team, key, model, tag, user and endpoint under match; "
    "what holds for everybody is written under defaults"
)
POLICIES = Expects("a list of policies, each item starting with - name:")
SectionT = TypeVar("SectionT", bound=Section)


def _check_list(raw: Any) -> Any:
    if raw is not None and not isinstance(raw, list | tuple):
        raise ValueError("not a list")
    return raw


def _to_tuple(raw: Any) -> Any:
    return (raw,) if isinstance(raw, str) else raw


def _check_not_empty(patterns: tuple[str, ...]) -> tuple[str, ...]:
    if not patterns:
        raise ValueError("matches nothing")
    return patterns


Pattern = Annotated[str, Field(min_length=1, max_length=256)]
Patterns = Annotated[
    tuple[Pattern, ...],
    Field(strict=False),
    BeforeValidator(_to_tuple),
    AfterValidator(_check_not_empty),
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


# Without a single key it would hold for everybody, silently: what holds for everybody belongs under defaults.
class Match(Section):
    """For whom a policy holds. Keys are joined with AND, a key's patterns with OR; shell globs."""

    team: Patterns = Field(default=(), description="Team ids or aliases.")
    key: Patterns = Field(default=(), description="Aliases of virtual keys.")
    model: Patterns = Field(default=(), description="Model groups, as the client names them.")
    tag: Patterns = Field(default=(), description="Request tags.")
    user: Patterns = Field(default=(), description="User ids.")
    endpoint: Patterns = Field(default=(), description="Endpoints: chat, messages or responses.")

    @model_validator(mode="after")
    def _require_a_key(self) -> Match:
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
        default=(), description="What holds for some; key and user > team > model, tag and endpoint."
    )


class Outline(PolicyFile):
    """A policy file's top level alone, so that a fault in one policy does not hide those in the others."""

    defaults: Any = None
    policies: Annotated[Any, AfterValidator(_check_list), POLICIES] = None


def build_policy_schema() -> dict[str, Any]:
    """Return the JSON schema of a policy file, with which editors complete keys and mark errors."""
    schema = PolicyFile.model_json_schema()
    for section in (schema, *schema["$defs"].values()):
        for name, field in section.get("properties", {}).items():
            if "$ref" in field and name not in section.get("required", ()):
                # A section left empty inherits.
                field["anyOf"] = [{"$ref": field.pop("$ref")}, {"type": "null"}]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


@dataclass(frozen=True, slots=True)
class Origin:
    """The place where values were written, so that an error or an explanation can name it.

    Attributes:
        source: a file's name, ``team metadata``, ``key metadata``, ``environment`` or ``built-in default``.
        prefix: path inside the source below which the values stand, such as ``policies[2]``.
        variables: the source is the environment, where each path is a variable of its own.
    """

    source: str
    prefix: str = ""
    variables: bool = False

    def build_error(self, path: str, problem: str, remedy: str) -> PolicyError:
        """Build an error at ``path`` of this origin; in the environment it is named by its variable."""
        source = self.source
        if self.variables:
            source = ENVIRONMENT_PREFIX + path.upper().replace(".", "__")
        whole = ".".join(filter(None, (self.prefix, path)))
        return PolicyError(source, whole or "(top level)", problem, remedy)


def raise_errors(errors: Sequence[PolicyError]) -> None:
    """Raise the first of ``errors``, if there is one, with the rest as its ``others``.

    Raises:
        PolicyError: ``errors`` is not empty.
    """
    if errors:
        first, *rest = errors
        raise PolicyError(first.source, first.path, first.problem, first.remedy, others=tuple(rest))


def parse_section(
    model: type[SectionT], raw: Any, origin: Origin, errors: list[PolicyError]
) -> SectionT | None:
    """Read ``raw`` as ``model``.

    Args:
        model: the section that the values must fit.
        raw: plain values, as YAML or JSON gives them.
        origin: where they were written.
        errors: gets one error for each key that is wrong, so that a reader sees all of them at once.

    Returns:
        The section, or None where ``raw`` is no such section.
    """
    try:
        return model.model_validate(raw)
    except ValidationError as failure:
        details = failure.errors(include_url=False)
        problems = [_to_policy_error(model, detail, origin) for detail in details]
        # A union reports each of its members: one error for each path is enough.
        errors += {problem.path: problem for problem in problems}.values()
        return None


def describe_unknown_key(key: str, allowed: Sequence[str]) -> tuple[str, str]:
    """Return problem and remedy for a key that does not exist where it was written.

    Args:
        key: the key as written, or a whole path.
        allowed: keys that exist there.
    """
    homes = [path.rpartition(".")[0] for path in list_paths() if path.endswith(f".{key}")]
    near = difflib.get_close_matches(key, allowed, n=1)
    if homes:
        remedy = f"Write it under {' or '.join(homes)}"
    elif near:
        remedy = f"Did you mean {near[0]!r}?"
    else:
        remedy = f"Write one of {', '.join(allowed)}"
    return f"unknown key {key[:60]!r}", remedy


def _to_policy_error(model: type[Section], detail: ErrorDetails, origin: Origin) -> PolicyError:
    """Return what pydantic found as an error in the words of the policy file."""
    path, section, field = _find_path(model, detail["loc"])
    kind = detail["type"]
    key = str(detail["loc"][-1]) if detail["loc"] else ""
    expects = _find_remedy(field) if field else ""
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
        problem, remedy = (
            _describe_value(detail["input"]),
            f"Write a mapping with keys such as {_list_some_keys(section)}",
        )
    else:
        problem, remedy = _describe_value(detail["input"]), f"Write {expects}"
    return origin.build_error(path, problem, remedy)


def _find_path(
    model: type[Section], loc: tuple[int | str, ...]
) -> tuple[str, type[Section], FieldInfo | None]:
    """Return the path of ``loc`` in the file, the innermost section on it, and the last key's field."""
    path = ""
    section = model
    field: FieldInfo | None = None
    for part in loc:
        if field is None or section_of(field.annotation):
            field = section.model_fields.get(str(part))
            if field is not None:
                section = section_of(field.annotation) or section
            word = str(part)[:60]
            if path:
                path += "."
            path += word if word.isprintable() else repr(word)
        elif isinstance(part, int):
            # An item of a list; other parts name the members of a union.
            path += f"[{part}]"
    return path, section, field


def _find_remedy(field: FieldInfo) -> str:
    texts = [item.text for item in field.metadata if isinstance(item, Expects)]
    # The last one was written for this very key, those before it for the kind of its value.
    return texts[-1] if texts else "what the schema allows"


def _list_some_keys(section: type[Section]) -> str:
    return ", ".join(list(section.model_fields)[:6])


def _describe_value(value: Any) -> str:
    """Say in a few words what was found: an error is one line."""
    if value is None:
        return "found no value"
    if isinstance(value, bool):
        return f"found {str(value).lower()} (YAML reads yes, no, on and off as true and false)"
    if isinstance(value, int) and abs(value) >= 10**15:
        # Python refuses to print the longest ones.
        return "found a number that is far too large"
    if isinstance(value, int | float):
        return f"found the number {value}"
    if isinstance(value, str) and "://" in value:
        # An address in the wrong place may hold a password, and errors end in logs.
        return "found an address"
    if isinstance(value, str):
        ending = " (shortened)" if len(value) > 60 else ""
        return f"found the text {value[:60]!r}{ending}"
    if isinstance(value, Mapping):
        return "found a mapping"
    if isinstance(value, list | tuple):
        return "found a list"
    return f"found a value of type {type(value).__name__}"
