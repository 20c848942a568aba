"""What docs/operating.md, compose.yaml and CONTRIBUTING.md say holds."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from gateway_compaction.adapters.prometheus import COUNTERS, GAUGES, HISTOGRAMS
from gateway_compaction.cli.main import app
from gateway_compaction.core.policy.book import PolicyBook
from gateway_compaction.core.records.compaction import KIND_RANK
from gateway_compaction.settings import PREFIX, Settings

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
PATHS = sorted((ROOT / "gateway_compaction").rglob("*.py"))
SOURCES = "\n".join(p.read_text("utf-8") for p in PATHS)
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))


def reasons() -> list[str]:
    """What the last table lists as reasons."""
    table = PAGE.partition("| `x-compaction-reason` says |")[2]
    cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| ") and line[2] != "-"]
    return [found for cell in cells for found in re.findall(r"`([^`]+)`", cell) if found != "x-compaction"]


@pytest.fixture(scope="module")
def said() -> set[str]:
    """Every text in the code, and every part of one between what is filled in; no comments, no docstrings."""
    nodes = [node for path in PATHS for node in ast.walk(ast.parse(path.read_text("utf-8")))]
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docs = {ast.get_docstring(node, clean=False) for node in nodes if isinstance(node, documented)}
    texts = (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return {text.strip() for text in texts if text not in docs}


@pytest.mark.parametrize("reason", reasons())
def test_each_reason_is_one_that_is_given(reason: str, said: set[str]) -> None:
    parts = [part for piece in reason.split("…") if (part := piece.strip())]
    assert parts and [part for part in parts if not is_said(part, said)] == []


def is_said(part: str, said: set[str]) -> bool:
    """Whether a text is one of the code's, or two of them one behind the other."""
    return part in said or any(
        {part[: gap.start()], part[gap.end() :]} <= said for gap in re.finditer(" ", part)
    )


def test_a_reason_of_one_word_is_a_kind_of_compaction() -> None:
    assert {reason for reason in reasons() if re.fullmatch(r"\w+", reason)} == set(KIND_RANK)


def test_no_reason_of_a_plan_is_missing() -> None:
    plan = (ROOT / "gateway_compaction" / "core" / "planning" / "plan.py").read_text("utf-8")
    told = [text for text in re.findall(r'"([a-z][a-z ;,]{12,})"', plan) if "touched" not in text]
    assert len(told) > 6
    assert [text for text in told if text not in PAGE] == []


def test_no_reason_why_a_request_is_left_alone_is_missing() -> None:
    table = PAGE.partition("| `x-compaction-reason` says |")[2]
    folder = ROOT / "gateway_compaction" / "core" / "endpoints"
    text = "\n".join(path.read_text("utf-8") for path in folder.glob("*.py"))
    given = {reason for reason in re.findall(r'(?m)^[A-Z_]+ = "([^"]+)"$', text) if reason.count(" ") > 2}
    engine = (ROOT / "gateway_compaction" / "engine" / "compactor.py").read_text("utf-8")
    given |= set(re.findall(r'Untouched\(request, policy, "\w+", "([^"]+)"', engine))
    headers = (ROOT / "gateway_compaction" / "call_state.py").read_text("utf-8")
    given |= set(re.findall(r'"x-compaction-reason": "([^"]+)"', headers))
    assert len(given) > 9
    assert [reason for reason in given if f"`{reason}`" not in table] == []


def test_no_reason_why_a_summary_failed_is_missing() -> None:
    given = r'raise (?:refused or |problem or )?(?:Summary|Transcript)\w+\((?:f?"([^"]+)"|([A-Z_]+)\))'
    named = dict(re.findall(r'(?m)^([A-Z_]+) = "([^"]+)"', SOURCES))
    raised = [text or named[name] for text, name in re.findall(given, SOURCES)]
    raised = [text for text in raised if "this replay" not in text]
    assert len(raised) > 16
    table = PAGE.partition("| `x-compaction-reason` says |")[2]
    parts = [part.strip() for text in raised for part in re.split(r"\{[^}]*\}|\(", text)]
    assert [part for part in parts if len(part) > 3 and part not in table] == []


@pytest.mark.parametrize("block", re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL))
def test_the_policies_load(block: str) -> None:
    assert PolicyBook({"version": 1, **yaml.safe_load(block)}, "operating.md").names in ((), ("pilot",))


def test_metrics_and_commands_and_variables_exist() -> None:
    metrics = {f"gateway_compaction_{n}_total" for n in COUNTERS}
    metrics |= {f"gateway_compaction_{n}" for n in (*GAUGES, *HISTOGRAMS)}
    named = set(re.findall(r"gateway_compaction_\w+", PAGE))
    assert named and {re.sub(r"_bucket$", "", name) for name in named} <= metrics
    variables = set(re.findall(rf"{PREFIX}(\w+)", PAGE))
    assert variables and variables <= {name.upper() for name in Settings.model_fields}
    commands = set(re.findall(r"`?gateway-compaction ((?:policy |buffers )?[a-z]+)", PAGE))
    assert len(commands) > 3
    for command in commands:
        assert CliRunner().invoke(app, [*command.split(), "--help"]).exit_code == 0, command


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)#]+)[^)]*\)", PAGE))
def test_links_lead_somewhere(link: str) -> None:
    assert (ROOT / "docs" / link).is_file()


class TestCompose:
    """The gateway beside its Redis."""

    def test_its_services(self) -> None:
        assert set(COMPOSE["services"]) == {"gateway", "redis"}
        assert COMPOSE["services"]["gateway"]["depends_on"]["redis"]["condition"] == "service_healthy"
        assert set(COMPOSE["volumes"]) == {"redis"}

    def test_the_gateway_s_variables_are_known(self) -> None:
        environment = COMPOSE["services"]["gateway"]["environment"]
        ours = {name.removeprefix(PREFIX).lower() for name in environment if name.startswith(PREFIX)}
        assert ours and ours <= set(Settings.model_fields)
        assert environment["GATEWAY_COMPACTION_REDIS_URL"].startswith("redis://redis:")
        assert ":?" in environment["LITELLM_MASTER_KEY"]

    def test_the_folder_with_the_policies_is_mounted_where_the_image_looks(self) -> None:
        [volume] = COMPOSE["services"]["gateway"]["volumes"]
        source, target, mode = volume.split(":")
        assert (ROOT / source / "policies.yaml").is_file() and mode == "ro"
        assert f'"{target}/litellm.yaml"' in (ROOT / "Dockerfile").read_text("utf-8")

    def test_it_waits_for_longer_than_a_drain(self) -> None:
        seconds = int(COMPOSE["services"]["gateway"]["stop_grace_period"].removesuffix("s"))
        assert seconds > Settings.model_fields["drain_seconds"].default

    def test_redis_evicts(self) -> None:
        command = COMPOSE["services"]["redis"]["command"]
        assert command[command.index("--maxmemory-policy") + 1] == "volatile-lru"
