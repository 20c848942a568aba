"""``python -m tests.cases FILE [--only ID,ID] [--prefix F03,F18] [--verbose]``."""

from __future__ import annotations

import argparse
import asyncio
import io
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.cases.case import Case, load
from tests.cases.report import lines, total
from tests.cases.run import run


def chosen(cases: Sequence[Case], only: str = "", prefix: str = "") -> list[Case]:
    """The cases with one of these ids, or with an id that begins so; all where neither is asked for."""
    ids, beginnings = (tuple(filter(None, text.split(","))) for text in (only, prefix))
    if not ids and not beginnings:
        return list(cases)
    return [case for case in cases if case.name in ids or case.name.startswith(beginnings)]


def main() -> int:
    """Run a file of cases; 1 where a check failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.cases", description=__doc__)
    parser.add_argument("file", type=Path, help="cases, one JSON object a line")
    parser.add_argument("--only", default="", help="ids, separated by commas")
    parser.add_argument("--prefix", default="", help="beginnings of ids, separated by commas")
    parser.add_argument("--verbose", action="store_true", help="show what was sent")
    parser.add_argument("--logs", type=Path, help="keep the proxies' logs in this file")
    options = parser.parse_args()
    cases = chosen(load(options.file), options.only, options.prefix)
    if not cases:
        print(f"no case in {options.file} has the id {options.only or options.prefix}", file=sys.stderr)
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
