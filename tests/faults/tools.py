"""What the rows of the table are made of: ways to put a fault in, and to take it out."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import random
import re
import shutil
import signal
import subprocess
import tarfile
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateway_compaction.engine.worker import Limits
from tests.faults.talks import TAG
from tests.lab import Proxy, Reply, Seen, until
from tests.lab.redis_groups import Cluster, SentinelGroup

if TYPE_CHECKING:
    from tests.faults.laboratory import Laboratory, Member
    from tests.faults.visitor import Manners

Act = Callable[["Laboratory"], Awaitable[Any]]
Fail = Callable[[Seen, int], Reply | None]

ROOT = Path(__file__).resolve().parents[2]
CUT_BYTES = 24
EVERY_SECONDS = 0.4
KILLED = "third"
SESSION_KEY = re.compile(r"gwc:\{[0-9a-f]+\.[0-9a-f]+\}:\w+")


async def nothing(lab: Laboratory) -> None:
    """Leave everything as it is."""


# Redis itself


async def kill_redis(lab: Laboratory) -> None:
    """Kill the server; what it had is gone."""
    await asyncio.to_thread(lab.redis.stop)


async def start_redis(lab: Laboratory, *options: str) -> None:
    """Start it again, with what its files hold."""
    await asyncio.to_thread(lab.redis.start, *options)


async def start_empty(lab: Laboratory) -> None:
    """Start it again without any files."""
    remove_files(lab)
    await start_redis(lab)


def remove_files(lab: Laboratory) -> None:
    """Remove what the server has saved."""
    for path in lab.redis.directory.glob("*"):
        if path.is_dir():
            shutil.rmtree(path)
        elif path.suffix == ".rdb":
            path.unlink()


async def save_and_kill(lab: Laboratory) -> None:
    """Save what there is, let the load go on for a while, and kill the server."""
    ask(lab, "SAVE")
    await asyncio.sleep(3)
    await kill_redis(lab)
    lab.left_over.append(lambda: remove_files(lab))


async def kill_with_log(lab: Laboratory) -> None:
    """Have the server write its log of changes for a while, kill it, and cut the log off in its middle."""
    ask(lab, "CONFIG", "SET", "appendonly", "yes")
    await asyncio.sleep(4)
    await kill_redis(lab)
    for path in lab.redis.directory.rglob("*.incr.aof"):
        with path.open("r+b") as log:
            log.truncate(max(0, path.stat().st_size - 1500))
    lab.left_over.append(lambda: remove_files(lab))


async def start_with_cut_log(lab: Laboratory) -> None:
    """Start it again from its log of changes."""
    await start_redis(lab, "--appendonly", "yes")


async def freeze_redis(lab: Laboratory) -> None:
    """Let the server accept and never answer."""
    lab.redis.pause()


async def thaw_redis(lab: Laboratory) -> None:
    """Let it go on."""
    lab.redis.resume()


def delay_redis(least: float, most: float) -> Act:
    """Make each answer so many seconds late."""

    async def act(lab: Laboratory) -> None:
        for road in lab.roads:
            road.delay = (least, most)

    return act


async def cut_answers(lab: Laboratory) -> None:
    """End connections in the middle of an answer."""
    for road in lab.roads:
        road.break_after = CUT_BYTES
        road.cut()


async def clear_roads(lab: Laboratory) -> None:
    """Let connections be what they were."""
    for road in lab.roads:
        road.delay, road.break_after = (0.0, 0.0), None


async def fill_redis(lab: Laboratory) -> None:
    """Let the server take no more."""
    ask(lab, "CONFIG", "SET", "maxmemory-policy", "noeviction")
    ask(lab, "CONFIG", "SET", "maxmemory", "1mb")


async def empty_redis(lab: Laboratory) -> None:
    """Give it memory again."""
    ask(lab, "CONFIG", "SET", "maxmemory", "0")


async def evict(lab: Laboratory) -> None:
    """Take one key of each session away, now and then."""

    def act() -> None:
        keys = {str(key) for key in ask(lab, "KEYS", "gwc:*") if SESSION_KEY.fullmatch(str(key))}
        sessions: dict[str, list[str]] = {}
        for key in sorted(keys):
            sessions.setdefault(key.rpartition(":")[0], []).append(key)
        for parts in sessions.values():
            ask(lab, "DEL", random.choice(parts))

    repeat(lab, act)


def repeat(lab: Laboratory, act: Callable[[], None]) -> None:
    """Do something again and again until ``stop_acts``."""

    async def go_on() -> None:
        while True:
            await asyncio.sleep(EVERY_SECONDS)
            await asyncio.to_thread(act)

    lab.acts.append(asyncio.create_task(go_on()))


async def stop_acts(lab: Laboratory) -> None:
    """End what is repeated."""
    for task in lab.acts:
        task.cancel()
    await asyncio.gather(*lab.acts, return_exceptions=True)
    lab.acts.clear()


async def demote(lab: Laboratory) -> None:
    """Make a replica of the server, of a primary that is not there."""
    ask(lab, "REPLICAOF", "127.0.0.1", "1")


async def promote(lab: Laboratory) -> None:
    """Make a primary of it again."""
    ask(lab, "REPLICAOF", "NO", "ONE")


async def change_password(lab: Laboratory) -> None:
    """Give the gateway's user another password, and end its connections."""
    ask(lab, "ACL", "SETUSER", "gateway", "resetpass", ">another")
    for road in lab.roads:
        road.cut()


