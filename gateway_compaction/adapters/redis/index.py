"""Commands that keep the indexes: lists of sessions and tenants, hourly counts, and notices to all processes.

Every ``build_…`` function returns commands and sends nothing; ``RedisConnection.send`` takes them. A command
touches one cluster slot, which is why indexing a call takes several.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gateway_compaction.adapters.redis.codec import encode_exact_text, encode_text, to_milliseconds
from gateway_compaction.adapters.redis.keys import (
    FORGOTTEN,
    REQUESTED,
    RESTORING,
    SESSION_PARTS,
    TENANTS,
    hours_key,
    label_key,
    owner_key,
    session_keys,
    tenant_key,
)
from gateway_compaction.adapters.redis.rows import OWNER_FIELDS, decode_object, read_number
from gateway_compaction.adapters.redis.scripts import Command, load_script
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.core.records.event import CompactionEvent
from gateway_compaction.core.records.savings import Savings

DAY_SECONDS = 86_400.0

# Seconds after which an index drops a member that was not seen, or the session's own life, if that is longer.
MEMBER_SECONDS = 30 * DAY_SECONDS

# Hours that are counted and kept, and models that are told apart within one; the rest is "others".
MOST_HOURS = 192
MOST_MODELS = 50

# Sessions of a label, and members of every other index.
MOST_LABELLED = 100
MOST_INDEXED = 10_000

# Rows checked for expiry, at random, with each write to a tenant's list.
EXPIRY_SAMPLE = 8

# Seconds that an erasure, or versions taken back, stay announced; every process polls within a few seconds.
FORGOTTEN_SECONDS = 600.0
# Fields of a hash that all replicas share: models, deployments, problems of policies, keys with a rate.
MOST_FIELDS = 10_000

ROW = load_script("row")
TENANT = load_script("tenant")
INDEX = load_script("index")
HOURS = load_script("hours")
DROP = load_script("drop")
NOTICE = load_script("notice")
KEEP_FIELD = load_script("field")


@dataclass(frozen=True, slots=True)
class IndexedCall:
    """The part of a call by which its session is found and counted.

    Attributes:
        labels: ids that the client sent, as ``encode_text`` writes them.
        owner: whose the call is, as ``encode_owner`` writes it; empty where that is not known.
        counts: amounts that the call adds to its hour, by name (see ``count_event``).
        model: the model that it is counted under.
    """

    labels: Sequence[bytes] = ()
    owner: Sequence[bytes] = ()
    counts: Mapping[str, float] = field(default_factory=dict)
    model: str = "unknown"


def encode_owner(owner: Mapping[str, str] | None) -> list[bytes]:
    """Return an owner as alternating names and values, the empty ones too; nothing where nobody is known."""
    if not owner:
        return []
    return [part for name in OWNER_FIELDS for part in (name.encode(), encode_exact_text(owner.get(name, "")))]


def to_session_fields(event: CompactionEvent, savings: Savings | None = None) -> tuple[list[Any], list[Any]]:
    """Return what a session keeps of an event: fields to set and fields to count up.

    Both are alternating names and values, and empty unless the event is a request. ``savings`` as in
    ``ports.CallRecord``.
    """
    if event.type != "request":
        return [], []
    latest = {
        "model": event.model,
        "policy": event.policy,
        "endpoint": event.endpoint,
        "level": event.level,
        "outcome": event.outcome,
        "tokens_before": event.tokens_before,
        "tokens_after": event.tokens_after,
        "window": event.window,
        "covers": event.covers,
    }
    to_set: list[Any] = []
    for name, value in latest.items():
        to_set += [name, encode_text("" if value is None else str(value))]
    to_count: list[Any] = ["calls", 1]
    counted = _count_saved(event, savings)
    for name in ("saved", "would_save"):
        to_count += [name, counted[name]]
    return to_set, to_count


def count_event(
    event: CompactionEvent, view: str | None, broken: bool, savings: Savings | None = None
) -> dict[str, float]:
    """Return what an event adds to its hour, by the names of ``archive.Hour``.

    Args:
        view: what stood for the beginning of the conversation; None or ``raw`` where nothing did.
        broken: the provider's cache broke, as ``append.lua`` found.
        savings: as in ``ports.CallRecord``.
    """
    if event.type == "summary":
        made = event.outcome == "made"
        return {"summaries": int(made), "failures": int(not made), "cost": event.cost or 0.0}
    if event.type != "request":
        return {}
    return {
        "requests": 1,
        "rewritten": int(bool(view) and view != "raw"),
        "tokens_before": event.tokens_before,
        "tokens_after": event.tokens_before if event.outcome == "observed" else event.tokens_after,
        "breaks": int(broken),
        **_count_saved(event, savings),
    }


def read_seconds_left(row: bytes) -> float:
    """Return the seconds that a session had left to live when its row was written."""
    fields = decode_object(row) or {}
    return max(0.001, read_number(fields, "expires") - read_number(fields, "rev"))


def build_row_query(session: SessionRef) -> Command:
    """Build the question for a session's row; the answer is empty where there is no session."""
    return ROW.build_call(session_keys(session, "session", "claims"))


def build_listing(session: SessionRef, row: bytes, ttl: float, owner: Sequence[bytes] = ()) -> list[Command]:
    """Build what puts a row into its tenant's list, and the tenant into the list of tenants."""
    life = _build_life(ttl)
    lists = [tenant_key(session.tenant, part) for part in ("sessions", "rows", "about")]
    return [
        TENANT.build_call(lists, session.key, row, *life, MOST_INDEXED, EXPIRY_SAMPLE, *owner),
        INDEX.build_call([TENANTS], session.tenant, *life, MOST_INDEXED),
    ]


