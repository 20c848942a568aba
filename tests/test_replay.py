"""Recorded conversations through the real pipeline: nothing raises, and what comes out is a valid request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest

from gateway_compaction.cli.recordings import Recording, read_recordings, split_into_calls
from gateway_compaction.core.policy.book import Identity
from gateway_compaction.errors import SummaryError
from gateway_compaction.ports import Caller, Summarizer, SummaryRequest
from gateway_compaction.replay import (
    Call,
    FixedModels,
    NoSummarizer,
    ScriptedSummarizer,
    build_replay_runtime,
    replay_conversation,
)
from gateway_compaction.runtime import Runtime
from tests.engine.histories import chat, loop
from tests.lab.data import shared
from tests.lab.skips import skip_loudly
from tests.lab.validity import violations
from tests.policy_books import book

MODEL = "gpt-4o"
NAMES = (
    "anthropic_bodies", "beam_100k", "coding_agents_tools", "dialogstudio", "edge_hand", "korean", "locomo",
    "mt_bench_101", "multilingual_short", "request_shapes", "responses_bodies", "swe_mini_agent",
    "swe_mini_agent_tools", "tau_bench_airline",
)  # fmt: skip
WINDOWS = (1_000, 6_000)
SUMMARISERS = ("extractive", "scripted")
# Of a long conversation not every call is sent, but the first, the last and some between.
MOST_CALLS = 4
BUNDLED = (
    Recording("chat", tuple(chat(61)), {}),
    Recording(
        "loop", tuple(loop(45, words=60)), {"tools": [{"type": "function", "function": {"name": "run"}}]}
    ),
    Recording("both", (*chat(31), *loop(25)[1:], *chat(30, "after")[1:]), {"max_tokens": 100}),
)


def runtime(summariser: str, window: int) -> Runtime:
    """A runtime for replays, with a window and a summariser."""
    stands_in: Summarizer = NoSummarizer() if summariser == "extractive" else ScriptedSummarizer()
    defaults = {"summary": {"model": "extractive" if summariser == "extractive" else None}}
    return build_replay_runtime(FixedModels(window, MODEL), stands_in, book(defaults))


def some(calls: Sequence[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """At most ``MOST_CALLS`` of the calls, in order, the first and the last among them."""
    step = max(1.0, (len(calls) - 1) / (MOST_CALLS - 1))
    chosen = {round(i * step) for i in range(MOST_CALLS)} & set(range(len(calls)))
    yield from (calls[i] for i in sorted(chosen | ({len(calls) - 1} if calls else set())))


async def replayed(run: Runtime, recording: Recording, name: str) -> list[tuple[Call, tuple[Any, ...]]]:
    """Every call with what the client sent."""
    calls = list(some(list(split_into_calls(recording))))
    made = [
        call async for call in replay_conversation(run, calls, recording.body, Identity(model=MODEL), name)
    ]
    assert len(made) == len(calls)
    return list(zip(made, calls, strict=True))


def problems(call: Call, sent: tuple[Any, ...]) -> list[str]:
    """What is wrong with a rewritten request; one that is passed on is as the client made it."""
    untouched = len(call.upstream) == len(sent) and all(
        a is b for a, b in zip(call.upstream, sent, strict=True)
    )
    if untouched or not all(isinstance(m, Mapping) for m in sent):
        return []
    found = violations(call.upstream, sent)
    return found if call.tokens_upstream < call.tokens_client else [*found, "-: it is not smaller"]


def recorded(name: str) -> list[Recording]:
    """The chat conversations of a file; skips loudly where the folder is absent."""
    path = shared() / "data" / f"{name}.jsonl"
    if not path.is_file():
        skip_loudly(f"recorded conversations are absent: no {path.name} in ../shared/data")
    return read_recordings(path)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("summariser", SUMMARISERS)
@pytest.mark.parametrize("name", NAMES)
async def test_recorded_conversations(name: str, summariser: str, window: int) -> None:
    run = runtime(summariser, window)
    wrong: list[str] = []
    for recording in recorded(name):
        for call, sent in await replayed(run, recording, recording.id):
            assert call.outcome != "failed"
            wrong += [f"{recording.id} call {call.number}: {p}" for p in problems(call, sent)]
    await run.aclose()
    assert not wrong, "\n".join(wrong[:20])


def test_every_file_of_the_folder_is_named_above() -> None:
    folder = shared() / "data"
    if not folder.is_dir():
        skip_loudly("recorded conversations are absent: no ../shared/data")
    assert {path.stem for path in folder.glob("*.jsonl")} == {*NAMES}


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("summariser", SUMMARISERS)
@pytest.mark.parametrize("recording", BUNDLED, ids=lambda r: r.id)
async def test_bundled_conversations(recording: Recording, summariser: str, window: int) -> None:
    run = runtime(summariser, window)
    made = [
        call
        async for call in replay_conversation(
            run, split_into_calls(recording), recording.body, Identity(model=MODEL), "x"
        )
    ]
    for call, sent in zip(made, split_into_calls(recording), strict=True):
        assert problems(call, sent) == []
        assert call.tokens_upstream < window
        assert (call.messages_client, call.messages_upstream) == (len(sent), len(call.upstream))
    if made[-1].tokens_client > window:
        kinds = {call.reason for call in made if call.version is not None}
        assert ("model" in kinds) == (summariser == "scripted") and made[-1].covers > 0
    await run.aclose()


async def test_two_conversations_of_one_replay_are_strangers() -> None:
    run = runtime("scripted", 2_000)
    calls = list(split_into_calls(BUNDLED[0]))
    first = [c async for c in replay_conversation(run, calls, {}, Identity(model=MODEL), "one")]
    again = [c async for c in replay_conversation(run, calls, {}, Identity(model=MODEL), "two")]
    assert [c.outcome for c in first] == [c.outcome for c in again]
    assert next(c.version for c in again if c.version) == 1
    await run.aclose()


async def test_a_replay_that_may_ask_no_model_says_so() -> None:
    request = SummaryRequest(MODEL, "", "", 10, 1.0, Caller(MODEL))
    with pytest.raises(SummaryError, match="no model is to be asked"):
        await NoSummarizer().complete(request)


class TestIncremental:
    """The preset ``incremental`` makes no summary in vain, however long messages are."""

    @pytest.mark.parametrize(
        ("messages", "words", "least"),
        [(600, 40, 0.6), (300, 300, 0.6), (100, 1_500, 0.4), (50, 4_000, 0.2)],
    )
    async def test_summaries_and_cache_breaks(self, messages: int, words: int, least: float) -> None:
        run = build_replay_runtime(
            FixedModels(128_000, MODEL), ScriptedSummarizer(), book({"preset": "incremental"})
        )
        talk = chat(messages, words=words)
        sent = list(split_into_calls(Recording("talk", tuple(talk), {})))
        calls = [c async for c in replay_conversation(run, sent, {}, Identity(model=MODEL), f"{words}")]
        due = sum(len(str(m["content"])) // 4 for m in talk) / 8_000
        made = run.worker.counts["made"]
        # Of a long conversation a summary must cover a tenth more: there are fewer then.
        assert least * due <= made <= due
        used = {c.covers for c in calls if c.covers}
        breaks = [b.number for a, b in pairwise(calls) if b.upstream[: len(a.upstream)] != a.upstream]
        assert len(breaks) == len(used) >= made - 1
        await run.aclose()
