"""The third document: at 75 % a structured report takes the place of all but the last four messages."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.policy.presets import PRESETS
from gateway_compaction.core.text.language import get_phrases
from gateway_compaction.engine.request import Decision, Planned, Untouched
from gateway_compaction.ports import SummaryAnswer
from tests.engine.histories import grown, loop
from tests.engine.rig import Rig
from tests.seeds.talks import sent, summary_in

WINDOW = 12_000
PRESET = {"preset": "agent"}
HEADINGS = ("Task Overview", "Work Completed", "Important Context", "Current State")
REPORT = """Of course.
<summary>
**Task Overview**
- Build a calculator
**Work Completed**
- /src/calculator.py written
**Important Context**
- pytest is preferred to unittest
**Current State**
- all tests pass
</summary>
Shall I go on?"""


def work(rounds: int) -> list[dict[str, Any]]:
    """A coding agent at work: a task, then calls and results of about 200 tokens."""
    return loop(rounds, "Write /src/calculator.py and test it", words=190)


async def told(rig: Rig, rounds: int) -> list[Decision]:
    """Every call of that work, the background finished after each."""
    return [await rig.call(call) for call in grown(work(rounds), start=2)]


@pytest.fixture
def rig(rigs: Callable[..., Rig]) -> Rig:
    """The preset, with a summariser that writes the report."""
    rig = rigs(WINDOW, PRESET)
    rig.summarizer.answers = [REPORT] * 50
    return rig


def usage(decision: Decision) -> float:
    """The share of the window that the client's own messages use."""
    assert not isinstance(decision, Untouched)
    return decision.tokens_before / WINDOW


class TestTrigger:
    """From three quarters of the window on, and not before."""

    async def test_it_is_used_from_75_percent(self, rig: Rig) -> None:
        for decision in await told(rig, 80):
            if not isinstance(decision, Untouched):
                assert (decision.messages is not None) == (usage(decision) >= 0.75)

    async def test_it_is_ready_by_then(self, rig: Rig) -> None:
        decisions = [d for d in await told(rig, 80) if d.messages is not None]
        assert {d.reason.split(";")[0] for d in decisions} == {"model"}

    async def test_many_times(self, rig: Rig) -> None:
        versions = [d.version for d in await told(rig, 160) if d.version]
        assert max(versions) >= 3 and versions == sorted(versions)

    async def test_at_least_half_of_the_tokens_go(self, rig: Rig) -> None:
        seen: set[int | None] = set()
        for decision in await told(rig, 80):
            if decision.messages is not None and decision.version not in seen:
                seen.add(decision.version)
                assert isinstance(decision, Planned)
                assert decision.tokens_after <= 0.5 * decision.plan.tokens_before
        assert seen


class TestKept:
    """The last four messages, and the task."""

    async def test_the_last_four_messages_are_sent_as_they_are(self, rig: Rig) -> None:
        for decision in await told(rig, 80):
            assert sent(decision)[-4:] == list(decision.request.messages[-4:])

    async def test_the_task_is_repeated_where_its_turn_is_divided(self, rig: Rig) -> None:
        decision = (await told(rig, 80))[-1]
        task = decision.request.messages[1]
        assert decision.messages is not None and task in sent(decision)


class TestPrompt:
    """What is asked for."""

    async def test_four_headings_and_at_most_a_thousand_words(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(120_000, PRESET)
        # At light: from medium on old tool results are cleared first, and then there is room again.
        await rig.call(work(370))
        order = rig.summarizer.requests[0].user.split("</transcript>")[1]
        assert all(heading in order for heading in HEADINGS)
        found = re.search(r"in at most (\d+) words", order)
        assert found is not None and 900 <= int(found[1]) <= 1_000
        wanted = "exact path|commands run|variables|decisions|errors|preferences|next steps".split("|")
        assert all(words in order for words in wanted)

    async def test_an_earlier_report_is_built_upon(self, rig: Rig) -> None:
        await told(rig, 120)
        later = rig.summarizer.requests[1:]
        assert later and all("**Current State**\n- all tests pass" in r.user for r in later)


class TestExtraction:
    """Only what stands between the tags is the report."""

    async def test_the_tags_and_what_is_around_them_go(self, rig: Rig) -> None:
        block = summary_in(sent((await told(rig, 80))[-1])) or ""
        assert all(f"**{heading}**" in block for heading in HEADINGS)
        assert "Of course" not in block and "Shall I go on" not in block and "<summary>" not in block

    async def test_an_answer_without_tags_is_taken_whole(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(WINDOW, PRESET)
        rig.summarizer.answers = ["  The calculator is written and its tests pass.  "] * 9
        assert "\nThe calculator is written and its tests pass.\n" in (
            summary_in(sent((await told(rig, 80))[-1])) or ""
        )

    async def test_one_that_was_cut_off_is_no_report(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(WINDOW, PRESET)
        rig.summarizer.answers = [SummaryAnswer("<summary>The calc", "length", "small")] * 9
        for decision in await told(rig, 80):
            assert "The calc" not in str(sent(decision)[1:3])


class TestWindow:
    """Without a summary: what is no longer shown is told by a note."""

    async def test_a_note_stands_for_it(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(WINDOW, {**PRESET, "summary": {"strategy": "window"}})
        decisions = await told(rig, 120)
        for decision in decisions:
            if decision.messages is not None and decision.reason == "extractive":
                assert isinstance(decision, Planned) and decision.plan.view.compaction is not None
                covers = decision.plan.view.compaction.covers
                assert f"[{get_phrases('en').unseen}: {covers}]" in (summary_in(sent(decision)) or "")
        assert decisions[-1].messages is not None and rig.summarizer.requests == []

    @pytest.mark.parametrize(
        ("text", "code"),
        [("계산기를 만들고 테스트를 작성해 주세요.", "ko"), ("電卓を作ってテストしてください。", "ja")],
    )
    async def test_in_the_language_of_the_conversation(
        self, rigs: Callable[..., Rig], text: str, code: str
    ) -> None:
        rig = rigs(4_000, {**PRESET, "summary": {"strategy": "window"}})
        talk = [{"role": r, "content": f"{n} {text * 12}"} for n in range(24) for r in ("user", "assistant")]
        for call in grown(talk):
            decision = await rig.call(call)
        assert get_phrases(code).unseen in (summary_in(sent(decision)) or "")


def test_the_preset_can_be_changed_to_the_documents_own_numbers() -> None:
    policy = Policy.model_validate(dict(PRESETS["agent"]))
    assert (policy.levels.medium.at, policy.levels.medium.keep_last) == (0.75, 4)
    assert (policy.summary.prompt, policy.summary.strategy, policy.summary.max_tokens) == (
        "coding",
        "rolling",
        1_500,
    )
