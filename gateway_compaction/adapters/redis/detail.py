"""One session as operators see it: its keys read in one round trip, and put together."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from gateway_compaction.adapters.redis.codec import (
    SNAPSHOT_BYTES,
    decode_controls,
    decode_event,
    decode_rates,
    decode_record,
    decode_snapshot,
)
from gateway_compaction.adapters.redis.connection import RedisConnection
from gateway_compaction.adapters.redis.index import build_row_query
from gateway_compaction.adapters.redis.keys import RATES, build_part_query, session_keys
from gateway_compaction.adapters.redis.rows import (
    Fields,
    decode_object,
    read_number,
    read_owner,
    read_pause,
    to_session_row,
)
from gateway_compaction.adapters.redis.scripts import Command
from gateway_compaction.adapters.redis.sealing import (
    CLIENT_STATE_FIELD,
    PIN,
    REDACT_FIELD,
    open_client_state,
    open_parts,
)
from gateway_compaction.adapters.redis.transfer_checks import find_snapshot_fault, is_sound
from gateway_compaction.adapters.redis_conversations import decode_kept
from gateway_compaction.adapters.vault import Vault
from gateway_compaction.archive import Scope, SessionDetail
from gateway_compaction.core.endpoints.read import read_conversation
from gateway_compaction.core.endpoints.wire import EndpointName
from gateway_compaction.core.planning.snapshot import fill_snapshot
from gateway_compaction.core.records.call_snapshot import CallSnapshot
from gateway_compaction.core.records.compaction import Compaction, SessionRef
from gateway_compaction.core.records.exchange import KeptConversation
from gateway_compaction.core.redaction.detector import Detector
from gateway_compaction.errors import NotFound, StoreError

NO_SESSION = "There is no such session, or it is not yours to see"

# Fields of a session that ``decode_controls`` takes, in its order.
CONTROL_FIELDS = ("generation", "pins", "compact", "rebuild", "rate")

# Parts that are shown, besides the session's own fields.
DETAIL_PARTS = ("claims", "compactions", "retired", "events", "last")

# More than this is decoded on a thread: some ms during which other requests would wait.
LARGE_BYTES = 200_000


@dataclass(frozen=True, slots=True)
class _Found:
    """Answers about one session: its row, the store's time, its controls, what its client told of its work,
    the rates of keys, seconds to live, and its parts."""

    fields: Fields
    now: float
    controls: Sequence[bytes | None]
    told: bytes | None
    rates: Mapping[str, float]
    ttl: float
    stored: Mapping[str, Any]


async def fetch_fields(connection: RedisConnection, scope: Scope, session: SessionRef) -> Fields:
    """Return the row of a session that somebody may see.

    Raises:
        NotFound: there is none, or it is not in scope.
    """
    [raw] = await connection.send(build_row_query(session))
    return decode_visible_row(scope, raw)


def decode_visible_row(scope: Scope, raw: bytes) -> Fields:
    """Return a row, where it may be seen.

    Raises:
        NotFound: there is none, or it is not in scope. Nobody can tell which: that a session exists is
            nobody else's business.
    """
    fields = decode_object(raw)
    if fields is None or not scope.allows(read_owner(fields)):
        raise NotFound(NO_SESSION)
    return fields


async def fetch_detail(connection: RedisConnection, scope: Scope, session: SessionRef) -> SessionDetail:
    """Return everything of one session.

    Raises:
        NotFound: there is none, or it is not in scope.
    """
    [key] = session_keys(session, "session")
    commands: list[Command] = [
        build_row_query(session),
        ("TIME",),
        ("HMGET", key, *CONTROL_FIELDS, CLIENT_STATE_FIELD, REDACT_FIELD),
        ("PTTL", key),
        ("HGETALL", RATES),
        *(build_part_query(session, part) for part in DETAIL_PARTS),
    ]
    row, clock, (*controls, told, redact), milliseconds, rates, *answers = await connection.send(*commands)
    stored = dict(zip(DETAIL_PARTS, answers, strict=True))
    found = _Found(
        fields=decode_visible_row(scope, row),
        now=clock[0] + clock[1] / 1e6,
        controls=controls,
        told=told,
        rates=decode_rates(rates),
        ttl=milliseconds / 1000,
        stored=stored,
    )
    records = (*stored["compactions"].values(), *stored["retired"].values(), stored["last"] or b"")
    if sum(map(len, records)) > LARGE_BYTES:
        detail = await asyncio.to_thread(_build_detail, session, found, connection.vault)
    else:
        detail = _build_detail(session, found, connection.vault)
    if detail.last_call is None or not detail.last_call.exchange:
        return detail
    [kept] = await connection.send(build_part_query(session, "kept"))
    detector = decode_detector(redact)
    call = await asyncio.to_thread(
        _fill_last_call, detail.last_call, kept, session, connection.vault, detector
    )
    return replace(detail, last_call=call)


def decode_detector(raw: bytes | None) -> Detector:
    """Return what finds the secrets that a session's policy has masked."""
    return Detector.decode((raw or b"").decode("utf-8", "replace"))


