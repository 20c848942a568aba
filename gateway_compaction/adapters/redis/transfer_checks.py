"""What an exported session may hold, value by value: only what this package could have written itself."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from gateway_compaction.adapters.redis.codec import read_event, read_last, read_record, texts_in, unversioned
from gateway_compaction.core.records.compaction import Compaction

__all__ = [
    "LONGEST_PIN",
    "MOST_PINS",
    "NO_FIELD",
    "event_fault",
    "field_fault",
    "is_sound",
    "last_fault",
    "record_in",
    "score_fault",
    "text_fault",
]

Check = Callable[[Any], bool]
MOST_PINS, LONGEST_PIN = 20, 400
NO_FIELD = "there is no such field"
MOST_LABELS, LABEL_CHARS, REASON_CHARS = 8, 200, 20_000
LATEST_SECOND, LARGEST, DEAREST = 4_000_000_000, 2**53, 1e9
WHOLE = re.compile(r"0|[1-9][0-9]{0,15}")
SCORE = re.compile(r"(?:0|[1-9][0-9]{0,9})(?:\.[0-9]{1,12})?")
CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def _whole(most: int, *, empty: bool = False) -> Check:
    return lambda v: (empty and v == "") or (WHOLE.fullmatch(v) is not None and int(v) <= most)


def _plain(most: int = LABEL_CHARS) -> Check:
    return lambda v: isinstance(v, str) and text_fault(v, most) is None and not CONTROLS.search(v)


def _loose(most: int) -> Check:
    return lambda v: isinstance(v, str) and len(v) <= most


def _list_of(one: Check, most: int) -> Check:
    return lambda v: isinstance(v, list) and len(v) <= most and all(one(item) for item in v)


def _texts(one: Check, most: int) -> Check:
    def check(value: str) -> bool:
        listed = _read(value)
        return _list_of(one, most)(listed) and list(texts_in(value)) == listed

    return check


def _or_none(one: Check) -> Check:
    return lambda v: v is None or one(v)


def _count(value: Any) -> bool:
    # A bool is an int to Python.
    return type(value) is int and 0 <= value < LARGEST


def _number(most: float) -> Check:
    # Neither holds for what is no number.
    return lambda v: type(v) in (int, float) and 0 <= v <= most


def _seen(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 3 and _count(value[1]) and _words(value[0], value[2])


def _words(*values: Any) -> bool:
    return all(isinstance(v, str) for v in values)


MOMENT, AMOUNT, ONE = _number(LATEST_SECOND), _whole(LARGEST - 1), ("1",).__contains__
DEADLINE, REASON = _whole(LATEST_SECOND * 1000), _loose(LABEL_CHARS)
FIELDS: Mapping[str, Check] = {
    **dict.fromkeys(("created", "seen"), _whole(LATEST_SECOND)),
    # Lua writes longer numbers with an exponent.
    "version": _whole(10**12),
    **dict.fromkeys(("calls", "saved", "would_save", "failures"), AMOUNT),
    **dict.fromkeys(("tokens_before", "tokens_after", "window", "covers"), _whole(LARGEST - 1, empty=True)),
    **dict.fromkeys(("model", "policy", "level", "outcome"), _plain()),
    **dict.fromkeys(("bypass_until", "backoff_until"), DEADLINE),
    **dict.fromkeys(("bypass_reason", "backoff_reason"), REASON),
    **dict.fromkeys(("compact", "rebuild"), ONE),
    "labels": _texts(lambda v: isinstance(v, str) and text_fault(v, LABEL_CHARS) is None, MOST_LABELS),
    "pins": _texts(lambda v: bool(v) and _plain(LONGEST_PIN)(v), MOST_PINS),
}
EVENT: Mapping[str, Check] = {
    "type": ("request", "summary", "audit").__contains__,
    "at": MOMENT,
    "reason": _loose(REASON_CHARS),
    **dict.fromkeys(("outcome", "level", "model", "policy", "by"), _plain(1_000)),
    **dict.fromkeys(("tokens_before", "tokens_after", "messages_before", "messages_after"), _count),
    **dict.fromkeys(("covers", "version", "window"), _count),
    "seconds": _number(LATEST_SECOND),
    "cost": _number(DEAREST),
}
MESSAGES = _or_none(lambda v: isinstance(v, list) and all(isinstance(m, dict) for m in v))
LAST: Mapping[str, Check] = {
    "at": MOMENT,
    **dict.fromkeys(("sent", "saw"), _list_of(_seen, LARGEST)),
    **dict.fromkeys(("client", "model"), MESSAGES),
    "levels": lambda v: isinstance(v, list) and all(type(n) is int and abs(n) < LARGEST for n in v),
    **dict.fromkeys(("window", "fixed", "covers"), _count),
    "version": _or_none(_count),
    "cuts": _list_of(_count, LARGEST),
    "omitted": lambda v: isinstance(v, bool),
}


def text_fault(value: str, most: int) -> str | None:
    """What is wrong with a text, or None."""
    if len(value) > most:
        return f"it is longer than {most} characters"
    return "it holds half a surrogate pair" if any("\ud800" <= c <= "\udfff" for c in value) else None


def field_fault(name: str, value: str) -> str | None:
    """What is wrong with a field of a session, or None."""
    if name not in FIELDS:
        return NO_FIELD
    return text_fault(value, 100_000) or (None if FIELDS[name](value) else "its value cannot be one")


def score_fault(value: str) -> str | None:
    """What is wrong with the second at which a compaction was used, or None."""
    sound = SCORE.fullmatch(value) and float(value) <= LATEST_SECOND
    return None if sound else f"not a second between 0 and {LATEST_SECOND}"


def event_fault(raw: bytes) -> str | None:
    """What is wrong with an event, or None."""
    return _object_fault(raw, EVENT) or (None if read_event(raw) else "not an event")


def last_fault(raw: bytes) -> str | None:
    """What is wrong with the last call, or None."""
    return _object_fault(raw, LAST) or (None if read_last(raw) else "not a call")


def record_in(raw: bytes) -> Compaction | None:
    """A record in exactly the form in which the scripts expect it, or None."""
    found = _read(raw)
    record = read_record(str(found.get("digest")).encode(), raw) if isinstance(found, dict) else None
    if record is None or raw != unversioned(record) + b"%d}" % record.version:
        return None
    return record if record.version > 0 and is_sound(record) else None


def is_sound(record: Compaction) -> bool:
    """Whether every value of a record can be what it is said to be."""
    clip = record.clip
    counts = [record.covers, record.since, record.version, record.tokens_before, record.tokens_after]
    counts += [n for s in record.segments for n in (s.start, s.end)]
    counts += [] if record.limit is None else [record.limit]
    counts += [clip.until, clip.max_tokens, *clip.spare] if clip else []
    sound = all(map(_count, counts)) and MOMENT(record.created_at)
    sound = sound and _or_none(_number(DEAREST))(record.cost) and _or_none(_plain(1_000))(record.model)
    return sound and _or_none(_plain(64))(record.parent)


def _object_fault(raw: bytes, checks: Mapping[str, Check]) -> str | None:
    found = _read(raw)
    if not isinstance(found, dict):
        return "not a JSON object"
    for name, value in found.items():
        if name not in checks:
            return f"{name[:40]!r} is not a part of it"
        try:
            sound = checks[name](value)
        except TypeError:
            sound = False
        if not sound:
            return f"its {name} cannot be one"
    return None


def _read(raw: bytes | str) -> Any:
    """JSON, or None; numbers that are none are not JSON."""
    try:
        return json.loads(raw, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return None


def _no_number(name: str) -> Any:
    raise ValueError(name)
