"""Counts by hour, owner and model, read from what every event adds to its hour."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence

from gateway_compaction.adapters.redis.connection import RedisConnection
from gateway_compaction.adapters.redis.index import MOST_HOURS
from gateway_compaction.adapters.redis.keys import hours_key, tenant_key
from gateway_compaction.adapters.redis.rows import OWNER_FIELDS, decode_object, read_number, read_owner
from gateway_compaction.archive import Hour, Owner, Scope

# Tenants read in one round trip, so that neither Redis nor the event loop is blocked for long.
TENANTS_AT_ONCE = 50

# Fields of ``archive.Hour`` that are whole numbers.
SAVED_COUNTS = ("saved", "saved_cached", "saved_written")
WOULD_COUNTS = ("would_save", "would_save_cached", "would_save_written")
TOKEN_COUNTS = ("tokens_before", "tokens_after", *SAVED_COUNTS, *WOULD_COUNTS)
COUNTS = ("requests", "rewritten", *TOKEN_COUNTS, "breaks", "summaries", "failures")


async def fetch_hours(
    connection: RedisConnection, scope: Scope, tenants: Sequence[str], hours: int
) -> list[Hour]:
    """Return the last ``hours`` of some tenants, as far as they are in scope, the latest first."""
    found: list[Hour] = []
    for start in range(0, len(tenants), TENANTS_AT_ONCE):
        group = tenants[start : start + TENANTS_AT_ONCE]
        owners = await fetch_owners(connection, group)
        [[second, _]] = await connection.send(("TIME",))
        last = int(second) // 3600
        names = [last - i for i in range(max(1, min(hours, MOST_HOURS)))]
        visible = [_find_visible_counts(scope, t, o) for t, o in zip(group, owners, strict=True)]
        counts = [one for one in visible if one is not None]
        commands = [("HMGET", key, *names) for key, _ in counts]
        answers = await connection.send(*commands) if commands else []
        for (_, owner), answer in zip(counts, answers, strict=True):
            for hour, raw in zip(names, answer, strict=True):
                found += _decode_hours(hour * 3600, owner, raw)
        await asyncio.sleep(0)
    return sorted(found, key=lambda hour: -hour.start)


async def fetch_owners(connection: RedisConnection, tenants: Sequence[str]) -> list[Owner]:
    """Return the owner of each tenant, as far as all of its calls have it in common."""
    commands = [("HMGET", tenant_key(tenant, "about"), *OWNER_FIELDS) for tenant in tenants]
    answers = await connection.send(*commands)
    facts = [[(part or b"").decode("utf-8", "replace") for part in answer] for answer in answers]
    return [read_owner(dict(zip(OWNER_FIELDS, row, strict=True)), "") for row in facts]


def _find_visible_counts(scope: Scope, tenant: str, owner: Owner) -> tuple[str, Owner] | None:
    """Return the key of the counts of a tenant that somebody may see, and whose they are.

    That is all of them, those of one API key, or None.
    """
    allowed = scope.allows(owner)
    if allowed and (scope.everything or owner.team_id is None or owner.team_id in scope.teams):
        return tenant_key(tenant, "hours"), owner
    if scope.key_hash is None or owner.team_id is None:
        return None
    # The tenant's counts would show those of other keys: it may only seem to have one key, because Redis has
    # evicted what was known of the others. So a key sees its own counts.
    own = owner if allowed else Owner(team_id=owner.team_id, team=owner.team, key_hash=scope.key_hash)
    return hours_key(tenant, scope.key_hash), own


def _decode_hours(start: int, owner: Owner, raw: bytes | None) -> Iterator[Hour]:
    """Yield the counts of one hour, one for each model."""
    for model, counts in (decode_object(raw or b"{}") or {}).items():
        if isinstance(counts, Mapping):
            whole = {name: int(read_number(counts, name)) for name in COUNTS}
            yield Hour(start, owner, model, **whole, cost=read_number(counts, "cost"))
