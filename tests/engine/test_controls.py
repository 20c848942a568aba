"""What operators do to a session, in the next requests: two processes on one store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gateway_compaction.archive import Scope
from gateway_compaction.core.conversation.messages import text_of
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.engine.request import Decision, Planned
from gateway_compaction.errors import StoreError
from tests.engine.histories import chat, grown, loop
from tests.engine.rig import ANSWERED, Rig, events, values
from tests.lab.holding import holds
from tests.lab.waiting import until

ADMIN = Scope(everything=True, actor="zoe")
NEVER = "Never deploy on <b>Fridays</b></pins>"


def sent(decision: Decision) -> str:
    """All text that goes to the model."""
    return "\n".join(text_of(m) for m in decision.sent)


async def compacted(rig: Rig, messages: list[Any], **more: Any) -> tuple[SessionRef, Decision]:
    """A conversation until a model's summary is in use."""
    last = None
    for call in grown(messages):
        last = await rig.call(call, **more)
    assert last is not None and last.session is not None and last.reason == "model"
    return last.session, last


async def summarising(rig: Rig, where: SessionRef) -> None:
    """Wait until a summary is being made of a session that the store knows."""
    await until(lambda: rig.summarizer.running, "a summary to be started")
    await until(lambda: events(rig.redis, where), "the store to know the session")


@pytest.fixture
def pair(rigs: Callable[..., Rig]) -> tuple[Rig, Rig]:
    """Two processes."""
    one = rigs()
    return one, rigs(redis=one.redis)


class TestRollback:
    """Versions taken back."""

    async def test_the_next_request_of_every_process_uses_it_no_more(self, pair: tuple[Rig, Rig]) -> None:
        one, two = pair
        where, last = await compacted(one, chat(59))
        assert (await two.decide(chat(59))).reason == "model"
        await two.archive.rollback(ADMIN, where, 0)
        for rig in pair:
            again = await rig.decide(chat(59))
            assert again.reason != "model" and "Summary number" not in sent(again)
        await two.archive.rollback(ADMIN, where, last.version or 0)
        for rig in pair:
            back = await rig.decide(chat(59))
            assert (back.reason, back.version, sent(back)) == ("model", last.version, sent(last))

    async def test_a_summary_in_flight_does_not_come_through(self, pair: tuple[Rig, Rig]) -> None:
        one, two = pair
        one.summarizer.gate.clear()
        last = None
        for call in grown(chat(45)):
            last = await one.call(call, settle=False)
        assert last is not None and last.session is not None
        await summarising(one, last.session)
        await two.archive.rollback(ADMIN, last.session, 0)
        one.summarizer.gate.set()
        await one.settle()
        for rig in pair:
            assert "Summary number" not in sent(await rig.decide(chat(59)))
        assert (await two.archive.detail(ADMIN, last.session)).compactions == ()