def open_kept(stored: Mapping[bytes, bytes], session: SessionRef, vault: Vault) -> KeptConversation:
    """Return a kept conversation without the exchanges that cannot be opened.

    Raises:
        StoreError: one of the others cannot be read.
    """
    opened = open_parts({"kept": stored}, session, vault)["kept"]
    return decode_kept([part for pair in opened.items() for part in pair])


def _fill_last_call(
    call: CallSnapshot, stored: Mapping[bytes, bytes], session: SessionRef, vault: Vault, detector: Detector
) -> CallSnapshot:
    """Put in the messages of the last call, which stand in the kept conversation alone."""
    if sum(map(len, stored.values())) > SNAPSHOT_BYTES:
        return replace(fill_snapshot(call, None, detector), omitted=True)
    try:
        messages = _read_sent(call, open_kept(stored, session, vault))
    except StoreError:
        messages = None
    return fill_snapshot(call, messages, detector)


def _read_sent(call: CallSnapshot, kept: KeptConversation) -> Sequence[Any] | None:
    """Return the messages that a call of a kept conversation sent, as chat messages; None for none."""
    exchange = kept.exchanges.get(call.exchange)
    if exchange is None:
        return None
    endpoint = cast(EndpointName, call.endpoint or kept.form)
    items = kept.list_messages(call.exchange, exchange.start + exchange.brought)
    field = "input" if endpoint == "responses" else "messages"
    return read_conversation(endpoint, {field: items}).messages


def _build_detail(session: SessionRef, found: _Found, vault: Vault) -> SessionDetail:
    fields, now, stored = found.fields, found.now, open_parts(found.stored, session, vault)
    last, controls = stored["last"], decode_controls(found.controls)
    leases = [
        (digest.decode("utf-8", "replace"), _read_deadline(raw)) for digest, raw in stored["claims"].items()
    ]
    compactions = [decode_record(digest, raw) for digest, raw in stored["compactions"].items()]
    retired = [decode_record(_read_digest(raw), raw) for raw in stored["retired"].values()]
    return SessionDetail(
        row=to_session_row(session, fields, now),
        compactions=_sort_records(compactions),
        retired=_sort_records(retired),
        claims=tuple((digest, deadline) for digest, deadline in leases if deadline > now),
        events=tuple(event for raw in stored["events"] if (event := decode_event(raw))),
        steering=replace(controls, pins=vault.open_all(controls.pins, session, PIN)),
        bypass=read_pause(fields, "bypass", now),
        backoff=read_pause(fields, "backoff", now),
        last_call=None if last is None or find_snapshot_fault(last) else decode_snapshot(last),
        ttl=max(0.0, found.ttl),
        client_state=open_client_state(found.told, session, vault),
        key_rate=found.rates.get(str(fields.get("about:key_hash", "") or "")),
    )


def _read_digest(raw: bytes) -> bytes:
    """Return the digest that a retired record names itself: such records are kept by version."""
    record = decode_object(raw) or {}
    return str(record.get("digest", "")).encode()


def _sort_records(records: list[Compaction | None]) -> tuple[Compaction, ...]:
    """Return the records that can be shown, the newest first."""
    return tuple(sorted((r for r in records if r and is_sound(r)), key=lambda r: (-r.version, r.digest)))


def _read_deadline(lease: bytes) -> float:
    """Return the deadline of a lease ``token:deadline``, in seconds."""
    return read_number({"ms": lease.rpartition(b":")[2]}, "ms") / 1000
