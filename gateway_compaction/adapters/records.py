"""How compactions, events and facts are written in Redis, and read back; and the scripts that do it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from importlib.resources import files
from math import isfinite
from typing import Any

from gateway_compaction.core.compaction import SCHEMA, Compaction, SessionRef
from gateway_compaction.ports import Buffer

__all__ = [
    "BEGINNING",
    "Script",
    "milliseconds",
    "read_buffer",
    "read_factors",
    "script",
    "session_keys",
    "short_text",
    "unversioned",
]

CHARS = 200
# By this the scripts tell records that can be read; to_dict puts the schema first.
BEGINNING = f'{{"v":{SCHEMA},'


@dataclass(frozen=True, slots=True)
class Script:
    """A Lua script and the hash under which a server knows it."""

    text: str
    sha: str


def script(name: str) -> Script:
    """Read ``lua/<name>.lua``."""
    text = files(__package__).joinpath("lua", f"{name}.lua").read_text(encoding="utf-8")
    return Script(text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest())


def session_keys(session: SessionRef, *names: str) -> list[str]:
    """Keys of a session; the hash tag keeps them in one cluster slot."""
    return [f"gwc:{{{session.slot}}}:{name}" for name in names]


def milliseconds(seconds: float) -> int:
    """For expiry and leases, which must not be 0."""
    return max(1, round(seconds * 1000))


def short_text(text: str) -> bytes:
    """A label, reason or fact: at most 200 characters, and UTF-8 whatever the client sent."""
    return text[:CHARS].encode("utf-8", "replace")


def unversioned(compaction: Compaction) -> bytes:
    """The record as JSON up to the number of its version, which the server assigns and appends.

    Nothing re-encodes the record: Lua's JSON would turn empty lists into objects and round numbers.
    """
    record = compaction.to_dict()
    del record["version"]
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return f'{text[:-1]},"version":'.encode("utf-8", "surrogatepass")


def read_buffer(raw: Any, wanted: frozenset[str]) -> Buffer:
    """What ``load.lua`` answers; records that cannot be read or were not asked for are left out."""
    fits, leased, bypass, backoff, unused = raw
    found = [_record(digest, value) for digest, value in zip(fits[::2], fits[1::2], strict=True)]
    return Buffer(
        compactions=tuple(record for record in found if record and record.digest in wanted),
        in_flight=wanted.intersection(digest.decode() for digest in leased),
        bypass=bypass.decode("utf-8", "replace") or None,
        backoff=backoff.decode("utf-8", "replace") or None,
        unused=int(unused) if unused.isdigit() else 0,
    )


def read_factors(raw: dict[bytes, bytes]) -> dict[str, float]:
    """Factors by model; what is not a positive number is left out."""
    return {name.decode(): value for name, text in raw.items() if (value := _factor(text))}


def _record(digest: bytes, raw: bytes) -> Compaction | None:
    try:
        record = Compaction.from_dict(json.loads(raw))
    except (ValueError, ArithmeticError, RecursionError):
        return None
    return record if record.digest == digest.decode() else None


def _factor(raw: bytes) -> float | None:
    try:
        value = float(raw)
    except ValueError:
        return None
    return value if isfinite(value) and value > 0 else None
