"""Records, as digests, what the plugin does with conversations, so that two states of it can be compared.

    python -m scripts.record_behaviour --out FILE [--redis-dump FILE] [--shared DIR] [--jobs N]
    python -m scripts.record_behaviour --read-dump FILE [--shared DIR]

A change that moves or renames code must change nothing that a client, a provider or the store can see. Every
conversation is sent call by call through the hook as LiteLLM calls it, with a real Redis and summaries by
rule. The output has one line for each run (a conversation, a window, a policy): digests of what went
upstream, of the headers and of what is stored, times left out. Two recordings of the same behaviour are equal
byte for byte.

A dump holds what some runs left in Redis, and what was read from it at that time; ``--read-dump`` says
whether the code of today reads the same. Its records expire: read it within a week.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import logging
import os
import re
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, fields, is_dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import redis

from gateway_compaction.archive import Query, Scope
from gateway_compaction.settings import PREFIX
from scripts.behaviour_runs import Process, Run, calls_of, digest, process_for, runs_of, talks_in
from tests.lab.data import shared
from tests.lab.redis_server import RedisServer

DUMPED = 60
# Fields of stored JSON, and of hashes, that say when something was done or how long it took.
TIMES = frozenset(
    "at backoff_until begun bypass_until claimed created created_at dropped expires fence generation rev"
    " seconds seen written".split()
)
OLDEST_TIME = 1_000_000_000
HASH = re.compile(r"[0-9a-f]{32,}")
HOUR = 3_600
TOLD_EVERY = 50


@dataclass(frozen=True, slots=True)
class Played:
    """What a run came to: its line, and its part of a dump where that can be read at any later time."""

    number: int
    line: dict[str, Any]
    dumped: dict[str, Any] | None = None


async def played(run: Run, server: RedisServer, client: Any, *, dumps: bool) -> Played:
    """Play a run into an empty store."""
    client.flushall()
    ends = calls_of(run.talk.messages)
    refuses, declines = run.number % 5 == 3, run.number % 4 == 2
    calls, paused = [], False
    async with process_for(run, server.url) as process:
        for number, end in enumerate(ends):
            process.summarizer.declines = declines and number == len(ends) - 3
            refused = refuses and number == len(ends) - 2
            calls.append(await process.call(run.talk.messages[:end], number, refused=refused))
            paused = prolonged(client) or paused
    line = {**run.names, "calls": calls, "records": records_in(client)}
    if not dumps or paused or not any(name.endswith(":compactions") for name in line["records"]):
        return Played(run.number, line)
    keys = kept_in(client)
    return Played(run.number, line, {**run.names, "keys": keys, "expected": await read_back(run, server)})


def prolonged(client: Any) -> bool:
    """Let pauses of sessions last, so that no call depends on how fast others were; whether there are any."""
    found = False
    for key in client.scan_iter(match="*:session", count=1000):
        for name in {b"backoff_until", b"bypass_until"}.intersection(client.hkeys(key)):
            client.hset(key, name, int((time.time() + HOUR) * 1000))
            found = True
    return found


def records_in(client: Any) -> dict[str, str]:
    """Name everything that is stored by its content, without times; tenants and sessions only by a hash."""
    names = {key: HASH.sub(lambda m: digest(m[0])[:12], text_of(key)) for key in client.scan_iter(count=1000)}
    return {name: digest(value_of(client, key)) for key, name in sorted(names.items(), key=lambda n: n[1])}


def value_of(client: Any, key: bytes) -> Any:
    """Read one key; whatever has an order by time is sorted by content."""
    kind = client.type(key)
    if kind == b"hash":
        found = {text_of(name): parsed(value) for name, value in client.hgetall(key).items()}
        return hours_in(found, of_a_key=b":hours:" in key) if b":hours" in key else timeless(found)
    if kind == b"zset":
        pairs = client.zrange(key, 0, -1, withscores=True)
        return sorted([text_of(name), score if score < OLDEST_TIME else 0] for name, score in pairs)
    if kind == b"list":
        return sorted((timeless(parsed(item)) for item in client.lrange(key, 0, -1)), key=digest)
    return timeless(parsed(client.get(key)))


def hours_in(found: Mapping[str, Any], *, of_a_key: bool) -> list[Any]:
    """Give the counts by model without their hour.

    A session's first summary counts for its key only if the first call's event was written before it, which
    is not settled: what summaries came to is compared in the counts of the whole tenant alone.
    """
    left_out = {"summaries", "failures", "cost"} if of_a_key else set()
    counts = [
        {model: {k: n for k, n in each.items() if k not in left_out} for model, each in models.items()}
        for models in found.values()
    ]
    return [{model: each for model, each in models.items() if each} for models in counts]


def text_of(raw: bytes) -> str:
    """Give stored bytes as text, whatever they are."""
    return raw.decode("utf-8", "backslashreplace")


def parsed(raw: bytes) -> Any:
    """Give stored JSON as values, anything else as text."""
    text = text_of(raw)
    try:
        return json.loads(text) if text[:1] in ("{", "[") else text
    except ValueError:
        return text


def timeless(value: Any) -> Any:
    """Leave out, at any depth, what says when or how long."""
    if isinstance(value, dict):
        return {name: timeless(part) for name, part in value.items() if name not in TIMES}
    return [timeless(part) for part in value] if isinstance(value, list) else value


def kept_in(client: Any) -> dict[str, list[Any]]:
    """Copy the whole store: by key what Redis makes of its value, and the milliseconds it has to live."""
    return {
        in_base64(key): [in_base64(client.dump(key)), client.pttl(key)]
        for key in client.scan_iter(count=1000)
    }


def in_base64(raw: bytes) -> str:
    """Write bytes so that JSON can hold them."""
    return base64.b64encode(raw).decode()


def restore(client: Any, keys: Mapping[str, Sequence[Any]]) -> None:
    """Bring a copied store back."""
    client.flushall()
    for key, (value, left) in keys.items():
        client.restore(base64.b64decode(key), max(0, left), base64.b64decode(value))


async def read_back(run: Run, server: RedisServer) -> dict[str, Any]:
    """Say what another process finds in the store: as operators see it, and by what a next call is sent."""
    everything = Scope(everything=True)
    async with process_for(run, server.url) as process:
        archive = process.runtime.archive
        # The process would take these over a moment later: maybe before the call, maybe behind it.
        process.runtime.counter.calibration.adopt(await process.runtime.store.factors())
        page = await archive.sessions(everything, Query(limit=200))
        details = [await archive.detail(everything, row.session) for row in page.rows]
        return {
            "list": digest(sorted((plain(row) for row in page.rows), key=digest)),
            "details": sorted(digest(plain(replace(detail, ttl=0.0))) for detail in details),
            "next": await next_call(run, process),
        }


async def next_call(run: Run, process: Process) -> dict[str, Any]:
    """Go on with a conversation by one round."""
    said = [{"role": "assistant", "content": "Done."}, {"role": "user", "content": "What is left to do?"}]
    return await process.call([*run.talk.messages, *said], 0)


def plain(value: Any) -> Any:
    """Give the values of a dataclass without the names of its fields, which may be other ones one day."""
    if is_dataclass(value) and not isinstance(value, type):
        return [plain(getattr(value, part.name)) for part in fields(value)]
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return {name: plain(part) for name, part in value.items()} if isinstance(value, Mapping) else value


async def in_turn(runs: Sequence[Run], *, dumps: bool) -> list[Played]:
    """Play runs one after the other on one Redis."""
    found: list[Played] = []
    with RedisServer() as server, redis.Redis.from_url(server.url) as client:
        for number, run in enumerate(runs, 1):
            hour = None
            # Counts are kept by the hour: what was begun in one and ended in another is played again.
            while hour != int(time.time() // HOUR):
                hour = int(time.time() // HOUR)
                found[number - 1 :] = [await played(run, server, client, dumps=dumps)]
            if number % TOLD_EVERY == 0:
                tell(f"{number} of {len(runs)} runs")
    return found


def share_of(jobs: int, number: int, folder: Path, dumps: bool, only: str) -> list[Played]:
    """Play every so-many-th run; for a process of its own."""
    quieten()
    runs = [run for run in runs_of(talks_in(folder)) if only in run.talk.source]
    return asyncio.run(in_turn(runs[number::jobs], dumps=dumps))


def record(options: argparse.Namespace) -> int:
    """Play all runs, and write down what came of them."""
    shares = range(options.jobs)
    dumps = options.redis_dump is not None
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        futures = [
            pool.submit(share_of, options.jobs, number, options.shared, dumps, options.only)
            for number in shares
        ]
        found = sorted((one for future in futures for one in future.result()), key=lambda one: one.number)
    lines = [one.line for one in found]
    calls = sum(len(line["calls"]) for line in lines)
    lines.append({"runs": len(lines), "calls": calls})
    options.out.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    if dumps:
        parts = [one.dumped for one in found if one.dumped]
        step = max(1, len(parts) // DUMPED)
        options.redis_dump.write_text(json.dumps(parts[::step][:DUMPED]), encoding="utf-8")
    tell(f"{len(found)} runs, {calls} calls")
    return 0


async def differing(parts: Sequence[Mapping[str, Any]], runs: Mapping[str, Run]) -> list[str]:
    """Restore each part of a dump, and name those of which something else is read than at that time."""
    found = []
    with RedisServer() as server, redis.Redis.from_url(server.url) as client:
        for part in parts:
            name = json.dumps({k: part[k] for k in ("file", "id", "window", "policy")})
            restore(client, part["keys"])
            told = await read_back(runs[name], server)
            found += [f"{name}: {what}" for what, value in part["expected"].items() if told[what] != value]
    return found


def compare(options: argparse.Namespace) -> int:
    """Read a dump that was written before; 1 where something else is read."""
    quieten()
    parts = json.loads(options.read_dump.read_text(encoding="utf-8"))
    runs = {json.dumps(run.names): run for run in runs_of(talks_in(options.shared))}
    found = asyncio.run(differing(parts, runs))
    for line in found:
        print(line)
    tell(f"{len(parts)} stores read, {len(found)} differences")
    return 1 if found else 0


def quieten() -> None:
    """Keep logs of every call off the terminal, and the environment's settings out of what is recorded."""
    logging.disable(logging.ERROR)
    for name in [name for name in os.environ if name.startswith(PREFIX)]:
        del os.environ[name]


def tell(text: str) -> None:
    """Say how far it is."""
    print(text, file=sys.stderr, flush=True)


def main() -> int:
    """Record, or read a dump."""
    parser = argparse.ArgumentParser(prog="python -m scripts.record_behaviour", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--out", type=Path, help="where to write the recording")
    parser.add_argument("--redis-dump", type=Path, help="where to write what some runs left in Redis")
    parser.add_argument("--read-dump", type=Path, help="read such a dump instead of recording")
    parser.add_argument("--shared", type=Path, default=shared(), help="the folder with data/ and cases/")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes to play in")
    parser.add_argument("--only", default="", help="files whose name holds this")
    options = parser.parse_args()
    if options.read_dump:
        return compare(options)
    if not options.out:
        parser.error("--out is needed, or --read-dump")
    return record(options)


if __name__ == "__main__":
    sys.exit(main())
