"""The breaker by an injected clock, and the deadline of a loop that stood still."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable

import pytest
import uvloop

from gateway_compaction.adapters.redis.breaker import Breaker, deadline
from gateway_compaction.errors import StoreBusy


class Clock:
    """Time as the test sets it."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def fail(breaker: Breaker) -> None:
    probe = breaker.enter()
    breaker.record_failure(probe)
    breaker.leave(probe)


def succeed(breaker: Breaker) -> None:
    probe = breaker.enter()
    breaker.record_success(probe)
    breaker.leave(probe)


def test_two_failures_in_a_row_open_it() -> None:
    breaker = Breaker(Clock(), failures=2)
    fail(breaker)
    succeed(breaker)
    fail(breaker)
    succeed(breaker)
    fail(breaker)
    fail(breaker)
    with pytest.raises(StoreBusy):
        breaker.enter()


def test_three_do_where_nothing_else_is_said() -> None:
    breaker = Breaker(Clock())
    fail(breaker)
    fail(breaker)
    assert breaker.state == "closed"
    fail(breaker)
    assert breaker.state == "open"


def test_the_pause_doubles_with_each_failed_probe_up_to_its_longest() -> None:
    clock = Clock()
    breaker = Breaker(clock, failures=2)
    fail(breaker)
    fail(breaker)
    for pause in (2, 4, 8, 16, 30, 30):
        clock.now += pause - 0.1
        with pytest.raises(StoreBusy):
            breaker.enter()
        clock.now += 0.2
        fail(breaker)
    clock.now += 31
    succeed(breaker)
    assert breaker.state == "closed"
    fail(breaker)
    fail(breaker)
    clock.now += 2.1
    succeed(breaker)


def test_one_call_probes_while_the_others_are_refused() -> None:
    clock = Clock()
    breaker = Breaker(clock, failures=2)
    fail(breaker)
    fail(breaker)
    clock.now += 3
    assert breaker.enter()
    with pytest.raises(StoreBusy):
        breaker.enter()
    assert breaker.state == "open"
    breaker.record_success(True)
    breaker.leave(True)
    assert not breaker.enter()


def test_a_cancelled_probe_leaves_its_place() -> None:
    clock = Clock()
    breaker = Breaker(clock, failures=2)
    fail(breaker)
    fail(breaker)
    clock.now += 3
    breaker.leave(breaker.enter())
    assert breaker.state == "open"
    assert breaker.enter()


def test_calls_from_before_it_opened_change_nothing() -> None:
    clock = Clock()
    breaker = Breaker(clock, failures=2)
    calls = [breaker.enter() for _ in range(6)]
    for probe in calls[:5]:
        breaker.record_failure(probe)
    breaker.record_success(calls[5])
    assert breaker.state == "open"
    clock.now += 2.1
    assert breaker.enter()


async def test_a_deadline_ends_what_takes_too_long() -> None:
    with pytest.raises(TimeoutError):
        async with deadline(0.01):
            await asyncio.sleep(10)
    async with deadline(5):
        await asyncio.sleep(0)


async def _stand_still() -> bytes:
    """Wait for an answer that arrives in time, on a loop that then stands still until long after."""
    here, there = socket.socketpair()
    with there:
        reader, writer = await asyncio.open_connection(sock=here)
        sender = threading.Timer(0.03, there.sendall, [b"here\n"])
        asyncio.get_running_loop().call_later(0.01, time.sleep, 0.2)
        sender.start()
        try:
            async with deadline(0.05):
                return await reader.readline()
        finally:
            sender.join()
            writer.close()
            await writer.wait_closed()


async def test_a_loop_that_never_keeps_up_waits_four_times_at_most() -> None:
    loop, stalls = asyncio.get_running_loop(), []

    def stall() -> None:
        time.sleep(0.04)
        stalls.append(1)
        # Where nothing ended the wait the loop is let go, and the next look is in time.
        if len(stalls) < 20:
            loop.call_soon(stall)

    with pytest.raises(TimeoutError):
        async with deadline(0.02) as waiting:
            stall()
            await asyncio.sleep(30)
    assert waiting.stalled and len(stalls) < 12


@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_a_loop_that_stood_still_may_read_what_arrived_meanwhile(
    loop: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    with asyncio.Runner(loop_factory=loop) as runner:
        assert runner.run(_stand_still()) == b"here\n"


async def test_a_loop_that_is_late_proves_nothing_about_the_other_side() -> None:
    loop = asyncio.get_running_loop()
    async with deadline(0.05) as answered:
        loop.call_later(0.04, time.sleep, 0.1)
        await asyncio.sleep(0.1)
    assert answered.stalled
    with pytest.raises(TimeoutError):
        async with deadline(0.05) as unanswered:
            loop.call_later(0.04, time.sleep, 0.1)
            await asyncio.sleep(30)
    assert not unanswered.stalled
