"""How long at most one request keeps all others of the process from moving: ``python -m bench.loop_hold``.

Sends requests that no client should, through the hook as LiteLLM calls it, cold and then once more, and what
follows the call. While one is decided, a beat of a millisecond tells how long the loop did nothing else. Time
in which this process had no processor does not count.
"""

from __future__ import annotations

import asyncio
import gc
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from gateway_compaction.core.pins.rules import compile_grammars
from gateway_compaction.core.text.language import load_classifier

Message = dict[str, Any]
ROLES = ("user", "assistant")
BEAT_SECONDS = 0.001
MEGABYTE = 1_000_000


def prose(characters: int, name: str) -> str:
    """Words, each line of them another one."""
    line = "{} {}: the deploy of api-server failed again, see infra/k8s/deploy.yaml and ticket OPS-{}.\n"
    lines, length, number = [], 0, 0
    while length < characters:
        lines.append(line.format(name, number, number))
        length += len(lines[-1])
        number += 1
    return "".join(lines)[:characters]


def chat(messages: int, characters: int) -> list[Message]:
    """A conversation of so many messages."""
    return [
        {"role": ROLES[number % 2], "content": prose(characters, f"message {number}")}
        for number in range(messages)
    ]


QUESTION: Message = {"role": "user", "content": "What was OPS-17 about?"}
REQUESTS: Mapping[str, Callable[[], list[Message]]] = {
    "20 MB in one message": lambda: [{"role": "user", "content": prose(20 * MEGABYTE, "all")}],
    "20 MB in 1,000 messages": lambda: [*chat(1_000, 20_000), QUESTION],
    "20,000 tiny messages": lambda: [*chat(20_000, 24), QUESTION],
    "a word of 1 MB": lambda: [*chat(10, 400), {"role": "user", "content": "x" * MEGABYTE}],
    "a word of 1 MB in Hangul": lambda: [*chat(10, 400), {"role": "user", "content": "가" * MEGABYTE}],
    "base64 of 1 MB": lambda: [
        *chat(10, 400),
        {"role": "user", "content": "aGVsbG8gd29ybGQh" * (MEGABYTE // 16)},
    ],
}


async def longest_gap(work: asyncio.Future[Any]) -> float:
    """Return the seconds in which at most nothing else could run while work was under way."""
    worst, wall, used = 0.0, time.perf_counter(), time.process_time()
    while not work.done():
        await asyncio.sleep(BEAT_SECONDS)
        now, spent = time.perf_counter(), time.process_time()
        worst = max(worst, min(now - wall, spent - used) - BEAT_SECONDS)
        wall, used = now, spent
    return worst


async def measure(name: str, make: Callable[[], list[Message]]) -> None:
    """Print the longest gaps of a request before its call, cold and warm, and after it."""
    from tests.engine.host import Host

    host, messages, gaps = Host(), make(), []
    outcome: Any = None
    # As a proxy does before its first request.
    host.runtime.counter.raw_tokens("warm", "gpt-4o")
    await asyncio.get_running_loop().run_in_executor(None, compile_grammars)
    load_classifier()
    host.hook.start()
    gc.collect()
    for _ in range(2):
        call = host.call([*messages])
        work = asyncio.ensure_future(call.pre())
        gaps.append(await longest_gap(work))
        work.result()
        outcome = call.state.base.outcome if call.state and call.state.base else None
    work = asyncio.ensure_future(finish(host, call))
    gaps.append(await longest_gap(work))
    work.result()
    cold, warm, after = (1000 * gap for gap in gaps)
    print(
        f"{name}: cold {cold:.0f} ms, warm {warm:.0f} ms, after the call {after:.0f} ms ({outcome})",
        flush=True,
    )
    await host.runtime.aclose()


async def finish(host: Any, call: Any) -> None:
    """Let the answer go, and wait for what follows."""
    await call.headers()
    await call.success()
    await host.runtime.worker.drain(120.0)


async def main() -> None:
    """Measure each."""
    for name, make in REQUESTS.items():
        await measure(name, make)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    asyncio.run(main())
