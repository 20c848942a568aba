"""What a chat completion costs while the page is used: 10,000 sessions of 50 teams, a real proxy and Redis.

``python -m bench.page_10k`` prints, for each round, the median of 200 chat completions alone and while the
overview, the list and a filter are asked for every two seconds, their ratio, and what each page took.
"""

from __future__ import annotations

import asyncio
import statistics
import time

import httpx

from bench.archive_10k import fill, team_of
from gateway_compaction.adapters.redis.connection import connect
from gateway_compaction.adapters.redis.store import RedisStore
from tests.lab import Client, Model, Proxy, RedisServer, Reply, Upstream
from tests.lab.proxy import MASTER_KEY, proxy_config

SESSIONS, TEAMS, CALLS, ROUNDS = 10_000, 50, 200, 3
PAGES = (
    "/compaction/ui",
    "/compaction/sessions?limit=50",
    f"/compaction/sessions?team={team_of(7)[0]}&limit=50",
    "/compaction/overview?hours=24",
)
POLICIES = {"version": 1, "defaults": {"mode": "enforce", "summary": {"model": "extractive"}}}


async def chats(client: Client) -> float:
    """The median of some chat completions, in milliseconds."""
    taken = []
    for _ in range(CALLS):
        started = time.perf_counter()
        await client.chat("chat", [{"role": "user", "content": "hi"}])
        taken.append(time.perf_counter() - started)
    return statistics.median(taken) * 1000


async def look(http: httpx.AsyncClient, over: asyncio.Event) -> dict[str, float]:
    """Ask for the pages until it is over; the longest of each, in milliseconds."""
    longest: dict[str, float] = {}
    while not over.is_set():
        for page in PAGES:
            started = time.perf_counter()
            answer = (await http.get(page)).raise_for_status()
            longest[page] = max(longest.get(page, 0.0), (time.perf_counter() - started) * 1000)
            assert "/sessions" not in page or answer.json()["total"], f"{page}: nothing matches"
        await asyncio.sleep(2)
    return longest


async def run(server: RedisServer, upstream: Upstream) -> None:
    """Fill the store, start the proxy, and compare."""
    store = RedisStore(connect(server.url), timeout_seconds=5.0)
    await fill(store, SESSIONS, TEAMS)
    await store.aclose()
    config = proxy_config([Model("chat", 6_500)], upstream.url)
    with Proxy(config, policies=POLICIES, redis_url=server.url) as proxy:
        key = {"authorization": f"Bearer {MASTER_KEY}"}
        async with Client(proxy) as client, httpx.AsyncClient(base_url=proxy.url, headers=key) as http:
            await chats(client)
            for _ in range(ROUNDS):
                alone, over = await chats(client), asyncio.Event()
                looking = asyncio.create_task(look(http, over))
                used = await chats(client)
                over.set()
                shown = ", ".join(f"{page} {ms:.0f} ms" for page, ms in (await looking).items())
                print(f"alone {alone:.1f} ms, beside the page {used:.1f} ms: {used / alone:.3f}; {shown}")


def main() -> None:
    """Start what is needed, and run."""
    with RedisServer() as server, Upstream() as upstream:
        upstream.scripts["gpt-4o-chat"] = lambda seen: Reply(text="ok")
        asyncio.run(run(server, upstream))


if __name__ == "__main__":
    main()
