"""Reading policies from where people write them: a YAML file, the prompt files beside it, the environment.

The core builds a ``PolicyBook`` from plain values and knows nothing of files; everything that can go wrong
with a file becomes a ``PolicyError`` here, with where it is and what to write instead.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from gateway_compaction.adapters.secrets import describe_yaml_problem
from gateway_compaction.core.policy.book import PolicyBook
from gateway_compaction.core.policy.document import ENVIRONMENT_PREFIX, describe_unknown_key, raise_errors
from gateway_compaction.core.policy.model import list_paths
from gateway_compaction.core.policy.optimize import FindCosts, know_no_costs
from gateway_compaction.errors import PolicyError

# Hex digits of a digest: enough to compare replicas by eye.
DIGEST_CHARS = 12

EMPTY_REMEDY = (
    "Write version: 1, and below it defaults: {mode: observe}, or enforce to have requests rewritten;"
    " without any policy file, requests are only observed"
)

# Bytes of a policy file and of a prompt file; larger ones are another file by mistake.
LARGEST_FILE = 1_000_000
LARGEST_PROMPT = 100_000

# How an error names the place where no line can be named.
WHOLE_FILE = "the file"
WHOLE_VALUE = "the value"

# How YAML tags the key ``<<``.
MERGE_TAG = "tag:yaml.org,2002:merge"


class _RefusedYamlError(yaml.MarkedYAMLError):
    """YAML that other readers accept and that is refused here, with what to write instead."""

    def __init__(self, problem: str, mark: yaml.Mark, remedy: str) -> None:
        super().__init__(problem=problem, problem_mark=mark)
        self.remedy = remedy


class _StrictLoader(yaml.SafeLoader):
    """A YAML reader that refuses keys written twice (of which YAML would keep the last) and merge keys.

    Nested merge keys multiply: a few hundred bytes of them can fill the memory.
    """

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """Build one mapping, key by key."""
        lines: dict[Hashable, int] = {}
        for key_node, _ in node.value:
            mark = key_node.start_mark
            if key_node.tag == MERGE_TAG:
                remedy = "Write the keys out, or what is common under defaults"
                raise _RefusedYamlError("the merge key << is not supported", mark, remedy)
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                raise _RefusedYamlError("a key must be a word", mark, "Write a name before the colon")
            if key in lines:
                problem = f"the key {key!r} is written twice, first in line {lines[key]}"
                raise _RefusedYamlError(problem, mark, "Keep one of the two")
            lines[key] = mark.line + 1
        return super().construct_mapping(node, deep=deep)


@dataclass(frozen=True, slots=True)
class LoadedPolicies:
    """Policies, and what they were read from.

    Attributes:
        book: the policies.
        files: the policy file first, then the prompt files that it names; empty without a policy file.
        digest: the first 12 digits of the SHA-256 of those files, one after the other (of a policy file that
            names no prompt file: what ``sha256sum`` prints); None without a policy file.
    """

    book: PolicyBook
    files: tuple[Path, ...] = ()
    digest: str | None = None


def load_policy_file(
    path: Path | None,
    env_overrides: Mapping[str, Any] | None = None,
    find_costs: FindCosts = know_no_costs,
) -> PolicyBook:
    """Return the policies of a file; without one, nothing is rewritten and no model is called.

    Prompt files are read as well, seen from the policy file's folder. ``find_costs`` is what ``PolicyBook``
    takes.

    Raises:
        PolicyError: the first problem found; its ``others`` are the rest.
    """
    return read_policies(path, env_overrides, find_costs).book


def read_policies(
    path: Path | None,
    env_overrides: Mapping[str, Any] | None = None,
    find_costs: FindCosts = know_no_costs,
) -> LoadedPolicies:
    """Return the same as ``load_policy_file``, with the files that were read.

    Raises:
        PolicyError: the first problem found; its ``others`` are the rest.
    """
    if path is None:
        return LoadedPolicies(PolicyBook.default(env_overrides, find_costs))
    digest, files = hashlib.sha256(), [path]

    def read_prompt(name: str) -> str:
        file = path.parent / name
        files.append(file)
        data = _read_bytes(file, LARGEST_PROMPT)
        digest.update(data)
        text = _decode(data).strip()
        if not text:
            raise ValueError("it is empty")
        return text

    try:
        data = _read_bytes(path, LARGEST_FILE)
        digest.update(data)
        text = _decode(data)
    except ValueError as error:
        raise PolicyError(
            str(path), WHOLE_FILE, f"cannot be read: {error}", "Write the path of a YAML file in UTF-8"
        ) from error
    raw = _read_yaml(text, str(path))
    if raw is None or raw == {}:
        # The built-in mode is enforce: a file that is truncated, or not written yet, must not switch it on.
        raise PolicyError(str(path), WHOLE_FILE, "it is empty", EMPTY_REMEDY)
    book = PolicyBook(raw, str(path), env_overrides, read_prompt, find_costs)
    return LoadedPolicies(book, tuple(files), digest.hexdigest()[:DIGEST_CHARS])


def read_env_overrides(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return values for ``defaults`` from variables such as GATEWAY_COMPACTION_DEFAULTS__LEVELS__MEDIUM__AT.

    Values are read as YAML; an empty variable counts as not set.

    Raises:
        PolicyError: with the variable as its source.
    """
    paths, overrides, errors = list_paths(), dict[str, Any](), list[PolicyError]()
    for variable, text in sorted(environ.items()):
        if not variable.startswith(ENVIRONMENT_PREFIX) or not text.strip():
            continue
        path = variable.removeprefix(ENVIRONMENT_PREFIX).lower().replace("__", ".")
        try:
            if path not in paths:
                raise _build_unknown_variable_error(variable, path)
            value = _read_yaml(text, variable, WHOLE_VALUE)
        except PolicyError as error:
            errors.append(error)
            continue
        *sections, key = path.split(".")
        node = overrides
        for section in sections:
            node = node.setdefault(section, {})
        node[key] = value
    raise_errors(errors)
    return overrides


