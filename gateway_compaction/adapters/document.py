"""A session as a document of JSON types, and back; records keep their bytes."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gateway_compaction.adapters.indexing import OWNER_FIELDS
from gateway_compaction.adapters.records import read_event, read_last, read_record, texts_in, unversioned
from gateway_compaction.adapters.rows import read_row
from gateway_compaction.core.compaction import Compaction, SessionRef
from gateway_compaction.errors import Refused

__all__ = ["LONGEST_PIN", "MOST_PINS", "Document", "arguments", "exported", "read_document"]

SCHEMA, VERSION = "gateway-compaction/session", 1
MOST_BYTES, MOST_RECORDS, MOST_EVENTS = 32_000_000, 2_000, 200
MOST_PINS, LONGEST_PIN = 20, 400
LONGEST_LIFE = 400 * 86_400
# What a store gives anew: they would let a copy pass for the session it was made of.
OWN = ("v", "begun", "generation", "fence", "unused", "view")

Name = Annotated[str, Field(pattern=r"^[0-9A-Za-z]{1,64}$")]
Raw = str | dict[Literal["base64"], str]
Whole = Annotated[str, Field(pattern=r"^[0-9]{1,15}$")]


class Document(BaseModel):
    """An exported session. Records are texts, or base64 where they are not UTF-8."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    kind: Literal["gateway-compaction/session"] = Field(alias="schema")
    version: Literal[1]
    tenant: Name
    session: Name
    owner: dict[Literal["team_id", "team", "user_id", "key_hash", "key_alias", "end_user"], str]
    ttl: Annotated[float, Field(gt=0, le=LONGEST_LIFE)]
    fields: dict[Annotated[str, Field(pattern=r"^[a-z_]{1,40}$")], Annotated[str, Field(max_length=100_000)]]
    compactions: Annotated[dict[Name, Raw], Field(max_length=MOST_RECORDS)]
    used: Annotated[dict[Name, Annotated[str, Field(pattern=r"^[0-9.e+]{1,30}$")]], Field(max_length=2_000)]
    retired: Annotated[dict[Whole, Raw], Field(max_length=MOST_RECORDS)]
    events: Annotated[list[Raw], Field(max_length=MOST_EVENTS)]
    last_call: Raw | None = None

    @property
    def ref(self) -> SessionRef:
        """The session's name."""
        return SessionRef(self.tenant, self.session)


def exported(session: SessionRef, found: Sequence[Any]) -> dict[str, Any]:
    """The document of a session.

    ``found`` holds what Redis has of it: fields, compactions, used (with times), retired, events, last call,
    life in ms.

    Raises:
        Refused: it is larger than 32 MB.
    """
    fields, compactions, used, retired, events, last, ttl = found
    texts = {k.decode(): v.decode("utf-8", "replace") for k, v in fields.items()}
    document = {
        "schema": SCHEMA,
        "version": VERSION,
        "tenant": session.tenant,
        "session": session.key,
        "owner": {n: texts[f"about:{n}"] for n in OWNER_FIELDS if texts.get(f"about:{n}")},
        "ttl": max(0.001, ttl / 1000),
        "fields": {k: v for k, v in texts.items() if k not in OWN and ":" not in k},
        "compactions": {k.decode(): _raw(v) for k, v in compactions.items() if read_record(k, v)},
        "used": {d.decode(): s.decode() for d, s in zip(used[::2], used[1::2], strict=True)},
        "retired": {k.decode(): _raw(v) for k, v in retired.items() if _record(v)},
        "events": [_raw(v) for v in events if read_event(v)],
        "last_call": None if read_last(last) is None else _raw(last),
    }
    if len(json.dumps(document)) > MOST_BYTES:
        raise Refused("The session is larger than 32 MB as a document")
    return document


def read_document(raw: Mapping[str, Any]) -> Document:
    """A document, looked through.

    Raises:
        Refused: it is none, is too large, or holds a record that cannot be read.
    """
    try:
        document = Document.model_validate(dict(raw))
        size = len(json.dumps(raw))
        sound = _is_sound(document)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise Refused(f"Not an exported session: {where or 'document'}: {first['msg']}") from error
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise Refused("Not an exported session: a record cannot be read") from error
    if size > MOST_BYTES:
        raise Refused("The document is larger than 32 MB")
    if not sound:
        raise Refused("Not an exported session: a record in it was changed or cannot be read")
    return document


def arguments(document: Document, facts: Sequence[bytes]) -> list[Any]:
    """What ``import.lua`` takes behind TTL and event."""
    fields: list[Any] = [part for pair in document.fields.items() for part in pair]
    names = zip(facts[::2], facts[1::2], strict=True)
    fields += [part for name, value in names for part in (b"about:" + name, value)]
    compactions = [part for name, raw in document.compactions.items() for part in (name, _bytes(raw))]
    used = [part for name, second in document.used.items() for part in (second, name)]
    retired = [part for version, raw in document.retired.items() for part in (version, _bytes(raw))]
    lists = (fields, [_bytes(e) for e in document.events], compactions, used, retired)
    last = b"" if document.last_call is None else _bytes(document.last_call)
    return [last, *(part for each in lists for part in (len(each), *each))]


def _is_sound(document: Document) -> bool:
    """Whether every record is one that this store could have written, and no version is yet to come."""
    records = {name: _record(_bytes(raw)) for name, raw in document.compactions.items()}
    retired = {version: _record(_bytes(raw)) for version, raw in document.retired.items()}
    pins = texts_in(document.fields.get("pins", ""))
    newest = int(document.fields.get("version", "0"))
    return (
        all(r is not None and r.digest == name for name, r in records.items())
        and all(r is not None and r.version == int(version) for version, r in retired.items())
        and all(r.version <= newest for r in (*records.values(), *retired.values()) if r)
        and all(read_event(_bytes(event)) for event in document.events)
        and (document.last_call is None or read_last(_bytes(document.last_call)) is not None)
        and len(pins) <= MOST_PINS
        and all(len(pin) <= LONGEST_PIN for pin in pins)
    )


def _record(raw: bytes) -> Compaction | None:
    """A record in exactly the form in which the scripts expect it."""
    found = read_row(raw) or {}
    record = read_record(str(found.get("digest", "")).encode(), raw)
    return record if record and raw == unversioned(record) + b"%d}" % record.version else None


def _raw(value: bytes) -> str | dict[str, str]:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode()}


def _bytes(value: Raw) -> bytes:
    if isinstance(value, str):
        return value.encode()
    return base64.b64decode(value["base64"], validate=True)
