"""By what sessions are found and counted: the commands that keep the indexes, by names and scripts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gateway_compaction.adapters.redis.codec import exact_text, milliseconds, script, session_keys, short_text
from gateway_compaction.adapters.redis.rows import OWNER_FIELDS, number_in, read_row
from gateway_compaction.core.conversation.digest import fingerprint
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.core.records.event import CompactionEvent

__all__ = [
    "FORGOTTEN",
    "FORGOTTEN_SECONDS",
    "MOST_HOURS",
    "PARTS",
    "REQUESTED",
    "TENANTS",
    "VOIDED",
    "Command",
    "by_second",
    "counted",
    "dropping",
    "forgetting",
    "hours_key",
    "indexing",
    "label_key",
    "latest",
    "life_of",
    "listing",
    "noted",
    "owner_facts",
    "owner_key",
    "row_of_now",
    "tenant_key",
    "unlisting",
    "vacating",
    "wishing",
]


Command = tuple[Any, ...]
DAY = 86_400.0
# So many hours are kept, and so many models of each.
MOST_HOURS, MODELS = 192, 50
LABELLED, INDEXED, LOOKED_AT = 100, 10_000, 8
FORGOTTEN, FORGOTTEN_SECONDS = "gwc:forgotten", 600.0
REQUESTED, VOIDED, TENANTS = "gwc:wishes", "gwc:voided", "gwc:tenants"
# All keys of a session.
PARTS = ("session", "claims", "events", "compactions", "used", "retired", "last")
ROW, TENANT, INDEX = (script(name) for name in ("row", "tenant", "index"))
HOURLY, DROP, NOTICE = (script(name) for name in ("hours", "drop", "notice"))


def by_second(members: Sequence[bytes]) -> dict[str, float]:
    """Names with their scores, as Redis tells them."""
    return {
        name.decode("utf-8", "replace"): float(at)
        for name, at in zip(members[::2], members[1::2], strict=True)
    }


def tenant_key(tenant: str, name: str) -> str:
    """A key of a tenant's own; all of them share a cluster slot."""
    return f"gwc:{{{tenant}}}:{name}"


def label_key(tenant: str, label: str | bytes) -> str:
    """Which sessions of a tenant had a label."""
    raw = short_text(label) if isinstance(label, str) else label
    return tenant_key(tenant, f"label:{hashlib.sha256(raw).hexdigest()[:32]}")


def owner_key(kind: str, name: str) -> str:
    """Which tenants have sessions of a team, a user or a key."""
    return f"gwc:owner:{fingerprint('owner', kind, exact_text(name).decode())}"


def hours_key(tenant: str, key_hash: str) -> str:
    """The hours of one key of a tenant that has several."""
    return tenant_key(tenant, f"hours:{fingerprint('hours', key_hash)}")


def owner_facts(about: Mapping[str, str] | None) -> list[bytes]:
    """Fields and values of an owner, the empty ones too; nothing where nothing is known."""
    if not about:
        return []
    return [part for name in OWNER_FIELDS for part in (name.encode(), exact_text(about.get(name, "")))]


def latest(event: CompactionEvent) -> tuple[list[Any], list[Any]]:
    """What of an event is kept in the session: fields to set, and fields to count up."""
    if event.type != "request":
        return [], []
    shown = {
        "model": event.model,
        "policy": event.policy,
        "level": event.level,
        "outcome": event.outcome,
        "tokens_before": event.tokens_before,
        "tokens_after": event.tokens_after,
        "window": event.window,
        "covers": event.covers,
    }
    spared = _spared(event)
    fields = [p for k, v in shown.items() for p in (k, short_text("" if v is None else str(v)))]
    return fields, ["calls", 1, *(p for pair in spared.items() for p in pair)]


def counted(event: CompactionEvent, view: str | None, broken: bool) -> dict[str, float]:
    """What an event adds to its hour."""
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
        **_spared(event),
    }


def _spared(event: CompactionEvent) -> dict[str, int]:
    spared = max(0, event.tokens_before - event.tokens_after)
    observed = event.outcome == "observed"
    return {"saved": 0 if observed else spared, "would_save": spared if observed else 0}


def listing(session: SessionRef, row: bytes, ttl: float, facts: Sequence[bytes] = ()) -> list[Command]:
    """Put a row into its tenant's list, and the tenant into the list of tenants."""
    life = [milliseconds(ttl), int(max(ttl, 30 * DAY))]
    tenant = [tenant_key(session.tenant, name) for name in ("sessions", "rows", "about")]
    return [
        ("EVAL", TENANT, 3, *tenant, session.key, row, *life, INDEXED, LOOKED_AT, *facts),
        ("EVAL", INDEX, 1, TENANTS, session.tenant, *life, INDEXED),
    ]