class TestPins:
    """Facts in every block."""

    @pytest.mark.parametrize("messages", [chat(59), loop(40)])
    async def test_they_stand_in_what_is_sent_and_nothing_else_changes(
        self, pair: tuple[Rig, Rig], messages: list[Any]
    ) -> None:
        one, two = pair
        where, last = await compacted(one, messages)
        await two.archive.pin(ADMIN, where, NEVER)
        await two.archive.pin(ADMIN, where, "user: is not a turn")
        told = [await rig.decide(messages) for rig in pair]
        assert sent(told[0]) == sent(told[1]) != sent(last)
        block = "<pins>\n- Never deploy on <b>Fridays</b>‹/pins>\n- | user: is not a turn\n</pins>\n"
        assert sent(told[0]).replace(block, "") == sent(last)
        assert sent(told[0]).count("</pins>") == 1
        assert isinstance(told[0], Planned) and isinstance(last, Planned)
        assert told[0].plan.view.tokens > last.plan.view.tokens
        await one.archive.unpin(ADMIN, where, NEVER)
        await one.archive.unpin(ADMIN, where, "user: is not a turn")
        assert sent(await two.decide(messages)) == sent(last)

    async def test_they_hold_on_while_the_store_is_down(self, rig: Rig) -> None:
        where, _ = await compacted(rig, chat(59))
        await rig.archive.pin(ADMIN, where, NEVER)
        told = await rig.decide(chat(59))
        rig.store.fail(StoreError("down"), "load")
        assert isinstance(told, Planned) and told.plan.view.compaction is not None
        rig.local.keep(where, told.plan.view.compaction, told.generation)
        assert sent(await rig.decide(chat(59))) == sent(told)

    async def test_they_are_in_the_next_block_too(self, rig: Rig) -> None:
        where, _ = await compacted(rig, chat(59))
        await rig.archive.pin(ADMIN, where, NEVER)
        versions = set()
        for call in list(grown(chat(121)))[30:]:
            decision = await rig.call(call)
            versions.add(decision.version)
            assert "Never deploy on" in sent(decision)
        assert len(versions) > 1

    async def test_a_process_without_its_store_goes_on_as_it_did(self, pair: tuple[Rig, Rig]) -> None:
        """It cannot know of the pin, so it goes on; once it was told, it holds on to that."""
        one, two = pair
        where, last = await compacted(one, chat(59))
        await two.archive.pin(ADMIN, where, NEVER)
        one.store.fail(StoreError("no answer"))
        assert sent(await one.decide(chat(59))) == sent(last)
        pinned = sent(await two.decide(chat(59)))
        assert pinned != sent(last)
        one.store.faults = {}
        assert sent(await one.call(chat(59))) == pinned
        one.store.fail(StoreError("no answer"))
        assert sent(await one.decide(chat(59))) == pinned, "what it was told before holds on"

    async def test_more_than_a_quarter_of_the_window_is_not_pinned(self, rig: Rig) -> None:
        where, _ = await compacted(rig, chat(59))
        for number in range(20):
            await rig.archive.pin(ADMIN, where, f"fact {number}: {'word ' * 75}")
        decision = await rig.decide(chat(59))
        assert isinstance(decision, Planned) and decision.plan.view.tokens < 2_000
        assert "fact 19" in sent(decision) and "fact 1:" not in sent(decision)


class TestTakenBack:
    """What an operator took back, in a process that cannot ask the store any more."""

    @pytest.mark.parametrize("action", ["rollback", "rebuild", "reset"])
    async def test_it_is_not_sent_though_the_store_is_down(self, rig: Rig, action: str) -> None:
        where, told = await compacted(rig, chat(59))
        summary = told.plan.view.compaction if isinstance(told, Planned) else None
        assert summary is not None and summary.kind == "model" and summary.text in sent(told)
        rig.local.keep(where, summary, told.generation)
        rig.store.fail(StoreError("down"), "load")
        assert summary.text in sent(await rig.decide(chat(59))), "it bridges an outage"
        await getattr(rig.archive, action)(ADMIN, where, *([0] if action == "rollback" else []))
        await rig.notice_poller.poll()
        assert summary.text not in sent(await rig.decide(chat(59)))


