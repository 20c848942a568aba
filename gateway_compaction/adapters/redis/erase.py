"""Erasing sessions and tenants: their keys, their places in every index, and what processes remember."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence

from gateway_compaction.adapters.redis.codec import milliseconds, session_keys
from gateway_compaction.adapters.redis.index import (
    FORGOTTEN_SECONDS,
    PARTS,
    REQUESTED,
    VOIDED,
    Command,
    dropping,
    forgetting,
    tenant_key,
    vacating,
)
from gateway_compaction.adapters.redis.store import StoreCalls
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.core.records.controls import start_of

__all__ = ["erase_session", "erase_tenant", "note_voided"]

SCANNED, MOST_NOTES = 1_000, 10_000
# Those who have to share a tenant are among them.
OWNERS = "gwc:owner:*"


async def erase_session(
    store: StoreCalls, session: SessionRef, facts: Sequence[bytes], seconds: float
) -> int:
    """Erase a session; the number of keys that went.

    First its keys, and with them what lets others write; then its name is noted. Who wrote before, and comes
    with the indexes only now, finds a note that is later, and takes all back. Then everything goes again: the
    session before its places in the indexes, so that who writes one of those too late finds it gone.
    """
    keys = session_keys(session, *PARTS)
    [gone, _] = await store.send(("UNLINK", *keys), ("ZREM", VOIDED, session.session_id), seconds=seconds)
    await store.send(forgetting(session.session_id), seconds=seconds)
    _, left, *_ = await store.send(*dropping(session), seconds=seconds)
    await _without(store, session.key, tenant_key(session.tenant, "label:*"), seconds)
    if not left:
        await store.send(*vacating(session.tenant, facts), seconds=seconds)
        await _without(store, session.tenant, OWNERS, seconds)
    return int(gone)


async def erase_tenant(store: StoreCalls, tenant: str, seconds: float) -> int | None:
    """Erase all sessions of a tenant, its indexes and its counts.

    Returns how many sessions went, None where there was nothing at all.
    """
    keys = await _swept(store, tenant, seconds)
    await store.send(forgetting(tenant), seconds=seconds)
    keys |= await _swept(store, tenant, seconds)
    await store.send(*vacating(tenant), seconds=seconds)
    await _without(store, tenant, OWNERS, seconds)
    for noted in (REQUESTED, VOIDED):
        [names] = await store.send(("ZRANGE", noted, 0, -1), seconds=seconds)
        own = [name for name in names if name.startswith(f"{tenant}.".encode())]
        if own:
            await store.send(("ZREM", noted, *own), seconds=seconds)
    parts = "|".join(PARTS)
    name = re.compile(rf"gwc:\{{{tenant}\.(\w+)\}}:(?:{parts})".encode())
    return len({found[1] for key in keys if (found := name.fullmatch(key))}) if keys else None


async def note_voided(store: StoreCalls, session: SessionRef, seconds: float) -> None:
    """Note that what was made of a session before its present generation is not to be used any more."""
    [generation] = await store.send(
        ("HGET", *session_keys(session, "session"), "generation"), seconds=seconds
    )
    if generation is None:
        # Forgotten since: that is noted, and is stronger.
        return
    moment = start_of(generation.decode("utf-8", "replace"))
    await store.send(
        # Of two deeds at once the later stays noted, whoever comes last.
        ("ZADD", VOIDED, "GT", repr(moment), session.session_id),
        ("ZREMRANGEBYSCORE", VOIDED, "-inf", moment - FORGOTTEN_SECONDS),
        ("ZREMRANGEBYRANK", VOIDED, 0, -1 - MOST_NOTES),
        ("PEXPIRE", VOIDED, milliseconds(FORGOTTEN_SECONDS)),
        seconds=seconds,
    )


async def _swept(store: StoreCalls, tenant: str, seconds: float) -> set[bytes]:
    """Unlink every key of a tenant; their names."""
    names = set[bytes]()
    # A key's tenant stands in its braces: alone, or before the session.
    async for keys in _scanned(store, f"gwc:{{{tenant}[.}}]*", seconds):
        names |= set(keys)
        # One command for each: a cluster's keys are unlinked slot by slot.
        await store.send(*(("UNLINK", key) for key in keys), seconds=seconds)
    return names


async def _without(store: StoreCalls, name: str, pattern: str, seconds: float) -> None:
    """Take a name out of every sorted set whose key is like ``pattern``."""
    async for keys in _scanned(store, pattern, seconds):
        await store.send(*(("ZREM", key, name) for key in keys), seconds=seconds)


async def _scanned(store: StoreCalls, pattern: str, seconds: float) -> AsyncIterator[list[bytes]]:
    """Names of keys, some at a time: neither Redis nor the loop stands still."""
    cursor = 0
    while True:
        asked: Command = ("SCAN", cursor, "MATCH", pattern, "COUNT", SCANNED)
        [(following, keys)] = await store.send(asked, seconds=seconds)
        if keys:
            yield keys
        cursor = int(following)
        if not cursor:
            return
        await asyncio.sleep(0)
