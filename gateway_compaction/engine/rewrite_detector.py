"""Clients that rewrite their own history, noticed."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gateway_compaction.engine.local_buffer import ENTRIES

__all__ = ["Lineage", "RewriteDetector"]

REWRITES_BEFORE_BACKOFF = 2


REMEMBERED_SECONDS = 600.0


ENDING, LIKE_ONE_ANOTHER = 4, 8


@dataclass(frozen=True, slots=True)
class Lineage:
    """A history by what the model answered in it: clients rewrite their own messages, hardly ever these.

    ``digests`` name the answers; ``names[k]`` is the prefix digest that ends with the k-th of them, and
    ``names[0]`` that of the empty history.
    """

    digests: tuple[bytes, ...]
    names: tuple[str, ...]

    @classmethod
    def from_messages(cls, roles: Sequence[str], digests: Sequence[bytes], chain: Sequence[str]) -> Lineage:
        """The lineage of some messages."""
        places = [i for i, role in enumerate(roles) if role == "assistant"]
        return cls(tuple(digests[i] for i in places), (chain[0], *(chain[i + 1] for i in places)))


class RewriteDetector:
    """Notices clients that slide their own window or rewrite earlier messages.

    A summary is remembered for ten minutes by the last answers it covers, where they say something: not
    when the same few come again and again. A request that holds them behind another beginning, further on
    or in a longer history, could not use it; after two such summaries no more are made for it. A history for
    which none is made is remembered like a summary of it: for as long as the client rewrites, it is noticed.
    """

    def __init__(self, entries: int = ENTRIES, clock: Callable[[], float] = time.monotonic) -> None:
        self._entries, self._clock = entries, clock
        self._made: OrderedDict[tuple[str, bytes], dict[str, tuple[int, int, float]]] = OrderedDict()

    def record_summary(self, tenant: str, covered: Lineage, length: int) -> None:
        """Remember a summary that no request has used yet, and how many answers the history had."""
        ending = covered.digests[-ENDING:]
        if len(ending) < ENDING or len(set(ending)) < ENDING:
            return
        made = self._made.setdefault((tenant, b"".join(ending)), {})
        made[covered.names[-1]] = (len(covered.digests), length, self._clock())
        while len(made) > LIKE_ONE_ANOTHER:
            del made[next(iter(made))]
        while len(self._made) > self._entries:
            self._made.popitem(last=False)

    def record_use(self, tenant: str, covered: Lineage) -> None:
        """A request could use the summary after all."""
        self._made.get((tenant, b"".join(covered.digests[-ENDING:])), {}).pop(covered.names[-1], None)

    def find_skip_reason(self, tenant: str, history: Lineage) -> str | None:
        """Why no summary should be made for a history, or None."""
        digests, chain = history.digests, history.names
        lost: set[str] = set()
        oldest = self._clock() - REMEMBERED_SECONDS
        for k in range(ENDING, len(digests) + 1 if self._made else 0):
            made = self._made.get((tenant, b"".join(digests[k - ENDING : k])), {})
            if made and chain[k] not in made:
                facts = made.items()
                lost |= {d for d, (c, n, at) in facts if at > oldest and (k != c or len(digests) > n)}
        if len(lost) >= REWRITES_BEFORE_BACKOFF:
            # Lost summaries slide out of sight; that the client goes on like this shows by later answers.
            self.record_summary(tenant, history, len(digests))
            return "the client rewrites its history: earlier summaries could not be used"
        return None
