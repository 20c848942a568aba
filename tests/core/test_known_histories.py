"""What earlier calls brought is read no other way than what nobody has seen, and takes a bounded room."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_compaction.core.conversation import transcript as module
from gateway_compaction.core.conversation.digest import OPENING
from gateway_compaction.core.conversation.known_histories import (
    BRANCHES,
    NEWEST,
    OBJECT_CHARACTERS,
    VALUE_CHARACTERS,
    KnownHistories,
)
from gateway_compaction.core.conversation.messages import ORIGIN
from gateway_compaction.core.conversation.transcript import Transcript, forget_histories, parse_transcript
from gateway_compaction.errors import TranscriptError
from tests.core.search import search
from tests.core.strategies import Json, Talk, seeds, talks

Read = tuple[Any, ...]


def read(messages: list[Any]) -> Read:
    """All that is read of messages."""
    found = parse_transcript(messages)
    return (found, found.digests, found.chain, found.opening, found.roles, found.plain_texts)


def read_anew(messages: list[Any]) -> Read:
    """The same by a process that has seen nothing."""
    forget_histories()
    found = read(copy.deepcopy(messages))
    forget_histories()
    return found


def serve(rng: Random, talk: list[Json]) -> list[Json]:
    """A call that the provider runs itself, with its result somewhere behind: it moves earlier cuts."""
    name = f"srvtoolu_{rng.randrange(3)}"
    use = {
        "type": "server_tool_use",
        "id": name,
        "name": "search",
        "input": {"n": rng.choice([1, 1.0, True])},
    }
    result = {"type": "web_search_tool_result", "tool_use_id": name, "content": []}
    places = sorted(rng.randrange(len(talk) + 1) for _ in range(2))
    for place, part in zip(reversed(places), (result, use), strict=True):
        talk = [*talk[:place], {"role": "assistant", "content": [part]}, *talk[place:]]
    return talk


def edit(rng: Random, talk: list[Json]) -> list[Json]:
    """What clients do to a history between two calls."""
    place, talk = rng.randrange(len(talk)), copy.deepcopy(talk)
    message, kind = talk[place], rng.randrange(6)
    if kind == 0:
        message["content"] = "edited"
    elif kind == 1:
        message["cache_control"] = {"type": "ephemeral"}
    elif kind == 2:
        del talk[place]
    elif kind == 3:
        talk.insert(place, {"role": rng.choice(["user", "assistant", "tool"]), "content": "inserted"})
    elif kind == 4:
        message[ORIGIN] = rng.randrange(3)
    else:
        calls = [{"id": "c", "function": {"name": "f", "arguments": {"n": rng.choice([1, 1.0, True])}}}]
        talk[place] = {"role": "assistant", "content": None, "tool_calls": calls}
    return talk


@search
@given(talk=talks, seed=seeds, served=st.booleans())
def test_whatever_came_before_a_history_is_read_as_if_nothing_had(
    talk: Talk, seed: int, served: bool
) -> None:
    """Calls that go on, go back, branch off and edit, each compared with a process that knows nothing."""
    rng, messages = Random(seed), talk.messages
    if served:
        messages = serve(rng, messages)
    calls: list[list[Json]] = []
    for _ in range(8):
        end = rng.randint(1, len(messages))
        calls.append(copy.deepcopy(messages[:end]))
        if rng.random() < 0.5:
            messages = edit(rng, messages) or messages
    expected = [read_anew(call) for call in calls]
    for call, wanted in zip(calls, expected, strict=True):
        assert read(call) == wanted
        # The host edits messages in place once the call is on its way.
        for message in call:
            message["content"] = "edited by the host"


def talk_of(length: int, opening: str = "") -> list[Any]:
    """A plain chat."""
    roles = ("user", "assistant")
    return [{"role": roles[i % 2], "content": f"{opening}message {i}"} for i in range(length)]


def known_of(messages: list[Any]) -> Transcript:
    """The messages, read; what was read is kept."""
    found = parse_transcript(messages)
    assert len(found.chain) == len(found.history) + 1
    return found


class TestBeginning:
    """What a process takes as read."""

    @pytest.fixture(autouse=True)
    def forget(self) -> None:
        forget_histories()

    def test_it_is_as_long_as_all_is_alike(self) -> None:
        known_of(talk_of(9))
        found = parse_transcript([*talk_of(7), {"role": "user", "content": "other"}])
        assert found.beginning is not None and found.beginning.length == 7
        assert parse_transcript(talk_of(9, "other ")).beginning is None

    @pytest.mark.parametrize(("one", "other"), [(1, True), (1, 1.0), (0.0, -0.0), (1, "1"), ([1], [1, 2])])
    def test_what_python_takes_for_equal_is_told_apart(self, one: Any, other: Any) -> None:
        def calling(value: Any) -> list[Any]:
            call = {"id": "a", "function": {"name": "f", "arguments": {"n": value}}}
            return [*talk_of(8), {"role": "assistant", "content": None, "tool_calls": [call]}]

        known_of(calling(one))
        again, differing = parse_transcript(calling(one)), parse_transcript(calling(other))
        assert again.beginning is not None and again.beginning.length == 9
        assert differing.beginning is not None and differing.beginning.length == 8

    def test_what_is_no_json_is_never_taken_as_read(self) -> None:
        strange = [*talk_of(8), {"role": "user", "content": ("a", "tuple")}]
        known_of(strange)
        found = parse_transcript(strange)
        assert found.beginning is not None and found.beginning.length == 8

    def test_a_wrong_message_behind_it_has_its_own_place_in_the_error(self) -> None:
        preamble = {"role": "system", "content": "s"}
        known_of([preamble, *talk_of(8)])
        with pytest.raises(TranscriptError, match=r"messages\[9\]"):
            parse_transcript([preamble, *talk_of(8), "no message"])
        with pytest.raises(TranscriptError, match=r"messages\[0\]"):
            parse_transcript(["no message"])

    def test_branches_are_known_side_by_side(self) -> None:
        branches = [[*talk_of(OPENING), *talk_of(NEWEST + 1, f"branch {n} ")] for n in range(BRANCHES)]
        for branch in branches:
            known_of(branch)
        for branch in branches:
            found = parse_transcript(branch)
            assert found.beginning is not None and found.beginning.length == len(branch)
        known_of([*talk_of(OPENING), *talk_of(NEWEST + 1, "one more ")])
        oldest = parse_transcript(branches[0])
        assert oldest.beginning is not None and oldest.beginning.length == OPENING

    def test_moving_marks_leave_one_copy_of_a_conversation(self) -> None:
        """Clients mark the newest message for the provider's cache, and unmark the one before."""
        for length in range(OPENING, 40, 2):
            marked = {"role": "user", "content": "marked", "cache_control": {"type": "ephemeral"}}
            known_of([*talk_of(length), marked])
        assert [len(known) for known in module._known_histories._kept.histories.values()] == [1]

    def test_the_longest_of_several_is_taken(self) -> None:
        kept, whole = KnownHistories[int](), talk_of(40)
        for length in (30, 12, 20):
            kept.keep(whole[:length], length, None)
        found = kept.find(whole)
        assert found is not None and found.known.read == 30

    def test_what_is_known_to_its_end_is_not_kept_once_more(self) -> None:
        known_of(talk_of(40))
        for length in range(OPENING, 40):
            known_of(talk_of(length))
        [many] = module._known_histories._kept.histories.values()
        assert [len(known.messages) for known in many] == [40]

    def test_what_is_kept_while_another_thread_forgets_is_forgotten(self) -> None:
        kept, history = KnownHistories[None](), _Interrupting(talk_of(9))
        history.then = kept.forget
        kept.keep(history, None, None)
        assert kept.find(talk_of(9)) is None

    def test_what_is_nested_too_deeply_is_read_and_not_kept(self) -> None:
        deep: Any = "end"
        for _ in range(700):
            deep = {"a": deep}
        call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": deep}}
        talk = [*talk_of(8), {"role": "assistant", "content": None, "tool_calls": [call]}]
        names = [known_of(talk).chain[-1] for _ in range(2)]
        assert names[0] == names[1] and parse_transcript(talk).beginning is None


