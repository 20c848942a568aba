"""``gateway-compaction serve`` as a subprocess: the repository's own config and demo model."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx

from tests.lab.ports import HOST, free_port
from tests.test_cli_launch import COMMAND, ROOT, clean_environment

__all__ = ["Gateway", "served"]

CONFIG = ROOT / "config" / "litellm.yaml"


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
