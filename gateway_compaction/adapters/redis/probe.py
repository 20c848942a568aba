"""Trying out a Redis server from outside a running gateway, for ``doctor``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from statistics import median
from time import perf_counter, time

from gateway_compaction.adapters.redis.connection import RedisConnection
from gateway_compaction.adapters.redis.index import build_erasure, build_tenant_removal
from gateway_compaction.adapters.redis.keys import tenant_key
from gateway_compaction.adapters.redis.store import RedisStore
from gateway_compaction.core.conversation.digest import fingerprint
from gateway_compaction.core.records.compaction import Compaction, Segment, SessionRef
from gateway_compaction.core.records.event import CompactionEvent
from gateway_compaction.errors import StoreError
from gateway_compaction.ports import CallRecord

# Deadline of commands that are sent beside the store's own.
PROBE_SECONDS = 2.0

# Seconds that the probe's keys live, should erasing them fail.
PROBE_TTL = 1.0

# Reads whose median is reported: the first one also connects, and one may meet a pause of the server.
LOADS = 5


async def fetch_server_facts(connection: RedisConnection) -> Mapping[str, str]:
    """Return what a server tells of itself (``INFO``); empty where it may not be asked."""
    try:
        info = await connection.fetch_info(seconds=PROBE_SECONDS)
    except StoreError:
        return {}
    return {str(name): str(value) for name, value in info.items()}


async def measure_round_trip(store: RedisStore) -> float:
    """Claim, store, read back, count and erase a record: with the scripts of one call and of its summary.

    Nothing of it is left, not even a note. Returns the median of the seconds that reading took.

    Raises:
        StoreError: the server refused, or what was read is not what was written.
    """
    # A new name each time, so that two runs against one server do not meet.
    name = os.urandom(8).hex()
    session = SessionRef(fingerprint("doctor", name), fingerprint("doctor", "session", name))
    digest = fingerprint("doctor", "record")
    record = Compaction(digest, 1, "model", (Segment(0, 1, "doctor"),))
    token = await store.claim(session, digest, (), PROBE_TTL)
    if not await store.put(session, record, token=token, ttl=PROBE_TTL, limit=1):
        raise StoreError("the record was refused")
    seconds = []
    for _ in range(LOADS):
        started = perf_counter()
        buffer = await store.load(session, [digest])
        seconds.append(perf_counter() - started)
    if [c.text for c in buffer.compactions] != ["doctor"]:
        raise StoreError("what was read is not what was written")
    event = CompactionEvent("request", time(), "none", "doctor", "light", "doctor", tokens_before=1)
    await store.append(session, event, ttl=PROBE_TTL, call=CallRecord(used=digest, view=digest))
    counts = ("UNLINK", tenant_key(session.tenant, "hours"))
    erasure = [*build_erasure(session), *build_tenant_removal(session.tenant), counts]
    await store.connection.send(*erasure, seconds=PROBE_SECONDS)
    return median(seconds)
