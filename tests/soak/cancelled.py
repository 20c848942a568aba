"""Cancels 10,000 calls and counts what they leave: ``python -m tests.soak.cancelled``.

Clients leave before they are answered, in the middle of a stream, and while their conversation is summarised.
``SOAK_CALLS`` says how many calls. What is counted before the first and after the last: asyncio tasks and
files of the proxies, claims and connections of Redis.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import httpx

from tests.faults.talks import Talk
from tests.lab import Client, Proxy
from tests.lab.counting import encoding
from tests.lab.endpoints import to_anthropic, to_responses
from tests.soak.clients import KEYS
from tests.soak.gateway import Gateway, Sample, find_left, find_noise, gateway, take_sample

__all__ = ["cancel", "settle"]

CALLS = int(os.environ.get("SOAK_CALLS", "10000"))
AT_ONCE = 16
CHAT = "/v1/chat/completions"
CONVERSATIONS = 60
# A call takes longer than the first on a busy machine, and less than the second on most.
PATIENCE = 0.0, 0.6
# What was left is worked off first: LiteLLM goes on with calls whose client is gone.
SETTLE_SECONDS = 300.0


async def cancel(
    proxies: Sequence[Proxy], calls: int, *, model: str, keys: Mapping[str, str], at_once: int = AT_ONCE
) -> Counter[str]:
    """Make calls and leave them; return how many were left, and how many were answered before that.

    Args:
        keys: the API keys of a client that sends its history, and of one whose conversations are kept.
    """
    numbers, counts = count(), Counter[str]()

    async def leave_some() -> None:
        clients = {name: [Client(proxy, key) for proxy in proxies] for name, key in keys.items()}
        try:
            for number in numbers:
                if number >= calls:
                    return
                path, body, key = _make_call(number, model)
                client = random.choice(clients[key])
                try:
                    got = await asyncio.wait_for(client.ask(path, body), random.uniform(*PATIENCE))
                    counts[str(got.status)] += 1
                except TimeoutError:
                    counts["left"] += 1
                except httpx.HTTPError as error:
                    counts[type(error).__name__] += 1
                if number % 500 == 499:
                    print(f"{number + 1:,} calls: {dict(counts)}", flush=True)
        finally:
            for client in (one for some in clients.values() for one in some):
                await client.aclose()

    await asyncio.gather(*(leave_some() for _ in range(at_once)))
    return counts


def _make_call(number: int, model: str) -> tuple[str, dict[str, Any], str]:
    """The path, body and key of one call: the doors take turns."""
    mark = f"mkcafe{number % CONVERSATIONS:04x}"
    talk = Talk(mark=mark).fill(18 + number // CONVERSATIONS % 6)
    talk.ask()
    door = number % 6
    body: dict[str, Any] = {"model": model, "messages": talk.messages}
    if door == 1:
        return "/v1/messages", {**to_anthropic(talk.messages), "model": model}, "chat"
    if door == 2:
        return "/v1/responses", {**to_responses(talk.messages), "model": model}, "chat"
    if door == 3:
        return CHAT, body, "kept"
    return CHAT, {**body, "stream": door == 4}, "chat"


async def settle(gate: Gateway, before: Sample) -> Sample:
    """Wait for what is in the background, and look at what is left."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while True:
        after = await asyncio.to_thread(take_sample, gate)
        if not find_left(before, after) or time.monotonic() > deadline:
            return after
        await asyncio.sleep(1)


async def main() -> int:
    """Cancel them in two halves: a pool is full after the first one, and what leaks is then twice as much."""
    encoding()
    with gateway() as gate:
        await cancel(gate.proxies, 200, model="chat", keys=KEYS)
        await asyncio.sleep(20)
        before = await asyncio.to_thread(take_sample, gate)
        starts = [proxy.log.stat().st_size for proxy in gate.proxies]
        samples, began = [before], time.monotonic()
        for _ in range(2):
            counts = await cancel(gate.proxies, CALLS // 2, model="chat", keys=KEYS)
            samples.append(await settle(gate, before))
            reached = len(gate.upstream.requests)
            gate.upstream.requests.clear()
            seconds = time.monotonic() - began
            print(f"after {seconds:.0f} s: {dict(counts)}, {reached:,} calls of the upstream", flush=True)
        noise = find_noise(gate.proxies, starts)
    for sample in samples:
        tasks = [sum(one.values()) for one in sample.tasks]
        print(
            f"tasks {tasks}  files {sample.files}  claims {sample.claims}  connections of Redis "
            f"{sample.connections}  rss {[round(rss / 1e6, 1) for rss in sample.rss]} MB",
            flush=True,
        )
    problems = find_left(before, samples[-1])
    more = [late - early for late, early in zip(samples[2].files, samples[1].files, strict=True)]
    problems += [f"proxy {n}: {files} files more" for n, files in enumerate(more) if files > AT_ONCE]
    problems += [f"{times} times: {line}" for line, times in noise.most_common()]
    print("\n".join(f"BAD {problem}" for problem in problems) or "nothing is left", flush=True)
    return int(bool(problems))


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main()))
