"""The bill of a conversation: what is cached, what summaries cost, and who sends more than the window."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from gateway_compaction.cli.main import app
from gateway_compaction.core.conversation.messages import Message
from gateway_compaction.core.conversation.transcript import split_at_answers
from gateway_compaction.core.policy.book import Identity, PolicyBook
from gateway_compaction.evaluation.money import (
    INSTRUCTION_TOKENS,
    GatewayVariant,
    PassThrough,
    PinnedSummary,
    Prices,
    Scales,
    Sliding,
    Spending,
    find_prices,
    spend,
)
from gateway_compaction.evaluation.money_report import EXTRACTS, PLAIN

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "docs" / "examples" / "support_chat.json"
CHEAP = Prices(0.1, 1.25, 5.0)


def weigh(messages: Any) -> int:
    """A word is a token, a request has ten more."""
    return 10 + sum(len(str(m["content"]).split()) for m in messages)


SCALES = Scales(weigh, lambda text: len(text.split()))


def talk(turns: int, words: int = 20) -> list[Message]:
    """A chat in which each message has so many words."""
    return [
        {"role": role, "content": " ".join([f"{role}{n}"] * words)}
        for n in range(turns)
        for role in ("user", "assistant")
    ]


class TestPrices:
    """Prices as LiteLLM has them, in tokens of an uncached prompt."""

    @pytest.mark.parametrize(
        ("known", "prices"),
        [
            ({}, None),
            ({"input_cost_per_token": 0.0}, None),
            ({"input_cost_per_token": 2.0, "output_cost_per_token": 8.0}, Prices(1.0, 1.0, 4.0)),
            (
                {
                    "input_cost_per_token": 4.0,
                    "output_cost_per_token": 20.0,
                    "cache_read_input_token_cost": 0.4,
                    "cache_creation_input_token_cost": 5.0,
                },
                CHEAP,
            ),
        ],
    )
    def test_of_a_model(self, known: dict[str, float], prices: Prices | None) -> None:
        assert find_prices("m", {"m": known}) == prices

    def test_a_bill_is_that_of_a_call_with_its_summaries(self) -> None:
        spending = Spending("x", calls=2, cached=1000, written=100)
        assert spending.bill(CHEAP) == pytest.approx((100 + 125) / 2)
        spending.summary_cached, spending.summary_read, spending.summary_output = 500, 200, 40
        assert spending.bill(CHEAP) == pytest.approx((100 + 125 + 50 + 200 + 200) / 2)


class TestSpend:
    """What each strategy is charged for."""

    async def test_what_grows_is_read_from_the_cache(self) -> None:
        found = await spend(PassThrough(), [talk(5)], 1000, SCALES)
        # Calls of 1, 3, 5, 7 and 9 messages of twenty words; each adds two to the one before.
        assert (found.calls, found.written, found.cached) == (5, 9 * 20, (1 + 3 + 5 + 7) * 20)
        assert (found.breaks, found.over_window) == (0, 0)

    async def test_calls_over_the_window_are_counted(self) -> None:
        found = await spend(PassThrough(), [talk(5)], 120, SCALES)
        assert found.over_window == 2
        assert (await spend(Sliding(), [talk(5)], 120, SCALES)).over_window == 0

    async def test_a_sliding_window_breaks_the_prefix_at_every_call(self) -> None:
        found = await spend(Sliding(), [talk(30)], 300, SCALES)
        assert found.breaks >= 20

    async def test_a_pinned_summary_stays_until_the_window_is_full_again(self) -> None:
        talks = [talk(200, 50)]
        plain = await spend(PinnedSummary("plain", 0.5), talks, 4000, SCALES)
        assert plain.over_window == plain.invalid == 0
        assert 2 <= plain.summaries == plain.breaks <= 12
        lower = await spend(PinnedSummary("plain", 0.3), talks, 4000, SCALES)
        assert lower.summaries < plain.summaries

    async def test_behind_the_cached_prompt_a_summary_reads_its_instruction_only(self) -> None:
        shared = await spend(PinnedSummary("plain", 0.5, True), [talk(200, 50)], 4000, SCALES)
        assert shared.summary_read == shared.summaries * INSTRUCTION_TOKENS < shared.summary_cached

    @pytest.mark.parametrize("model", [None, "extractive"])
    async def test_the_gateway(self, model: str | None) -> None:
        document = {"version": 1, "defaults": {"mode": "enforce", "summary": {"model": model}}}
        variant = GatewayVariant("ours", PolicyBook(document, "ours"), Identity(model="gpt-4o"))
        found = await spend(variant, [talk(200, 50)], 8000, SCALES)
        assert found.over_window == found.invalid == 0 < found.breaks
        assert (found.summaries > 0) is (model is None)
        assert (found.summary_read > 0) is (model is None) is (found.summary_output > 0)

    def test_a_call_is_what_was_sent_for_an_answer(self) -> None:
        messages = talk(3)
        assert [len(call) for call in split_at_answers(messages)] == [1, 3, 5]
        greeted = [{"role": "assistant", "content": "Hi"}, *messages]
        assert [len(call) for call in split_at_answers(greeted)] == [2, 4, 6]


@cache
def play_recorded() -> list[dict[str, Any]]:
    """Play the project's own recording once for all tests."""
    told = CliRunner().invoke(app, ["bench", "money", str(RECORDED), "--window", "4000", "--json", "-"])
    assert told.exit_code == 0, told.output
    return json.loads(told.stdout)  # type: ignore[no-any-return]


class TestCommand:
    """``gateway-compaction bench money``."""

    def test_bills_are_told_by_the_plain_one(self) -> None:
        rows = play_recorded()
        plain = rows[0]
        assert plain["strategy"] == PLAIN and set(plain["of_plain"].values()) == {1.0}
        for row in rows:
            for name, bill in row["bill"].items():
                assert row["of_plain"][name] == pytest.approx(bill / plain["bill"][name], abs=0.01)

    def test_nothing_of_ours_is_over_the_window_or_invalid(self) -> None:
        ours = [row for row in play_recorded() if row["strategy"].startswith("gateway-compaction")]
        assert len(ours) == 4 and all(row["over_window"] == row["invalid"] == 0 for row in ours)

    def test_an_own_policy_takes_the_place_of_ours(self, tmp_path: Path) -> None:
        policy, file = tmp_path / "policies.yaml", tmp_path / "talk.jsonl"
        policy.write_text(json.dumps(EXTRACTS))
        file.write_text(json.dumps({"messages": talk(30, 50)}) + "\n")
        wanted = ["bench", "money", str(file), "--window", "2000", "--policy", str(policy), "--markdown"]
        told = CliRunner().invoke(app, wanted)
        assert told.exit_code == 0 and "| 2,000 | gateway-compaction, your policy |" in told.stdout
        assert told.stdout.count("gateway-compaction") == 1

    @pytest.mark.parametrize("written", ["", "no json", '{"messages": [1, 2, 3, 4, 5]}'])
    def test_a_file_without_conversations_is_named(self, tmp_path: Path, written: str) -> None:
        file = tmp_path / "talk.jsonl"
        file.write_text(written)
        told = CliRunner().invoke(app, ["bench", "money", str(file)])
        assert told.exit_code == 1 and "talk.jsonl" in told.stderr

    def test_the_page_has_these_figures(self) -> None:
        page = (ROOT / "docs" / "money.md").read_text("utf-8")
        for row in play_recorded():
            bills = " | ".join(f"{bill:,.0f} ({row['of_plain'][n]:.2f})" for n, bill in row["bill"].items())
            assert f"| 4,000 | {row['strategy']} | {bills} |" in page
