"""The ways that are compared."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import pytest

from gateway_compaction.core.conversation.messages import Message
from gateway_compaction.core.tokens.counter import TokenCounter
from gateway_compaction.evaluation.metrics import SentText
from gateway_compaction.evaluation.peers import Absent, find_peers
from gateway_compaction.evaluation.strategies import (
    Coverage,
    Gateway,
    MessageSearch,
    SlidingWindow,
    Strategy,
)
from tests.evaluation.talks import AGENT, CHAT, QUESTIONS, said

COUNTER = TokenCounter()
ASKED = [*CHAT, said("user", str(QUESTIONS[0]["question"]))]


def weigh(messages: Sequence[Message]) -> int:
    """Tokens of a request."""
    return COUNTER.raw_prompt_tokens(messages, {}, "gpt-4o")


def strategies() -> list[Strategy]:
    """All but the peers."""
    return [Gateway("gpt-4o", weigh), SlidingWindow(weigh), MessageSearch(weigh), Coverage(weigh)]


@pytest.mark.parametrize("strategy", strategies(), ids=lambda s: s.name)
@pytest.mark.parametrize("budget", [300, 700])
async def test_each_keeps_to_the_budget_and_ends_with_the_question(strategy: Strategy, budget: int) -> None:
    for messages in (ASKED, [*AGENT, said("user", "Please go on.")]):
        sent = await strategy.send(messages, budget, asked=messages is ASKED)
        assert 0 < weigh(sent) <= budget
        assert str(sent[-1]["content"]).endswith(messages[-1]["content"])
        assert (sent[0] == messages[0]) is (messages[0]["role"] == "system") or messages is ASKED


@pytest.mark.parametrize("strategy", strategies(), ids=lambda s: s.name)
async def test_what_fits_is_sent_as_it_is(strategy: Strategy) -> None:
    assert await strategy.send(ASKED, 10_000, asked=True) == ASKED


async def test_the_window_keeps_the_newest() -> None:
    sent = await SlidingWindow(weigh).send(ASKED, 300, asked=True)
    assert sent == ASKED[-len(sent) :] and len(sent) > 5


async def test_the_search_finds_whole_messages() -> None:
    sent = await MessageSearch(weigh).send(ASKED, 300, asked=True)
    assert CHAT[12] in sent and sent[:-1] == [m for m in CHAT if m in sent[:-1]]
    assert MessageSearch(weigh).find(ASKED)[0] == CHAT[12]["content"]


async def test_coverage_takes_what_is_new() -> None:
    same = [said("user", "The gate opens at noon, they say.")] * 20
    rare = said("user", "Nobody saw the white heron near Harstad.")
    sent = await Coverage(weigh).send([*same, rare, *same, said("user", "Go on.")], 60, asked=False)
    assert rare in sent


async def test_ours_finds_what_was_asked_for() -> None:
    gateway = Gateway("gpt-4o", weigh)
    sent = SentText.of(await gateway.send(ASKED, 400, asked=True))
    assert sent.holds("On day 6 in Bodo I met a miner who owns 8 grey ponies.")
    assert "day 6 in Bodo" in gateway.find(ASKED)[0]
    await gateway.aclose()


async def test_a_long_preamble_leaves_less_for_the_rest() -> None:
    gateway = Gateway("gpt-4o", weigh)
    preamble = said("system", "Be kind to all. " * 60)
    sent = await gateway.send([preamble, *ASKED], 700, asked=True)
    assert weigh(sent) <= 700 and SentText.of(sent).holds("a miner who owns 8 grey ponies")
    await gateway.aclose()


async def test_litellms_functions_run_on_a_copy() -> None:
    made = {p.name: p for p in find_peers("gpt-4o", weigh) if not isinstance(p, Absent)}
    before = [dict(m) for m in ASKED]
    trimmed = await made["litellm.trim_messages"].send(ASKED, 400, asked=True)
    assert trimmed[-1] == ASKED[-1] and weigh(trimmed) <= 400
    assert len(await made["litellm.compress"].send(ASKED, 400, asked=True)) == len(ASKED)
    assert before == ASKED


async def test_langchain_takes_part() -> None:
    made = {p.name: p for p in find_peers("gpt-4o", weigh) if not isinstance(p, Absent)}
    sent = await made["langchain trim_messages"].send(ASKED, 400, asked=True)
    assert sent[-1] == ASKED[-1] and weigh(sent) <= 400


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langchain_core.messages", None)
    absent = [p for p in find_peers("gpt-4o", weigh) if isinstance(p, Absent)]
    assert [(a.name, a.why) for a in absent] == [
        ("langchain trim_messages", "langchain-core is not installed")
    ]
