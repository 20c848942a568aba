"""docs/reliability.md: one row for each fault, as a run of all of them found it."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from pathlib import Path

from tests.faults.account import Account
from tests.faults.table import FAULTS, Fault

__all__ = ["PAGE", "write_page"]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reliability.md"
BEGIN, END = "<!-- make faults: begin -->", "<!-- make faults: end -->"
COLUMNS = ("fault", "what was tried", "calls", "failed", "refused", "made", "lost", "wrong", "p95 added")
HEAD = f"| {' | '.join(COLUMNS)} | back after |"


def write_page(rows: Sequence[tuple[Fault, Account]], minutes: float, crashes: int) -> None:
    """Write the table anew between its marks; rows of faults that were not run this time stay."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    old, after = rest.split(END)
    known = {line.split("`")[1]: line for line in old.splitlines() if line.startswith("| `")}
    known |= {fault.name: build_row(fault, account) for fault, account in rows}
    lines = [known[fault.name] for fault in FAULTS if fault.name in known]
    table = "\n".join(
        [HEAD, "|---|---|---|---|---|---|---|---|---|---|", *lines, "", describe(rows, minutes, crashes)]
    )
    PAGE.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", encoding="utf-8")


def build_row(fault: Fault, account: Account) -> str:
    """One line of it."""
    late = "–" if account.added_p95 is None else f"{1000 * account.added_p95:.0f} ms"
    back = "–" if account.back_after is None else f"{account.back_after:.0f} s"
    cells = [
        f"`{fault.name}`",
        fault.tried,
        account.calls,
        account.failed,
        account.refused,
        account.summaries,
    ]
    return f"| {' | '.join(map(str, [*cells, account.lost, account.wrong, late, back]))} |"


def describe(rows: Sequence[tuple[Fault, Account]], minutes: float, crashes: int) -> str:
    """A sentence about the run."""
    calls = sum(account.calls for _, account in rows)
    bad = [fault.name for fault, account in rows if account.problems]
    told = f"Not as demanded: {', '.join(bad)}." if bad else "All as demanded."
    if crashes:
        told += f" Proxies that ended by themselves, and were started again: {crashes} (see above)."
    size = f"The latest run: {len(rows)} faults, {calls} calls, {minutes:.0f} minutes"
    return f"{size}, Python {platform.python_version()}, {os.cpu_count()} cores. {told}"
