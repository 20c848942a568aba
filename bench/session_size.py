"""How much Redis holds of one conversation: a chat that is played call by call until its events are full.

    python -m bench.session_size [--calls 300] [--window 32000 ...]

Plays a chat of made-up messages through the code that serves requests, with extracts and with a stand-in for
a model, against a redis-server of its own, which ends with it. Prints what ``MEMORY USAGE`` says of its keys.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Iterator
from typing import Any

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

from redis.asyncio import Redis

from gateway_compaction.core.policy.book import Identity, PolicyBook
from gateway_compaction.replay import FixedModels, ScriptedSummarizer, replay_conversation
from gateway_compaction.runtime import build, use_bundled_encodings
from gateway_compaction.settings import Settings
from tests.engine.histories import chat
from tests.lab.redis_server import RedisServer

MODEL = "gpt-4o"
CONTENTS = ("none", "summaries", "full")


def calls_of(number: int, window: int) -> Iterator[tuple[Any, ...]]:
    """The calls of a chat whose messages have a hundredth of the window, from half a window on."""
    words = max(20, window // 100)
    talk = chat(2 * number + 60, words=words)
    return (tuple(talk[:end]) for end in range(52, len(talk) + 1, 2))


async def measure(url: str, number: int, window: int, content: str, summariser: str) -> int:
    """Return the bytes of all keys after a chat was played into an empty server."""
    policy = {"mode": "enforce", "summary": {"model": summariser}, "storage": {"content": content}}
    book = PolicyBook({"version": 1, "defaults": policy}, "bench/session_size")
    settings = Settings(redis_url=url, redis_timeout_seconds=5.0, recall_cold_tokens=10**9)
    runtime = build(settings, FixedModels(window, MODEL), ScriptedSummarizer(), lambda: book)
    async for _ in replay_conversation(runtime, calls_of(number, window), {}, Identity(model=MODEL), "size"):
        pass
    client = Redis.from_url(url)
    sizes = [await client.memory_usage(key) or 0 async for key in client.scan_iter("gwc:*")]
    await client.flushall()
    await client.aclose()
    await runtime.aclose()
    return sum(sizes)


async def main() -> None:
    """Print a line for each window, summariser and kind of contents."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--window", type=int, nargs="*", default=[8_000, 32_000])
    chosen = parser.parse_args()
    use_bundled_encodings()
    with RedisServer() as server:
        for window in chosen.window:
            for summariser in ("extractive", "small"):
                for content in CONTENTS:
                    size = await measure(server.url, chosen.calls, window, content, summariser)
                    print(f"window {window:,}, {summariser}, content {content}: {size / 1000:,.0f} kB")


if __name__ == "__main__":
    asyncio.run(main())
