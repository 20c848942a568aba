"""The work of the hottest paths, in calls of functions: a count that no other work on the machine moves.

Counted and not timed, the guard says the same on every machine. Where a path needs more for what it newly
does, its line in ``CALLS`` is raised with that change; where it needs much less, the line is lowered, or the
next growth goes unseen.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from gateway_compaction.core.conversation.transcript import forget_histories, parse_transcript
from gateway_compaction.core.endpoints.read import read_conversation
from gateway_compaction.core.planning.context import RequestContext
from gateway_compaction.core.planning.fit import read_ahead
from gateway_compaction.core.planning.plan import make_plan
from gateway_compaction.core.planning.snapshot import build_snapshot
from tests.core.builders import Bench, policy, sent_by, stored
from tests.lab.endpoints import to_anthropic, to_responses

MOST_GROWTH, MOST_SHRINKAGE = 1.2, 0.6
MESSAGES = 200
# Calls of Python functions for a history of two hundred messages, by path. Only "unseen" is read for the
# first time; of the others an earlier call has brought the history.
CALLS = {
    "bound": 1710,
    "unseen": 7182,
    "read": 210,
    "near": 1096,
    "compacted": 5331,
    "afterwards": 2746,
    "messages": 577,
    "responses": 801,
}

Path = Callable[[list[dict[str, Any]]], object]


def build_talk(end: int = MESSAGES) -> list[dict[str, Any]]:
    """Messages as a client sends them: plain texts, calls with results, other objects each time."""
    talk: list[dict[str, Any]] = []
    for number in range(end // 4):
        function = {"name": "look", "arguments": f'{{"ship": {number}}}'}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        talk += [
            {"role": "user", "content": f"Where does Ship_{number} lie? " + "It carries grain. " * 12},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": f"Ship_{number}: berth {number}. " * 12},
            {"role": "assistant", "content": f"Ship_{number} lies at berth {number}. " * 12},
        ]
    return [*talk, {"role": "user", "content": "Where does Ship_7 lie?"}]


def list_paths() -> dict[str, Path]:
    """The paths of a process that has seen the conversation; each gets its messages anew."""
    whole = Bench(1_000_000).context(build_talk()).measure.total
    near, over = Bench(int(whole / 0.8), policy()), Bench(int(whole / 0.9), policy())
    known = near.context(build_talk())

    def read(talk: list[dict[str, Any]]) -> None:
        _ = parse_transcript(talk).chain

    def read_unseen(talk: list[dict[str, Any]]) -> None:
        forget_histories()
        read(talk)

    def compact(talk: list[dict[str, Any]]) -> RequestContext:
        context = over.context(talk)
        cut = context.transcript.cuts[len(context.transcript.cuts) // 2]
        context = over.context(talk, [stored(context, cut)])
        sent_by(make_plan(context), context)
        return context

    def follow(talk: list[dict[str, Any]]) -> None:
        read_ahead(known, 0)
        build_snapshot(known, make_plan(known), None, 0.0)
        near.counter.raw_prompt_tokens(talk, {}, near.model)

    bodies = {"messages": to_anthropic(build_talk()), "responses": to_responses(build_talk())}
    return {
        "bound": lambda talk: near.counter.upper_bound(talk, {}, near.model, 10**9),
        "unseen": read_unseen,
        "read": read,
        "near": lambda talk: make_plan(near.context(talk)),
        "compacted": compact,
        "afterwards": follow,
        # These read a body of their own, with the same talk in it.
        "messages": lambda _: list(read_conversation("messages", bodies["messages"]).messages),
        "responses": lambda _: list(read_conversation("responses", bodies["responses"]).messages),
    }


def count_calls(work: Callable[[], object]) -> int:
    """Return how many functions of Python a piece of work calls; generators count at each step."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls


@pytest.fixture(scope="module")
def paths() -> dict[str, Path]:
    """The paths, each of them warm."""
    found = list_paths()
    for path in found.values():
        path(build_talk())
    return found


@pytest.mark.parametrize("name", CALLS)
def test_a_hot_path_does_no_more_than_it_did(name: str, paths: dict[str, Path]) -> None:
    talk = build_talk()
    calls = count_calls(lambda: paths[name](talk))
    assert calls <= MOST_GROWTH * CALLS[name], f"{calls} calls: it was made slower, or needs another line"
    assert calls >= MOST_SHRINKAGE * CALLS[name], f"{calls} calls: lower its line, so that it stays so"


def test_the_guard_sees_work_that_comes_on_top(paths: dict[str, Path]) -> None:
    talk = build_talk()

    def work_twice() -> None:
        paths["read"](talk)
        paths["read"](talk)

    assert count_calls(work_twice) > MOST_GROWTH * CALLS["read"]
