"""Short ways to make policy books in tests."""

from __future__ import annotations

from typing import Any

import pytest

from gateway_compaction.core.policy.book import PolicyBook
from gateway_compaction.errors import PolicyError

SOURCE = "config/policies.yaml"


def tree(path: str, value: Any) -> dict[str, Any]:
    """The mapping in which ``path`` has ``value``."""
    key, _, rest = path.partition(".")
    return {key: tree(rest, value) if rest else value}


def book(defaults: Any = None, *policies: Any, **options: Any) -> PolicyBook:
    """A book from a file with these defaults and policies."""
    return PolicyBook({"version": 1, "defaults": defaults, "policies": list(policies)}, SOURCE, **options)


def errors_of(*args: Any, **options: Any) -> tuple[PolicyError, ...]:
    """The problems of a file that must be refused."""
    with pytest.raises(PolicyError) as caught:
        book(*args, **options)
    return (caught.value, *caught.value.others)


def entry(name: str, match: Any, **keys: Any) -> dict[str, Any]:
    """One entry of ``policies``."""
    return {"name": name, "match": match, **keys}
