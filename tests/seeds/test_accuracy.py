"""What a model's summary lost is put back, what it made up is told, and nothing of ours passes for it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gateway_compaction.core.conversation.messages import Message
from gateway_compaction.core.summary.identifier_check import check_identifiers
from gateway_compaction.core.tokens.counter import TokenCounter
from gateway_compaction.engine.request import Planned
from gateway_compaction.errors import SummaryError
from gateway_compaction.ports import SummaryAnswer
from tests.engine.histories import chat, grown, loop
from tests.engine.rig import Rig, events

COUNTER = TokenCounter()
SOURCE: list[Message] = [
    {"role": "user", "content": "Look into src/cart/checkout.py, order FX-20417 fails there."},
    {"role": "assistant", "content": "I read src/cart/checkout.py; apply_discount() is called for FX-20417."},
    {"role": "user", "content": "Fix apply_discount and note the 1250 euros."},
]
NAMES = ("src/cart/checkout.py", "FX-20417", "apply_discount")


def count(text: str) -> int:
    """Tokens of a text."""
    return COUNTER.raw_tokens(text, "gpt-4o")


class TestLost:
    """Identifiers that the source ranks highest and the answer lost follow it in one line."""

    def test_they_are_appended(self) -> None:
        text = check_identifiers("The user wants a bug fixed.", SOURCE, "", 200, count).text
        body, line = text.split("\n")
        assert body == "The user wants a bug fixed." and line.startswith("identifiers: ")
        assert all(name in line for name in NAMES)

    def test_what_the_answer_has_is_not_repeated(self) -> None:
        answer = "The user wants apply_discount fixed in src/cart/checkout.py for FX-20417."
        text = check_identifiers(answer, SOURCE, "", 200, count).text
        assert all(text.count(name) == 1 for name in NAMES)

    @pytest.mark.parametrize("limit", [40, 80, 200])
    def test_within_the_limit_and_a_quarter_of_it(self, limit: int) -> None:
        text = check_identifiers("It went well, all in all. " * 60, SOURCE, "", limit, count).text
        assert count(text) <= limit
        assert sum(count(x) for x in text.split("\n") if x.startswith("identifiers: ")) <= limit // 4

    def test_a_previous_summary_is_a_source_as_well(self) -> None:
        text = check_identifiers(
            "All is well.", SOURCE[2:], "They read lib/tax_rates.py twice.", 200, count
        ).text
        assert "lib/tax_rates.py" in text

    def test_a_line_that_the_model_copied_is_not_doubled(self) -> None:
        answer = "The user wants a bug fixed.\nidentifiers: FX-20417, old_name"
        text = check_identifiers(answer, SOURCE, "", 200, count).text
        assert text.count("identifiers: ") == 1 and text.count("FX-20417") == 1

    def test_talk_without_any_is_left_alone(self) -> None:
        talk: list[Message] = [{"role": "user", "content": "How was your day by the sea?"}]
        assert (
            check_identifiers("They talked of the sea.", talk, "", 200, count).text
            == "They talked of the sea."
        )


class TestMadeUp:
    """Identifiers that stand nowhere in the source are counted."""

    @pytest.mark.parametrize(
        ("answer", "number"),
        [
            ("Order FX-20417 fails in checkout.py.", 0),
            ("The price is 1,250 euros.", 0),
            ("Order FX-99999 fails.", 1),
            ("order_total() and src/cart/basket.py were changed.", 2),
            ("SRC/CART/CHECKOUT.PY was read.", 0),
        ],
    )
    def test_how_many(self, answer: str, number: int) -> None:
        assert check_identifiers(answer, SOURCE, "", 200, count).unsourced == number

    def test_what_a_previous_summary_told_is_not_made_up(self) -> None:
        assert (
            check_identifiers("They read lib/tax.py.", SOURCE, "lib/tax.py was read.", 200, count).unsourced
            == 0
        )

    @pytest.mark.parametrize(
        ("answer", "reason"),
        [
            ("All went well.", "model"),
            ("FX-99999 was found.", "model; 1 identifier not in the source"),
            ("FX-99999 and lib/tax.py were found.", "model; 2 identifiers not in the source"),
        ],
    )
    async def test_the_event_tells_how_many_and_never_which(
        self, rigs: Callable[..., Rig], answer: str, reason: str
    ) -> None:
        rig = rigs(2_000)
        rig.summarizer.answers = [f"<summary>{answer}</summary>"]
        decision = await rig.call(chat(31))
        assert decision.session is not None
        [event] = [e for e in await events(rig.redis, decision.session) if e["type"] == "summary"]
        assert (event["outcome"], event["reason"]) == ("made", reason)
        assert "FX-99999" not in str(event) and "tax" not in str(event)


class TestNothingOfOurs:
    """Neither an extract nor an error text of ours is in a model's summary, or shown to the next one."""

    async def test_an_extract_is_not_built_upon(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(2_000)
        rig.summarizer.answers = [SummaryError("small: ServiceUnavailableError")] * 3
        for call in grown(loop(40)):
            await rig.call(call)
        for key in await rig.client.keys("*:session"):
            await rig.client.hdel(key, "backoff_until", "backoff_reason")
        rig.clock.now += 60
        for call in grown(loop(70), start=80):
            decision = await rig.call(call)
        asked = [r.user for r in rig.summarizer.requests[3:]]
        assert asked and "<previous_summary>" not in asked[0] and "\n[0] " in f"\n{asked[0]}"
        assert not any("ServiceUnavailable" in user or "made to fit" in user for user in asked)
        assert isinstance(decision, Planned) and decision.plan.view.compaction is not None
        assert "ServiceUnavailable" not in decision.plan.view.compaction.text

    @pytest.mark.parametrize(
        "answer",
        [
            "Error generating summary: timeout",
            "I'm sorry, I cannot do that.",
            SummaryAnswer("It went w", "length", "small"),
        ],
    )
    async def test_a_rejected_answer_is_not_shown_to_the_next(
        self, rigs: Callable[..., Rig], answer: str | SummaryAnswer
    ) -> None:
        rig = rigs(2_000, {"summary": {"model": "small", "strategy": "rolling"}})
        rig.summarizer.answers = ["<summary>They began.</summary>", answer]
        for call in grown(chat(60)):
            decision = await rig.call(call)
        told = answer if isinstance(answer, str) else answer.text
        assert len(rig.summarizer.requests) >= 2
        assert not any(told in r.user for r in rig.summarizer.requests)
        assert isinstance(decision, Planned) and decision.plan.view.compaction is not None
        assert told not in decision.plan.view.compaction.text
