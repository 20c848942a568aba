"""The two proxies that recordings are played through, and their models."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from itertools import product

from tests.lab import Client, Model, Proxy, RedisServer, Reply, Seen, Upstream
from tests.lab.proxy import proxy_config, start_all
from tests.recorded.checks import PlayedCall
from tests.recorded.lanes import PATHS, Lane
from tests.recorded.material import WINDOWS

__all__ = ["PROVIDERS", "lanes"]

# What a deployment of LiteLLM's is called, by the kind of upstream. OpenAI's speaks Chat Completions and
# Responses, the last one Chat Completions alone: calls of the other two are bridged to it.
PROVIDERS = {"OpenAI": "openai/gpt-4o-", "Anthropic": "anthropic/claude-", "chat only": "hosted_vllm/vllm-"}
# A call of chat to either of the two that speak it is one and the same.
LEFT_OUT = {("chat", "chat only")}
UNLIMITED = 200_000
SUMMARISER = "small"
READING_SECONDS = 0.5
POLICIES = {"version": 1, "defaults": {"mode": "enforce", "summary": {"model": SUMMARISER}}}


def _name(door: str, provider: str, window: int) -> str:
    return f"{door}-{provider.replace(' ', '-').lower()}-{window}"


def _key(door: str, provider: str) -> str:
    """A key of a team of its own: lanes of one tenant would use one another's summaries of a conversation."""
    return f"sk-{door}-{provider.replace(' ', '-').lower()}"


def _models() -> list[Model]:
    models = [Model(SUMMARISER, 64_000)]
    for provider, prefix in PROVIDERS.items():
        for door in PATHS:
            for window in (*WINDOWS, UNLIMITED):
                name = _name(door, provider, window)
                models.append(Model(name, window, params={"model": f"{prefix}{name}"}))
    return models


async def _read_answer(call: PlayedCall) -> None:
    """Take as long as the fastest client does: what a call made is stored by then, and has its number."""
    if call.answer.outcome != "none":
        await asyncio.sleep(READING_SECONDS)


def _summarise(seen: Seen) -> Reply:
    """A summary whose length does not depend on what it is of."""
    return Reply(text=f"<summary>The task was worked on in {len(seen.raw)} bytes. Nothing is open.</summary>")


class Pair:
    """The gateway and the proxy without the plugin; what has ended by itself is started again.

    Attributes:
        crashes: the ends of the logs of those.
    """

    def __init__(self, gateway: Proxy, plain: Proxy) -> None:
        self.gateway, self.plain = gateway, plain
        self.crashes: list[str] = []
        self._lock = asyncio.Lock()

    async def revive(self) -> bool:
        """Start what has ended; whether anything had, since the caller's call began."""
        before = len(self.crashes)
        async with self._lock:
            for proxy in (self.gateway, self.plain):
                if not proxy.is_running:
                    self.crashes.append(f"{proxy.name}: {proxy.tail(60)}")
                    await asyncio.to_thread(proxy.start)
        return len(self.crashes) > before or bool(before)


@asynccontextmanager
async def lanes() -> AsyncIterator[tuple[dict[tuple[str, str], Lane], Pair]]:
    """Start all, and give a lane for each door and kind of upstream."""
    async with AsyncExitStack() as stack:
        redis_server, upstream = stack.enter_context(RedisServer()), stack.enter_context(Upstream())
        upstream.scripts[f"gpt-4o-{SUMMARISER}"] = _summarise
        quiet = {"LITELLM_LOG": "ERROR"}
        ways = [way for way in product(PATHS, PROVIDERS) if way not in LEFT_OUT]
        keys = {_key(*way): {"team_id": f"{way[0]} {way[1]}"} for way in ways}
        plain = Proxy(
            proxy_config(_models(), upstream.url, plugin=False, custom_auth=True),
            name="plain",
            keys=keys,
            env=quiet,
        )
        gateway = Proxy(
            proxy_config(_models(), upstream.url, custom_auth=True),
            name="gateway",
            keys=keys,
            policies=POLICIES,
            redis_url=redis_server.url,
            # A busy machine is not what is looked at.
            env={**quiet, "GATEWAY_COMPACTION_REDIS_TIMEOUT_SECONDS": "5"},
        )
        for proxy in (plain, gateway):
            stack.callback(proxy.remove)
            stack.callback(proxy.stop)
        start_all([plain, gateway])
        pair = Pair(gateway, plain)
        made: dict[tuple[str, str], Lane] = {}
        for door, provider in ways:
            clients = [Client(p, _key(door, provider), timeout=300) for p in (gateway, plain)]
            for client in clients:
                await stack.enter_async_context(client)
            made[door, provider] = Lane(
                door,
                (clients[0], clients[1]),
                upstream,
                partial(_choose_model, door, provider),
                _read_answer,
                pair.revive,
            )
        yield made, pair


def _choose_model(door: str, provider: str, window: int | None) -> tuple[str, str, int]:
    """The model group of a lane for a window, the name by which the upstream knows it, and its window."""
    name = _name(door, provider, window or UNLIMITED)
    return name, f"{PROVIDERS[provider]}{name}".partition("/")[2], window or UNLIMITED
