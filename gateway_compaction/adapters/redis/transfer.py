"""A session as a document of JSON types, and back; records keep their bytes."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gateway_compaction.adapters.redis.codec import CHARS, read_event, written_event
from gateway_compaction.adapters.redis.rows import OWNER_FIELDS
from gateway_compaction.adapters.redis.transfer_checks import (
    LONGEST_PIN,
    MOST_PINS,
    NO_FIELD,
    event_fault,
    field_fault,
    last_fault,
    record_in,
    score_fault,
    text_fault,
)
from gateway_compaction.core.policy.fields import LONGEST_TTL
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.errors import BadDocument, Refused

__all__ = ["LONGEST_PIN", "MOST_PINS", "Document", "arguments", "exported", "read_document"]

SCHEMA, VERSION = "gateway-compaction/session", 1
MOST_BYTES, MOST_RECORDS, MOST_EVENTS = 32_000_000, 2_000, 200
UNREADABLE = "it was changed, or cannot be read"
IMPORTED = "imported: "
NAME = re.compile(rb"[0-9A-Za-z]{1,64}")

Name = Annotated[str, Field(pattern=r"^[0-9A-Za-z]{1,64}$")]
Raw = str | dict[Literal["base64"], str]
Whole = Annotated[str, Field(pattern=r"^[1-9][0-9]{0,14}$")]


class Document(BaseModel):
    """An exported session. Records are texts, or base64 where they are not UTF-8."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, populate_by_name=False)

    kind: Literal["gateway-compaction/session"] = Field(alias="schema")
    version: Annotated[int, Field(ge=VERSION, le=VERSION)]
    tenant: Name
    session: Name
    owner: dict[str, str]
    ttl: Annotated[float, Field(gt=0, le=LONGEST_TTL)]
    fields: dict[str, str]
    compactions: Annotated[dict[Name, Raw], Field(max_length=MOST_RECORDS)]
    used: Annotated[dict[Name, str], Field(max_length=MOST_RECORDS)]
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
    texts = {k.decode("utf-8", "replace"): v.decode("utf-8", "replace") for k, v in fields.items()}
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "version": VERSION,
        "tenant": session.tenant,
        "session": session.key,
        "owner": {n: texts[f"about:{n}"] for n in OWNER_FIELDS if texts.get(f"about:{n}")},
        "ttl": min(LONGEST_TTL, max(0.001, ttl / 1000)),
        # What import would refuse is no part of a document: it is not to fail for one bad value.
        "fields": {k: v for k, v in texts.items() if field_fault(k, v) is None},
        "compactions": {k.decode(): _raw(v) for k, v in compactions.items() if k == _names(v)[0]},
        "used": {d.decode(): s for d, s in _scores(used) if NAME.fullmatch(d) and score_fault(s) is None},
        "retired": {k.decode(): _raw(v) for k, v in retired.items() if k == _names(v)[1]},
        "events": [_raw(v) for v in events if event_fault(v) is None],
        "last_call": None if last is None or last_fault(last) else _raw(last),
    }
    versions = [r.version for raw in (*compactions.values(), *retired.values()) if (r := record_in(raw))]
    if versions:
        document["fields"]["version"] = str(max(*versions, int(document["fields"].get("version", "0"))))
    if len(json.dumps(document)) > MOST_BYTES:
        raise Refused("The session is larger than 32 MB as a document")
    return document


def read_document(raw: Mapping[str, Any]) -> Document:
    """A document, every value of it looked at before any is stored.

    Raises:
        BadDocument: it is none, or is too large; says where, and what is wrong there.
    """
    try:
        size = len(json.dumps(raw))
        if size > MOST_BYTES:
            raise BadDocument("document", "it is larger than 32 MB")
        document = Document.model_validate(dict(raw))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part)[:80] for part in first["loc"])
        raise BadDocument(where or "document", first["msg"]) from error
    except (ValueError, TypeError, RecursionError) as error:
        raise BadDocument("document", "it is no JSON that can be read") from error
    for where, fault in _faults(document):
        if fault is not None:
            raise BadDocument(where, fault)
    return document


