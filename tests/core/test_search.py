"""Finding what a question needs in covered messages: sentences, terms, identifiers, passages, ranking."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_compaction.core.recall.index import build_index, build_query, rank_passages
from gateway_compaction.core.recall.passages import searchable_text_of, split_into_passages
from gateway_compaction.core.text.identifiers import find_identifiers
from gateway_compaction.core.text.sentences import find_sentence_spans, split_sentences
from gateway_compaction.core.text.terms import extract_terms
from tests.core.scripts import CALL
from tests.core.search import search
from tests.core.strategies import Json, Talk, odd_messages, talks, texts

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


class TestSentences:
    """Where sentences begin and end."""

    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("", []),
            (" \n ", []),
            ("One. Two! Three?", ["One.", "Two!", "Three?"]),
            ("Version 1.2.3 is out. Yes.", ["Version 1.2.3 is out.", "Yes."]),
            ('He said "no." Then left.', ['He said "no."', "Then left."]),
            ("a\nb\n\nc", ["a", "b", "c"]),
            ("次の会議です。資料は？", ["次の会議です。", "資料は？"]),
            ("no end", ["no end"]),
        ],
    )
    def test_the_table(self, text: str, found: list[str]) -> None:
        assert split_sentences(text) == found

    @search
    @given(texts)
    def test_they_are_verbatim_in_order_and_leave_out_only_blank_space(self, text: str) -> None:
        spans = find_sentence_spans(text)
        assert split_sentences(text) == [text[a:b] for a, b in spans]
        ends = [0, *(end for _, end in spans)]
        starts = [*(start for start, _ in spans), len(text)]
        assert all(text[a:b].strip() == "" for a, b in zip(ends, starts, strict=True))
        assert all(text[a:b] == text[a:b].strip() != "" for a, b in spans)


class TestTerms:
    """Words as search sees them."""

    @pytest.mark.parametrize(
        ("one", "other"),
        [("ferries", "ferry"), ("Bergen", "bergen"), ("Ingrid's", "ingrid"), ("booked", "booking")],
    )
    def test_forms_of_a_word_are_one_term(self, one: str, other: str) -> None:
        assert extract_terms(one) == extract_terms(other) != []

    def test_words_that_say_nothing_are_none(self) -> None:
        assert extract_terms("What is the and of it, please? OK a " + "x" * 80) == []

    def test_numbers_are_terms_and_repetitions_count(self) -> None:
        assert extract_terms("pier 7 pier 12") == ["pier", "7", "pier", "12"]

    def test_scripts_without_spaces_are_pairs_of_characters(self) -> None:
        assert extract_terms("東京都 ferry") == ["ferri", "東京", "京都"]
        assert extract_terms("水") == ["水"]

    def test_other_alphabets_are_words(self) -> None:
        assert extract_terms("Отчёт готов") == ["отчёт", "готов"]

    @search
    @given(texts)
    def test_any_text_has_terms_or_none(self, text: str) -> None:
        assert all(term and term == term.lower() for term in extract_terms(text))


class TestIdentifiers:
    """What later messages refer to by its exact spelling."""

    @pytest.mark.parametrize(
        "name",
        [
            "src/shop/cart.py",
            "cart.py",
            "https://example.org/a?b=1",
            "ops@example.org",
            "total_price",
            "totalPrice",
            "CartItem",
            "ORD-1234",
            "#4711",
            "a1b2c3d4e5f6",
            "--verbose",
            "/etc/hosts.conf",
        ],
    )
    def test_they_are_found_within_a_sentence(self, name: str) -> None:
        assert find_identifiers(f"Please look at {name}, again.") == [name]
        assert find_identifiers(f"({name}) and `{name}`") == [name]

    @pytest.mark.parametrize(
        "text", ["Please look at this again.", "It is 12 o'clock.", "", "base64", "x" * 500]
    )
    def test_words_are_none(self, text: str) -> None:
        assert find_identifiers(text) == []

    def test_each_is_named_once_in_order(self) -> None:
        assert find_identifiers("b.py a.py b.py") == ["b.py", "a.py"]


class TestPassages:
    """Pieces of messages that can be quoted."""

    @search
    @given(talks)
    def test_they_are_verbatim_and_leave_out_only_blank_space(self, talk: Talk) -> None:
        for message in talk.messages:
            text, end = searchable_text_of(message), 0
            for passage in split_into_passages(message):
                assert text[passage.start : passage.end] == passage.text
                assert not text[end : passage.start].strip()
                assert passage.words > 0
                end = passage.end
            assert not text[end:].strip()

    @pytest.mark.parametrize("text", ["word " * 1000, "語" * 900, "One. " * 300, "x" * 5000])
    def test_none_is_very_long(self, text: str) -> None:
        pieces = split_into_passages(user(text))
        assert all(len(p.text.split()) <= 70 for p in pieces)

    def test_arguments_of_calls_can_be_found(self) -> None:
        message = {
            "role": "assistant",
            "content": "Look.",
            "tool_calls": [CALL, "x", {"function": {"name": "y"}}],
        }
        assert searchable_text_of(message) == 'Look.\n{"n": 1}'

    @search
    @given(odd_messages)
    def test_every_json_message_can_be_indexed_and_searched(self, messages: list[Any]) -> None:
        index = build_index(messages, [split_into_passages(m) for m in messages])
        assert len(index.passages) == len(index.owners)
        for message in messages:
            assert all(
                0 <= number < len(index.passages) for _, number in rank_passages(index, build_query(message))
            )


class TestRanked:
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
