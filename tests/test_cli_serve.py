"""``gateway-compaction serve``: what it refuses, what it hands to LiteLLM, and the running gateway."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionMessageParam
from typer.testing import CliRunner

from gateway_compaction import __version__
from gateway_compaction.cli.launch import (
    CALLBACK,
    Deployment,
    LaunchError,
    check_port,
    environment,
    read_config,
    without_password,
)
from gateway_compaction.cli.main import app
from tests.lab.ports import HOST, free_port

ROOT = Path(__file__).resolve().parents[1]
CONFIG = ROOT / "config" / "litellm.yaml"
COMMAND = [sys.executable, "-c", "from gateway_compaction.cli.main import app; app()"]
UNSET = dict.fromkeys(
    ("LITELLM_MASTER_KEY", "DATABASE_URL", "REDIS_URL", "PORT", "GATEWAY_COMPACTION_POLICIES")
)
SMALL = f"""
model_list:
  - {{model_name: demo, litellm_params: {{model: demo/demo}}, model_info: {{max_input_tokens: 4000}}}}
litellm_settings: {{callbacks: ["{CALLBACK}"]}}
"""


def refusal(*args: str, env: dict[str, str] | None = None) -> str:
    """What ``serve`` says when it refuses."""
    result = CliRunner().invoke(app, ["serve", *args], env={**UNSET, **(env or {})})
    assert result.exit_code == 1, result.output
    assert isinstance(result.exception, SystemExit)
    assert len(result.stderr.strip().splitlines()) == 1
    return result.stderr.strip()


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
        policies.write_text("version: 1\ndefaults: {mode: enforced}\n")
        said = refusal("--config", str(config), "--policies", str(policies))
        assert str(policies) in said
        assert "mode" in said

    def test_a_bad_policy_file_beside_the_config(self, config: Path, tmp_path: Path) -> None:
        (tmp_path / "policies.yaml").write_text("version: 1\nlevels: {}\n")
        assert "policies.yaml" in refusal("--config", str(config))

    def test_a_bad_policy_variable(self, config: Path) -> None:
        said = refusal("--config", str(config), env={"GATEWAY_COMPACTION_DEFAULTS__MODE": "loud"})
        assert "GATEWAY_COMPACTION_DEFAULTS__MODE" in said

    def test_a_port_in_use(self, config: Path) -> None:
        with socket.create_server((HOST, 0)) as taken:
            port = str(taken.getsockname()[1])
            said = refusal("--config", str(config), "--port", port)
        assert port in said
        assert "--port" in said

    def test_no_auth_against_a_key(self, config: Path) -> None:
        said = refusal("--config", str(config), "--no-auth", env={"LITELLM_MASTER_KEY": "sk-set"})
        assert "LITELLM_MASTER_KEY" in said
        assert "sk-set" not in said

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
        ("key", "variable"),
        [("os.environ/OTHER_KEY", "OTHER_KEY"), ("sk-written-down", None), ("''", "LITELLM_MASTER_KEY")],
    )
    def test_finds_where_the_key_lives(self, config: Path, key: str, variable: str | None) -> None:
        config.write_text(f"{SMALL}general_settings: {{master_key: {key}}}\n")
        assert read_config(config).key_variable == variable

    def test_does_not_judge_what_other_files_hold(self, config: Path) -> None:
        config.write_text("include: [models.yaml]\n")
        assert read_config(config).has_plugin is None

    def test_keeps_what_the_environment_says(self) -> None:
        base = {"TIMEOUT_WORKER_HEALTHCHECK": "60", "LITELLM_WORKER_STARTUP_HOOKS": "mine:start"}
        env = environment(base, redis_url="redis://here", key=("OTHER_KEY", "sk-new"))
        assert env["TIMEOUT_WORKER_HEALTHCHECK"] == "60"
        assert env["LITELLM_LOCAL_MODEL_COST_MAP"] == "True"
        assert env["LITELLM_WORKER_STARTUP_HOOKS"] == "mine:start,gateway_compaction.hook:startup"
        assert env["GATEWAY_COMPACTION_REDIS_URL"] == "redis://here"
        assert env["OTHER_KEY"] == "sk-new"
        assert environment(env, redis_url="redis://here") == env

    def test_starts_nothing_of_its_own_without_the_plugin(self) -> None:
        assert "LITELLM_WORKER_STARTUP_HOOKS" not in environment({}, plugin=False)

    def test_a_host_that_is_not_ours(self) -> None:
        with pytest.raises(LaunchError, match=r"203\.0\.113\.7"):
            check_port("203.0.113.7", 4000)

    @pytest.mark.parametrize(
        ("url", "shown"),
        [
            ("redis://localhost:6379/0", "redis://localhost:6379/0"),
            ("rediss://me:secret@cache:6380/1?password=secret", "rediss://me:***@cache:6380/1"),
            ("redis://:secret@cache", "redis://:***@cache"),
        ],
    )
    def test_shows_no_password(self, url: str, shown: str) -> None:
        assert without_password(url) == shown

    def test_version(self) -> None:
        assert CliRunner().invoke(app, ["--version"]).output.strip() == f"gateway-compaction {__version__}"


def clean_environment(home: Path) -> dict[str, str]:
    """Nothing of the developer's own settings."""
    return {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(ROOT), "NO_PROXY": "*"}


