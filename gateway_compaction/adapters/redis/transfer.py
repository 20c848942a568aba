"""A session as a document of JSON types, for export, and back, for import; records keep their bytes.

A document comes from outside and is stored as if this package had written it, so every value is looked at
before any is stored (see ``transfer_checks``).
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gateway_compaction.adapters.redis.codec import TEXT_CHARS, decode_event, encode_event
from gateway_compaction.adapters.redis.keys import MOST_EVENTS
from gateway_compaction.adapters.redis.masking import (
    mask_event,
    mask_exchange,
    mask_field,
    mask_point,
    mask_record,
    mask_snapshot,
)
from gateway_compaction.adapters.redis.rows import OWNER_FIELDS
from gateway_compaction.adapters.redis.sealing import REDACT_FIELD
from gateway_compaction.adapters.redis.transfer_checks import (
    NO_FIELD,
    decode_exact_record,
    find_event_fault,
    find_field_fault,
    find_kept_fault,
    find_point_fault,
    find_score_fault,
    find_snapshot_fault,
    find_text_fault,
)
from gateway_compaction.archive import LARGEST_DOCUMENT
from gateway_compaction.core.policy.fields import LONGEST_TTL
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.core.redaction.detector import Detector
from gateway_compaction.errors import ActionRefused, InvalidDocument

# How a document names itself; another version is refused.
SCHEMA = "gateway-compaction/session"
VERSION = 1

# Compactions, and retired ones, of one document.
MOST_RECORDS = 2_000

# Exchanges, and what else there is, of one kept conversation.
MOST_EXCHANGES = 20_000

UNREADABLE = "it was changed, or cannot be read"

# Before the author and the reason of an audit event that this store knows from a document only.
IMPORTED = "imported: "

NAME = re.compile(rb"[0-9A-Za-z]{1,64}")

# A hash by which a tenant, a session or a digest is named.
Name = Annotated[str, Field(pattern=r"^[0-9A-Za-z]{1,64}$")]

# The bytes of a record: as text, or in base64 where they are not UTF-8.
RawRecord = str | dict[Literal["base64"], str]

# A version number.
Version = Annotated[str, Field(pattern=r"^[1-9][0-9]{0,14}$")]


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
    compactions: Annotated[dict[Name, RawRecord], Field(max_length=MOST_RECORDS)]
    used: Annotated[dict[Name, str], Field(max_length=MOST_RECORDS)]
    retired: Annotated[dict[Version, RawRecord], Field(max_length=MOST_RECORDS)]
    events: Annotated[list[RawRecord], Field(max_length=MOST_EVENTS)]
    last_call: RawRecord | None = None
    kept: Annotated[dict[str, RawRecord], Field(max_length=MOST_EXCHANGES)] = {}
    points: Annotated[dict[str, RawRecord], Field(max_length=MOST_RECORDS)] = {}

    @property
    def ref(self) -> SessionRef:
        """The session that the document is of."""
        return SessionRef(self.tenant, self.session)


def build_document(
    session: SessionRef, stored: Mapping[str, Any], ttl: float, detector: Detector
) -> dict[str, Any]:
    """Build the document of a session.

    Args:
        stored: the answers to ``build_part_query``, by part; "used" as alternating digests and times.
        ttl: seconds that it has left to live.
        detector: finds the secrets that are masked.

    Raises:
        ActionRefused: it is larger than 32 MB.
    """
    compactions, retired, last = stored["compactions"], stored["retired"], stored["last"]
    texts = {k.decode("utf-8", "replace"): v.decode("utf-8", "replace") for k, v in stored["session"].items()}
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "version": VERSION,
        "tenant": session.tenant,
        "session": session.key,
        "owner": {n: texts[f"about:{n}"] for n in OWNER_FIELDS if texts.get(f"about:{n}")},
        "ttl": min(LONGEST_TTL, max(0.001, ttl)),
        # What import would refuse is no part of a document: it is not to fail for one bad value.
        "fields": {k: mask_field(k, v, detector) for k, v in texts.items() if find_field_fault(k, v) is None},
        "compactions": _write_records(compactions, _read_digest, detector),
        "used": {
            digest.decode(): second
            for digest, second in _pair_scores(stored["used"])
            if NAME.fullmatch(digest) and find_score_fault(second) is None
        },
        "retired": _write_records(retired, _read_version, detector),
        "events": [
            _to_json(mask_event(v, detector)) for v in stored["events"] if find_event_fault(v) is None
        ],
        "last_call": None
        if last is None or find_snapshot_fault(last)
        else _to_json(mask_snapshot(last, detector)),
        "kept": {
            k.decode(): _to_json(mask_exchange(k, v, detector))
            for k, v in stored["kept"].items()
            if find_kept_fault(k, v) is None
        },
        "points": {
            k.decode(): _to_json(mask_point(v, detector))
            for k, v in stored["points"].items()
            if find_point_fault(k, v) is None
        },
    }
    records = [decode_exact_record(raw) for raw in (*compactions.values(), *retired.values())]
    versions = [record.version for record in records if record]
    if versions:
        # Where the number itself was evicted: import refuses records of versions yet to come.
        document["fields"]["version"] = str(max(*versions, int(document["fields"].get("version", "0"))))
    if len(json.dumps(document)) > LARGEST_DOCUMENT:
        raise ActionRefused("The session is larger than 32 MB as a document")
    return document


def _write_records(
    records: Mapping[bytes, bytes], read_name: Callable[[bytes], bytes], detector: Detector
) -> dict[str, Any]:
    """Return the records that can be imported again under their names, masked."""
    named = ((name, raw) for name, raw in records.items() if name == read_name(raw))
    return {name.decode(): _to_json(mask_record(raw, detector)) for name, raw in named}


def read_document(raw: Mapping[str, Any]) -> Document:
    """Return a document, every value of which has been looked at.

    Raises:
        InvalidDocument: it is none, or is too large; says where, and what is wrong there.
    """
    try:
        size = len(json.dumps(raw))
        if size > LARGEST_DOCUMENT:
            raise InvalidDocument("document", "it is larger than 32 MB")
        document = Document.model_validate(dict(raw))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part)[:80] for part in first["loc"])
        raise InvalidDocument(where or "document", first["msg"]) from error
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidDocument("document", "it is no JSON that can be read") from error
    for where, fault in _find_faults(document):
        if fault is not None:
            raise InvalidDocument(where, fault)
    return document


def build_import_items(
    document: Document,
    owner: Sequence[bytes],
    unproven: Mapping[str, str],
    *,
    trusted: bool,
    detector: Detector,
) -> dict[str, list[Any]]:
    """Build what is written into each part of the session, as the arguments of the part's ``write``.

    Args:
        owner: whose the session will be, as ``encode_owner`` writes it.
        unproven: what the document says of its owner and a call has yet to prove, by field.
        trusted: the document's audit events are taken as they are; else they are marked as its word.
        detector: finds the secrets that are masked, here and in what is shown of the session from now on.
    """
    events = [mask_event(_to_bytes(event), detector) for event in document.events]
    if not trusted:
        events = [_mark_imported(event) for event in events]
    fields: list[Any] = [
        part for name, text in document.fields.items() for part in (name, mask_field(name, text, detector))
    ]
    for name, value in zip(owner[::2], owner[1::2], strict=True):
        fields += [b"about:" + name, value]
    for field, text in unproven.items():
        fields += [f"said:{field}", text]
    if detector.encode():
        fields += [REDACT_FIELD, detector.encode()]
    records = document.compactions.items()
    compactions = [
        part for digest, raw in records for part in (digest, mask_record(_to_bytes(raw), detector))
    ]
    used = [part for digest, second in document.used.items() for part in (second, digest)]
    olds = document.retired.items()
    retired = [part for version, raw in olds for part in (version, mask_record(_to_bytes(raw), detector))]
    last = [] if document.last_call is None else [mask_snapshot(_to_bytes(document.last_call), detector)]
    return {
        "session": fields,
        "events": events,
        "compactions": compactions,
        "used": used,
        "retired": retired,
        "last": last,
        "kept": [
            part
            for name, raw in document.kept.items()
            for part in (name, mask_exchange(name.encode(), _to_bytes(raw), detector))
        ],
        "points": [
            part
            for name, raw in document.points.items()
            for part in (name, mask_point(_to_bytes(raw), detector))
        ],
    }


def _find_faults(document: Document) -> Iterator[tuple[str, str | None]]:
    """Yield every place that a schema cannot judge, and what is wrong there, or None."""
    for name, value in document.owner.items():
        fault = find_text_fault(value, TEXT_CHARS) if name in OWNER_FIELDS else NO_FIELD
        yield f"owner.{name[:80]}", fault
    for name, value in document.fields.items():
        yield f"fields.{name[:80]}", find_field_fault(name, value)
    newest = int(document.fields.get("version", "0"))
    for name, raw in document.compactions.items():
        yield f"compactions.{name}", _find_record_fault(raw, newest, digest=name)
    for name, raw in document.retired.items():
        yield f"retired.{name}", _find_record_fault(raw, newest, version=int(name))
    for name, value in document.used.items():
        yield f"used.{name}", find_score_fault(value)
    for number, event in enumerate(document.events):
        yield f"events.{number}", _judge(event, find_event_fault)
    if document.last_call is not None:
        yield "last_call", _judge(document.last_call, find_snapshot_fault)
    for name, raw in document.kept.items():
        yield f"kept.{name[:80]}", _judge(raw, partial(find_kept_fault, name.encode("utf-8", "replace")))
    for name, raw in document.points.items():
        yield f"points.{name[:80]}", _judge(raw, partial(find_point_fault, name.encode("utf-8", "replace")))


def _judge(raw: RawRecord, find_fault: Callable[[bytes], str | None]) -> str | None:
    """Return what is wrong with the bytes of a record, or that there are none."""
    try:
        return find_fault(_to_bytes(raw))
    except (ValueError, LookupError):
        return UNREADABLE


def _find_record_fault(raw: RawRecord, newest: int, *, digest: str = "", version: int = 0) -> str | None:
    """Return what is wrong with a record, or None: it must be one that this store could have written."""

    def find_fault(text: bytes) -> str | None:
        record = decode_exact_record(text)
        if record is None or record.digest != (digest or record.digest):
            return UNREADABLE
        if record.version != (version or record.version):
            return f"it is version {record.version}"
        return f"version {record.version} is yet to come" if record.version > newest else None

    return _judge(raw, find_fault)


def _mark_imported(raw: bytes) -> bytes:
    """Return an event; an audit event so marked that nobody takes it for one that this store has seen."""
    event = decode_event(raw)
    if event is None or event.type != "audit":
        return raw
    by, reason = (IMPORTED + text.removeprefix(IMPORTED) for text in (event.by or "unknown", event.reason))
    return encode_event(replace(event, by=by, reason=reason)).encode()


def _read_digest(raw: bytes) -> bytes:
    """Return the digest under which a record in use is kept; empty where it cannot be imported again."""
    record = decode_exact_record(raw)
    name = record.digest.encode("utf-8", "replace") if record else b""
    return name if NAME.fullmatch(name) else b""


def _read_version(raw: bytes) -> bytes:
    """Return the version under which a retired record is kept; empty where it cannot be imported again."""
    record = decode_exact_record(raw)
    return b"%d" % record.version if record and _read_digest(raw) else b""


def _pair_scores(used: Sequence[bytes]) -> Iterator[tuple[bytes, str]]:
    return ((name, second.decode()) for name, second in zip(used[::2], used[1::2], strict=True))


def _to_json(value: bytes) -> str | dict[str, str]:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode()}


def _to_bytes(value: RawRecord) -> bytes:
    if isinstance(value, str):
        return value.encode()
    return base64.b64decode(value["base64"], validate=True)
