"""How compactions, events and facts are written in Redis, and read back; and the scripts that do it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from importlib.resources import files
from math import isfinite
from typing import Any

from gateway_compaction.core.records.call_snapshot import CallSnapshot
from gateway_compaction.core.records.compaction import SCHEMA, Compaction, SessionRef
from gateway_compaction.core.records.controls import SessionControls
from gateway_compaction.core.records.event import CompactionEvent
from gateway_compaction.ports import Buffer

__all__ = [
    "BEGINNING",
    "Script",
    "exact_text",
    "milliseconds",
    "read_buffer",
    "read_controls",
    "read_event",
    "read_factors",
    "read_last",
    "read_record",
    "script",
    "session_keys",
    "short_text",
    "texts_in",
    "unversioned",
    "written_event",
    "written_last",
]


CHARS = 200
# By this the scripts tell records that can be read; to_dict puts the schema first.
BEGINNING = f'{{"v":{SCHEMA},'
EVENT_FIELDS = tuple(f.name for f in fields(CompactionEvent))
LAST_FIELDS = tuple(f.name for f in fields(CallSnapshot))
LAST_BYTES = 2_000_000
TEXT_FIELDS = frozenset({"type", "outcome", "reason", "level", "model", "policy", "by"})


@dataclass(frozen=True, slots=True)
class Script:
    """A Lua script and the hash under which a server knows it."""

    text: str
    sha: str


def script(name: str) -> Script:
    """Read ``lua/<name>.lua``, with what all scripts share before it."""
    folder = files(__package__).joinpath("lua")
    text = "".join(folder.joinpath(f"{part}.lua").read_text(encoding="utf-8") for part in ("prelude", name))
    return Script(text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest())


def session_keys(session: SessionRef, *names: str) -> list[str]:
    """Keys of a session; the hash tag keeps them in one cluster slot."""
    return [f"gwc:{{{session.session_id}}}:{name}" for name in names]


def milliseconds(seconds: float) -> int:
    """For expiry and leases, which must not be 0."""
    return max(1, round(seconds * 1000))


def short_text(text: str) -> bytes:
    """A label, reason or fact: at most 200 characters, and UTF-8 whatever the client sent."""
    return text[:CHARS].encode("utf-8", "replace")


def exact_text(text: str) -> bytes:
    """Like ``short_text``, but two texts never become one: what had to be changed ends with its hash."""
    short = short_text(text)
    if short.decode() == text:
        return short
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return short_text(text[: CHARS - 33]) + b"#" + digest.encode()


def unversioned(compaction: Compaction) -> bytes:
    """The record as JSON up to the number of its version, which the server assigns and appends.

    Nothing re-encodes the record: Lua's JSON would turn empty lists into objects and round numbers.
    """
    record = compaction.to_dict()
    del record["version"]
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return f'{text[:-1]},"version":'.encode("utf-8", "surrogatepass")


def written_event(event: CompactionEvent) -> str:
    """An event as it stands in the list."""
    return json.dumps(event.to_dict(), separators=(",", ":"))


def read_event(raw: bytes | str) -> CompactionEvent | None:
    """An event of today's or an earlier form, or None for what is none."""
    try:
        found = json.loads(raw)
        known = {name: found[name] for name in EVENT_FIELDS if name in found}
        numbers = {k: v for k, v in known.items() if k not in TEXT_FIELDS}
        texts = {k: str(v)[: 10 * CHARS] for k, v in known.items() if k in TEXT_FIELDS}
        if not all(isinstance(v, int | float) and isfinite(v) for v in numbers.values()):
            return None
        return CompactionEvent(**numbers, **texts)  # type: ignore[arg-type]
    except (ValueError, TypeError, RecursionError, ArithmeticError):
        return None


def written_last(last: CallSnapshot) -> bytes:
    """The last call as JSON; without the messages, which it says, where that would be over 2 MB."""
    for kept in (last, replace(last, client=None, model=None, omitted=True)):
        # A client's messages came as JSON; whatever else a host put into them is shown as text.
        facts = {name: getattr(kept, name) for name in LAST_FIELDS}
        text = json.dumps(facts, separators=(",", ":"), default=str).encode()
        if len(text) <= LAST_BYTES:
            return text
    return b""


def read_last(raw: bytes | None) -> CallSnapshot | None:
    """The last call, or None where none is kept or it cannot be read."""
    try:
        found = json.loads(raw or b"null")
        if not isinstance(found, dict):
            return None
        for name in ("sent", "saw"):
            found[name] = tuple((str(r), int(t), str(w)) for r, t, w in found[name])
        for name in ("client", "model"):
            found[name] = (
                None if found[name] is None else tuple(m for m in found[name] if isinstance(m, dict))
            )
        light, medium, aggressive = found["levels"]
        found |= {"levels": (int(light), int(medium), int(aggressive)), "cuts": tuple(found["cuts"])}
        return CallSnapshot(**found)
    except (ValueError, TypeError, LookupError, RecursionError):
        return None


def read_buffer(raw: Any, wanted: frozenset[str]) -> Buffer:
    """What ``load.lua`` answers; records that cannot be read or were not asked for are left out."""
    fits, leased, bypass, backoff, controls = raw
    found = [read_record(digest, value) for digest, value in zip(fits[::2], fits[1::2], strict=True)]
    return Buffer(
        compactions=tuple(record for record in found if record and record.digest in wanted),
        in_flight=wanted.intersection(digest.decode("utf-8", "replace") for digest in leased),
        bypass=bypass.decode("utf-8", "replace") or None,
        backoff=backoff.decode("utf-8", "replace") or None,
        controls=read_controls(controls),
    )


def read_controls(raw: Sequence[bytes | None]) -> SessionControls:
    """Generation, pins, and the two wishes, as they stand in a session's fields."""
    generation, pins, compact, rebuild = ((part or b"").decode("utf-8", "replace") for part in raw)
    return SessionControls(generation, texts_in(pins), bool(compact), bool(rebuild))


def texts_in(text: str) -> tuple[str, ...]:
    """A list of texts as Lua writes it; nothing of what is none."""
    try:
        found = json.loads(text or "[]")
    except (ValueError, RecursionError):
        return ()
    return tuple(t for t in found if isinstance(t, str)) if isinstance(found, list) else ()


def read_factors(raw: Mapping[bytes, bytes]) -> dict[str, float]:
    """Factors by model; what is not a positive number is left out."""
    return {name.decode("utf-8", "replace"): value for name, text in raw.items() if (value := _factor(text))}


def read_record(digest: bytes, raw: bytes) -> Compaction | None:
    """The compaction stored under a digest, or None for what cannot be read."""
    try:
        record = Compaction.from_dict(json.loads(raw))
    except (ValueError, ArithmeticError, RecursionError):
        return None
    return record if record.digest.encode("utf-8", "surrogatepass") == digest else None


def _factor(raw: bytes) -> float | None:
    try:
        value = float(raw)
    except ValueError:
        return None
    return value if isfinite(value) and value > 0 else None
