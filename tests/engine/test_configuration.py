"""docs/configuration.md names every variable, with its default, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gateway_compaction.cli.launch import DEFAULTS, MASTER_KEY, STARTUP_HOOK, STARTUP_HOOKS
from gateway_compaction.settings import PREFIX, Settings

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "configuration.md").read_text("utf-8")
ROWS = dict(re.findall(rf"(?m)^\| `({PREFIX}\w+)` \| ([^|]+) \|", PAGE))


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_is_documented_with_its_default(name: str) -> None:
    default = Settings.model_fields[name].default
    written = str(default).lower() if isinstance(default, bool) else default
    shown = "unset" if default is None else f"`{written}`"
    assert ROWS[f"{PREFIX}{name.upper()}"].strip() == shown


def test_nothing_is_documented_that_does_not_exist() -> None:
    known = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
    named = set(re.findall(rf"{PREFIX}\w+", PAGE))
    assert {name for name in named if not name.startswith(f"{PREFIX}DEFAULTS__")} == known
    assert set(ROWS) == known


@pytest.mark.parametrize("name", [*DEFAULTS, MASTER_KEY, STARTUP_HOOKS])
def test_what_serve_sets_is_documented(name: str) -> None:
    assert f"`{name}`" in PAGE
    assert f"`{STARTUP_HOOK}`" in PAGE


def test_links_lead_somewhere() -> None:
    folder = Path(__file__).resolve().parents[2] / "docs"
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", PAGE):
        assert (folder / target).is_file()


@pytest.mark.parametrize("name", ["REDIS_URL", "POLICIES"])
def test_an_empty_variable_counts_as_not_set(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(f"{PREFIX}{name}", "")
    assert getattr(Settings(), name.lower()) is None


def test_variables_are_read_with_the_prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"{PREFIX}QUEUE", "7")
    monkeypatch.setenv("QUEUE", "9")
    assert Settings().queue == 7
