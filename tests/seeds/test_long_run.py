"""After twenty compactions: what was said at first is found, segments keep their bytes, sizes hold."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from gateway_compaction.compactor import Decision
from gateway_compaction.core.compaction import Compaction
from tests.engine.histories import grown, system
from tests.engine.rig import Rig
from tests.seeds.talks import Obedient, sent, summary_in

WINDOW, MESSAGES, COMPACTIONS = 3_000, 640, 20
SYLLABLES = "ba do fe gi ku lo mar nes pil ra sto tun vel wi xa yor zen quo".split()
FACTS = {
    "Where does Ines keep her spare key?": "Ines keeps her spare key under the blue flowerpot",
    "Which instrument did Tomas learn as a boy?": "Tomas learned the accordion when he was a boy",
    "What is the name of the lighthouse keeper's dog?": "the dog of the lighthouse keeper is called Biscuit",
    "What did Maren plant behind the chapel?": "Maren planted two walnut trees behind the chapel",
    "Who painted the ferry green?": "the ferry was painted green by old Henrik",
    "What happened to the violin teacher's car?": "the car of the violin teacher was sold to a baker",
    "Which soup is served at the harbour inn on Thursdays?": "the harbour inn serves pea soup on Thursdays",
    "Why was the choir rehearsal cancelled?": "the choir rehearsal was cancelled because of a burst pipe",
}


def babble(seed: str, words: int) -> str:
    """Made-up words, so many that no message speaks of what another did."""
    dice = random.Random(seed)
    return " ".join("".join(dice.choices(SYLLABLES, k=5)) for _ in range(words)).capitalize()


def conversation() -> list[dict[str, Any]]:
    """A chat of about fifty tokens a message; each fact stands in one message of its first tenth."""
    roles = ("user", "assistant")
    said = [{"role": roles[i % 2], "content": f"{babble(f'a{i}', 5)}. {babble(f'b{i}', 4)}."} for i in range(MESSAGES)]
    for number, fact in enumerate(FACTS.values()):
        place = 3 + number * (MESSAGES // 10 - 6) // len(FACTS)
        told = f"{babble(f'c{place}', 3)}. By the way, {fact}. {babble(f'd{place}', 3)}."
        said[place] = {**said[place], "content": told}
    return [system(), *said]


def used(decision: Decision) -> Compaction | None:
    """The compaction that was sent."""
    return decision.plan.view.compaction if decision.plan and decision.messages is not None else None


@pytest.fixture(params=["model", "extractive"])
async def run(request: pytest.FixtureRequest, rigs: Callable[..., Rig]) -> tuple[Rig, list[Decision]]:
    """The whole conversation, call by call; the summariser's answers keep nothing of it."""
    summary = {"model": "extractive"} if request.param == "extractive" else {}
    rig = rigs(WINDOW, {"recall": {"max_tokens": "auto"}, "summary": summary})
    rig.summarizer = rig.composing.summarizer = Obedient()  # type: ignore[assignment]
    return rig, [await rig.call(call) for call in grown(conversation())]


async def test_what_was_said_in_the_first_tenth_is_still_found(run: tuple[Rig, list[Decision]]) -> None:
    rig, decisions = run
    versions = {c.digest: c for c in map(used, decisions) if c is not None}
    assert len(versions) >= COMPACTIONS
    asked = conversation()
    found = 0
    for question, fact in FACTS.items():
        decision = await rig.call([*asked, {"role": "user", "content": question}])
        assert used(decision) is not None and len(sent(decision)) < 40
        last = sent(decision)[-1]["content"]
        assert last.endswith(question)
        found += fact in last
        if isinstance(rig.summarizer, Obedient):
            assert fact not in (summary_in(sent(decision)) or "") or "extractive" in str(decision.reason)
    assert found == len(FACTS)


async def test_segments_keep_their_bytes_and_sizes_hold(run: tuple[Rig, list[Decision]]) -> None:
    rig, decisions = run
    sent_ones = [c for c in map(used, decisions) if c is not None and c.kind == "model"]
    for old, new in pairwise({c.digest: c for c in sent_ones}.values()):
        for segment in old.segments:
            same = [s for s in new.segments if (s.start, s.end) == (segment.start, segment.end)]
            whole = [s for s in new.segments if s.start <= segment.start and segment.end <= s.end]
            assert same == [segment] or (not same and len(whole) == 1)
    for decision in decisions:
        compaction = used(decision)
        if compaction is None:
            continue
        block = summary_in(sent(decision)) or ""
        assert compaction.limit is not None and rig.counter.text(block, "gpt-4o") <= compaction.limit <= 500
        assert len(compaction.segments) <= 10
        assert decision.tokens_after is not None and decision.tokens_after < 0.95 * WINDOW
