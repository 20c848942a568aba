"""What README.md states in figures and commands holds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from gateway_compaction.adapters.litellm.doors import COVERED, UNCOVERED
from gateway_compaction.adapters.policy_file import load_policy_file
from gateway_compaction.cli.main import app
from gateway_compaction.core.policy.book import Identity

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_replay_figures() -> None:
    file = ROOT / "docs" / "examples" / "support_chat.json"
    printed = CliRunner().invoke(app, ["replay", str(file), "--window", "4000"]).output
    told = " ".join(printed.split())
    calls, client, upstream = re.search(
        r"(\d+) calls: ([\d,]+) tokens sent by the client, ([\d,]+) sent", told
    ).groups()
    assert f"for each of the {calls} calls" in README
    assert f"{client} against {upstream}" in " ".join(README.split())


def test_the_policy_loads(tmp_path: Path) -> None:
    [block] = [b for b in re.findall(r"```yaml\n(.*?)```", README, re.DOTALL) if "policies:" in b]
    file = tmp_path / "policies.yaml"
    file.write_text(block, encoding="utf-8")
    book = load_policy_file(file)
    assert book.resolve(Identity()).mode == "observe"
    assert book.resolve(Identity(team_id="lab-7")).levels.medium.keep_last == 20
    assert yaml.safe_load(block)["version"] == 1


@pytest.mark.parametrize("door", [*COVERED, *UNCOVERED.values()])
def test_what_is_covered_and_what_is_not_is_told_before_anything_else(door: str) -> None:
    covered, _, rest = README.partition("Not covered")
    assert door in (covered if door in COVERED else rest.partition("\n\n")[0])


@pytest.mark.parametrize("page", re.findall(r"\]\(([^):#]+)\)", README))
def test_every_page_it_names_is_there(page: str) -> None:
    assert (ROOT / page).is_file()


def test_every_command_it_names_is_there() -> None:
    named = set(re.findall(r"gateway-compaction ((?:policy |buffers )?[a-z]+)", README)) - {"compaction"}
    for command in named:
        assert CliRunner().invoke(app, [*command.split(), "--help"]).exit_code == 0, command
