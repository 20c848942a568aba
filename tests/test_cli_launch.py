"""``gateway-compaction serve`` before LiteLLM starts: what it refuses, and what it hands over."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gateway_compaction import __version__
from gateway_compaction.adapters.secrets import hide_password
from gateway_compaction.cli.launch import (
    CALLBACK,
    Deployment,
    Launch,
    LaunchError,
    check_port,
    program_name,
    proxy_environment,
    read_config,
)
from gateway_compaction.cli.main import app
from tests.lab.ports import HOST

ROOT = Path(__file__).resolve().parents[1]
COMMAND = [sys.executable, "-c", "from gateway_compaction.cli.main import app; app()"]
UNSET = dict.fromkeys(
    ("LITELLM_MASTER_KEY", "DATABASE_URL", "REDIS_URL", "PORT", "GATEWAY_COMPACTION_POLICIES")
)
SMALL = f"""
model_list:
  - {{model_name: demo, litellm_params: {{model: demo/demo}}, model_info: {{max_input_tokens: 4000}}}}
litellm_settings: {{callbacks: ["{CALLBACK}"]}}
"""


def refusal(*args: str, env: dict[str, str] | None = None, lines: int = 1) -> str:
    """What ``serve`` says when it refuses, in so many lines."""
    result = CliRunner().invoke(app, ["serve", *args], env={**UNSET, **(env or {})})
    assert result.exit_code == 1, result.output
    assert isinstance(result.exception, SystemExit)
    assert len(result.stderr.strip().splitlines()) == lines
    return result.stderr.strip()


def clean_environment(home: Path) -> dict[str, str]:
    """Nothing of the developer's own settings."""
    return {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(ROOT), "NO_PROXY": "*"}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A config that can be served."""
    path = tmp_path / "litellm.yaml"
    path.write_text(SMALL)
    return path


class TestRefusals:
    """Each is one sentence and exit status 1, before LiteLLM is started."""

    def test_a_missing_config(self) -> None:
        said = refusal("--config", "/nowhere/litellm.yaml")
        assert "/nowhere/litellm.yaml" in said
        assert "--config" in said

    @pytest.mark.parametrize("text", ["model_list: [", "", "- a list", "\x00"])
    def test_a_config_that_litellm_could_not_read(self, config: Path, text: str) -> None:
        config.write_text(text)
        assert str(config) in refusal("--config", str(config))

    def test_a_bad_policy_file(self, config: Path, tmp_path: Path) -> None:
        policies = tmp_path / "rules.yaml"
        policies.write_text("version: 1\ndefaults: {mode: enforced, recall: {max_tokens: -1}, unheard: 1}\n")
        said = refusal("--config", str(config), "--policies", str(policies), lines=3)
        assert said.count(f"{policies}: defaults.") == 3, "every problem, not the first alone"
        assert "mode" in said

    def test_a_bad_policy_file_beside_the_config(self, config: Path, tmp_path: Path) -> None:
        (tmp_path / "policies.yaml").write_text("version: 1\nlevels: {}\n")
        assert "policies.yaml" in refusal("--config", str(config))

    def test_a_bad_policy_variable(self, config: Path) -> None:
        said = refusal("--config", str(config), env={"GATEWAY_COMPACTION_DEFAULTS__MODE": "loud"})
        assert "GATEWAY_COMPACTION_DEFAULTS__MODE" in said

    @pytest.mark.parametrize(
        ("args", "env"),
        [(["--redis-url", "localhost:6379"], {}), ([], {"GATEWAY_COMPACTION_REDIS_URL": "localhost:6379"})],
    )
    def test_a_redis_url_that_is_none(self, config: Path, args: list[str], env: dict[str, str]) -> None:
        said = refusal("--config", str(config), *args, env=env)
        assert "the Redis URL cannot be used" in said and "redis://" in said

    @pytest.mark.parametrize("args", [[], ["--redis-url", "redis://localhost:1"]])
    def test_a_variable_of_the_wrong_kind(self, config: Path, args: list[str]) -> None:
        said = refusal("--config", str(config), *args, env={"GATEWAY_COMPACTION_QUEUE": "many"})
        assert "GATEWAY_COMPACTION_QUEUE cannot be used: Input should be a valid integer" in said

    def test_a_port_in_use(self, config: Path) -> None:
        with socket.create_server((HOST, 0)) as taken:
            port = str(taken.getsockname()[1])
            said = refusal("--config", str(config), "--port", port)
        assert port in said
        assert "--port" in said and "make run" in said and "PORT=" in said

    def test_no_auth_against_a_key(self, config: Path) -> None:
        said = refusal("--config", str(config), "--no-auth", env={"LITELLM_MASTER_KEY": "sk-set"})
        assert "LITELLM_MASTER_KEY" in said
        assert "sk-set" not in said

    @pytest.mark.parametrize("variable", ["LITELLM_MASTER_KEY", "OWN_KEY"])
    def test_a_key_that_everybody_knows(self, config: Path, variable: str) -> None:
        config.write_text(f"{SMALL}general_settings: {{master_key: os.environ/{variable}}}\n")
        said = refusal("--config", str(config), env={variable: "sk-1234"})
        assert f"{variable} is publicly known" in said and "long random value" in said
        assert "sk-1234" not in said

    def test_a_key_that_everybody_knows_in_the_config(self, config: Path) -> None:
        config.write_text(f"{SMALL}general_settings: {{master_key: sk-1234}}\n")
        assert f"{config} is publicly known" in refusal("--config", str(config))

    def test_a_key_is_judged_without_the_network(self, config: Path, tmp_path: Path) -> None:
        with socket.create_server((HOST, 0)) as proxy:
            way_out = f"http://{HOST}:{proxy.getsockname()[1]}"
            env = clean_environment(tmp_path) | {"LITELLM_MASTER_KEY": "sk-1234"}
            env |= {"HTTPS_PROXY": way_out, "HTTP_PROXY": way_out, "NO_PROXY": ""}
            command = [*COMMAND, "serve", "--config", str(config)]
            done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
            proxy.setblocking(False)
            with pytest.raises(BlockingIOError):
                proxy.accept()
        assert "LITELLM_MASTER_KEY is publicly known" in done.stderr

    def test_an_empty_policy_file(self, config: Path, tmp_path: Path) -> None:
        (tmp_path / "policies.yaml").write_text("")
        assert "it is empty" in refusal("--config", str(config))

    def test_a_database_without_a_lasting_key(self, config: Path) -> None:
        url = "postgresql://user:secret@db/litellm"
        said = refusal("--config", str(config), env={"DATABASE_URL": url})
        assert "LITELLM_MASTER_KEY" in said
        assert "secret" not in said

    def test_the_dot_env_file_counts(self, config: Path, tmp_path: Path) -> None:
        (tmp_path / ".env").write_text("LITELLM_MASTER_KEY=sk-from-file\n")
        done = subprocess.run(
            [*COMMAND, "serve", "--config", str(config), "--no-auth"],
            cwd=tmp_path,
            env=clean_environment(tmp_path),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1
        assert "LITELLM_MASTER_KEY sets a master key" in done.stderr


class TestLaunch:
    """The pure part: config in, environment out."""

    def test_reads_what_decides_the_start(self, config: Path) -> None:
        loaded = read_config(config)
        assert loaded.deployments == (Deployment("demo", 4000),)
        assert loaded.has_plugin is True
        assert loaded.key_variable == "LITELLM_MASTER_KEY"

    @pytest.mark.parametrize(
        ("callbacks", "found"),
        [
            (CALLBACK, True),
            (f"[other, {CALLBACK}]", True),
            (f"{CALLBACK}2", False),
            ("7", False),
            ("{a: b}", False),
        ],
    )
    def test_finds_the_callback(self, config: Path, callbacks: str, found: bool) -> None:
        config.write_text(f"litellm_settings: {{callbacks: {callbacks}}}\n")
        assert read_config(config).has_plugin is found

    @pytest.mark.parametrize(
        ("key", "variable"),
        [("os.environ/OTHER_KEY", "OTHER_KEY"), ("sk-written-down", None), ("''", "LITELLM_MASTER_KEY")],
    )
    def test_finds_where_the_key_lives(self, config: Path, key: str, variable: str | None) -> None:
        config.write_text(f"{SMALL}general_settings: {{master_key: {key}}}\n")
        assert read_config(config).key_variable == variable

    def test_finds_who_lets_callers_in(self, config: Path) -> None:
        assert read_config(config).custom_auth is None
        config.write_text(f"{SMALL}general_settings: {{custom_auth: mine.check}}\n")
        assert read_config(config).custom_auth == "mine.check"

    def test_does_not_judge_what_other_files_hold(self, config: Path) -> None:
        config.write_text("include: [models.yaml]\n")
        assert read_config(config).has_plugin is None

    def test_keeps_what_the_environment_says(self) -> None:
        base = {"TIMEOUT_WORKER_HEALTHCHECK": "60", "LITELLM_WORKER_STARTUP_HOOKS": "mine:start"}
        env = proxy_environment(base, Launch(redis_url="redis://here", key=("OTHER_KEY", "sk-new")))
        assert env["TIMEOUT_WORKER_HEALTHCHECK"] == "60"
        assert env["LITELLM_LOCAL_MODEL_COST_MAP"] == "True"
        assert env["LITELLM_WORKER_STARTUP_HOOKS"] == "mine:start,gateway_compaction.hook:startup"
        assert env["GATEWAY_COMPACTION_REDIS_URL"] == "redis://here"
        assert env["OTHER_KEY"] == "sk-new"
        assert proxy_environment(env, Launch(redis_url="redis://here")) == env

    def test_a_symbolic_link_to_the_policies_stays_one(self, tmp_path: Path) -> None:
        (tmp_path / "policies.yaml").symlink_to("..data/policies.yaml")
        env = proxy_environment({}, Launch(policies=tmp_path / "policies.yaml"))
        assert env["GATEWAY_COMPACTION_POLICIES"] == str(tmp_path / "policies.yaml")

    def test_a_folder_for_metrics_is_a_default(self, tmp_path: Path) -> None:
        assert proxy_environment({}, Launch(metrics=tmp_path))["PROMETHEUS_MULTIPROC_DIR"] == str(tmp_path)
        named = {"PROMETHEUS_MULTIPROC_DIR": "/named"}
        assert proxy_environment(named, Launch(metrics=tmp_path))["PROMETHEUS_MULTIPROC_DIR"] == "/named"
        assert "PROMETHEUS_MULTIPROC_DIR" not in proxy_environment({}, Launch())

    def test_starts_nothing_of_its_own_without_the_plugin(self) -> None:
        assert "LITELLM_WORKER_STARTUP_HOOKS" not in proxy_environment({}, Launch(plugin=False))

    def test_a_host_that_is_not_ours(self) -> None:
        with pytest.raises(LaunchError, match=r"203\.0\.113\.7"):
            check_port("203.0.113.7", 4000)

    @pytest.mark.parametrize(
        ("url", "shown"),
        [
            ("redis://localhost:6379/0", "redis://localhost:6379/0"),
            ("rediss://me:secret@cache:6380/1?password=secret", "rediss://me:***@cache:6380/1"),
            ("redis://:secret@cache", "redis://:***@cache"),
            ("redis://:secret@[cache", "an address that cannot be read"),
        ],
    )
    def test_shows_no_password(self, url: str, shown: str) -> None:
        assert hide_password(url) == shown

    def test_version(self) -> None:
        assert CliRunner().invoke(app, ["--version"]).output.strip() == f"gateway-compaction {__version__}"


class TestProgramName:
    """The words by which the reader of a message can start the program again."""

    @pytest.fixture
    def checkout(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A checkout whose environment holds the program, which was started by its path."""
        program = tmp_path / ".venv" / "bin" / "gateway-compaction"
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("PATH", "/nowhere")
        monkeypatch.setattr(sys, "argv", [".venv/bin/gateway-compaction", "serve"])
        return program

    def test_is_a_path_where_the_program_is_not_found_by_its_name(self, checkout: Path) -> None:
        assert program_name() == ".venv/bin/gateway-compaction"

    def test_is_a_whole_path_from_elsewhere(self, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "argv", [str(checkout)])
        for folder in (checkout.parent, Path(__file__).parent):
            monkeypatch.chdir(folder)
            assert program_name() == str(checkout)

    def test_is_the_name_where_the_environment_is_active(
        self, checkout: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PATH", str(checkout.parent))
        assert program_name() == "gateway-compaction"

    def test_is_the_name_where_it_was_started_as_a_module(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "argv", ["/site-packages/gateway_compaction/cli/__main__.py"])
        assert program_name() == "gateway-compaction"
