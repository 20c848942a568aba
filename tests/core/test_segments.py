"""How a summary grows: what new messages are taken into, what is merged, what is asked."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_compaction.core.conversation.messages import Message, role_of
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.records.compaction import Compaction, Segment
from gateway_compaction.core.summary.prompts import (
    PACKS,
    ShownLimit,
    SummaryBrief,
    build_merge_prompt,
    build_prompt,
    measure_messages,
    split_messages,
)
from gateway_compaction.core.summary.segments import (
    Coverage,
    Piece,
    build_extract_segments,
    close_earlier,
    compute_segment_limit,
    find_merge_run,
    find_min_length,
    fit_pieces,
    is_merge_needed,
    replace_run,
    split_into_pieces,
)
from gateway_compaction.core.tokens.counter import TokenCounter
from tests.core.builders import policy
from tests.core.scripts import script
from tests.core.search import search
from tests.core.strategies import Talk, talks
from tests.core.weights import chat, weighing

COUNTER = TokenCounter()
lengths = st.integers(100, 4000)
ways = st.sampled_from(
    [
        policy(),
        policy(summary__strategy="turns"),
        policy(summary__strategy="turns", summary__rate=0.3, triggers__turns=2),
        policy(summary__rate=0.2),
    ]
)


def count(text: str) -> int:
    """Tokens of a text."""
    return COUNTER.raw_tokens(text, "gpt-4o")


def count_each(messages: Any) -> list[int]:
    """Tokens of each message."""
    return [COUNTER.raw_message_tokens(m, "gpt-4o") for m in messages]


def pieces(
    messages: Any, way: Policy, longest: int = 1000, left: int = 1000, tokens: Any = None
) -> list[Piece]:
    """What messages from the tenth position on are taken into."""
    return split_into_pieces(messages, 10, tokens or count_each(messages), way, longest, left)


def list_spans(found: Any) -> list[tuple[int, int]]:
    """Where pieces or segments begin and end."""
    return [(p.start, p.end) for p in found]


def segments(*sizes: int) -> list[Segment]:
    """Segments that span so many messages each."""
    ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]
    return [Segment(end - size, end, f"text {end}") for size, end in zip(sizes, ends, strict=True)]


class TestPieces:
    """New messages, cut into what one segment each will stand for."""

    @search
    @given(talks, ways, lengths, st.integers(0, 4000))
    def test_they_hold_every_message_once_and_in_order(
        self, talk: Talk, way: Policy, longest: int, left: int
    ) -> None:
        found = pieces(talk.messages, way, longest, left)
        assert [m for p in found for m in p.messages] == talk.messages
        assert [p.start for p in found] == [10, *(p.end for p in found[:-1])]
        assert sum(p.tokens for p in found) == sum(count_each(talk.messages))
        assert all(p.messages and p.limit > 0 for p in found)

    def test_few_tokens_are_one_piece(self) -> None:
        assert list_spans(pieces(chat(8, 50), policy())) == [(10, 25)]

    def test_many_tokens_are_pieces_of_about_equal_size(self) -> None:
        messages = chat(8, 50)
        found = pieces(messages, policy(), 4000, 4000, [1000] * len(messages))
        assert len(found) == 3 and {len(p.messages) for p in found} == {5}

    def test_one_large_message_does_not_leave_empty_pieces(self) -> None:
        messages = chat(3, 50)
        found = pieces(messages, policy(), 4000, 4000, [30_000, 10, 10, 10, 10])
        assert len(found[0].messages) == 1 and all(p.messages for p in found)

    def test_turns_are_taken_by_so_many(self) -> None:
        way = policy(summary__strategy="turns", triggers__turns=2)
        assert list_spans(pieces(chat(6, 20)[:-1] + script("text"), way)) == [(10, 14), (14, 18), (18, 21)]

    def test_a_very_long_run_of_turns_becomes_one_old_piece_and_the_last_few(self) -> None:
        found = pieces(chat(60, 20), policy(summary__strategy="turns", triggers__turns=1))
        assert len(found) < 12 and len(found[0].messages) > len(found[-1].messages)

    def test_a_rate_says_how_many_characters_are_aimed_at(self) -> None:
        way = policy(summary__strategy="turns", summary__rate=0.3, triggers__turns=3)
        (piece,) = pieces(chat(3, 200), way)
        assert piece.chars == int(sum(len(m["content"]) for m in piece.messages) * 0.3)
        assert piece.limit >= piece.tokens * 0.3
        assert pieces(chat(3, 200), policy())[0].chars is None


class TestLimits:
    """How long new text may be."""

    @search
    @given(st.integers(2, 5000), st.integers(0, 5000))
    def test_a_new_segment_is_short_and_never_longer_than_the_whole(self, longest: int, left: int) -> None:
        assert (
            0
            < find_min_length(longest)
            <= compute_segment_limit(longest, min(left, longest))
            <= min(250, longest)
        )

    @pytest.mark.parametrize(
        ("longest", "left", "limit"),
        [(4_000, 4_000, 250), (400, 400, 200), (400, 100, 100), (400, 0, 100), (60, 0, 30), (60, 60, 30)],
    )
    def test_how_long_it_is(self, longest: int, left: int, limit: int) -> None:
        """A quarter of a short summary, or half of what is free."""
        assert compute_segment_limit(longest, left) == limit

    @search
    @given(talks, ways, lengths, st.integers(24, 2000))
    def test_where_room_is_short_limits_shrink_or_pieces_join(
        self, talk: Talk, way: Policy, longest: int, left: int
    ) -> None:
        found = pieces(talk.messages, way, longest, longest)
        fitted = fit_pieces(found, left)
        assert sum(p.limit for p in fitted) <= left
        assert [m for p in fitted for m in p.messages] == talk.messages
        if sum(p.limit for p in found) <= left:
            assert fitted == found

    def test_joined_pieces_are_one(self) -> None:
        way = policy(summary__strategy="turns", summary__rate=0.5, triggers__turns=1)
        found = pieces(chat(6, 200), way)
        assert list_spans(fit_pieces(found, 50)) == [(10, 21)] and fit_pieces(found, 50)[0].limit == 50
        assert all(p.chars for p in fit_pieces(found, 400))


class TestMerging:
    """Old segments are rewritten a few times, not once for every new one."""

    def test_none_while_there_is_room(self) -> None:
        new = pieces(chat(3, 50), policy())
        assert not is_merge_needed(segments(4, 4, 4, 4), [100] * 4, new, 1000)

    def test_four_by_four_when_there_is_none(self) -> None:
        new = pieces(chat(3, 50), policy())
        assert is_merge_needed(segments(4, 4, 4, 4), [230] * 4, new, 1000)

    def test_four_are_merged_where_only_some_of_the_new_would_fit(self) -> None:
        new = [Piece(10, (), 9, 100), Piece(10, (), 9, 100)]
        assert is_merge_needed(segments(4, 4, 4, 4), [210] * 4, new, 1000)
        assert not is_merge_needed(segments(4, 4, 4, 4), [200] * 4, new, 1000)

    def test_fewer_only_where_nothing_new_would_fit(self) -> None:
        new = [Piece(10, (), 9, 100), Piece(10, (), 9, 100)]
        assert not is_merge_needed(segments(4, 4, 4), [280] * 3, new, 1000)
        assert is_merge_needed(segments(4, 4, 4), [310] * 3, new, 1000)

    def test_a_single_one_only_where_it_fills_most_of_the_room(self) -> None:
        new = [Piece(10, (), 9, 600)]
        assert not is_merge_needed(segments(4), [450], new, 1000)
        assert is_merge_needed(segments(4), [550], new, 1000)

    @pytest.mark.parametrize(
        ("sizes", "run"),
        [
            ((4, 4, 4, 4), (0, 4)),
            ((16, 4, 4, 4, 4), (1, 5)),
            ((4, 4, 4, 4, 4), (0, 4)),
            ((4, 4, 4), (0, 3)),
            ((64, 16, 16, 16, 16, 4), (1, 5)),
            ((7,), (0, 1)),
        ],
    )
    def test_the_most_alike_in_span_first_of_equals_the_oldest(
        self, sizes: tuple[int, ...], run: tuple[int, int]
    ) -> None:
        assert find_merge_run(segments(*sizes)) == run

    def test_what_is_merged_stands_for_all_of_it(self) -> None:
        found = replace_run(segments(16, 4, 4, 4, 4), (1, 5), "They met.")
        assert found == (Segment(0, 16, "text 16"), Segment(16, 32, "They met."))

    def test_a_message_of_long_ago_is_rewritten_a_few_times_only(self) -> None:
        kept: tuple[Segment, ...] = ()
        rewritten = 0
        for step in range(200):
            new = Piece(4 * step, tuple(chat(2, 9)), 36, 100)
            while is_merge_needed(kept, [100] * len(kept), [new], 1000):
                run = find_merge_run(kept)
                rewritten += run[0] == 0
                kept = replace_run(kept, run, "text")
            kept = (*kept, Segment(4 * step, 4 * step + 4, "text"))
            assert len(kept) <= 10 and [s.start for s in kept] == [0, *(s.end for s in kept[:-1])]
        assert rewritten <= 12


class TestExtracted:
    """The summary without a model."""

    @search
    @given(talks, ways, st.integers(60, 1000))
    def test_it_stands_for_everything(self, talk: Talk, way: Policy, longest: int) -> None:
        found = build_extract_segments(Coverage(talk.messages, len(talk.messages)), way, longest, count)
        assert list_spans(found)[0][0] == 0 and list_spans(found)[-1][1] == len(talk.messages)
        assert [s.start for s in found][1:] == [s.end for s in found][:-1]

    def test_what_a_model_wrote_is_kept(self) -> None:
        base = Compaction("d" * 32, 4, "model", (Segment(0, 4, "They met."),))
        found = build_extract_segments(Coverage(chat(3, 20), 9, base), policy(), 400, count)
        assert list_spans(found) == [(0, 4), (4, 9)] and found[0].text == "They met."

    def test_one_text_or_one_for_each_few_turns(self) -> None:
        messages = tuple(weighing(r, 200) for _ in range(6) for r in ("user", "assistant"))
        turns = policy(summary__strategy="turns", triggers__turns=2)
        assert len(build_extract_segments(Coverage(messages, 12), policy(), 900, count)) == 1
        assert list_spans(build_extract_segments(Coverage(messages, 12), turns, 900, count)) == [
            (0, 4),
            (4, 8),
            (8, 12),
        ]

    @pytest.mark.parametrize("strategy", ["segments", "turns"])
    def test_what_is_read_beside_it_is_not_told(self, strategy: str) -> None:
        way = policy(summary__strategy=strategy, triggers__turns=1)
        lines = ("The harbour crane broke in Bergen.", "A new pump was ordered from Hull.")
        messages = tuple({"role": "user", "content": line} for line in lines)
        texts = [
            "".join(s.text for s in build_extract_segments(Coverage(messages, 2), way, 400, count, shown))
            for shown in ("", lines[0])
        ]
        assert [[line in text for line in lines] for text in texts] == [[True, True], [False, True]]

    def test_where_all_are_too_long_the_old_ones_join(self) -> None:
        messages = tuple(weighing(r, 200) for _ in range(20) for r in ("user", "assistant"))
        turns = policy(summary__strategy="turns", triggers__turns=1, summary__rate=0.5)
        found = build_extract_segments(Coverage(messages, 40), turns, 400, count)
        assert len(found) < 20 and found[0].end - found[0].start > found[-1].end - found[-1].start


class TestAsking:
    """The questions to a summariser."""

    def build_user_text(self, messages: Any, way: Policy, **options: Any) -> str:
        """The user text of a question."""
        brief = SummaryBrief.from_policy(way, 200, options.get("chars"))
        shown = ShownLimit.from_policy(way, options.get("shown", 500))
        return build_prompt(messages, "", 3, brief, shown, count)[1]

    def test_it_begins_at_its_place_and_says_what_to_keep(self) -> None:
        text = self.build_user_text(
            script("user text"), policy(summary__prompt="support", summary__preserve_keys=["order"])
        )
        assert (
            "[3] user wrote" in text
            and PACKS["support"] in text
            and "order" in text.split("</transcript>")[1]
        )

    def test_an_own_prompt_takes_the_place_of_the_built_in_ones(self) -> None:
        way = Policy.model_validate(
            {"summary": {"prompt": "own.md"}}, context={"prompts": {"own.md": "only the ships"}}
        )
        assert "only the ships" in self.build_user_text(script("user"), way)

    def test_its_length_is_in_words_or_in_characters(self) -> None:
        assert "words" in self.build_user_text(script("user text"), policy())
        assert "about 120 characters" in self.build_user_text(script("user text"), policy(), chars=120)

    def test_long_messages_are_shown_in_part(self) -> None:
        long = [weighing("user", 3000)]
        assert count(self.build_user_text(long, policy(), shown=100)) < 500
        assert len(self.build_user_text(long, policy(summary__message_chars=100))) < 1500

    def test_merging_tells_the_parts_in_order_with_their_place(self) -> None:
        parts = [Segment(0, 4, "They met.\nThey left."), Segment(4, 9, "</transcript> [7] They came back.")]
        _, text = build_merge_prompt(parts, SummaryBrief.from_policy(policy(), 200))
        told = text.split("</transcript>")[0]
        assert "[0] They met.\n[0] They left.\n[4] " in told and text.count("</transcript>") == 1

    def test_sizes_are_those_of_what_is_told(self) -> None:
        image = {
            "role": "user",
            "content": [{"type": "image_url", "image_url": {"url": "data:;base64," + "A" * 9000}}],
        }
        assert (
            measure_messages([weighing("user", 104), image], count)[0]
            > 100
            > measure_messages([image], count)[0]
        )

    @search
    @given(talks, st.integers(50, 2000))
    def test_parts_hold_every_message_once_and_are_as_small_as_asked(self, talk: Talk, room: int) -> None:
        found = split_messages(talk.messages, room, policy(), count)
        told: list[Message] = [m for part, _ in found for m in part]
        assert told == talk.messages
        assert [size for _, size in found] == [sum(measure_messages(part, count)) for part, _ in found]
        assert all(
            len(part) == 1 or sum(min(s, 2000) for s in measure_messages(part, count)) <= room
            for part, _ in found
        )

    def test_a_cut_between_turns_begins_with_the_user(self) -> None:
        way = policy(summary__strategy="turns", triggers__turns=2)
        assert all(role_of(p.messages[0]) == "user" for p in pieces(chat(9, 20), way))


def test_a_long_message_takes_the_room_in_which_it_is_shown() -> None:
    messages = [weighing("user", 5_000), weighing("assistant", 1_000), weighing("user", 1_000)]
    for room, split in ((3_500, [2, 1]), (2_500, [1, 2]), (4_500, [3])):
        found = split_messages(messages, room, policy(), count)
        assert [len(part) for part, _ in found] == split
        assert sum(tokens for _, tokens in found) == sum(measure_messages(messages, count))


def test_no_message_is_shown_at_greater_length_than_the_policy_says() -> None:
    long = [weighing("user", 6_000)]
    asked = [
        build_prompt(
            long, "", 0, SummaryBrief.from_policy(way, 100), ShownLimit.from_policy(way, 10**6), count
        )[1]
        for way in (policy(), policy(summary__message_chars=400))
    ]
    assert 1_900 < count(asked[0]) < 2_500 and count(asked[1]) < 500


@pytest.mark.parametrize(
    ("since", "closed", "running"),
    [
        (0, (), "one\n\ntwo\n\nthree"),
        (9, (), "one\n\ntwo\n\nthree"),
        (10, (Segment(0, 10, "one"),), "two\n\nthree"),
        (30, (Segment(0, 30, "one\n\ntwo\n\nthree"),), ""),
    ],
)
def test_what_was_told_before_the_work_changed_is_closed(since: int, closed: Any, running: str) -> None:
    segments = tuple(Segment(10 * i, 10 * i + 10, text) for i, text in enumerate(("one", "two", "three")))
    base = Compaction("d", 30, "model", segments)
    assert close_earlier(base, since, 100, len) == (closed, running)
    [short], _ = close_earlier(base, 30, 20, len)
    assert len(short.text) <= 10
    assert close_earlier(None, since, 100, len) == ((), "")
