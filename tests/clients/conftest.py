"""One gateway for all clients, and for each an empty store and an empty home."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.stage import KEY, SIZES, Stage
from tests.lab import Model, Proxy, RedisServer, Reply, Summariser, Upstream
from tests.lab.proxy import proxy_config

# What clients reserve for answers is made for windows of today, and these are small.
POLICIES: dict[str, Any] = {
    "version": 1,
    "defaults": {
        "mode": "enforce",
        "summary": {"model": "small"},
        "output_reserve": "none",
        # On a busy machine a call may come before its summary: that is used at the next one then.
        "levels": {"aggressive": {"replace": "at_once"}},
    },
}

# These need what `make clients` installs.
collect_ignore = [] if "CLIENTS_HOME" in os.environ else ["test_kits.py", "test_agents.py"]


@pytest.fixture(scope="session")
def gateway(redis_server: RedisServer, upstream: Upstream) -> Iterator[Proxy]:
    """A proxy with a deployment of OpenAI's kind and one of Anthropic's."""
    models = [
        *(Model(f"clients-openai{size}", window, f"gpt-4o-clients{size}") for window, size in SIZES.items()),
        *(
            Model(f"clients-anthropic{size}", window, params={"model": f"anthropic/claude-clients{size}"})
            for window, size in SIZES.items()
        ),
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


@pytest.fixture(autouse=True)
def rules_of_providers() -> None:
    """Take the place of the check that knows what clients sent; `check` looks at every body itself."""
