"""Erasing sessions and tenants: their keys, their places in every index, and what processes remember."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence

from gateway_compaction.adapters.redis.codec import to_milliseconds
from gateway_compaction.adapters.redis.connection import RedisConnection
from gateway_compaction.adapters.redis.index import (
    FORGOTTEN_SECONDS,
    build_erasure,
    build_erasure_notice,
    build_tenant_removal,
)
from gateway_compaction.adapters.redis.keys import (
    OWNER_PATTERN,
    REQUESTED,
    SESSION_PARTS,
    VOIDED,
    restores_key,
    session_keys,
    tenant_key,
)
from gateway_compaction.adapters.redis.scripts import Command
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.core.records.controls import read_start

# Keys that Redis looks at in one step of a scan; other clients have their turn between steps.
KEYS_AT_ONCE = 1_000

# Most sessions noted as voided at a time; every process reads all of them with each poll.
MOST_NOTES = 10_000


async def erase_session(connection: RedisConnection, session: SessionRef, owner: Sequence[bytes]) -> int:
    """Erase a session and return the number of its keys that went.

    The order keeps concurrent writers from bringing it back:

    1. Its keys are unlinked, its generation among them, so no script accepts what was decided before.
    2. The erasure is noted. A writer that was accepted earlier, and writes its indexes only now, reads a note
       that is later than its decision, and erases what it wrote (see ``IndexWriter``).
    3. The keys are unlinked again, for whatever was written between 1 and 2, and only then the session's
       places in the indexes: a writer that restores one of these finds the session gone.

    Args:
        owner: the session's owner, as ``encode_owner`` writes it.
    """
    keys = session_keys(session, *SESSION_PARTS)
    [gone, _] = await connection.send(("UNLINK", *keys), ("ZREM", VOIDED, session.session_id))
    await connection.send(build_erasure_notice(session.session_id))
    await erase_again(connection, session, owner)
    return int(gone)


async def erase_again(connection: RedisConnection, session: SessionRef, owner: Sequence[bytes]) -> None:
    """Erase whatever of an erased session was written since, be it by several writers.

    One of them may be done, and the session be there again, when another one that is late takes it back: then
    nobody else looks for what the first has written. So the places in indexes are searched for, and not taken
    from what one call knows.
    """
    _, sessions_left, *_ = await connection.send(*build_erasure(session))
    if not sessions_left:
        # Before the scan for labels, which may take long: a tenant that begins another session meanwhile
        # must stay in the lists.
        await connection.send(*build_tenant_removal(session.tenant, owner))
        await _remove_member(connection, session.tenant, OWNER_PATTERN)
    await _remove_member(connection, session.key, tenant_key(session.tenant, "label:*"))
    await _unlink_restored(connection, session)


async def erase_tenant(connection: RedisConnection, tenant: str) -> int | None:
    """Erase all sessions of a tenant, its indexes and its counts.

    Returns how many sessions went, None where there was nothing at all.
    """
    keys = await _unlink_tenant(connection, tenant)
    await connection.send(build_erasure_notice(tenant))
    # Again, for whatever was written between the first time and the note.
    keys |= await _unlink_tenant(connection, tenant)
    await connection.send(*build_tenant_removal(tenant))
    await _remove_member(connection, tenant, OWNER_PATTERN)
    for notes in (REQUESTED, VOIDED):
        [names] = await connection.send(("ZRANGE", notes, 0, -1))
        own = [name for name in names if name.startswith(f"{tenant}.".encode())]
        if own:
            await connection.send(("ZREM", notes, *own))
    if not keys:
        return None
    parts = "|".join(SESSION_PARTS)
    pattern = re.compile(rf"gwc:\{{{tenant}\.(\w+)\}}:(?:{parts})".encode())
    return len({match[1] for key in keys if (match := pattern.fullmatch(key))})


async def note_voided(connection: RedisConnection, session: SessionRef) -> None:
    """Note that what was made of a session before its present generation is not to be used any more.

    Every process reads that within seconds. Without it, what a process remembers of a version that an
    operator took back would be sent on.
    """
    [generation] = await connection.send(("HGET", *session_keys(session, "session"), "generation"))
    if generation is None:
        # The session was erased meanwhile, which is noted and says more.
        return
    moment = read_start(generation.decode("utf-8", "replace"))
    await connection.send(
        # Of two actions at once the later stays noted, whoever comes last.
        ("ZADD", VOIDED, "GT", repr(moment), session.session_id),
        ("ZREMRANGEBYSCORE", VOIDED, "-inf", moment - FORGOTTEN_SECONDS),
        ("ZREMRANGEBYRANK", VOIDED, 0, -1 - MOST_NOTES),
        ("PEXPIRE", VOIDED, to_milliseconds(FORGOTTEN_SECONDS)),
    )


async def _unlink_restored(connection: RedisConnection, session: SessionRef) -> None:
    """Unlink what later conversations were told of a session."""
    told_by = restores_key(session)
    [keys] = await connection.send(("SMEMBERS", told_by))
    await connection.send(("UNLINK", told_by, *keys))


async def _unlink_tenant(connection: RedisConnection, tenant: str) -> set[bytes]:
    """Unlink every key of a tenant and return their names."""
    names = set[bytes]()
    # A key's tenant stands in its braces: alone, or before the session.
    async for keys in _scan_keys(connection, f"gwc:{{{tenant}[.}}]*"):
        names |= set(keys)
        # One command for each: a cluster's keys are unlinked slot by slot.
        await connection.send(*(("UNLINK", key) for key in keys))
    return names


async def _remove_member(connection: RedisConnection, name: str, pattern: str) -> None:
    """Take a name out of every sorted set whose key is like ``pattern``."""
    async for keys in _scan_keys(connection, pattern):
        await connection.send(*(("ZREM", key, name) for key in keys))


async def _scan_keys(connection: RedisConnection, pattern: str) -> AsyncIterator[list[bytes]]:
    """Yield names of keys, some at a time: neither Redis nor the loop stands still."""
    cursor = 0
    while True:
        step: Command = ("SCAN", cursor, "MATCH", pattern, "COUNT", KEYS_AT_ONCE)
        [(following, keys)] = await connection.send(step)
        if keys:
            yield keys
        cursor = int(following)
        if not cursor:
            return
        await asyncio.sleep(0)
