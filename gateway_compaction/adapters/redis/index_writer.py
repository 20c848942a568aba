"""Writing the indexes of a session, and taking everything back where it was erased meanwhile."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from gateway_compaction.adapters.redis.connection import BACKGROUND_SECONDS, RedisConnection
from gateway_compaction.adapters.redis.index import (
    IndexedCall,
    build_erasure,
    build_erasure_query,
    build_listing,
    build_row_query,
    build_tenant_removal,
    read_seconds_left,
)
from gateway_compaction.adapters.redis.keys import label_key, session_keys
from gateway_compaction.adapters.redis.rows import decode_row, read_number
from gateway_compaction.adapters.redis.scripts import Command
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.core.records.controls import start_of
from gateway_compaction.errors import StoreError


class IndexWriter:
    """Writes indexes, as requests and operators both do after what they change.

    A session and its indexes are in different cluster slots, so no script can write both at once: an erasure
    may come between. Whoever erases leaves a note first; whoever writes indexes reads the note afterwards,
    and erases again what it wrote too late. Otherwise an erased session would come back as a line of a list.

    Requests do not need the indexes: all of this is sent without a breaker.
    """

    def __init__(self, connection: RedisConnection, *, seconds: float = BACKGROUND_SECONDS) -> None:
        self._connection = connection
        self._seconds = seconds

    async def refresh_row(self, session: SessionRef, generation: str | None = None) -> bool:
        """Renew a session's row; False where the session was erased meanwhile.

        A row that cannot be renewed is no reason to fail: the next event brings it up to date.

        Args:
            generation: under which the change was decided; None where it does not matter.
        """
        with contextlib.suppress(StoreError):
            [row] = await self._connection.send(build_row_query(session), seconds=self._seconds)
            decided_at = find_decision_time(row, "*" if generation is None else generation)
            commands = build_listing(session, row, read_seconds_left(row))
            return bool(row) and await self.write(session, commands, decided_at)
        return True

    async def write(
        self,
        session: SessionRef,
        commands: Sequence[Command],
        decided_at: float,
        call: IndexedCall | None = None,
    ) -> bool:
        """Send commands that index a session; False where it was erased since, or is gone.

        Everything is erased again then, of a session that began anew too: it may have been erased with what
        was left of the old one.

        Args:
            decided_at: when what is indexed was decided, in seconds (see ``find_decision_time``).
            call: with what the commands were built, to find the labels and owners to take the session out of.

        Raises:
            StoreError: the store did not answer.
        """
        call = call or IndexedCall()
        # The in-process server drops expired keys when it counts its keys, and at no other time.
        reminder: list[Command] = [("DBSIZE",)] if self._connection.embedded else []
        exists: Command = ("EXISTS", *session_keys(session, "session"))
        questions = [build_erasure_query(session), exists, *reminder]
        answers = await self._connection.send(*commands, *questions, seconds=self._seconds)
        erased, there, *_ = answers[len(commands) :]
        if there and not is_erased_since(erased, decided_at):
            return True
        labels = [label_key(session.tenant, label) for label in call.labels]
        erasure = build_erasure(session, labels)
        _, left, *_ = await self._connection.send(*erasure, seconds=self._seconds)
        if not left:
            removal = build_tenant_removal(session.tenant, call.owner)
            await self._connection.send(*removal, seconds=self._seconds)
        return False


def is_erased_since(scores: Sequence[Any], moment: float) -> bool:
    """Tell whether an answer to ``build_erasure_query`` names an erasure at ``moment`` or later."""
    return any(score is not None and float(score) >= moment for score in scores)


def is_known(generation: str) -> bool:
    """Tell whether a request found its session: one that did not has a ``+`` and the moment of asking."""
    return bool(generation) and not generation.startswith("+")


def find_decision_time(row: bytes, generation: str) -> float:
    """Return when what was just written was decided, in seconds.

    Of a known generation that is the moment of writing, since the script compared it; else that of asking.
    """
    if is_known(generation):
        return read_number(decode_row(row) or {}, "rev")
    return start_of(generation)
