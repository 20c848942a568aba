"""The compactions, bypasses and controls that one process remembers for itself, by session.

It bridges the time until a write has reached the store, and a store that is down. Without it the call right
after a compaction could go out without it, and lose the provider's prompt cache.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from gateway_compaction.core.records.compaction import KIND_RANK, Compaction, SessionRef, is_within
from gateway_compaction.core.records.controls import (
    SessionControls,
    is_valid_under,
    make_generation,
    read_start,
)

K = TypeVar("K")
V = TypeVar("V")

ENTRIES = 5_000
"""Entries of each kind that are kept; those not used for longest go first."""

IDLE_SECONDS = 900.0
"""Seconds without use after which a compaction or a session's controls are not used any more."""

FORGOTTEN_SECONDS = 900.0
"""Seconds that an erasure is remembered: longer than the ten minutes for which the store tells of it."""


class LocalBuffer:
    """Compactions made or seen by this process, and what else its next requests must know.

    Each entry is of the generation under which it was made: once an operator's action has changed that, or
    the conversation began anew, it is not found any more.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, entries: int = ENTRIES) -> None:
        self._clock, self._entries = clock, entries
        self._compactions: OrderedDict[tuple[str, str], tuple[float, Compaction, str]] = OrderedDict()
        self._bypassed: OrderedDict[str, tuple[float, str | None, str]] = OrderedDict()
        self._controls: OrderedDict[str, tuple[float, SessionControls]] = OrderedDict()
        self._forgotten: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._begun: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def keep(self, session: SessionRef, compaction: Compaction, generation: str = "") -> None:
        """Remember a compaction; a better kind is never replaced by a lesser one of its generation.

        Nothing is kept of what was decided before the session was forgotten.
        """
        if self.is_outdated(session, generation):
            return
        key = (session.session_id, compaction.digest)
        known = self._find_fresh(key)
        if known is not None and is_valid_under(known[1], generation) and _is_better(known[0], compaction):
            return
        self._compactions[key] = (self._clock(), compaction, generation)
        self._trim(self._compactions, key)

    def merge_compactions(
        self, session: SessionRef, digests: Sequence[str], stored: Sequence[Compaction], generation: str = ""
    ) -> tuple[Compaction, ...]:
        """Return what the store returned and what this process knows, the better kind of each digest.

        Args:
            session: the session of the request.
            digests: names of the beginnings of its history.
            stored: what the store returned.
            generation: the session's at present, empty where the store did not answer.
        """
        best = {c.digest: c for c in stored}
        for digest in digests:
            key = (session.session_id, digest)
            known = self._find_fresh(key)
            if known is None:
                continue
            compaction, made_under = known
            if not is_valid_under(made_under, generation):
                del self._compactions[key]
                continue
            self._compactions[key] = (self._clock(), compaction, generation or made_under)
            if _is_better(compaction, best.get(digest)):
                best[digest] = compaction
        return tuple(best.values())

    def remember_controls(self, session: SessionRef, controls: SessionControls) -> SessionControls:
        """Remember what operators asked of a session, as the store just told, and return it."""
        self._controls[session.session_id] = (self._clock(), controls)
        self._trim(self._controls, session.session_id)
        return controls

    def get_controls(self, session: SessionRef) -> SessionControls:
        """Return what the store told last: what operators asked for holds on while it does not answer."""
        return self._last_controls(session.session_id)

    def _last_controls(self, session_id: str) -> SessionControls:
        at, known = self._controls.get(session_id, (0.0, SessionControls()))
        return known if self._clock() - at <= IDLE_SECONDS else SessionControls()

    def forget(self, name: str, at: float = 0.0) -> None:
        """Drop everything of a session (``tenant.session``) or of a whole tenant, erased at ``at``.

        Args:
            name: the session or the tenant.
            at: seconds since 1970 by the store's clock: what was decided before is not kept any more.
        """
        for key in [k for k in self._compactions if is_within(k[0], name)]:
            del self._compactions[key]
        for session_id in [s for s in self._bypassed if is_within(s, name)]:
            del self._bypassed[session_id]
        for session_id in [s for s in self._controls if is_within(s, name)]:
            del self._controls[session_id]
        self._forgotten[name] = (self._clock(), at)
        self._trim(self._forgotten, name)

    def begin_generation(self, session_id: str, at: float) -> None:
        """Drop what was made of a session before ``at``, when an operator took its versions back.

        While the store is down, what is decided from now on is of the new generation; the pins that the store
        told last stand.
        """
        for key in [
            k for k, (_, _, made) in self._compactions.items() if k[0] == session_id and read_start(made) < at
        ]:
            del self._compactions[key]
        known = self._last_controls(session_id)
        if read_start(known.generation) < at:
            self._controls[session_id] = (
                self._clock(),
                replace(known, generation=make_generation(at), rebuild=False),
            )
            self._trim(self._controls, session_id)
        self._begun[session_id] = (self._clock(), at)
        self._trim(self._begun, session_id)

    def is_outdated(self, session: SessionRef, generation: str) -> bool:
        """Tell whether a decision of a generation was made before its session was erased or reset."""
        for name in (session.session_id, session.tenant):
            noted, at = self._forgotten.get(name, (0.0, -1.0))
            if at >= read_start(generation) and self._clock() - noted <= FORGOTTEN_SECONDS:
                return True
        noted, began = self._begun.get(session.session_id, (0.0, -1.0))
        return read_start(generation) < began and self._clock() - noted <= FORGOTTEN_SECONDS

    def set_bypass(
        self, session: SessionRef, reason: str | None, seconds: float, generation: str = ""
    ) -> None:
        """Leave a session alone for some seconds; without a reason, do not, whatever the store says."""
        self._bypassed[session.session_id] = (self._clock() + seconds, reason, generation)
        self._trim(self._bypassed, session.session_id)

    def get_bypass(self, session: SessionRef, stored: str | None, generation: str = "") -> str | None:
        """Return why the session is left alone, or None; ``stored`` is what the store says."""
        until, reason, made_under = self._bypassed.get(session.session_id, (0.0, None, ""))
        return reason if until > self._clock() and is_valid_under(made_under, generation) else stored

    def _trim(self, entries: OrderedDict[K, V], key: K) -> None:
        """Make an entry the latest, and drop the oldest ones beyond the bound."""
        entries.move_to_end(key)
        while len(entries) > self._entries:
            entries.popitem(last=False)

    def _find_fresh(self, key: tuple[str, str]) -> tuple[Compaction, str] | None:
        """Return a compaction that was used lately and its generation, and count that as a use."""
        if key not in self._compactions:
            return None
        used, compaction, generation = self._compactions[key]
        if self._clock() - used > IDLE_SECONDS:
            del self._compactions[key]
            return None
        self._compactions[key] = (self._clock(), compaction, generation)
        self._compactions.move_to_end(key)
        return compaction, generation


def _is_better(known: Compaction, stored: Compaction | None) -> bool:
    return stored is None or KIND_RANK[known.kind] > KIND_RANK[stored.kind]
