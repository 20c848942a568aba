"""A compaction stands for exactly its messages: edited, regenerated, branched, slid and foreign histories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from gateway_compaction.engine.request import Decision, Planned
from tests.engine.histories import chat, grown, system
from tests.engine.rig import Rig, events, values
from tests.lab.validity import violations

OTHER = "o" * 32


async def grow(rig: Rig, messages: list[Any], start: int = 1, **more: Any) -> Decision:
    """Send every call of a conversation; the last decision."""
    calls = [await rig.call(call, **more) for call in grown(messages, start)]
    return calls[-1]


def covers(decision: Decision) -> int:
    """How many messages the compaction that was sent stands for."""
    return decision.used.covers if decision.used else 0


def told(calls: Sequence[Decision]) -> list[int]:
    """Which calls were told that the client rewrites its history."""
    return [number for number, call in enumerate(calls) if "rewrites its history" in call.reason]


class TestChangedHistories:
    """What fits is still used; what does not fit never is."""

    async def test_an_edit_goes_back_to_the_newest_summary_before_it(self, rig: Rig) -> None:
        said = chat(59)
        before = await grow(rig, said)
        assert (covers(before), before.version) == (38, 2)
        edited = list(said)
        edited[28] = {**said[28], "content": "I meant something else entirely."}
        after = await rig.call(edited)
        assert after.messages is not None and covers(after) > 28
        assert "Summary number 1" in str(after.messages[1])
        assert "Summary number 2" not in str(after.messages)
        assert (await rig.call(said)).version == 2

    async def test_so_does_a_history_that_is_continued_from_an_edit(self, rig: Rig) -> None:
        said = chat(59)
        await grow(rig, said)
        edited = [*said[:28], *chat(60, "edited")[28:41]]
        after = await rig.call(edited)
        assert (after.outcome, after.version, covers(after)) == ("applied", 1, 20)

    async def test_an_early_edit_uses_nothing(self, rig: Rig) -> None:
        said = chat(59)
        await grow(rig, said)
        edited = [said[0], said[1], {**said[2], "content": "No."}, *said[3:]]
        after = await rig.decide(edited)
        assert after.outcome == "fallback" and isinstance(after, Planned) and after.plan.made is not None
        assert "Summary number" not in str(after.messages)

    async def test_a_regenerated_answer_keeps_the_summary_before_it(self, rig: Rig) -> None:
        said = chat(59)
        before = await grow(rig, said)
        again = [*said[:-2], {**said[-2], "content": "Another answer."}, said[-1]]
        after = await rig.call(again)
        assert after.version == before.version
        assert after.messages is not None and before.messages is not None
        assert after.messages[:-2] == before.messages[:-2]

    async def test_branches_live_side_by_side(self, rig: Rig) -> None:
        trunk = chat(31)
        await grow(rig, trunk)
        left = [*trunk, *chat(61, "left")[2:]]
        right = [*trunk, *chat(61, "right")[2:]]
        used_left, used_right = await grow(rig, left, 32), await grow(rig, right, 32)
        assert used_left.session == used_right.session
        assert covers(used_left) > 32 and covers(used_right) > 32
        again = await rig.call(left)
        assert again.messages == used_left.messages
        assert "left" not in str(used_right.messages) and "right" not in str(used_left.messages)

    async def test_a_clock_in_the_system_prompt_changes_nothing(self, rig: Rig) -> None:
        said = chat(59)
        for number, call in enumerate(grown(said)):
            last = await rig.call([system(f"It is {number} o'clock."), *call[1:]])
        assert (last.outcome, last.version) == ("applied", 2)
        assert last.messages is not None and last.messages[0]["content"] == "It is 29 o'clock."

    async def test_call_ids_and_cache_marks_do_not_count(self, rig: Rig) -> None:
        said = chat(59)
        before = await grow(rig, said)
        marked = [
            {**m, "content": [{"type": "text", "text": m["content"], "cache_control": {"type": "ephemeral"}}]}
            for m in said
        ]
        after = await rig.call(marked)
        assert (after.version, covers(after)) == (before.version, covers(before))


class TestTenants:
    """Nothing crosses a tenant."""

    async def test_the_same_conversation_of_two_tenants_is_two(self, rig: Rig) -> None:
        said = chat(59)
        ours = await grow(rig, said, headers={"x-session-id": "shared"})
        trips = len(rig.summarizer.requests)
        theirs = await rig.decide(said, tenant=OTHER, headers={"x-session-id": "shared"})
        assert ours.session is not None and theirs.session is not None
        assert ours.session.key == theirs.session.key and ours.session != theirs.session
        assert theirs.outcome == "fallback"
        assert "Summary number" not in str(theirs.messages)
        assert len(rig.summarizer.requests) == trips
        assert await events(rig.redis, theirs.session) == []

    async def test_every_key_of_a_session_names_its_tenant(self, rig: Rig) -> None:
        await grow(rig, chat(59), tenant=OTHER)
        keys = [v for v in await values(rig.redis) if v.startswith(b"gwc:")]
        assert keys and all(OTHER.encode() in key for key in keys if key != b"gwc:tenants")

    async def test_a_summary_kept_in_the_process_crosses_nothing_either(self, rig: Rig) -> None:
        said = chat(60)
        await rig.call(said)
        other = await rig.decide(said, tenant=OTHER)
        assert isinstance(other, Planned) and other.outcome == "fallback"
        assert other.plan.made is not None


class TestReplicas:
    """Two processes on one store decide alike."""

    async def test_one_uses_what_the_other_made(self, rigs: Callable[..., Rig]) -> None:
        first = rigs()
        second = rigs(redis=first.redis)
        said = chat(59)
        for number, call in enumerate(grown(said)):
            last = await (first, second)[number % 2].call(call)
        assert (last.outcome, last.version) == ("applied", 2)
        assert (await second.decide(said)).messages == (await first.decide(said)).messages
        assert len(first.summarizer.requests) + len(second.summarizer.requests) == 2

    async def test_an_extract_is_the_same_on_every_replica(self, rigs: Callable[..., Rig]) -> None:
        one, other = rigs(), rigs()
        said = chat(80)
        assert (await one.decide(said)).messages == (await other.decide(said)).messages


class TestRewriters:
    """Clients that no summary can serve are noticed, and left with what needs none."""

    async def test_a_client_that_slides_its_own_window(self, rig: Rig) -> None:
        said = chat(119)
        # The messages that the two lost summaries ended with are in sight for fifteen calls.
        calls = [await rig.call([said[0], *said[i : i + 41]]) for i in range(1, 80, 2)]
        assert told(calls) == list(range(2, 40))
        assert len(rig.summarizer.requests) == 2
        assert all(not violations(c.messages or [], c.request.messages) for c in calls)
        assert all((c.tokens_after or 0) < 2_000 for c in calls)

    @pytest.mark.parametrize("from_message", [0, 6])
    async def test_a_client_that_stamps_its_messages_anew_at_every_call(
        self, rig: Rig, from_message: int
    ) -> None:
        said = chat(119)

        def stamped(end: int) -> list[Any]:
            return [
                {**m, "content": f"[{end - i} min ago] {m['content']}"}
                if m["role"] == "user" and i > from_message
                else m
                for i, m in enumerate(said[:end])
            ]

        calls = [await rig.call(stamped(end)) for end in range(36, 116, 2)]
        assert told(calls) == list(range(2, 40))
        assert len(rig.summarizer.requests) == 2
        assert all((c.tokens_after or 0) < 2_000 for c in calls)

    async def test_another_conversation_of_the_same_tenant_is_not_blamed(self, rig: Rig) -> None:
        said = chat(99)
        for i in range(1, 40, 2):
            await rig.call([said[0], *said[i : i + 41]])
        made = len(rig.summarizer.requests)
        await grow(rig, chat(59, "honest"))
        assert len(rig.summarizer.requests) == made + 2

    @pytest.mark.parametrize("count", [3, 30])
    async def test_many_conversations_that_open_alike_do_not_disturb_each_other(
        self, rig: Rig, count: int
    ) -> None:
        hello = [system(), {"role": "user", "content": "hello"}, {"role": "assistant", "content": "Hi!"}]
        for number in range(count):
            await rig.call([*hello, *chat(60, f"talk{number}")[1:]])
        made = len(rig.summarizer.requests)
        assert made == count
        for number in range(count):
            decision = await rig.call([*hello, *chat(60, f"talk{number}")[1:]])
            assert (decision.outcome, decision.reason) == ("applied", "model")
        assert len(rig.summarizer.requests) == made
