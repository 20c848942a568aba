"""The lines that a run prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.cases.evidence import Evidence
from tests.cases.texts import text_of
from tests.cases.verdict import Verdict

__all__ = ["Result", "lines", "total"]

WORDS = {True: "pass", False: "FAIL", None: "not judged"}
CHARS = 110


@dataclass(frozen=True, slots=True)
class Result:
    """A case that was played and judged."""

    evidence: Evidence
    verdicts: Mapping[str, Verdict]
    seconds: float

    @property
    def name(self) -> str:
        """The case's id."""
        return self.evidence.prepared.case.name

    def having(self, passed: bool | None) -> list[str]:
        """The checks with this verdict."""
        return [name for name, verdict in self.verdicts.items() if verdict.passed is passed]


def lines(result: Result, verbose: bool) -> list[str]:
    """One line for the case; with ``verbose`` what was sent as well."""
    told = [_told(name, verdict) for name, verdict in result.verdicts.items()]
    words = [w for p, w in WORDS.items() if result.having(p)]
    state = "FAIL" if "FAIL" in words else "not judged" if "not judged" in words else "pass"
    notes = [f"({note})" for note in result.evidence.notes]
    found = [f"{result.name:6} {state:10} {'; '.join([*told, *notes])}"]
    return [*found, *(_shown(result) if verbose else [])]


def total(results: Sequence[Result]) -> str:
    """The last line."""
    counts = {passed: sum(len(r.having(passed)) for r in results) for passed in WORDS}
    failed = [r.name for r in results if r.having(False)]
    open_ = [r.name for r in results if r.having(None) and not r.having(False)]
    good = len(results) - len(failed) - len(open_)
    checks = ", ".join(f"{count} {WORDS[passed]}" for passed, count in counts.items())
    return (
        f"{len(results)} cases: {good} pass, {len(failed)} FAIL {failed or ''}, "
        f"{len(open_)} with checks not judged {open_ or ''}\n{sum(counts.values())} checks: {checks}"
    )


def _told(name: str, verdict: Verdict) -> str:
    if verdict.passed is True:
        return f"{name} pass{f' [{verdict.detail}]' if verdict.detail else ''}"
    return f"{name} {WORDS[verdict.passed]}: {verdict.detail}"


def _shown(result: Result) -> list[str]:
    prepared = result.evidence.prepared
    shown = [
        f"       window {prepared.window}, {len(result.evidence.all_asked)} asked, {result.seconds:.1f} s"
    ]
    for call in result.evidence.calls:
        told = {
            k: v
            for k, v in call.answer.headers.items()
            if k.startswith("x-compaction") and "session" not in k
        }
        mark = "*" if call.judged else " "
        shown.append(f"     {mark} pass {call.number + 1} status {call.answer.status} {told}")
        if call.judged:
            shown += [f"           {m['role']:9} {text_of(m)[:CHARS]!r}" for m in call.messages]
    return shown
