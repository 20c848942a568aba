"""Counts by hour, owner and model, read from what every event adds to its hour."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence

from gateway_compaction.adapters.redis.index import MOST_HOURS, hours_key, tenant_key
from gateway_compaction.adapters.redis.rows import OWNER_FIELDS, number_in, owner_in, read_row
from gateway_compaction.adapters.redis.store import StoreCalls
from gateway_compaction.archive import Hour, Owner, Scope

__all__ = ["hours_of", "owners_of"]

TENANTS = 50
TOKENS = ("tokens_before", "tokens_after", "saved", "would_save")
COUNTS = ("requests", "rewritten", *TOKENS, "breaks", "summaries", "failures")


async def hours_of(
    store: StoreCalls, scope: Scope, tenants: Sequence[str], hours: int, seconds: float
) -> list[Hour]:
    """The last ``hours`` of some tenants, as far as they are in scope, the latest first."""
    found: list[Hour] = []
    for start in range(0, len(tenants), TENANTS):
        group = tenants[start : start + TENANTS]
        owners = await owners_of(store, group, seconds)
        [[second, _]] = await store.send(("TIME",), seconds=seconds)
        last = int(second) // 3600
        names = [last - i for i in range(max(1, min(hours, MOST_HOURS)))]
        asked = [pair for t, o in zip(group, owners, strict=True) if (pair := _asked(scope, t, o))]
        commands = [("HMGET", key, *names) for key, _ in asked]
        answers = await store.send(*commands, seconds=seconds) if commands else []
        for (_, owner), answer in zip(asked, answers, strict=True):
            for hour, raw in zip(names, answer, strict=True):
                found += _read(hour * 3600, owner, raw)
        await asyncio.sleep(0)
    return sorted(found, key=lambda hour: -hour.start)


async def owners_of(store: StoreCalls, tenants: Sequence[str], seconds: float) -> list[Owner]:
    """Whose each tenant is, as far as all of its calls have it in common."""
    answers = await store.send(
        *(("HMGET", tenant_key(tenant, "about"), *OWNER_FIELDS) for tenant in tenants), seconds=seconds
    )
    facts = [[(part or b"").decode("utf-8", "replace") for part in answer] for answer in answers]
    return [owner_in(dict(zip(OWNER_FIELDS, row, strict=True)), "") for row in facts]


def _asked(scope: Scope, tenant: str, owner: Owner) -> tuple[str, Owner] | None:
    """Which counts of a tenant somebody may see: all, those of one key, or none."""
    allowed = scope.allows(owner)
    if allowed and (scope.everything or owner.team_id is None or owner.team_id in scope.teams):
        return tenant_key(tenant, "hours"), owner
    if scope.key_hash is None or owner.team_id is None:
        return None
    # That a key seems to be a team's only one may be because Redis has evicted what was known of the others.
    own = owner if allowed else Owner(team_id=owner.team_id, team=owner.team, key_hash=scope.key_hash)
    return hours_key(tenant, scope.key_hash), own


def _read(start: int, owner: Owner, raw: bytes | None) -> Iterator[Hour]:
    for model, counts in (read_row(raw or b"{}") or {}).items():
        if isinstance(counts, Mapping):
            whole = {name: int(number_in(counts, name)) for name in COUNTS}
            yield Hour(start, owner, model, **whole, cost=number_in(counts, "cost"))
