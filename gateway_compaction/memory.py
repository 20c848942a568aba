"""What one process remembers for itself: what the store has not got yet, and who rewrites history."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from gateway_compaction.core.compaction import KIND_RANK, Compaction, SessionRef, is_within
from gateway_compaction.core.steering import Steering, holds_in, moment_of, voided

__all__ = ["Lineage", "LineageGuard", "LocalBuffer"]

K = TypeVar("K")
V = TypeVar("V")
ENTRIES = 5_000
IDLE_SECONDS = 900.0
FORGOTTEN_SECONDS = 900.0
REWRITES_BEFORE_BACKOFF = 2
REMEMBERED_SECONDS = 600.0
ENDING, LIKE_ONE_ANOTHER = 4, 8


class LocalBuffer:
    """Compactions made or seen by this process, by tenant, session and digest.

    It bridges the time until a write has reached the store, and a store that is down; entries that were
    not used for 15 minutes go. Each is of the generation under which it was made: once an operator's deed
    has changed that, or the conversation began anew, it is not found any more.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, entries: int = ENTRIES) -> None:
        self._clock, self._entries = clock, entries
        self._kept: OrderedDict[tuple[str, str], tuple[float, Compaction, str]] = OrderedDict()
        self._bypassed: OrderedDict[str, tuple[float, str | None, str]] = OrderedDict()
        self._steering: OrderedDict[str, tuple[float, Steering]] = OrderedDict()
        self._forgotten: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._voided: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def keep(self, session: SessionRef, compaction: Compaction, generation: str = "") -> None:
        """Remember a compaction; a better kind is never replaced by a lesser one of its generation.

        Nothing is kept of what was decided before the session was forgotten.
        """
        if self.is_void(session, generation):
            return
        key = (session.slot, compaction.digest)
        known = self._fresh(key)
        if known is not None and holds_in(known[1], generation) and _better(known[0], compaction):
            return
        self._kept[key] = (self._clock(), compaction, generation)
        self._bound(self._kept, key)

    def merged(
        self, session: SessionRef, digests: Sequence[str], stored: Sequence[Compaction], generation: str = ""
    ) -> tuple[Compaction, ...]:
        """What the store returned and what this process knows, the better kind of each digest.

        ``generation`` is the session's at present, empty where the store did not answer.
        """
        best = {c.digest: c for c in stored}
        for digest in digests:
            key = (session.slot, digest)
            known = self._fresh(key)
            if known is None:
                continue
            compaction, made_under = known
            if not holds_in(made_under, generation):
                del self._kept[key]
                continue
            self._kept[key] = (self._clock(), compaction, generation or made_under)
            if _better(compaction, best.get(digest)):
                best[digest] = compaction
        return tuple(best.values())

    def steered(self, session: SessionRef, steering: Steering | None = None) -> Steering:
        """What operators asked, as the store just told; without an answer, what it told last."""
        if steering is not None:
            self._steering[session.slot] = (self._clock(), steering)
            self._bound(self._steering, session.slot)
            return steering
        return self._told_last(session.slot)

    def _told_last(self, slot: str) -> Steering:
        at, known = self._steering.get(slot, (0.0, Steering()))
        return known if self._clock() - at <= IDLE_SECONDS else Steering()

    def forget(self, name: str, at: float = 0.0) -> None:
        """Drop everything of a session (``tenant.session``) or of a whole tenant, erased at ``at``.

        That is a second since 1970 by the store's clock: what was decided before is not kept any more.
        """
        for key in [k for k in self._kept if is_within(k[0], name)]:
            del self._kept[key]
        for slot in [s for s in self._bypassed if is_within(s, name)]:
            del self._bypassed[slot]
        for slot in [s for s in self._steering if is_within(s, name)]:
            del self._steering[slot]
        self._forgotten[name] = (self._clock(), at)
        self._bound(self._forgotten, name)

    def void(self, slot: str, at: float) -> None:
        """Drop what was made of a session before ``at``, when its present generation began.

        Its versions were taken back. While the store is down, what is decided from now on is of that
        generation; pins that were told last stand.
        """
        for key in [k for k, (_, _, made) in self._kept.items() if k[0] == slot and moment_of(made) < at]:
            del self._kept[key]
        known = self._told_last(slot)
        if moment_of(known.generation) < at:
            self._steering[slot] = (self._clock(), replace(known, generation=voided(at), rebuild=False))
            self._bound(self._steering, slot)
        self._voided[slot] = (self._clock(), at)
        self._bound(self._voided, slot)

    def is_void(self, session: SessionRef, generation: str) -> bool:
        """Whether what was decided under a generation was decided before its session was erased or reset."""
        for name in (session.slot, session.tenant):
            noted, at = self._forgotten.get(name, (0.0, -1.0))
            if at >= moment_of(generation) and self._clock() - noted <= FORGOTTEN_SECONDS:
                return True
        noted, began = self._voided.get(session.slot, (0.0, -1.0))
        return moment_of(generation) < began and self._clock() - noted <= FORGOTTEN_SECONDS

    def set_bypass(
        self, session: SessionRef, reason: str | None, seconds: float, generation: str = ""
    ) -> None:
        """Leave a session alone for some seconds; without a reason, do not, whatever the store says."""
        self._bypassed[session.slot] = (self._clock() + seconds, reason, generation)
        self._bound(self._bypassed, session.slot)

    def bypass(self, session: SessionRef, stored: str | None, generation: str = "") -> str | None:
        """Why the session is left alone, or None; ``stored`` is what the store says."""
        until, reason, made_under = self._bypassed.get(session.slot, (0.0, None, ""))
        return reason if until > self._clock() and holds_in(made_under, generation) else stored

    def _bound(self, kept: OrderedDict[K, V], key: K) -> None:
        kept.move_to_end(key)
        while len(kept) > self._entries:
            kept.popitem(last=False)

    def _fresh(self, key: tuple[str, str]) -> tuple[Compaction, str] | None:
        if key not in self._kept:
            return None
        used, compaction, generation = self._kept[key]
        if self._clock() - used > IDLE_SECONDS:
            del self._kept[key]
            return None
        self._kept[key] = (self._clock(), compaction, generation)
        self._kept.move_to_end(key)
        return compaction, generation


