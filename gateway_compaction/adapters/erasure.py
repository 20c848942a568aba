"""Erasing sessions and tenants: their keys, their places in every index, and what processes remember."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence

from gateway_compaction.adapters.indexing import (
    FORGOTTEN_SECONDS,
    PARTS,
    VOIDED,
    WISHES,
    Command,
    dropping,
    forgetting,
    tenant_key,
    vacating,
)
from gateway_compaction.adapters.records import milliseconds, session_keys
from gateway_compaction.adapters.store_calls import StoreCalls
from gateway_compaction.core.compaction import SessionRef
from gateway_compaction.core.steering import moment_of

__all__ = ["erase_session", "erase_tenant", "note_voided"]

SCANNED, BATCH, MOST_NOTES = 1_000, 500, 10_000


async def erase_session(
    store: StoreCalls, session: SessionRef, facts: Sequence[bytes], seconds: float
) -> int:
    """Erase a session; the number of keys that went.

    First its keys, and with them what lets others write; then its name is noted. Who wrote before, and comes
    with the indexes only now, finds a note that is later, and takes all back. Then everything goes again.
    """
    keys = session_keys(session, *PARTS)
    [gone, _] = await store.send(("UNLINK", *keys), ("ZREM", VOIDED, session.slot), seconds=seconds)
    await store.send(forgetting(session.slot), seconds=seconds)
    labels = [key async for key in _scanned(store, tenant_key(session.tenant, "label:*"), seconds)]
    left = 0
    for start in range(0, max(1, len(labels)), BATCH):
        commands = dropping(session, labels[start : start + BATCH])
        _, left, _ = await store.send(*commands, seconds=seconds)
    if not left:
        await store.send(*vacating(session.tenant, facts), seconds=seconds)
        await _disowned(store, session.tenant, seconds)
    return int(gone)


async def erase_tenant(store: StoreCalls, tenant: str, seconds: float) -> int:
    """Erase all sessions of a tenant, its indexes and its counts; the number of sessions that went."""
    sessions = await _swept(store, tenant, seconds)
    await store.send(forgetting(tenant), seconds=seconds)
    sessions |= await _swept(store, tenant, seconds)
    await store.send(*vacating(tenant), seconds=seconds)
    await _disowned(store, tenant, seconds)
    for noted in (WISHES, VOIDED):
        [names] = await store.send(("ZRANGE", noted, 0, -1), seconds=seconds)
        own = [name for name in names if name.startswith(f"{tenant}.".encode())]
        if own:
            await store.send(("ZREM", noted, *own), seconds=seconds)
    return len(sessions)


async def note_voided(store: StoreCalls, session: SessionRef, seconds: float) -> None:
    """Note that what was made of a session before its present generation is not to be used any more."""
    [generation] = await store.send(
        ("HGET", *session_keys(session, "session"), "generation"), seconds=seconds
    )
    moment = moment_of((generation or b"").decode("utf-8", "replace"))
    await store.send(
        # Of two deeds at once the later stays noted, whoever comes last.
        ("ZADD", VOIDED, "GT", repr(moment), session.slot),
        ("ZREMRANGEBYSCORE", VOIDED, "-inf", moment - FORGOTTEN_SECONDS),
        ("ZREMRANGEBYRANK", VOIDED, 0, -1 - MOST_NOTES),
        ("PEXPIRE", VOIDED, milliseconds(FORGOTTEN_SECONDS)),
        seconds=seconds,
    )


async def _swept(store: StoreCalls, tenant: str, seconds: float) -> set[str]:
    """Unlink every key of a tenant; the sessions among them."""
    # A key's tenant stands in its braces: alone, or before the session.
    name, sessions = re.compile(rf"gwc:\{{{tenant}\.(\w+)\}}:(\w+)"), set[str]()
    batch: list[Command] = []
    async for key in _scanned(store, f"gwc:{{{tenant}[.}}]*", seconds):
        found = name.fullmatch(key)
        sessions |= {found[1]} if found and found[2] in PARTS else set()
        batch.append(("UNLINK", key))
        if len(batch) >= BATCH:
            await store.send(*batch, seconds=seconds)
            batch = []
    if batch:
        await store.send(*batch, seconds=seconds)
    return sessions


async def _disowned(store: StoreCalls, tenant: str, seconds: float) -> None:
    """Take a tenant out of every owner's list, also of those who had to share it."""
    owners = [key async for key in _scanned(store, "gwc:owner:*", seconds)]
    for start in range(0, len(owners), BATCH):
        commands = [("ZREM", key, tenant) for key in owners[start : start + BATCH]]
        await store.send(*commands, seconds=seconds)


async def _scanned(store: StoreCalls, pattern: str, seconds: float) -> AsyncIterator[str]:
    """Names of keys, a little at a time: neither Redis nor the loop stands still."""
    cursor = 0
    while True:
        asked: Command = ("SCAN", cursor, "MATCH", pattern, "COUNT", SCANNED)
        [(following, keys)] = await store.send(asked, seconds=seconds)
        for key in keys:
            yield key.decode()
        cursor = int(following)
        if not cursor:
            return
        await asyncio.sleep(0)
