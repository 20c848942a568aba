"""Records, events and texts as bytes in Redis, and back.

What is stored outlives an upgrade and may have been cut, evicted or edited by hand: whatever is decoded here
may be unreadable, and then counts as absent instead of failing a request.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from math import isfinite
from typing import Any

from gateway_compaction.core.records.call_snapshot import CallSnapshot
from gateway_compaction.core.records.compaction import SCHEMA, Compaction
from gateway_compaction.core.records.controls import LEAST_RATE, MOST_RATE, SessionControls
from gateway_compaction.core.records.event import CompactionEvent
from gateway_compaction.core.records.restore_point import RestoredBlock
from gateway_compaction.core.redaction.marks import mask_secrets
from gateway_compaction.core.tokens.windows import LearnedWindow
from gateway_compaction.ports import Buffer

# Most characters of a label, a reason or a name; clients choose them.
TEXT_CHARS = 200

# The beginning of every record of the present schema, by which the scripts recognise it without parsing JSON;
# ``Compaction.to_dict`` puts the schema first.
RECORD_PREFIX = f'{{"v":{SCHEMA},'

# Characters of the hash that ends a text which had to be changed.
HASH_CHARS = 32

# Most characters of a text in an event; a summary's reason quotes what was wrong with an answer.
EVENT_TEXT_CHARS = 2_000

# A snapshot larger than this is kept without its messages; it is read and sent with every session detail.
SNAPSHOT_BYTES = 2_000_000

EVENT_FIELDS = tuple(f.name for f in fields(CompactionEvent))
SNAPSHOT_FIELDS = tuple(f.name for f in fields(CallSnapshot))

# Fields of an event that are texts; all others are numbers.
TEXT_FIELDS = frozenset({"type", "outcome", "reason", "level", "model", "policy", "endpoint", "by"})


def to_milliseconds(seconds: float) -> int:
    """Return a time to live or a lease in ms, at least 1: Redis refuses 0."""
    return max(1, round(seconds * 1000))


def encode_text(text: str) -> bytes:
    """Return a label, a reason or a name, cut to 200 characters; UTF-8 even for lone surrogates."""
    return text[:TEXT_CHARS].encode("utf-8", "replace")


def encode_exact_text(text: str) -> bytes:
    """Return a text of at most 200 characters that no other text is written as.

    Two owners whose long ids begin alike must not become one, or each would see the other's sessions: a text
    that had to be changed ends with its hash.
    """
    short = encode_text(text)
    if short.decode() == text:
        return short
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_CHARS]
    # The cut text, "#" and the hash are as long together as the longest text.
    return encode_text(text[: TEXT_CHARS - HASH_CHARS - 1]) + b"#" + digest.encode()


def decode_texts(text: str) -> tuple[str, ...]:
    """Return the texts of a list that Lua wrote as JSON; what is no text is left out."""
    try:
        items = json.loads(text or "[]")
    except (ValueError, RecursionError):
        return ()
    return tuple(item for item in items if isinstance(item, str)) if isinstance(items, list) else ()


def encode_record(compaction: Compaction) -> bytes:
    """Return a compaction as JSON up to the number of its version, which ``put.lua`` assigns and appends.

    Nothing re-encodes the record: Lua's JSON would turn empty lists into objects and round numbers.
    """
    record = compaction.to_dict()
    del record["version"]
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return f'{text[:-1]},"version":'.encode("utf-8", "surrogatepass")


def decode_record(digest: bytes, raw: bytes) -> Compaction | None:
    """Return the compaction stored under a digest; None where it cannot be read or bears another one."""
    try:
        record = Compaction.from_dict(json.loads(raw))
    except (ValueError, ArithmeticError, RecursionError):
        return None
    return record if record.digest.encode("utf-8", "surrogatepass") == digest else None


def encode_event(event: CompactionEvent) -> str:
    """Return an event as JSON, as it stands in the session's list; a reason may quote what failed."""
    masked = replace(event, reason=mask_secrets(event.reason))
    return json.dumps(masked.to_dict(), separators=(",", ":"))


def decode_event(raw: bytes | str) -> CompactionEvent | None:
    """Return an event of today's or an earlier form, or None where it cannot be read."""
    try:
        document = json.loads(raw)
        values = {name: document[name] for name in EVENT_FIELDS if name in document}
        numbers = {k: v for k, v in values.items() if k not in TEXT_FIELDS}
        texts = {k: str(v)[:EVENT_TEXT_CHARS] for k, v in values.items() if k in TEXT_FIELDS}
        if not all(isinstance(v, int | float) and isfinite(v) for v in numbers.values()):
            return None
        return CompactionEvent(**numbers, **texts)  # type: ignore[arg-type]
    except (ValueError, TypeError, RecursionError, ArithmeticError):
        return None


def encode_snapshot(snapshot: CallSnapshot) -> bytes:
    """Return the last call as JSON; without its messages, and saying so, where that would be over 2 MB."""
    for version in (snapshot, replace(snapshot, client=None, model=None, omitted=True)):
        values = {name: getattr(version, name) for name in SNAPSHOT_FIELDS}
        # A client's messages came as JSON; whatever else a host put into them is shown as text.
        text = json.dumps(values, separators=(",", ":"), default=str).encode()
        if len(text) <= SNAPSHOT_BYTES:
            return text
    return b""


