"""Plays random steps for long: ``python -m tests.fuzz``, as ``make fuzz`` does.

``FUZZ_STEPS`` says how many steps in the life of sessions (a million); ``FUZZ_MINUTES`` ends it earlier. The
other searches are made larger in proportion, once each. What fails is shown as the shortest such example.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

STEPS = int(os.environ.get("FUZZ_STEPS", "1000000"))
MINUTES = float(os.environ.get("FUZZ_MINUTES", "600"))
# Each in a process of its own: what one example leaves behind must not grow for hours.
STEPS_AT_ONCE = 3_000
STEPS_OF_AN_EXAMPLE = 1_000
BESIDE = (
    "tests/fuzz/test_stored.py",
    "tests/admin/test_openapi_sweep.py",
    "tests/engine/test_kept_machine.py",
    "tests/core/test_strange.py",
    "tests/core/test_invariants.py",
    "tests/core/test_records.py",
    "tests/test_policy_file.py",
    "tests/test_policy_errors.py",
)


def play(paths: tuple[str, ...], **variables: int) -> bool:
    """Run some tests, with variables of the environment; whether all passed."""
    env = {**os.environ, **{name: str(value) for name, value in variables.items()}}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *paths]
    return subprocess.run(command, env=env, check=False).returncode == 0


def main() -> int:
    """Play; 1 where something was found."""
    began, done = time.monotonic(), 0
    examples = max(60, STEPS // STEPS_OF_AN_EXAMPLE)
    while done < STEPS and time.monotonic() - began < 60 * MINUTES:
        steps = min(STEPS_AT_ONCE, STEPS - done)
        if not play(("tests/fuzz/test_sessions.py",), FUZZ_STEPS=steps):
            return 1
        done += steps
        print(f"{done:,} steps in {(time.monotonic() - began) / 60:.0f} minutes", flush=True)
    return int(not play(BESIDE, FUZZ_STEPS=STEPS, FUZZ_EXAMPLES=examples, KEPT_EXAMPLES=examples))


if __name__ == "__main__":
    raise SystemExit(main())
