"""The search index: finding the passage that a question needs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_compaction.core.recall.index import build_index, build_query, rank_passages
from gateway_compaction.core.recall.passages import split_into_passages
from tests.core.search import search
from tests.core.strategies import Json, Talk, odd_messages, talks

STORY = (
    "We booked the ferry to Bergen for March.",
    "The weather was fine and the crew sang all evening.",
    "Ingrid keeps the spare key of the boathouse under the blue stone.",
    "Later they repaired the engine with a borrowed wrench.",
)


def user(text: str, **more: Any) -> Json:
    """A user message."""
    return {"role": "user", "content": text, **more}


def best(messages: list[Json], question: Json | str, keys: tuple[str, ...] = ()) -> str:
    """The passage that answers a question best; empty where none has anything to do with it."""
    index = build_index(messages, [split_into_passages(m) for m in messages])
    message = user(question) if isinstance(question, str) else question
    found = rank_passages(index, build_query(message, keys))
    return index.passages[found[0][1]].text if found else ""


class TestRanking:
    """The best passage first."""

    @pytest.mark.parametrize(
        ("question", "words"),
        [
            ("Where is the key of the boathouse?", "blue stone"),
            ("Which engine did they repair?", "borrowed wrench"),
            ("When does the ferry go to Bergen?", "March"),
        ],
    )
    def test_a_question_finds_its_answer(self, question: str, words: str) -> None:
        assert words in best([user(text) for text in STORY], question)

    @pytest.mark.parametrize("question", ["", "Thanks!", "zzz qqq", "And what of it?"])
    def test_where_no_word_is_shared_nothing_is_found(self, question: str) -> None:
        assert best([user(text) for text in STORY], question) == ""

    def test_an_empty_history_has_nothing(self) -> None:
        assert rank_passages(build_index([], []), build_query(user("Where is the key?"))) == []

    def test_in_a_long_message_the_question_counts_most(self) -> None:
        long = "The ferry was late. " * 20 + "Where is the spare key of the boathouse?"
        assert "blue stone" in best([user(text) for text in STORY], long)

    def test_an_answer_without_the_words_of_the_question_is_found_behind_it(self) -> None:
        messages = [
            user("Nothing to report from the pier."),
            user("What is the gate code of the marina?"),
            {"role": "assistant", "content": "Four seven one one."},
            user("The rest was fog and rain."),
        ]
        index = build_index(messages, [split_into_passages(m) for m in messages])
        found = [
            index.passages[n].text
            for _, n in rank_passages(index, build_query(user("Which gate code has the marina?")))
        ]
        assert "Four seven one one." in found[:2]

    def test_who_said_it_counts(self) -> None:
        said = "The party is on Friday at the lighthouse."
        messages = [user(said, name="bob"), user(said, name="ann"), user(f"Carl: {said}")]
        index = build_index(messages, [split_into_passages(m) for m in messages])
        for name, owner in (("Ann", 1), ("Bob", 0), ("Carl", 2)):
            found = rank_passages(index, build_query(user(f"Which day did {name} say the party is?")))
            assert index.owners[found[0][1]] == owner

    def test_keys_to_keep_count_a_little(self) -> None:
        messages = [user("The order_id is 17."), user("The colour is blue.")]
        assert best(messages, "And now?", ("colour",)) == "The colour is blue."

    def test_what_the_short_spoken_user_says_weighs_more(self) -> None:
        messages = [
            {
                "role": "assistant",
                "content": "The lantern hangs in the hall. " + "It rained again and again. " * 30,
            },
            user("The lantern hangs in the attic."),
        ]
        assert best(messages, "Where does the lantern hang?") == "The lantern hangs in the attic."

    def test_a_passage_that_holds_the_question_comes_before_what_the_user_says(self) -> None:
        answer = "The harbour lantern of the western pier was repaired by Ingrid with copper wire. "
        messages = [
            {"role": "assistant", "content": answer + "It rained again and again. " * 30},
            *[user(f"The harbour lantern and the pier, day {n}.") for n in range(6)],
        ]
        asked = "harbour lantern western pier repaired Ingrid copper wire"
        assert answer.strip() in best(messages, asked)

    def test_of_equal_matches_the_shorter_comes_first(self) -> None:
        said = "The lantern hangs in the {}."
        messages = [
            {"role": "assistant", "content": said.format("hall") + " It rained again and again." * 8},
            {"role": "assistant", "content": said.format("attic")},
            user("Where?"),
        ]
        assert best(messages, "lantern hangs") == said.format("attic")

    @search
    @given(talks, st.integers(0, 50))
    def test_ranking_is_the_same_each_time(self, talk: Talk, place: int) -> None:
        asked = build_query(talk.messages[place % len(talk.messages)])
        one, two = (
            build_index(talk.messages, [split_into_passages(m) for m in talk.messages]) for _ in range(2)
        )
        assert rank_passages(one, asked) == rank_passages(two, asked)

    @search
    @given(odd_messages)
    def test_every_json_message_can_be_indexed_and_searched(self, messages: list[Any]) -> None:
        index = build_index(messages, [split_into_passages(m) for m in messages])
        assert len(index.passages) == len(index.owners)
        for message in messages:
            assert all(
                0 <= number < len(index.passages) for _, number in rank_passages(index, build_query(message))
            )