async def restore_password(lab: Laboratory) -> None:
    """Give it the old one."""
    ask(lab, "ACL", "SETUSER", "gateway", "resetpass", ">secret")


def ask(lab: Laboratory, *words: Any) -> Any:
    """Ask the server something as its owner."""
    with lab.redis.client() as client:
        connection = client.connection_pool.get_connection()
        connection.send_command(*words)
        return connection.read_response()


# Several servers


async def lose_primary(lab: Laboratory) -> None:
    """Lead to a primary under Sentinel for a while, and kill it."""
    from tests.faults.proxies import SERVER_OPTIONS

    group = SentinelGroup(*SERVER_OPTIONS)
    await asyncio.to_thread(group.__enter__)
    lab.left_over.append(lambda: group.__exit__(None, None, None))
    lab.group = group
    lead_to(lab, group.primary_port)
    await asyncio.sleep(6)
    lab.dump = group.servers[1].dump
    await asyncio.to_thread(group.servers[0].stop)


async def follow_sentinel(lab: Laboratory) -> None:
    """Lead to the primary that Sentinel has made, as a service address does."""
    group = lab.group
    replica = group.servers[1].port
    await until(lambda: group.primary_port == replica, "Sentinel to promote the replica", seconds=30)
    lead_to(lab, replica)


async def move_slots(lab: Laboratory) -> None:
    """Lead to a node of a cluster that has all slots for a while, and move those in use to another node."""
    from tests.faults.proxies import SERVER_OPTIONS

    cluster = Cluster(3, *SERVER_OPTIONS)
    await asyncio.to_thread(cluster.__enter__)
    lab.left_over.append(lambda: cluster.__exit__(None, None, None))
    lab.group = cluster
    lead_to(lab, cluster.nodes[0].port)
    await asyncio.sleep(6)
    await asyncio.to_thread(cluster.move_all_slots, 0, 1)


async def follow_slots(lab: Laboratory) -> None:
    """Lead to the node that has the slots now."""
    lab.dump = lab.group.nodes[1].dump
    lead_to(lab, lab.group.nodes[1].port)


def lead_to(lab: Laboratory, port: int) -> None:
    """Let all roads lead to another server; connections to the one before end."""
    for road in lab.roads:
        road.target = port
        road.cut()


# Proxies


async def wait_for_question(lab: Laboratory, member: Member) -> None:
    """Wait until a proxy has claimed a summary and waits for its summariser."""
    lab.summariser.delay = 2.0
    lab.generation += 1
    with contextlib.suppress(AssertionError):
        await until(lambda: lab.summariser.is_asked_by(member.name), "a question of the proxy", seconds=20)


async def kill_while_summarising(lab: Laboratory) -> None:
    """Kill a proxy between its claim and its write."""
    member = lab.member(KILLED)
    await wait_for_question(lab, member)
    member.is_reachable = False
    await asyncio.to_thread(member.proxy.kill)
    lab.summariser.delay = 0.2


async def start_killed(lab: Laboratory) -> None:
    """Start it again."""
    member = lab.member(KILLED)
    await asyncio.to_thread(member.proxy.start)
    member.is_reachable = True


async def pause_while_summarising(lab: Laboratory) -> None:
    """Stop a proxy between its claim and its write; its claim ends meanwhile, and another one takes over."""
    member = lab.member(KILLED)
    await wait_for_question(lab, member)
    member.is_reachable = False
    assert member.proxy.pid is not None
    os.killpg(member.proxy.pid, signal.SIGSTOP)
    lab.summariser.delay = 0.2
    # Nobody prolongs its lease meanwhile.
    await asyncio.sleep(Limits().lease_seconds + 1)