def arguments(
    document: Document, facts: Sequence[bytes], said: Mapping[str, str], *, trusted: bool
) -> list[Any]:
    """What ``import.lua`` takes behind TTL and event; what audit events say is the document's word.

    ``said`` is what the document says of its owner and a call has yet to prove.
    """
    events = [_bytes(event) if trusted else _marked(_bytes(event)) for event in document.events]
    fields: list[Any] = [part for pair in document.fields.items() for part in pair]
    names = zip(facts[::2], facts[1::2], strict=True)
    fields += [part for name, value in names for part in (b"about:" + name, value)]
    fields += [part for name, value in said.items() for part in (f"said:{name}", value)]
    compactions = [part for name, raw in document.compactions.items() for part in (name, _bytes(raw))]
    used = [part for name, second in document.used.items() for part in (second, name)]
    retired = [part for version, raw in document.retired.items() for part in (version, _bytes(raw))]
    lists = (fields, events, compactions, used, retired)
    last = b"" if document.last_call is None else _bytes(document.last_call)
    return [last, *(part for each in lists for part in (len(each), *each))]


def _faults(document: Document) -> Iterator[tuple[str, str | None]]:
    """Every place that a schema cannot judge, and what is wrong there."""
    for who, value in document.owner.items():
        yield f"owner.{who[:80]}", text_fault(value, CHARS) if who in OWNER_FIELDS else NO_FIELD
    for name, value in document.fields.items():
        yield f"fields.{name[:80]}", field_fault(name, value)
    newest = int(document.fields.get("version", "0"))
    for name, raw in document.compactions.items():
        yield f"compactions.{name}", _record_fault(raw, newest, digest=name)
    for name, raw in document.retired.items():
        yield f"retired.{name}", _record_fault(raw, newest, version=int(name))
    for name, value in document.used.items():
        yield f"used.{name}", score_fault(value)
    for number, event in enumerate(document.events):
        yield f"events.{number}", _fault(event, event_fault)
    if document.last_call is not None:
        yield "last_call", _fault(document.last_call, last_fault)


def _fault(raw: Raw, judge: Callable[[bytes], str | None]) -> str | None:
    try:
        return judge(_bytes(raw))
    except (ValueError, LookupError):
        return UNREADABLE


def _record_fault(raw: Raw, newest: int, *, digest: str = "", version: int = 0) -> str | None:
    """What is wrong with a record: only what this store could have written is none the worse."""

    def judge(text: bytes) -> str | None:
        record = record_in(text)
        if record is None or record.digest != (digest or record.digest):
            return UNREADABLE
        if record.version != (version or record.version):
            return f"it is version {record.version}"
        return f"version {record.version} is yet to come" if record.version > newest else None

    return _fault(raw, judge)


def _marked(raw: bytes) -> bytes:
    """An audit event of a document, told from those that this store has seen itself."""
    event = read_event(raw)
    if event is None or event.type != "audit":
        return raw
    by, reason = (IMPORTED + text.removeprefix(IMPORTED) for text in (event.by or "unknown", event.reason))
    return written_event(replace(event, by=by, reason=reason)).encode()


def _names(raw: bytes) -> tuple[bytes, bytes]:
    """Under which a record is kept while it is in use, and when it is taken back; empty for what is none."""
    record = record_in(raw)
    name = record.digest.encode("utf-8", "replace") if record else b""
    return (name, b"%d" % record.version) if record and NAME.fullmatch(name) else (b"", b"")


def _scores(used: Sequence[bytes]) -> Iterator[tuple[bytes, str]]:
    return ((name, second.decode()) for name, second in zip(used[::2], used[1::2], strict=True))


def _raw(value: bytes) -> str | dict[str, str]:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode()}


def _bytes(value: Raw) -> bytes:
    if isinstance(value, str):
        return value.encode()
    return base64.b64decode(value["base64"], validate=True)
