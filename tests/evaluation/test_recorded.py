"""What must survive on the recorded conversations, where their folder is present.

The thresholds are those that the project promises; questions are a part of what there is, to be quick.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from gateway_compaction.evaluation.compare import Wanted, compare
from gateway_compaction.evaluation.material import conversation_of
from gateway_compaction.evaluation.report import Row
from tests.lab.data import load

AGENTS = ("swe_mini_agent_tools", "swe_mini_agent", "tau_bench_airline", "coding_agents_tools")


async def rows(names: Sequence[str], limit: int, *others: str, budget: int = 2000) -> dict[str, Row]:
    """The row of each strategy on some files together."""
    made = [
        conversation_of(f"{name} {number}", record["messages"], record.get("qa", ()), limit)
        for name in names
        for number, record in enumerate(load(name))
    ]
    kept = [c for c in made if c is not None]
    found = await compare({"": kept}, Wanted((budget,), ("gateway", *others)), lambda done, total: None)
    return {row.strategy: row for row in found[0].rows}


def share(row: Row, measure: str) -> float:
    """One share of a row."""
    return row.figures[measure].value


@pytest.mark.parametrize(
    ("name", "budget", "least"),
    [("locomo", 2000, 0.84), ("locomo", 4000, 0.90), ("beam_100k", 2000, 0.62), ("beam_100k", 4000, 0.68)],
)
async def test_known_questions_keep_their_evidence(name: str, budget: int, least: float) -> None:
    made = await rows([name], 60, "bm25", "coverage", budget=budget)
    ours, search, coverage = (
        made[n] for n in ("gateway-compaction", "BM25, whole messages", "rare-word coverage")
    )
    assert share(ours, "evidence") >= least
    assert share(ours, "evidence") >= share(search, "evidence") + 0.12
    assert share(ours, "evidence_unknown") > share(coverage, "evidence_unknown")
    assert ours.counts["over_budget"] == 0 and share(ours, "task") == 1.0
    assert ours.figures.get("rules") is None or share(ours, "rules") == 1.0


@pytest.mark.parametrize("name", AGENTS)
async def test_agents_keep_the_identifiers_they_need(name: str) -> None:
    ours = (await rows([name], 1))["gateway-compaction"]
    assert share(ours, "identifiers") >= 0.9 and share(ours, "task") == 1.0
    assert ours.figures.get("rules") is None or share(ours, "rules") == 1.0


async def test_summaries_of_agents_tell_of_identifiers() -> None:
    ours = (await rows(AGENTS, 1, budget=1000))["gateway-compaction"]
    assert share(ours, "identifiers_summary") >= 0.9
    assert share(ours, "identifiers_in_context") >= 0.8


@pytest.mark.parametrize("name", ["korean", "multilingual_short"])
async def test_changed_words_still_find_their_sentence(name: str) -> None:
    made = await rows([name], 20, "bm25")
    assert share(made["gateway-compaction"], "hit3") >= 0.95
    assert share(made["gateway-compaction"], "hit3") > share(made["BM25, whole messages"], "hit3")
    assert share(made["gateway-compaction"], "probes") >= 0.95
