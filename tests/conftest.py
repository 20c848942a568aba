"""What every test shares: loud skips, and one Redis and one upstream for the whole run."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

# LiteLLM would fetch its tables when it is first imported; the copies it ships serve as well.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS", "True")
import litellm
from litellm.utils import _invalidate_model_cost_lowercase_map

from gateway_compaction.adapters.redis.connection import connect
from gateway_compaction.adapters.redis.store import RedisStore
from tests.lab.redis_server import RedisServer
from tests.lab.skips import REASONS
from tests.lab.upstream import Upstream
from tests.served import Gateway, served


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    """A real redis-server; whoever stops or freezes it brings it back."""
    with RedisServer() as server:
        yield server


@pytest.fixture(scope="session")
def quiet_server() -> Iterator[RedisServer]:
    """Another redis-server, which no gateway writes to."""
    with RedisServer() as server:
        yield server


@pytest.fixture(params=["in-process", "redis-server"])
def store_url(request: pytest.FixtureRequest) -> str | None:
    """Where the store is: in this process, or on an empty redis-server."""
    if request.param == "in-process":
        return None
    server: RedisServer = request.getfixturevalue("quiet_server")
    server.flush()
    return server.url


@pytest.fixture
async def store(store_url: str | None) -> AsyncIterator[RedisStore]:
    """An empty store, over an in-process Redis and over a real one."""
    # A request's own deadline is tested elsewhere; a busy machine must not fail these tests.
    store = RedisStore(connect(store_url), timeout_seconds=2.0)
    yield store
    await store.aclose()


@pytest.fixture(scope="session")
def open_gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """What ``make run`` starts; it takes ten seconds of CPU to start."""
    with served(tmp_path_factory.mktemp("open"), "--no-auth") as gateway:
        yield gateway


@pytest.fixture(scope="session")
def upstream() -> Iterator[Upstream]:
    """The fake provider; tests share it and name models of their own, or reset it."""
    with Upstream() as server:
        yield server


@pytest.fixture(autouse=True)
def rules_of_providers(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test in which the gateway broke a rule of a provider that its client kept."""
    if "upstream" not in request.fixturenames:
        yield
        return
    server: Upstream = request.getfixturevalue("upstream")
    server.broken.clear()
    yield
    assert server.broken == []


@pytest.fixture(scope="module", autouse=True)
def catalogue_as_shipped() -> Iterator[None]:
    """Forget, after each file, what its routers told LiteLLM of models: it holds for the whole process."""
    before = {name: dict(facts) for name, facts in litellm.model_cost.items()}
    yield
    if litellm.model_cost != before:
        litellm.model_cost.clear()
        litellm.model_cost.update(before)
        _invalidate_model_cost_lowercase_map()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say once more what was not tested, and why."""
    for reason, count in REASONS.items():
        terminalreporter.write_line(f"NOT TESTED ({count}): {reason}", yellow=True, bold=True)
