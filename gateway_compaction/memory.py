"""What one process remembers for itself: what the store has not got yet, and who rewrites history."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence

from gateway_compaction.core.compaction import KIND_RANK, Compaction, SessionRef

__all__ = ["ENDING", "LineageGuard", "LocalBuffer"]

ENTRIES = 5_000
IDLE_SECONDS = 900.0
REWRITES_BEFORE_BACKOFF = 2
REMEMBERED_SECONDS = 600.0
ENDING, LIKE_ONE_ANOTHER = 4, 8


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

    A summary is remembered for ten minutes by the last messages it covers, where they say something: not
    when the same few come again and again. A request that holds them behind another beginning, further on
    or in a longer history, could not use it; after two such summaries no more are made for it.
    """

    def __init__(self, entries: int = ENTRIES, clock: Callable[[], float] = time.monotonic) -> None:
        self._entries, self._clock = entries, clock
        self._made: OrderedDict[tuple[str, bytes], dict[str, tuple[int, int, float]]] = OrderedDict()

    def made(self, tenant: str, ending: Sequence[bytes], digest: str, covers: int, length: int) -> None:
        """Remember a summary that no request has used yet, and how long the history was."""
        if len(ending) < ENDING or len(set(ending)) < ENDING:
            return
        made = self._made.setdefault((tenant, b"".join(ending)), {})
        made[digest] = (covers, length, self._clock())
        while len(made) > LIKE_ONE_ANOTHER:
            del made[next(iter(made))]
        while len(self._made) > self._entries:
            self._made.popitem(last=False)

    def used(self, tenant: str, ending: Sequence[bytes], digest: str) -> None:
        """A request could use the summary after all."""
        self._made.get((tenant, b"".join(ending)), {}).pop(digest, None)

    def objection(self, tenant: str, digests: Sequence[bytes], chain: Sequence[str]) -> str | None:
        """Why no summary should be made for a history, or None."""
        lost: set[str] = set()
        oldest = self._clock() - REMEMBERED_SECONDS
        for k in range(ENDING, len(digests) + 1 if self._made else 0):
            made = self._made.get((tenant, b"".join(digests[k - ENDING : k])), {})
            if made and chain[k] not in made:
                facts = made.items()
                lost |= {d for d, (c, n, at) in facts if at > oldest and (k != c or len(digests) > n)}
        if len(lost) >= REWRITES_BEFORE_BACKOFF:
            return "the client rewrites its history: earlier summaries could not be used"
        return None
