"""Three proxies, a Redis and a fake upstream under load; a fault is put in and taken out."""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.faults.account import Account, Call
from tests.faults.summariser import TellingSummariser, asker_of
from tests.faults.table import Fault
from tests.faults.talks import TAG
from tests.faults.visitor import Manners, Visitor
from tests.lab import Proxy, RedisServer, Reply, Seen, Upstream
from tests.lab.forwarder import Forwarder

__all__ = ["Laboratory", "Member", "run"]

WARM_SECONDS = 12.0
MOST_RECOVERY_SECONDS = 60.0
SUMMARY_NUMBER = re.compile(r"SUMMARY (\d+):")
DOORS = ("chat", "chat", "stream", "chat", "messages", "responses", "kept", "kept")
PLAIN = "plain"


@dataclass(slots=True)
class Member:
    """A proxy of the laboratory; ``road`` is its way to Redis, where that can be tampered with."""

    name: str
    proxy: Proxy
    road: Forwarder | None = None
    is_reachable: bool = True


@dataclass(slots=True)
class Laboratory:
    """Everything that a fault may be put into.

    Attributes:
        redis: the server that the roads lead to at first.
        dump: reads all that the server in use has.
        fail_upstream: what the upstream answers to a chat instead, by the request and its attempt.
        manners: how the clients behave.
        failing: by the tag of a call, whether its last answer by the upstream was a failure.
        model: the model that is asked.
        windows: tokens that each of the upstream's chat models reads.
        left_over: what is to be done after the run, and the proxies to be ended after all of them.
        acts: what is repeated at present.
        group: the several servers of a run that needs them.
        crashes: the ends of the logs of proxies that ended by themselves.
    """

    redis: RedisServer
    upstream: Upstream
    members: list[Member]
    plain: Proxy | None
    model: str
    windows: dict[str, int]
    keys: dict[str, str]
    summariser: TellingSummariser = field(default_factory=TellingSummariser)
    fail_upstream: Callable[[Seen, int], Reply | None] | None = None
    manners: Manners = field(default_factory=Manners)
    failing: dict[str, bool] = field(default_factory=dict)
    attempts: Counter[str] = field(default_factory=Counter)
    calls: list[Call] = field(default_factory=list)
    generation: int = 0
    dump: Callable[[], dict[str, Any]] | None = None
    left_over: list[Callable[[], None]] = field(default_factory=list)
    left_over_at_end: list[Proxy] = field(default_factory=list)
    acts: list[asyncio.Task[None]] = field(default_factory=list)
    group: Any = None
    crashes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.upstream.default = self.answer

    @property
    def roads(self) -> list[Forwarder]:
        """The ways to Redis that can be tampered with."""
        return [member.road for member in self.members if member.road is not None]

    def member(self, name: str) -> Member:
        """A proxy by its name."""
        return next(member for member in self.members if member.name == name)

    def choose(self) -> Member:
        """A proxy that a load balancer would choose."""
        return random.choice([member for member in self.members if member.is_reachable])

    def answer(self, seen: Seen) -> Reply:
        """What the upstream answers to a chat: the tag that follows that of the question."""
        found = TAG.findall(seen.text)
        if not found:
            return Reply(text="ok")
        mark, number, _ = found[-1]
        tag = f"{mark}-{number}u"
        asker = asker_of(seen)
        self.attempts[f"{asker == PLAIN} {tag}"] += 1
        attempt = self.attempts[f"{asker == PLAIN} {tag}"]
        bad = self.fail_upstream(seen, attempt) if self.fail_upstream else None
        if asker != PLAIN:
            self.failing[tag] = bad is not None and (
                bad.status >= 400 or bad.hang or bad.cut_after is not None
            )
        return bad or Reply(text=f"{mark}-{number}a Noted, and so be it. {random.randrange(10**6)}")

    def reset(self, summariser_model: str) -> None:
        """Begin a new run: nothing is stored, known or broken."""
        self.upstream.release()
        self.upstream.requests.clear()
        self.upstream.broken.clear()
        self.upstream.default = self.answer
        self.summariser.reset()
        self.upstream.scripts[summariser_model] = self.summariser
        self.fail_upstream, self.manners, self.dump = None, Manners(), None
        self.failing.clear()
        self.attempts.clear()
        self.calls.clear()
        for road in self.roads:
            road.target, road.delay, road.break_after = self.redis.port, (0.0, 0.0), None
        self.redis.flush()

    def stored(self) -> dict[str, Any]:
        """All that Redis has."""
        return self.dump() if self.dump else self.redis.dump()


