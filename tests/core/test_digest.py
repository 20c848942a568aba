"""Names by meaning: what may differ between two calls of a client, and what may not."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_compaction.core.conversation.digest import (
    build_digest_chain,
    count_characters,
    digest_history,
    digest_message,
    fingerprint,
)
from tests.core.scripts import CALL, script
from tests.core.search import search
from tests.core.strategies import MARK, Json, Talk, odd_messages, resent, seeds, talks, texts

Edit = Callable[[Json], Any]


def part(text: str, **more: Any) -> Json:
    """A text part."""
    return {"type": "text", "text": text, **more}


USER = {"role": "user", "content": "What is 6 x 7?"}
TOOL = {"role": "tool", "tool_call_id": "call_0", "content": "42"}
CALLING = {"role": "assistant", "content": None, "tool_calls": [CALL]}
IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
ASKED = {"role": "user", "content": [part("Look"), IMAGE]}
THINKING = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}


class TestSameMeaning:
    """Forms that clients change from call to call."""

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            (USER, {**USER, "content": [part("What is 6 x 7?")]}),
            (USER, {**USER, "content": ["What is 6 x 7?"]}),
            (USER, {**USER, "cache_control": MARK}),
            (USER, {**USER, "content": [part("What is 6 x 7?", cache_control=MARK)]}),
            (USER, {**USER, "timestamp": "2026-01-01T00:00:00Z", "id": "msg_1", "created_at": 1}),
            (USER, {**USER, "name": None}),
            (USER, {**USER, "name": ""}),
            (ASKED, {**ASKED, "content": [part("Look"), {**IMAGE, "cache_control": MARK}]}),
            (ASKED, {**ASKED, "content": [part("Look"), dict(reversed(IMAGE.items()))]}),
            (TOOL, {**TOOL, "tool_call_id": "toolu_9"}),
            (CALLING, {**CALLING, "tool_calls": [{**CALL, "id": "other", "index": 0}]}),
            (CALLING, {**CALLING, "content": ""}),
            (CALLING, {**CALLING, "content": []}),
            (CALLING, {k: v for k, v in CALLING.items() if k != "content"}),
            (CALLING, {**CALLING, "refusal": None, "function_call": None, "audio": None}),
            (CALLING, {**CALLING, "thinking_blocks": [THINKING], "reasoning_content": "Hm."}),
            (
                CALLING,
                {**CALLING, "tool_calls": [{**CALL, "function": {"name": "run", "arguments": '{"n":1}'}}]},
            ),
            (CALLING, {**CALLING, "content": [THINKING, {"type": "redacted_thinking", "data": "x"}]}),
        ],
    )
    def test_has_the_same_name(self, one: Json, other: Json) -> None:
        assert digest_message(one) == digest_message(other)

    def test_marks_within_a_part_do_not_count_either(self) -> None:
        plain = {"type": "tool_result", "tool_use_id": "t", "content": [part("42")]}
        marked = {**plain, "content": [part("42", cache_control=MARK)]}
        names = {digest_message({"role": "user", "content": [p]}) for p in (plain, marked)}
        assert len(names) == 1

    @search
    @given(talks)
    def test_a_resent_conversation_keeps_its_names(self, talk: Talk) -> None:
        names = build_digest_chain(digest_message(m) for m in talk.messages)
        assert build_digest_chain(digest_message(resent(m)) for m in talk.messages) == names


CHANGES: tuple[tuple[Json, Json], ...] = (
    (USER, {**USER, "role": "assistant"}),
    (USER, {**USER, "name": "ann"}),
    ({**USER, "name": "ann"}, {**USER, "name": "bob"}),
    (USER, {**USER, "content": "What is 6 x 8?"}),
    (USER, {**USER, "content": "What is 6 x 7? "}),
    (USER, {**USER, "content": [part("What is "), part("6 x 7?")]}),
    (USER, {**USER, "content": None}),
    (USER, {**USER, "refusal": "No."}),
    (ASKED, {**ASKED, "content": [IMAGE, part("Look")]}),
    (ASKED, {**ASKED, "content": [part("Look")]}),
    (
        ASKED,
        {**ASKED, "content": [part("Look"), {"type": "image_url", "image_url": {"url": "https://x.y/b"}}]},
    ),
    (TOOL, {**TOOL, "content": "43"}),
    (TOOL, {**TOOL, "role": "function"}),
    (CALLING, {**CALLING, "content": "42"}),
    (CALLING, {**CALLING, "tool_calls": [CALL, CALL]}),
    (CALLING, {**CALLING, "tool_calls": [{**CALL, "function": {"name": "run", "arguments": '{"n": 2}'}}]}),
    (CALLING, {**CALLING, "tool_calls": [{**CALL, "function": {"name": "go", "arguments": '{"n": 1}'}}]}),
    (CALLING, {**CALLING, "tool_calls": None}),
    (CALLING, {**CALLING, "audio": {"id": "audio_1"}}),
    (
        {"role": "assistant", "tool_calls": [{"custom": {"name": "run", "input": "a"}}]},
        {"role": "assistant", "tool_calls": [{"custom": {"name": "run", "input": "b"}}]},
    ),
    (
        {"role": "assistant", "function_call": {"name": "run", "arguments": "{}"}},
        {"role": "assistant", "function_call": {"name": "run", "arguments": "{"}},
    ),
    ({"role": "user", "content": {"a": 1}}, {"role": "user", "content": {"a": 2}}),
    ({"role": "user", "content": "\ud83d"}, {"role": "user", "content": "\ud83e"}),
)


class TestOtherMeaning:
    """Edits that make it another message."""

    @pytest.mark.parametrize(("one", "other"), CHANGES)
    def test_has_another_name(self, one: Json, other: Json) -> None:
        assert digest_message(one) != digest_message(other)

    @search
    @given(st.lists(texts, min_size=1, max_size=3), st.lists(texts, min_size=1, max_size=3))
    def test_two_lists_of_texts_share_a_name_only_if_they_are_equal(
        self, one: list[str], other: list[str]
    ) -> None:
        names = [digest_message({"role": "user", "content": [part(t) for t in ts]}) for ts in (one, other)]
        assert (names[0] == names[1]) == (one == other)

    @search
    @given(st.lists(st.text("abtnx:012", max_size=4), min_size=4, max_size=4), st.integers(0, 2))
    def test_text_cannot_move_from_one_field_into_the_next(self, words: list[str], place: int) -> None:
        # Lengths are part of the name: no text can look like the end of one field and the start of another.
        moved = [*words]
        moved[place], moved[place + 1] = words[place] + words[place + 1], ""
        names = {digest_message(fields(w)) for w in (words, moved)}
        assert (len(names) == 1) == (words == moved)

    @search
    @given(talks, seeds)
    def test_an_edit_changes_every_prefix_from_there_on(self, talk: Talk, seed: int) -> None:
        rng = Random(seed)
        before = build_digest_chain(digest_message(m) for m in talk.messages)
        index = rng.randrange(len(talk.messages))
        edited = [*talk.messages]
        edited[index] = {**edited[index], "content": f"edited {seed}"}
        after = build_digest_chain(digest_message(m) for m in edited)
        assert after[: index + 1] == before[: index + 1]
        assert all(a != b for a, b in zip(after[index + 1 :], before[index + 1 :], strict=True))


def fields(words: list[str]) -> Json:
    """A message with four texts in a row of its name."""
    return {"role": words[0], "name": words[1], "content": [part(words[2])], "refusal": words[3]}


class TestChain:
    """Prefixes are named in one pass."""

    def test_the_empty_history_has_a_name_of_its_own(self) -> None:
        assert build_digest_chain([]) == ("0" * 32,)

    @search
    @given(st.lists(st.binary(min_size=16, max_size=16), max_size=8), st.integers(0, 8))
    def test_a_prefix_has_the_names_of_the_whole(self, digests: list[bytes], length: int) -> None:
        names = build_digest_chain(digests)
        assert len(names) == len(digests) + 1 == len(set(names))
        assert build_digest_chain(digests[:length]) == names[: min(length, len(digests)) + 1]

    def test_the_order_counts(self) -> None:
        one, two = (digest_message(m) for m in script("user text"))
        assert build_digest_chain([one, two])[2] != build_digest_chain([two, one])[2]


def parallel(first: str, second: str, *answers: str) -> list[Json]:
    """Two parallel calls with these ids, and results to the calls of these ids."""
    calls = [{**CALL, "id": first}, {**CALL, "id": second}]
    results = [{"role": "tool", "tool_call_id": a, "content": f"result {i}"} for i, a in enumerate(answers)]
    return [USER, {"role": "assistant", "content": None, "tool_calls": calls}, *results]


class TestParallelCalls:
    """Which of several calls a result answers is a part of its meaning; what the calls are named is not."""

    def test_results_that_changed_places_have_other_names(self) -> None:
        one = digest_history(parallel("a", "b", "a", "b"))
        other = digest_history(parallel("a", "b", "b", "a"))
        assert one[:2] == other[:2] and one[2] != other[2] and one[3] != other[3]

    def test_other_ids_for_the_same_calls_change_nothing(self) -> None:
        assert digest_history(parallel("a", "b", "a", "b")) == digest_history(parallel("x", "y", "x", "y"))

    def test_ids_that_repeat_are_those_of_the_last_calls(self) -> None:
        once = parallel("a", "b", "a", "b")
        assert digest_history([*once, *once])[len(once) :] == digest_history(once)

    def test_a_single_call_needs_no_place(self) -> None:
        history: list[Json] = [USER, CALLING, TOOL]
        assert digest_history(history) == [digest_message(m) for m in history]

    @pytest.mark.parametrize("calls", [None, "odd", [], ["odd", CALL], [{"id": None}, {"id": []}]])
    def test_odd_calls_are_no_reason_to_fail(self, calls: Any) -> None:
        history = [{"role": "assistant", "content": None, "tool_calls": calls}, TOOL]
        assert len(digest_history(history)) == 2

    @search
    @given(talks)
    def test_a_resent_conversation_keeps_its_names_and_a_prefix_those_of_the_whole(self, talk: Talk) -> None:
        names = digest_history(talk.messages)
        for end in talk.points:
            assert digest_history(talk.messages[:end]) == names[:end]


LITTLE = st.recursive(
    st.sampled_from(["", "a", "ab", "1", "s1:a", None, True, 1, 1.5]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "k1:a"]), inner, max_size=2)
    ),
    max_leaves=4,
)


class TestParts:
    """Parts of any form are named by their JSON."""

    @search
    @given(LITTLE, LITTLE)
    def test_two_parts_share_a_name_only_if_they_are_equal(self, one: Any, other: Any) -> None:
        names = [digest_message({"role": "user", "content": [{"type": "x", "x": v}]}) for v in (one, other)]
        assert (names[0] == names[1]) == (
            json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
        )

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ({"a": {"b": 1}, "c": 2}, {"a": {"b": 1, "c": 2}}),
            ([["a"], "b"], [["a", "b"]]),
            ([{"a": 1}, {"b": 2}], [{"a": 1, "b": 2}]),
            ({"a": [], "b": 1}, {"a": [], "b": "1"}),
        ],
    )
    def test_it_counts_where_something_ends(self, one: Any, other: Any) -> None:
        names = [digest_message({"role": "user", "content": [{"type": "x", "x": v}]}) for v in (one, other)]
        assert names[0] != names[1]

    def test_deep_ones_have_a_name_too(self) -> None:
        deep: Any = "x"
        for _ in range(400):
            deep = [deep]
        assert len(digest_message({"role": "user", "content": [{"type": "x", "x": deep}]})) == 16

    def test_a_tuple_is_a_list(self) -> None:
        one, other = ({"role": "user", "content": [{"type": "x", "x": v}]} for v in (("a", 1), ["a", 1]))
        assert digest_message(one) == digest_message(other)

    @pytest.mark.parametrize(
        ("value", "size"),
        [
            ("four", 4),
            (None, 0),
            (17, 0),
            ([], 0),
            ({"role": "user", "content": "abc"}, 7),
            ({"content": [{"text": "abc"}, {"image_url": {"url": "x" * 100}}], "n": 1}, 103),
        ],
    )
    def test_the_size_is_that_of_all_strings(self, value: Any, size: int) -> None:
        assert count_characters(value) == size


class TestFingerprint:
    """Short names for strings."""

    def test_it_depends_on_where_strings_end(self) -> None:
        assert (
            len({fingerprint("ab"), fingerprint("a", "b"), fingerprint("", "ab"), fingerprint("ab", "")}) == 4
        )

    def test_it_is_thirty_two_hex_digits(self) -> None:
        assert len(bytes.fromhex(fingerprint("a", "\ud800"))) == 16


NESTED_CALL = {"function": {"name": "run", "arguments": '{"n": 1.5, "a": [true, null, {}]}'}}


@pytest.mark.parametrize(
    ("message", "name"),
    [
        (USER, "9faa0e08a9e996bf35fc74f182938771"),
        ({"role": "user", "content": ""}, "f1c6790fa0b43ae8afa8ebd1e557a8bd"),
        ({"role": "user", "content": "Grüße \U0001f600 \ud800"}, "4377c58e44f08a5918fe6c4343d7c759"),
        ({**USER, "name": "Ann"}, "9af13b1425ef96e4839cebe3d2c9bb46"),
        (ASKED, "84de8a5451fd68b2846e5099dfb8ebd1"),
        (
            {
                "role": "assistant",
                "content": "Yes.",
                "refusal": "No.",
                "audio": {"id": "a1"},
                "function_call": {"name": "f", "arguments": "x"},
            },
            "25895e9683aaf972f07aa74eaf6425d5",
        ),
        (
            {"role": "assistant", "content": None, "tool_calls": [NESTED_CALL, "odd"]},
            "5f72c6d2a6630d3f0b2b294552766d75",
        ),
        ({"role": "user", "content": 7}, "ffd5d6f04f4c330f55a8385a9d29adab"),
    ],
)
def test_names_are_for_good(message: Json, name: str) -> None:
    """What is stored is found by these names: with other ones every stored summary would be lost."""
    assert digest_message(message).hex() == name


@search
@given(odd_messages)
def test_every_json_message_has_a_name(messages: list[Any]) -> None:
    first = [digest_message(m) for m in messages]
    assert [digest_message(copy.deepcopy(m)) for m in messages] == first
    assert all(len(name) == 16 for name in first)


class TestCalls:
    """Messages of calls that say something else have other digests."""

    @pytest.mark.parametrize("inner", [[1], {"b": 1}, (1,)])
    def test_objects_in_them_are_told_apart(self, inner: Any) -> None:
        """As Anthropic's endpoint has them; what is neither a text nor a number is told apart too."""
        objects: list[Any] = [
            {"a": 1},
            {"a": True},
            {"a": 1.0},
            {"a": None},
            {"a": "1"},
            {"a": "True"},
            {"a": "x", "b": "y"},
            {"a": "x"},
            {"a": inner},
        ]

        def calling(*arguments: Any, **more: Any) -> Json:
            calls = [{"function": {"name": "look", "arguments": one}} for one in arguments]
            return {"role": "assistant", "content": None, "tool_calls": calls, **more}

        messages = [calling(one) for one in objects]
        # The name of the second call might be taken for an argument of the first.
        messages += [
            calling({"look": "x"}),
            calling({}, "x"),
            calling("x", {}),
            calling({"a": "x"}, {"a": "x"}),
        ]
        first = [digest_message(message) for message in messages]
        assert len(set(first)) == len(first)
        reordered = [digest_message(calling(one)) for one in ({"b": "y", "a": "x"}, {"a": "x", "b": "y"})]
        assert reordered[0] == reordered[1]

    def test_what_differs_is_told_apart(self) -> None:
        def calling(*said: str, content: Any = None, role: str = "assistant") -> Json:
            functions = [{"name": n, "arguments": a} for n, a in zip(said[::2], said[1::2], strict=True)]
            return {"role": role, "content": content, "tool_calls": [{"function": f} for f in functions]}

        odd = [{"function": {"name": "look", "arguments": {"a": 1}}}]
        messages: list[Json] = [
            calling("look", "{}"),
            calling("look", "{}", "look", "{}"),
            calling("look", "[]"),
            calling("see", "{}"),
            calling("look", "{}", content="Well."),
            calling("look", "{}", role="user"),
            {"role": "calls", "content": "assistant"},
            {"role": "assistant", "content": None, "tool_calls": odd},
            {"role": "assistant", "content": None, "tool_calls": ["look"]},
            {"role": "assistant", "content": None, "tool_calls": "look"},
        ]
        first = [digest_message(message) for message in messages]
        # A field of calls that is no list holds none, as no field at all.
        assert len(set(first)) == len(messages)
        assert first[-1] == digest_message({"role": "assistant", "content": None})
