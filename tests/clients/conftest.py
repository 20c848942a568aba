"""One gateway for all clients, and for each an empty store and an empty home."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.stage import KEY, WINDOW, Stage
from tests.lab import Model, Proxy, RedisServer, Reply, Summariser, Upstream
from tests.lab.proxy import proxy_config

# What clients reserve for answers is made for windows of today, and these are small.
POLICIES: dict[str, Any] = {
    "version": 1,
    "defaults": {"mode": "enforce", "summary": {"model": "small"}, "output_reserve": "none"},
}


@pytest.fixture(scope="session")
def gateway(redis_server: RedisServer, upstream: Upstream) -> Iterator[Proxy]:
    """A proxy with a deployment of OpenAI's kind and one of Anthropic's."""
    models = [
        Model("clients-openai", WINDOW, "gpt-4o-clients"),
        Model("clients-anthropic", WINDOW, params={"model": "anthropic/claude-clients"}),
        Model("small", 64_000),
    ]
    config = proxy_config(models, upstream.url, custom_auth=True)
    settings: dict[str, Any] = {"policies": POLICIES, "keys": {KEY: {"team_id": "team-a"}}}
    with Proxy(config, name="clients", redis_url=redis_server.url, **settings) as proxy:
        yield proxy


@pytest.fixture
def stage(gateway: Proxy, upstream: Upstream, redis_server: RedisServer, tmp_path: Path) -> Iterator[Stage]:
    """Nothing is left of the client before."""
    upstream.reset()
    redis_server.flush()
    summariser = Summariser()
    upstream.scripts["gpt-4o-small"] = summariser
    upstream.default = lambda seen: Reply(text="Noted.")
    yield Stage(gateway, upstream, summariser, redis_server, tmp_path)
    upstream.reset()
