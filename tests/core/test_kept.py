"""Kept conversations as values: trees of exchanges, and where a call belongs in them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gateway_compaction.core.endpoints.answers import assemble_messages_answer, read_answer, read_events
from gateway_compaction.core.planning.placement import (
    Bounds,
    ConversationWish,
    place_call,
    read_wish,
    split_preamble,
)
from gateway_compaction.core.records.exchange import (
    Exchange,
    KeptConversation,
    read_conversation_id,
    to_conversation_id,
)
from gateway_compaction.errors import ConversationRefused

BOUNDS = Bounds(100, 10_000)


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def exchange(parent: int, start: int, *texts: str) -> Exchange:
    return Exchange(parent, start, tuple(map(user, texts)), brought=1)


KEPT = KeptConversation(
    form="chat",
    version=3,
    head=4,
    exchanges={
        1: replace(exchange(0, 0, "a", "b"), preamble=({"role": "system", "content": "s"},)),
        2: exchange(1, 2, "c", "d"),
        3: exchange(2, 4, "e", "f"),
        # Goes on in the middle of the second.
        4: exchange(2, 3, "x", "y"),
    },
)


def texts(items: Any) -> str:
    return "".join(item["content"] for item in items)


@pytest.mark.parametrize(
    ("number", "most", "said"),
    [(4, None, "abcxy"), (3, None, "abcdef"), (3, 3, "abc"), (1, 0, ""), (0, None, ""), (9, None, "")],
)
def test_the_messages_of_a_branch(number: int, most: int | None, said: str) -> None:
    assert texts(KEPT.list_messages(number, most)) == said


def test_the_ends_of_earlier_branches() -> None:
    assert KEPT.list_branches() == (3,)
    assert KEPT.find_preamble(4)[0]["content"] == "s" and KEPT.find_preamble(0) == ()


def test_a_circle_that_somebody_wrote_by_hand_ends() -> None:
    looped = replace(KEPT, exchanges={1: exchange(2, 0, "a"), 2: exchange(1, 1, "b")})
    assert looped.find_path(1) == (2, 1)


def test_an_exchange_is_read_back_with_the_order_of_its_fields() -> None:
    message = {"z": 1, "content": "\ud800 한국어", "role": "user"}
    first = Exchange(0, 0, (message,), 1, (), "k", "d", 1.5)
    again = Exchange.decode(first.encode())
    assert again == first and list(again.messages[0]) == ["z", "content", "role"]


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"v": 2}', '{"v": 1}', "[" * 100_000, '{"v":1,"parent":1e999}']
)
def test_what_is_no_exchange_is_told(text: str) -> None:
    with pytest.raises(ValueError):
        Exchange.decode(text)


@pytest.mark.parametrize(
    "text", ["", "conv_", "conv_" + "g" * 32, "a" * 32, "conv_" + "a" * 31, "conv_" + "a" * 33]
)
def test_what_is_no_id_of_ours(text: str) -> None:
    assert read_conversation_id(text) is None


def test_an_id_names_a_session() -> None:
    assert read_conversation_id(to_conversation_id("0a" * 16)) == "0a" * 16


def test_the_preamble_ends_with_the_first_other_message() -> None:
    system, developer = {"role": "system"}, {"role": "developer"}
    assert split_preamble([system, developer, user("a"), system]) == (
        (system, developer),
        (user("a"), system),
    )
    assert split_preamble(["text", system]) == ((), ("text", system))


@pytest.mark.parametrize(
    ("wish", "said", "parent", "start"),
    [
        ({}, "abcxy", 4, 5),
        ({"at": 5}, "abcxy", 4, 5),
        ({"at": 4}, "abcx", 4, 4),
        ({"at": 3}, "abc", 2, 3),
        ({"at": 0}, "", 0, 0),
        ({"branch": 3}, "abcdef", 3, 6),
        ({"branch": 3, "at": 5}, "abcde", 3, 5),
        ({"branch": 0}, "", 0, 0),
        ({"if_version": 3}, "abcxy", 4, 5),
        ({"is_retry": True}, "abcxy", 4, 5),
        ({"key": "new"}, "abcxy", 4, 5),
    ],
)
def test_where_a_call_goes_on(wish: dict[str, Any], said: str, parent: int, start: int) -> None:
    placed = place_call(KEPT, ConversationWish(**wish), [user("new")], "chat", BOUNDS)
    assert (texts(placed.before), placed.parent, placed.start, placed.replaces) == (said, parent, start, 0)
    assert texts(placed.sent) == ("s" if parent else "") + said + "new"


@pytest.mark.parametrize(
    ("wish", "status", "code"),
    [
        ({"at": 6}, 400, "message_not_found"),
        ({"branch": 7}, 404, "branch_not_found"),
        ({"if_version": 2}, 409, "version_mismatch"),
        ({"key": "used"}, 409, "idempotency_key_reused"),
    ],
)
def test_where_it_does_not(wish: dict[str, Any], status: int, code: str) -> None:
    kept = replace(KEPT, exchanges={**KEPT.exchanges, 2: replace(KEPT.exchanges[2], key="used")})
    with pytest.raises(ConversationRefused) as refused:
        place_call(kept, ConversationWish(**wish), [user("new")], "chat", BOUNDS)
    assert (refused.value.status, refused.value.code) == (status, code)


@pytest.mark.parametrize(
    ("kept", "items", "form", "bounds", "code"),
    [
        (KEPT, [user("n")], "messages", BOUNDS, "conversation_form"),
        (KEPT, [{"role": "system", "content": "s"}], "chat", BOUNDS, "no_new_message"),
        (KEPT, [user("n")], "chat", Bounds(6, 10_000), "conversation_full"),
        (replace(KEPT, size=10_001), [user("n")], "chat", BOUNDS, "conversation_full"),
    ],
)
def test_what_is_refused_at_all(
    kept: KeptConversation, items: list[Any], form: str, bounds: Bounds, code: str
) -> None:
    with pytest.raises(ConversationRefused) as refused:
        place_call(kept, ConversationWish(), items, form, bounds)
    assert refused.value.code == code


def test_a_repeated_call_takes_the_place_of_the_first() -> None:
    placed = place_call(KEPT, ConversationWish(), [user("n")], "chat", BOUNDS)
    last = replace(exchange(4, 5, "n", "m"), key="k", digest=placed.digest)
    kept = replace(KEPT, head=5, exchanges={**KEPT.exchanges, 5: last})
    for wish in (ConversationWish(key="k"), ConversationWish(is_retry=True)):
        again = place_call(kept, wish, [user("n")], "chat", BOUNDS)
        assert (again.parent, again.start, again.replaces) == (4, 5, 5)
    edit = place_call(kept, ConversationWish(is_retry=True, at=7), [user("n")], "chat", BOUNDS)
    assert edit.replaces == 0


def test_what_a_guardrail_left_is_what_was_brought() -> None:
    placed = place_call(
        KEPT, ConversationWish(), [{"role": "system", "content": "t"}, user("n")], "chat", BOUNDS
    )
    masked = [{"role": "system", "content": "*"}, *placed.before, user("#")]
    assert placed.read_brought(masked) == (({"role": "system", "content": "*"},), (user("#"),))
    assert place_call(KEPT, ConversationWish(), [user("n")], "chat", BOUNDS).read_brought(masked)[0] is None


def test_what_a_call_asks_for() -> None:
    headers = {"x-conversation-id": " conv ", "x-conversation-at": "2", "x-stainless-retry-count": "0"}
    wish = read_wish(headers, "other", "tenant")
    assert wish == ConversationWish("conv", at=2)
    assert read_wish({}, "other", "tenant").conversation == "other"
    assert read_wish({"x-stainless-retry-count": "1"}, "", "tenant").is_retry
    keys = {read_wish({"idempotency-key": "k"}, "", tenant).key for tenant in ("one", "two")}
    assert len(keys) == 2 and all(read_conversation_id(to_conversation_id(key)) for key in keys)
    for wrong in (
        {"x-conversation-at": "-1"},
        {"x-conversation-branch": "²"},
        {"idempotency-key": "k" * 256},
    ):
        with pytest.raises(ConversationRefused, match=next(iter(wrong))):
            read_wish(wrong, "", "tenant")


CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("endpoint", "body", "kept"),
    [
        ("chat", {"choices": []}, None),
        ("chat", {}, None),
        ("chat", {"choices": ["x"]}, None),
        ("chat", {"choices": [{"message": {"content": "a", "role": "assistant", "tool_calls": None}}]},
         [{"role": "assistant", "content": "a"}]),
        ("chat", {"choices": [{"message": {"content": None, "tool_calls": [{**CALL, "index": 0}, "x"]}}]},
         [{"role": "assistant", "content": None, "tool_calls": [CALL, "x"]}]),
        ("chat", {"choices": [{"message": {"content": None, "tool_calls": [{"id": "c", "type": "custom",
         "custom": {"name": "n", "input": "i"}, "function": None}]}}]},
         [{"role": "assistant", "content": None,
           "tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "n", "input": "i"}}]}]),
        ("chat", {"choices": [{"message": {"content": None, "audio": {"id": "a"}, "tool_calls": 1}}]},
         [{"role": "assistant", "content": None, "tool_calls": 1, "audio": {"id": "a"}}]),
        ("chat", {"choices": [{"message": {"content": "", "tool_calls": [CALL]}}]},
         [{"role": "assistant", "content": None, "tool_calls": [CALL]}]),
        ("messages", {"content": [{"type": "text", "text": "a", "citations": None}]},
         [{"role": "assistant", "content": [{"type": "text", "text": "a"}]}]),
        ("messages", {"content": "a"}, None),
        ("messages", {"content": []}, None),
        ("responses", {"output": [{"type": "message", "status": None}, "x"]}, [{"type": "message"}, "x"]),
        ("responses", {"output": []}, None),
        ("responses", {"output": "x"}, None),
    ],
)  # fmt: skip
def test_an_answer_as_a_client_appends_it(endpoint: Any, body: Any, kept: Any) -> None:
    read = read_answer(endpoint, body)
    assert (None if read is None else list(read)) == kept


def test_a_stream_of_events_as_one_answer() -> None:
    events = [
        {"type": "message_start"},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "s"}},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Y"}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "es"}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "citations_delta", "citation": 1}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "unheard_of"}},
        {"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "input": {}}},
        {
            "type": "content_block_delta",
            "index": 2,
            "delta": {"type": "input_json_delta", "partial_json": "{}"},
        },
        {"type": "content_block_start", "index": 3, "content_block": {"type": "tool_use", "input": {}}},
        {
            "type": "content_block_delta",
            "index": 3,
            "delta": {"type": "input_json_delta", "partial_json": "{"},
        },
        {"type": "content_block_delta", "index": 9, "delta": {"type": "text_delta", "text": "nowhere"}},
        {"type": "message_stop"},
    ]
    assert assemble_messages_answer(events) == {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "text", "text": "Yes", "citations": [1]},
            {"type": "tool_use", "input": {}},
            {"type": "tool_use", "input": {}},
        ],
    }
    assert assemble_messages_answer(events[:-1]) is None


def test_lines_that_are_no_events_are_left_out() -> None:
    lines = ["event: x", 'data: {"type": "ping"}', "data: [DONE]", "data: 1", "", "data: {"]
    assert read_events(lines) == [{"type": "ping"}]
