"""Runs every test, in two halves side by side: ``python -m tests.run``, with pytest's own arguments if any.

Most of the time of the end-to-end tests goes by waiting for proxies and a browser; the others compute.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

__all__ = ["main"]

ROOT = Path(__file__).resolve().parents[1]
WAITING = ["tests/admin", "tests/clients/test_fast.py", "tests/e2e", "tests/lab"]
PYTEST = [sys.executable, "-m", "pytest"]


def main() -> int:
    """Show the first half while it runs and the second when it has ended; 1 if a test failed."""
    wanted = sys.argv[1:]
    with tempfile.TemporaryFile() as kept:
        second = subprocess.Popen(
            [*PYTEST, *WAITING, *wanted], cwd=ROOT, stdout=kept, stderr=subprocess.STDOUT
        )
        try:
            print("The tests that start proxies run beside these; their words come at the end.", flush=True)
            others = [f"--ignore={path}" for path in WAITING]
            first = subprocess.run([*PYTEST, *others, *wanted], cwd=ROOT, check=False).returncode
            print("\nThe tests that start proxies:", flush=True)
            failed = [code for code in (first, second.wait()) if code]
        finally:
            second.kill()
        kept.seek(0)
        sys.stdout.write(kept.read().decode("utf-8", "replace"))
    return int(bool(failed))


if __name__ == "__main__":
    raise SystemExit(main())
