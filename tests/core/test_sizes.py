"""Bodies whose size tells enough, so that their messages are not read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from hypothesis import given

from gateway_compaction.core.conversation.transcript import parse_transcript
from gateway_compaction.core.endpoints.read import READERS, read_conversation
from gateway_compaction.core.endpoints.sizes import find_size
from gateway_compaction.core.endpoints.wire import EndpointName
from gateway_compaction.core.tokens.counter import TokenCounter
from tests.core.search import search
from tests.core.strategies import odd_messages
from tests.core.test_endpoint_kinds import anthropic_talk, responses_talk
from tests.core.test_endpoints import ITEMS, JSON, agent, body_of
from tests.lab.data import load

ENDPOINTS: list[EndpointName] = ["chat", "messages", "responses"]
COUNTER = TokenCounter()
FAR = 10**9
Body = dict[str, Any]


def enumerate_as_text(values: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    """Name values, as the keys of JSON are."""
    return ((str(number), value) for number, value in enumerate(values))


THOUGHT = {"type": "thinking", "thinking": "Hm. Ja, ü.", "signature": "c2ln"}
USE = {"type": "tool_use", "id": "a", "name": "look", "input": {"ship": '1"\n'}}
NESTED = {
    **USE,
    "input": {
        **{name: name for name in ("", '"', "\\", "\x00\x1f", "\x7f\u2028", "ü\U0001f600")},
        **dict(enumerate_as_text((1, -1.5e300, True, None, [], {}, [{"a": ["b", {"c": '"'}]}]))),
    },
}
RESULT = {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "one"}]}
REASONING = {
    "type": "reasoning",
    "summary": [{"type": "summary_text", "text": "Hm."}],
    "encrypted_content": "x",
}
CALL = {"type": "function_call", "call_id": "a", "name": "look", "arguments": "{}"}
CUSTOM = {"type": "custom_tool_call", "call_id": "b", "name": "sh", "input": "ls"}
OUTPUT = {"type": "custom_tool_call_output", "call_id": "b", "output": [{"type": "input_text", "text": "ü"}]}


def of_user(content: Any) -> Body:
    """A body of Chat Completions or Messages with one message."""
    return {"messages": [{"role": "user", "content": content}]}


def of_assistant(*blocks: Any, **more: Any) -> Body:
    """The same, of an assistant."""
    return {"messages": [{"role": "assistant", "content": list(blocks), **more}]}


def check_bound(endpoint: EndpointName, body: Body) -> bool:
    """Whether a body has a size; what that tells must hold of the messages once they are read."""
    size = find_size(endpoint, body)
    if size is None:
        return False
    wire = READERS[endpoint](body)
    assert (wire.left_alone, wire.managed) == (None, None)
    turns = len(parse_transcript(wire.messages).turn_starts)
    assert turns <= size.messages and len(wire.messages) <= size.messages
    exact = COUNTER.upper_bound(wire.messages, wire.body, "gpt-4o", FAR)
    assert COUNTER.upper_bound_of_size(size, wire.body, "gpt-4o", FAR) >= exact
    # Where the texts are enough, schemas are not looked at.
    assert 0 < COUNTER.upper_bound_of_size(size, wire.body, "gpt-4o", 0) <= exact + 99 * len(str(body))
    lazy = read_conversation(endpoint, body)
    assert (lazy.size, lazy.body) == (size, wire.body)
    assert list(lazy.messages) == list(wire.messages) and lazy.messages[:1] == wire.messages[:1]
    assert lazy.write(lazy.messages) == wire.write(wire.messages)
    return True


class TestBound:
    """The size of what has one is never too small, and nothing of it would be left alone."""

    @pytest.mark.parametrize(
        ("endpoint", "body"),
        [
            *((endpoint, body_of(endpoint, agent(3))) for endpoint in ENDPOINTS),
            ("messages", {**of_user("Grüße \U0001f600"), "tools": [{"name": "look"}], "system": "Be brief."}),
            ("messages", of_assistant(THOUGHT, {"type": "text", "text": "I look.", "citations": None}, USE)),
            ("messages", of_user([RESULT, {"type": "text", "text": "Go on."}])),
            ("messages", of_assistant(*[{**USE, "input": {}}] * 40)),
            ("messages", of_assistant(*[NESTED] * 40)),
            ("messages", of_assistant({**USE, "input": "ls"}, {**USE, "input": ["ls"]})),
            ("messages", of_user([])),
            ("responses", {"input": [REASONING, CALL, CUSTOM, OUTPUT], "instructions": "Be brief."}),
            ("chat", of_user([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}])),
            ("chat", {"messages": []}),
        ],
    )
    def test_of_texts_calls_and_results(self, endpoint: EndpointName, body: Body) -> None:
        assert check_bound(endpoint, body)

    @pytest.mark.parametrize(
        ("endpoint", "body"),
        [
            ("chat", {"messages": "Go on."}),
            ("chat", {"messages": ["Go on."]}),
            ("chat", {"messages": [{"role": 1, "content": "x"}]}),
            ("chat", of_user({"type": "text"})),
            ("chat", of_user([{"type": ["text"], "text": "x"}])),
            ("chat", of_user([{"type": "text", "text": 7}])),
            ("chat", {"messages": [{"role": "assistant", "content": "x", "reasoning_content": "Hm."}]}),
            ("chat", {"messages": [{"role": "assistant", "content": "x", "tool_calls": 7}]}),
            ("chat", {"messages": [{"role": "assistant", "content": "x", "tool_calls": ["look"]}]}),
            ("messages", {**of_user("Go on."), "context_management": {"edits": [{"type": "compact"}]}}),
            ("messages", of_assistant(RESULT)),
            ("messages", of_user([USE])),
            ("messages", of_user({"type": "text"})),
            ("messages", of_user(["Go on."])),
            ("messages", of_user([{"type": "image", "source": {}}])),
            ("messages", of_user([{**RESULT, "content": [{"type": "tool_reference"}]}])),
            ("messages", of_assistant(USE, id="msg_1")),
            ("messages", of_user([{"type": {}, "text": "x"}])),
            ("messages", of_user([{"text": "x"}])),
            ("messages", {"messages": [{"role": "user", "contents": "x"}]}),
            ("messages", of_assistant({**USE, "input": {1: "a name of a field is a text"}})),
            ("responses", {"input": "Go on.", "previous_response_id": "resp_1"}),
            ("responses", {"input": [{"type": ["message"], "role": "user", "content": "x"}]}),
            ("responses", {"input": [{"type": "item_reference", "id": "x"}]}),
            ("responses", {"input": [{**CUSTOM, "arguments": "{}"}]}),
            ("responses", {"input": [CALL], "instructions": [{"type": "input_text", "text": "x"}]}),
        ],
    )
    def test_other_bodies_have_none(self, endpoint: EndpointName, body: Body) -> None:
        assert not check_bound(endpoint, body)

    def test_real_bodies(self) -> None:
        found = [check_bound("messages", record["body"]) for record in load("anthropic_bodies")]
        found += [check_bound("responses", record["body"]) for record in load("responses_bodies")]
        assert any(found) and not all(found)

    def test_bodies_of_all_kinds(self) -> None:
        assert not check_bound("messages", anthropic_talk())
        assert not check_bound("responses", responses_talk())

    @pytest.mark.parametrize("endpoint", ENDPOINTS)
    @search
    @given(items=ITEMS | JSON | odd_messages, beside=JSON)
    def test_bodies_without_sense(self, endpoint: EndpointName, items: Any, beside: Any) -> None:
        field = "input" if endpoint == "responses" else "messages"
        check_bound(endpoint, {field: items, "instructions": beside, "system": beside, "tools": beside})


def test_of_a_text_that_takes_long_to_encode_the_size_is_no_smaller() -> None:
    long = of_user("가" * 1_000_001)
    size = find_size("chat", long)
    assert size is not None and size.bytes >= len(long["messages"][0]["content"].encode())
    assert check_bound("chat", of_user("가" * 1_000))
