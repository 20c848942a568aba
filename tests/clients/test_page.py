"""The page of clients names the versions that are pinned, and no client without a result."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")
PINNED = {"OpenAI Python": "openai", "Anthropic Python": "anthropic"}


def rows() -> list[list[str]]:
    """The cells of the table of clients."""
    lines = [line for line in PAGE.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def pins() -> dict[str, str]:
    """The versions in the lists of requirements."""
    return dict(re.findall(r"(?m)^([\w.-]+)==(\S+)", (ROOT / "requirements/dev.txt").read_text()))


@pytest.mark.parametrize(("name", "package"), PINNED.items())
def test_the_versions_are_those_that_are_pinned(name: str, package: str) -> None:
    versions = {row[1] for row in rows() if name in row[0]}
    assert versions == {pins()[package]}


def test_every_row_has_a_result() -> None:
    assert len(rows()) >= len(PINNED)
    for row in rows():
        assert len(row) == 5 and all(row), row
        assert "not tried" not in row[4]
