"""Checks of what an exported session may hold, value by value: only what this package could have written.

An imported value is read by the request path like any other; a wrong one would otherwise fail there, call
after call, where nobody knows of the import any more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from gateway_compaction.adapters.redis.codec import (
    TEXT_CHARS,
    decode_event,
    decode_rate,
    decode_record,
    decode_snapshot,
    decode_texts,
    encode_record,
)
from gateway_compaction.adapters.redis.keys import MOST_LABELS
from gateway_compaction.adapters.redis.rows import LARGEST_NUMBER
from gateway_compaction.core.records.client_state import encode_client_state, restore_client_state
from gateway_compaction.core.records.compaction import Compaction
from gateway_compaction.core.records.exchange import Exchange
from gateway_compaction.core.records.restore_point import RestorePoint
from gateway_compaction.core.records.snapshots import NAME as SNAPSHOT_NAME
from gateway_compaction.core.records.snapshots import SnapshotBounds

# Tells whether a value can be what it is said to be.
Check = Callable[[Any], bool]

# Pins of a session, and characters of each: all of them stand in every summary message.
MOST_PINS = 20
LONGEST_PIN = 400

NO_FIELD = "there is no such field"

# Characters of a label or a reason, as many as a session keeps.
LABEL_CHARS = TEXT_CHARS

# Characters of a reason; those of summaries quote what was wrong.
REASON_CHARS = 20_000

# Characters of a model, a policy or an author.
NAME_CHARS = 1_000

# Characters of any field, before its own check: that one may be slower.
FIELD_CHARS = 100_000

# In the year 2096.
LATEST_SECOND = 4_000_000_000

# Dollars of one summary.
DEAREST = 1e9

# Lua writes longer numbers with an exponent.
LATEST_VERSION = 10**12

WHOLE = re.compile(r"0|[1-9][0-9]{0,15}")
SCORE = re.compile(r"(?:0|[1-9][0-9]{0,9})(?:\.[0-9]{1,12})?")
CONTROL_CHARACTERS = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def _check_whole(most: int, *, empty: bool = False, signed: bool = False) -> Check:
    """Build the check of a text that is a whole number, or (if ``empty``) nothing."""

    def is_whole(value: str) -> bool:
        digits = value.removeprefix("-") if signed else value
        return (empty and value == "") or (WHOLE.fullmatch(digits) is not None and int(digits) <= most)

    return is_whole


def _check_plain_text(most: int = LABEL_CHARS) -> Check:
    """Build the check of a text without control characters."""
    return lambda v: (
        isinstance(v, str) and find_text_fault(v, most) is None and not CONTROL_CHARACTERS.search(v)
    )


def _check_any_text(most: int) -> Check:
    """Build the check of a text of at most so many characters."""
    return lambda v: isinstance(v, str) and len(v) <= most


def _check_list(check: Check, most: int) -> Check:
    """Build the check of a list by that of its items."""
    return lambda v: isinstance(v, list) and len(v) <= most and all(check(item) for item in v)


def _check_json_texts(check: Check, most: int) -> Check:
    """Build the check of a list of texts that stands in a field as JSON."""

    def check_field(value: str) -> bool:
        items = _parse_json(value)
        return _check_list(check, most)(items) and list(decode_texts(value)) == items

    return check_field


def _check_optional(check: Check) -> Check:
    """Build the check of a value that may be missing."""
    return lambda v: v is None or check(v)


def _check_number(most: float) -> Check:
    """Build the check of a number from 0 to ``most``."""
    # A bool is an int to Python; NaN fulfils no comparison.
    return lambda v: type(v) in (int, float) and 0 <= v <= most


def _is_count(value: Any) -> bool:
    # A bool is an int to Python.
    return type(value) is int and 0 <= value < LARGEST_NUMBER


def _is_level(value: Any) -> bool:
    # A level line may lie below 0.
    return type(value) is int and abs(value) < LARGEST_NUMBER


def _is_label(value: Any) -> bool:
    return isinstance(value, str) and find_text_fault(value, LABEL_CHARS) is None


def _is_pin(value: Any) -> bool:
    return bool(value) and _check_plain_text(LONGEST_PIN)(value)


def _is_client_state(value: str) -> bool:
    """Tell whether it is what a client told of its work, in the form in which that is stored."""
    state = restore_client_state(value)
    return state is not None and encode_client_state(state) == value


def _is_message(value: Any) -> bool:
    return isinstance(value, dict)


def _is_message_line(value: Any) -> bool:
    """Tell whether it is a message of a snapshot: role, tokens, what became of it."""
    if not isinstance(value, list) or len(value) != 3:
        return False
    role, tokens, fate = value
    return isinstance(role, str) and _is_count(tokens) and isinstance(fate, str)


IS_MOMENT = _check_number(LATEST_SECOND)

# Fields of the session's hash: all values are texts.
FIELDS: Mapping[str, Check] = {
    **dict.fromkeys(("created", "seen"), _check_whole(LATEST_SECOND)),
    "version": _check_whole(LATEST_VERSION),
    **dict.fromkeys(("calls", "failures"), _check_whole(LARGEST_NUMBER - 1)),
    **dict.fromkeys(("saved", "would_save"), _check_whole(LARGEST_NUMBER - 1, signed=True)),
    **dict.fromkeys(
        ("tokens_before", "tokens_after", "window", "covers"), _check_whole(LARGEST_NUMBER - 1, empty=True)
    ),
    **dict.fromkeys(("model", "policy", "endpoint", "level", "outcome"), _check_plain_text()),
    **dict.fromkeys(("bypass_until", "backoff_until"), _check_whole(LATEST_SECOND * 1000)),
    **dict.fromkeys(("bypass_reason", "backoff_reason"), _check_any_text(LABEL_CHARS)),
    **dict.fromkeys(("compact", "rebuild"), ("1",).__contains__),
    "rate": lambda v: decode_rate(v) is not None,
    "labels": _check_json_texts(_is_label, MOST_LABELS),
    "pins": _check_json_texts(_is_pin, MOST_PINS),
    "told": _is_client_state,
    "snapped": _check_whole(LATEST_SECOND),
    "bounds": lambda v: SnapshotBounds.decode(v).encode() == v,
}

# Fields of ``CompactionEvent``.
EVENT: Mapping[str, Check] = {
    "type": ("request", "summary", "audit").__contains__,
    "at": IS_MOMENT,
    "reason": _check_any_text(REASON_CHARS),
    **dict.fromkeys(("outcome", "level", "model", "policy", "endpoint", "by"), _check_plain_text(NAME_CHARS)),
    **dict.fromkeys(("tokens_before", "tokens_after", "messages_before", "messages_after"), _is_count),
    **dict.fromkeys(("covers", "version", "window"), _is_count),
    "seconds": _check_number(LATEST_SECOND),
    "cost": _check_number(DEAREST),
}

# Fields of ``CallSnapshot``.
SNAPSHOT: Mapping[str, Check] = {
    "at": IS_MOMENT,
    **dict.fromkeys(("sent", "saw"), _check_list(_is_message_line, LARGEST_NUMBER)),
    **dict.fromkeys(("client", "model"), _check_optional(_check_list(_is_message, LARGEST_NUMBER))),
    "levels": _check_list(_is_level, LARGEST_NUMBER),
    **dict.fromkeys(("window", "fixed", "covers", "exchange"), _is_count),
    "version": _check_optional(_is_count),
    "cuts": _check_list(_is_count, LARGEST_NUMBER),
    "omitted": lambda v: isinstance(v, bool),
    "endpoint": _check_optional(_check_plain_text(NAME_CHARS)),
}


# Fields of a kept conversation but for its exchanges. A lease is nobody's in a copy.
KEPT_FIELDS: Mapping[str, Check] = {
    **dict.fromkeys(("v", "version", "head", "count", "size"), _check_whole(LATEST_VERSION)),
    "created": _check_whole(LATEST_SECOND),
    "begun": lambda v: SCORE.fullmatch(v) is not None,
    "form": lambda v: v in ("chat", "messages", "responses"),
}
# Bytes of a snapshot: all its parts are bounded.
LONGEST_POINT = 1_000_000
KEPT_EXCHANGE = re.compile(r"x:[1-9][0-9]{0,9}")


def find_text_fault(value: str, most: int) -> str | None:
    """Return what is wrong with a text, or None."""
    if len(value) > most:
        return f"it is longer than {most} characters"
    return "it holds half a surrogate pair" if any("\ud800" <= c <= "\udfff" for c in value) else None


def find_field_fault(name: str, value: str) -> str | None:
    """Return what is wrong with a field of a session, or None."""
    if name not in FIELDS:
        return NO_FIELD
    fault = find_text_fault(value, FIELD_CHARS)
    if fault is not None:
        return fault
    return None if FIELDS[name](value) else "its value cannot be one"


def find_score_fault(value: str) -> str | None:
    """Return what is wrong with the second at which a compaction was used, or None."""
    sound = SCORE.fullmatch(value) and float(value) <= LATEST_SECOND
    return None if sound else f"not a second between 0 and {LATEST_SECOND}"


def find_event_fault(raw: bytes) -> str | None:
    """Return what is wrong with an event, or None."""
    return _find_object_fault(raw, EVENT) or (None if decode_event(raw) else "not an event")


def find_snapshot_fault(raw: bytes) -> str | None:
    """Return what is wrong with the last call, or None."""
    return _find_object_fault(raw, SNAPSHOT) or (None if decode_snapshot(raw) else "not a call")


def decode_exact_record(raw: bytes) -> Compaction | None:
    """Return a record, or None where it is not, byte for byte, in the form that this package writes.

    The scripts find kind, parent and version of a record by patterns: another spelling of the same JSON
    would escape them.
    """
    values = _parse_json(raw)
    record = decode_record(str(values.get("digest")).encode(), raw) if isinstance(values, dict) else None
    if record is None or raw != encode_record(record) + b"%d}" % record.version:
        return None
    return record if record.version > 0 and is_sound(record) else None


def is_sound(record: Compaction) -> bool:
    """Tell whether every value of a record can be what it is said to be."""
    clip = record.clip
    counts = [
        record.covers,
        record.since,
        record.lead_tokens,
        record.version,
        record.tokens_before,
        record.tokens_after,
    ]
    counts += [n for s in record.segments for n in (s.start, s.end)]
    for one in record.records:
        counts += [one.start, one.end, one.first_turn, one.last_turn, one.original_chars, one.summary_chars]
        counts += [] if one.target_chars is None else [one.target_chars]
    counts += [] if record.limit is None else [record.limit]
    counts += [clip.until, clip.max_tokens, *clip.spare] if clip else []
    return (
        all(map(_is_count, counts))
        and IS_MOMENT(record.created_at)
        and all(IS_MOMENT(one.created_at) for one in record.records)
        and all(map(_check_optional(_check_number(1)), (record.rate, *(r.rate for r in record.records))))
        and _check_optional(_check_number(DEAREST))(record.cost)
        and _check_optional(_check_plain_text(NAME_CHARS))(record.model)
        and _check_optional(_check_plain_text(NAME_CHARS))(record.asked)
        and _check_optional(_check_plain_text(64))(record.parent)
    )


def _find_object_fault(raw: bytes, checks: Mapping[str, Check]) -> str | None:
    """Return what is wrong with a JSON object, by the checks of its members."""
    values = _parse_json(raw)
    if not isinstance(values, dict):
        return "not a JSON object"
    for name, value in values.items():
        if name not in checks:
            return f"{name[:40]!r} is not a part of it"
        try:
            sound = checks[name](value)
        except TypeError:
            sound = False
        if not sound:
            return f"its {name} cannot be one"
    return None


def _parse_json(raw: bytes | str) -> Any:
    """Return the value of a JSON text, or None; NaN and Infinity are not JSON."""
    try:
        return json.loads(raw, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


def find_kept_fault(name: bytes, value: bytes) -> str | None:
    """Return what is wrong with a field of a kept conversation, or None; a lease is nobody's elsewhere."""
    field = name.decode("utf-8", "replace")
    if KEPT_EXCHANGE.fullmatch(field):
        try:
            Exchange.decode(value.decode("utf-8", "surrogatepass"))
        except ValueError:
            return "it is no exchange that can be read"
        return None
    check = KEPT_FIELDS.get(field)
    if check is None:
        return NO_FIELD
    return None if check(value.decode("utf-8", "replace")) else "it has no such value"


def find_point_fault(name: bytes, value: bytes) -> str | None:
    """Return what is wrong with a snapshot, or None."""
    if not SNAPSHOT_NAME.fullmatch(name.decode("utf-8", "replace")):
        return NO_FIELD
    if len(value) > LONGEST_POINT:
        return f"it is longer than {LONGEST_POINT} bytes"
    try:
        point = RestorePoint.from_dict(_parse_json(value))
        value.decode()
    except ValueError:
        return "it is no snapshot that can be read"
    counts = (
        point.covers,
        point.version,
        point.messages,
        *(n for s in point.segments for n in (s.start, s.end)),
    )
    return None if IS_MOMENT(point.at) and all(map(_is_count, counts)) else "it has no such value"
