"""CPU and time of a call through the whole proxy with the plugin, beside the same proxy without it.

Three proxies take turns on the same calls: one with the plugin, one without any callback, and one with a
callback that implements the same hooks and does nothing, which is what LiteLLM takes for any callback. CPU is
what the kernel counts for the proxy's process, what follows an answer included; times are the client's. The
calls come one after the other, and in the last case sixteen at once. Of each turn the median counts, and of
all turns the middle one; its spread is the middle half of the turns.

- small, long: far below every level.
- near: above ``light``, with a summary that is ready.
- compacted: over ``medium``: a stored extract and quotes are sent.

Redis is a server, and the provider answers at once; neither's CPU counts.
Run: python -m bench.proxy [--turns N] [--markdown FILE]
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from bench.hook import build_talk, count_tokens, write_section
from bench.hook_report import describe_machine
from gateway_compaction.runtime import use_bundled_encodings
from tests.lab import Model, Proxy, RedisServer, Upstream
from tests.lab.proxy import MASTER_KEY, proxy_config

CALLS = 20
AT_ONCE = 16
POLICIES: dict[str, Any] = {
    "version": 1,
    "defaults": {"mode": "enforce", "summary": {"model": "extractive"}},
}
PROXIES = ("plugin", "empty callback", "no callback")


class Case(NamedTuple):
    """Calls of one kind: tokens and messages of their conversation, and its share of the window."""

    name: str
    tokens: int
    messages: int
    share: float
    at_once: int = 1


CASES = (
    Case("small", 5_000, 20, 0.04),
    Case("small, compacted", 5_000, 20, 0.93),
    Case("long", 100_000, 400, 0.1),
    Case("long, near", 100_000, 400, 0.8),
    Case("long, compacted", 100_000, 400, 0.93),
    Case("small, 16 at once", 5_000, 20, 0.04, AT_ONCE),
)


class Turn(NamedTuple):
    """What a call took in one turn: seconds of CPU, until its answer, and until a stream's first piece."""

    cpu: float
    answer: float
    first: float
    calls_a_second: float


