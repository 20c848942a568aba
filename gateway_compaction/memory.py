"""What one process remembers for itself: what the store has not got yet, and who rewrites history."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence

from gateway_compaction.core.compaction import KIND_RANK, Compaction, SessionRef

__all__ = ["LineageGuard", "LocalBuffer"]

ENTRIES = 5_000
IDLE_SECONDS = 900.0
REWRITES_BEFORE_BACKOFF = 2


class LocalBuffer:
    """Compactions made or seen by this process, by tenant, session and digest.

    It bridges the time until a write has reached the store, and a store that is down; entries that were
    not used for 15 minutes go.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, entries: int = ENTRIES) -> None:
        self._clock, self._entries = clock, entries
        self._kept: OrderedDict[tuple[str, str], tuple[float, Compaction]] = OrderedDict()
        self._bypassed: OrderedDict[str, tuple[float, str]] = OrderedDict()

    def keep(self, session: SessionRef, compaction: Compaction) -> None:
        """Remember a compaction; a better kind is never replaced by a lesser one."""
        key = (session.slot, compaction.digest)
        known = self._fresh(key)
        if known is not None and KIND_RANK[known.kind] > KIND_RANK[compaction.kind]:
            return
        self._kept[key] = (self._clock(), compaction)
        self._kept.move_to_end(key)
        while len(self._kept) > self._entries:
            self._kept.popitem(last=False)

    def merged(
        self, session: SessionRef, digests: Sequence[str], stored: Sequence[Compaction]
    ) -> tuple[Compaction, ...]:
        """What the store returned and what this process knows, the better kind of each digest."""
        best = {c.digest: c for c in stored}
        for digest in digests:
            known = self._fresh((session.slot, digest))
            if known is not None and _better(known, best.get(digest)):
                best[digest] = known
        return tuple(best.values())

    def forget(self, session: SessionRef) -> None:
        """Drop everything of a session."""
        for key in [k for k in self._kept if k[0] == session.slot]:
            del self._kept[key]
        self._bypassed.pop(session.slot, None)

    def set_bypass(self, session: SessionRef, reason: str, seconds: float) -> None:
        """Leave a session alone for some seconds."""
        self._bypassed[session.slot] = (self._clock() + seconds, reason)
        while len(self._bypassed) > self._entries:
            self._bypassed.popitem(last=False)

    def bypass(self, session: SessionRef) -> str | None:
        """Why the session is left alone, or None."""
        until, reason = self._bypassed.get(session.slot, (0.0, ""))
        return reason if until > self._clock() else None

    def _fresh(self, key: tuple[str, str]) -> Compaction | None:
        if key not in self._kept:
            return None
        used, compaction = self._kept[key]
        if self._clock() - used > IDLE_SECONDS:
            del self._kept[key]
            return None
        self._kept[key] = (self._clock(), compaction)
        self._kept.move_to_end(key)
        return compaction


def _better(known: Compaction, stored: Compaction | None) -> bool:
    return stored is None or KIND_RANK[known.kind] > KIND_RANK[stored.kind]


class LineageGuard:
    """Notices clients that slide their own window or rewrite early messages.

    A summary is remembered by the last two messages it covers. A request that holds the same two messages
    behind another beginning, further on or in a longer history, could not use it; after two such summaries no
    more are made for it. Look-alike conversations at the same length are no such case.
    """

    def __init__(self, entries: int = ENTRIES) -> None:
        self._entries = entries
        self._made: OrderedDict[tuple[str, bytes], dict[str, tuple[int, int]]] = OrderedDict()

    def made(self, tenant: str, last_two: Sequence[bytes], digest: str, covers: int, length: int) -> None:
        """Remember a summary that no request has used yet, and how long the history was."""
        if len(last_two) == 2:
            self._made.setdefault((tenant, b"".join(last_two)), {})[digest] = (covers, length)
            while len(self._made) > self._entries:
                self._made.popitem(last=False)

    def used(self, tenant: str, last_two: Sequence[bytes], digest: str) -> None:
        """A request could use the summary after all."""
        self._made.get((tenant, b"".join(last_two)), {}).pop(digest, None)

    def objection(self, tenant: str, digests: Sequence[bytes], chain: Sequence[str]) -> str | None:
        """Why no summary should be made for a history, or None."""
        lost: set[str] = set()
        for k in range(2, len(digests) + 1):
            made = self._made.get((tenant, digests[k - 2] + digests[k - 1]), {})
            if chain[k] not in made:
                lost |= {d for d, (covers, length) in made.items() if k != covers or len(digests) > length}
        if len(lost) >= REWRITES_BEFORE_BACKOFF:
            return "the client rewrites its history: earlier summaries could not be used"
        return None