class Gateway:
    """A gateway started by the command line."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, log: Path) -> None:
        self.process, self.port, self.log = process, port, log

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    @property
    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def wait_ready(self, seconds: float = 150.0) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            assert self.process.poll() is None, self.output
            with suppress(httpx.HTTPError):
                if httpx.get(f"{self.url}/health/liveliness", timeout=5, trust_env=False).is_success:
                    return
            time.sleep(0.2)
        raise AssertionError(self.output)

    def ask(self, key: str | None = None) -> httpx.Response:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        body = {"model": "demo", "messages": [{"role": "user", "content": "Hello there"}]}
        url = f"{self.url}/v1/chat/completions"
        return httpx.post(url, json=body, headers=headers, timeout=30, trust_env=False)


@contextmanager
def served(folder: Path, *args: str) -> Iterator[Gateway]:
    """The repository's own config, served."""
    port, log = free_port(), folder / "gateway.log"
    command: Sequence[str] = [*COMMAND, "serve", "--config", str(CONFIG), "--port", str(port), *args]
    with log.open("wb") as sink:
        process = subprocess.Popen(
            command, cwd=folder, env=clean_environment(folder), stdout=sink, stderr=sink
        )
    gateway = Gateway(process, port, log)
    try:
        gateway.wait_ready()
        yield gateway
    finally:
        process.kill()
        process.wait(15)


@pytest.fixture(scope="module")
def open_gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """What ``make run`` starts."""
    with served(tmp_path_factory.mktemp("open"), "--no-auth") as gateway:
        yield gateway


class TestServing:
    """A real LiteLLM with the demo model."""

    def test_says_what_it_serves(self, open_gateway: Gateway) -> None:
        for part in ("demo (4,000 tokens)", str(open_gateway.port), "everybody", "in this process"):
            assert part in open_gateway.output
        assert "compaction is off" not in open_gateway.output

    def test_needs_no_key_and_takes_any(self, open_gateway: Gateway) -> None:
        for key in (None, "sk-whatever", "not-even-a-key"):
            answer = open_gateway.ask(key)
            assert answer.status_code == 200, answer.text
            assert "1 message," in answer.json()["choices"][0]["message"]["content"]

    async def test_the_openai_sdk(self, open_gateway: Gateway) -> None:
        question: list[ChatCompletionMessageParam] = [{"role": "user", "content": "First line\nsecond line"}]
        async with AsyncOpenAI(base_url=f"{open_gateway.url}/v1", api_key="unused") as client:
            whole = await client.chat.completions.create(model="demo", messages=question)
            stream = await client.chat.completions.create(
                model="demo",
                messages=question,
                stream=True,
                stream_options={"include_usage": True},
            )
            chunks = [chunk async for chunk in stream]
        text = whole.choices[0].message.content
        assert text is not None
        assert text.endswith("First line")
        assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == text
        assert [c.choices[0].finish_reason for c in chunks if c.choices and c.choices[0].finish_reason] == [
            "stop"
        ]
        assert len(chunks) > 10
        assert whole.usage is not None
        assert whole.usage.prompt_tokens > 0
        assert [c.usage.prompt_tokens for c in chunks if c.usage] == [whole.usage.prompt_tokens]

    async def test_the_demo_model_writes_summaries(self, open_gateway: Gateway) -> None:
        order = (
            "<transcript>\n[0] user wrote: Book a table in Lyon. For two.\n[1] assistant wrote: Done.\n"
            "</transcript>\n\nAnswer with the summary inside <summary> </summary> tags."
        )
        async with AsyncOpenAI(base_url=f"{open_gateway.url}/v1", api_key="unused") as client:
            answer = await client.chat.completions.create(
                model="demo", messages=[{"role": "user", "content": order}], max_tokens=200
            )
        assert answer.choices[0].finish_reason == "stop"
        text = answer.choices[0].message.content or ""
        assert re.fullmatch(r"(?s)<summary>.*Book a table in Lyon\..*</summary>", text)

    def test_makes_a_key_where_none_is_set_and_stops_on_ctrl_c(self, tmp_path: Path) -> None:
        with served(tmp_path) as gateway:
            key = re.search(r"Key for this run: (sk-[\w-]{40,})", gateway.output)
            assert key is not None
            assert gateway.ask().status_code == 401
            assert gateway.ask("sk-another").status_code in (400, 401)
            assert gateway.ask(key.group(1)).status_code == 200
            before = len(gateway.output)
            gateway.process.send_signal(signal.SIGINT)
            assert gateway.process.wait(20) in (0, -signal.SIGINT, 128 + signal.SIGINT)
            assert "Traceback" not in gateway.output[before:]
