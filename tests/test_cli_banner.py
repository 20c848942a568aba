"""What ``serve`` says before LiteLLM takes its place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gateway_compaction.adapters.policy_file import load_policy_file
from gateway_compaction.cli.banner import ServeOptions, announce
from gateway_compaction.cli.launch import CALLBACK, read_config
from gateway_compaction.cli.redis_probe import find_redis_problem

MODELS = """
model_list:
  - {model_name: mine, litellm_params: {model: hosted_vllm/unheard-of, api_base: "http://127.0.0.1:9"}}
  - {model_name: also-mine, litellm_params: {model: hosted_vllm/unheard-of-too, api_base: "http://127.0.0.1:9"}}
  - {model_name: known, litellm_params: {model: openai/gpt-4o, api_key: x}}
  - {model_name: said, litellm_params: {model: openai/gpt-4, api_key: x}, model_info: {max_input_tokens: 99}}
  - {model_name: "any/*", litellm_params: {model: "openai/*", api_key: x}}
"""
PLUGIN = f'litellm_settings: {{callbacks: ["{CALLBACK}"]}}\n'
WINDOWS = """
version: 1
defaults: {mode: observe}
policies: [{name: w, match: {model: also-mine}, context_window: 8000}]
"""


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of the developer's, wide lines, and LiteLLM's own table of models without a network."""
    for name in ("GATEWAY_COMPACTION_ENABLED", "GATEWAY_COMPACTION_DEFAULTS__MODE", "REDIS_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    monkeypatch.setenv("LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS", "True")


def said(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    text: str,
    *,
    host: str = "127.0.0.1",
    open_to_all: bool = False,
    port: int = 4001,
    redis_problem: str = "",
) -> tuple[dict[str, str], list[str]]:
    """The lines of the panel by their names, and the warnings."""
    config, policies = folder / "litellm.yaml", folder / "rules.yaml"
    config.write_text(text, encoding="utf-8")
    policies.write_text(WINDOWS, encoding="utf-8")
    wanted = ServeOptions(config, policies, None, host, port, 1)
    announce(wanted, read_config(config), load_policy_file(policies), None, open_to_all, redis_problem)
    printed = capsys.readouterr().out
    lines = dict(re.findall(r"│ (\w+) +(.*?) +│", printed))
    return lines, [line for line in printed.splitlines() if line.startswith("Warning: ")]


def test_it_names_the_page_and_every_window(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines, warnings = said(tmp_path, capsys, MODELS + PLUGIN)
    assert lines["address"] == "http://127.0.0.1:4001/v1"
    assert lines["page"] == "http://127.0.0.1:4001/compaction/ui"
    assert lines["models"] == (
        "mine (window unknown), also-mine (8,000 tokens by the policy), known (128,000 tokens),"
        " said (99 tokens), any/*"
    )
    assert lines["policies"].endswith("rules.yaml (by default: observe; 1 special rule)")
    assert lines["access"] == "with the master key"
    assert warnings == [
        "Warning: the window of mine is unknown, so its requests stay untouched until one is refused:"
        f" write model_info.max_input_tokens in {tmp_path / 'litellm.yaml'}."
    ]


def test_without_the_callback_it_tells_of_no_page_and_no_policies(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines, warnings = said(tmp_path, capsys, MODELS)
    assert set(lines) == {"address", "config", "models", "access"}
    assert len(warnings) == 1 and warnings[0].startswith("Warning: compaction is off: add callbacks")


def test_own_authentication_is_neither_everybody_nor_the_master_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = f"{PLUGIN}general_settings: {{custom_auth: auth.check}}\n"
    lines, warnings = said(tmp_path, capsys, own, host="0.0.0.0", open_to_all=True)
    assert lines["access"] == "by custom_auth (auth.check)" and lines["models"] == "none in the config"
    assert warnings == []
    lines, warnings = said(tmp_path, capsys, PLUGIN, host="0.0.0.0", open_to_all=True)
    assert lines["access"] == "everybody" and "without a key" in warnings[0]


def test_the_switch_for_everybody_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEWAY_COMPACTION_ENABLED", "no")
    _, warnings = said(tmp_path, capsys, PLUGIN)
    assert len(warnings) == 1 and "GATEWAY_COMPACTION_ENABLED is false" in warnings[0]


def test_it_says_that_redis_does_not_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    problem = find_redis_problem("redis://:secret@127.0.0.1:1/0")
    assert problem and "secret" not in problem
    _, [warning, *_] = said(tmp_path, capsys, MODELS + PLUGIN, redis_problem=problem)
    assert problem in warning and "each process keeps its own summaries" in warning
    assert find_redis_problem(None) == "" and find_redis_problem("no address") != ""


@pytest.mark.parametrize(
    ("port", "text", "shown"),
    [
        (4100, MODELS + PLUGIN, "gateway-compaction buffers ls --port 4100"),
        (4000, MODELS + PLUGIN, None),
        (4100, MODELS + "litellm_settings: {callbacks: [other]}\n", None),
    ],
)
def test_it_says_how_the_command_line_reaches_an_unusual_port(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], port: int, text: str, shown: str | None
) -> None:
    lines, _ = said(tmp_path, capsys, text, host="0.0.0.0", port=port)
    assert lines.get("sessions") == shown and f":{port}/v1" in lines["address"]


DEMO = """
model_list:
  - {model_name: demo, litellm_params: {model: demo/demo}, model_info: {max_input_tokens: 9}}
"""


@pytest.mark.parametrize(
    ("port", "host", "text", "shown"),
    [
        (4000, "127.0.0.1", DEMO + PLUGIN, "gateway-compaction demo"),
        (4001, "0.0.0.0", DEMO + PLUGIN, "gateway-compaction demo --port 4001"),
        (4001, "localhost", DEMO + PLUGIN, "gateway-compaction demo --url http://localhost:4001"),
        (4000, "127.0.0.1", MODELS + PLUGIN, None),
        (4000, "127.0.0.1", DEMO, None),
    ],
)
def test_it_has_one_line_by_which_a_conversation_is_sent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], port: int, host: str, text: str, shown: str | None
) -> None:
    lines, _ = said(tmp_path, capsys, text, host=host, port=port)
    assert lines.get("demo") == shown
