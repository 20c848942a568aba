"""Background summaries: claimed once, bounded, renewed, given back, drained."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gateway_compaction.core.records.compaction import Compaction, Segment
from gateway_compaction.engine.request import Planned
from gateway_compaction.engine.summary_task import SummaryTask
from gateway_compaction.engine.worker import Limits, Worker
from gateway_compaction.errors import StoreError, SummaryError, SummaryRejected, SummaryTimeout
from tests.engine.histories import chat, grown
from tests.engine.rig import Rig, events
from tests.lab.waiting import until


async def task(rig: Rig, name: str = "chat", messages: int = 31) -> SummaryTask:
    """The summary that a conversation near its window asks for."""
    decision = await rig.decide(chat(messages, name))
    assert isinstance(decision, Planned)
    wanted = SummaryTask.from_decision(decision)
    assert wanted is not None
    return wanted


async def stored(rig: Rig, wanted: SummaryTask) -> Compaction | None:
    """What the store holds for a task."""
    found = (await rig.redis.load(wanted.session, [wanted.job.digest])).compactions
    return found[0] if found else None


class TestClaims:
    """One at a time for a prefix, across all replicas."""

    async def test_fifty_submits_of_one_summary_make_one(self, rigs: Callable[..., Rig]) -> None:
        one = rigs()
        other = rigs(redis=one.redis)
        wanted = await task(one)
        running = [rig.worker.submit(wanted) for _ in range(25) for rig in (one, other)]
        assert len({id(r) for r in running}) == 2
        await asyncio.gather(*(r for r in running if r is not None))
        assert len(one.summarizer.requests) + len(other.summarizer.requests) == 1
        assert sorted([one.worker.counts["made"], other.worker.counts["made"]]) == [0, 1]
        assert sorted([one.worker.counts["taken"], other.worker.counts["taken"]]) == [0, 1]
        kept = await stored(one, wanted)
        assert kept is not None and kept.version == 1
        assert [e["outcome"] for e in await events(one.redis, wanted.session)] == ["made"]

    async def test_fifty_submits_of_twenty_five_summaries_make_twenty_five(
        self, rigs: Callable[..., Rig]
    ) -> None:
        one = rigs()
        other = rigs(redis=one.redis)
        wanted = [await task(one, f"talk{n}") for n in range(25)]
        running = [rig.worker.submit(w) for w in wanted for rig in (one, other)]
        await asyncio.gather(*(r for r in running if r is not None))
        assert len(one.summarizer.requests) + len(other.summarizer.requests) == 25
        assert one.worker.counts["made"] + other.worker.counts["made"] == 25
        assert all(await asyncio.gather(*(stored(one, w) for w in wanted)))

    async def test_none_is_lost_to_the_garbage_collector(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs()
        wanted = [await task(rig, f"talk{n}") for n in range(20)]
        for one in wanted:
            # Nobody else holds what was started.
            assert rig.worker.submit(one) is not None
            await asyncio.sleep(0)
            gc.collect()
        await rig.worker.drain(20.0)
        assert rig.worker.counts["made"] == 20

    async def test_a_longer_prefix_waits_for_the_shorter_one(self, rigs: Callable[..., Rig]) -> None:
        one = rigs()
        other = rigs(redis=one.redis)
        shorter, longer = await task(one), await task(one, messages=41)
        assert shorter.session == longer.session and shorter.job.digest in longer.other_digests
        one.summarizer.gate.clear()
        first = one.worker.submit(shorter)
        await until(lambda: one.summarizer.running, "the first summary")
        second = other.worker.submit(longer)
        assert first is not None and second is not None
        await second
        assert other.worker.counts["taken"] == 1 and other.summarizer.requests == []
        decision = await other.decide(chat(31))
        assert decision.reason.endswith("a summary is being made")
        one.summarizer.gate.set()
        await first

    async def test_a_summary_of_another_cut_that_came_meanwhile_outdoes_a_task(
        self, rigs: Callable[..., Rig]
    ) -> None:
        """Both were decided before either was made: the second would show a model the same messages again."""
        one = rigs()
        other = rigs(redis=one.redis)
        shorter, longer = await task(one), await task(other, messages=41)
        assert shorter.job.base is longer.job.base is None
        for rig, wanted in ((one, shorter), (other, longer)):
            running = rig.worker.submit(wanted)
            assert running is not None
            await running
        assert other.summarizer.requests == [] and other.worker.counts["taken"] == 1
        # Its claim was given back: the next call decides anew, and builds upon what there is.
        assert not (await one.redis.load(shorter.session, [longer.job.digest])).in_flight
        then = await task(other, messages=61)
        assert then.job.base is not None and then.job.base.covers == shorter.job.covers
        running = other.worker.submit(then)
        assert running is not None
        await running
        assert other.worker.counts["made"] == 1

    async def test_what_exists_is_not_made_again(self, rig: Rig) -> None:
        wanted = await task(rig)
        for _ in range(2):
            running = rig.worker.submit(wanted)
            assert running is not None
            await running
        assert rig.worker.counts["taken"] == 1 and len(rig.summarizer.requests) == 1


class TestWriting:
    """What a model was paid for is not thrown away because the store fails when it is written."""

    async def test_it_is_written_once_more(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(limits=Limits(write_pauses=(0.05, 60.0)))
        wanted = await task(rig)
        rig.store.fail(StoreError("no answer"), "put")
        running = rig.worker.submit(wanted)
        await until(lambda: rig.store.calls.get("put") == 1, "the first try")
        rig.store.faults = {}
        await _done(running)
        assert (await stored(rig, wanted)) is not None
        assert rig.worker.counts["made"] == len(rig.summarizer.requests) == 1

    async def test_a_store_that_stays_away_is_not_asked_for_ever(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(limits=Limits(write_pauses=(0.0, 0.0)))
        rig.store.fail(StoreError("no answer"), "put")
        await _done(rig.worker.submit(await task(rig)))
        assert rig.store.calls["put"] == 3
        assert (rig.worker.counts["failed"], rig.worker.counts["made"]) == (1, 0)


class TestLeases:
    """A claim that is not renewed is lost, and with it the right to write."""

    async def test_a_lost_claim_never_writes(self, rigs: Callable[..., Rig]) -> None:
        slow = rigs(limits=Limits(lease_seconds=0.2))
        quick = rigs(redis=slow.redis)
        quick.summarizer.answers = ["<summary>The second one made this.</summary>"]
        wanted = await task(slow)
        slow.store.fail(StoreError("no answer"), "renew")
        slow.summarizer.gate.clear()
        late = slow.worker.submit(wanted)
        await until(lambda: slow.summarizer.running, "the first summary")

        async def free() -> bool:
            return not (await slow.redis.load(wanted.session, [wanted.job.digest])).in_flight

        await until(free, "the lease to end")
        taken = quick.worker.submit(wanted)
        assert late is not None and taken is not None
        await taken
        slow.summarizer.gate.set()
        await late
        kept = await stored(slow, wanted)
        assert kept is not None and (kept.text, kept.version) == ("The second one made this.", 1)
        assert slow.worker.counts["made"] == 0 and slow.worker.counts["taken"] == 1
        assert slow.local.merge_compactions(wanted.session, [wanted.job.digest], ()) == ()
        assert [e["outcome"] for e in await events(slow.redis, wanted.session)] == ["made"]

    async def test_a_claim_is_renewed_while_the_model_takes_its_time(self, rigs: Callable[..., Rig]) -> None:
        slow = rigs(limits=Limits(lease_seconds=0.9))
        other = rigs(redis=slow.redis)
        wanted = await task(slow)
        slow.summarizer.gate.clear()
        before = asyncio.all_tasks()
        running = slow.worker.submit(wanted)
        assert running is not None
        await until(lambda: slow.store.calls.get("renew", 0) >= 5, "renewals")
        refused = other.worker.submit(wanted)
        assert refused is not None
        await refused
        assert other.worker.counts["taken"] == 1
        slow.summarizer.gate.set()
        await running
        await until(lambda: asyncio.all_tasks() <= before, "the last renewal to be given up", seconds=0.25)
        assert (await stored(slow, wanted)) is not None

    async def test_a_failed_renewal_is_tried_again(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(limits=Limits(lease_seconds=0.9))
        wanted = await task(rig)
        rig.store.fail(StoreError("no answer"), "renew")
        rig.summarizer.gate.clear()
        running = rig.worker.submit(wanted)
        assert running is not None
        await until(lambda: rig.store.calls.get("renew", 0) >= 1, "a renewal")
        rig.store.faults = {}
        # So many that the lease would have ended without them.
        await until(lambda: rig.store.calls["renew"] >= 5, "more renewals")
        other = rigs(redis=rig.redis)
        await _done(other.worker.submit(wanted))
        assert other.worker.counts["taken"] == 1
        rig.summarizer.gate.set()
        await running
        assert rig.worker.counts["made"] == 1


class TestFailures:
    """A summary that is not made costs nothing but the back-off."""

    async def test_the_claim_is_given_back_and_the_session_backs_off(self, rig: Rig) -> None:
        rig.summarizer.answers = [SummaryRejected("the answer is empty")]
        wanted = await task(rig)
        await rig.call(chat(31))
        [request, failed] = await events(rig.redis, wanted.session)
        assert request["outcome"] == "prepared"
        assert (failed["type"], failed["outcome"], failed["reason"]) == (
            "summary", "failed", "the answer is empty"
        )  # fmt: skip
        assert failed["covers"] == wanted.job.covers and failed["tokens_before"] == wanted.covered_tokens
        assert failed["seconds"] >= 0 and failed["model"] == "small"
        after = await rig.call(chat(33))
        assert after.reason.endswith("; the answer is empty") and isinstance(after, Planned)
        assert after.plan.job is None and len(rig.summarizer.requests) == 1
        buffer = await rig.redis.load(wanted.session, [wanted.job.digest])
        assert (buffer.in_flight, buffer.backoff) == (frozenset(), "the answer is empty")

    @pytest.mark.parametrize(
        ("error", "longest"), [(SummaryTimeout("late"), 10), (SummaryRejected("the answer is empty"), 600)]
    )
    async def test_an_outage_of_the_summariser_never_makes_a_session_wait_for_long(
        self, rig: Rig, error: SummaryError, longest: float
    ) -> None:
        pauses = []
        released = rig.store.release

        async def release(*args: Any, **more: Any) -> None:
            pauses.append(more.get("longest_pause"))
            await released(*args, **more)

        rig.store.release = release  # type: ignore[method-assign]
        rig.summarizer.answers = [error]
        await rig.call(chat(31))
        assert pauses == [longest]

    async def test_a_fault_of_ours_gives_the_claim_back_and_the_session_backs_off(
        self, rigs: Callable[..., Rig]
    ) -> None:
        rig = rigs()
        wanted = await task(rig)

        async def broken(_: SummaryTask) -> Compaction:
            raise RuntimeError("a fault")

        worker = Worker(replace(rig.parts, store=rig.redis), broken)
        running = worker.submit(wanted)
        assert running is not None
        with pytest.raises(RuntimeError, match="a fault"):
            await running
        buffer = await rig.redis.load(wanted.session, [wanted.job.digest])
        assert (buffer.in_flight, buffer.backoff) == (frozenset(), "a fault of ours: RuntimeError")
        [failed] = await events(rig.redis, wanted.session)
        assert (failed["type"], failed["outcome"], failed["reason"]) == ("summary", "failed", buffer.backoff)
        assert worker.submit(wanted) is not running
        await worker.drain(1.0)
        assert (worker.counts["failed"], worker.counts["taken"]) == (1, 1)

    async def test_a_summariser_that_breaks_is_asked_once_and_the_log_has_it_once(
        self, rig: Rig, caplog: pytest.LogCaptureFixture
    ) -> None:
        rig.summarizer.answers = [RuntimeError("boom")] * 40
        for call in grown(chat(37), 31):
            decision = await rig.call(call)
        assert len(rig.summarizer.requests) == 1 and rig.worker.counts["failed"] == 1
        assert decision.reason.endswith("; a fault of ours: RuntimeError")
        [told] = [r for r in caplog.records if r.levelname in ("WARNING", "ERROR")]
        assert told.levelname == "ERROR" and told.exc_info is not None

    async def test_a_fault_of_ours_is_told_although_the_store_fails_then(
        self, rig: Rig, caplog: pytest.LogCaptureFixture
    ) -> None:
        rig.summarizer.answers = [RuntimeError("boom")]
        wanted = await task(rig)
        rig.store.fail(StoreError("no answer"), "release")
        running = rig.worker.submit(wanted)
        assert running is not None
        with pytest.raises(RuntimeError, match="boom"):
            await running
        assert rig.worker.counts["failed"] == 1
        assert [r.message for r in caplog.records if r.levelname == "WARNING"] == ["store: no answer"]


class TestBounds:
    """Concurrency and queue."""

    async def test_no_more_than_allowed_run_at_once(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(limits=Limits(concurrency=3))
        wanted = [await task(rig, f"talk{n}") for n in range(12)]
        rig.summarizer.gate.clear()
        for one in wanted:
            rig.worker.submit(one)
        await until(lambda: rig.summarizer.running == 3, "three summaries")
        rig.summarizer.gate.set()
        await rig.settle()
        assert rig.summarizer.most == 3 and rig.worker.counts["made"] == 12

    async def test_a_full_queue_drops_what_comes(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(limits=Limits(concurrency=1, queue=3))
        rig.summarizer.gate.clear()
        wanted = [await task(rig, f"talk{n}") for n in range(5)]
        submitted = [rig.worker.submit(one) for one in wanted]
        assert [s is None for s in submitted] == [False, False, False, True, True]
        assert rig.worker.submit(wanted[0]) is submitted[0]
        assert rig.worker.counts["dropped"] == 2
        rig.summarizer.gate.set()
        await rig.settle()
        assert rig.worker.submit(wanted[4]) is not None


class TestDrain:
    """Shutdown."""

    async def test_it_waits_for_what_is_under_way(self, rig: Rig) -> None:
        rig.summarizer.gate.clear()
        wanted = await task(rig)
        rig.worker.submit(wanted)
        asyncio.get_running_loop().call_later(0.2, rig.summarizer.gate.set)
        await rig.worker.drain(10.0)
        assert (await stored(rig, wanted)) is not None

    async def test_then_gives_up_and_gives_the_claims_back(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(limits=Limits(concurrency=1))
        other = rigs(redis=rig.redis)
        rig.summarizer.gate.clear()
        wanted = [await task(rig, f"talk{n}") for n in range(3)]
        running = [rig.worker.submit(w) for w in wanted]
        await until(lambda: rig.summarizer.running, "a summary")
        await rig.worker.drain(0.05)
        assert all(r is not None and r.cancelled() for r in running)
        assert rig.summarizer.running == 0
        for one in wanted:
            await _done(other.worker.submit(one))
        assert other.worker.counts["made"] == 3

    async def test_nothing_under_way_is_no_wait(self, rig: Rig) -> None:
        async with asyncio.timeout(1):
            await rig.worker.drain(60.0)

    async def test_writes_are_waited_for(self, rig: Rig) -> None:
        done: list[int] = []

        async def write() -> None:
            await asyncio.sleep(0.1)
            done.append(1)

        rig.worker.run_later(write())
        await rig.worker.drain(5.0)
        assert done == [1]


class TestTimes:
    """Times are the worker's clock."""

    async def test_a_record_says_when_it_was_made(self, rig: Rig) -> None:
        wanted = await task(rig)
        segments = (Segment(0, wanted.job.covers, "text"),)
        made = Compaction(wanted.job.digest, wanted.job.covers, "model", segments, cost=0.5)

        async def compose(_: SummaryTask) -> Compaction:
            rig.clock.now += 7
            return made

        worker = Worker(replace(rig.parts, store=rig.redis), compose, clock=rig.clock)
        await _done(worker.submit(wanted))
        kept = await stored(rig, wanted)
        assert kept == replace(made, created_at=1_007.0, version=1)
        [event] = await events(rig.redis, wanted.session)
        assert (event["at"], event["seconds"], event["cost"]) == (1_007.0, 7.0, 0.5)


async def _done(running: asyncio.Task[None] | None) -> None:
    assert running is not None
    await running
