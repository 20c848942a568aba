"""What a provider reports of a conversation holds for its next call, and for no other conversation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest

from gateway_compaction.core.conversation import transcript
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.core.tokens.session_surplus import Report, SessionSurplus
from gateway_compaction.engine.post_call import Ending
from gateway_compaction.engine.request import Decision
from gateway_compaction.engine.session_surpluses import SessionSurpluses
from tests.engine.histories import chat, grown
from tests.engine.rig import Fixed, Rig

PICTURE = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
PICTURE_TOKENS, WINDOW = 9_288, 32_000
Price = Callable[[Rig, Decision], int]


@dataclass
class Provider:
    """An upstream that counts in its own way, and refuses what is too long for its window.

    ``tells``: a refusal names the number of tokens; ``refused`` are the outcomes of those that were refused.
    """

    rig: Rig
    window: int
    price: Price
    tells: bool = True
    model: str = "gpt-4o"
    refused: list[str] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)

    async def call(self, messages: list[dict[str, Any]], **more: Any) -> Decision:
        decision = await self.rig.decide(messages, model=self.model, **more)
        real = self.price(self.rig, decision)
        ending = Ending("answered", real)
        if real > self.window:
            self.refused.append(decision.outcome)
            ending = Ending("refused", real if self.tells else None, too_long=True)
        self.rig.post_call.follow(decision, ending)
        await self.rig.settle()
        self.decisions.append(decision)
        return decision


def counted(rig: Rig, decision: Decision) -> int:
    """Tokens of what is sent, as the provider of an exact encoding counts them."""
    return rig.counter.raw_prompt_tokens(decision.sent, decision.request.body, "gpt-4o")


def beside(tokens: int) -> Price:
    """A provider that reads so many tokens of tools besides, which the host expands behind us."""
    return lambda rig, decision: counted(rig, decision) + tokens


def dear_pictures(rig: Rig, decision: Decision) -> int:
    """A provider that asks 9,288 for a picture whose size we cannot know."""
    pictures = sum(PICTURE in m["content"] for m in decision.sent if isinstance(m["content"], list))
    return counted(rig, decision) + pictures * (PICTURE_TOKENS - 1_105)


def sheets(turns: int) -> list[dict[str, Any]]:
    """A conversation with one picture a turn."""
    messages = chat(2 * turns + 1)
    for message in messages[1::2]:
        message["content"] = [{"type": "text", "text": message["content"]}, dict(PICTURE)]
    return messages


class TestFloor:
    """A conversation that weighs more than we count is compacted before it is refused."""

    @pytest.mark.parametrize("turns", [1, 9])
    async def test_pictures_that_cost_more_than_our_rule_says(
        self, rigs: Callable[..., Rig], turns: int
    ) -> None:
        provider = Provider(rigs(WINDOW), WINDOW, dear_pictures)
        for call in grown(sheets(turns)):
            await provider.call(call)
        assert provider.refused == []
        assert {d.outcome for d in provider.decisions} & {"applied", "fallback"} or turns == 1

    @pytest.mark.parametrize(("tokens", "most"), [(500, 0), (1_000, 0), (1_500, 1)])
    async def test_tools_that_the_host_adds_behind_us(self, rig: Rig, tokens: int, most: int) -> None:
        """Of what fills three quarters of the window, nobody knows at first that it stays."""
        provider = Provider(rig, 2_000, beside(tokens))
        for call in grown(chat(81)):
            await provider.call(call)
        assert len(provider.refused) <= most
        assert rig.counter.calibration.factor("gpt-4o") == 1.0

    async def test_what_the_bound_of_bytes_called_small(self, rig: Rig) -> None:
        """The first call is not even counted; its report is nine tenths of the window."""
        messages = chat(9, words=4)
        first = await rig.call(messages[:-2], Ending("answered", 1_800))
        assert (first.stage, first.reason) == ("quiet", "below every level")
        second = await rig.decide(messages)
        assert second.stage == "planned" and second.level in ("medium", "aggressive")
        assert second.tokens_before is not None and second.tokens_before >= 1_800

    @pytest.mark.parametrize("reported", [100, 600, None])
    async def test_what_is_small_by_its_report_stays_a_glance(self, rig: Rig, reported: int | None) -> None:
        messages = chat(9, words=4)
        await rig.call(messages[:-2], Ending("answered", reported))
        assert (await rig.decide(messages)).stage == "quiet"
        assert rig.counter.encodings == 0 and rig.store.calls == {}

    async def test_others_are_not_even_hashed_for_it(self, rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
        await rig.call(chat(7, words=4), Ending("answered", 1_800))

        def refuse(*_: Any) -> Any:
            raise AssertionError("hashed")

        monkeypatch.setattr(transcript, "digest_history", refuse)
        assert (await rig.decide(chat(7, words=4), tenant="u" * 32)).stage == "quiet"

    async def test_a_refusal_that_tells_a_number(self, rig: Rig) -> None:
        messages = chat(9, words=4)
        await rig.call(messages, Ending("refused", 2_600, too_long=True))
        again = await rig.decide(messages)
        assert again.tokens_before is not None and again.tokens_before >= 2_600
        assert again.tokens_after is not None and again.tokens_after < again.tokens_before

    async def test_an_estimate_of_the_host_does_not_take_it_back(self, rig: Rig) -> None:
        """A stream without usage: what the host reports then is what it counted itself."""
        messages = chat(9, words=4)
        await rig.call(messages, Ending("refused", 2_600, too_long=True))
        shorter = await rig.decide(messages)
        rig.post_call.follow(shorter, Ending("answered", counted(rig, shorter)))
        await rig.settle()
        again = await rig.decide(messages)
        assert again.tokens_before is not None and again.tokens_before >= 2_600

    async def test_a_surplus_that_does_not_matter_is_not_looked_for(self, rig: Rig) -> None:
        for more, larger in ((20, False), (200, True)):
            decision = await rig.decide(chat(31))
            rig.post_call.follow(decision, Ending("answered", counted(rig, decision) + more))
            await rig.settle()
            assert rig.parts.surpluses.has_larger("t" * 32) is larger

    async def test_a_refusal_that_tells_none(self, rig: Rig) -> None:
        """Our count times four would still have fitted."""
        messages = chat(9, words=4)
        await rig.call(messages, Ending("refused", too_long=True))
        again = await rig.decide(messages)
        assert again.tokens_before is not None and again.tokens_before >= 2_000

    @pytest.mark.parametrize("body", [{"max_tokens": 1_500}, {"max_completion_tokens": 99_000}])
    async def test_a_long_answer_asked_for_explains_it_by_itself(
        self, rig: Rig, body: dict[str, Any]
    ) -> None:
        await rig.call(chat(12), Ending("refused", too_long=True), body=body)
        again = await rig.decide(chat(12))
        assert (again.outcome, again.level) == ("none", None)

    async def test_the_bytes_of_an_epoch_do_not_depend_on_it(self, rigs: Callable[..., Rig]) -> None:
        """Two replicas, one of which has heard reports, send the same stored summary byte by byte."""
        rig = rigs()
        provider = Provider(rig, 2_000, beside(300))
        for call in grown(chat(33)):
            await provider.call(call)
        last = await rig.decide(chat(35))
        assert last.outcome == "applied" and last.messages is not None
        replica = rigs(redis=rig.redis)
        other = await replica.decide(chat(35))
        assert other.messages is not None
        begin = last.messages[: len(last.messages) - 2]
        assert other.messages[: len(begin)] == begin

    async def test_it_takes_no_second_round_trip(self, rig: Rig) -> None:
        messages = chat(9, words=4)
        await rig.call(messages[:-2], Ending("answered", 1_800))
        rig.store.calls.clear()
        await rig.decide(messages)
        assert rig.store.calls == {"load": 1}

    async def test_a_replica_that_has_heard_nothing_learns_from_its_own_call(
        self, rigs: Callable[..., Rig]
    ) -> None:
        rig = rigs()
        messages = chat(9, words=4)
        await rig.call(messages[:-2], Ending("answered", 1_800))
        replica = rigs(redis=rig.redis)
        first = await replica.call(messages[:-2], Ending("answered", 1_800))
        assert first.messages is None
        assert (await replica.decide(messages)).tokens_before == (await rig.decide(messages)).tokens_before


class TestOneConversation:
    """A surplus is no factor: it never becomes anybody else's."""

    async def test_another_conversation_of_the_model_is_untouched(self, rigs: Callable[..., Rig]) -> None:
        """Tools of 7,660 tokens beside one conversation; another one is half a window long."""
        rig = rigs(20_000)
        provider = Provider(rig, 20_000, beside(7_660))
        for call in grown(chat(61, words=200)):
            await provider.call(call)
        assert not provider.refused and any(d.messages is not None for d in provider.decisions)
        other = await rig.decide(chat(41, "other", words=190))
        assert other.tokens_before is None or other.tokens_before < 11_000
        assert (other.outcome, other.messages) == ("none", None)

    @pytest.mark.parametrize("times", [1_500, 30])
    async def test_an_impossible_report_teaches_nothing(self, rigs: Callable[..., Rig], times: int) -> None:
        """An answer to a prompt that is larger than the window, again and again."""
        rig = rigs(20_000)
        for turn in range(21, 41, 2):
            decision = await rig.decide(chat(turn, words=200))
            rig.post_call.follow(decision, Ending("answered", counted(rig, decision) * times))
            await rig.settle()
        assert rig.counter.calibration.factor("gpt-4o") == 1.0
        again = await rig.decide(chat(41, words=200))
        assert (again.outcome, again.messages) == ("none", None)
        other = await rig.decide(chat(41, "other", words=200), tenant="u" * 32)
        assert (other.outcome, other.messages) == ("none", None)

    async def test_how_prompts_grow_is_the_model_s(self, rigs: Callable[..., Rig]) -> None:
        """A tokeniser that counts a third more, and tools besides: the factor learns the third alone."""
        rig = rigs(models=Fixed(20_000, small=100_000))
        provider = Provider(rig, 20_000, lambda r, d: int(1.33 * counted(r, d)) + 3_000, model="a-model")
        for call in grown(chat(41, words=200)):
            await provider.call(call)
        assert rig.counter.calibration.factor("a-model") == pytest.approx(1.33, abs=0.05)

    async def test_sessions_and_models_are_kept_apart(self) -> None:
        known, _ = SessionSurplus().learn(Report(9_000, 2_000), 1.0)
        surpluses = SessionSurpluses()
        surpluses.keep(SessionRef("t", "a"), "m", known, larger=True)
        assert surpluses.find(SessionRef("t", "a"), "m") is known
        assert surpluses.find(SessionRef("t", "a"), "n") is None
        assert surpluses.find(SessionRef("t", "b"), "m") is None
        assert surpluses.find(SessionRef("u", "a"), "m") is None

    async def test_those_not_reported_of_for_longest_are_forgotten(self) -> None:
        surpluses = SessionSurpluses(entries=3)
        for name in "abcdb":
            surpluses.keep(SessionRef(f"t{name}", name), "m", SessionSurplus(), larger=True)
        assert [surpluses.has_larger(f"t{name}") for name in "abcd"] == [False, True, True, True]
        surpluses.keep(SessionRef("tb", "b"), "m", SessionSurplus(), larger=False)
        assert not surpluses.has_larger("tb")
        surpluses.keep(SessionRef("te", "e"), "m", SessionSurplus(), larger=False)
        assert surpluses.find(SessionRef("tc", "c"), "m") is None


class TestReplicas:
    """Each process hears of a conversation by itself, long before it matters."""

    @pytest.mark.parametrize("price", [beside(1_000), dear_pictures])
    @pytest.mark.parametrize("processes", [3])
    async def test_a_conversation_that_moves_between_them_is_sent_alike(
        self, rigs: Callable[..., Rig], price: Price, processes: int
    ) -> None:
        """Neither refusals nor breaks of the provider's prompt cache come with more processes."""
        window = 3_000 if price is not dear_pictures else 3 * WINDOW
        talk = chat(81) if price is not dear_pictures else sheets(25)
        breaks = []
        for count in (1, processes):
            first = rigs(window)
            fleet = [Provider(rig, window, price) for rig in (first, *_replicas(rigs, first, window, count))]
            sent = []
            for number, messages in enumerate(grown(talk)):
                sent.append(list((await fleet[number % count].call(messages)).sent))
            assert not any(provider.refused for provider in fleet)
            breaks.append(sum(b[: len(a)] != a for a, b in pairwise(sent)))
        assert breaks[0] == breaks[1] > 0


def _replicas(rigs: Callable[..., Rig], first: Rig, window: int, count: int) -> list[Rig]:
    return [rigs(window, redis=first.redis) for _ in range(count - 1)]
