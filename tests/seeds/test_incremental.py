"""The second document: one summary, renewed when it can cover 8,000 tokens more; versions, limits, states."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from gateway_compaction.adapters.policy_file import read_env_overrides
from gateway_compaction.core.policy.book import Identity, PolicyBook
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.engine.request import Decision, Planned
from gateway_compaction.errors import SummaryTimeout
from gateway_compaction.ports import Buffer
from tests.engine.histories import system
from tests.engine.rig import Rig, events
from tests.lab.waiting import until
from tests.seeds.talks import calls_of, sent, summary_in

WINDOW = 100_000
PRESET: Mapping[str, Any] = {"preset": "incremental"}
PREFIX = "GATEWAY_COMPACTION_DEFAULTS__"
Message = dict[str, Any]


def chat(messages: int, chars: int = 2_000, word: str = "word ") -> list[Message]:
    """A preamble and so many messages of so many characters, each different."""
    roles = ("user", "assistant")
    return [
        system(),
        *(
            {"role": roles[i % 2], "content": (f"Message {i}. " + word * chars)[:chars]}
            for i in range(messages)
        ),
    ]


async def told(rig: Rig, messages: list[Message]) -> list[Decision]:
    """Every call of a conversation, the background finished after each."""
    return [await rig.call(call) for call in calls_of(messages)]


async def known(rig: Rig, decision: Decision) -> Buffer:
    """What the store holds for a request."""
    assert isinstance(decision, Planned)
    return await rig.redis.load(decision.session, decision.context.chain)


class TestThreshold:
    """A summary is made when it can cover more than 8,000 tokens of four characters each that are in none."""

    @pytest.mark.parametrize(("chars", "made"), [(2_003, False), (2_004, True)])
    async def test_characters_are_counted(self, rigs: Callable[..., Rig], chars: int, made: bool) -> None:
        rig = rigs(WINDOW, {**PRESET, "levels": {"medium": {"keep_last": 5}}})
        # Fifteen of 500 tokens each, and a last one: 2,003 characters are 500 as well, 2,004 are 501.
        messages = chat(21)
        messages[16]["content"] = "y" * chars
        await rig.call(messages)
        assert bool(rig.summarizer.requests) == made

    async def test_scripts_are_counted_alike(self, rigs: Callable[..., Rig]) -> None:
        # By a tokeniser this would be far more than 8,000.
        rig = rigs(WINDOW, PRESET)
        await rig.call(chat(21, 2_000, "단어와 문장 "))
        assert rig.summarizer.requests == []
        rig = rigs(WINDOW, {**PRESET, "triggers": {"count": "tokens"}})
        await rig.call(chat(21, 2_000, "단어와 문장 "))
        assert len(rig.summarizer.requests) == 1

    async def test_only_what_is_in_no_summary_counts(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(WINDOW, PRESET)
        numbers = [d.version for d in await told(rig, chat(60))]
        # The six messages that always stay count when they could be covered: nine calls make 8,000 tokens.
        assert numbers == [None] * 13 + [1] * 9 + [2] * 8


class TestVersions:
    """Each summary is made of the one before and the messages since."""

    async def test_they_count_up(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(WINDOW, PRESET)
        versions = [d.version for d in await told(rig, chat(80)) if d.version]
        assert versions == sorted(versions) and set(versions) == set(range(1, max(versions) + 1))
        assert max(versions) >= 3

    async def test_the_second_builds_on_the_first(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(WINDOW, PRESET)
        rig.summarizer.answers = [
            "<summary>They designed the station.</summary>",
            "They designed it and chose a map.",
        ]
        decisions = await told(rig, chat(46))
        first, second = rig.summarizer.requests[:2]
        assert "<previous_summary>" not in first.user and "[0] user wrote: Message 0." in first.user
        assert "<previous_summary>\nThey designed the station.\n</previous_summary>" in second.user
        numbers = [int(n) for n in re.findall(r"(?m)^\[(\d+)\] ", second.user)]
        shown = (d.plan.view.compaction for d in decisions if isinstance(d, Planned))
        covered = [compaction.covers for compaction in shown if compaction]
        assert numbers[0] == covered[0] and numbers == list(range(numbers[0], numbers[-1] + 1))
        assert "chose a map" in (summary_in(sent(decisions[-1])) or "")

    async def test_the_last_six_messages_stay(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(WINDOW, PRESET)
        for decision in await told(rig, chat(50)):
            if decision.messages is not None:
                kept = [m["content"] for m in sent(decision) if str(m["content"]).startswith("Message")]
                assert kept[-6:] == [m["content"] for m in decision.request.messages[-6:]]

    async def test_nothing_between_them_and_the_summary_is_lost(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(WINDOW, PRESET)
        for decision in await told(rig, chat(50)):
            compaction = decision.plan.view.compaction if isinstance(decision, Planned) else None
            if compaction is not None:
                kept = [m for m in sent(decision) if str(m["content"]).startswith("Message")]
                assert len(kept) == len(decision.request.messages) - 1 - compaction.covers

    async def test_it_has_at_most_1024_tokens(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(WINDOW, PRESET)
        rig.summarizer.answers = ["It went well, all in all. " * 400] * 9
        decision = (await told(rig, chat(30)))[-1]
        assert rig.counter.raw_tokens(summary_in(sent(decision)) or "", "gpt-4o") <= 1_024
        assert rig.summarizer.requests[0].timeout_seconds == 60


class TestMessageLimit:
    """A message is shown to the summariser with at most 3,000 characters."""

    async def test_longer_ones_are_shown_head_and_tail(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(WINDOW, PRESET)
        messages = chat(25)
        messages[3] = {"role": "user", "content": "Beginning. " + "a word " * 1_000 + "The end."}
        await rig.call(messages)
        line = rig.summarizer.requests[0].user.split("[2] user wrote: ")[1].split("\n[3] ")[0]
        assert line.startswith("Beginning.") and line.endswith("The end.") and "characters left out" in line
        assert 2_800 < len(line) <= 3_000

    async def test_shorter_ones_are_shown_whole(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(WINDOW, PRESET)
        messages = chat(25)
        messages[3] = {"role": "user", "content": ("Beginning. " + "a word " * 1_000)[:3_000].strip()}
        await rig.call(messages)
        assert messages[3]["content"] in rig.summarizer.requests[0].user

    async def test_the_message_that_is_sent_is_never_cut(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(WINDOW, PRESET)
        await told(rig, chat(29))
        long = {"role": "user", "content": "Beginning. " + "a word " * 1_000 + "The end."}
        decision = await rig.call([*chat(30), long])
        assert decision.messages is not None and decision.messages[-1] is long


class TestStates:
    """In progress while it is claimed, completed when it is stored, failed and tried again."""

    async def test_in_progress_no_second_one_is_begun(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(WINDOW, PRESET)
        rig.summarizer.gate.clear()
        first = await rig.call(chat(25), settle=False)
        await until(lambda: rig.summarizer.requests, "a summary to be asked for")
        assert (await known(rig, first)).in_flight
        second = await rig.call(chat(27), settle=False)
        assert isinstance(second, Planned) and second.plan.job is None and second.messages is None
        assert second.reason == "a summary is being made"
        rig.summarizer.gate.set()
        await rig.settle()
        assert len(rig.summarizer.requests) == 1

    async def test_completed_it_is_sent_with_its_version(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(WINDOW, PRESET)
        first = await rig.call(chat(25))
        buffer = await known(rig, first)
        assert not buffer.in_flight and [c.version for c in buffer.compactions] == [1]
        assert (await rig.call(chat(27))).version == 1

    async def test_failed_it_is_tried_again(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(WINDOW, PRESET)
        rig.summarizer.answers = [SummaryTimeout("small: no answer within 60 s")]
        first = await rig.call(chat(25))
        buffer = await known(rig, first)
        assert buffer.backoff == "small: no answer within 60 s" and buffer.compactions == ()
        second = await rig.call(chat(27))
        assert second.messages is None and len(rig.summarizer.requests) == 1
        assert second.reason == "small: no answer within 60 s"
        assert first.session is not None
        await rig.client.hdel(
            f"gwc:{{{first.session.session_id}}}:session", "backoff_until", "backoff_reason"
        )
        await rig.call(chat(29))
        assert (await rig.call(chat(31))).version == 1
        made = [e for e in await events(rig.redis, first.session) if e["type"] == "summary"]
        assert [e["outcome"] for e in made] == ["failed", "made"]


class TestEnvironment:
    """On or off, the threshold and the number of last messages, from the environment."""

    @staticmethod
    def policy(**variables: str) -> Policy:
        """The policy that a file's preset and the environment make."""
        overrides = read_env_overrides({PREFIX + name: value for name, value in variables.items()})
        raw = {"version": 1, "defaults": {"preset": "incremental"}}
        return PolicyBook(raw, "policies.yaml", overrides).resolve(Identity())

    def test_the_defaults_are_those_of_the_document(self) -> None:
        policy = self.policy()
        assert (policy.triggers.tokens, policy.triggers.count) == (8_000, "characters")
        assert (policy.levels.medium.keep_last, policy.mode) == (6, "enforce")
        assert policy.summary.message_chars == 3_000

    def test_each_can_be_set(self) -> None:
        policy = self.policy(TRIGGERS__TOKENS="16000", LEVELS__MEDIUM__KEEP_LAST="8", MODE="off")
        assert (policy.triggers.tokens, policy.levels.medium.keep_last, policy.mode) == (16_000, 8, "off")

    async def test_off_means_that_nothing_is_touched(self, rigs: Callable[..., Rig]) -> None:
        raw = {"version": 1, "defaults": {"preset": "incremental"}}
        book = PolicyBook(raw, "policies.yaml", read_env_overrides({f"{PREFIX}MODE": "off"}))
        rig = rigs(WINDOW, policy_book=book)
        for decision in await told(rig, chat(50)):
            assert decision.messages is None and decision.reason == "the policy is off"
        assert rig.summarizer.requests == []

    async def test_a_threshold_of_its_own(self, rigs: Callable[..., Rig]) -> None:
        raw = {"version": 1, "defaults": {"preset": "incremental", "summary": {"model": "small"}}}
        overrides = read_env_overrides({f"{PREFIX}TRIGGERS__TOKENS": "16000"})
        rig = rigs(WINDOW, policy_book=PolicyBook(raw, "policies.yaml", overrides))
        await rig.call(chat(39))
        assert rig.summarizer.requests == []
        await rig.call(chat(41))
        assert len(rig.summarizer.requests) == 1


