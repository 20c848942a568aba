"""Runs the faults of the table and writes what came of them: ``python -m tests.faults [names]``.

Without names all are run, as ``make faults`` does. Their rows of docs/reliability.md are written anew.
``FAULTS_SHARE=0.4`` makes each fault shorter, and ``FAULTS_MINUTES=20`` ends the run after that long.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time

from tests.faults.account import Account
from tests.faults.laboratory import Laboratory, run
from tests.faults.proxies import SUMMARISER, laboratory
from tests.faults.report import write_page
from tests.faults.table import FAULTS, Fault
from tests.lab.counting import encoding

MOST_MINUTES = float(os.environ.get("FAULTS_MINUTES", "60"))
# Of the seconds that each fault lasts; less for a quicker look.
SHARE = float(os.environ.get("FAULTS_SHARE", "1"))


async def main(names: list[str]) -> int:
    """Run them; 1 where a row's expectation was not met."""
    encoding()
    wanted = [fault for fault in FAULTS if not names or fault.name in names]
    rows: list[tuple[Fault, Account]] = []
    began = time.monotonic()
    async with laboratory() as lab:
        print(f"the laboratory stands after {time.monotonic() - began:.0f} s", flush=True)
        for fault in wanted:
            if (time.monotonic() - began) / 60 > MOST_MINUTES:
                print(
                    f"{MOST_MINUTES:g} minutes are over; {fault.name} and what follows was not run",
                    flush=True,
                )
                break
            try:
                account = await run(lab, fault, summariser_model=SUMMARISER, share=SHARE)
            except AssertionError as error:
                # A server that did not start in time, on a machine that does much else: the others are run.
                account = Account(problems=[f"it could not be put in or taken out: {str(error)[:300]}"])
                await restore(lab)
            rows.append((fault, account))
            show(fault, account)
        for crash in lab.crashes:
            print(f"a proxy ended by itself: {crash}", flush=True)
        for proxy in lab.left_over_at_end:
            proxy.stop()
            proxy.remove()
    minutes = (time.monotonic() - began) / 60
    print(f"{len(rows)} faults in {minutes:.1f} minutes", flush=True)
    if rows:
        write_page(rows, minutes, len(lab.crashes))
    return int(any(account.problems for _, account in rows))


async def restore(lab: Laboratory) -> None:
    """Start what a row has left behind, so that the next one begins with three proxies."""
    for member in lab.members:
        if not member.proxy.is_running:
            await asyncio.to_thread(member.proxy.start)
        member.is_reachable = True


def show(fault: Fault, account: Account) -> None:
    """Print a line for a fault, and its problems."""
    late = "-" if account.added_p95 is None else f"{1000 * account.added_p95:.0f} ms"
    back = "never" if account.back_after is None else f"{account.back_after:.1f} s"
    verdict = "BAD" if account.problems else "ok "
    counts = f"calls {account.calls:4} failed {account.failed} refused {account.refused}"
    made = f"made {account.summaries} lost {account.lost} wrong {account.wrong} used {account.used}"
    crashed = f" crashed {account.crashed}" if account.crashed else ""
    print(f"{verdict} {fault.name:20} {counts} {made} p95 {late} back {back}{crashed}", flush=True)
    if account.repeated:
        print(f"      asked twice: {'; '.join(account.tell_repeated())}", flush=True)
    for problem in account.problems[:12]:
        print(f"      {problem[:400]}", flush=True)


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main(sys.argv[1:])))
