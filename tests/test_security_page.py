"""SECURITY.md: each line of its threat model is held by a test that exists."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
LINES = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| threat")]
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


@cache
def find_names(file: str) -> set[str]:
    """The names of all tests of a file."""
    return set(re.findall(r"(?m)^\s*(?:async )?def (test_\w+)\(", (ROOT / file).read_text(encoding="utf-8")))


def test_every_boundary_is_there() -> None:
    boundaries = ("client", "tenant", "summariser", "Redis", "browser", "Guardrails", "Logs", "Supply chain")
    heads = re.findall(r"(?m)^### (.+)$", PAGE)
    assert [word for word in boundaries if not any(word in head for head in heads)] == []
    assert len(LINES) > 30


@pytest.mark.parametrize("line", LINES, ids=[line.split("|")[1].strip()[:40] for line in LINES])
def test_each_line_names_tests_that_exist(line: str) -> None:
    named = NAMED.findall(line)
    assert named and line.count("tests/") == len(named)
    assert [name for file, name in named if name not in find_names(file)] == []


def test_the_audit_reads_the_pins() -> None:
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").split("\naudit:")[1].split("\n\n")[0]
    assert "pip-audit" in recipe and "requirements/$$list.txt" in recipe and "in run dev;" in recipe
    assert "--require-hashes" in recipe and "internet" in recipe
