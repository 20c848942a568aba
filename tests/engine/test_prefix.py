"""The opt-in that asks the chat's own model behind the messages it has just read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from gateway_compaction.engine.request import Planned
from gateway_compaction.ports import SummaryAnswer
from tests.engine.histories import chat, grown
from tests.engine.rig import Rig

TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
Make = Callable[..., Rig]


def sharing(rigs: Make, **summary: Any) -> Rig:
    """A gateway of 2,000 tokens that shares the chat's prefix."""
    return rigs(2_000, {"summary": {"model": None, "share_prefix": True, **summary}})


class TestQuestion:
    """What the model is asked."""

    async def test_it_stands_behind_the_very_messages_that_were_sent(self, rigs: Make) -> None:
        rig = sharing(rigs)
        history = chat(31)
        decision = await rig.call(history, body={"tools": TOOLS, "tool_choice": "required"})
        [request] = rig.summarizer.requests
        assert isinstance(decision, Planned) and decision.plan.job is not None
        shown = history[: 1 + decision.plan.job.covers]
        assert len(request.prefix) == len(shown)
        assert all(a is b for a, b in zip(request.prefix, shown, strict=True))
        assert request.tools == {"tools": TOOLS} and request.system == ""
        assert request.user.startswith("Stop here.") and "Use no tool." in request.user

    @pytest.mark.parametrize("strategy", ["segments", "rolling"])
    async def test_the_next_one_follows_the_summary_that_was_sent(self, rigs: Make, strategy: str) -> None:
        rig = sharing(rigs, strategy=strategy)
        for messages in grown(chat(91), 20):
            decision = await rig.call(messages)
        first, second = rig.summarizer.requests[:2]
        assert "It begins with a summary" not in first.user and "It begins with a summary" in second.user
        assert "Summary number 1" in str(second.prefix[1]["content"])
        [stored] = [c for c in decision.context.session.compactions if c.version == 2]  # type: ignore[union-attr]
        texts = [s.text for s in stored.segments]
        assert texts == ["Summary number 2: all went well."] if strategy == "rolling" else len(texts) == 2
        assert stored.segments[0].start == 0 and stored.segments[-1].end == stored.covers

    async def test_an_answer_that_is_none_is_asked_for_in_the_plain_way(self, rigs: Make) -> None:
        rig = sharing(rigs)
        rig.summarizer.answers = [SummaryAnswer("", "tool_calls", "gpt-4o", None, True)]
        await rig.call(chat(31))
        shared, *plain = rig.summarizer.requests
        assert shared.prefix and plain
        assert all("<transcript>" in request.user and not request.prefix for request in plain)


class TestWhenNot:
    """Where the model has not read exactly what is to be summarised, it is asked in the plain way."""

    @pytest.mark.parametrize(
        "summary",
        [{"share_prefix": False}, {"model": "small"}, {"strategy": "turns"}],
    )
    async def test_the_policy_does_not_share(self, rigs: Make, summary: Mapping[str, Any]) -> None:
        rig = sharing(rigs, **summary)
        await rig.call(chat(31))
        assert rig.summarizer.requests and not any(r.prefix for r in rig.summarizer.requests)

    async def test_the_question_would_stand_behind_a_users_message(self, rigs: Make) -> None:
        rig = sharing(rigs)
        history = chat(33)
        # Roles swapped: every cut lies behind a user's message.
        history[1:] = [{**m, "role": "user"} for m in history[1:]]
        await rig.call(history)
        assert rig.summarizer.requests and not any(r.prefix for r in rig.summarizer.requests)
