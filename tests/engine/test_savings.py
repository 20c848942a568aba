"""What is counted as saved is what was not sent, and its price is that of the provider's prompt cache."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from gateway_compaction.archive import Query, Scope
from gateway_compaction.call_state import ending_of
from gateway_compaction.core.planning.views import render
from gateway_compaction.core.records.savings import CacheUse, PromptPrice
from gateway_compaction.engine.post_call import Ending
from gateway_compaction.engine.request import Planned
from tests.engine.histories import chat, grown, loop
from tests.engine.rig import Rig

EVERYTHING = Scope(everything=True)
CACHED_FROM = 1_024


@dataclass
class Provider:
    """A provider that keeps every prompt and reads the longest beginning that it knows.

    ``writes``: it charges what it writes to the cache. ``forgets``: its cache is empty again at each call.
    """

    rig: Rig
    price: PromptPrice
    writes: bool = False
    forgets: bool = False
    known: set[str] = field(default_factory=set)
    dollars: float = 0.0

    def answer(self, messages: Sequence[Any], *, counted: bool) -> CacheUse:
        """Take a prompt; its cost is added up only where the call is counted."""
        nothing = self.rig.counter.raw_prompt_tokens([], {}, "gpt-4o")
        tokens = [self.rig.counter.raw_prompt_tokens([m], {}, "gpt-4o") - nothing for m in messages]
        names = [json.dumps(list(messages[: end + 1])) for end in range(len(messages))]
        ends = [end for end, name in enumerate(names) if name in self.known]
        read = sum(tokens[: ends[-1] + 1]) if ends and not self.forgets else 0
        read = read if read >= CACHED_FROM else 0
        self.known |= set(names)
        report = CacheUse(read, sum(tokens) - read if self.writes else 0)
        if counted:
            self.dollars += self.price.cost(sum(tokens), report.read, report.written)
        return report


OPENAI = PromptPrice(1.0, 0.1, 1.0)
ANTHROPIC = PromptPrice(1.0, 0.1, 1.25)


@pytest.mark.parametrize("mode", ["enforce", "observe"])
@pytest.mark.parametrize(
    ("price", "ways"),
    [
        (OPENAI, {}),
        (ANTHROPIC, {"writes": True}),
        (OPENAI, {"forgets": True}),
        (ANTHROPIC, {"writes": True, "forgets": True}),
    ],
    ids=["reads", "reads and writes", "has forgotten", "writes and has forgotten"],
)
async def test_the_estimate_is_what_both_sides_would_have_cost(
    rigs: Callable[..., Rig], mode: str, price: PromptPrice, ways: dict[str, bool]
) -> None:
    """Both prompts of each call are put to a provider of their own; the estimate knows one of the two."""
    rig = rigs(8_000, {"mode": mode})
    compacted, as_came = Provider(rig, price, **ways), Provider(rig, price, **ways)
    for messages in grown(chat(161, words=120)):
        decision = await rig.decide(messages)
        planned = isinstance(decision, Planned)
        sent = render(decision.plan.view, decision.context) if planned else messages
        reports = compacted.answer(sent, counted=planned), as_came.answer(messages, counted=planned)
        rig.post_call.follow(decision, Ending("answered", prompt_cache=reports[mode == "observe"]))
        await rig.settle()
    hours = await rig.archive.overview(EVERYTHING, 2)
    named = ("saved", "saved_cached", "saved_written")
    named = named if mode == "enforce" else tuple(n.replace("saved", "would_save") for n in named)
    sums = {name: sum(getattr(hour, name) for hour in hours) for name in named}
    told = price.cost(*sums.values())
    true = as_came.dollars - compacted.dollars
    assert 0.85 * true < told < 1.05 * true
    if not ways.get("forgets"):
        # Without the cache in it, the figure would be several times the truth.
        assert sums[named[0]] * price.new > 2 * true


@pytest.mark.parametrize(
    ("talk", "defaults"),
    [
        (chat(99), {}),
        (loop(50), {}),
        (chat(99), {"recall": {"max_tokens": 500}}),
        (chat(99), {"summary": {"strategy": "window"}}),
    ],
    ids=["note and pins", "a repeated opener", "quotes in room that is kept for them", "a note alone"],
)
async def test_saved_is_what_came_less_all_that_was_sent(
    rigs: Callable[..., Rig], talk: list[Any], defaults: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    rig = rigs(2_000, defaults)
    asked = {
        "role": "user",
        "content": "What was said of " + " and ".join(talk[3].get("content", "it").split()[2:9]),
    }
    came = sent = last = 0
    with caplog.at_level(logging.INFO, "gateway_compaction"):
        for messages in grown(talk):
            messages = (
                [*messages[:-1], asked] if messages[-1]["role"] == "user" and len(messages) > 60 else messages
            )
            decision = await rig.call(messages)
            if isinstance(decision, Planned):
                last = rig.counter.raw_prompt_tokens(messages, {}, "gpt-4o")
                came, sent = came + last, sent + rig.counter.raw_prompt_tokens(decision.sent, {}, "gpt-4o")
                assert decision.tokens_before == last
                assert decision.tokens_after == rig.counter.raw_prompt_tokens(decision.sent, {}, "gpt-4o")
    hours = await rig.archive.overview(EVERYTHING, 2)
    rows = (await rig.archive.sessions(EVERYTHING, Query())).rows
    logged = [r.args[7] for r in caplog.records if r.msg.startswith("request:") and isinstance(r.args, tuple)]
    assert sum(h.saved for h in hours) == sum(r.saved for r in rows) == sum(logged) == came - sent > 0


@pytest.mark.parametrize("kind", ["refused", "cached"])
async def test_what_the_provider_never_answered_saves_nothing(rig: Rig, kind: Any) -> None:
    for messages in grown(chat(61)):
        decision = await rig.call(messages)
    assert isinstance(decision, Planned)
    [before] = (await rig.archive.sessions(EVERYTHING, Query())).rows
    await rig.call(chat(61), Ending(kind))
    [after] = (await rig.archive.sessions(EVERYTHING, Query())).rows
    assert before.calls + 1 == after.calls and before.saved == after.saved > 0


class TestReport:
    """What providers say of their prompt cache, in the form that LiteLLM gives it."""

    @pytest.mark.parametrize(
        ("details", "told"),
        [
            (None, None),
            ({}, None),
            ({"cached_tokens": None}, None),
            ({"cached_tokens": 0}, CacheUse()),
            ({"cached_tokens": 640}, CacheUse(640)),
            ({"cached_tokens": 640, "cache_creation_tokens": 80}, CacheUse(640, 80)),
            ({"cache_write_tokens": 80}, CacheUse(0, 80)),
            ({"cached_tokens": "many"}, None),
            ({"cached_tokens": -4}, CacheUse()),
        ],
    )
    def test_of_usage(self, details: dict[str, Any] | None, told: CacheUse | None) -> None:
        shown = None if details is None else SimpleNamespace(**details)
        usage = SimpleNamespace(prompt_tokens=900, prompt_tokens_details=shown)
        assert ending_of({}, SimpleNamespace(usage=usage)).prompt_cache == told

    def test_litellm_brings_anthropic_s_words_to_this_form(self) -> None:
        from litellm.types.utils import Usage

        usage = Usage(prompt_tokens=900, cache_read_input_tokens=640, cache_creation_input_tokens=80)
        assert ending_of({}, SimpleNamespace(usage=usage)).prompt_cache == CacheUse(640, 80)
