"""The page of clients names the versions that are pinned, and no client without a result."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")
PINNED = {
    "OpenAI Python": ("dev", "openai"),
    "Anthropic Python": ("dev", "anthropic"),
    "`ChatOpenAI`": ("clients/kits", "langchain-openai"),
    "`ChatAnthropic`": ("clients/kits", "langchain-anthropic"),
    "LangGraph": ("clients/kits", "langgraph"),
    "pydantic-ai": ("clients/kits", "pydantic-ai-slim"),
    "openai-agents": ("clients/kits", "openai-agents"),
    "LlamaIndex": ("clients/openai2", "llama-index-core"),
    "mini-swe-agent": ("clients/openai2", "mini-swe-agent"),
    "aider": ("clients/aider", "aider-chat"),
    "OpenHands": ("clients/openhands", "openhands"),
    "OpenAI Node": ("", "openai"),
    "Anthropic Node": ("", "@anthropic-ai/sdk"),
    "`@ai-sdk/openai`": ("", "@ai-sdk/openai"),
    "`@ai-sdk/openai-compatible`": ("", "@ai-sdk/openai-compatible"),
    "`@ai-sdk/anthropic`": ("", "@ai-sdk/anthropic"),
    "codex": ("", "@openai/codex"),
    "claude-code": ("", "@anthropic-ai/claude-code"),
    "opencode": ("", "opencode-ai"),
}
# What says why they cannot be played.
ABSENT = ("goose",)


def rows() -> list[list[str]]:
    """The cells of the table of clients, which is the page's first."""
    table = PAGE[PAGE.index("\n|") :].partition("\n\n")[0]
    lines = table.strip().splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def pins(listed: str) -> dict[str, str]:
    """The versions in a list of requirements; without one, in the list of Node's packages."""
    if not listed:
        package = json.loads((ROOT / "tests/clients/programs/package.json").read_text())
        versions: dict[str, str] = package["dependencies"]
        return versions
    return dict(re.findall(r"(?m)^([\w.-]+)==(\S+)", (ROOT / f"requirements/{listed}.txt").read_text()))


@pytest.mark.parametrize(("name", "listed", "package"), [(n, *where) for n, where in PINNED.items()])
def test_the_versions_are_those_that_are_pinned(name: str, listed: str, package: str) -> None:
    versions = {row[1] for row in rows() if name in row[0]}
    assert versions == {pins(listed)[package]}


def test_every_row_has_a_result() -> None:
    assert len(rows()) >= len(PINNED)
    for row in rows():
        assert len(row) == 5 and row[4] == ("passes" if row[1] else row[4]), row
        assert all(row) or row[0] in ABSENT, row
        assert "not tried" not in row[4]


def test_every_list_has_its_hashes_and_names_no_host() -> None:
    for path in (ROOT / "requirements" / "clients").glob("*.txt"):
        text = path.read_text(encoding="utf-8")
        assert text.count("==") <= text.count("--hash=sha256:") and "://" not in text, path.name
    assert '"resolved"' not in (ROOT / "tests/clients/programs/package-lock.json").read_text()
