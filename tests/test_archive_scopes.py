"""Nothing outside somebody's scope is in any answer, count or cursor, whoever owns what."""

from __future__ import annotations

import asyncio
import base64
from dataclasses import asdict
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from gateway_compaction.adapters.redis.archive import RedisArchive
from gateway_compaction.adapters.redis.connection import connect
from gateway_compaction.adapters.redis.store import RedisStore
from gateway_compaction.archive import Owner, Query, Scope
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.errors import NotFound
from gateway_compaction.ports import CallRecord
from tests.store_contract import TTL, digest, session
from tests.test_archive import call

IDS = st.sampled_from(["a", "b", "c"])
SOME = st.none() | IDS
OWNERS = st.builds(Owner, team_id=SOME, team=SOME, user_id=SOME, key_hash=SOME, key_alias=SOME, end_user=SOME)
SCOPES = st.builds(Scope, teams=st.frozensets(IDS), user_id=SOME, key_hash=SOME, actor=st.just("x"))
SORTS: Any = st.sampled_from(["seen", "created", "saved", "tokens", "calls"])


def tenant_of(owner: Owner) -> str:
    """As the hook names tenants: by team, else user, else key, narrowed by the end user."""
    for kind in ("team_id", "user_id", "key_hash"):
        if named := getattr(owner, kind):
            return f"{kind} {named} {owner.end_user}"
    return f"public {owner.end_user}"


@settings(max_examples=25, deadline=None, phases=[p for p in Phase if p is not Phase.shrink])
@given(st.lists(OWNERS, min_size=1, max_size=9), SCOPES, SORTS, st.integers(1, 4))
def test_only_what_a_scope_allows_is_ever_seen(
    owners: list[Owner], scope: Scope, sort: Any, limit: int
) -> None:
    asyncio.run(look(owners, scope, sort, limit))


async def look(owners: list[Owner], scope: Scope, sort: Any, limit: int) -> None:
    """Every session is told apart by its size, so that sums show whose calls are in them."""
    store = RedisStore(connect(None), timeout_seconds=5.0)
    archive, made = RedisArchive(store.connection), dict[SessionRef, Owner]()
    for number, owner in enumerate(owners):
        where = session(str(number), tenant_of(owner))
        about = {name: value for name, value in asdict(owner).items() if value}
        await store.append(where, call(seconds=1.0), ttl=TTL, call=CallRecord(labels=["same"], about=about))
        made[where] = owner
    mine = {where for where, owner in made.items() if scope.allows(owner)}
    query, seen = Query(text="same", sort=sort, limit=limit), []
    for _ in range(len(owners) + 1):
        page = await archive.sessions(scope, query)
        assert page.total == len(mine)
        seen += [row.session for row in page.rows]
        if page.cursor is None:
            break
        place = base64.urlsafe_b64decode(page.cursor + "==").decode()
        assert page.rows[-1].session.session_id in place
        assert not any(where.key in place for where in made if where not in mine)
        query = Query(text="same", sort=sort, limit=limit, cursor=page.cursor)
    assert sorted(seen, key=str) == sorted(mine, key=str)
    hours = await archive.overview(scope, 1)
    assert all(scope.allows(hour.owner) for hour in hours)
    assert sum(hour.requests for hour in hours) <= len(mine)
    for where in made:
        for ask in (archive.detail, archive.export, archive.compact, archive.reset):
            try:
                await ask(scope, where)
                assert where in mine
            except NotFound:
                assert where not in mine
    await erased(archive, scope, made, mine)
    await store.aclose()


async def erased(
    archive: RedisArchive, scope: Scope, made: dict[SessionRef, Owner], mine: set[SessionRef]
) -> None:
    """Erasing tenants takes nothing of anybody else's."""
    everything = Scope(everything=True)
    for tenant in {where.tenant for where in made}:
        try:
            await archive.forget_tenant(scope, tenant)
        except NotFound:
            continue
    left = {row.session for row in (await archive.sessions(everything, Query(limit=100))).rows}
    assert set(made) - left <= mine
    assert not any(digest("nobody") in where.key for where in left)
