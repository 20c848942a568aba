"""Texts that repeat one thing without end: the answers are right, and there are answers.

Where a pattern tries the same stretch again from each of its characters, there would be none for minutes: a
test that needs many times what it should is given up. `python -m bench.worst_cases` has the times.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

import pytest
import regex

from gateway_compaction.core.conversation.messages import Message, told_text_of
from gateway_compaction.core.extractive.extract import build_extract
from gateway_compaction.core.pins.anchors import Scoring, choose_anchors
from gateway_compaction.core.pins.pins import collect_pins, find_rules
from gateway_compaction.core.recall.index import build_index, build_query
from gateway_compaction.core.recall.passages import split_into_passages
from gateway_compaction.core.recall.recall import AlreadySent, Candidates, choose_quote
from gateway_compaction.core.summary.acceptance import accept_summary
from gateway_compaction.core.summary.block import FrameSettings, build_frame, build_summary_message
from gateway_compaction.core.summary.prompts import ShownLimit, render_messages
from gateway_compaction.core.text import identifiers as identifiers_
from gateway_compaction.core.text import terms
from gateway_compaction.core.text.escaping import escape_markup
from gateway_compaction.core.text.identifiers import find_identifiers, forget_identifiers
from gateway_compaction.core.text.language import detect_language, get_phrases
from gateway_compaction.core.text.questions import BARE, begins_as_question, is_unmarked_question
from gateway_compaction.core.text.sentences import split_sentences
from gateway_compaction.core.text.shorten import clear_result, shorten
from gateway_compaction.core.text.terms import extract_terms, forget_terms
from gateway_compaction.errors import SummaryRejected
from gateway_compaction.ports import SummaryAnswer
from tests.core.hostile import KEYS, texts

SIZE = 60_000
GIVEN_UP_SECONDS = 8.0
NAMES = list(texts(40))
IDENTIFIED = {
    "errors by line",
    "data by line",
    "thoughts ended",
    "json",
    "near identifiers",
    "distinct words",
    "distinct names",
    "distinct lines",
}
# Said twice, by a user and by a tool: what matters in the words of one need not in the other's.
ANCHORED = {
    "anchors by line": ["Keep the plan."],
    "errors by line": ["error 17 in a_b: failed"],
    "key marks": ["order id: order"] * 2,
    "json": ['order_id": "A-17"', 'amount": 12.50'] * 2,
    "distinct lines": ["see a_921154: error"],
}

pytestmark = pytest.mark.usefixtures("ending")


def rough(text: str) -> int:
    """About how many tokens a text has."""
    return (len(text) + 3) // 4


def user(text: str) -> Message:
    """A user's message."""
    return {"role": "user", "content": text}


@pytest.fixture(scope="module")
def large() -> dict[str, str]:
    """Every hostile text, long enough for what is not linear to be given up."""
    return texts(SIZE)


@contextmanager
def given_up_after(seconds: float) -> Iterator[None]:
    """Gives work up that has used so much of the processor; what other programs use does not count."""

    def give_up(_number: int, _frame: object) -> None:
        raise AssertionError("given up: the work grows faster than the text")

    before = signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@pytest.fixture
def ending() -> Iterator[None]:
    """Gives a test up that takes many times what it should."""
    with given_up_after(GIVEN_UP_SECONDS):
        yield


# Of its own it would end as well, after some seconds.
@pytest.mark.parametrize("engine", [re, regex])
def test_what_would_not_end_is_given_up_within_a_pattern(engine: ModuleType) -> None:
    with pytest.raises(AssertionError, match="given up"), given_up_after(0.1):
        engine.search(r"(?:a|aa)+$", "a" * 36 + "!")
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