def decode_snapshot(raw: bytes | None) -> CallSnapshot | None:
    """Return the last call, or None where none is kept or it cannot be read."""
    try:
        values = json.loads(raw or b"null")
        if not isinstance(values, dict):
            return None
        for name in ("sent", "saw"):
            values[name] = tuple((str(r), int(t), str(w)) for r, t, w in values[name])
        for name in ("client", "model"):
            if values[name] is not None:
                values[name] = tuple(m for m in values[name] if isinstance(m, dict))
        light, medium, aggressive = values["levels"]
        values |= {"levels": (int(light), int(medium), int(aggressive)), "cuts": tuple(values["cuts"])}
        return CallSnapshot(**values)
    except (ValueError, TypeError, LookupError, RecursionError):
        return None


def encode_restored(block: RestoredBlock) -> bytes:
    """Return a restored block as JSON."""
    return json.dumps(asdict(block), ensure_ascii=False).encode("utf-8", "replace")


def decode_restored(raw: bytes | None) -> RestoredBlock | None:
    """Return a restored block, or None where there is none or it cannot be read."""
    try:
        values = json.loads(raw or b"null")
        session, source, text = (str(values[name]) for name in ("session", "source", "text"))
        return RestoredBlock(session, source, text, float(values.get("made_at", 0.0)))
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return None


def decode_buffer(raw: Any, digests: frozenset[str]) -> Buffer:
    """Return the answer of ``read_session.lua``, but for its last two parts.

    Records that cannot be read are left out, and so are those whose digest is not one of ``digests``: the
    script compares only the first 16 characters, or nothing.
    """
    fits, leased, bypass, backoff, controls = raw
    found = zip(fits[::2], fits[1::2], strict=True)
    wanted = {digest.encode() for digest in digests}
    records = [decode_record(digest, value) for digest, value in found if digest in wanted]
    return Buffer(
        compactions=tuple(record for record in records if record and record.digest in digests),
        in_flight=digests.intersection(digest.decode("utf-8", "replace") for digest in leased),
        bypass=bypass.decode("utf-8", "replace") or None,
        backoff=backoff.decode("utf-8", "replace") or None,
        controls=decode_controls(controls),
    )


def decode_controls(raw: Sequence[bytes | None]) -> SessionControls:
    """Return the controls of a session from its fields: generation, pins, compact, rebuild and rate."""
    generation, pins, compact, rebuild, rate = ((part or b"").decode("utf-8", "replace") for part in raw)
    return SessionControls(generation, decode_texts(pins), bool(compact), bool(rebuild), decode_rate(rate))


def encode_rate(rate: float | None) -> str:
    """Return the rate that an operator set for a session, as it is stored; empty for none."""
    return "" if rate is None else f"{rate:g}"


def decode_rate(text: str) -> float | None:
    """Return that rate; None where there is none, or none that an operator can set."""
    try:
        rate = float(text)
    except ValueError:
        return None
    return rate if LEAST_RATE <= rate <= MOST_RATE and encode_rate(rate) == text else None


def decode_rates(raw: Mapping[bytes, bytes]) -> dict[str, float]:
    """Return the rates of keys by their hashes; what no operator can set is left out."""
    texts = {key.decode("utf-8", "replace"): text.decode("utf-8", "replace") for key, text in raw.items()}
    return {key: rate for key, text in texts.items() if (rate := decode_rate(text)) is not None}


def decode_factors(raw: Mapping[bytes, bytes]) -> dict[str, float]:
    """Return calibration factors by model; what is not a positive number is left out."""
    factors = {}
    for model, text in raw.items():
        factor = _decode_factor(text)
        if factor is not None:
            factors[model.decode("utf-8", "replace")] = factor
    return factors


def decode_counts(raw: Mapping[bytes, bytes]) -> dict[str, int]:
    """Return counts by name; what is no positive whole number is left out."""
    numbers = {name.decode("utf-8", "replace"): count for name, count in raw.items() if count.isdigit()}
    return {name: int(count) for name, count in numbers.items() if int(count)}


def encode_window(learned: LearnedWindow) -> bytes:
    """Return what was learned of a deployment's window as JSON."""
    return json.dumps(asdict(learned), ensure_ascii=False).encode("utf-8", "replace")


def decode_windows(raw: Mapping[bytes, bytes]) -> dict[str, LearnedWindow]:
    """Return learnt windows by deployment; what cannot be read is left out."""
    found = {name.decode("utf-8", "replace"): _decode_window(text) for name, text in raw.items()}
    return {name: learned for name, learned in found.items() if learned is not None}


def _decode_window(raw: bytes) -> LearnedWindow | None:
    try:
        values = json.loads(raw)
        told, passed, refused, declared = (
            _to_tokens(values.get(name)) for name in ("told", "passed", "refused", "declared")
        )
        at = tuple(float(moment) for moment in values["at"])
        model = str(values.get("model") or "")
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return None
    return (
        LearnedWindow(told, passed, refused, at[:2], model, declared)
        if at and all(map(isfinite, at))
        else None
    )


def _to_tokens(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def decode_scores(members: Sequence[bytes]) -> dict[str, float]:
    """Return the members of a sorted set with their scores, from an answer to ``WITHSCORES``."""
    return {
        name.decode("utf-8", "replace"): float(score)
        for name, score in zip(members[::2], members[1::2], strict=True)
    }


def _decode_factor(raw: bytes) -> float | None:
    try:
        value = float(raw)
    except ValueError:
        return None
    return value if isfinite(value) and value > 0 else None
