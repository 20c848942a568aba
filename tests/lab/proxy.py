"""A real LiteLLM proxy as a subprocess on loopback."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
import yaml

from tests.lab.fork_server import MODULE, ForkedProcess, ForkServer
from tests.lab.ports import HOST, free_port

__all__ = ["MASTER_KEY", "Model", "Proxy", "proxy_config", "start_all"]

MASTER_KEY = "sk-lab-master-4f1c2b7a9d"
PLUGIN = "gateway_compaction.hook.handler"
ROOT = Path(__file__).resolve().parents[2]
SITE = Path(__file__).resolve().parent / "site"
PREFIX = "GATEWAY_COMPACTION_"
FORK_SERVER = ForkServer()
FOREIGN = ("REDIS", "GATEWAY_COMPACTION", "OPENAI", "LITELLM", "DATABASE", "CONFIG_FILE", "PORT", "HOST")


@dataclass(frozen=True, slots=True)
class Model:
    """A deployment: ``name`` is what clients ask for, ``upstream`` what the upstream sees.

    Several with one name are one group. ``window`` None leaves the window unknown.
    """

    name: str
    window: int | None = None
    upstream: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    info: Mapping[str, Any] = field(default_factory=dict)

    def entry(self, api_base: str) -> dict[str, Any]:
        """The ``model_list`` entry."""
        served = self.upstream or f"gpt-4o-{self.name}"
        params = {"model": f"openai/{served}", "api_base": api_base, "api_key": "sk-upstream", **self.params}
        window = {} if self.window is None else {"max_input_tokens": self.window}
        return {"model_name": self.name, "litellm_params": params, "model_info": {**window, **self.info}}


def proxy_config(
    models: Sequence[Model],
    api_base: str,
    *,
    plugin: bool = True,
    callbacks_before: Sequence[str] = (),
    callbacks_after: Sequence[str] = (),
    guardrails: Sequence[Mapping[str, Any]] = (),
    custom_auth: bool = False,
    router: Mapping[str, Any] | None = None,
    litellm: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A proxy's config: no retries and no cooldowns, so that one call is one upstream request."""
    callbacks = [*callbacks_before, *([PLUGIN] if plugin else []), *callbacks_after]
    settings: dict[str, Any] = {"telemetry": False, "num_retries": 0, **(litellm or {})}
    if callbacks:
        settings["callbacks"] = callbacks
    general: dict[str, Any] = {"master_key": MASTER_KEY}
    if custom_auth:
        general["custom_auth"] = "lab_auth.authenticate"
    config: dict[str, Any] = {
        "model_list": [model.entry(api_base) for model in models],
        "litellm_settings": settings,
        "router_settings": {"num_retries": 0, "disable_cooldowns": True, **(router or {})},
        "general_settings": general,
    }
    if guardrails:
        config["guardrails"] = [dict(item) for item in guardrails]
    return config


