"""The store fails in every way: requests are decided all the same, and nothing needs repair afterwards."""

from __future__ import annotations

import logging
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from gateway_compaction.engine.post_call import Ending
from gateway_compaction.engine.request import Planned
from gateway_compaction.engine.worker import Limits
from gateway_compaction.errors import StoreBusy, StoreError
from tests.engine.histories import chat, grown, loop
from tests.engine.rig import Rig, events
from tests.lab.validity import violations
from tests.lab.waiting import until

LONG = chat(60)


@pytest.fixture(params=[StoreError("no answer"), StoreBusy("asked again in 2 s")], ids=["down", "busy"])
def error(request: pytest.FixtureRequest) -> StoreError:
    """What the store says: it failed, or it is not asked for a while."""
    found: StoreError = request.param
    return found


class TestDown:
    """Nothing answers."""

    async def test_what_fits_passes_and_no_model_is_asked(self, rig: Rig, error: StoreError) -> None:
        rig.store.fail(error)
        calls = [await rig.call(call) for call in grown(chat(35))]
        assert all(c.messages is None for c in calls)
        assert calls[-1].outcome == "passthrough" and "the store does not answer" in calls[-1].reason
        assert rig.summarizer.requests == []

    async def test_what_does_not_fit_is_made_to_fit_and_stays_as_it_was(
        self, rig: Rig, error: StoreError
    ) -> None:
        rig.store.fail(error)
        made: list[list[Any]] = []
        for call in grown(chat(71)):
            decision = await rig.call(call)
            assert decision.tokens_after is None or decision.tokens_after < 2_000
            if decision.messages is not None:
                assert not violations(decision.messages, call)
                made.append(decision.messages)
                assert isinstance(decision, Planned)
                assert decision.outcome == ("fallback" if decision.plan.made else "applied")
        growing = [later[: len(now)] == now for now, later in pairwise(made)]
        # The prefix breaks only where the extract was extended.
        assert growing.count(False) <= 2 and len(growing) > 12

    @pytest.mark.parametrize("messages", [chat(71), loop(40)], ids=["chat", "loop"])
    async def test_the_same_request_gets_the_same_bytes(
        self, rig: Rig, error: StoreError, messages: list[Any]
    ) -> None:
        rig.store.fail(error)
        first, second = await rig.call(messages), await rig.call(messages)
        assert first.outcome == "fallback" and first.messages == second.messages

    async def test_requests_do_not_warn_of_it_one_by_one(
        self, rig: Rig, caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.DEBUG, logger="gateway_compaction"):
            rig.store.fail(StoreBusy("asked again in 2 s"))
            await rig.call(LONG)
            told = [r for r in caplog.records if "asked again" in r.getMessage()]
            assert told and all(r.levelno == logging.DEBUG for r in told)

    async def test_no_log_line_holds_a_message(
        self, rig: Rig, error: StoreError, caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.DEBUG):
            rig.store.fail(error)
            await rig.call([*LONG[:-1], {"role": "user", "content": "My secret is swordfish."}])
            rig.store.faults = {}
            rig.summarizer.answers = ["", ""]
            await rig.call(LONG)
        assert caplog.records and "swordfish" not in caplog.text and "chat 3" not in caplog.text


class TestRecovery:
    """The next calls recover by themselves."""

    async def test_an_extract_made_without_the_store_is_replaced_when_it_is_back(
        self, rig: Rig, error: StoreError
    ) -> None:
        rig.store.fail(error)
        first = await rig.call(LONG)
        again = await rig.call(LONG)
        assert first.outcome == "fallback" and again.outcome == "applied"
        assert again.messages == first.messages
        rig.store.faults = {}
        assert (await rig.call(LONG)).messages == first.messages
        assert len(rig.summarizer.requests) == 1
        assert (await rig.call(LONG)).reason == "model"

    async def test_an_answer_to_a_bypass_is_remembered_without_the_store(
        self, rig: Rig, error: StoreError
    ) -> None:
        rig.store.fail(error)
        await rig.call(LONG, Ending("refused"))
        decision = await rig.call(LONG)
        assert (decision.outcome, decision.messages) == ("bypassed", None)
        rig.clock.now += 299
        assert (await rig.call(LONG)).outcome == "bypassed"
        rig.clock.now += 2
        assert (await rig.call(LONG)).messages is not None


class TestParts:
    """One call of the store fails, the others do not."""

    async def test_put_fails(self, rig: Rig, error: StoreError) -> None:
        rig.store.fail(error, "put")
        first = await rig.call(LONG)
        again = await rig.call(LONG)
        assert again.messages == first.messages
        assert rig.worker.counts["failed"] >= 1 and rig.worker.counts["made"] == 0
        rig.store.faults = {}
        assert (await rig.call(LONG)).messages == first.messages

    async def test_a_summary_that_could_not_be_stored_is_not_used_by_half(
        self, rig: Rig, error: StoreError
    ) -> None:
        calls = list(grown(chat(59)))
        rig.store.fail(error, "put")
        for call in calls[:16]:
            assert (await rig.call(call)).version is None
        rig.store.faults = {}
        # The lease of the failed write has to run out: nobody else may have been told that it is free.
        assert (await rig.call(calls[16])).outcome in ("passthrough", "fallback")

    async def test_append_fails(self, rig: Rig, error: StoreError) -> None:
        rig.store.fail(error, "append")
        calls = [await rig.call(call) for call in grown(chat(59))]
        assert (calls[-1].outcome, calls[-1].version) == ("applied", 2)
        assert calls[-1].session is not None
        assert await events(rig.redis, calls[-1].session) == []

    async def test_claim_fails(self, rig: Rig, error: StoreError) -> None:
        rig.store.fail(error, "claim")
        await rig.call(LONG)
        assert rig.summarizer.requests == []
        assert rig.worker.counts == {"submitted": 1, "made": 0, "failed": 1, "taken": 0, "dropped": 0}

    async def test_a_claim_that_failed_is_tried_again(self, rig: Rig, error: StoreError) -> None:
        rig.store.fail(error, "claim")
        await rig.call(LONG)
        rig.store.faults = {}
        await rig.call(LONG)
        assert (await rig.call(LONG)).reason == "model"

    async def test_release_fails(self, rig: Rig, error: StoreError) -> None:
        rig.store.fail(error, "release")
        rig.summarizer.answers = [""]
        decision = await rig.call(LONG)
        assert decision.outcome == "fallback" and rig.worker.counts["failed"] >= 1
        assert rig.store.calls["release"] == 1
        assert (await rig.call(LONG)).messages == decision.messages

    async def test_renew_fails(self, rigs: Callable[..., Rig], error: StoreError) -> None:
        rig = rigs(limits=Limits(lease_seconds=1.5))
        rig.store.fail(error, "renew")
        rig.summarizer.gate.clear()
        await rig.call(LONG, settle=False)
        await until(lambda: rig.store.calls.get("renew"), "a renewal")
        rig.summarizer.gate.set()
        await rig.settle()
        assert (await rig.call(LONG)).reason == "model"
