"""The servers of a run: Redis, the upstream, one proxy for all cases and, where needed, its replica."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from gateway_compaction.adapters.redis.connection import connect
from gateway_compaction.adapters.redis.store import RedisStore
from tests.cases.prepared import Prepared
from tests.cases.redis_node import ClusterNode
from tests.lab import Client, Model, Proxy, Upstream
from tests.lab.proxy import proxy_config

__all__ = ["Stage"]

SITE = Path(__file__).resolve().parent / "site"
PROBE = "case_probe.probe"
CALL_SECONDS = 30.0
RECOVERY, RECOVERY_KEY, RECOVERY_TEAM, RECOVERY_WINDOW = "recovery", "sk-case-recovery", "case-recovery", 600


class Stage:
    """Everything that runs while cases are played; the second proxy only comes up when it is asked for."""

    def __init__(self, cases: Sequence[Prepared]) -> None:
        self._cases = cases
        self.redis = ClusterNode()
        self.upstream = Upstream()
        self._proxies: list[Proxy] = []
        self._clients: dict[tuple[str, str], Client] = {}
        self._store: RedisStore | None = None

    async def __aenter__(self) -> Self:
        self.redis.start()
        self.upstream.start()
        try:
            self._proxies = [self._proxy("cases-first"), self._proxy("cases-second")]
            await asyncio.to_thread(self._proxies[0].start)
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        if any(c.context.rival or c.context.redis != "up" for c in self._cases):
            self._proxies[1].spawn()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for client in self._clients.values():
            await client.aclose()
        await self.forget_store()
        for proxy in self._proxies:
            proxy.stop()
            proxy.remove()
        self.upstream.stop()
        self.redis.stop()
        shutil.rmtree(self.redis._directory, ignore_errors=True)

    @property
    def first(self) -> Proxy:
        """The proxy that plays most cases."""
        return self._proxies[0]

    async def second(self) -> Proxy:
        """The replica; started where it is not running."""
        proxy = self._proxies[1]
        if proxy.pid is None:
            proxy.spawn()
        await asyncio.to_thread(proxy.wait_ready)
        return proxy

    def client(self, proxy: Proxy, key: str) -> Client:
        """A client with one key, kept open."""
        found = self._clients.get((proxy.url, key))
        if found is None:
            found = self._clients[proxy.url, key] = Client(proxy, key, timeout=CALL_SECONDS)
        return found

    @property
    def store(self) -> RedisStore:
        """The product's own store, on a connection of ours."""
        if self._store is None:
            self._store = RedisStore(connect(self.redis.url), timeout_seconds=5.0)
        return self._store

    async def forget_store(self) -> None:
        """Close that connection: Redis goes away, or came back."""
        if self._store is not None:
            await self._store.aclose()
            self._store = None

    def logs(self) -> str:
        """Everything that the proxies have written."""
        return "\n".join(p.log.read_text(errors="replace") for p in self._proxies if p.log.exists())

    def _proxy(self, name: str) -> Proxy:
        models = [model for case in self._cases for model in case.models()]
        cache = any(case.context.response_cache for case in self._cases)
        fallbacks = [{c.group: [c.fallback_group]} for c in self._cases if c.fallback_group]
        retries = {c.group: {"DefaultRetries": 1} for c in self._cases if c.context.fails_once}
        config = proxy_config(
            [*models, Model(RECOVERY, RECOVERY_WINDOW)],
            self.upstream.url,
            custom_auth=True,
            callbacks_before=[PROBE],
            router={"fallbacks": fallbacks, **({"model_group_retry_policy": retries} if retries else {})},
            litellm={"cache": True, "cache_params": {"type": "local", "mode": "default_off"}}
            if cache
            else {},
        )
        keys = {key: fields for case in self._cases for key, fields in case.keys().items()}
        keys[RECOVERY_KEY] = {"team_id": RECOVERY_TEAM}
        proxy = Proxy(config, name=name, policies=self._policies(), redis_url=self.redis.url, keys=keys)
        for module in SITE.glob("case_*.py"):
            shutil.copy(module, proxy.directory)
        return proxy

    def _policies(self) -> dict[str, Any]:
        entries = [entry for case in self._cases for entry in case.policies()]
        # Recall has cases of its own elsewhere; here it would add what no check expects.
        defaults = {"mode": "enforce", "recall": {"max_tokens": 0}, "summary": {"model": "extractive"}}
        return {"version": 1, "defaults": defaults, "policies": entries}