class TestOneMessage:
    """``layout: single_message``: the form for a backend that reads the last message of the user alone."""

    @staticmethod
    async def sent_of(rigs: Callable[..., Rig], messages: int) -> list[Any]:
        """What goes out of the last call of a conversation."""
        rig = rigs(WINDOW, {**PRESET, "layout": "single_message"})
        decision = await rig.call(chat(messages - 2)) if messages > 2 else None
        decision = await rig.call(chat(messages))
        assert decision.is_laid_out
        return list(decision.sent)

    def test_the_figures_are_those_of_the_document(self) -> None:
        policy = TestEnvironment.policy()
        assert (policy.single_message.recent_messages, policy.single_message.message_chars) == (6, 2_000)

    async def test_a_short_conversation_is_its_message(self, rigs: Callable[..., Rig]) -> None:
        assert [m["role"] for m in await self.sent_of(rigs, 1)] == ["system", "user"]

    async def test_one_without_a_summary_is_its_last_six_messages_and_the_present_one(
        self, rigs: Callable[..., Rig]
    ) -> None:
        _, message = await self.sent_of(rigs, 9)
        text = message["content"]
        assert text.startswith("[RECENT MESSAGES]\n[earlier messages not shown: 2]\n")
        assert "[CONVERSATION CONTEXT]" not in text and "\n\n[CURRENT MESSAGE]\n" in text
        assert text.count("\nUSER: ") + text.count("\nASSISTANT: ") == 6

    async def test_one_with_a_summary_has_it_first(self, rigs: Callable[..., Rig]) -> None:
        _, message = await self.sent_of(rigs, 43)
        context, recent, present = re.split(r"\n\n\[(?:RECENT|CURRENT) MESSAGES?\]\n", message["content"])
        head = "[CONVERSATION CONTEXT]\nThe following is a summary of our earlier conversation:\n"
        assert context.startswith(f"{head}<conversation_summary>")
        assert (
            recent.count("USER: ") + recent.count("ASSISTANT: ") == 6 and present == chat(43)[-1]["content"]
        )

    async def test_whoever_switches_off_is_left_alone(self, rigs: Callable[..., Rig]) -> None:
        for policy in ({"mode": "observe"}, {"mode": "off"}, {"endpoints": ["messages"]}):
            decision = await rigs(WINDOW, {**PRESET, "layout": "single_message", **policy}).decide(chat(9))
            assert not decision.is_laid_out and list(decision.sent) == chat(9)
        off = rigs(WINDOW, {**PRESET, "layout": "single_message"})
        decision = await off.decide(chat(9), headers={"x-compaction": "off"})
        assert not decision.is_laid_out and list(decision.sent) == chat(9)
