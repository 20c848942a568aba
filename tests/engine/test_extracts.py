"""The summary without a model as requests carry it, made after a call or on its way."""

from __future__ import annotations

import pytest

from gateway_compaction.core.conversation.messages import text_of
from gateway_compaction.core.policy.book import Identity
from gateway_compaction.core.summary.block import TAG
from gateway_compaction.replay import (
    Call,
    FixedModels,
    NoSummarizer,
    build_replay_runtime,
    replay_conversation,
)
from tests.core.test_extract import OPEN, TOLD, shop
from tests.policy_books import book

MODEL, WINDOW = "gpt-4o", 1_500
TASK = "Hi, my pump of order PX-4471 arrived broken, I want a replacement."


async def last_calls(every: bool) -> list[Call]:
    """A chat about many codes, call by call or its last call alone."""
    messages = [
        {"role": "user", "content": TASK},
        {"role": "assistant", "content": "Sorry, I opened a case."},
        *shop(80),
        {"role": "user", "content": "ok thanks, anything else you need from me?"},
    ]
    ends = range(1, len(messages) + 1, 2) if every else [len(messages)]
    calls = [tuple(messages[:n]) for n in ends]
    run = build_replay_runtime(
        FixedModels(WINDOW, MODEL), NoSummarizer(), book({"summary": {"model": "extractive"}})
    )
    try:
        return [call async for call in replay_conversation(run, calls, {}, Identity(model=MODEL), "shop")]
    finally:
        await run.aclose()


@pytest.mark.parametrize("every", [True, False])
async def test_what_a_user_tells_and_waits_for_reaches_the_model_and_nothing_twice(every: bool) -> None:
    last = (await last_calls(every))[-1]
    assert last.covers
    block = next(text_of(m) for m in last.upstream if f"<{TAG}>" in text_of(m))
    assert all(block.count(told) == 1 for told in (TASK, OPEN, *TOLD))
