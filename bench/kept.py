"""CPU of a call whose conversation the gateway keeps, next to that of a client that sends its history.

Of the whole proxy, by what the kernel counts for its process: reading the body, all hooks, the provider's
answer, and what follows in the background. The client that sends its history plays twice: by a policy that
records every call (``note: all``), as the calls of a kept conversation are, and by the default one, which
records none below the level ``light``.

Each conversation goes on for some calls, and grows as it does; the clients take turns, and of all turns the
least counts, since other work on the machine only adds to it. Redis is a server, whose time does not count.
Run: python -m bench.kept
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from bench.endpoints import _talk as build_talk
from tests.lab import Client, Model, Proxy, RedisServer, Upstream
from tests.lab.proxy import proxy_config

ROUNDS, CALLS = 12, 20
# Calls of tools, and the window: below every level, and compacted.
CASES = ((5, 200_000), (50, 1_000_000), (50, 32_000), (200, 1_000_000))
CLIENTS = ("kept", "recorded", "default")
POLICIES: dict[str, Any] = {
    "version": 1,
    "defaults": {"mode": "enforce", "summary": {"model": "extractive"}},
    "policies": [
        {
            "name": "kept",
            "match": {"team": "kept"},
            "conversation": {"keep": "gateway"},
            "storage": {"content": "full", "max_messages": 10_000},
        },
        {"name": "recorded", "match": {"team": "recorded"}, "note": "all", "storage": {"content": "full"}},
    ],
}


def _cpu_seconds(pid: int) -> float:
    """Return the CPU that a process has taken so far, on all its threads."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


async def _play(client: Client, pid: int, model: str, history: list[dict[str, Any]], name: str) -> float:
    """Return the CPU of one of some calls that go on with a history."""
    history, conversation = [*history], ""
    for number in range(CALLS + 2):
        if number == 2:
            # The first calls count the history, and store it where it is kept.
            started = _cpu_seconds(pid)
        new = [{"role": "user", "content": f"And where does ship {number} lie?"}]
        known = name == "kept" and number
        headers = {"x-conversation-id": conversation} if known else {}
        answer = await client.chat(model, new if known else [*history, *new], headers=headers)
        assert answer.status == 200, answer.body
        conversation = answer.headers.get("x-conversation-id", "")
        history += [*new, {"role": "assistant", "content": answer.text}]
    await asyncio.sleep(0.5)
    return (_cpu_seconds(pid) - started) / CALLS


async def _measure(proxy: Proxy, rounds: int, window: int) -> None:
    pid, least = proxy.pid or 0, dict.fromkeys(CLIENTS, float("inf"))
    clients = {name: Client(proxy, f"sk-{name}") for name in CLIENTS}
    history = build_talk(rounds)[:-1]
    for _ in range(ROUNDS):
        for name, client in clients.items():
            least[name] = min(least[name], await _play(client, pid, f"chat-{window}", history, name))
    for client in clients.values():
        await client.aclose()
    ratios = " ".join(f"{least['kept'] / least[name]:.2f} x {name}" for name in CLIENTS[1:])
    figures = " ".join(f"{name} {1e3 * least[name]:6.2f} ms" for name in CLIENTS)
    print(f"{len(history):>4} messages, window {window:>9,}  {figures}   kept is {ratios}", flush=True)


def main() -> None:
    """Print a line for each conversation."""
    with RedisServer() as server, Upstream() as upstream:
        windows = sorted({window for _, window in CASES})
        models = [Model(f"chat-{window}", window) for window in windows]
        keys = {f"sk-{name}": {"team_id": name} for name in CLIENTS}
        config = proxy_config(models, upstream.url, custom_auth=True)
        with Proxy(config, policies=POLICIES, redis_url=server.url, keys=keys) as proxy:
            for rounds, window in CASES:
                asyncio.run(_measure(proxy, rounds, window))


if __name__ == "__main__":
    main()
