"""The first document: a summary of every three turns, made at turns 4, 7, 10 …, all of them kept."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict, replace

import pytest

from gateway_compaction.archive import Scope
from gateway_compaction.core.conversation.transcript import parse_transcript
from gateway_compaction.core.records.compaction import Compaction, Segment
from gateway_compaction.core.summary.statistics import (
    RecordedPart,
    build_summary_records,
    list_summary_records,
)
from gateway_compaction.engine.request import Decision, Planned
from tests.engine.rig import Rig
from tests.seeds.talks import Obedient, sent, summary_in, told, turns

WINDOW = 100_000
PRESET = {"preset": "turns"}
TRIGGERS = [4, 7, 10, 13]
ADMIN, KEY = Scope(everything=True, actor="zoe"), {"key_hash": "k1"}
NUMBERED = re.compile(r"(?m)^Summary \d+\.")
LABELS = re.compile(r"(?m)^\[turns (\d+–\d+)\]$")


@pytest.fixture
def rig(rigs: Callable[..., Rig]) -> Rig:
    """The preset in a large window, with a summariser that keeps to its length."""
    return obedient(rigs(WINDOW, PRESET))


def obedient(rig: Rig) -> Rig:
    """A rig whose summariser keeps to its length."""
    rig.summarizer = rig.pipeline.summarizer = Obedient()  # type: ignore[assignment]
    return rig


def used(decision: Decision) -> Compaction:
    """The compaction that was sent."""
    assert isinstance(decision, Planned) and decision.plan.view.compaction is not None
    return decision.plan.view.compaction


def records(decision: Decision) -> tuple[RecordedPart, ...]:
    """The history of the summaries that were sent."""
    return list_summary_records(used(decision)).records


async def test_summaries_are_made_at_turns_four_seven_and_ten(rig: Rig) -> None:
    made: list[int] = []
    for number, decision in enumerate(await told(rig, turns(14)), 1):
        while len(made) < (used(decision).version if decision.messages else 0):
            made.append(number)
    assert made == TRIGGERS


async def test_the_context_is_all_summaries_and_the_turns_since(rig: Rig) -> None:
    for number, decision in enumerate(await told(rig, turns(14)), 1):
        messages = sent(decision)
        summaries = (number - 1) // 3
        raw = number - 3 * summaries
        questions = [m for m in messages if str(m.get("content")).startswith("Question")]
        assert len(questions) == raw, number
        assert len(NUMBERED.findall(summary_in(messages) or "")) == summaries, number
        if summaries:
            groups = [(n, n + 1, n + 2) for n in range(1, 3 * summaries, 3)]
            assert [r.turns for r in records(decision)] == groups
            named = [f"{first}–{last}" for first, _, last in groups]
            assert LABELS.findall(summary_in(messages) or "") == named


async def test_turn_four_is_the_summary_and_the_question(rig: Rig) -> None:
    talk = turns(4)
    messages = sent((await told(rig, talk))[-1])
    assert [m["role"] for m in messages] == ["system", "user", "assistant", "user"]
    assert messages[-1] is not None and messages[-1]["content"] == talk[-2]["content"]


async def test_older_summaries_stay_as_they_are(rig: Rig) -> None:
    seen: dict[tuple[int, ...], str] = {}
    for decision in await told(rig, turns(14)):
        for record in records(decision) if decision.messages else ():
            assert seen.setdefault(record.turns, record.summary) == record.summary
    assert len(seen) == 4


async def test_calls_and_results_belong_to_their_turn(rig: Rig) -> None:
    decisions = await told(rig, turns(5, tools=2))
    first = next(d for d in decisions if d.messages)
    assert [m["role"] for m in first.request.messages][-1] == "user"
    assert [r.turns for r in records(first)] == [(1, 2, 3)]
    # Within turn 4 the same summary serves every call of its loop.
    loop = [d for d in decisions if d.messages and len(records(d)) == 1]
    assert len({summary_in(sent(d)) for d in loop}) == 1 and len(loop) >= 3
    assert len(rig.summarizer.requests) == 1


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("tools", [0, 2])
async def test_the_target_is_a_share_of_the_characters(
    rigs: Callable[..., Rig], rate: float, tools: int
) -> None:
    rig = obedient(rigs(WINDOW, {**PRESET, "summary": {"rate": rate}}))
    decisions = await told(rig, turns(7, tools))
    history = records(decisions[-1])
    assert len(history) == len(rig.summarizer.requests) == 2
    for record, request in zip(history, rig.summarizer.requests, strict=True):
        assert record.original_chars is not None
        target = int(record.original_chars * rate)
        assert (record.target_chars, record.requested_rate) == (target, rate)
        assert f"in about {target} characters" in request.user
        assert record.summary_chars == len(record.summary)
        assert 0.9 * target <= record.summary_chars <= target


async def test_a_rate_that_is_set_meanwhile_holds_from_the_next_summary(rig: Rig) -> None:
    """The document's slider: of this conversation, or of all of its key."""
    first, *_ = [d for d in await told(rig, turns(4), about=KEY) if d.messages]
    assert first.session is not None
    await rig.archive.set_rate(ADMIN, first.session, 0.1, for_key=True)
    await rig.notice_poller.poll()
    last = (await told(rig, turns(7), about=KEY))[-1]
    assert [r.requested_rate for r in records(last)] == [0.3, 0.1]
    # Its own goes before that of its key, and another key's conversation has neither.
    await rig.archive.set_rate(ADMIN, first.session, 0.5)
    last = (await told(rig, turns(10), about=KEY))[-1]
    assert [r.requested_rate for r in records(last)] == [0.3, 0.1, 0.5]
    others = [{**m, "content": f"elsewhere: {m['content']}"} for m in turns(4)]
    assert [r.requested_rate for r in records((await told(rig, others, about=KEY))[-1])] == [0.1]
    foreign = [{**m, "content": f"abroad: {m['content']}"} for m in turns(4)]
    found = records((await told(rig, foreign, about={"key_hash": "another"}))[-1])
    assert [r.requested_rate for r in found] == [0.3]


