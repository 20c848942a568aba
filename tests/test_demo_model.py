"""The demo model's summaries: plain sentences within the length that was asked for."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

from gateway_compaction.adapters.litellm.demo_model import DemoModel
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.records.compaction import Segment
from gateway_compaction.core.summary.prompts import ShownLimit, SummaryBrief, build_merge_prompt, build_prompt
from gateway_compaction.core.tokens.counter import TokenCounter
from tests.engine.histories import chat, loop

COUNTER = TokenCounter()
TALK: list[dict[str, Any]] = [
    {"role": "user", "content": "Please book a table in Lyon. It is for two.\n\nIs Friday possible?"},
    {"role": "assistant", "content": "Friday at eight is free. I noted it under 4711. Anything else?"},
    {"role": "user", "content": "No, thank you."},
    {"role": "assistant", "content": "You are welcome."},
]


def count(text: str) -> int:
    """Tokens, as the demo model counts them."""
    return COUNTER.raw_tokens(text, "demo")


def asked(messages: list[dict[str, Any]], limit: int, previous: str = "") -> str:
    """What it answers to the gateway's own question, without the tags."""
    brief = SummaryBrief.from_policy(Policy(), limit)
    shown = ShownLimit.from_policy(Policy(), 2_000)
    return answered(build_prompt(messages, previous, 0, brief, shown, count)[1])


def answered(order: str) -> str:
    """The summary in its answer."""

    async def pieces() -> list[Any]:
        asked = {"messages": [{"role": "user", "content": order}], "optional_params": {"max_tokens": 2_000}}
        return [piece async for piece in DemoModel().astreaming(**asked)]

    told = asyncio.run(pieces())
    found = re.fullmatch(r"(?s)<summary>\n(.*)\n</summary>", "".join(piece["text"] for piece in told))
    assert found is not None and told[-1]["finish_reason"] == "stop"
    return found[1]


def test_it_tells_in_turn_who_said_what() -> None:
    assert asked(TALK, 400).splitlines() == [
        "The user asked: Please book a table in Lyon. It is for two."
        " The assistant answered: Friday at eight is free. I noted it under 4711.",
        "The user said: No, thank you. The assistant answered: You are welcome.",
    ]


def test_a_tool_s_use_and_its_result_are_told() -> None:
    told = asked(loop(6)[1:], 400)
    assert " used the tool " in told and " It returned: " in told
    assert "wrote:" not in told


@pytest.mark.parametrize("limit", [40, 80, 150, 400])
@pytest.mark.parametrize("talk", [chat(41)[1:], loop(30)[1:]], ids=["chat", "loop"])
def test_it_keeps_to_the_length(talk: list[dict[str, Any]], limit: int) -> None:
    told = asked(talk, limit)
    # A quarter is left for what the gateway adds behind it.
    assert 0 < count(told) <= 0.75 * limit + 1
    assert "[…]" not in told and told == asked(talk, limit)


def test_text_without_spaces_is_cut_where_it_must_be() -> None:
    told = asked([{"role": "user", "content": "三月十四日に神戸から船が着きます" * 20}], 60)
    assert told.startswith("The user said: 三月") and told.endswith("…") and count(told) <= 45


def test_the_previous_summary_stays_and_what_was_added_to_it_goes() -> None:
    previous = "The user asked: Where is Ann? The assistant answered: In Rome.\nidentifiers: A-1, A-2\n[…]"
    lines = asked(TALK, 400, previous).splitlines()
    assert lines[0] == "The user asked: Where is Ann? The assistant answered: In Rome." and len(lines) == 3


def test_parts_are_condensed_to_some_of_their_lines() -> None:
    parts = [Segment(n, n + 1, f"The user said: Number {n} is here.\nidentifiers: B-{n}") for n in range(12)]
    told = answered(build_merge_prompt(parts, SummaryBrief.from_policy(Policy(), 90))[1])
    lines = told.splitlines()
    assert 1 < len(lines) < 12 and count(told) <= 68
    assert (lines[0], lines[-1]) == ("The user said: Number 0 is here.", "The user said: Number 11 is here.")
