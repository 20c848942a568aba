"""What the engine's tests share: parts wired around one store, closed when a test ends."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

import pytest

from gateway_compaction.core.conversation.transcript import forget_histories
from gateway_compaction.core.endpoints.read import forget_items
from tests.engine.rig import Rig, encodings

if TYPE_CHECKING:
    from tests.engine.host import Host

CALLBACK_LISTS = (
    "callbacks",
    "input_callback",
    "success_callback",
    "failure_callback",
    "_async_success_callback",
    "_async_failure_callback",
)


@pytest.fixture(autouse=True)
def unknown_histories() -> None:
    """Each test begins as a process that has seen nothing: what it counts was not counted by another."""
    forget_histories()
    forget_items()


@pytest.fixture
async def rigs() -> AsyncIterator[Callable[..., Rig]]:
    """Makes rigs; several of one test are replicas when they are given the same ``redis``."""
    encodings()
    made: list[Rig] = []

    def make(*args: Any, **kwargs: Any) -> Rig:
        made.append(Rig(*args, **kwargs))
        return made[-1]

    yield make
    for rig in made:
        await rig.aclose()


@pytest.fixture
def rig(rigs: Callable[..., Rig]) -> Rig:
    """The usual one: a window of 2,000 tokens, everything else by default."""
    return rigs()


@pytest.fixture
def door() -> str:
    """Where the calls of a test's hosts come in; tests of every door are parametrised with it."""
    return "chat"


@pytest.fixture
async def hosts(monkeypatch: pytest.MonkeyPatch, door: str) -> AsyncIterator[Callable[..., Host]]:
    """Makes hosts whose hook is the only callback; LiteLLM's own state is put back afterwards."""
    import litellm

    from tests.engine.host import Host, proxy_server

    made: list[Any] = []

    async def shutdown() -> None:
        pass

    def make(**options: Any) -> Host:
        host = Host(**{"door": door, **options})
        made.append(host)
        litellm.callbacks = [host.hook]
        return host

    monkeypatch.setattr(proxy_server, "proxy_shutdown_event", shutdown)
    # LiteLLM takes thirty callbacks in all, and adds to these lists whatever it meets.
    for name in CALLBACK_LISTS:
        monkeypatch.setattr(litellm, name, [])
    yield make
    await proxy_server.proxy_shutdown_event()
    for host in made:
        await host.runtime.aclose()


@pytest.fixture
def host(hosts: Callable[..., Host]) -> Host:
    """The usual one."""
    return hosts()