@pytest.mark.parametrize("name", NAMES)
class TestEveryText:
    """One test for each text and each way it takes through a request."""

    def test_it_is_divided(self, large: dict[str, str], name: str) -> None:
        text = large[name]
        assert "".join("".join(split_sentences(text)).split()) == "".join(text.split())
        found, text = split_into_passages(user(text)), told_text_of(user(text))
        assert all(text[p.start : p.end] == p.text for p in found)

    def test_it_is_searched_for_what_it_asks(self, large: dict[str, str], name: str) -> None:
        query = build_query(user(large[name]), KEYS)
        assert set(extract_terms("order id amount")) <= set(query.terms)
        assert all(len(term) <= terms.LONGEST_WORD for term in query.terms)

    def test_its_questions_and_rules_are_told(self, large: dict[str, str], name: str) -> None:
        assert begins_as_question(large[name]) is begins_as_question(large[name][:500])
        for language in BARE:
            assert isinstance(is_unmarked_question(large[name], language), bool)
        assert find_rules(user(large[name])) == find_rules(user(large[name]))

    def test_its_identifiers_are_found(self, large: dict[str, str], name: str) -> None:
        found = find_identifiers(large[name])
        assert all(i in large[name] for i in found[:100])
        assert all(3 <= len(i) <= identifiers_.LONGEST for i in found)
        assert bool(found) == (name in IDENTIFIED)

    def test_it_is_pinned_and_framed(self, large: dict[str, str], name: str) -> None:
        talk = [user(large[name]), {"role": "assistant", "content": large[name]}]
        pins = collect_pins(talk, 100, 200, rough)
        assert rough(pins.task) <= 100 and sum(map(rough, pins.rules)) <= 200
        settings = FrameSettings(rule_tokens=200, max_anchors=5, scoring=Scoring(keys=KEYS))
        around = build_frame(talk, 1_000, settings, rough)
        assert rough(build_summary_message(large[name], around, rough)["content"]) <= 1_100

    def test_it_is_scored(self, large: dict[str, str], name: str) -> None:
        talk: list[Message] = [user(large[name]), {"role": "tool", "content": large[name]}]
        found = choose_anchors(talk, 5, 300, Scoring(keys=KEYS), rough)
        assert [anchor.text for anchor in found] == ANCHORED.get(name, [])

    def test_it_is_shortened_and_cleared(self, large: dict[str, str], name: str) -> None:
        assert rough(shorten(large[name], 500, rough)) <= 500
        cleared = clear_result({"role": "tool", "content": large[name]}, rough)
        assert rough(cleared["content"]) <= 100

    def test_it_is_extracted(self, large: dict[str, str], name: str) -> None:
        assert rough(build_extract([user(large[name])], 400, rough)) <= 400

    def test_it_is_shown_to_a_summariser(self, large: dict[str, str], name: str) -> None:
        safe = escape_markup(large[name])
        assert escape_markup(safe) == safe
        assert rough(render_messages([user(large[name])], 0, ShownLimit(500), rough)) <= 700

    def test_it_is_judged_as_a_summary(self, large: dict[str, str], name: str) -> None:
        try:
            assert rough(accept_summary(SummaryAnswer(large[name], "stop", "m"), SIZE, 300, rough)) <= 300
        except SummaryRejected as rejected:
            assert str(rejected)


def test_a_question_at_the_end_of_a_long_line_is_found() -> None:
    line = "and so it goes " * 20_000
    query = build_query(user(f"{line}. Which marina was it?"))
    assert query.terms["marina"] == 1.0 and query.asks


@pytest.mark.parametrize(
    ("text", "found"),
    [("a" + "A" * 100 + "%", []), ("a" + "A" * 100, ["a" + "A" * 100]), ("x/" * 59 + "%", [])],
)
def test_what_is_almost_an_identifier_is_told_at_once(text: str, found: list[str]) -> None:
    assert find_identifiers(text) == found


def test_nothing_large_is_remembered() -> None:
    forget_identifiers()
    forget_terms()
    assert find_identifiers("x" * 121 + " " + "y" * 100_000) == []
    assert extract_terms("x" * 43 + " " + "y" * 100_000) == []
    assert identifiers_._is_identifier.cache_info().currsize == 0 == terms._to_term.cache_info().currsize
    assert find_identifiers("a_b") == ["a_b"] and extract_terms("word") == ["word"]
    assert identifiers_._is_identifier.cache_info().currsize == 1 == terms._to_term.cache_info().currsize


@pytest.mark.parametrize("word", ["x" * 40, "x" * 40 + "'s", "x" * 40 + "’s"])
def test_the_longest_word_counts_with_its_possessive(word: str) -> None:
    assert extract_terms(word) == ["x" * 40]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("The order id is A-17 now.", True),
        ("order_id: A-17", True),
        ("The order id" + " " * 30 + "A-17", True),
        ("The order id" + " " * 3_000 + "A-17", False),
        ("The order id " + "w" * 200 + " 17", False),
        ("The order id was not known to us at all 17", False),
    ],
)
def test_a_key_and_its_value_stand_near_one_another(said: str, kept: bool) -> None:
    found = choose_anchors([user(said)], 5, 300, Scoring(keys=("order id",)), rough)
    assert bool(found) == kept


@pytest.mark.parametrize("key", ["", "_", " - "])
def test_a_key_without_a_letter_names_nothing(key: str) -> None:
    assert choose_anchors([user("   : 7 and\n  = 8, so it is")], 5, 300, Scoring(keys=(key,)), rough) == ()


def test_passages_inside_code_are_found_among_many_fences() -> None:
    fences = "```\nWe decided to use Redis for the cache.\n```\n" * 300
    text = fences + "We decided to use Valkey for the cache.\n"
    found = choose_anchors([user(text)], 5, 300, Scoring(), rough)
    assert [a.text for a in found] == ["We decided to use Valkey for the cache."]


class Unread(tuple[int, ...]):
    """Candidates that nobody may look at."""

    def __iter__(self) -> Iterator[int]:
        raise AssertionError("read")


@pytest.mark.parametrize("room", [-5, 0, 20])
def test_where_nothing_can_be_quoted_no_candidate_is_read(room: int) -> None:
    story = [user("The marina opens at nine.")]
    index = build_index(story, [split_into_passages(m) for m in story])
    candidates = Candidates(Unread((0,)), "much", "")
    found = choose_quote(index, candidates, AlreadySent(), room, get_phrases("en"), rough)
    assert found.text == ""


def test_the_language_is_told_from_a_sample() -> None:
    read = []

    def said() -> Iterator[str]:
        for _ in range(1_000):
            read.append(1)
            yield "das ist nicht der Text " * 400

    assert detect_language(said()) == "de"
    assert len(read) < 10
