"""Runs every test, in three parts side by side: ``python -m tests.run``, with pytest's own arguments if any.

Each pytest has a redis-server, proxies and a browser of its own, so what shares them is in one part. One part
mostly waits for its proxies; the other two share what computes, so that two cores have work until the end.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

__all__ = ["main"]

ROOT = Path(__file__).resolve().parents[1]
COMPUTING = ("tests/admin", "tests/engine", "tests/test_cases.py", "tests/test_replay.py")
WAITING = ("tests/clients/test_fast.py", "tests/e2e", "tests/lab", "tests/test_cli_buffers_terminal.py")
WAITING += ("tests/test_cli_demo.py", "tests/test_cli_serve.py", "tests/test_example_teams.py")
REST = tuple(f"--ignore={path}" for path in (*COMPUTING, *WAITING))
EXAMPLES = "30"
"""Of each property of ``tests/core``; pytest alone and ``make coverage`` try 60, ``make fuzz`` more."""


def main() -> int:
    """Show the first part while it runs and the others when it has ended; 1 if a test failed."""
    wanted = sys.argv[1:]
    with ExitStack() as stack:
        others = []
        for part in (WAITING, COMPUTING):
            kept = stack.enter_context(tempfile.TemporaryFile())
            process = start([*part, *wanted], stdout=kept, stderr=subprocess.STDOUT)
            stack.callback(process.kill)
            others.append((process, kept))
        print("Two other parts of the tests run beside these; their words come at the end.", flush=True)
        codes = [start([*REST, *wanted]).wait()]
        for process, kept in others:
            codes.append(process.wait())
            kept.seek(0)
            sys.stdout.write("\nAnother part:\n" + kept.read().decode("utf-8", "replace"))
    return int(any(codes))


def start(arguments: Sequence[str], **settings: Any) -> subprocess.Popen[bytes]:
    """Start a pytest of its own."""
    env = {"FUZZ_EXAMPLES": EXAMPLES, **os.environ}
    return subprocess.Popen([sys.executable, "-m", "pytest", *arguments], cwd=ROOT, env=env, **settings)


if __name__ == "__main__":
    raise SystemExit(main())
