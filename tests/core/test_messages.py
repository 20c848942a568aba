"""How a conversation is divided: preamble, turns, groups, cuts and openers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from gateway_compaction.core.conversation.messages import role_of, text_of
from gateway_compaction.core.conversation.transcript import parse_transcript, split_at_answers
from gateway_compaction.errors import TranscriptError
from tests.core.invariants import pairs
from tests.core.scripts import script
from tests.core.search import search
from tests.core.strategies import Talk, talks


class TestPreamble:
    """The leading system and developer messages, and nothing else."""

    def test_it_ends_at_the_first_other_message(self) -> None:
        messages = script("sys dev sys user sys text")
        transcript = parse_transcript(messages)
        assert [*map(id, transcript.preamble)] == [*map(id, messages[:3])]
        assert [*map(id, transcript.history)] == [*map(id, messages[3:])]

    @pytest.mark.parametrize("words", ["", "sys", "sys dev"])
    def test_there_may_be_nothing_else(self, words: str) -> None:
        transcript = parse_transcript(script(words))
        assert (transcript.history, transcript.cuts, transcript.last_user) == ((), (), None)


class TestBroken:
    """What is no list of messages is named, by its place."""

    @pytest.mark.parametrize(
        "broken", [None, "user: hello", 7, [], {}, {"role": None}, {"role": 1}, {"content": "x"}]
    )
    def test_an_entry_without_a_role_is_an_error(self, broken: Any) -> None:
        with pytest.raises(TranscriptError, match=r"messages\[1\]"):
            parse_transcript([*script("user"), broken])

    @pytest.mark.parametrize("part", [{"type": []}, {"type": {}}, {"type": None}, None, 3, []])
    def test_odd_parts_are_nothing_special(self, part: Any) -> None:
        message = {"role": "user", "content": [part]}
        assert parse_transcript([message]).last_user == 0


CUTS: dict[str, dict[int, int | None]] = {
    "user": {},
    "user text": {},
    "user text user": {2: None},
    "user text user text user": {2: None, 4: None},
    # Tool loops are divided inside the turn, behind their first step.
    "user call res": {},
    "user call res call res call res": {3: 0, 5: 0},
    "user calls res res calls res res text user": {4: 0, 7: 0, 8: None},
    "user fcall fres fcall fres text": {3: 0, 5: 0},
    "user use ures use ures text": {3: 0, 5: 0},
    "call res call res": {2: None},
    # A result behind an answer belongs to no call.
    "user call res text res user": {3: 0, 5: None},
    "user call text res user": {2: 0, 4: None},
    # A message of the user between a call and its result belongs to the group, and opens what follows.
    "user call user res call res": {4: 2},
    "user call res user res call res": {5: 3},
    "user calls res user res text user": {5: 3, 6: None},
    # A call that nobody answered is no group.
    "user call user text user": {2: None, 4: None},
    # Nothing is gained right behind an opener; anything else in between makes it worth it.
    "user user text user": {1: None, 3: None},
    "user sys text": {2: 0},
    "user text sys user": {3: None},
    "text user": {1: None},
    "text text user": {1: None, 2: None},
    "res user text user": {1: None, 3: None},
    # A turn that thinks aloud is divided only where thinking starts anew.
    "user thinkcall res thinkcall res think": {3: 0, 5: 0},
    "user thinkcall res call res call res text": {},
    "user call res thinkcall res call res": {3: 0},
    "user thinkpart text call res call res": {},
    "user thinkcall res text user call res call res": {4: None, 7: 4},
}


class TestCuts:
    """Where a history may be divided, and which user message stands before the tail then."""

    @pytest.mark.parametrize("words", CUTS)
    def test_the_table(self, words: str) -> None:
        transcript = parse_transcript(script(words))
        assert dict(transcript.openers) == CUTS[words]
        assert transcript.cuts == tuple(CUTS[words])

    @pytest.mark.parametrize("words", CUTS)
    def test_a_preamble_changes_nothing(self, words: str) -> None:
        assert dict(parse_transcript(script(f"sys dev {words}")).openers) == CUTS[words]

    @search
    @given(talks)
    def test_no_cut_divides_a_group_or_orphans_a_thought(self, talk: Talk) -> None:
        transcript = parse_transcript(talk.messages)
        history = transcript.history
        for cut in transcript.cuts:
            assert all(calls == results for calls, results in pairs(history[:cut]))
            assert all(calls == results for calls, results in pairs(history[cut:]))
            assert 0 < cut < len(history)
            assert role_of(history[cut]) in ("user", "assistant")
            opener = transcript.openers[cut]
            users = [i for i in range(cut) if role_of(history[i]) == "user"]
            assert opener == (users[-1] if users and history[cut]["role"] == "assistant" else None)

    @search
    @given(talks)
    def test_every_user_message_outside_a_group_may_begin_a_tail(self, talk: Talk) -> None:
        transcript = parse_transcript(talk.messages)
        history = transcript.history
        for index in range(1, len(history)):
            whole = all(c == r for c, r in [*pairs(history[:index]), *pairs(history[index:])])
            if role_of(history[index]) == "user" and whole:
                assert index in transcript.cuts


class TestLastUser:
    """Which message must never be touched."""

    @pytest.mark.parametrize(
        ("words", "index"),
        [
            ("user text", 0),
            ("user text user", 2),
            ("user use ures", 0),
            ("text", None),
            ("user call user res", 2),
        ],
    )
    def test_results_in_parts_are_no_question(self, words: str, index: int | None) -> None:
        assert parse_transcript(script(f"sys {words}")).last_user == index


class TestTextOf:
    """The text of a message, whatever form its content has."""

    @pytest.mark.parametrize(
        ("content", "text"),
        [
            ("a", "a"),
            (None, ""),
            (7, ""),
            ({"text": "a"}, ""),
            ([], ""),
            (["a", "b"], "a\nb"),
            ([{"type": "text", "text": "a"}, {"type": "image_url"}, {"type": "text", "text": "b"}], "a\nb"),
            ([{"type": "text", "text": ""}, {"type": "text", "text": 3}, None, "c"], "c"),
        ],
    )
    def test_the_table(self, content: Any, text: str) -> None:
        assert text_of({"role": "user", "content": content}) == text

    def test_a_message_without_content_has_none(self) -> None:
        assert text_of({"role": "assistant"}) == ""


class TestSplitAtAnswers:
    """What a client sent for each answer of a recorded conversation."""

    def test_each_answer_but_a_first_message_follows_a_call(self) -> None:
        messages = script("sys user text user text text user")
        calls = [len(call) for call in split_at_answers(messages)]
        assert calls == [2, 4, 5]
        assert [*split_at_answers(script("text user"))] == [] == [*split_at_answers([])]
