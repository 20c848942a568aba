"""The proxies that are watched, and what they and their Redis hold."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from tests.faults.summariser import tell
from tests.lab import Model, Proxy, RedisServer, Reply, Seen, Upstream
from tests.lab.proxy import proxy_config, start_all
from tests.soak.clients import KEYS, TTL_SECONDS, answer

__all__ = ["Gateway", "Sample", "find_left", "find_noise", "gateway", "read_counts", "take_sample"]

WINDOW = 4_000
POLICIES: Mapping[str, Any] = {
    "version": 1,
    "defaults": {"mode": "enforce", "summary": {"model": "small"}, "storage": {"ttl": TTL_SECONDS}},
    "policies": [
        {
            "name": "kept",
            "match": {"team": "kept"},
            "conversation": {"keep": "gateway"},
            "storage": {"content": "full"},
        }
    ],
}
# What Python, asyncio and the loggers say of what went wrong; the rest of a proxy's log is of no interest.
NOISE = re.compile(
    r"WARNING|ERROR|CRITICAL|Warning:|Traceback|never awaited|never retrieved|was destroyed|Unclosed|Fatal"
)
NUMBERS = re.compile(r"\d[\d.:,-]*|0x[0-9a-f]+|[0-9a-f]{8,}")


@dataclass(slots=True)
class Gateway:
    """Two replicas on one Redis, or the same without the plugin."""

    proxies: list[Proxy]
    redis: RedisServer
    upstream: Upstream


@dataclass(frozen=True, slots=True)
class Sample:
    """What was held at one moment.

    Attributes:
        rss: resident bytes of each proxy.
        tasks: asyncio tasks of each proxy, by coroutine.
        files: open files of each proxy, sockets among them.
        claims: sessions for which a summary is claimed.
        connections: of Redis.
        redis_bytes: memory that Redis uses.
    """

    rss: list[int]
    tasks: list[dict[str, int]]
    threads: list[int]
    files: list[int]
    claims: int
    connections: int
    redis_bytes: int


@contextmanager
def gateway(
    *, plugin: bool = True, env: Mapping[str, str] | None = None, replicas: int = 2
) -> Iterator[Gateway]:
    """Start everything, which takes about a minute, and end it."""
    number = 0

    def summarise(seen: Seen) -> Reply:
        nonlocal number
        number += 1
        return Reply(text=f"<summary>{tell(seen, number)}</summary>", delay=0.2)

    with ExitStack() as stack:
        redis = stack.enter_context(RedisServer())
        upstream = stack.enter_context(Upstream())
        upstream.default = answer
        upstream.scripts["gpt-4o-small"] = summarise
        models = [Model("chat", WINDOW), Model("small", 64_000)]
        config = proxy_config(
            models,
            upstream.url,
            plugin=plugin,
            custom_auth=True,
            callbacks_before=["lab_counts.handler"],
        )
        teams = {key: {"team_id": name} for name, key in KEYS.items()}
        proxies = [
            Proxy(
                config,
                name=f"soak{n}",
                policies=POLICIES if plugin else None,
                redis_url=redis.url if plugin else None,
                keys=teams,
                env={"PYTHONWARNINGS": "default::RuntimeWarning", **(env or {})},
            )
            for n in range(replicas)
        ]
        for proxy in proxies:
            stack.callback(proxy.remove)
            stack.callback(proxy.stop)
        start_all(proxies)
        yield Gateway(proxies, redis, upstream)


def read_counts(proxy: Proxy, *, trim: bool = False) -> dict[str, Any]:
    """What a proxy says that it holds."""
    params = {"trim": 1} if trim else {}
    try:
        answer = httpx.get(f"{proxy.url}/lab/counts", params=params, timeout=300, trust_env=False)
    except httpx.HTTPError as error:
        raise AssertionError(f"{proxy.name} is gone:\n{proxy.tail(200)}") from error
    counts: dict[str, Any] = answer.json()
    return counts


def take_sample(gate: Gateway, *, trim: bool = False) -> Sample:
    """Ask the proxies and Redis what they hold; with ``trim`` once free memory was given back."""
    counts = [read_counts(proxy, trim=trim) for proxy in gate.proxies]
    with gate.redis.client() as client:
        claims = sum(1 for _ in client.scan_iter("gwc:*:claims", count=1_000))
        # One of them asks.
        connections = int(client.info("clients")["connected_clients"]) - 1
        used = int(client.info("memory")["used_memory"])
    return Sample(
        [c["rss"] for c in counts],
        [c["tasks"] for c in counts],
        [c["threads"] for c in counts],
        [c["files"] for c in counts],
        claims,
        connections,
        used,
    )


def find_left(before: Sample, after: Sample) -> list[str]:
    """What there is after the calls and was not before."""
    left = []
    for n, (tasks, earlier) in enumerate(zip(after.tasks, before.tasks, strict=True)):
        more = Counter(tasks) - Counter(earlier)
        left += [f"proxy {n}: {times} tasks of {name}" for name, times in more.items()]
    if after.claims:
        left.append(f"{after.claims} claims")
    return left


def find_noise(proxies: Sequence[Proxy], starts: Sequence[int]) -> Counter[str]:
    """The lines of the logs that tell of trouble, from some offsets on, without their numbers."""
    found: Counter[str] = Counter()
    for proxy, start in zip(proxies, starts, strict=True):
        with proxy.log.open("rb") as log:
            log.seek(start)
            for line in log.read().decode("utf-8", "replace").splitlines():
                if NOISE.search(line):
                    found[NUMBERS.sub("#", line)[:300]] += 1
    return found
