"""Open requests of users: put off, passed over, or not answered at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_compaction.core.conversation.messages import role_of, text_of
from gateway_compaction.core.extractive.extract import read_message
from gateway_compaction.core.extractive.open_questions import MOST_OPEN, find_open_requests
from gateway_compaction.core.extractive.salience import build_sentence_pool, choose_open_requests
from gateway_compaction.core.text.questions import is_question
from tests.core.search import search
from tests.core.strategies import Json, Talk, talks

ASKED = "Is the gasket still missing from my parcel?"
LONG = "The valve in brass is in stock, ships within three days from Bremen and costs forty euros."


def chat(*texts: str) -> list[Json]:
    """A user's and an assistant's messages by turns."""
    return [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(texts)]


def still_open(messages: list[Json]) -> list[str]:
    """The text of everything that is open."""
    found = find_open_requests((role_of(m), read_message(m).utterance.act) for m in messages)
    return [text_of(messages[o.message])[o.request.start : o.request.end] for o in found]


def test_what_is_too_long_for_its_room_leaves_it_to_what_is_not() -> None:
    long = "Is the blue gasket of the second valve, which I ordered on Monday, still missing from my parcel?"
    messages = chat(long, "I will check.", "And when does the depot open?", "I will check.", "Thanks, nice.")
    heard = [read_message(m).utterance for m in messages]
    talk = build_sentence_pool(messages, heard, 0.0)
    told = [[piece.text for piece in choose_open_requests(talk, heard, room, len)] for room in (500, 60, 5)]
    assert told == [["And when does the depot open?", long], ["And when does the depot open?"], []]


class TestOpen:
    """By what came after it, and nothing else."""

    @pytest.mark.parametrize(
        "answer",
        [
            "I will check.",
            "Sorry about that. I'll get back to you.",
            "Let me quickly look into that.",
            "I don't know yet.",
            "Ich prüfe das und melde mich.",
            "Das werde ich im Lager nachfragen.",
            "Je vais vérifier.",
            "Lo reviso y te aviso.",
            "확인해 보겠습니다.",
            "確認いたします。",
            "我查一下。",
        ],
    )
    def test_what_an_answer_puts_off_is_open(self, answer: str) -> None:
        assert still_open(chat(ASKED, answer, "Thanks, nice.")) == [ASKED]

    @pytest.mark.parametrize(
        "answer",
        [
            "No.",
            "It is packed now.",
            "If you send me the number I will check it.",
            "Let me check that for you. One moment. It was packed by the depot this morning.",
            f"I will check. {'The depot opens at nine and closes at five on every working day. ' * 5}",
            "Ich schaue lieber Filme.",
        ],
    )
    def test_what_an_answer_deals_with_is_not(self, answer: str) -> None:
        assert still_open(chat(ASKED, answer, "Thanks, nice.")) == []

    def test_what_follows_the_question_belongs_to_it(self) -> None:
        asked = f"{ASKED} Please look at the depot."
        assert still_open(chat(f"Hello there. {asked}", "I will check.", "Thanks.")) == [asked]

    def test_a_request_that_is_no_question_is_open_if_put_off(self) -> None:
        messages = chat("My parcel came today. Please check the gasket.", "I'll look into it.", "Thanks.")
        assert still_open(messages) == ["Please check the gasket."]
        assert still_open(chat("Please check the gasket.", "It is fine.", "Thanks.")) == []

    def test_what_was_never_answered_is_open_if_it_asks(self) -> None:
        more = {"role": "user", "content": "Hello?"}
        assert still_open([*chat(ASKED), more, *chat("Anybody?", "Yes, hello!")]) == [ASKED]
        assert still_open([*chat("The gasket is missing."), more, *chat("Anybody?", "Yes.")]) == []

    def test_what_the_last_message_asks_waits_for_its_answer(self) -> None:
        assert still_open(chat(ASKED)) == []
        assert still_open(chat(ASKED, "I will check.")) == [ASKED]

    def test_of_two_questions_the_one_that_is_passed_over_is_open(self) -> None:
        assert still_open(chat(f"Is the valve in stock? {ASKED}", LONG, "Thanks.")) == [ASKED]
        assert still_open(chat(ASKED, LONG, "Thanks.")) == []
        assert still_open(chat(f"Is the valve in stock? {ASKED}", "The valve is.", "Thanks.")) == []

    def test_a_later_answer_closes_it_and_another_promise_does_not(self) -> None:
        put_off = chat(ASKED, "I will check.")
        closed = chat("And now?", "The gasket left in a second parcel today.")
        promised = chat("And now?", "I will check the gasket in your parcel.")
        assert still_open([*put_off, *closed, *chat("Fine.")]) == []
        assert ASKED in still_open([*put_off, *promised, *chat("Fine.")])
        assert ASKED in still_open([*put_off, *chat("Price?", "The gasket costs two euros."), *chat("Fine.")])

    def test_asked_again_it_is_told_once(self) -> None:
        again = "So is that gasket still missing?"
        assert still_open(chat(ASKED, "I will check.", again, "I will check.", "Fine.")) == [again]

    def test_results_of_tools_are_no_answers_and_calls_neither(self) -> None:
        call = {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "look"}}]}
        looked = {"role": "tool", "content": "gasket missing parcel: nothing"}
        messages = [*chat(ASKED), call, looked, {"role": "assistant", "content": "I will check."}]
        assert still_open([*messages, *chat("Thanks.")]) == [ASKED]

    def test_of_very_many_the_latest_are_kept(self) -> None:
        words = [f"{a}{b}" for a in "bcdfghjk" for b in "aeiouy"]
        messages = [m for w in words for m in chat(f"Where is the {w}mor {w}tel?", "I will check.")]
        found = still_open([*messages, *chat("Fine.")])
        assert len(found) == MOST_OPEN and found[-1] == "Where is the kymor kytel?"

    @search
    @given(talks, st.integers(0, 20))
    def test_it_is_what_users_said(self, talk: Talk, end: int) -> None:
        messages = list(talk.messages[:end])
        said = [text_of(m) for m in messages if role_of(m) == "user"]
        assert all(any(text in one for one in said) for text in still_open(messages))


@pytest.mark.parametrize(
    ("sentence", "asks"),
    [
        ("Is it here?", True),
        ("“Is it here?”", True),
        ("它在吗？", True),
        ("オークはありますか。", True),
        ("오크로도 있나요", True),
        ("It is here.", False),
        ("そうです。", False),
        ("있습니다.", False),
    ],
)
def test_questions_are_known_by_their_end(sentence: str, asks: bool) -> None:
    assert is_question(sentence) == asks
