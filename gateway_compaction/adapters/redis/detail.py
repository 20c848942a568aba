"""One session as operators see it: its keys read in one round trip, and put together."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from gateway_compaction.adapters.redis.codec import (
    read_controls,
    read_event,
    read_last,
    read_record,
    session_keys,
)
from gateway_compaction.adapters.redis.index import Command, row_of_now
from gateway_compaction.adapters.redis.rows import Fields, number_in, owner_in, read_row, row_of
from gateway_compaction.adapters.redis.store import StoreCalls
from gateway_compaction.adapters.redis.transfer_checks import is_sound, last_fault
from gateway_compaction.archive import Scope, SessionDetail
from gateway_compaction.core.records.compaction import Compaction, SessionRef
from gateway_compaction.errors import NotThere

__all__ = ["UNKNOWN", "detail_of", "owned", "permitted"]

UNKNOWN = "There is no such session, or it is not yours to see"
CONTROLS = ("generation", "pins", "compact", "rebuild")
NAMES = ("session", "claims", "compactions", "retired", "events", "last")
LARGE_BYTES = 200_000


async def owned(store: StoreCalls, scope: Scope, session: SessionRef, seconds: float) -> Fields:
    """The row of a session that somebody may see.

    Raises:
        NotThere: there is none, or it is not in scope.
    """
    [raw] = await store.send(row_of_now(session), seconds=seconds)
    return permitted(scope, raw)


def permitted(scope: Scope, raw: bytes) -> Fields:
    """A row, where it may be seen; a session that may not is as one that does not exist."""
    fields = read_row(raw)
    if fields is None or not scope.allows(owner_in(fields)):
        raise NotThere(UNKNOWN)
    return fields


async def detail_of(store: StoreCalls, scope: Scope, session: SessionRef, seconds: float) -> SessionDetail:
    """Everything of one session.

    Raises:
        NotThere: there is none, or it is not in scope.
    """
    key = dict(zip(NAMES, session_keys(session, *NAMES), strict=True))
    commands: list[Command] = [
        row_of_now(session),
        ("TIME",),
        ("HMGET", key["session"], *CONTROLS),
        ("HGETALL", key["compactions"]),
        ("HGETALL", key["retired"]),
        ("HGETALL", key["claims"]),
        ("LRANGE", key["events"], 0, -1),
        ("GET", key["last"]),
        ("PTTL", key["session"]),
    ]
    row, *parts = await store.send(*commands, seconds=seconds)
    fields = permitted(scope, row)
    large = sum(len(r) for found in parts[2:4] for r in found.values()) + len(parts[6] or b"") > LARGE_BYTES
    if large:
        return await asyncio.to_thread(_composed, session, fields, parts)
    return _composed(session, fields, parts)


def _composed(session: SessionRef, fields: Fields, parts: list[Any]) -> SessionDetail:
    clock, controls, compactions, retired, claims, events, last, ttl = parts
    now = clock[0] + clock[1] / 1e6
    held = ((digest.decode("utf-8", "replace"), _deadline(value)) for digest, value in claims.items())
    return SessionDetail(
        row=row_of(session, fields, now),
        compactions=_newest_first([read_record(d, raw) for d, raw in compactions.items()]),
        retired=_newest_first([read_record(_digest_in(raw), raw) for raw in retired.values()]),
        claims=tuple((digest, deadline) for digest, deadline in held if deadline > now),
        events=tuple(event for raw in events if (event := read_event(raw))),
        steering=read_controls(controls),
        bypass=_pause(fields, "bypass", now),
        backoff=_pause(fields, "backoff", now),
        last_call=None if last is None or last_fault(last) else read_last(last),
        ttl=max(0.0, ttl / 1000),
    )


def _digest_in(raw: bytes) -> bytes:
    found = read_row(raw) or {}
    return str(found.get("digest", "")).encode()


def _newest_first(records: list[Compaction | None]) -> tuple[Compaction, ...]:
    return tuple(sorted((r for r in records if r and is_sound(r)), key=lambda r: (-r.version, r.digest)))


def _deadline(value: bytes) -> float:
    return number_in({"ms": value.rpartition(b":")[2]}, "ms") / 1000


def _pause(fields: Mapping[str, Any], kind: str, now: float) -> tuple[float, str] | None:
    until = number_in(fields, f"{kind}_until") / 1000
    return (until, str(fields.get(f"{kind}_reason") or "unspecified")) if until > now else None
