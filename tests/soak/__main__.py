"""Ten minutes of 64 clients over two replicas: ``python -m tests.soak``, as ``make soak`` does.

``SOAK_MINUTES`` and ``SOAK_CLIENTS`` say how long and how many. With ``--plain`` the same is done without the
plugin, to compare with. What was found goes into docs/reliability.md, but for a run without the plugin.
"""

from __future__ import annotations

import asyncio
import os
import platform
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tests.lab.counting import encoding
from tests.soak.clients import DOORS, Talker
from tests.soak.gateway import Gateway, Sample, find_left, find_noise, gateway, take_sample

MINUTES = float(os.environ.get("SOAK_MINUTES", "10"))
CLIENTS = int(os.environ.get("SOAK_CLIENTS", "64"))
EVERY_SECONDS = 30.0
WARM_SECONDS = 15.0
# Of the run, after which caches and heaps are as large as they get.
WARM_SHARE = 0.4
# Of the resident memory that a proxy may gain in a minute.
MOST_SLOPE = 0.005
# What is in the background when the last call ends is done after that.
SETTLE_SECONDS = 20.0
MEGA = 1e6
PAGE = Path(__file__).resolve().parents[2] / "docs" / "reliability.md"
BEGIN, END = "<!-- make soak: begin -->", "<!-- make soak: end -->"
Timed = tuple[float, Sample]


async def main(*, plugin: bool) -> int:
    """Run it; 1 where something was not as demanded."""
    encoding()
    with gateway(plugin=plugin) as gate:
        counts: Counter[str] = Counter()
        await warm_up(gate, counts)
        before = await asyncio.to_thread(take_sample, gate)
        starts = [proxy.log.stat().st_size for proxy in gate.proxies]
        print(f"the gateway stands; {CLIENTS} clients for {MINUTES:g} minutes", flush=True)
        samples = await soak(gate, counts)
        await asyncio.sleep(SETTLE_SECONDS)
        after = await asyncio.to_thread(take_sample, gate)
        trimmed = await asyncio.to_thread(take_sample, gate, trim=True)
        noise = find_noise(gate.proxies, starts)
        problems = [*judge(samples), *find_left(before, after)]
        problems += [f"{times} times: {line}" for line, times in noise.most_common()]
    named = [(f"{seconds / 60:.1f}", sample) for seconds, sample in samples]
    for problem in problems:
        print(f"BAD {problem}", flush=True)
    page = describe(
        [("before", before), *named, ("after", after), ("trimmed", trimmed)], samples, counts, problems
    )
    print(page)
    if plugin:
        write_page(page)
    return int(bool(problems))


async def warm_up(gate: Gateway, counts: Counter[str]) -> None:
    """Make the first calls of each proxy, with which it starts its tasks and imports what it needs."""
    ending = asyncio.Event()
    tasks = [
        asyncio.create_task(Talker(number, [proxy], counts).talk_on(ending, ramp=0))
        for proxy in gate.proxies
        for number in range(len(DOORS))
    ]
    await asyncio.sleep(WARM_SECONDS)
    ending.set()
    await asyncio.gather(*tasks)
    await asyncio.sleep(SETTLE_SECONDS)


async def soak(gate: Gateway, counts: Counter[str]) -> list[Timed]:
    """Let the clients talk, and look at the gateway every half a minute."""
    ending, samples = asyncio.Event(), list[Timed]()
    talkers = [Talker(number, gate.proxies, counts) for number in range(CLIENTS)]
    tasks = [asyncio.create_task(talker.talk_on(ending)) for talker in talkers]
    began = time.monotonic()
    counts.clear()
    while time.monotonic() - began < 60 * MINUTES:
        await asyncio.sleep(EVERY_SECONDS)
        # The tests' own upstream remembers all that it is sent.
        gate.upstream.requests.clear()
        sample = await asyncio.to_thread(take_sample, gate)
        samples.append((time.monotonic() - began, sample))
        show(samples[-1], counts)
        if broken := [task for task in tasks if task.done()]:
            await asyncio.gather(*broken)
    ending.set()
    await asyncio.gather(*tasks)
    return samples


def show(timed: Timed, counts: Counter[str]) -> None:
    """Print a line."""
    seconds, sample = timed
    memory = " ".join(f"{rss / MEGA:.1f}" for rss in sample.rss)
    tasks = " ".join(str(sum(t.values())) for t in sample.tasks)
    print(
        f"{seconds:5.0f} s  rss {memory} MB  tasks {tasks}  files {sample.files}  claims {sample.claims} "
        f" redis {sample.connections} connections {sample.redis_bytes / MEGA:.1f} MB  calls {dict(counts)}",
        flush=True,
    )


def find_slopes(samples: Sequence[Timed]) -> list[float]:
    """How many bytes a minute each proxy gains, once it is warm: the least squares over its samples."""
    warm = samples[int(len(samples) * WARM_SHARE) :]
    minutes = np.array([seconds for seconds, _ in warm]) / 60
    return [
        float(np.polyfit(minutes, [sample.rss[n] for _, sample in warm], 1)[0])
        for n in range(len(warm[0][1].rss))
    ]


def judge(samples: Sequence[Timed]) -> list[str]:
    """What is not flat."""
    if len(samples) < 5:
        return []
    last = samples[-1][1]
    return [
        f"proxy {n} gains {slope / MEGA:.2f} MB a minute of {rss / MEGA:.0f} MB"
        for n, (slope, rss) in enumerate(zip(find_slopes(samples), last.rss, strict=True))
        if slope > MOST_SLOPE * rss
    ]


def describe(
    rows: Sequence[tuple[str, Sample]],
    samples: Sequence[Timed],
    counts: Counter[str],
    problems: Sequence[str],
) -> str:
    """The table, with a sentence about the run."""
    head = ["minute", *(f"proxy {n}: RSS, tasks, files" for n in range(len(rows[0][1].rss)))]
    lines = [f"| {' | '.join([*head, 'claims', 'connections of Redis'])} |", f"|{'---|' * (len(head) + 2)}"]
    for name, sample in rows:
        cells = [
            f"{rss / MEGA:.0f} MB, {sum(tasks.values())}, {files}"
            for rss, tasks, files in zip(sample.rss, sample.tasks, sample.files, strict=True)
        ]
        lines.append(f"| {' | '.join([name, *cells, str(sample.claims), str(sample.connections)])} |")
    slopes = ", ".join(f"{slope / MEGA:+.2f}" for slope in find_slopes(samples)) if len(samples) > 4 else "-"
    told = ", ".join(f"{times:,} {name}" for name, times in counts.most_common())
    verdict = "Not as demanded: " + "; ".join(problems) if problems else "All as demanded."
    return "\n".join(
        [
            *lines,
            "",
            f"{CLIENTS} clients for {samples[-1][0] / 60:.0f} minutes, Python {platform.python_version()}, "
            f"{os.cpu_count()} cores. Calls by what came of them: {told}. Memory gained after the first "
            f"{WARM_SHARE:.0%}, by least squares, in MB a minute: {slopes}. {verdict}",
        ]
    )


def write_page(text: str) -> None:
    """Write the table anew between its marks."""
    page = PAGE.read_text(encoding="utf-8")
    head, rest = page.split(BEGIN)
    PAGE.write_text(f"{head}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main(plugin="--plain" not in sys.argv[1:])))
