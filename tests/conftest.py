"""What every test shares: loud skips, and one Redis and one upstream for the whole run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.lab.redis_server import RedisServer
from tests.lab.skips import REASONS
from tests.lab.upstream import Upstream


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    """A real redis-server; whoever stops or freezes it brings it back."""
    with RedisServer() as server:
        yield server


@pytest.fixture(scope="session")
def upstream() -> Iterator[Upstream]:
    """The fake provider; tests share it and name models of their own, or reset it."""
    with Upstream() as server:
        yield server


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say once more what was not tested, and why."""
    for reason, count in REASONS.items():
        terminalreporter.write_line(f"NOT TESTED ({count}): {reason}", yellow=True, bold=True)
