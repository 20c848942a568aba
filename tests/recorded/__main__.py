"""Plays recorded conversations through every door: ``python -m tests.recorded [sets]``; without names all.

Of long conversations an even choice of calls is played, and of large sets an even choice of conversations:
``RECORDED_SHARE=0.3`` takes so much of both, ``RECORDED_MINUTES`` ends a run. ``RECORDED_FILE`` names a file
which keeps what was played: the next run with the same file goes on there, and its tables are of all runs.
The last table says what was played of what there is.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tests.recorded.lanes import Lane
from tests.recorded.ledger import Ledger
from tests.recorded.material import (
    BODY_SETS,
    CHAT_SETS,
    Recording,
    choose,
    interleave,
    join,
    load_bodies,
    load_chats,
)
from tests.recorded.proxies import lanes
from tests.recorded.report import tell_lanes, tell_progress, tell_sets

SHARE = float(os.environ.get("RECORDED_SHARE", "1"))
MINUTES = float(os.environ.get("RECORDED_MINUTES", "60"))
FILE = os.environ.get("RECORDED_FILE")
PROGRESS_SECONDS = 10.0
# Whole bodies are joined to conversations of so many, and so many calls of one are played.
JOINED, JOINED_CALLS = 20, 12

Lanes = Mapping[tuple[str, str], Lane]


class Material:
    """What there is, and the share of it that is played."""

    def __init__(self, names: Sequence[str]) -> None:
        chats = {name: load_chats(name) for name in CHAT_SETS if not names or name in names}
        bodies = {form: load_bodies(form, names) for form in BODY_SETS}
        self.found = {**chats, **{one.source: [] for found in bodies.values() for one in found}}
        for one in (one for found in bodies.values() for one in found):
            self.found[one.source].append(one)
        self.chats = interleave(
            [[_shorten(one) for one in choose(found, _share_of(found))] for found in chats.values()]
        )
        self.bodies = {form: choose(found, _share_of(found)) for form, found in bodies.items()}

    @property
    def everything(self) -> list[Recording]:
        """All recordings that are played."""
        return [*self.chats, *(one for bodies in self.bodies.values() for one in bodies)]

    def expect(self, doors: Sequence[str]) -> int:
        """How many calls there will be, but for those of joined bodies."""
        chats = sum(min(len(one.ends), one.most) for one in self.chats)
        return sum(chats + len(self.bodies[door]) for door in doors)


def _share_of(found: Sequence[Recording]) -> int:
    return max(1, round(SHARE * len(found)))


def _shorten(one: Recording) -> Recording:
    return replace(one, most=max(4, round(SHARE * one.most)))


async def main(names: Sequence[str]) -> int:
    """Play them; 1 where something must not be."""
    began, material = time.monotonic(), Material(names)
    async with lanes() as (ways, pair):
        print(f"two proxies stand after {time.monotonic() - began:.0f} s", flush=True)
        expected = material.expect([door for door, _ in ways])
        ledger = Ledger(Path(FILE) if FILE else None, material.everything)
        for way, lane in ways.items():
            lane.account = ledger.account_of(way)
        showing = asyncio.ensure_future(_show_progress(ways, expected))
        deadline = began + 60 * MINUTES
        await asyncio.gather(
            *(_play(Part(way, lane, ledger, deadline), material) for way, lane in ways.items())
        )
        showing.cancel()
    accounts = {way: lane.account for way, lane in ways.items()}
    print(f"\n{(time.monotonic() - began) / 60:.1f} minutes\n\n{tell_lanes(accounts)}\n")
    print(tell_sets(accounts, material.found))
    for crash in pair.crashes:
        print(f"a proxy ended by itself, and was started again: {crash}", flush=True)
    return int(any(account.faults for account in accounts.values()))


@dataclass(frozen=True, slots=True)
class Part:
    """One lane of this run: what it has not played yet is played until the deadline."""

    way: tuple[str, str]
    lane: Lane
    ledger: Ledger
    deadline: float

    async def play(self, one: Recording) -> None:
        """Play one conversation, unless an earlier run has, or the time is over."""
        if not self.ledger.has_played(self.way, one) and time.monotonic() < self.deadline:
            await self.lane.play(one)
            self.ledger.note(self.way, one, self.lane.account)


async def _play(part: Part, material: Material) -> None:
    """Play all of one lane: single bodies, what was accepted of them as long conversations, and chats."""
    door = part.lane.door
    for one in material.bodies[door]:
        await part.play(one)
    accepted = [one for one in part.lane.account.accepted if one.ends and one.source in BODY_SETS[door]]
    for start in range(0, len(accepted), JOINED):
        some = accepted[start : start + JOINED]
        await part.play(join(some, f"{some[0].source} {start}", JOINED_CALLS))
    for one in material.chats:
        await part.play(one)


async def _show_progress(ways: Lanes, expected: int) -> None:
    """Print a line now and then, and each fault once it is found."""
    first, shown = time.monotonic(), dict.fromkeys(ways, 0)
    earlier = sum(lane.account.calls for lane in ways.values())
    while True:
        await asyncio.sleep(PROGRESS_SECONDS)
        for (door, provider), lane in ways.items():
            for fault in lane.account.faults[shown[door, provider] :]:
                print(f"{door}, {provider}: {fault}", flush=True)
            shown[door, provider] = len(lane.account.faults)
        accounts = [lane.account for lane in ways.values()]
        print(tell_progress(accounts, expected, earlier, time.monotonic() - first), flush=True)


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main(sys.argv[1:])))
