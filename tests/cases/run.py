"""A run: the servers, the cases one after the other, their verdicts."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.cases import checks_contents, checks_host, checks_shape, checks_summary
from tests.cases.case import Case
from tests.cases.prepared import Prepared
from tests.cases.report import Result
from tests.cases.scenes import play
from tests.cases.stage import Stage
from tests.cases.verdict import judge

__all__ = ["run"]

CHECKED_BY = (checks_contents, checks_host, checks_shape, checks_summary)


async def run(
    cases: Sequence[Case], told: Callable[[Result], None] | None = None, logs: Path | None = None
) -> list[Result]:
    """Play all cases through one set of servers; ``told`` is called with each result as it comes."""
    prepared = [Prepared(case, index) for index, case in enumerate(cases)]
    results = []
    async with Stage(prepared) as stage:
        try:
            for case in sorted(prepared, key=_lateness):
                result = await _result(stage, case)
                results.append(result)
                if told:
                    told(result)
        finally:
            if logs:
                logs.write_text(stage.logs(), encoding="utf-8")
    return sorted(results, key=lambda result: result.evidence.prepared.index)


async def _result(stage: Stage, prepared: Prepared) -> Result:
    start = time.monotonic()
    evidence = await play(stage, prepared)
    verdicts = {check: judge(evidence, check) for check in prepared.case.checks}
    return Result(evidence, verdicts, time.monotonic() - start)


def _lateness(prepared: Prepared) -> tuple[int, int]:
    """Times are taken when both proxies are up; Redis is broken last, and stopped (which empties it) after all."""
    timed = any("_ms_le" in check for check in prepared.case.checks)
    broken = {"up": 0, "oom": 2, "hung": 3, "closed": 4}[prepared.situation.redis]
    rival = 1 if prepared.situation.rival else 0
    return max(broken, rival, int(timed)), prepared.index
