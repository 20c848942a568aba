"""Memory of a whole proxy, with the plugin and without: at rest, after its first calls, after many.

A LiteLLM proxy is started for each case, and 300 conversations of 10 calls each are played through it, all of
them compacted, with summaries by a model. Measured is the resident memory, then once more after garbage was
collected and glibc was told to give free pages back: what goes then was fragmentation. One case has glibc
keep two heaps in place of eight for each core.
Run: python -m bench.proxy_memory [number of conversations]
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from itertools import count

from tests.faults.talks import Talk
from tests.lab import Client
from tests.lab.counting import encoding
from tests.soak.clients import KEYS, MODEL
from tests.soak.gateway import gateway, read_counts

CASES: tuple[tuple[str, bool, Mapping[str, str]], ...] = (
    ("without the plugin", False, {}),
    ("with the plugin", True, {}),
    ("with the plugin, `MALLOC_ARENA_MAX=2`", True, {"MALLOC_ARENA_MAX": "2"}),
)
CONVERSATIONS, CALLS = 300, 10
TURNS_BEFORE = 19
AT_ONCE = 8
SETTLE_SECONDS = 15.0


async def measure(plugin: bool, env: Mapping[str, str], conversations: int) -> list[float]:
    """Return the megabytes of one proxy: ready, after the first calls, after all of them, and given back."""
    found = []
    with gateway(plugin=plugin, env=env, replicas=1) as gate:
        [proxy] = gate.proxies

        async def look(*, trim: bool = False) -> None:
            counts = await asyncio.to_thread(read_counts, proxy, trim=trim)
            found.append(counts["rss"] / 1e6)

        await look()
        async with Client(proxy, KEYS["chat"]) as client:
            await talk(client, "mkffffffff")
            await asyncio.sleep(SETTLE_SECONDS)
            await look()
            numbers = count()

            async def talk_some() -> None:
                for number in numbers:
                    if number >= conversations:
                        return
                    await talk(client, f"mk{number:08x}")
                    gate.upstream.requests.clear()

            await asyncio.gather(*(talk_some() for _ in range(AT_ONCE)))
        await asyncio.sleep(SETTLE_SECONDS)
        await look()
        await look(trim=True)
    return found


async def talk(client: Client, mark: str) -> None:
    """Play one conversation."""
    said = Talk(mark=mark).fill(TURNS_BEFORE)
    for _ in range(CALLS):
        said.ask()
        answer = await client.ask("/v1/chat/completions", {"model": MODEL, "messages": said.messages})
        assert answer.status == 200, answer.body
        said.answer("Noted, and so be it.")


async def main() -> None:
    """Measure all cases."""
    encoding()
    conversations = int(sys.argv[1]) if len(sys.argv) > 1 else CONVERSATIONS
    calls = conversations * CALLS
    print(
        f"| proxy | ready | after 10 calls | after {calls:,} | of it not given back |\n|---|---|---|---|---|"
    )
    for name, plugin, env in CASES:
        cells = " | ".join(f"{megabytes:.0f} MB" for megabytes in await measure(plugin, env, conversations))
        print(f"| {name} | {cells} |", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