def _better(known: Compaction, stored: Compaction | None) -> bool:
    return stored is None or KIND_RANK[known.kind] > KIND_RANK[stored.kind]


@dataclass(frozen=True, slots=True)
class Lineage:
    """A history by what the model answered in it: clients rewrite their own messages, hardly ever these.

    ``digests`` name the answers; ``names[k]`` is the prefix digest that ends with the k-th of them, and
    ``names[0]`` that of the empty history.
    """

    digests: tuple[bytes, ...]
    names: tuple[str, ...]

    @classmethod
    def of(cls, roles: Sequence[str], digests: Sequence[bytes], chain: Sequence[str]) -> Lineage:
        """The lineage of some messages."""
        places = [i for i, role in enumerate(roles) if role == "assistant"]
        return cls(tuple(digests[i] for i in places), (chain[0], *(chain[i + 1] for i in places)))


class LineageGuard:
    """Notices clients that slide their own window or rewrite earlier messages.

    A summary is remembered for ten minutes by the last answers it covers, where they say something: not
    when the same few come again and again. A request that holds them behind another beginning, further on
    or in a longer history, could not use it; after two such summaries no more are made for it. A history for
    which none is made is remembered like a summary of it: for as long as the client rewrites, it is noticed.
    """

    def __init__(self, entries: int = ENTRIES, clock: Callable[[], float] = time.monotonic) -> None:
        self._entries, self._clock = entries, clock
        self._made: OrderedDict[tuple[str, bytes], dict[str, tuple[int, int, float]]] = OrderedDict()

    def made(self, tenant: str, covered: Lineage, length: int) -> None:
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

    def used(self, tenant: str, covered: Lineage) -> None:
        """A request could use the summary after all."""
        self._made.get((tenant, b"".join(covered.digests[-ENDING:])), {}).pop(covered.names[-1], None)

    def objection(self, tenant: str, history: Lineage) -> str | None:
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
            self.made(tenant, history, len(digests))
            return "the client rewrites its history: earlier summaries could not be used"
        return None
