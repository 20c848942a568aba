"""The whole comparison, on conversations made up for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from gateway_compaction.cli.recordings import read_recordings
from gateway_compaction.core.conversation.messages import Message
from gateway_compaction.core.tokens.counter import TokenCounter
from gateway_compaction.evaluation.compare import NoStrategyError, Wanted, compare
from gateway_compaction.evaluation.material import Conversation, conversation_of
from gateway_compaction.evaluation.plot import draw_chart
from gateway_compaction.evaluation.report import (
    MEASURES,
    Row,
    make_rows,
    render_markdown,
    render_table,
    row_to_json,
)
from gateway_compaction.evaluation.run import Bench
from gateway_compaction.evaluation.strategies import OURS
from tests.evaluation.talks import AGENT, CHAT, KOREAN, QUESTIONS

COUNTER = TokenCounter()
EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"


def weigh(messages: Sequence[Message]) -> int:
    """Tokens of a request."""
    return COUNTER.raw_prompt_tokens(messages, {}, "gpt-4o")


def conversation(messages: Sequence[Any], asked: Sequence[Any] = ()) -> Conversation:
    """Material made of messages."""
    made = conversation_of(str(messages[0]), messages, asked, None)
    assert made is not None
    return made


async def rows(*conversations: Conversation, **wanted: Any) -> dict[str, Row]:
    """Rows by strategy, at one budget."""
    seen: list[tuple[int, int]] = []
    asked = Wanted(**{"budgets": (400,), "names": ("gateway", "bm25", "sliding"), **wanted})
    made = await compare({"talks": conversations}, asked, lambda done, total: seen.append((done, total)))
    assert [done for done, _ in seen] == list(range(1, seen[0][1] + 1))
    return {row.strategy: row for row in made[0].rows}


async def test_ours_keeps_what_questions_need() -> None:
    made = await rows(conversation(CHAT, QUESTIONS))
    ours, window = made["gateway-compaction"], made["sliding window"]
    assert ours.figures["evidence"].value == ours.figures["answers"].value == 1.0
    assert window.figures["evidence"].value == 0.0
    assert ours.figures["task"].value == ours.figures["rules"].value == 1.0
    assert ours.tokens is not None and ours.tokens <= 400 and ours.counts["over_budget"] == 0
    assert {"evidence_unknown", "answers_unknown"} <= ours.figures.keys()


async def test_one_kind_of_question_may_be_enough() -> None:
    known = await rows(conversation(CHAT, QUESTIONS), unknown=False, names=("gateway",))
    assert "evidence_unknown" not in known["gateway-compaction"].figures
    unknown = await rows(conversation(CHAT, QUESTIONS), known=False, names=("gateway",))
    row = unknown["gateway-compaction"]
    assert row.figures["evidence"].value < 1.0 and "evidence_unknown" not in row.figures


async def test_agents_are_measured_by_identifiers() -> None:
    made = await rows(conversation(AGENT))
    ours, window = made["gateway-compaction"], made["sliding window"]
    assert ours.figures["identifiers"].value > window.figures["identifiers"].value
    assert {"identifiers_summary", "identifiers_in_context"} <= ours.figures.keys()
    assert "identifiers_summary" not in window.figures


async def test_probes_find_their_sentences() -> None:
    made = await rows(conversation(KOREAN), budgets=(300,))
    ours = made["gateway-compaction"].figures
    assert ours["hit3"].value == ours["probes"].value == 1.0
    assert "hit3" in made["BM25, whole messages"].figures and "hit3" not in made["sliding window"].figures


async def test_what_fits_is_left_out_unless_everything_does() -> None:
    short = conversation(CHAT[:6], [{"question": "Day 1?", "answer": "a baker", "evidence": [2]}])
    both = await rows(short, conversation(CHAT, QUESTIONS), names=("gateway",))
    counts = both["gateway-compaction"].counts
    assert counts["left_out_small"] == 2 and counts["requests"] == 3
    alone = await rows(short, names=("gateway",))
    assert alone["gateway-compaction"].figures["evidence"].value == 1.0
    assert alone["gateway-compaction"].counts["left_out_small"] == 0


async def test_a_preamble_that_fills_the_budget_is_left_out() -> None:
    full = conversation([{"role": "system", "content": "Be kind. " * 100}, *CHAT], QUESTIONS)
    made = await rows(full, names=("gateway",))
    assert made["gateway-compaction"].counts["left_out_tight"] == 3
    assert made["gateway-compaction"].figures == {}


async def test_unknown_strategies_are_named() -> None:
    with pytest.raises(NoStrategyError, match="there are: gateway-compaction, sliding window"):
        await rows(conversation(CHAT, QUESTIONS), names=("headroom",))


@dataclass(frozen=True)
class Failing:
    """A strategy that fails at some requests, and sends too much at others."""

    name: str = "failing"
    reads_question: bool = True

    async def send(self, messages: Sequence[Message], budget: int, asked: bool) -> list[Message]:
        """See ``Strategy``."""
        if not asked:
            raise AttributeError("no content")
        return list(messages)


async def test_errors_and_too_large_requests_are_counted_not_hidden() -> None:
    bench = Bench([Failing()], [400], weigh, lambda text: COUNTER.raw_tokens(text, "gpt-4o"))
    row = make_rows(await bench.run([conversation(CHAT, QUESTIONS)]), unknown_only=False)[0]
    assert (row.counts["errors"], row.counts["over_budget"], row.faults) == (1, 2, ("AttributeError",))
    assert row.figures["evidence"].value == 1.0 and row.over
    assert "errors: 1 (AttributeError)" in str(list(render_table("t", [row], []).columns[-1].cells))


@dataclass(frozen=True)
class Growing:
    """A strategy that adds a message to those that are asked something."""

    name: str
    reads_question: bool = True

    async def send(self, messages: Sequence[Message], budget: int, asked: bool) -> list[Message]:
        """See ``Strategy``."""
        return [*([{"role": "user", "content": "Mind the ponies."}] if asked else []), *messages]


@pytest.mark.parametrize("name", [OURS, "another"])
async def test_requests_that_are_made_larger_are_counted_and_for_ours_explained(name: str) -> None:
    bench = Bench([Growing(name)], [9000], weigh, lambda text: COUNTER.raw_tokens(text, "gpt-4o"))
    row = make_rows(await bench.run([conversation(CHAT, QUESTIONS)]), unknown_only=False)[0]
    assert (row.counts["fitting"], row.counts["larger"], row.counts["over_budget"]) == (3, 2, 0)
    table = render_table("t", [row], [])
    assert "larger than it came: 2 of 3" in str(list(table.columns[-1].cells))
    explained = f"{OURS} counts the room that its policy keeps for excerpts as used"
    assert (
        (explained in str(table.caption)) == (explained in render_markdown("t", [row], [])) == (name == OURS)
    )


async def test_rows_have_the_promised_keys() -> None:
    made = await rows(conversation(CHAT, QUESTIONS), names=("gateway",))
    row = row_to_json(made["gateway-compaction"])
    assert list(row)[:7] == ["strategy", "budget", "evidence", "answers", "identifiers", "tokens", "ms"]
    assert row["strategy"] == "gateway-compaction" and row["budget"] == 400 and row["identifiers"] is None
    assert row["intervals"]["evidence"] == [1.0, 1.0]
    assert row["measured"]["evidence"] == {"items": 2, "conversations": 1, "resampled": "items"}
    assert MEASURES.keys() <= row.keys()


async def test_the_chart_is_a_drawing_of_every_bar() -> None:
    made = list((await rows(conversation(CHAT, QUESTIONS))).values())
    root = ElementTree.fromstring(draw_chart([("a <set>", made)]))
    bars = [e for e in root.iter("{http://www.w3.org/2000/svg}rect") if len(e)]
    assert len(bars) == sum(len(row.figures) for row in made)
    assert all(0 <= float(bar.attrib["height"]) <= 170 for bar in bars)
    assert ElementTree.fromstring(draw_chart([])).tag.endswith("svg")


@pytest.mark.parametrize("language", ["ko", "ja", "zh"])
async def test_scripts_without_spaces_are_searched(language: str) -> None:
    recordings = {r.id: r for r in read_recordings(EXAMPLES / "languages.jsonl")}
    made = conversation_of(language, recordings[language].messages, (), None)
    assert made is not None and len(made.probes) >= 20
    ours = (await rows(made, names=("gateway",)))["gateway-compaction"]
    assert ours.figures["hit3"].value >= 0.95 and ours.figures["probes"].value >= 0.95
