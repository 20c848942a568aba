"""The values of a session that hold text, sealed on their way into Redis and opened on their way out of it.

These are records of compactions (their texts), the last call (all of it) and pins. A sealed record names its
key behind its schema, so that scripts and ``doctor`` can tell with which it was sealed without opening it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gateway_compaction.adapters.redis.codec import (
    RECORD_PREFIX,
    decode_buffer,
    decode_event,
    decode_texts,
    encode_event,
    encode_record,
)
from gateway_compaction.adapters.vault import SEALED, Vault
from gateway_compaction.core.records.client_state import (
    ClientState,
    encode_client_state,
    restore_client_state,
)
from gateway_compaction.core.records.compaction import Compaction, SessionRef
from gateway_compaction.core.records.event import CompactionEvent
from gateway_compaction.core.records.restore_point import RestorePoint
from gateway_compaction.ports import Buffer

# Places of texts that a session has one or a list of.
PIN, LAST_CALL, EXCHANGE = "pin", "last call", "exchange"
# The place of a text that a tenant has by a name.
RESTORED = "restored"
# The field of a session that holds what its client told of its work, and the place of that text.
CLIENT_STATE_FIELD, CLIENT_STATE = "told", "client state"
# The field of a session that holds the bounds of its snapshots, and the place of a snapshot.
BOUNDS_FIELD, POINT = "bounds", "snapshot"
# The field of a session that tells which secrets its policy masks. It holds an operator's patterns, which run
# over every text that is shown: so it is no part of a document, which anybody may have written.
REDACT_FIELD = "redact"
# How the fields of exchanges begin in a kept conversation; the number stands behind it.
EXCHANGE_FIELD = "x:"
# Fields of a session that hold its pins and why something failed, and the parts of it that hold records.
PINS = "pins"
REASONS = ("backoff_reason", "bypass_reason")
RECORD_PARTS = ("compactions", "retired")
_MARK = SEALED.encode()


def find_record_prefix(vault: Vault) -> str:
    """Return how a record begins that this process writes; scripts look past those that nobody can read."""
    return f'{RECORD_PREFIX}"sealed":"{vault.key_names[0]}",' if vault.is_sealing else RECORD_PREFIX


def encode_sealed_record(compaction: Compaction, session: SessionRef, vault: Vault) -> bytes:
    """Return a compaction as ``encode_record`` does, with its texts sealed where there is a key."""
    plain, prefix = encode_record(vault.seal_record(compaction, session)), find_record_prefix(vault)
    return prefix.encode() + plain.removeprefix(RECORD_PREFIX.encode())


def open_record(raw: bytes, session: SessionRef, vault: Vault) -> bytes | None:
    """Return a stored record in clear, to the byte as it was before it was sealed; None where that fails."""
    if _MARK not in raw:
        return raw
    try:
        stored = Compaction.from_dict(json.loads(raw))
    except (ValueError, ArithmeticError, RecursionError):
        return None
    opened = vault.open_record(stored, session)
    return None if opened is None else encode_record(opened) + b"%d}" % opened.version


def seal_snapshot(raw: bytes, session: SessionRef, vault: Vault) -> bytes:
    """Return the encoded last call as it is stored."""
    return vault.seal(raw.decode(), session, LAST_CALL).encode() if raw else raw


def open_snapshot(raw: bytes | None, session: SessionRef, vault: Vault) -> bytes | None:
    """Return the last call in clear; None where there is none or it cannot be opened."""
    if raw is None or not raw.startswith(_MARK):
        return raw
    text = vault.open(raw.decode("utf-8", "replace"), session, LAST_CALL)
    return None if text is None else text.encode()


def seal_exchange(raw: bytes, session: SessionRef, vault: Vault) -> bytes:
    """Return the encoded exchange of a kept conversation as it is stored."""
    if not vault.is_sealing:
        return raw
    return vault.seal(raw.decode("utf-8", "surrogatepass"), session, EXCHANGE).encode()


def open_exchange(raw: bytes, session: SessionRef, vault: Vault) -> bytes | None:
    """Return a field of a kept conversation in clear; None for an exchange that cannot be opened."""
    if not raw.startswith(_MARK):
        return raw
    text = vault.open(raw.decode("utf-8", "replace"), session, EXCHANGE)
    return None if text is None else text.encode("utf-8", "surrogatepass")


def seal_restored(raw: bytes, tenant: str, name: str, vault: Vault) -> bytes:
    """Return the encoded block that a conversation begins with as it is stored under a name."""
    return vault.seal(raw.decode(), SessionRef(tenant, name), RESTORED).encode()


def open_restored(raw: bytes | None, tenant: str, name: str, vault: Vault) -> bytes | None:
    """Return such a block in clear; None where there is none or it cannot be opened."""
    if raw is None or not raw.startswith(_MARK):
        return raw
    text = vault.open(raw.decode("utf-8", "replace"), SessionRef(tenant, name), RESTORED)
    return None if text is None else text.encode()


def seal_client_state(state: ClientState | None, session: SessionRef, vault: Vault) -> str:
    """Return what a client told of its work as it is stored; empty for nothing."""
    if state is None:
        return ""
    text = encode_client_state(state).encode("utf-8", "replace").decode()
    return vault.seal(text, session, CLIENT_STATE)


def open_client_state(raw: bytes | None, session: SessionRef, vault: Vault) -> ClientState | None:
    """Return what a client told of its work; None where it told nothing, or it cannot be opened or read."""
    text = (raw or b"").decode("utf-8", "replace")
    opened = vault.open(text, session, CLIENT_STATE) if text.startswith(SEALED) else text
    return restore_client_state(opened) if opened else None


def seal_point(point: RestorePoint, session: SessionRef, vault: Vault) -> str:
    """Return a snapshot as it is stored."""
    text = json.dumps(point.to_dict(), ensure_ascii=False, separators=(",", ":"))
    return vault.seal(text.encode("utf-8", "replace").decode(), session, POINT)


def open_point(raw: bytes | None, session: SessionRef, vault: Vault) -> RestorePoint | None:
    """Return a snapshot of a session; None where there is none, or it cannot be opened or read."""
    opened = _open_text(raw, session, vault)
    try:
        point = RestorePoint.from_dict(json.loads(opened or "null"))
    except (ValueError, RecursionError):
        return None
    # Of which session it is, its key tells.
    return replace(point, session=session.session_id)


def _open_text(raw: bytes | None, session: SessionRef, vault: Vault) -> str | None:
    text = (raw or b"").decode("utf-8", "replace")
    return vault.open(text, session, POINT) if text.startswith(SEALED) else text


def decode_session(answer: Any, session: SessionRef, digests: frozenset[str], vault: Vault) -> Buffer:
    """Return the answer of ``read_session.lua`` as what a request with these digests can use of a session."""
    *plain, told, snapped = answer
    return replace(
        open_buffer(decode_buffer(plain, digests), session, vault),
        client_state=open_client_state(told, session, vault),
        snapped_at=float(snapped) if snapped.isdigit() else 0.0,
    )


def open_buffer(buffer: Buffer, session: SessionRef, vault: Vault) -> Buffer:
    """Return what a request loaded, with its texts in clear and without those that cannot be opened."""
    opened = (vault.open_record(one, session) for one in buffer.compactions)
    pins = vault.open_all(buffer.controls.pins, session, PIN)
    return replace(
        buffer,
        compactions=tuple(one for one in opened if one is not None),
        controls=replace(buffer.controls, pins=pins),
    )


def open_parts(stored: Mapping[str, Any], session: SessionRef, vault: Vault) -> dict[str, Any]:
    """Return the parts of a session, as ``build_part_query`` reads them, in clear."""
    parts = dict(stored)
    for part in RECORD_PARTS:
        if part in parts:
            opened = {name: open_record(raw, session, vault) for name, raw in parts[part].items()}
            parts[part] = {name: raw for name, raw in opened.items() if raw is not None}
    parts["last"] = open_snapshot(parts.get("last"), session, vault)
    if "kept" in parts:
        opened = {name: open_exchange(raw, session, vault) for name, raw in parts["kept"].items()}
        parts["kept"] = {name: raw for name, raw in opened.items() if raw is not None}
    if "points" in parts:
        texts = {name: _open_text(raw, session, vault) for name, raw in parts["points"].items()}
        parts["points"] = {name: text.encode() for name, text in texts.items() if text is not None}
    fields = parts.get("session", {})
    if _MARK in fields.get(CLIENT_STATE_FIELD.encode(), b""):
        told = open_client_state(fields[CLIENT_STATE_FIELD.encode()], session, vault)
        fields = {**fields, CLIENT_STATE_FIELD.encode(): encode_client_state(told).encode() if told else b""}
        parts["session"] = fields
    raw = fields.get(PINS.encode(), b"")
    if _MARK in raw:
        text = raw.decode("utf-8", "replace")
        pins = _write_pins(vault.open_all(decode_texts(text), session, PIN))
        parts["session"] = {**parts["session"], PINS.encode(): pins.encode()}
    return parts


def seal_items(
    items: Mapping[str, Sequence[Any]], session: SessionRef, vault: Vault
) -> dict[str, Sequence[Any]]:
    """Return what an import writes into each part of a session, sealed where there is a key."""
    if not vault.is_sealing:
        return dict(items)
    sealed = dict(items)
    for part in RECORD_PARTS:
        names, raws = items[part][::2], items[part][1::2]
        records = [_seal_raw(raw, session, vault) for raw in raws]
        sealed[part] = [value for pair in zip(names, records, strict=True) for value in pair]
    sealed["last"] = [seal_snapshot(raw, session, vault) for raw in items["last"]]
    sealed["kept"] = [
        seal_exchange(value, session, vault)
        if at % 2 and items["kept"][at - 1].startswith(EXCHANGE_FIELD)
        else value
        for at, value in enumerate(items["kept"])
    ]
    points = items["points"]
    sealed["points"] = [vault.seal(v.decode(), session, POINT) if i % 2 else v for i, v in enumerate(points)]
    fields = list(items["session"])
    for at in range(0, len(fields), 2):
        if fields[at] in REASONS:
            fields[at + 1] = vault.conceal_reason(fields[at + 1])
        if fields[at] == CLIENT_STATE_FIELD:
            fields[at + 1] = vault.seal(fields[at + 1], session, CLIENT_STATE)
        if fields[at] == PINS:
            fields[at + 1] = _write_pins([vault.seal(p, session, PIN) for p in decode_texts(fields[at + 1])])
    sealed["session"] = fields
    sealed["events"] = [_conceal_event(raw, vault) for raw in items["events"]]
    return sealed


def conceal_failure(event: CompactionEvent, vault: Vault) -> CompactionEvent:
    """Return an event as it is stored: without what a provider's error may repeat, where texts are sealed."""
    is_failure = event.type == "summary" and event.outcome == "failed"
    return replace(event, reason=vault.conceal_reason(event.reason)) if is_failure else event


def _conceal_event(raw: bytes, vault: Vault) -> bytes:
    event = decode_event(raw)
    concealed = event and conceal_failure(event, vault)
    return raw if concealed is None or concealed == event else encode_event(concealed).encode()


def _seal_raw(raw: bytes, session: SessionRef, vault: Vault) -> bytes:
    record = Compaction.from_dict(json.loads(raw))
    return encode_sealed_record(record, session, vault) + b"%d}" % record.version


def _write_pins(pins: Sequence[str]) -> str:
    return json.dumps(list(pins), ensure_ascii=False)