class Proxy:
    """``python -m litellm.proxy.proxy_cli`` on a free port, with a config directory of its own.

    It comes from the process that has LiteLLM imported, in a tenth of the time, unless ``env`` sets what is
    read at the start, or the environment has ``LAB_FORK=0``.

    Args:
        config: as ``proxy_config`` makes it, or any LiteLLM config.
        policies: the policy file's contents; None for no file.
        redis_url: None leaves the plugin on its embedded store.
        keys: API key -> fields of ``UserAPIKeyAuth``; read by ``lab_auth``.
        env: further environment variables; None removes one.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        *,
        name: str = "proxy",
        policies: Mapping[str, Any] | str | None = None,
        redis_url: str | None = None,
        keys: Mapping[str, Mapping[str, Any]] | None = None,
        env: Mapping[str, str | None] | None = None,
    ) -> None:
        self.name = name
        self.port = free_port()
        self.directory = Path(tempfile.mkdtemp(prefix=f"lab-{name}-"))
        self.log = self.directory / "proxy.log"
        self._process: subprocess.Popen[bytes] | ForkedProcess | None = None
        self._write(config, policies, keys or {})
        self._env = self._environment(redis_url, policies is not None, env or {})
        # What LiteLLM or Python itself reads of its environment it reads at its start.
        is_allowed = os.environ.get("LAB_FORK") != "0"
        self._is_forked = is_allowed and all(variable.startswith(PREFIX) for variable in env or {})

    @property
    def url(self) -> str:
        """The base address, without ``/v1``."""
        return f"http://{HOST}:{self.port}"

    @property
    def pid(self) -> int | None:
        """The process id while it runs."""
        return self._process.pid if self._process else None

    @property
    def is_running(self) -> bool:
        """Whether its process is there."""
        return self._process is not None and self._process.poll() is None

    def _write(
        self,
        config: Mapping[str, Any],
        policies: Mapping[str, Any] | str | None,
        keys: Mapping[str, Mapping[str, Any]],
    ) -> None:
        for module in SITE.glob("lab_*.py"):
            shutil.copy(module, self.directory)
        all_keys = {MASTER_KEY: {"user_role": "proxy_admin"}, **keys}
        (self.directory / "keys.json").write_text(json.dumps(all_keys))
        (self.directory / "config.yaml").write_text(yaml.safe_dump(dict(config), sort_keys=False))
        if policies is not None:
            text = policies if isinstance(policies, str) else yaml.safe_dump(dict(policies), sort_keys=False)
            (self.directory / "policies.yaml").write_text(text)

    def _environment(
        self, redis_url: str | None, has_policies: bool, extra: Mapping[str, str | None]
    ) -> dict[str, str]:
        env = {k: v for k, v in os.environ.items() if not k.upper().startswith(FOREIGN)}
        env = {k: v for k, v in env.items() if not k.lower().endswith("_proxy")}
        env |= {
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "LITELLM_LOG": "INFO",
            "PYTHONPATH": str(ROOT),
            "PYTHONUNBUFFERED": "1",
            "PYTHONFAULTHANDLER": "1",
            "NO_PROXY": "*",
        }
        if redis_url:
            env["GATEWAY_COMPACTION_REDIS_URL"] = redis_url
        if has_policies:
            env["GATEWAY_COMPACTION_POLICIES"] = str(self.directory / "policies.yaml")
        env |= {k: v for k, v in extra.items() if v is not None}
        return {k: v for k, v in env.items() if extra.get(k, "") is not None}

    def spawn(self) -> Self:
        """Start the process without waiting for it."""
        arguments = ["--host", HOST, "--port", str(self.port), "--telemetry", "False"]
        arguments += ["--config", str(self.directory / "config.yaml")]
        if self._is_forked:
            self._process = FORK_SERVER.start_proxy(arguments, self._env, self.directory, self.log)
            return self
        with self.log.open("ab") as sink:
            self._process = subprocess.Popen(
                [sys.executable, "-m", MODULE, *arguments],
                stdout=sink,
                stderr=sink,
                cwd=self.directory,
                env=self._env,
                start_new_session=True,
            )
        return self

    def wait_ready(self, seconds: float = 300.0) -> Self:
        """Wait until it serves.

        Raises:
            AssertionError: it ended or was not ready in time; with the end of its log.
        """
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            assert self._process is not None
            if self._process.poll() is not None:
                raise AssertionError(f"{self.name} ended with {self._process.returncode}:\n{self.tail()}")
            with contextlib.suppress(httpx.HTTPError):
                if httpx.get(f"{self.url}/health/liveliness", timeout=5, trust_env=False).status_code == 200:
                    return self
            time.sleep(0.2)
        raise AssertionError(f"{self.name} was not ready in {seconds:g} s:\n{self.tail()}")

    def start(self) -> Self:
        """Start and wait until it serves."""
        return self.spawn().wait_ready()

    def stop(self) -> None:
        """Ask it to end (SIGTERM), and make it after 15 s."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once (SIGKILL), in the middle of whatever it does."""
        self._end(signal.SIGKILL)

    def tail(self, lines: int = 60) -> str:
        """The end of its log."""
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return "\n".join(text.splitlines()[-lines:])

    def _end(self, number: int) -> None:
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)
        try:
            self._process.wait(15)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(15)
        self._process = None

    def remove(self) -> None:
        """Delete the config directory and the log."""
        shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.stop()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        self.remove()


def start_all(proxies: Sequence[Proxy], *, at_once: int = 2) -> None:
    """Start several, ``at_once`` in parallel (more is slower on two cores); on a failure stop them all."""
    try:
        with ThreadPoolExecutor(at_once) as pool:
            list(pool.map(Proxy.start, proxies))
    except BaseException:
        for proxy in proxies:
            proxy.stop()
        raise