def _build_unknown_variable_error(variable: str, path: str) -> PolicyError:
    below = [one for one in list_paths() if one.startswith(f"{path}.")]
    if below:
        problem, remedy = "names a section, not a key", f"Add a key, such as {_to_variable(below[0])}"
    else:
        problem, remedy = describe_unknown_key(path, list_paths())
    return PolicyError(variable, path, problem, remedy)


def _to_variable(path: str) -> str:
    """Return the environment variable of a policy key."""
    return ENVIRONMENT_PREFIX + path.upper().replace(".", "__")


def _read_bytes(path: Path, limit: int) -> bytes:
    """Return what a file holds.

    Raises:
        ValueError: it cannot be read, or is larger than ``limit``; with the reason, in words.
    """
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except (OSError, ValueError) as error:  # ValueError: a null byte in the name
        raise ValueError(getattr(error, "strerror", None) or "not a path") from error
    if len(data) > limit:
        raise ValueError(f"larger than {limit} bytes")
    return data


def _decode(data: bytes) -> str:
    """Return a file as text; a byte order mark, which Windows editors write, is no part of it.

    Raises:
        ValueError: it is not UTF-8; says where.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 at byte {error.start}") from error


def _read_yaml(text: str, source: str, whole: str = WHOLE_FILE) -> Any:
    """Return the values of a YAML text.

    Args:
        source: names the text in an error: its file or variable.
        whole: names the place where no line can be named.

    Raises:
        PolicyError: it cannot be read; with line and column.
    """
    try:
        return yaml.load(text, Loader=_StrictLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}" if mark else whole
        problem = " ".join(filter(None, (error.context, error.problem)))
        if not isinstance(error, _RefusedYamlError):
            problem = describe_yaml_problem(problem)
        remedy = getattr(error, "remedy", "Write valid YAML; quotes and spaces are the usual causes")
    except yaml.reader.ReaderError as error:
        where, problem = f"character {error.position + 1}", "found a character that YAML does not allow"
        remedy = "Remove it, or write it as an escape in double quotes"
    except RecursionError:
        where, problem, remedy = whole, "nested too deeply", "Write at most a few levels, as documented"
    except (ValueError, TypeError, LookupError, AttributeError):  # PyYAML's readers of dates and tags
        where, problem = whole, "holds a number, date or tag that cannot be read"
        remedy = "Write plain values; text in quotes, and no !!tags"
    raise PolicyError(source, where, problem, remedy)
