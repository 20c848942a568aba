"""The laboratory's summariser: its summaries name the messages that it was shown, so each can be checked."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from tests.faults.account import Asked
from tests.faults.talks import find_tags, read_runs, write_runs
from tests.lab import Reply, Seen

__all__ = ["TellingSummariser", "asker_of"]


class TellingSummariser:
    """A script of the upstream.

    Attributes:
        delay: seconds that an answer takes.
        misbehave: what it answers instead; None for a summary.
        asked: what it was asked, and whether the answer was good.
        open: who waits for an answer at present, by when it was asked.
    """

    def __init__(self) -> None:
        self.delay = 0.2
        self.misbehave: Callable[[Seen], Reply | None] | None = None
        self.asked: list[Asked] = []
        self.open: list[tuple[float, str]] = []
        self._lock = threading.Lock()

    def reset(self) -> None:
        """Forget what it was asked, and behave."""
        self.asked.clear()
        self.open.clear()
        self.delay, self.misbehave = 0.2, None

    def __call__(self, seen: Seen) -> Reply:
        bad = self.misbehave(seen) if self.misbehave else None
        with self._lock:
            asked = Asked(seen.text, bad is None, asker_of(seen), time.monotonic())
            self.asked.append(asked)
            number = len(self.asked)
            self.open = [*((at, by) for at, by in self.open if at > time.monotonic() - self.delay)]
            self.open.append((time.monotonic(), asked.by))
        return bad or Reply(text=f"<summary>{tell(seen, number)}</summary>", delay=self.delay)

    def is_asked_by(self, name: str) -> bool:
        """Whether a proxy waits for an answer at present."""
        return any(by == name and at > time.monotonic() - self.delay for at, by in [*self.open])


def tell(seen: Seen, number: int) -> str:
    """A summary of what it was shown."""
    text = str(seen.messages[-1]["content"])
    tags = list(dict.fromkeys([*read_runs(text), *find_tags(text)]))
    return f"SUMMARY {number}: covered {write_runs(tags)}. They talked about it. Nothing is open."


def asker_of(seen: Seen) -> str:
    """The proxy that an upstream request came from: each has a key of its own."""
    return seen.headers.get("authorization", "").rpartition("-")[2]
