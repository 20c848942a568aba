"""Policies that requests bring in their metadata and that cannot be used: how often, and of whom.

Such a request is left alone: a weaker policy in its place could do what its owner forbade. Operators must
hear of it, since nobody looks at a header that says nothing was done.
"""

from __future__ import annotations

from collections.abc import Callable

MOST_PROBLEMS = 100
"""Different problems that a process counts: who makes keys writes their metadata, and may go on writing."""

REPORT_SECONDS = 10.0
"""Seconds between two reports of one problem to the store: a busy key costs no write for each call."""


class PolicyProblems:
    """Counts requests by what is wrong with their policy, and says when the store is to be told."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._counts: dict[str, tuple[float, int]] = {}

    def record(self, problem: str) -> int:
        """Count a request.

        Returns:
            How many requests the store has not been told of, this one included; 0 where it was told within
            ten seconds, or where there are too many different problems.
        """
        if problem not in self._counts and len(self._counts) >= MOST_PROBLEMS:
            return 0
        told_at, untold = self._counts.get(problem, (float("-inf"), 0))
        is_due = self._clock() - told_at >= REPORT_SECONDS
        self._counts[problem] = (self._clock(), 0) if is_due else (told_at, untold + 1)
        return untold + 1 if is_due else 0
