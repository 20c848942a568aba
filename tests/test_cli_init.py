"""``gateway-compaction init``: a first policy file for a config that is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from gateway_compaction.adapters.policy_file import load_policy_file
from gateway_compaction.cli.init import GroupWindow, RedisState, build_policy_file, find_other_redis
from gateway_compaction.cli.launch import CALLBACK
from gateway_compaction.cli.main import app
from gateway_compaction.core.policy.book import Identity, PolicyBook
from tests.lab import RedisServer
from tests.test_cli_doctor import prepare

CONFIG = """
model_list:
  - {model_name: known, litellm_params: {model: openai/gpt-4o, api_key: sk-secret}}
  - {model_name: mine, litellm_params: {model: hosted_vllm/unheard-of, api_base: "http://127.0.0.1:9"}}
  - {model_name: "any/*", litellm_params: {model: "openai/*", api_key: sk-secret}}
"""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of this machine's own set-up."""
    prepare(tmp_path, monkeypatch)


def run(text: str = CONFIG, *arguments: str, code: int = 0) -> Result:
    """The command, for a config with this text."""
    Path("litellm.yaml").write_text(text, encoding="utf-8")
    result = CliRunner().invoke(app, ["init", "--config", "litellm.yaml", *arguments], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result


def without_marks(text: str) -> str:
    """The file after its reader has taken every # away that it says to take away."""
    return re.sub(r"(?m)^#(?=  )", "", text)


class TestFile:
    """The file that is written."""

    def test_it_watches_and_changes_nothing(self) -> None:
        run()
        book = load_policy_file(Path("policies.yaml"))
        policy = book.resolve(Identity(team_id="pilot", model="mine"))
        assert (policy.mode, policy.summary.model, policy.context_window) == ("observe", "extractive", None)

    def test_it_names_the_models_and_their_windows(self) -> None:
        run()
        text = Path("policies.yaml").read_text("utf-8")
        for told in ("known: 128,000 tokens", "mine: unknown, see below", "any/*: a pattern"):
            assert f"#   {told}" in text
        assert "sk-secret" not in text

    def test_with_the_marks_taken_away_the_suggestions_hold(self) -> None:
        run()
        raw = yaml.safe_load(
            "\n".join(
                line
                for line in without_marks(Path("policies.yaml").read_text("utf-8")).splitlines()
                if not re.match(r"  +(known|mine|any)", line)
            )
        )
        book = PolicyBook(raw, "policies.yaml")
        assert book.resolve(Identity(team_id="pilot")).mode == "enforce"
        assert book.resolve(Identity(model="mine")).context_window == 32768

    @pytest.mark.parametrize("name", ["a\nmode: off", 'quo"ted', "# mark", "{{x}}", "ключ"])
    def test_a_name_stays_in_its_comment(self, name: str) -> None:
        redis = RedisState(name, name, name)
        text = build_policy_file(Path("c.yaml"), [GroupWindow(name, None)], redis)
        assert yaml.safe_load(text)["defaults"]["mode"] == "observe"
        assert PolicyBook(yaml.safe_load(text), "p").names == ()

    def test_a_long_list_of_models_is_cut(self) -> None:
        groups = [GroupWindow(f"m{n}", 1000) for n in range(100)]
        text = build_policy_file(Path("c.yaml"), groups, RedisState())
        assert "and 60 more" in text and "m50" not in text

    def test_a_file_that_is_there_stays(self) -> None:
        Path("policies.yaml").write_text("mine")
        assert "policies.yaml is there already" in run(code=1).stderr
        assert Path("policies.yaml").read_text() == "mine"
        run(CONFIG, "--out", "first.yaml")
        assert Path("first.yaml").is_file() and Path("policies.yaml").read_text() == "mine"

    @pytest.mark.parametrize("text", ["model_list: [", "- a list", "model_list:\n\t- a: secret"])
    def test_a_config_that_cannot_be_read(self, text: str) -> None:
        told = run(text, code=1).stderr
        assert "litellm.yaml" in told and "secret" not in told
        assert ("line 2, column 1: a tab stands here: use spaces" in told) == ("\t" in text)
        assert not Path("policies.yaml").exists()

    def test_a_folder_that_is_not_there(self) -> None:
        assert "cannot be written" in run(CONFIG, "--out", "nowhere/p.yaml", code=1).stderr


class TestRedis:
    """Found, unusable, named for LiteLLM alone, or nowhere."""

    def test_one_that_answers(self, quiet_server: RedisServer) -> None:
        assert "answers.\n" in run(CONFIG, "--redis-url", quiet_server.url).stdout
        assert "answers." in Path("policies.yaml").read_text("utf-8")

    @pytest.mark.parametrize("url", ["redis://:secret@127.0.0.1:1/0", "localhost:6379"])
    def test_one_that_does_not(self, url: str) -> None:
        told = run(CONFIG, "--redis-url", url).stdout
        assert "cannot be used now: " in told and "secret" not in told
        text = Path("policies.yaml").read_text("utf-8")
        assert "cannot be used:" in text and "secret" not in text

    def test_none(self) -> None:
        assert "Redis: none is named. Each process keeps its own summaries" in run().stdout
        text = Path("policies.yaml").read_text("utf-8")
        assert "Redis: none is named" in text and "GATEWAY_COMPACTION_REDIS_URL=redis://host:6379/0" in text

    @pytest.mark.parametrize(
        ("raw", "environ", "found"),
        [
            ({"litellm_settings": {"cache_params": {"host": "c", "port": 7}}}, {}, "redis://c:7/0"),
            ({"router_settings": {"redis_host": "r"}}, {}, "redis://r:6379/0"),
            ({"router_settings": {"redis_url": "redis://u:secret@r:1/0"}}, {}, "redis://u:***@r:1/0"),
            ({}, {"REDIS_HOST": "e", "REDIS_PORT": "9"}, "redis://e:9/0"),
            ({}, {"REDIS_URL": "rediss://e:1"}, "rediss://e:1"),
            ({"litellm_settings": {"cache_params": {"host": 7}}, "router_settings": []}, {}, None),
        ],
    )
    def test_litellm_s_own(self, raw: dict[str, object], environ: dict[str, str], found: str | None) -> None:
        assert find_other_redis(raw, environ) == found


class TestNextSteps:
    """The line that the config lacks, and the command that comes next."""

    @pytest.mark.parametrize(
        ("settings", "line"),
        [
            ("", f'callbacks: ["{CALLBACK}"]'),
            ("litellm_settings: {callbacks: prometheus}\n", f'callbacks: ["prometheus", "{CALLBACK}"]'),
            ("litellm_settings: {callbacks: [a, b]}\n", f'callbacks: ["a", "b", "{CALLBACK}"]'),
        ],
    )
    def test_the_missing_line_keeps_the_callbacks_that_are_there(self, settings: str, line: str) -> None:
        told = run(CONFIG + settings).stdout
        assert "litellm.yaml does not load the plugin yet" in told and f"\n  {line}\n" in told
        Path("policies.yaml").unlink()
        mended = CONFIG + "litellm_settings: {" + line + "}\n"
        assert "does not load" not in run(mended).stdout

    def test_the_command_that_comes_next_goes_well_once_the_line_is_there(self) -> None:
        mended = CONFIG + f"litellm_settings: {{callbacks: [{CALLBACK}]}}\n"
        step = run(mended).stdout.splitlines()[-1]
        command = step.removeprefix("Next: gateway-compaction ").split()
        assert command == ["doctor", "--config", "litellm.yaml"]
        done = CliRunner().invoke(app, command, catch_exceptions=False)
        assert done.exit_code == 0 and "policies.yaml: by default observe" in " ".join(done.stdout.split())

    def test_a_file_elsewhere_is_named(self) -> None:
        assert run(CONFIG, "--out", "first.yaml").stdout.rstrip().endswith("--policies first.yaml")
