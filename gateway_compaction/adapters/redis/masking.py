"""Stored values without secrets, for documents: what comes from outside, or was stored by an earlier version.

What this version stores is masked where it is made. A value without a secret keeps its bytes.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

from gateway_compaction.adapters.redis.codec import (
    decode_event,
    decode_snapshot,
    decode_texts,
    encode_event,
    encode_record,
    encode_snapshot,
)
from gateway_compaction.adapters.redis.sealing import CLIENT_STATE_FIELD, EXCHANGE_FIELD
from gateway_compaction.adapters.redis.transfer_checks import decode_exact_record
from gateway_compaction.core.records.client_state import encode_client_state, restore_client_state
from gateway_compaction.core.records.exchange import Exchange, read_conversation_id
from gateway_compaction.core.records.restore_point import RestorePoint
from gateway_compaction.core.redaction.detector import Detector
from gateway_compaction.core.redaction.marks import mask_compaction, mask_message, mask_secrets, mask_text

# The fields of a session that hold lists of texts: what operators pinned, and ids that clients sent.
PINS, LABELS = "pins", "labels"


def mask_record(raw: bytes, detector: Detector) -> bytes:
    """Return a compaction's record without secrets."""
    record = decode_exact_record(raw)
    masked = record and mask_compaction(record, detector)
    return raw if masked is None or masked == record else encode_record(masked) + b"%d}" % masked.version


def mask_event(raw: bytes, detector: Detector) -> bytes:
    """Return an event without secrets."""
    event = decode_event(raw)
    if event is None:
        return raw
    reason = mask_text(event.reason, detector)
    # A reason is masked in the usual way whenever it is written.
    is_bare = reason == event.reason and mask_secrets(reason) == reason
    return raw if is_bare else encode_event(replace(event, reason=reason)).encode()


def mask_snapshot(raw: bytes, detector: Detector) -> bytes:
    """Return the last call without secrets."""
    call = decode_snapshot(raw)
    if call is None or (call.client is None and call.model is None):
        return raw
    client, model = (
        None if messages is None else tuple(mask_message(message, detector) for message in messages)
        for messages in (call.client, call.model)
    )
    return (
        raw
        if (client, model) == (call.client, call.model)
        else encode_snapshot(replace(call, client=client, model=model))
    )


def mask_exchange(name: bytes, raw: bytes, detector: Detector) -> bytes:
    """Return a field of a kept conversation without secrets; what is no exchange is as it was."""
    if not name.startswith(EXCHANGE_FIELD.encode()):
        return raw
    exchange = Exchange.decode(raw.decode("utf-8", "surrogatepass"))
    messages, preamble = (
        None
        if items is None
        else tuple(mask_message(m, detector) if isinstance(m, dict) else m for m in items)
        for items in (exchange.messages, exchange.preamble)
    )
    masked = replace(exchange, messages=messages or (), preamble=preamble)
    return raw if masked == exchange else masked.encode().encode("utf-8", "surrogatepass")


def mask_point(raw: bytes, detector: Detector) -> bytes:
    """Return a snapshot without secrets."""
    point = RestorePoint.from_dict(json.loads(raw))
    masked = point.map_texts(lambda text: mask_text(text, detector))
    if masked == point:
        return raw
    return json.dumps(masked.to_dict(), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def mask_field(name: str, text: str, detector: Detector) -> str:
    """Return a field of a session without secrets: pins, labels and the client's state are texts of people.

    The id of a kept conversation is ours: a pattern that matches it hides nothing, and it could not be found.
    """
    mask = partial(mask_text, detector=detector)
    if name == CLIENT_STATE_FIELD:
        told = restore_client_state(text)
        return text if told is None else encode_client_state(told.map_texts(mask))
    if name not in (PINS, LABELS) or mask(text) == text:
        return text
    return json.dumps(
        [one if read_conversation_id(one) else mask(one) for one in decode_texts(text)], ensure_ascii=False
    )
