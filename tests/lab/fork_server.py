"""Processes with LiteLLM already imported: a proxy starts in a second instead of ten.

Importing LiteLLM takes most of the time that a proxy needs to start, and the tests start many. One process
imports it once and forks for each proxy. What the proxy does itself, from reading its config and loading the
plugin on, happens in a process of its own as ever.

The process answers on standard input and output, a line of JSON each: ``{"start": {"arguments", "env",
"directory", "log"}}`` with ``{"pid"}``, and ``{"poll": pid}`` with ``{"code"}``. When its input ends, it ends
what it has started.
"""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import gc
import importlib
import json
import os
import runpy
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["ForkServer", "ForkedProcess", "collect_between_steps"]

MODULE = "litellm.proxy.proxy_cli"
COLLECTS_WHILE_SETTING = sys.version_info < (3, 12)
# The plugin reads its settings in ``gateway_compaction.hook``, which each proxy imports itself.
IMPORTED = ("litellm.proxy.proxy_server", "gateway_compaction.runtime")
ROOT = Path(__file__).resolve().parents[2]


class ForkServer:
    """The process that has LiteLLM imported, as the tests talk to it; started at the first request."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()

    def start_proxy(
        self, arguments: list[str], env: Mapping[str, str], directory: Path, log: Path
    ) -> ForkedProcess:
        """Start ``python -m litellm.proxy.proxy_cli`` with these arguments; ``log`` gets its output."""
        wanted = {"arguments": arguments, "env": dict(env), "directory": str(directory), "log": str(log)}
        return ForkedProcess(self, self._ask({"start": wanted}, env)["pid"])

    def poll(self, pid: int) -> int | None:
        """Return how a process that it has started has ended, as ``Popen.poll`` does."""
        code: int | None = self._ask({"poll": pid})["code"]
        return code

    def close(self) -> None:
        """End it, and with it whatever it has started and nobody has stopped."""
        if self._process is not None:
            # To close the pipes ends its input.
            with self._process:
                pass
            self._process = None

    def _ask(self, question: Mapping[str, Any], env: Mapping[str, str] | None = None) -> dict[str, Any]:
        with self._lock:
            if self._process is None:
                command = [
                    sys.executable,
                    "-u",
                    "-c",
                    "from tests.lab import fork_server; fork_server.main()",
                ]
                self._process = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=env
                )
                atexit.register(self.close)
            assert self._process.stdin is not None and self._process.stdout is not None
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
            answer: dict[str, Any] = json.loads(self._process.stdout.readline())
            return answer


class ForkedProcess:
    """A process that ``ForkServer`` has started, with those parts of ``Popen`` that a proxy needs."""

    def __init__(self, server: ForkServer, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._server = server

    def poll(self) -> int | None:
        """Return its exit code, negative for a signal, or None while it runs."""
        if self.returncode is None:
            self.returncode = self._server.poll(self.pid)
        return self.returncode

    def wait(self, timeout: float) -> int:
        """Return its exit code once it has ended.

        Raises:
            subprocess.TimeoutExpired: it did not end in so many seconds.
        """
        deadline = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(MODULE, timeout)
            time.sleep(0.02)
        return code


def main() -> None:
    """Be the process that forks, and in each forked one the proxy."""
    wanted = _serve()
    if wanted is not None:
        _become_proxy(wanted)


def _serve() -> dict[str, Any] | None:
    """Answer until the input ends; in a forked process return what is to be started there."""
    answers = os.fdopen(os.dup(1), "w")
    # Whatever an import prints is no answer.
    os.dup2(2, 1)
    for module in IMPORTED:
        importlib.import_module(module)
    gc.collect()
    gc.freeze()
    running: set[int] = set()
    for line in sys.stdin:
        asked = json.loads(line)
        if "start" in asked:
            pid = os.fork()
            if not pid:
                answers.close()
                wanted: dict[str, Any] = asked["start"]
                return wanted
            running.add(pid)
            told: dict[str, Any] = {"pid": pid}
        else:
            told = {"code": _poll(asked["poll"])}
            if told["code"] is not None:
                running.discard(asked["poll"])
        answers.write(json.dumps(told) + "\n")
        answers.flush()
    for pid in running:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
    return None


def _poll(pid: int) -> int | None:
    ended, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None


def _become_proxy(wanted: Mapping[str, Any]) -> None:
    """Do what a new process does with its environment, directory, output and arguments; then be the proxy."""
    os.setsid()
    with open(wanted["log"], "ab", 0) as log, open(os.devnull) as nothing:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        os.dup2(nothing.fileno(), 0)
    os.environ.clear()
    os.environ.update(wanted["env"])
    os.chdir(wanted["directory"])
    faulthandler.enable()
    if COLLECTS_WHILE_SETTING:
        collect_between_steps()
    sys.path[0] = wanted["directory"]
    sys.argv = [MODULE, *wanted["arguments"]]
    runpy.run_module(MODULE, run_name="__main__", alter_sys=True)


def collect_between_steps() -> None:
    """Collect garbage once a second in a thread, so only between two steps of Python, as Python 3.12 does.

    Before 3.12 it may be collected in the middle of setting a ``ContextVar``, which crashes the interpreter
    (``tests.faults.contextvar_crash``). After ``gc.freeze`` that would be more likely than in any other
    proxy: the fewer old objects Python counts, the more often it collects all.
    """
    gc.disable()

    def collect() -> None:
        while True:
            time.sleep(1)
            gc.collect()

    threading.Thread(target=collect, name="collector", daemon=True).start()
