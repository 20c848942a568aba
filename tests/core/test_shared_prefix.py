"""The question behind the very messages that the chat's own model has read: when, and what it says."""

from __future__ import annotations

from typing import Any

import pytest

from gateway_compaction.core.planning.context import RequestContext
from gateway_compaction.core.planning.shared_prefix import SharedPrefix, find_shared_prefix
from gateway_compaction.core.planning.summary_job import SummaryJob
from gateway_compaction.core.records.compaction import Clip, Compaction
from tests.core.builders import Bench, policy, stored
from tests.core.scripts import script
from tests.core.weights import chat

TOOLS = [{"type": "function", "function": {"name": "run"}}]
BODY = {"tools": TOOLS, "functions": [], "temperature": 1}


def context(**paths: Any) -> RequestContext:
    """A chat of twenty messages after one of the system's, where the policy shares."""
    return Bench(2_000, policy(**{"summary__share_prefix": True, **paths})).context(
        [*script("sys"), *chat(10, 20)]
    )


def job(s: RequestContext, covers: int, base: Compaction | None = None) -> SummaryJob:
    """A summary of the first messages."""
    return SummaryJob(s.chain[covers], covers, base, 200)


def shared(
    s: RequestContext, covers: int, base: Compaction | None = None, *used: Compaction
) -> SharedPrefix | None:
    """The prefix of a job where ``used``, or its base, was sent."""
    sent = [*s.transcript.preamble, *s.transcript.history]
    return find_shared_prefix(s, job(s, covers, base), used[0] if used else base, sent, BODY)


def test_it_is_what_was_sent_up_to_the_last_message_covered_with_the_callers_tools() -> None:
    s = context()
    found = shared(s, 8)
    assert found is not None and found.messages == (*s.transcript.preamble, *s.transcript.history[:8])
    assert found.tools == {"tools": TOOLS} and not found.summarised


@pytest.mark.parametrize(
    ("paths", "covers"),
    [
        ({"summary__share_prefix": False}, 8),
        ({"summary__model": "small"}, 8),
        ({"summary__strategy": "turns"}, 8),
        # Behind a user's message; nothing behind it.
        ({}, 7),
        ({}, 19),
    ],
)
def test_otherwise_there_is_none(paths: dict[str, Any], covers: int) -> None:
    assert shared(context(**paths), covers) is None


def test_nor_where_another_compaction_was_sent_or_messages_were_shortened() -> None:
    s = context()
    base, other = stored(s, 4), stored(s, 6)
    assert shared(s, 8, base) is not None
    assert shared(s, 8, base, other) is None
    clipped = stored(s, 4, clip=Clip(19, 50, (), s.chain[19]))
    assert shared(s, 8, clipped) is None


@pytest.mark.parametrize(
    ("strategy", "summarised", "said"),
    [("segments", False, None), ("segments", True, "leave that out"), ("rolling", True, "merge it")],
)
def test_the_question_says_what_becomes_of_a_summary(
    strategy: Any, summarised: bool, said: str | None
) -> None:
    prefix = SharedPrefix(tuple(chat(3, 20)), {}, summarised)
    asked = prefix.write_question(
        policy(summary__strategy=strategy, summary__preserve_keys=["order id"]), 400
    )
    assert "order id" in asked and "Use no tool." in asked
    assert ("begins with a summary" in asked) == summarised and (said is None or said in asked)