class _Interrupting(list[Any]):
    """A history during whose copying another thread does something."""

    then: Any = None

    def __getitem__(self, index: Any) -> Any:
        if index == slice(0, None):
            self.then()
        return super().__getitem__(index)


PLAIN = OBJECT_CHARACTERS + 4 * VALUE_CHARACTERS + len("role assistant content 0 message 0")


class TestRoom:
    """The room that histories take."""

    @staticmethod
    def keep(kept: KnownHistories[None], messages: list[Any]) -> None:
        found = parse_transcript(messages)
        kept.keep(found.history, None, kept.find(found.history))

    def test_the_oldest_conversation_goes_where_it_is_full(self) -> None:
        one = 8 * PLAIN
        kept = KnownHistories[None](limit=5 * one)
        for number in range(9):
            self.keep(kept, talk_of(8, f"{number} "))
        found = [bool(kept.find(talk_of(8, f"{number} "))) for number in range(9)]
        assert found[-3:] == [True] * 3 and not any(found[:4])
        assert kept._kept.size <= 5 * one

    def test_what_threads_have_counted_wrongly_is_added_up_anew(self) -> None:
        kept = KnownHistories[None]()
        self.keep(kept, talk_of(8))
        kept._kept.size = 10**9
        self.keep(kept, talk_of(8, "other "))
        assert kept.find(talk_of(8)) is not None
        assert kept._kept.size == sum(one.size for many in kept._kept.histories.values() for one in many)

    def test_going_on_takes_the_place_of_what_it_goes_on_from(self) -> None:
        kept = KnownHistories[None]()
        for length in range(OPENING, 30):
            self.keep(kept, talk_of(length))
        assert [len(known.messages) for many in kept._kept.histories.values() for known in many] == [29]
        alone = KnownHistories[None]()
        self.keep(alone, talk_of(29))
        assert kept._kept.size == alone._kept.size > 29 * OBJECT_CHARACTERS

    def test_one_that_would_take_a_quarter_of_it_is_not_kept(self) -> None:
        kept = KnownHistories[None](limit=20 * PLAIN)
        self.keep(kept, talk_of(6))
        assert kept.find(talk_of(6)) is None and not kept._kept.size

    def test_branches_of_one_conversation_take_no_more_than_a_quarter(self) -> None:
        kept = KnownHistories[None](limit=4 * 20 * PLAIN)
        for number in range(4):
            self.keep(kept, [*talk_of(OPENING), *talk_of(10, f"{number} ")])
        [branches] = kept._kept.histories.values()
        assert len(branches) == 1 and kept.find([*talk_of(OPENING), *talk_of(10, "3 ")]) is not None

    def test_lists_and_numbers_take_room_as_well(self) -> None:
        kept = KnownHistories[None]()
        self.keep(kept, [{"role": "user", "content": [{"type": "text", "text": "x" * 1_000}], "n": 1}])
        texts = ("role", "user", "content", "type", "text", "text", "x" * 1_000, "n")
        whole = 3 * OBJECT_CHARACTERS + sum(VALUE_CHARACTERS + len(text) for text in texts) + VALUE_CHARACTERS
        assert kept._kept.size == whole
        many = KnownHistories[None](limit=1_000_000)
        self.keep(many, [{"role": "user", "content": [0.1] * 10_000}])
        assert not many._kept.histories

    def test_nothing_is_left_of_what_is_forgotten(self) -> None:
        known_of(talk_of(9))
        forget_histories()
        assert parse_transcript(talk_of(9)).beginning is None
        assert not module._known_histories._kept.histories and not module._known_histories._kept.size
