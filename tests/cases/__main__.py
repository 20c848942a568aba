"""``python -m tests.cases FILE [--only ID,ID] [--verbose]``."""

from __future__ import annotations

import argparse
import asyncio
import io
import signal
import sys
from pathlib import Path

from tests.cases.case import load
from tests.cases.report import lines, total
from tests.cases.run import run


def main() -> int:
    """Run a file of cases; 1 where a check failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.cases", description=__doc__)
    parser.add_argument("file", type=Path, help="cases, one JSON object a line")
    parser.add_argument("--only", default="", help="ids, separated by commas")
    parser.add_argument("--verbose", action="store_true", help="show what was sent")
    parser.add_argument("--logs", type=Path, help="keep the proxies' logs in this file")
    options = parser.parse_args()
    wanted = {name for name in options.only.split(",") if name}
    cases = [case for case in load(options.file) if not wanted or case.name in wanted]
    if not cases:
        print(f"no case in {options.file} has the id {options.only}", file=sys.stderr)
        return 2
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    # Ended from outside, the servers must end as well.
    signal.signal(signal.SIGTERM, lambda number, frame: signal.raise_signal(signal.SIGINT))
    results = asyncio.run(
        run(cases, lambda result: print("\n".join(lines(result, options.verbose)), flush=True), options.logs)
    )
    print(total(results))
    return 1 if any(result.having(False) for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
