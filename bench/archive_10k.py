"""How fast operators get answers from 10,000 sessions of 50 teams, and whether anything waits meanwhile.

    python -m bench.archive_10k [--sessions 10000] [--teams 50] [--redis URL]

Fills a redis-server (without ``--redis`` one of its own, which ends with it), then asks what the page asks:
first by a process that has read nothing yet, then again while conversations go on. Prints milliseconds, the
longest gap of the event loop meanwhile, and how a request's own question to the store fares beside it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Any

from gateway_compaction.adapters.redis.archive import RedisArchive
from gateway_compaction.adapters.redis.connection import connect
from gateway_compaction.adapters.redis.store import RedisStore
from gateway_compaction.archive import Query, Scope
from gateway_compaction.core.conversation.digest import fingerprint
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.core.records.event import CompactionEvent
from gateway_compaction.ports import CallRecord
from tests.lab.redis_server import RedisServer
from tests.store_contract import digest, record

ADMIN = Scope(everything=True, actor="bench")
EVENT = CompactionEvent(
    "request",
    1.0,
    "applied",
    "model",
    "medium",
    "gpt-4o",
    "research",
    tokens_before=90_000,
    tokens_after=30_000,
    window=128_000,
    messages_before=80,
    messages_after=21,
    covers=60,
)
MODELS = ("gpt-4o", "claude-sonnet-4", "gemini-2.5-pro")
TICK_SECONDS, KEYS = 0.001, 353


def session_of(number: int, teams: int) -> SessionRef:
    """The session of a number, in the team it belongs to."""
    return SessionRef(fingerprint("team", str(number % teams)), digest(number))


def team_of(number: int) -> tuple[str, str]:
    """Id and name of a team."""
    return f"team-{number:04d}", f"Team number {number}"


async def fill(store: RedisStore, sessions: int, teams: int) -> None:
    """One call and one summary for each session, 50 at a time."""

    async def one(number: int) -> None:
        where, (team_id, team) = session_of(number, teams), team_of(number % teams)
        about = {
            "team_id": team_id,
            "team": team,
            "user_id": f"user-{number % 977}@example.org",
            "key_hash": fingerprint("key", str(number % KEYS)),
            "key_alias": f"key {number % KEYS}",
        }
        event = replace(EVENT, model=MODELS[number % 3], tokens_before=60_000 + number)
        await store.append(
            where,
            event,
            ttl=7 * 86_400,
            call=CallRecord(labels=[f"ticket-{number}"], about=about, view="raw"),
        )
        await store.put(where, record("a", text="what was said " * 40), token=None, ttl=7 * 86_400, limit=9)

    for start in range(0, sessions, 50):
        await asyncio.gather(*(one(n) for n in range(start, min(start + 50, sessions))))


@contextlib.asynccontextmanager
async def gaps() -> AsyncIterator[list[float]]:
    """The longest time, in ms, for which the loop ran nothing else, as the only entry."""
    longest, last = [0.0], time.perf_counter()

    async def tick() -> None:
        nonlocal last
        while True:
            await asyncio.sleep(TICK_SECONDS)
            now = time.perf_counter()
            longest[0] = max(longest[0], (now - last - TICK_SECONDS) * 1000)
            last = now

    ticking = asyncio.create_task(tick())
    yield longest
    ticking.cancel()


async def timed(name: str, ask: Callable[[], Awaitable[Any]], times: int = 5) -> None:
    """Print how long something takes, in ms: the first time and the median of the next."""
    took: list[float] = []
    async with gaps() as longest:
        for _ in range(times):
            started = time.perf_counter()
            await ask()
            took.append((time.perf_counter() - started) * 1000)
    later = statistics.median(took[1:])
    print(f"{name:<34} first {took[0]:7.1f} ms   then {later:7.1f} ms   longest gap {longest[0]:6.1f} ms")


async def questions(store: RedisStore, sessions: int, teams: int) -> None:
    """What the page asks."""
    archive = RedisArchive(store.connection)
    one = sessions // 2
    where, (team_id, team) = session_of(one, teams), team_of(one % teams)
    own = Scope(teams=frozenset({team_id}))
    key = Scope(key_hash=fingerprint("key", str(one % KEYS)))

    def listing(scope: Scope = ADMIN, **query: Any) -> Callable[[], Awaitable[Any]]:
        async def ask() -> None:
            page = await archive.sessions(scope, Query(**query))
            assert page.total, "nothing matches"

        return ask

    await timed("list, the latest", listing())
    await timed("list, by tokens saved", listing(sort="saved"))
    await timed("filter: a team", listing(team=team))
    await timed("filter: text of a label", listing(text=f"ticket-{one}"))
    await timed("list of a team's admin", listing(own))
    await timed("list of a key", listing(key))
    await timed("one session", lambda: archive.detail(ADMIN, where))
    await timed("overview of a day", lambda: archive.overview(ADMIN, 24))
    await timed("overview of a week", lambda: archive.overview(ADMIN, 168))


async def beside(store: RedisStore, sessions: int, teams: int, asking: bool, seconds: float = 8.0) -> float:
    """The median of a request's question to the store, in ms, while conversations go on."""
    archive, took, stop = RedisArchive(store.connection), list[float](), time.perf_counter() + seconds

    async def page() -> None:
        while asking and time.perf_counter() < stop:
            await archive.sessions(ADMIN, Query())
            await archive.detail(ADMIN, session_of(sessions // 2, teams))
            await archive.overview(ADMIN, 24)
            await asyncio.sleep(1.0)

    async def chat() -> None:
        number = 0
        while time.perf_counter() < stop:
            number += 1
            where, started = session_of(number * 37 % sessions, teams), time.perf_counter()
            await store.load(where, [digest("a")])
            took.append((time.perf_counter() - started) * 1000)
            await store.append(where, EVENT, ttl=7 * 86_400, call=CallRecord(view="raw"))
            await asyncio.sleep(0.005)

    await asyncio.gather(page(), chat())
    return statistics.median(took)


async def run(url: str, sessions: int, teams: int) -> None:
    """Fill, ask, print."""
    store = RedisStore(connect(url), timeout_seconds=5.0)
    started = time.perf_counter()
    await fill(store, sessions, teams)
    print(f"{sessions} sessions of {teams} teams written in {time.perf_counter() - started:.1f} s")
    await questions(store, sessions, teams)
    alone = await beside(store, sessions, teams, asking=False)
    used = await beside(store, sessions, teams, asking=True)
    print(f"a request's question to the store: {alone:.2f} ms, while the page is used {used:.2f} ms")
    started = time.perf_counter()
    gone = await RedisArchive(store.connection).forget(ADMIN, session_of(sessions // 2, teams))
    print(f"forget one: {gone} keys in {(time.perf_counter() - started) * 1000:.0f} ms")
    started = time.perf_counter()
    many = await RedisArchive(store.connection).forget_tenant(ADMIN, session_of(0, teams).tenant)
    print(f"forget a tenant: {many} sessions in {(time.perf_counter() - started) * 1000:.0f} ms")
    await store.aclose()


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sessions", type=int, default=10_000)
    parser.add_argument("--teams", type=int, default=50)
    parser.add_argument("--redis", help="a server to fill; its gwc: keys stay there")
    chosen = parser.parse_args()
    if chosen.redis:
        asyncio.run(run(chosen.redis, chosen.sessions, chosen.teams))
        return
    with RedisServer() as server:
        asyncio.run(run(server.url, chosen.sessions, chosen.teams))


if __name__ == "__main__":
    main()