async def run(lab: Laboratory, fault: Fault, *, summariser_model: str, share: float = 1.0) -> Account:
    """Put a fault in and take it out again, under load, and draw up the account.

    Args:
        share: of the usual seconds of each phase.
    """
    lab.reset(summariser_model)
    crashed = len(lab.crashes)
    if fault.prepare is not None:
        await fault.prepare(lab)
    async with load(lab):
        await until_used(lab, 0, WARM_SECONDS)
        try:
            await fault.inject(lab)
            lab.generation += 1
            await asyncio.sleep(fault.seconds * share)
        finally:
            await fault.heal(lab)
            # What is only late still comes: a summary whose connection was closed would be asked for again.
            lab.upstream.release(delayed=False)
        lab.generation += 1
        lab.manners = Manners() if fault.manners_end else lab.manners
        began, before = time.monotonic(), len(lab.summariser.asked)
        back = await until_used(lab, before, MOST_RECOVERY_SECONDS)
        back_after = time.monotonic() - began if back else None
    account = draw_up(lab, fault)
    account.back_after = back_after
    for thing in lab.left_over:
        thing()
    lab.left_over.clear()
    account.crashed = len(lab.crashes) - crashed
    judge(account, fault)
    return account


def draw_up(lab: Laboratory, fault: Fault) -> Account:
    """Compare everything of the run that has just ended."""
    seen = [
        one
        for one in [*lab.upstream.requests]
        if one.model in lab.windows and asker_of(one) != PLAIN and TAG.search(one.text)
    ]
    return Account.draw_up(
        lab.calls, seen, lab.failing, lab.summariser.asked, lab.stored(), lab.windows, fault.refusals
    )


def judge(account: Account, fault: Fault) -> None:
    """Add what the fault's row does not allow."""
    if account.lost and not fault.may_lose:
        account.note(f"{account.lost} summaries were made twice: {'; '.join(account.tell_repeated())}")
    if account.crashed:
        return
    if account.back_after is None:
        account.note(f"no summary is used {MOST_RECOVERY_SECONDS:g} s after the fault")
    elif account.back_after > fault.back_within:
        account.note(f"the first summaries were used after {account.back_after:.0f} s")
    if not account.calls:
        account.note("nobody called")


async def restart_crashed(lab: Laboratory, ending: asyncio.Event) -> None:
    """Start proxies again that ended by themselves, and count them: the page tells of it."""
    while not ending.is_set():
        for member in lab.members:
            if member.is_reachable and member.proxy.pid is not None and not member.proxy.is_running:
                member.is_reachable = False
                lab.crashes.append(f"{member.name}: {member.proxy.tail(200)}")
                await asyncio.to_thread(member.proxy.start)
                member.is_reachable = True
        await asyncio.sleep(0.2)


async def until_used(lab: Laboratory, number: int, seconds: float) -> bool:
    """Wait until each proxy has sent a summary that was made after the one of this number."""
    wanted = {member.name for member in lab.members if member.is_reachable}
    deadline, at = time.monotonic() + seconds, 0
    used: set[str] = set()
    while time.monotonic() < deadline:
        requests = [*lab.upstream.requests]
        for one in requests[at:]:
            if one.model in lab.windows and any(
                int(match.group(1)) > number for match in SUMMARY_NUMBER.finditer(one.text)
            ):
                used.add(asker_of(one))
        at = len(requests)
        if wanted <= used:
            return True
        await asyncio.sleep(0.2)
    return False


@asynccontextmanager
async def load(lab: Laboratory, doors: Sequence[str] = DOORS) -> AsyncIterator[None]:
    """Clients of every door, each going on with a conversation until the end."""
    ending = asyncio.Event()
    async with contextlib.AsyncExitStack() as stack:
        visitors = [await stack.enter_async_context(Visitor(lab, door)) for door in doors]
        tasks = [asyncio.create_task(visitor.converse(ending)) for visitor in visitors]
        tasks.append(asyncio.create_task(restart_crashed(lab, ending)))
        try:
            yield
        finally:
            ending.set()
            for member in lab.members:
                member.is_reachable = True
            _, left = await asyncio.wait(tasks, timeout=70)
            for task in left:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=not left)
