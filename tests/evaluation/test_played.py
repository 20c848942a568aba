"""``eval --played``: conversations sent call by call, with questions on the way."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gateway_compaction.cli.main import app
from gateway_compaction.core.conversation.messages import Message, role_of, text_of
from gateway_compaction.core.policy.book import Identity, PolicyBook
from gateway_compaction.evaluation.material import Conversation, conversation_of
from gateway_compaction.evaluation.played import (
    DEFAULT_POLICY,
    GatewayPlayer,
    PlayedBench,
    PlayedTally,
    place_questions,
)
from gateway_compaction.evaluation.played_report import make_played_rows, played_row_to_json
from gateway_compaction.replay import FixedModels, NoSummarizer, build_replay_runtime
from tests.evaluation.talks import CHAT, QUESTIONS, write

SHIPS = tuple(
    f"{first} {second}"
    for first in ("Grey", "Merry", "Old", "Swift", "Northern", "Painted", "Silent", "Copper")
    for second in ("Gull", "Widow", "Lantern", "Heron", "Anchor", "Minstrel", "Candle", "Miller")
)


def tour() -> Conversation:
    """The made-up chat with its questions."""
    found = conversation_of("tour", CHAT, QUESTIONS, None)
    assert found is not None
    return found


@dataclass(frozen=True, slots=True)
class LastOnly:
    """A strategy that sends the last messages; it may fail."""

    last: int = 1
    fails: bool = False
    name: str = "last"
    reads_question: bool = False

    async def send(self, messages: Sequence[Message], budget: int, asked: bool) -> list[Message]:
        """See ``Strategy``."""
        if self.fails:
            raise ValueError
        return list(messages[-self.last :])


def play(strategy: LastOnly) -> tuple[PlayedTally, list[int]]:
    """Play the tour in one window, in which each message weighs ten tokens."""
    steps: list[int] = []
    book = PolicyBook(DEFAULT_POLICY, "test")
    identity = Identity(model="gpt-4o")
    bench = PlayedBench(
        [strategy],
        [1_000],
        lambda messages: 3 + 10 * len(messages),
        "gpt-4o",
        book,
        identity,
        step=lambda: steps.append(1),
    )
    [tally] = asyncio.run(bench.run([tour()]))
    assert strategy.fails or len(steps) == bench.count_steps([tour()])
    return tally, steps


def test_a_question_is_asked_behind_its_evidence_at_a_place_of_the_seed() -> None:
    one, places = tour(), set()
    for seed in range(20):
        asked = place_questions(one, seed)
        assert len(asked) == 2 and asked == place_questions(one, seed)
        assert all(a.before > max(a.question.evidence) for a in asked)
        assert all(a.before == len(CHAT) or role_of(CHAT[a.before]) == "user" for a in asked)
        places.add(tuple(a.before for a in asked))
    assert len(places) > 10


def test_a_conversation_without_questions_is_asked_for_its_sentences() -> None:
    found = conversation_of("tour", CHAT, (), None)
    assert found is not None
    asked = place_questions(found, 0)
    assert len(asked) == len(found.probes) > 3
    assert all(one.question.answer in CHAT[one.question.evidence[0]]["content"] for one in asked)


def test_what_stood_there_before_is_cheap_and_a_rewrite_is_not() -> None:
    whole, _ = play(LastOnly(last=10_000))
    calls = len(whole.bills)
    assert whole.tokens[0] == 10 and whole.bills[0] == 10 and not whole.rewrites
    # Each call adds the answer before it and its own message.
    assert whole.bills[-1] == pytest.approx(0.1 * (whole.tokens[-1] - 20) + 20)
    assert [m.share for m in whole.marks] == [1.0, 1.0] and not any(m.is_compacted for m in whole.marks)
    alone, _ = play(LastOnly())
    assert alone.rewrites == calls - 1 and set(alone.bills) == {10}
    assert [m.share for m in alone.marks] == [0.0, 0.0] and all(m.is_compacted for m in alone.marks)


def test_a_strategy_that_fails_gives_the_conversation_up() -> None:
    tally, _ = play(LastOnly(fails=True))
    [row] = make_played_rows([tally])
    assert (row.faults, row.calls, row.bill) == (1, 0, 0.0)
    assert played_row_to_json(row)["evidence"] is None


def run(file: Path, *arguments: str) -> str:
    """Run the command on a file and return what it prints."""
    result = CliRunner().invoke(app, ["eval", str(file), "--played", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def chat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One conversation with questions."""
    folder = tmp_path_factory.mktemp("played")
    return write(folder / "chat.jsonl", {"id": "tour", "messages": CHAT, "qa": QUESTIONS})


def test_the_command_plays_with_the_defaults_and_with_a_policy(chat: Path, tmp_path: Path) -> None:
    ours = ("--strategy", "gateway", "--budget", "1500", "--json", "-")
    policy = tmp_path / "policy.yaml"
    policy.write_text("version: 1\ndefaults: {mode: observe, recall: {max_tokens: 0}}\n", encoding="utf-8")
    [defaults] = json.loads(run(chat, *ours))
    [silent] = json.loads(run(chat, *ours, "--policy", str(policy)))
    assert defaults["set"] == silent["set"] == "chat" and defaults["questions"] == 2
    assert defaults["calls"] == silent["calls"] == 43
    assert 0 < defaults["rewrites"] < 43 and defaults["bill"] < defaults["tokens"]
    assert silent["quoted"] == 0.0 and defaults["evidence_cold"] is not None


def test_the_command_prints_a_table_for_people_and_one_for_pages(chat: Path, tmp_path: Path) -> None:
    window = ("--strategy", "sliding", "--budget", "1500")
    table = run(chat, *window, "--json", str(tmp_path / "rows.json"))
    page = run(chat, *window, "--markdown").splitlines()
    assert "sliding window" in table and "in 43 calls" in table and "2 questions asked on the way" in table
    assert len({line.count("|") for line in page[2:5]}) == 1 and page[4].startswith("| 1,500 | sliding")
    assert json.loads((tmp_path / "rows.json").read_text(encoding="utf-8"))[0]["strategy"] == "sliding window"
    refused = CliRunner().invoke(app, ["eval", str(chat), "--played", "--plot", str(tmp_path / "x.svg")])
    assert refused.exit_code == 2


async def test_in_no_epoch_is_a_question_left_without_its_answer() -> None:
    """Summaries are made ahead of their use, and questions come before, at and after it."""
    book = PolicyBook(DEFAULT_POLICY, "test")
    runtime = build_replay_runtime(FixedModels(4_000, "gpt-4o"), NoSummarizer(), book)
    player = GatewayPlayer(runtime, "gpt-4o", Identity(model="gpt-4o"))
    berths = [f"The {name} lies at berth {7000 + n} behind the mill." for n, name in enumerate(SHIPS)]
    filler = "The tide was low and the crew sang about the long road home. " * 3
    history: list[Message] = [
        {"role": role, "content": f"{berth} {filler}"} for berth in berths for role in ("user", "assistant")
    ]
    covers, missed = set(), []
    for turn in range(150):
        name = SHIPS[7 * turn % len(SHIPS)]
        history.append({"role": "user", "content": f"At which berth does the {name} lie?"})
        sent = await player.send(history)
        text = " ".join(text_of(message) for message in sent.messages)
        if f"The {name} lies at berth" not in text:
            missed.append(turn)
        if sent.is_compacted:
            covers.add(len(sent.messages) - len(history))
        history.append({"role": "assistant", "content": "Let me see."})
    await runtime.aclose()
    assert missed == [] and len(covers) >= 3