def read_cpu(pid: int) -> float:
    """Return the CPU seconds that a process has taken so far, on all its threads."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def connect(proxy: Proxy) -> httpx.AsyncClient:
    """Open a client of a proxy; for that of the laboratory the upstream would compare what is sent."""
    headers = {"authorization": f"Bearer {MASTER_KEY}"}
    return httpx.AsyncClient(base_url=proxy.url, headers=headers, timeout=60.0, trust_env=False)


async def call(
    client: httpx.AsyncClient, model: str, talk: Sequence[dict[str, Any]], *, stream: bool = False
) -> float:
    """Send one call; return the seconds until its answer, or until the first piece of a stream."""
    body = {"model": model, "messages": talk, "max_tokens": 16, "stream": stream}
    started = time.perf_counter()
    async with client.stream("POST", "/v1/chat/completions", json=body) as answer:
        assert answer.status_code == 200, await answer.aread()
        first = 0.0
        async for _ in answer.aiter_bytes():
            first = first or time.perf_counter() - started
    return first if stream else time.perf_counter() - started


async def play_turn(proxy: Proxy, model: str, talk: Sequence[dict[str, Any]], at_once: int) -> Turn:
    """Send calls of one conversation, the last ones streamed."""
    async with connect(proxy) as client:
        gate = asyncio.Semaphore(at_once)

        async def ask() -> float:
            async with gate:
                return await call(client, model, talk)

        before, started = read_cpu(proxy.pid or 0), time.perf_counter()
        seconds = await asyncio.gather(*(ask() for _ in range(CALLS * at_once)))
        wall = time.perf_counter() - started
        # What follows the answers.
        await asyncio.sleep(0.3)
        cpu = (read_cpu(proxy.pid or 0) - before) / len(seconds)
        firsts = [await call(client, model, talk, stream=True) for _ in range(CALLS // 4)]
    return Turn(cpu, statistics.median(seconds), statistics.median(firsts), len(seconds) / wall)


async def measure(proxies: dict[str, Proxy], case: Case, model: str, turns: int) -> dict[str, list[Turn]]:
    """Let the proxies take turns, in another order each time."""
    talk = build_talk(case.tokens, case.messages)
    # A conversation is known by its opening: each case has its own.
    talk[1]["content"] = f"{case.name}. {talk[1]['content']}"
    for proxy in proxies.values():
        async with connect(proxy) as client:
            # The calls before: an extract is made and stored, and each proxy has seen the messages.
            for end in (len(talk) - 3, len(talk) - 1, len(talk) - 1):
                await call(client, model, [*talk[:end], talk[-1]])
                await asyncio.sleep(1.0)
    played: dict[str, list[Turn]] = {name: [] for name in proxies}
    names = list(proxies)
    for number in range(turns):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            played[name].append(await play_turn(proxies[name], model, talk, case.at_once))
    return played


def compare(ours: Sequence[Turn], theirs: Sequence[Turn], field: str) -> str:
    """Return the middle ratio of the turns, with the middle half of them."""
    ratios = [getattr(a, field) / getattr(b, field) for a, b in zip(ours, theirs, strict=True)]
    low, middle, high = statistics.quantiles(ratios, n=4)
    return f"{middle:.2f} ({low:.2f}–{high:.2f})"


def describe(case: Case, played: dict[str, list[Turn]]) -> str:
    """Return the row of a case: CPU of each proxy, and what the plugin's is of the others'."""
    ours, empty, plain = (played[name] for name in PROXIES)
    cpu = [f"{1e3 * statistics.median(turn.cpu for turn in turns):.1f}" for turns in (ours, empty, plain)]
    ratios = [compare(ours, empty, "cpu"), compare(ours, plain, "cpu")]
    ratios += [compare(ours, empty, field) for field in ("answer", "first", "calls_a_second")]
    size = f"{case.tokens:,} in {case.messages}"
    return "| " + " | ".join([case.name, size, *cpu, *ratios]) + " |"


def main() -> None:
    """Print a row for each case, and write them where the arguments say."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--turns", type=int, default=12, help="turns of each proxy in each case")
    parser.add_argument("--markdown", type=Path, help="write the table into this page")
    arguments = parser.parse_args()
    use_bundled_encodings()
    windows = {c.name: int(count_tokens(build_talk(c.tokens, c.messages)) / c.share) for c in CASES}
    models = [Model(f"chat-{number}", windows[case.name]) for number, case in enumerate(CASES)]
    lines = [
        "## The proxy as a whole",
        "",
        "CPU of a call in milliseconds, and the plugin's share of the others' in the same turns, with the",
        "middle half of them; `python -m bench.proxy` explains the cases and makes the table anew.",
        "Made by: " + ", ".join(f"{name} {value}" for name, value in describe_machine().items()) + ".",
        "",
        "| case | tokens in messages | plugin | empty callback | no callback | CPU of the empty one "
        "| CPU of none | answer | first piece | calls a second |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    print("\n".join(lines), flush=True)
    with RedisServer() as server, Upstream() as upstream:
        configs = {
            "plugin": proxy_config(models, upstream.url),
            "empty callback": proxy_config(
                models, upstream.url, plugin=False, callbacks_after=["lab_idle.handler"]
            ),
            "no callback": proxy_config(models, upstream.url, plugin=False),
        }
        proxies = {
            name: Proxy(config, policies=POLICIES, redis_url=server.url).start()
            for name, config in configs.items()
        }
        try:
            for number, case in enumerate(CASES):
                played = asyncio.run(measure(proxies, case, f"chat-{number}", arguments.turns))
                lines.append(describe(case, played))
                print(lines[-1], flush=True)
        finally:
            for proxy in proxies.values():
                proxy.stop()
                proxy.remove()
    if arguments.markdown:
        write_section(arguments.markdown, "\n".join(lines))


if __name__ == "__main__":
    main()
