"""After twenty compactions: what was said at first is found, segments keep their bytes, sizes hold."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from gateway_compaction.core.records.compaction import Compaction
from gateway_compaction.engine.request import Decision
from tests.engine.histories import grown, system
from tests.engine.rig import Rig
from tests.seeds.talks import Obedient, sent, summary_in

WINDOW, MESSAGES, COMPACTIONS = 3_000, 700, 20
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
    said = [
        {"role": roles[i % 2], "content": f"{babble(f'a{i}', 5)}. {babble(f'b{i}', 4)}."}
        for i in range(MESSAGES)
    ]
    for number, fact in enumerate(FACTS.values()):
        place = 3 + number * (MESSAGES // 10 - 6) // len(FACTS)
        told = f"{babble(f'c{place}', 3)}. By the way, {fact}. {babble(f'd{place}', 3)}."
        said[place] = {**said[place], "content": told}
    return [system(), *said]


def used(decision: Decision) -> Compaction | None:
    """The compaction that was sent."""
    return decision.used


@pytest.mark.parametrize("model", ["small", "extractive"])
async def test_twenty_compactions(rigs: Callable[..., Rig], model: str) -> None:
    rig = rigs(WINDOW, {"recall": {"max_tokens": "auto"}, "summary": {"model": model}})
    # Its answers keep nothing of what was said: what is found is found in the history itself.
    rig.summarizer = rig.pipeline.summarizer = Obedient()  # type: ignore[assignment]
    decisions = [await rig.call(call) for call in grown(conversation())]
    versions = list({c.digest: c for c in map(used, decisions) if c is not None}.values())
    assert len(versions) >= COMPACTIONS
    _bytes_are_kept([c for c in versions if c.kind == "model"])
    for decision in decisions:
        _sizes_hold(rig, decision)
    for question, fact in FACTS.items():
        decision = await rig.call([*conversation(), {"role": "user", "content": question}])
        assert used(decision) is not None and len(sent(decision)) < 60
        last = sent(decision)[-1]["content"]
        assert fact in last and last.endswith(question)


def _bytes_are_kept(versions: list[Compaction]) -> None:
    for old, new in pairwise(versions):
        for segment in old.segments:
            same = [s for s in new.segments if (s.start, s.end) == (segment.start, segment.end)]
            whole = [s for s in new.segments if s.start <= segment.start and segment.end <= s.end]
            assert same == [segment] or (not same and len(whole) == 1)


def _sizes_hold(rig: Rig, decision: Decision) -> None:
    compaction = used(decision)
    if compaction is None:
        return
    block = summary_in(sent(decision)) or ""
    assert compaction.limit is not None and rig.counter.raw_tokens(block, "gpt-4o") <= compaction.limit <= 500
    assert len(compaction.segments) <= 10
    assert decision.tokens_after is not None and decision.tokens_after < 0.95 * WINDOW
