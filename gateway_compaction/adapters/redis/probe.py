"""Trying out a Redis server from outside a running gateway, for ``doctor``."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from statistics import median
from time import perf_counter, time
from typing import Any

from gateway_compaction.adapters.redis.connection import RedisConnection
from gateway_compaction.adapters.redis.index import build_erasure, build_tenant_removal
from gateway_compaction.adapters.redis.keys import TENANTS, session_keys, tenant_key
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

# Tenants, sessions of each and records of each that are looked at for how they are sealed, the latest first.
LOOKED_AT = 10
SEALING_KEY = re.compile(rb'^\{"v":\d+,"sealed":"([0-9a-f]{8})",')

# Reads whose median is reported: the first one also connects, and one may meet a pause of the server.
LOADS = 5


async def fetch_server_facts(connection: RedisConnection) -> Mapping[str, str]:
    """Return what a server tells of itself (``INFO``); empty where it may not be asked."""
    try:
        info = await connection.fetch_info(seconds=PROBE_SECONDS)
    except StoreError:
        return {}
    return {str(name): str(value) for name, value in info.items()}


async def count_sealing_keys(connection: RedisConnection) -> Mapping[str, int]:
    """Return with which keys the latest stored records are sealed, by name; empty for those in clear.

    Looks at the latest sessions of the latest tenants only: a server holds other people's keys, and many.
    """
    [tenants] = await connection.send(("ZREVRANGE", TENANTS, 0, LOOKED_AT - 1), seconds=PROBE_SECONDS)
    names = [tenant.decode("utf-8", "replace") for tenant in tenants]
    lists = [("ZREVRANGE", tenant_key(name, "sessions"), 0, LOOKED_AT - 1) for name in names]
    listed = await connection.send(*lists, seconds=PROBE_SECONDS) if lists else []
    sessions = [
        SessionRef(name, key.decode("utf-8", "replace"))
        for name, keys in zip(names, listed, strict=True)
        for key in keys
    ]
    scans = [("HSCAN", *session_keys(one, "compactions"), 0, "COUNT", LOOKED_AT) for one in sessions]
    answers = await connection.send(*scans, seconds=PROBE_SECONDS) if scans else []
    records = [record for _, found in answers for record in _values_of(found)]
    return Counter(match[1].decode() if (match := SEALING_KEY.search(record)) else "" for record in records)


def _values_of(found: Any) -> Iterable[bytes]:
    """Return the values that HSCAN found: the driver gives pairs as a dict, the server as a list."""
    return found.values() if isinstance(found, Mapping) else found[1::2]


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
