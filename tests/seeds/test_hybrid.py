"""The fourth document: three levels of usage, a scorer, anchors, and summaries of summaries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from gateway_compaction.core.pins.anchors import (
    Anchor,
    Scoring,
    choose_anchors,
    score_message,
    score_sentence,
)
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.policy.presets import PRESETS
from gateway_compaction.core.records.compaction import Compaction
from gateway_compaction.core.summary.block import FrameSettings, build_frame, build_summary_message
from gateway_compaction.core.summary.segments import compute_segment_limit
from gateway_compaction.core.tokens.counter import TokenCounter
from gateway_compaction.engine.request import Decision, Planned
from gateway_compaction.errors import SummaryLimited, SummaryRejected
from tests.engine.histories import chat, grown, prose
from tests.engine.rig import Fixed, Rig
from tests.seeds.talks import Obedient, sent, summary_in

COUNTER = TokenCounter()
PLAIN = Scoring()
MARKED = "<!-- anchor --> The launch code is heron."
ASKED = "Remember that the launch is on 3 May."
DECIDED = "We decided to keep the old login page."
FOUND = "FAILED tests/test_login.py: 2 of 14"
KEYED = "The order_id is FX-2041."
IDLE = "That sounds nice indeed."


def count(text: str) -> int:
    """Tokens of a text."""
    return COUNTER.raw_tokens(text, "gpt-4o")


def said(role: str, text: str) -> dict[str, Any]:
    """A message."""
    return {"role": role, "content": text}


def chosen(messages: list[Any], most: int = 5, tokens: int = 400, scoring: Scoring = PLAIN) -> list[Anchor]:
    """The anchors of some messages, with characters / 4 for tokens."""
    return list(choose_anchors(messages, most, tokens, scoring, lambda text: len(text) // 4 + 1))


def used(decision: Decision) -> Compaction | None:
    """The compaction that was sent."""
    return decision.plan.view.compaction if isinstance(decision, Planned) else None


class TestConfiguration:
    """The numbers of the document."""

    def test_they_are_the_defaults(self) -> None:
        policy = Policy.model_validate(dict(PRESETS["hybrid"]))
        assert (policy.levels.medium.at, policy.levels.aggressive.at) == (0.85, 0.95)
        assert (policy.levels.medium.keep_last, policy.anchors.max) == (10, 5)
        weights = policy.anchors.weights
        assert (weights.explicit, weights.decision, weights.tool_result, weights.keyword) == (
            1,
            0.8,
            0.7,
            0.5,
        )

    async def test_a_summary_has_at_most_500_tokens(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(16_000, {"preset": "hybrid"})
        rig.summarizer.answers = ["It went well, all in all. " * 200] * 9
        for call in grown(chat(290), 260):
            decision = await rig.call(call)
        block = summary_in(sent(decision))
        assert block is not None and rig.counter.raw_tokens(block, "gpt-4o") <= 500

    async def test_the_summariser_is_the_one_that_the_team_names(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(2_000, {"summary": {"model": "cheap"}}, models=Fixed(2_000, cheap=100_000))
        await rig.call(chat(31))
        assert {r.model for r in rig.summarizer.requests} == {"cheap"}


class TestLevels:
    """Light prepares, medium applies, aggressive makes it fit."""

    @pytest.mark.parametrize(
        ("messages", "level"), [(21, None), (29, "light"), (33, "medium"), (39, "aggressive")]
    )
    async def test_by_usage(self, rigs: Callable[..., Rig], messages: int, level: str | None) -> None:
        decision = await rigs(2_000).decide(chat(messages))
        assert (decision.level) == level

    async def test_the_same_conversation_is_summarised_once(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(2_000)
        for _ in range(3):
            await rig.call(chat(31))
        assert len(rig.summarizer.requests) == 1


class TestScorer:
    """From 0 to 1; each reason by its weight."""

    @pytest.mark.parametrize(
        ("text", "part", "least"),
        [
            (MARKED, "user", 1.0),
            (ASKED, "user", 1.0),
            (DECIDED, "user", 0.8),
            (DECIDED, "assistant", 0.8),
            (FOUND, "tool", 0.7),
        ],
    )
    def test_a_reason_counts_with_its_weight(self, text: str, part: str, least: float) -> None:
        assert least <= score_sentence(text, part, PLAIN) <= 1.0
        assert score_sentence(IDLE, part, PLAIN) < 0.4

    def test_keys_that_are_to_be_kept_count_as_keywords(self) -> None:
        keyed = Scoring(keys=("order_id",))
        assert score_sentence(KEYED, "user", keyed) >= 0.5 > score_sentence(KEYED, "user", PLAIN)

    @pytest.mark.parametrize(
        ("weight", "text", "part"),
        [("explicit", ASKED, "user"), ("decision", DECIDED, "user"), ("tool_result", FOUND, "tool")],
    )
    def test_weights_are_the_policys(self, weight: str, text: str, part: str) -> None:
        changed: list[dict[str, Any]] = [{weight: w} for w in (0.0, 0.3, 1.0)]
        scores = [score_sentence(text, part, replace(PLAIN, **change)) for change in changed]
        assert scores == sorted(set(scores)) and scores[2] == 1.0

    def test_several_reasons_add_up(self) -> None:
        both = "Remember that we decided to keep the old login page."
        low = Scoring(explicit=0.5, decision=0.5)
        assert score_sentence(both, "user", low) > score_sentence(DECIDED, "user", low)

    def test_the_density_of_names_and_numbers_adds_a_little(self) -> None:
        dense = "We decided to keep login_v2 on port 8443."
        assert score_sentence(DECIDED, "user", PLAIN) < score_sentence(dense, "user", PLAIN) < 1

    def test_a_message_is_worth_its_weightiest_sentence(self) -> None:
        whole = score_message(said("user", f"{IDLE} {DECIDED} {IDLE}"), PLAIN)
        assert whole == score_sentence(DECIDED, "user", PLAIN)
        assert score_message(said("user", ""), PLAIN) == 0.0

    @pytest.mark.parametrize(
        "text",
        [
            "PostgreSQL을 쓰기로 결정했습니다.",
            "来週の月曜日に決定しました。",
            "我们决定使用新的方案。",
            "Wir haben uns für den alten Plan entschieden.",
            "Nous avons décidé de garder la page.",
            "Hemos decidido mantener la página.",
        ],
    )
    def test_decisions_are_known_in_other_languages(self, text: str) -> None:
        assert score_sentence(text, "user", PLAIN) >= 0.8

    @pytest.mark.parametrize(
        "text", ["Have we decided on a page?", "We have not decided yet.", "Tell me once you decide."]
    )
    def test_what_is_open_is_no_decision(self, text: str) -> None:
        assert score_sentence(text, "user", PLAIN) < 0.5


class TestAnchors:
    """At most five passages, word for word, the best ones."""

    TALK = (
        said("user", f"{IDLE} {MARKED}"),
        said("assistant", DECIDED),
        said("tool", f"collecting\n{FOUND}\ndone"),
        said("user", IDLE),
    )

    def test_they_are_verbatim_in_order_and_say_whose_words_they_are(self) -> None:
        assert [(a.role, a.text) for a in chosen(list(self.TALK))] == [
            ("user", "The launch code is heron."),
            ("assistant", DECIDED),
            ("tool", FOUND),
        ]

    @pytest.mark.parametrize("most", [0, 1, 2])
    def test_the_best_ones_where_there_are_too_many(self, most: int) -> None:
        found = chosen(list(self.TALK), most)
        assert [a.score for a in found] == sorted((a.score for a in chosen(list(self.TALK))), reverse=True)[
            :most
        ]

    def test_one_leaves_only_for_a_better_one(self) -> None:
        talk: list[Any] = []
        before: list[Anchor] = []
        for number in range(40):
            strong = f"Remember that gate {number} closes at {number + 7} o'clock."
            weak = f"We decided that room {number} stays {prose(number, 4)}."
            talk.append(said("user" if number % 3 else "assistant", strong if number % 7 == 6 else weak))
            after = chosen(talk)
            for anchor in before:
                newer = [a.score for a in after if a not in before]
                assert anchor in after or (newer and max(newer) > anchor.score)
            before = after
        assert len(before) == 5

    def test_of_a_repeated_finding_the_last_state_is_kept(self) -> None:
        talk = [said("tool", f"{n} passed, {9 - n} failed in 0.{n}s") for n in range(1, 9)]
        assert [a.text for a in chosen(talk)] == ["8 passed, 1 failed in 0.8s"]

    def test_code_and_quotes_are_no_anchors(self) -> None:
        pasted = f"```\n{DECIDED}\n```\n> {DECIDED}\nWhat do you think?"
        assert chosen([said("user", pasted)]) == []

    async def test_they_are_sent_in_the_frame(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(2_000)
        talk = chat(33)
        talk[3] = said("user", f"{MARKED} {prose('x', 30)}")
        talk[4] = said("assistant", f"{DECIDED} {prose('y', 30)}")
        await rig.call(talk[:32])
        block = summary_in(sent(await rig.call(talk))) or ""
        assert f"- [assistant] {DECIDED}" in block.split("<anchors>")[1].split("</anchors>")[0]
        assert "The launch code is heron." in block

    @pytest.mark.parametrize(("limit", "anchors"), [(500, True), (110, False)])
    def test_in_a_small_block_they_go_before_the_rules(self, limit: int, anchors: bool) -> None:
        rule = "Always answer in metric units."
        talk = [said("user", "Plan the trip. " * 30), said("user", rule), *self.TALK]
        made = build_frame(talk, limit, FrameSettings(rule_tokens=400, max_anchors=5), count)
        block = str(build_summary_message("All went well. " * 90, made, count)["content"])
        assert ("<anchors>" in block, rule in block, "<task>" in block) == (anchors, True, True)
        assert count(block) <= limit

    async def test_none_where_the_policy_wants_none(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(2_000, {"anchors": {"max": 0}})
        talk = chat(33)
        talk[4] = said("assistant", f"{DECIDED} {prose('y', 30)}")
        await rig.call(talk[:32])
        assert "<anchors>" not in (summary_in(sent(await rig.call(talk))) or "")


class TestHierarchy:
    """Four segments are condensed into one, level by level; failures keep the old ones."""

    @staticmethod
    async def grown(rig: Rig, messages: int) -> list[Compaction]:
        """The summaries of a conversation, each once."""
        found: dict[str, Compaction] = {}
        for call in grown(chat(messages)):
            compaction = used(await rig.call(call))
            if compaction is not None and compaction.kind == "model":
                found.setdefault(compaction.digest, compaction)
        return list(found.values())

    @pytest.fixture
    def rig(self, rigs: Callable[..., Rig]) -> Rig:
        rig = rigs(3_000)
        rig.summarizer = rig.pipeline.summarizer = Obedient()  # type: ignore[assignment]
        return rig

    async def test_segments_keep_their_bytes_until_they_are_merged(self, rig: Rig) -> None:
        versions = await self.grown(rig, 330)
        merges = 0
        for old, new in pairwise(versions):
            gone = [s for s in old.segments if s not in new.segments]
            wholes = {w for s in gone for w in new.segments if w.start <= s.start and s.end <= w.end}
            assert len(gone) >= 2 * len(wholes) and bool(gone) == bool(wholes)
            merges += len(wholes)
        assert merges >= 2 and len(versions) >= 7

    async def test_segments_follow_each_other_without_a_gap(self, rig: Rig) -> None:
        for version in await self.grown(rig, 260):
            assert version.segments[0].start == 0 and version.segments[-1].end == version.covers
            assert all(a.end == b.start for a, b in pairwise(version.segments))

    async def test_a_merge_is_asked_for_with_all_that_is_merged(self, rig: Rig) -> None:
        await self.grown(rig, 260)
        requests: list[Any] = rig.summarizer.requests
        merging = [r.user for r in requests if "Condense them into one" in r.user]
        assert merging and all(user.count("\n[") >= 1 and "Summary " in user for user in merging)

    @pytest.mark.parametrize("error", [SummaryRejected("the answer is empty"), SummaryLimited("later")])
    async def test_a_failed_merge_keeps_the_old_ones(
        self, rigs: Callable[..., Rig], error: Exception
    ) -> None:
        rig = rigs(3_000)
        summarizer = Obedient()

        class Refusing(Obedient):
            async def complete(self, request: Any) -> Any:
                if "Condense them into one" in request.user:
                    raise error
                return await summarizer.complete(request)

        rig.summarizer = rig.pipeline.summarizer = Refusing()  # type: ignore[assignment]
        versions = await self.grown(rig, 200)
        texts = [s.text for v in versions for s in v.segments]
        assert versions and all(str(error) not in text for text in texts)
        for old, new in pairwise(versions):
            assert new.segments[: len(old.segments)] == old.segments

    def test_segments_are_about_250_tokens_where_there_is_room(self) -> None:
        assert compute_segment_limit(2_500, 2_500) == compute_segment_limit(4_000, 300) == 250
