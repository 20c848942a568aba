"""What many sessions take of Redis: ``python -m bench.sizing``; docs/sizing.md has what it printed.

Plays one conversation through the code that serves requests, against a redis-server of its own, copies it to
as many sessions as asked for (`DUMP` and `RESTORE`, each under a name of its own), and prints what the server
says it uses. The session is as after so many calls; each kind of `storage.content` is measured apart. `full`
takes some hundred kB a session: ask for fewer (`--content full --sessions 5000`).
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
from collections.abc import Sequence

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

from redis.asyncio import Redis

from bench.session_size import CONTENTS, MODEL, calls_of
from gateway_compaction.core.policy.book import Identity, PolicyBook
from gateway_compaction.replay import FixedModels, ScriptedSummarizer, replay_conversation
from gateway_compaction.runtime import build, use_bundled_encodings
from gateway_compaction.settings import Settings
from tests.lab.redis_server import RedisServer

SESSION = re.compile(rb"gwc:\{([0-9a-f]+)\.([0-9a-f]+)\}")
AT_ONCE = 500


async def play(url: str, calls: int, window: int, content: str) -> None:
    """Play a conversation into an empty server."""
    policy = {"mode": "enforce", "summary": {"model": "small"}, "storage": {"content": content}}
    book = PolicyBook({"version": 1, "defaults": policy}, "bench/sizing")
    settings = Settings(redis_url=url, redis_timeout_seconds=5.0, recall_cold_tokens=10**9)
    runtime = build(settings, FixedModels(window, MODEL), ScriptedSummarizer(), lambda: book)
    talk = calls_of(calls, window)
    async for _ in replay_conversation(runtime, talk, {}, Identity(model=MODEL), "size"):
        pass
    await runtime.aclose()


async def copy(client: Redis, sessions: int) -> int:
    """Copy the session that there is; return the keys of one."""
    keys: Sequence[bytes] = [key async for key in client.scan_iter("gwc:*") if SESSION.match(key)]
    dumped = [(key, await client.dump(key), await client.pttl(key)) for key in keys]
    for first in range(1, sessions, AT_ONCE):
        pipeline = client.pipeline(transaction=False)
        for number in range(first, min(first + AT_ONCE, sessions)):
            for key, value, left in dumped:
                name = SESSION.sub(b"gwc:{\\1.%032x}" % number, key)
                pipeline.restore(name, max(left, 0), value)
        await pipeline.execute()
    return len(keys)


async def measure(url: str, chosen: argparse.Namespace, content: str) -> None:
    """Print a line for one kind of contents."""
    client = Redis.from_url(url, socket_timeout=120.0)
    await client.flushall()
    empty = (await client.info("memory"))["used_memory"]
    await play(url, chosen.calls, chosen.window, content)
    keys = await copy(client, chosen.sessions)
    used = (await client.info("memory"))["used_memory"] - empty
    each = used / chosen.sessions
    print(
        f"content {content}, {chosen.calls} calls, window {chosen.window:,}: {chosen.sessions:,} sessions of"
        f" {keys} keys take {used / 1e9:.2f} GB, {each / 1000:.1f} kB each; a million {each / 1000:.1f} GB",
        flush=True,
    )
    await client.flushall()
    await client.aclose()


async def main() -> None:
    """Measure each kind."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sessions", type=int, default=100_000)
    parser.add_argument("--calls", type=int, default=60)
    parser.add_argument("--window", type=int, default=32_000)
    parser.add_argument("--content", nargs="*", default=["none", "summaries"], choices=CONTENTS)
    chosen = parser.parse_args()
    use_bundled_encodings()
    with RedisServer() as server:
        for content in chosen.content:
            await measure(server.url, chosen, content)


if __name__ == "__main__":
    asyncio.run(main())
