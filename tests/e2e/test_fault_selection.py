"""Some rows of the fault laboratory, on the proxies of these tests; ``make faults`` runs all of them."""

from __future__ import annotations

import pytest

from tests.e2e.fleet import SUMMARISER, Fleet, served
from tests.faults.laboratory import Laboratory, Member, run
from tests.faults.table import FAULTS
from tests.lab import Proxy, RedisServer, Upstream

SELECTED = ("redis-empty", "redis-evicts")
ROWS = {fault.name: fault for fault in FAULTS}


@pytest.mark.parametrize("name", SELECTED)
async def test_nothing_is_lost_and_nobody_notices(
    fleet: Fleet, second: Proxy, upstream: Upstream, redis_server: RedisServer, name: str
) -> None:
    # The upstream knows both by one key.
    members = [Member("upstream", fleet.first), Member("upstream", second)]
    keys = {"chat": "sk-a-1", "kept": "sk-kept"}
    lab = Laboratory(redis_server, upstream, members, None, "chat-4k", {served("chat-4k"): 4000}, keys)
    try:
        account = await run(lab, ROWS[name], summariser_model=served(SUMMARISER), share=0.3)
    finally:
        upstream.reset()
    assert account.problems == []
    assert account.calls > 10 and account.used
