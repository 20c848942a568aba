"""What a check says, and where the checks are found by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.cases.evidence import Call, Evidence

__all__ = ["CHECKS", "Check", "Verdict", "check", "every", "failed", "judge", "passed", "unjudged"]

CHARS = 300
Check = Callable[[Evidence, str], "Verdict"]
CHECKS: dict[str, Check] = {}
# What must hold in every situation, so that a phrase which is not understood does not matter to it.
ALWAYS: set[str] = set()


@dataclass(frozen=True, slots=True)
class Verdict:
    """Passed, failed, or (None) not judged; ``detail`` says why."""

    passed: bool | None
    detail: str = ""


def passed(detail: str = "") -> Verdict:
    """It holds."""
    return Verdict(True, detail)


def failed(detail: str) -> Verdict:
    """It does not hold."""
    return Verdict(False, detail[:CHARS])


def unjudged(detail: str) -> Verdict:
    """Nobody can tell."""
    return Verdict(None, detail[:CHARS])


def check(name: str, *, always: bool = False) -> Callable[[Check], Check]:
    """Register a check; ``always``: it must hold in every situation."""

    def register(function: Check) -> Check:
        CHECKS[name] = function
        if always:
            ALWAYS.add(name)
        return function

    return register


def judge(evidence: Evidence, text: str) -> Verdict:
    """Judge one check of a case, given as ``name`` or ``name:argument``."""
    name, _, argument = text.partition(":")
    function = CHECKS.get(name)
    if function is None:
        return unjudged("no check of this name is defined")
    unknown = evidence.prepared.context.unknown
    if unknown and name not in ALWAYS:
        return unjudged(f"not understood in the policy: {'; '.join(unknown)}")
    if evidence.missing and name not in ALWAYS:
        return failed(f"the situation did not come about: {'; '.join(evidence.missing)}")
    try:
        return function(evidence, argument)
    except Exception as error:
        return failed(f"the check itself failed: {error!r}")


def every(evidence: Evidence, problem: Callable[[Call], str | None]) -> Verdict:
    """It holds of every judged call; ``problem`` says what is wrong with one."""
    calls: Sequence[Call] = evidence.judged
    if not calls:
        return failed("no request was made")
    for number, call in enumerate(calls, 1):
        where = f"pass {call.number + 1}, request {number} of {len(calls)}"
        if not call.upstream and evidence.plain is None and 400 <= call.answer.status < 500:
            return unjudged(f"LiteLLM refuses the request, bypassed or not: {call.answer.body}")
        if not call.upstream:
            return failed(
                f"{where}: nothing reached the upstream, status {call.answer.status} {call.answer.body}"
            )
        found = problem(call)
        if found:
            return failed(f"{where} ({call.answer.outcome}): {found}")
    return passed()