async def test_the_record_has_the_fields_of_the_document(rig: Rig) -> None:
    talk = turns(4, tools=1)
    sent_last = (await told(rig, talk))[-1]
    [record] = records(sent_last)
    original = sum(len(m["content"]) for m in talk[1:13] if m["content"])
    assert asdict(record) == {
        "start": 0,
        "end": 12,
        "turns": (1, 2, 3),
        "turn_length": 3,
        "original_chars": original,
        "summary_chars": len(record.summary),
        "target_chars": int(original * 0.3),
        "requested_rate": 0.3,
        "actual_rate": round(len(record.summary) / original, 4),
        "created_at": used(sent_last).created_at,
        "summary": record.summary,
    }


async def test_the_statistics_add_up(rig: Rig) -> None:
    compaction = used((await told(rig, turns(10)))[-1])
    found = list_summary_records(compaction)
    totals = found.totals
    assert (totals.summaries, totals.turns) == (3, 9)
    assert totals.original_chars == sum(r.original_chars or 0 for r in found.records)
    assert totals.summary_chars == sum(r.summary_chars for r in found.records)
    assert 0.25 < totals.summary_chars / totals.original_chars < 0.35
    # All that stands in their place is counted, not the texts alone.
    texts = [rig.counter.raw_tokens(r.summary, "gpt-4o") for r in found.records]
    assert totals.tokens_after > sum(texts)
    assert totals.saved == pytest.approx(1 - totals.tokens_after / totals.tokens_before, abs=1e-4)
    # Each was made at another turn, and keeps its time.
    times = [r.created_at for r in found.records]
    assert times == sorted(times) and all(times)


async def test_without_a_rate_no_length_is_said_to_be_asked_for(rigs: Callable[..., Rig]) -> None:
    rig = obedient(rigs(WINDOW, {**PRESET, "summary": {"rate": None}}))
    [record] = records((await told(rig, turns(4)))[-1])
    assert (record.requested_rate, record.target_chars) == (None, None) and record.actual_rate


async def test_a_summary_that_is_late_is_used_from_the_next_turn(rigs: Callable[..., Rig]) -> None:
    rig = rigs(WINDOW, {**PRESET, "triggers": {"wait_seconds": 0.05}})
    rig.summarizer.gate.clear()
    fourth = await rig.decide(turns(4)[:-1])
    assert fourth.messages is None and fourth.outcome == "none"
    rig.summarizer.gate.set()
    await rig.settle()
    fifth = await rig.call(turns(5)[:-1])
    assert [r.turns for r in records(fifth)] == [(1, 2, 3)]


async def test_without_a_model_the_fourth_turn_is_served_as_well(rigs: Callable[..., Rig]) -> None:
    rig = rigs(WINDOW, {**PRESET, "summary": {"model": "extractive"}})
    seen: dict[tuple[int, ...], str] = {}
    for number, decision in enumerate(await told(rig, turns(11, words=120)), 1):
        assert (decision.messages is not None) == (number >= 4), number
        for record in records(decision) if decision.messages else ():
            assert record.turn_length == 3
            assert seen.setdefault(record.turns, record.summary) == record.summary
    assert sorted(seen) == [(1, 2, 3), (4, 5, 6), (7, 8, 9)] and rig.summarizer.requests == []


async def test_turns_missed_are_made_up_for_one_summary_each(rig: Rig) -> None:
    decision = await rig.call(turns(11)[:-1])
    assert [r.turns for r in records(decision)] == [(1, 2, 3), (4, 5, 6), (7, 8, 9)]


def test_a_turn_that_is_divided_belongs_to_both_sides() -> None:
    compaction = Compaction("d" * 32, 6, "model", (Segment(0, 4, "a"), Segment(4, 6, "b")))
    found = build_summary_records(compaction, parse_transcript(turns(2, tools=3)))
    assert [r.turns for r in found] == [(1,), (1,)]
    assert list_summary_records(replace(compaction, records=found)).totals.turns == 1
