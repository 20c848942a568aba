"""Notices clients that rewrite their own history, whose summaries can never be used.

Each such summary would be paid for and lost: the next request begins otherwise than the one that it was made
for.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gateway_compaction.engine.local_buffer import ENTRIES

REWRITES_BEFORE_BACKOFF = 2
"""Summaries that could not be used after which no more are made; one may be a single edit by a user."""

REMEMBERED_SECONDS = 600.0
"""Seconds that a summary is looked for in other histories."""

ENDING = 4
"""Answers by which the end of what a summary covers is recognised."""

LIKE_ONE_ANOTHER = 8
"""Summaries remembered that end with the same answers; the oldest go first."""


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
        """Return the lineage of messages, given their roles, digests and the digests of their beginnings."""
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
        self._summaries: OrderedDict[tuple[str, bytes], dict[str, tuple[int, int, float]]] = OrderedDict()

    def record_summary(self, tenant: str, covered: Lineage, length: int) -> None:
        """Remember a summary that no request has used yet, and how many answers the history had.

        Args:
            tenant: whose history it is.
            covered: the answers in what the summary covers.
            length: the number of answers in the whole history.
        """
        ending = covered.digests[-ENDING:]
        if len(ending) < ENDING or len(set(ending)) < ENDING:
            return
        alike = self._summaries.setdefault((tenant, b"".join(ending)), {})
        alike[covered.names[-1]] = (len(covered.digests), length, self._clock())
        while len(alike) > LIKE_ONE_ANOTHER:
            del alike[next(iter(alike))]
        while len(self._summaries) > self._entries:
            self._summaries.popitem(last=False)

    def record_use(self, tenant: str, covered: Lineage) -> None:
        """Forget a summary as lost: a request could use it after all."""
        self._summaries.get((tenant, b"".join(covered.digests[-ENDING:])), {}).pop(covered.names[-1], None)

    def find_skip_reason(self, tenant: str, history: Lineage) -> str | None:
        """Return why no summary should be made for a history, or None."""
        digests, chain = history.digests, history.names
        lost: set[str] = set()
        oldest = self._clock() - REMEMBERED_SECONDS
        for k in range(ENDING, len(digests) + 1 if self._summaries else 0):
            alike = self._summaries.get((tenant, b"".join(digests[k - ENDING : k])), {})
            if not alike or chain[k] in alike:
                continue
            # The same answers behind another beginning, further on or in a longer history.
            for digest, (covers, length, at) in alike.items():
                if at > oldest and (k != covers or len(digests) > length):
                    lost.add(digest)
        if len(lost) >= REWRITES_BEFORE_BACKOFF:
            # Lost summaries slide out of sight; that the client goes on like this shows by later answers.
            self.record_summary(tenant, history, len(digests))
            return "the client rewrites its history: earlier summaries could not be used"
        return None
