"""Runs every test, in two halves side by side: ``python -m tests.run``, with pytest's own arguments if any.

On two cores the halves take about as long as each other. Each pytest starts proxies and a browser of its own,
so all that share them are in the second; they often wait for them, so some that compute are there as well.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

__all__ = ["main"]

ROOT = Path(__file__).resolve().parents[1]
SECOND = ["tests/admin", "tests/clients/test_fast.py", "tests/e2e", "tests/lab"]
SECOND += ["tests/test_cases.py", "tests/test_replay.py"]
PYTEST = [sys.executable, "-m", "pytest"]


def main() -> int:
    """Show the first half while it runs and the second when it has ended; 1 if a test failed."""
    wanted = sys.argv[1:]
    with tempfile.TemporaryFile() as kept:
        second = subprocess.Popen(
            [*PYTEST, *SECOND, *wanted], cwd=ROOT, stdout=kept, stderr=subprocess.STDOUT
        )
        try:
            print("The other half of the tests runs beside these; its words come at the end.", flush=True)
            others = [f"--ignore={path}" for path in SECOND]
            first = subprocess.run([*PYTEST, *others, *wanted], cwd=ROOT, check=False).returncode
            print("\nThe other half:", flush=True)
            failed = [code for code in (first, second.wait()) if code]
        finally:
            second.kill()
        kept.seek(0)
        sys.stdout.write(kept.read().decode("utf-8", "replace"))
    return int(bool(failed))


if __name__ == "__main__":
    raise SystemExit(main())
