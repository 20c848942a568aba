"""What is left alone, and what it costs: counted trips to the store and counted texts, never time."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gateway_compaction.core.conversation.body import PlainSize
from gateway_compaction.core.endpoints.wire import MessagesOnDemand
from gateway_compaction.core.policy.book import Identity
from gateway_compaction.engine.policy_problems import PolicyProblems
from gateway_compaction.engine.post_call import Ending
from gateway_compaction.engine.request import Decision, Untouched
from tests.engine.histories import chat, grown
from tests.engine.rig import Fixed, Rig, values
from tests.policy_books import entry

LONG = chat(60)


def untouched(decision: Decision) -> tuple[str, str]:
    """Outcome and reason of a request that was never looked at closely."""
    assert isinstance(decision, Untouched)
    return decision.outcome, decision.reason


class TestNothingToDo:
    """The common case."""

    async def test_a_small_request_reaches_neither_tokeniser_nor_store(
        self, rigs: Callable[..., Rig]
    ) -> None:
        rig = rigs(128_000)
        for call in grown(LONG):
            assert untouched(await rig.call(call)) == ("none", "below every level")
        assert (rig.counter.encodings, rig.redis.connection.round_trips) == (0, 0)
        assert await values(rig.redis) == []

    @pytest.mark.parametrize("reads", ["nobody", "operator", "surplus", "client", "large"])
    async def test_what_is_small_by_its_size_is_not_even_read(self, rig: Rig, reads: str) -> None:
        """But where an operator, the client or the provider has asked for or told more, it is."""

        def refuse() -> Any:
            raise AssertionError("read")

        many = PlainSize(3, 0, 9_000 if reads == "large" else 100)
        headers = {"x-compaction": "now"} if reads == "client" else {}
        request = rig.request([], headers=headers, size=many)
        if reads == "operator":
            rig.compactor.set_requested(frozenset({"some session"}))
        if reads == "surplus":
            await rig.call(chat(7, words=4), Ending("answered", 1_800))
        unread = replace(request, messages=MessagesOnDemand(refuse))
        if reads == "nobody":
            assert untouched(await rig.compactor.compact(unread)) == ("none", "below every level")
        else:
            with pytest.raises(AssertionError, match="read"):
                await rig.compactor.compact(unread)

    async def test_a_request_that_must_be_counted_still_needs_no_store(self, rig: Rig) -> None:
        decision = await rig.call(chat(15))
        assert (decision.outcome, decision.messages) == ("none", None)
        assert rig.counter.encodings > 0 and rig.redis.connection.round_trips == 0

    async def test_each_message_is_counted_once(self, rig: Rig) -> None:
        await rig.call(chat(21))
        counted = rig.counter.encodings
        await rig.call(chat(21))
        assert rig.counter.encodings == counted
        await rig.call(chat(23))
        assert rig.counter.encodings == counted + 2

    async def test_a_warm_request_makes_one_trip(self, rig: Rig) -> None:
        for call in grown(LONG):
            await rig.call(call)
        before, counted = rig.redis.connection.round_trips, rig.counter.encodings
        warm = chat(59)
        decision = await rig.decide(warm)
        assert decision.outcome == "applied"
        assert rig.redis.connection.round_trips == before + 1
        assert rig.counter.encodings == counted
        assert rig.store.calls["load"] == sum(1 for c in grown(LONG) if len(c) > 28) + 1

    async def test_triggers_look_behind_the_bound(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(128_000, {"triggers": {"turns": 3}})
        short = [{"role": role, "content": "hi"} for role in ("user", "assistant")] * 8
        assert (await rig.call([*short, short[0]])).outcome == "prepared"
        tokens = rigs(128_000, {"triggers": {"tokens": 500}})
        assert (await tokens.call(LONG[:-1])).outcome == "prepared"


class TestLeftAlone:
    """Requests that a policy, a client or our ignorance takes out."""

    async def test_off(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(2_000, {"mode": "off"})
        assert untouched(await rig.call(LONG)) == ("none", "the policy is off")
        assert (rig.counter.encodings, rig.redis.connection.round_trips) == (0, 0)

    @pytest.mark.parametrize("value", ["off", "OFF"])
    async def test_a_client_may_ask_to_be_left_alone(self, rig: Rig, value: str) -> None:
        decision = await rig.call(LONG, headers={"x-compaction": value})
        assert untouched(decision) == ("bypassed", "the client asked for it")
        assert rig.redis.connection.round_trips == 0
        assert (await rig.call(LONG, headers={"x-compaction": "on"})).messages is not None

    async def test_unless_the_policy_says_no(self, rigs: Callable[..., Rig]) -> None:
        bypass = {"header": "X-No-Summary", "allow": True}
        rig = rigs(2_000, {"bypass": bypass}, entry("strict", {"team": "strict"}, bypass={"allow": False}))
        asked = {"x-no-summary": "off", "x-compaction": "off"}
        assert (await rig.call(LONG, headers=asked)).outcome == "bypassed"
        assert (await rig.call(LONG, headers=asked, team="strict")).outcome == "fallback"

    async def test_what_the_provider_keeps_is_counted_as_far_as_it_is_seen(self, rig: Rig) -> None:
        decision = await rig.call(LONG, left_alone="kept")
        assert untouched(decision) == ("none", "kept") and rig.redis.connection.round_trips == 0
        assert decision.tokens_before == (await rig.decide(LONG)).tokens_before

    @pytest.mark.parametrize(("wanted", "outcome"), [("leave", "none"), ("compact", "fallback")])
    async def test_the_policy_says_whether_what_the_provider_shortens_is_compacted(
        self, rigs: Callable[..., Rig], wanted: str, outcome: str
    ) -> None:
        rig = rigs(2_000, {"provider_compaction": wanted})
        assert (await rig.call(LONG, managed="shortened")).outcome == outcome
        assert (await rig.call(LONG, left_alone="kept", managed="shortened")).reason == "kept"

    async def test_an_unknown_window(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(None)
        decision = await rig.call(LONG)
        assert untouched(decision) == ("none", "the context window of the model is unknown")
        assert (rig.counter.encodings, rig.redis.connection.round_trips) == (0, 0)

    async def test_the_policy_may_know_the_window(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(None, {"context_window": 2_000})
        assert (await rig.call(LONG)).outcome == "fallback"

    @pytest.mark.parametrize(
        "messages",
        [
            ["hello"],
            [None],
            [{"content": "no role"}],
            [{"role": 7, "content": "x"}],
            [*LONG, {"role": None}],
            [[{"role": "user", "content": "nested"}]],
        ],
    )
    async def test_what_is_no_message_is_passed_on(self, rig: Rig, messages: list[Any]) -> None:
        outcome, reason = untouched(await rig.call(messages))
        assert outcome == "none" and "is not a message with a role" in reason

    @pytest.mark.parametrize(
        "message",
        [
            {"role": "user", "content": None},
            {"role": "user"},
            {"role": "user", "content": 7},
            {"role": "user", "content": {"a": [1]}},
            {"role": "user", "content": [None, 3, "text", {"type": "unheard_of", "x": b"y"}]},
            {"role": "user", "content": "<|endoftext|>\ud800" + "a" * 50_000 + "\n" * 5_000},
            {"role": "narrator", "content": "hm"},
            {"role": "assistant", "content": None, "tool_calls": "what"},
            {"role": "assistant", "content": None, "tool_calls": [None, {"function": None}, {"id": 1}]},
            {"role": "assistant", "content": "x", "function_call": 5},
            {"role": "tool", "content": "orphan"},
        ],
    )
    async def test_strange_messages_raise_nothing_anywhere(self, rig: Rig, message: dict[str, Any]) -> None:
        for place in (0, 20, len(LONG)):
            await rig.call([*LONG[:place], message, *LONG[place:]])
        await rig.call([message])

    async def test_a_message_list_may_be_empty(self, rig: Rig) -> None:
        assert untouched(await rig.call([])) == ("none", "below every level")

    @pytest.mark.parametrize(
        ("team_block", "key_block", "told"),
        [
            ({"mode": "perhaps"}, {"mode": "enforce"}, "team metadata: mode"),
            ({"mode": "off"}, {"bogus": 1}, "key metadata: bogus"),
            ({"mode": "enforce"}, {"levels": {"light": {"at": 0.9}}}, "key metadata: levels.light.at"),
            ({"mode": float("nan")}, None, "team metadata: mode"),
        ],
    )
    async def test_where_a_metadata_block_cannot_be_used_no_weaker_policy_takes_its_place(
        self,
        rig: Rig,
        caplog: pytest.LogCaptureFixture,
        team_block: dict[str, Any],
        key_block: dict[str, Any] | None,
        told: str,
    ) -> None:
        identity = Identity(
            model="gpt-4o", team_alias="Legal", key_alias="k", team_block=team_block, key_block=key_block
        )
        with caplog.at_level(logging.WARNING, logger="gateway_compaction"):
            for _ in range(3):
                decision = await rig.call(LONG, identity=identity)
                assert untouched(decision) == ("none", f"the policy cannot be used: {told}")
        assert [r.getMessage().startswith("left alone") for r in caplog.records] == [True]
        problems = await rig.redis.policy_problems()
        whose = "k" if told.startswith("key") else "Legal"
        [(problem, requests)] = problems.items()
        assert problem.startswith(told.replace(": ", f" of {whose}: ", 1)) and requests == 1

    async def test_what_is_wrong_with_policies_is_counted_and_bounded(self) -> None:
        now = 0.0
        problems = PolicyProblems(lambda: now)
        assert [problems.record("a") for _ in range(4)] == [1, 0, 0, 0]
        now = 10.0
        assert [problems.record("a") for _ in range(2)] == [4, 0]
        assert sum(problems.record(str(number)) for number in range(200)) == 99


class TestObserve:
    """Decides, records and reports; changes nothing."""

    async def test_nothing_is_changed_and_the_effect_is_told(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(2_000, {"mode": "observe", "summary": {"model": None}})
        seen = [await rig.call(call) for call in grown(LONG)]
        assert all(c.messages is None and c.version is None for c in seen)
        close = [c for c in seen if c.session is not None]
        assert {c.outcome for c in close} == {"observed"}
        assert close[-1].reason.startswith("would be compacted at once: made to fit without a model")
        assert close[-1].tokens_after is not None and close[-1].tokens_after < 2_000
        assert rig.summarizer.requests == []
        assert "put" not in rig.store.calls and rig.store.calls["append"] == len(close)

    async def test_summaries_are_made_where_the_policy_names_who_makes_them(
        self, rigs: Callable[..., Rig]
    ) -> None:
        rig = rigs(2_000, {"mode": "observe", "summary": {"model": "small"}})
        seen = [await rig.call(call) for call in grown(LONG)]
        assert rig.summarizer.requests and all(c.messages is None for c in seen)
        assert seen[-1].reason == "would be sent with a stored compaction: model"

    async def test_nobody_waits(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(2_000, {"mode": "observe", "levels": {"aggressive": {"wait_seconds": 600}}})
        rig.summarizer.gate.clear()
        assert (await rig.call(LONG, settle=False)).outcome == "observed"


class TestLabels:
    """Ids that clients send are for people."""

    async def test_they_are_read_where_the_policy_says_and_never_find_a_session(
        self, rigs: Callable[..., Rig]
    ) -> None:
        rig = rigs(2_000, {"labels": {"headers": ["X-Chat"]}}, models=Fixed(2_000, small=100_000))
        first = await rig.call(
            LONG, headers={"x-chat": "a" * 500, "x-session-id": "no"}, body_labels=("b", "", "b")
        )
        assert first.labels == ("a" * 200, "b")
        other = await rig.call(chat(60, "other"), headers={"x-chat": "a"})
        assert first.session is not None and other.session is not None
        assert first.session.key != other.session.key