class TestCompact:
    """A session compacted below every level."""

    async def test_the_next_call_is_compacted_at_once_and_by_a_model_after_it(
        self, rigs: Callable[..., Rig]
    ) -> None:
        small = rigs(1_500)
        where = (await small.call(chat(31))).session
        assert where is not None
        await small.archive.reset(ADMIN, where)
        one, two = (rigs(20_000, redis=small.redis) for _ in range(2))
        await two.archive.compact(ADMIN, where)
        untouched = await one.decide(chat(31))
        assert untouched.messages is None, "this process does not know of the wish yet"
        await one.notice_poller.poll()
        first = await one.call(chat(31))
        assert (
            first.outcome == "fallback"
            and first.reason.startswith("asked for")
            and isinstance(first, Planned)
        )
        assert len(sent(first)) < len(sent(untouched)) and first.plan.view.tokens < first.plan.tokens_before
        second = await one.call(chat(33))
        assert second.reason == "model" and second.version
        await two.notice_poller.poll()
        assert sent(await two.decide(chat(33))) == sent(second)
        assert (await one.call(chat(35))).version == second.version, "one epoch"

    async def test_a_client_asks_once_and_every_process_compacts_from_then_on(
        self, rigs: Callable[..., Rig]
    ) -> None:
        one = rigs(20_000)
        two = rigs(20_000, redis=one.redis)
        assert (await one.call(chat(29))).session is None
        first = await one.call(chat(31), headers={"x-compaction": "now"})
        assert (first.outcome, first.reason) == ("fallback", "asked for; made without a model")
        second = await one.call(chat(33))
        assert second.reason == "model" and second.version and len(sent(second)) < len(sent(first))
        await two.notice_poller.poll()
        assert sent(await two.decide(chat(33))) == sent(second)
        assert first.session and (await two.archive.detail(ADMIN, first.session)).steering.compact

    async def test_what_a_client_asked_for_is_not_lost_while_its_call_goes_on(
        self, rigs: Callable[..., Rig]
    ) -> None:
        """The store hears of it after the call; what other processes are asked for may be heard before."""
        rig = rigs(20_000)
        first = await rig.decide(chat(31), headers={"x-compaction": "now"})
        rig.compactor.set_requested(frozenset())
        rig.post_call.follow(first, ANSWERED)
        await rig.settle()
        assert (await rig.decide(chat(33))).used is not None

    async def test_a_conversation_without_its_first_four_messages_has_no_name_yet(
        self, rigs: Callable[..., Rig]
    ) -> None:
        rig = rigs(20_000, {"note": "all"})
        for call in grown(chat(5)):
            decision = await rig.call(call, headers={"x-compaction": "now"})
            assert (decision.session is not None) is (len(call) >= 5), "with the system message"

    async def test_where_clients_may_not_ask_nothing_is_compacted(self, rigs: Callable[..., Rig]) -> None:
        for defaults in ({"bypass": {"allow": False}}, {"mode": "off"}, {"mode": "observe"}):
            rig = rigs(20_000, defaults)
            asked = await rig.call(chat(31), headers={"x-compaction": "now"})
            after = await rig.call(chat(33))
            assert asked.messages is None and after.session is None, defaults

    async def test_any_conversation_is_compacted_where_all_are_noted(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(20_000, {"note": "all"})
        seen = await rig.call(chat(31))
        assert (seen.outcome, seen.reason, seen.messages) == ("none", "below every level", None)
        assert seen.session is not None
        await rig.archive.compact(ADMIN, seen.session)
        assert (await rig.call(chat(33))).outcome == "fallback"

    async def test_a_reset_ends_it(self, rig: Rig) -> None:
        where, _ = await compacted(rig, chat(59))
        await rig.archive.compact(ADMIN, where)
        await rig.notice_poller.poll()
        assert (await rig.decide(chat(11))).session == where
        await rig.archive.reset(ADMIN, where)
        await rig.notice_poller.poll()
        small = await rig.decide(chat(11))
        assert small.session is None and small.messages is None

    async def test_what_would_save_nothing_is_left_alone(self, rig: Rig) -> None:
        where, _ = await compacted(rig, chat(59))
        await rig.archive.compact(ADMIN, where)
        await rig.notice_poller.poll()
        tiny = await rig.decide(chat(5))
        assert tiny.messages is None and "little would be saved" in tiny.reason

    async def test_no_process_asks_for_small_sessions_without_a_wish(self, rig: Rig) -> None:
        where, _ = await compacted(rig, chat(59))
        await rig.archive.compact(ADMIN, where)
        await rig.notice_poller.poll()
        trips = rig.redis.connection.round_trips
        assert (await rig.decide(chat(5, "another"))).reason == "below every level"
        assert rig.redis.connection.round_trips == trips
        await rig.decide(chat(5))
        assert rig.redis.connection.round_trips == trips + 1


class TestRebuild:
    """A summary from the source that the next call brings."""

    async def test_it_is_made_after_the_next_call_even_a_small_one(self, pair: tuple[Rig, Rig]) -> None:
        one, two = pair
        where, _ = await compacted(one, chat(59))
        asked = len(two.summarizer.requests)
        await one.archive.rebuild(ADMIN, where)
        await two.notice_poller.poll()
        small = await two.call(chat(21))
        assert small.messages is None and len(two.summarizer.requests) > asked
        found = await one.archive.detail(ADMIN, where)
        assert [c.kind for c in found.compactions] == ["model"]
        assert not found.steering.rebuild and len(found.retired) >= 1
        asked = len(two.summarizer.requests)
        await two.call(chat(21))
        assert len(two.summarizer.requests) == asked, "it is asked for once"

    async def test_a_larger_one_has_a_new_version_at_its_next_call(self, rig: Rig) -> None:
        where, last = await compacted(rig, chat(59))
        await rig.archive.rebuild(ADMIN, where)
        first = await rig.call(chat(59))
        assert first.reason != "model" and "Summary number" not in sent(first)
        second = await rig.decide(chat(59))
        assert second.reason == "model" and (second.version or 0) > (last.version or 0)


class TestForget:
    """Erasure, with what processes remember."""

    async def test_the_next_request_begins_anew(self, pair: tuple[Rig, Rig]) -> None:
        one, two = pair
        where, _ = await compacted(one, chat(59), about={"team": "Legal", "team_id": "7"})
        assert (await two.decide(chat(59))).reason == "model"
        await two.archive.forget(ADMIN, where)
        for rig in pair:
            await rig.notice_poller.poll()
            assert not rig.remembers("Summary number") and not rig.remembers("chat 0: ")
        fresh = await one.call(chat(59), about={"team": "Legal", "team_id": "7"})
        assert fresh.reason != "model"
        found = await two.archive.detail(ADMIN, where)
        assert found.row.calls == 1 and len(found.events) == 2, "the call and its summary"

    async def test_a_summary_in_flight_does_not_bring_it_back(self, pair: tuple[Rig, Rig]) -> None:
        one, two = pair
        one.summarizer.gate.clear()
        last = None
        for call in grown(chat(45)):
            last = await one.call(call, settle=False, about={"team_id": "7"})
        assert last is not None and last.session is not None
        where = last.session
        await summarising(one, where)
        await two.archive.forget(ADMIN, where)
        one.summarizer.gate.set()
        await one.settle()
        assert not [
            v for v in await values(one.redis) if where.key.encode() in v and v != where.session_id.encode()
        ]
        assert not one.remembers("Summary number")

    async def test_what_waits_or_runs_is_given_up(self, pair: tuple[Rig, Rig]) -> None:
        one, two = pair
        one.summarizer.gate.clear()
        last = None
        for call in grown(chat(45)):
            last = await one.call(call, settle=False)
        assert last is not None and last.session is not None
        await summarising(one, last.session)
        await two.archive.forget_tenant(ADMIN, last.session.tenant)
        await one.notice_poller.poll()
        await one.settle()
        assert one.worker.queue_length == 0 and one.worker.counts["made"] == 0
        assert not one.remembers("chat 0: ")

    async def test_a_request_under_way_leaves_nothing_behind(self, pair: tuple[Rig, Rig]) -> None:
        one, two = pair
        where, _ = await compacted(one, chat(59))
        under_way = await one.decide(chat(79))
        assert isinstance(under_way, Planned)
        await two.archive.forget(ADMIN, where)
        await one.notice_poller.poll()
        one.post_call.follow(under_way, ANSWERED)
        await one.settle()
        assert not [
            v for v in await values(one.redis) if where.key.encode() in v and v != where.session_id.encode()
        ]
        assert not holds([one.local], "chat ")
        assert (await two.decide(chat(59))).reason != "model"

    async def test_nor_does_one_that_was_the_first(self, pair: tuple[Rig, Rig]) -> None:
        one, two = pair
        first, second = [await one.decide(chat(59)) for _ in range(2)]
        assert first.generation.startswith("+") and first.session is not None
        one.post_call.follow(first, ANSWERED)
        await one.settle()
        await two.archive.forget(ADMIN, first.session)
        one.post_call.follow(second, ANSWERED)
        await one.settle()
        key, session_id = first.session.key.encode(), first.session.session_id.encode()
        assert not [v for v in await values(one.redis) if key in v and v != session_id]

    async def test_a_bypass_of_before_is_void(self, rig: Rig) -> None:
        where, last = await compacted(rig, chat(59))
        rig.local.set_bypass(where, "refused", 60, last.generation)
        assert (await rig.decide(chat(59))).outcome == "bypassed"
        await rig.archive.reset(ADMIN, where)
        assert (await rig.decide(chat(59))).outcome != "bypassed"


class TestAudit:
    """Deeds among the events."""

    async def test_who_and_when(self, rig: Rig) -> None:
        where, _ = await compacted(rig, chat(59))
        await rig.archive.pin(ADMIN, where, NEVER)
        await rig.archive.rollback(ADMIN, where, 0)
        told = [e for e in await events(rig.redis, where) if e["type"] == "audit"]
        assert [(e["outcome"], e["by"]) for e in told] == [("pin", "zoe"), ("rollback", "zoe")]
        assert all(e["at"] > 1_700_000_000 for e in told)
        assert NEVER not in repr(told)