async def resume_paused(lab: Laboratory) -> None:
    """Let the zombie wake, with a summary that it may not write any more."""
    member = lab.member(KILLED)
    assert member.proxy.pid is not None
    os.killpg(member.proxy.pid, signal.SIGCONT)
    await asyncio.sleep(1)
    member.is_reachable = True


async def replace_by_version_before(lab: Laboratory) -> None:
    """Start a proxy of the version before in the place of one."""
    tree = await asyncio.to_thread(check_out_version_before)
    lab.left_over.append(lambda: shutil.rmtree(tree, ignore_errors=True))
    await replace(lab, (tree,))


async def replace_by_this_version(lab: Laboratory) -> None:
    """Start a proxy of this version in its place."""
    await replace(lab, ())


async def replace(lab: Laboratory, paths: tuple[Path, ...]) -> None:
    """End a proxy and start another in its place, with other paths to its modules."""
    from tests.faults.proxies import PASSWORD, make_proxy

    member = lab.member(KILLED)
    assert member.road is not None
    member.is_reachable = False
    old: Proxy = member.proxy
    await asyncio.to_thread(old.stop)
    old.remove()
    url = f"redis://gateway:{PASSWORD}@127.0.0.1:{member.road.port}/0"
    member.proxy = make_proxy(KILLED, lab.upstream, url, paths=paths)
    lab.left_over_at_end.append(member.proxy)
    await asyncio.to_thread(member.proxy.start)
    member.is_reachable = True


def check_out_version_before() -> Path:
    """A copy of the package as it was before its stored form last changed.

    ``FAULTS_VERSION_BEFORE`` names another commit.
    """
    stored = [f"gateway_compaction/adapters/redis/{name}" for name in ("codec.py", "lua")]
    commit = (
        os.environ.get("FAULTS_VERSION_BEFORE") or git("log", "-1", "--format=%H^", "--", *stored).decode()
    )
    tree = Path(tempfile.mkdtemp(prefix="lab-before-"))
    with tarfile.open(fileobj=io.BytesIO(git("archive", commit.strip(), "gateway_compaction"))) as archive:
        archive.extractall(tree, filter="data")
    return tree


def git(*words: str) -> bytes:
    """What git answers."""
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True).stdout


# Summariser, upstream, clients


def summariser(reply: Reply) -> Act:
    """Have the summariser give another answer."""

    async def act(lab: Laboratory) -> None:
        lab.summariser.misbehave = lambda seen: reply

    return act


def narrow_summariser(limit: int) -> Act:
    """Have the summariser refuse what is longer than that."""

    async def act(lab: Laboratory) -> None:
        lab.summariser.misbehave = lambda seen: window(limit)(seen, 1)

    return act


def slow_summariser(seconds: float) -> Act:
    """Have the summariser take its time."""

    async def act(lab: Laboratory) -> None:
        lab.summariser.delay = seconds

    return act


async def good_summariser(lab: Laboratory) -> None:
    """Have it behave again."""
    lab.summariser.misbehave, lab.summariser.delay = None, 0.2


def upstream(fail: Fail) -> Act:
    """Have the upstream fail as a function says."""

    async def act(lab: Laboratory) -> None:
        lab.fail_upstream = fail

    return act


async def good_upstream(lab: Laboratory) -> None:
    """Have it answer again."""
    lab.fail_upstream = None


def first_tries(reply: Reply, one_in: int = 2) -> Fail:
    """Fail the first try of one call in so many, with the plugin and without it; LiteLLM tries again."""

    def fail(seen: Seen, attempt: int) -> Reply | None:
        number = int(TAG.findall(seen.text)[-1][1])
        return reply if attempt == 1 and number % one_in == 0 else None

    return fail


def always(reply: Reply) -> Fail:
    """Fail everything."""
    return lambda seen, attempt: reply


def models(reply: Reply, *names: str) -> Fail:
    """Fail everything of some models."""
    return lambda seen, attempt: reply if seen.model.removeprefix("gpt-4o-") in names else None


def window(limit: int) -> Fail:
    """Refuse what is longer than that, whatever the model is declared to read."""
    return lambda seen, attempt: Reply.over_window(seen.tokens, limit) if seen.tokens > limit else None


def clients(manners: Manners) -> Act:
    """Have the clients behave otherwise."""

    async def act(lab: Laboratory) -> None:
        lab.manners = manners

    return act
