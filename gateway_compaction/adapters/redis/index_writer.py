"""Writing the indexes of a session, and taking everything back where it was erased meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gateway_compaction.adapters.redis.connection import BACKGROUND_SECONDS, RedisConnection
from gateway_compaction.adapters.redis.erase import erase_again
from gateway_compaction.adapters.redis.index import (
    IndexedCall,
    build_erasure_query,
    build_listing,
    build_row_query,
    read_seconds_left,
)
from gateway_compaction.adapters.redis.keys import session_keys
from gateway_compaction.adapters.redis.rows import decode_object, read_number
from gateway_compaction.adapters.redis.scripts import Command
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.core.records.controls import is_stored, read_start
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
        """Renew a session's row after a change of the session.

        Returns False where the session was erased meanwhile. A store that does not answer is no reason to
        fail, and counts as True: the next event brings the row up to date.

        Args:
            generation: under which the change was decided; None where it does not matter.
        """
        try:
            [row] = await self._connection.send(build_row_query(session), seconds=self._seconds)
            if not row:
                return False
            decided_at = read_revision(row) if generation is None else find_decision_time(row, generation)
            return await self.write(session, build_listing(session, row, read_seconds_left(row)), decided_at)
        except StoreError:
            return True

    async def write(
        self,
        session: SessionRef,
        commands: Sequence[Command],
        decided_at: float,
        call: IndexedCall | None = None,
    ) -> bool:
        """Send commands that index a session; False where it was erased since, or is gone.

        Everything of the session is erased again then, whoever wrote it. If it began anew meanwhile, it is
        erased too, because its new keys may already be half erased.

        Args:
            decided_at: when what is indexed was decided, in seconds (see ``find_decision_time``).
            call: the call being indexed; it is taken out of its owners' lists as well.

        Raises:
            StoreError: the store did not answer.
        """
        if await self._send_and_check(session, commands, decided_at):
            return True
        await erase_again(self._connection, session, (call or IndexedCall()).owner)
        return False

    async def _send_and_check(
        self, session: SessionRef, commands: Sequence[Command], decided_at: float
    ) -> bool:
        """Send commands, and tell whether the session is still the one that they are about."""
        exists: Command = ("EXISTS", *session_keys(session, "session"))
        checks = [build_erasure_query(session), exists]
        # The in-process server drops expired keys when it counts its keys, and at no other time.
        expiry_sweep: list[Command] = [("DBSIZE",)] if self._connection.embedded else []
        answers = await self._connection.send(*commands, *checks, *expiry_sweep, seconds=self._seconds)
        erasure_scores, is_there = answers[len(commands) : len(commands) + len(checks)]
        return bool(is_there) and not is_erased_since(erasure_scores, decided_at)


def is_erased_since(scores: Sequence[Any], moment: float) -> bool:
    """Tell whether an answer to ``build_erasure_query`` names an erasure at ``moment`` or later."""
    return any(score is not None and float(score) >= moment for score in scores)


def find_decision_time(row: bytes, generation: str) -> float:
    """Return when the change that a row shows was decided, in seconds.

    The script compared the generation of a stored session, so that is the moment of writing. Of any other
    session it is the moment at which the store was asked.
    """
    return read_revision(row) if is_stored(generation) else read_start(generation)


def read_revision(row: bytes) -> float:
    """Return when a row was written, in seconds."""
    return read_number(decode_object(row) or {}, "rev")