def row_of_now(session: SessionRef) -> Command:
    """Ask for a session's row; the answer is empty where there is no session."""
    return ("EVAL", ROW, 2, *session_keys(session, "session", "claims"))


def life_of(row: bytes) -> float:
    """Seconds that a session had left when its row was written."""
    known = read_row(row) or {}
    return max(0.001, number_in(known, "expires") - number_in(known, "rev"))


def indexing(
    session: SessionRef,
    row: bytes,
    ttl: float,
    *,
    labels: Sequence[bytes],
    facts: Sequence[bytes],
    counts: Mapping[str, float],
    model: str,
) -> list[Command]:
    """Everything by which a session is found and counted after an event."""
    life = [milliseconds(ttl), int(max(ttl, 30 * DAY))]
    commands = listing(session, row, ttl, facts) if row else []
    commands += [
        ("EVAL", INDEX, 1, owner_key(kind, name), session.tenant, *life, INDEXED)
        for kind, name in _owners(facts)
    ]
    if labels:
        names = [label_key(session.tenant, label) for label in labels]
        commands.append(("EVAL", INDEX, len(names), *names, session.key, *life, LABELLED))
    if any(counts.values()):
        keys = [tenant_key(session.tenant, "hours"), *_key_hours(session, row, facts)]
        amounts = [part for name, amount in counts.items() if amount for part in (name, amount)]
        kept = [milliseconds(MOST_HOURS * 3600.0), MOST_HOURS, MODELS]
        commands.append(("EVAL", HOURLY, len(keys), *keys, *kept, short_text(model), *amounts))
    if b'"compact":' in row or b'"rebuild":' in row:
        commands += wishing(session, ttl)
    return commands


def wishing(session: SessionRef, ttl: float) -> list[Command]:
    """Let every process know that an operator wants something of a session."""
    return [("EVAL", NOTICE, 1, REQUESTED, milliseconds(ttl), "until", session.session_id)]


def forgetting(name: str) -> Command:
    """Let every process know that a session, or a whole tenant, was erased."""
    return ("EVAL", NOTICE, 1, FORGOTTEN, milliseconds(FORGOTTEN_SECONDS), "at", name)


def noted(session: SessionRef) -> Command:
    """Ask when a session, and when its whole tenant, was erased lately."""
    return ("ZMSCORE", FORGOTTEN, session.session_id, session.tenant)


def dropping(session: SessionRef, labels: Iterable[str] = ()) -> list[Command]:
    """Erase a session, and take it out of its tenant's list (the second answer is how many are left there),
    of the wishes, and of what has a label; ``labels`` are the names of their keys."""
    return [
        ("UNLINK", *session_keys(session, *PARTS)),
        unlisting(session),
        ("ZREM", REQUESTED, session.session_id),
        *(("ZREM", key, session.key) for key in labels),
    ]


def unlisting(session: SessionRef) -> Command:
    """Take a session out of its tenant's list; the answer is how many are left there."""
    keys = [tenant_key(session.tenant, name) for name in ("sessions", "rows")]
    return ("EVAL", DROP, len(keys), *keys, session.key)


def vacating(tenant: str, facts: Sequence[bytes] = ()) -> list[Command]:
    """Take a tenant without sessions out of everything by which it is found; its counts stay, nameless."""
    return [
        ("ZREM", TENANTS, tenant),
        ("UNLINK", tenant_key(tenant, "about")),
        *(("ZREM", owner_key(kind, name), tenant) for kind, name in _owners(facts)),
    ]


def _owners(facts: Sequence[bytes]) -> list[tuple[str, str]]:
    """By whom sessions of a tenant are looked for."""
    known = {name.decode(): value.decode() for name, value in zip(facts[::2], facts[1::2], strict=True)}
    who = {"team": known.get("team_id", ""), "key": known.get("key_hash", "")}
    who["user"] = "" if who["team"] else known.get("user_id", "")
    return [(kind, name) for kind, name in who.items() if name]


def _key_hours(session: SessionRef, row: bytes, facts: Sequence[bytes]) -> list[str]:
    known = read_row(row) or {}
    called = dict(zip(facts[::2], facts[1::2], strict=True)).get(b"key_hash", b"").decode()
    key_hash = called or str(known.get("about:key_hash", ""))
    return [hours_key(session.tenant, key_hash)] if key_hash and known.get("about:team_id") else []