def build_indexing(session: SessionRef, row: bytes, ttl: float, call: IndexedCall) -> list[Command]:
    """Build everything by which a session is found and counted after a call.

    Args:
        row: the session's row as the call left it; empty where there is no session.
        ttl: seconds that the session has to live.
    """
    life = _build_life(ttl)
    commands = build_listing(session, row, ttl, call.owner) if row else []
    commands += [
        INDEX.build_call([key], session.tenant, *life, MOST_INDEXED) for key in _find_owner_keys(call.owner)
    ]
    if call.labels:
        keys = [label_key(session.tenant, label) for label in call.labels]
        commands.append(INDEX.build_call(keys, session.key, *life, MOST_LABELLED))
    if any(call.counts.values()):
        keys = [tenant_key(session.tenant, "hours"), *_find_key_hours(session, row, call.owner)]
        amounts = [part for name, amount in call.counts.items() if amount for part in (name, amount)]
        limits = [to_milliseconds(MOST_HOURS * 3600.0), MOST_HOURS, MOST_MODELS]
        commands.append(HOURS.build_call(keys, *limits, encode_text(call.model), *amounts))
    if b'"compact":' in row or b'"rebuild":' in row:
        commands.append(build_request_notice(session, ttl))
    return commands


def build_request_notice(session: SessionRef, ttl: float) -> Command:
    """Build what lets every process know that an operator wants something of a session, for ``ttl`` s.

    Without it a small conversation would never ask the store, and so never learn of it.
    """
    return NOTICE.build_call([REQUESTED], to_milliseconds(ttl), "until", session.session_id)


def build_restoring_notice(tenant: str, ttl: float) -> Command:
    """Build what lets every process look for restored conversations of a tenant."""
    return NOTICE.build_call([RESTORING], to_milliseconds(ttl), "until", tenant)


def build_field_write(key: str, field: Any, value: Any, seconds: float, how: str = "set") -> Command:
    """Build the write of a field in a hash that all replicas share; its answer is 0 where there is no room.

    Args:
        how: ``set``, or ``add`` to a number.
    """
    return KEEP_FIELD.build_call([key], how, field, value, to_milliseconds(seconds), MOST_FIELDS)


def build_erasure_notice(name: str) -> Command:
    """Build what lets every process know that a session, or a whole tenant, was erased.

    Without it their memories would go on using what was to be forgotten.
    """
    return NOTICE.build_call([FORGOTTEN], to_milliseconds(FORGOTTEN_SECONDS), "at", name)


def build_erasure_query(session: SessionRef) -> Command:
    """Build the question when a session, and when its whole tenant, was erased lately."""
    return ("ZMSCORE", FORGOTTEN, session.session_id, session.tenant)


def build_erasure(session: SessionRef) -> list[Command]:
    """Build what erases a session and its places in the indexes.

    The second answer is how many sessions are left in its tenant's list. Labels have to be searched for.
    """
    return [
        ("UNLINK", *session_keys(session, *SESSION_PARTS)),
        build_unlisting(session),
        ("ZREM", REQUESTED, session.session_id),
    ]


def build_unlisting(session: SessionRef) -> Command:
    """Build what takes a session out of its tenant's list; the answer is how many are left there."""
    return DROP.build_call([tenant_key(session.tenant, part) for part in ("sessions", "rows")], session.key)


def build_tenant_removal(tenant: str, owner: Sequence[bytes] = ()) -> list[Command]:
    """Build what takes a tenant without sessions out of all lists; its counts stay, nameless."""
    return [
        ("ZREM", TENANTS, tenant),
        ("UNLINK", tenant_key(tenant, "about")),
        *(("ZREM", key, tenant) for key in _find_owner_keys(owner)),
    ]


def _build_life(ttl: float) -> list[int]:
    """Return time to live in ms and the age in s at which members are forgotten, as the scripts take them."""
    return [to_milliseconds(ttl), int(max(ttl, MEMBER_SECONDS))]


def _count_saved(event: CompactionEvent, savings: Savings | None) -> dict[str, int]:
    """Return the tokens that were not sent, or in observe would not have been, and how they are priced."""
    found = savings or Savings(event.tokens_before - event.tokens_after)
    would, nothing = event.outcome == "observed", Savings()
    return _name_savings("saved", nothing if would else found) | _name_savings(
        "would_save", found if would else nothing
    )


def _name_savings(name: str, savings: Savings) -> dict[str, int]:
    return {
        name: savings.tokens,
        f"{name}_cached": savings.cached,
        f"{name}_written": savings.written,
    }


def _find_owner_keys(owner: Sequence[bytes]) -> list[str]:
    """Return the keys of those by whom a tenant is looked for: its team, else its user; and its API key."""
    facts = {name.decode(): value.decode() for name, value in zip(owner[::2], owner[1::2], strict=True)}
    names = {"team": facts.get("team_id", ""), "key": facts.get("key_hash", "")}
    names["user"] = "" if names["team"] else facts.get("user_id", "")
    return [owner_key(kind, name) for kind, name in names.items() if name]


def _find_key_hours(session: SessionRef, row: bytes, owner: Sequence[bytes]) -> list[str]:
    """Return the key of the counts of the API key that called, in a team; other tenants have one key."""
    fields = decode_object(row) or {}
    called = dict(zip(owner[::2], owner[1::2], strict=True)).get(b"key_hash", b"").decode()
    key_hash = called or str(fields.get("about:key_hash", ""))
    return [hours_key(session.tenant, key_hash)] if key_hash and fields.get("about:team_id") else []
