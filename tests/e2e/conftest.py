"""The fleet of proxies, one summariser per test, and the proxies' logs beside a failure."""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator, Iterator
from typing import Any

import pytest

from tests.e2e.fleet import SUMMARISER, Fleet, served
from tests.e2e.talks import MARKS
from tests.lab import Client, Proxy, RedisServer, Reply, Seen, Summariser, Upstream

RUNNING: list[Fleet] = []


@pytest.fixture(scope="session")
def fleet(redis_server: RedisServer, upstream: Upstream) -> Iterator[Fleet]:
    """All proxies of the end-to-end tests."""
    fleet = Fleet.build(redis_server, upstream)
    RUNNING.append(fleet)
    try:
        fleet.start()
        yield fleet
    finally:
        RUNNING.remove(fleet)
        fleet.stop()


@pytest.fixture
def second(fleet: Fleet) -> Proxy:
    """The second replica."""
    return fleet.second()


@pytest.fixture
def summariser(upstream: Upstream, redis_server: RedisServer) -> Iterator[Summariser]:
    """The summariser model of this test; what earlier tests stored or left waiting is gone."""
    upstream.reset()
    redis_server.flush()
    MARKS.clear()
    script = Summariser()

    def own(seen: Seen) -> Reply:
        # A summary that an earlier test started must not count for this one. Where segments are merged, only
        # what the summariser wrote itself is shown to it.
        known = any(mark in seen.text for mark in (*MARKS, f"{script.name} "))
        return script(seen) if known else Reply(text="<summary>-</summary>")

    upstream.scripts[served(SUMMARISER)] = own
    yield script
    upstream.reset()


@pytest.fixture
async def client(fleet: Fleet, summariser: Summariser) -> AsyncIterator[Client]:
    """A client of the first replica, of team a."""
    async with Client(fleet.first, "sk-a-1") as client:
        yield client


@pytest.fixture
async def plain(fleet: Fleet, summariser: Summariser) -> AsyncIterator[Client]:
    """A client of the proxy without the plugin."""
    async with Client(fleet.plain, "sk-a-1") as client:
        yield client


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    """Show the ends of the proxies' logs with a failure."""
    outcome = yield
    report = outcome.get_result()
    if report.failed and "tests/e2e" in item.nodeid:
        for fleet in RUNNING:
            report.sections.extend((f"log of {name}", text) for name, text in fleet.logs().items())
