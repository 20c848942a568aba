"""Bodies of the other endpoints read as chat messages and written back."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_compaction.core.conversation.digest import digest_history
from gateway_compaction.core.conversation.rewrite import prepend_text, replace_texts
from gateway_compaction.core.conversation.transcript import parse_transcript
from gateway_compaction.core.endpoints.read import read_conversation
from gateway_compaction.core.endpoints.wire import EndpointName, WireConversation
from gateway_compaction.core.planning.views import render
from gateway_compaction.errors import TranscriptError
from tests.core.builders import Bench, policy, stored
from tests.lab.data import load
from tests.lab.endpoints import anthropic_violations, responses_violations, to_anthropic, to_responses

OTHERS: list[EndpointName] = ["messages", "responses"]
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def body_of(endpoint: EndpointName, messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Some chat messages in the form of an endpoint."""
    if endpoint == "chat":
        return {"messages": messages}
    return to_anthropic(messages) if endpoint == "messages" else to_responses(messages)


def violations(endpoint: EndpointName, body: Mapping[str, Any]) -> list[str]:
    """What the endpoint's provider would refuse."""
    return anthropic_violations(body) if endpoint == "messages" else responses_violations(body)


def agent(rounds: int, size: int = 40) -> list[dict[str, Any]]:
    """A conversation with parallel calls in every other round, as chat messages."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": "You look after ships."}]
    for number in range(rounds):
        calls = [
            {
                "id": f"c{number}{place}",
                "type": "function",
                "function": {"name": "look", "arguments": json.dumps({"ship": number, "place": place})},
            }
            for place in range(1 + number % 2)
        ]
        results = [
            {"role": "tool", "tool_call_id": call["id"], "content": f"berth {number} {place} " * size}
            for place, call in enumerate(calls)
        ]
        messages += [
            {"role": "user", "content": f"Where does ship {number} lie? Never guess. " + "Look. " * size},
            {"role": "assistant", "content": f"I look for ship {number}.", "tool_calls": calls},
            *results,
            {"role": "assistant", "content": f"Ship {number} lies at berth {number}. " * 4},
        ]
    return [*messages, {"role": "user", "content": "And where does ship 1 lie?"}]


def planned(wire: WireConversation, covers: int, kind: str = "model", window: int = 3_000) -> list[Any]:
    """What is sent where a stored compaction covers some of the conversation."""
    bench = Bench(window, policy(recall__max_tokens=200), body=dict(wire.body))
    context = bench.context(wire.messages)
    cut = max(c for c in context.transcript.cuts if c <= covers)
    context = bench.context(wire.messages, [stored(context, cut, kind)])
    plan = bench.plan(wire.messages, context.session.compactions)
    assert plan.view.compaction is not None, plan.reason
    return list(wire.write(render(plan.view, context)))


REFERENCE = {"type": "tool_reference", "tool_name": "look"}
FOUND = {"type": "tool_search_tool_search_result", "tool_references": [REFERENCE]}
LOADING: list[tuple[str, dict[str, Any]]] = [
    ("user", {"type": "tool_result", "tool_use_id": "a", "content": [REFERENCE]}),
    ("assistant", {"type": "tool_search_tool_result", "tool_use_id": "a", "content": FOUND}),
]
CLEARS_TOOLS = {"type": "clear_tool_uses_20250919"}
CLEARS_THINKING = {"type": "clear_thinking_20251015", "keep": "all"}
SUMMED_UP = [{"role": "assistant", "content": [{"type": "compaction", "content": "Two ships."}]}]


class TestReading:
    """What is read means the same as in Chat Completions."""

    @pytest.mark.parametrize("endpoint", OTHERS)
    def test_digests_are_those_of_the_same_chat(self, endpoint: EndpointName) -> None:
        chat, wire = agent(4), read_conversation(endpoint, body_of(endpoint, agent(4)))
        read = parse_transcript(wire.messages)
        assert digest_history(read.history) == digest_history(parse_transcript(chat).history)
        assert [m["role"] for m in wire.messages] == [m["role"] for m in chat]

    @pytest.mark.parametrize("endpoint", OTHERS)
    def test_an_image_means_the_same(self, endpoint: EndpointName) -> None:
        url = f"data:image/png;base64,{PIXEL}"
        chat = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}
        source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
        part = (
            {"type": "image", "source": source}
            if endpoint == "messages"
            else {"type": "input_image", "image_url": url, "detail": "auto"}
        )
        body = {"messages" if endpoint == "messages" else "input": [{"role": "user", "content": [part]}]}
        assert digest_history(read_conversation(endpoint, body).messages) == digest_history([chat])

    def test_an_assistant_s_items_are_one_message(self) -> None:
        items = [
            {"role": "user", "content": "Look."},
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
            {"type": "function_call", "call_id": "a", "name": "look", "arguments": "{}"},
            {"type": "function_call", "call_id": "b", "name": "look", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "a", "output": "one"},
            {"type": "function_call_output", "call_id": "b", "output": "two"},
            {"role": "assistant", "content": "Both are there."},
        ]
        wire = read_conversation("responses", {"input": items})
        assert [m["role"] for m in wire.messages] == ["user", "assistant", "tool", "tool", "assistant"]
        assert [c["id"] for c in wire.messages[1]["tool_calls"]] == ["a", "b"]
        assert wire.messages[1]["thinking_blocks"] == items[1:2]

    def test_results_and_words_of_one_message_are_apart(self) -> None:
        blocks = [
            {"type": "tool_result", "tool_use_id": "a", "content": "one"},
            {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "two"}]},
            {"type": "text", "text": "Go on."},
        ]
        wire = read_conversation("messages", {"messages": [{"role": "user", "content": blocks}]})
        assert [m["role"] for m in wire.messages] == ["tool", "tool", "user"]

    @pytest.mark.parametrize(
        ("endpoint", "body", "reason"),
        [
            ("responses", {"input": "Go on.", "previous_response_id": "resp_1"}, "the provider keeps"),
            ("responses", {"input": "Go on.", "conversation": "conv_1"}, "the provider keeps"),
            ("responses", {"input": [{"type": "item_reference", "id": "x"}]}, "the provider keeps"),
            ("responses", {"input": [{"type": "compaction", "encrypted_content": "x"}]}, "only its provider"),
            ("responses", {"input": [{"type": "tool_search_output", "tools": []}]}, "loads tools"),
            ("responses", {"input": [{"type": "thing_of_tomorrow"}]}, "thing_of_tomorrow is not known"),
            (
                "messages",
                {"messages": [{"role": "user", "content": [{"type": "tool_addition", "tool": {}}]}]},
                "loads tools",
            ),
            *(
                ("messages", {"messages": [{"role": role, "content": [block]}]}, "loads tools")
                for role, block in LOADING
            ),
            ("responses", {"input": ["a"]}, "is no item"),
        ],
    )
    def test_what_is_left_alone(self, endpoint: EndpointName, body: dict[str, Any], reason: str) -> None:
        left_alone = read_conversation(endpoint, body).left_alone
        assert left_alone is not None and reason in left_alone

    @pytest.mark.parametrize(
        ("endpoint", "body", "is_managed"),
        [
            ("messages", {"context_management": {"edits": [CLEARS_TOOLS]}}, True),
            ("messages", {"context_management": {"edits": [CLEARS_THINKING, CLEARS_TOOLS]}}, True),
            ("messages", {"context_management": {"edits": [{"type": "compact_20260112"}]}}, True),
            ("messages", {"context_management": {"of": "tomorrow"}}, True),
            ("messages", {"messages": SUMMED_UP}, True),
            ("messages", {"context_management": {"edits": []}}, False),
            # Coding agents send this with every request; it shortens nothing.
            ("messages", {"context_management": {"edits": [CLEARS_THINKING]}}, False),
            ("responses", {"input": "a", "context_management": [{"type": "compaction"}]}, True),
            ("responses", {"input": "a", "context_management": []}, False),
            ("responses", {"input": "a", "prompt": {"id": "pmpt_1"}}, False),
        ],
    )
    def test_what_the_provider_shortens(
        self, endpoint: EndpointName, body: dict[str, Any], is_managed: bool
    ) -> None:
        wire = read_conversation(endpoint, {"messages": [], **body})
        assert (wire.managed is not None, wire.left_alone) == (is_managed, None)

    def test_the_body_bears_the_names_of_chat(self) -> None:
        text = {"format": {"type": "json_object"}}
        body = {"input": "a", "text": text, "max_output_tokens": 7, "instructions": "b", "tools": [{}]}
        rest = read_conversation("responses", body).body
        assert rest == {"response_format": {"type": "json_object"}, "max_tokens": 7, "tools": [{}]}


class TestWriting:
    """What is not changed goes back as the object that came in."""

    @pytest.mark.parametrize("file", ["anthropic_bodies", "responses_bodies"])
    def test_recorded_bodies_come_back_as_they_are(self, file: str) -> None:
        endpoint: EndpointName = "messages" if file.startswith("anthropic") else "responses"
        for record in load(file):
            body = record["body"]
            before, wire = copy.deepcopy(body), read_conversation(endpoint, body)
            came = body[wire.field]
            if isinstance(came, list) and wire.left_alone is None:
                written = wire.write(wire.messages)
                assert len(written) == len(came)
                assert all(new is old for new, old in zip(written, came, strict=True)), record["id"]
            assert body == before

    @pytest.mark.parametrize("endpoint", OTHERS)
    @pytest.mark.parametrize("covers", [3, 9, 14, 20])
    @pytest.mark.parametrize("kind", ["model", "cleared"])
    def test_a_compaction_breaks_no_rule(self, endpoint: EndpointName, covers: int, kind: str) -> None:
        body = body_of(endpoint, agent(9))
        assert not violations(endpoint, body)
        wire = read_conversation(endpoint, body)
        items = planned(wire, covers, kind)
        assert not violations(endpoint, {**body, wire.field: items})
        assert "_origin" not in json.dumps(items)
        kept = {id(item) for item in body[wire.field]}
        assert sum(id(item) in kept for item in items) >= 2

    @pytest.mark.parametrize("endpoint", OTHERS)
    def test_an_assistant_s_shortened_text_stays_beside_its_calls(self, endpoint: EndpointName) -> None:
        wire = read_conversation(endpoint, body_of(endpoint, agent(2)))
        caller = next(m for m in wire.messages if m.get("tool_calls"))
        shorter = replace_texts(caller, lambda _: "Short.")
        items = wire.write([shorter if m is caller else m for m in wire.messages])
        assert not violations(endpoint, {**body_of(endpoint, agent(2)), wire.field: items})
        assert json.dumps(items).count("Short.") == 1
        came = json.dumps(body_of(endpoint, agent(2))[wire.field])
        assert json.dumps(items).replace("Short.", "I look for ship 0.") == came

    def test_signed_thinking_goes_back_as_it_came(self) -> None:
        thought = {"type": "thinking", "thinking": "Hm.", "signature": "sig"}
        call = {"type": "tool_use", "id": "a", "name": "look", "input": {}}
        items = [
            {"role": "user", "content": "Look."},
            {"role": "assistant", "content": [thought, {"type": "text", "text": "I look."}, call]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "one"}]},
        ]
        wire = read_conversation("messages", {"messages": items})
        answer = wire.messages[1]
        assert answer["thinking_blocks"] == [thought]
        shorter = {**answer, "content": [{"type": "text", "text": "I."}]}
        written = wire.write([wire.messages[0], shorter, wire.messages[2]])
        assert written[0] is items[0] and written[2] is items[2]
        assert written[1]["content"] == [thought, {"type": "text", "text": "I."}, call]

    def test_a_cleared_result_keeps_its_image_s_place_and_mark(self) -> None:
        mark = {"type": "ephemeral"}
        result = {"type": "tool_result", "tool_use_id": "a", "content": "long", "cache_control": mark}
        items = [{"role": "user", "content": [result, {"type": "text", "text": "Go on."}]}]
        wire = read_conversation("messages", {"messages": items})
        cleared = {**wire.messages[0], "content": "[removed]"}
        [written] = wire.write([cleared, wire.messages[1]])
        assert written == {
            "role": "user",
            "content": [{**result, "content": "[removed]"}, {"type": "text", "text": "Go on."}],
        }

    @pytest.mark.parametrize(("endpoint", "kind"), [("messages", "text"), ("responses", "input_text")])
    @pytest.mark.parametrize("mark", [{}, {"cache_control": {"type": "ephemeral"}}])
    def test_a_text_alone_is_a_string_and_goes_back_as_a_block(
        self, endpoint: EndpointName, kind: str, mark: dict[str, Any]
    ) -> None:
        block = {"type": kind, "text": "Look.", **mark}
        field = "messages" if endpoint == "messages" else "input"
        wire = read_conversation(endpoint, {field: [{"role": "user", "content": [block]}]})
        [message] = wire.messages
        assert isinstance(message["content"], list if mark else str)
        quoted = {"role": "user", "content": [{"type": kind, "text": "Quote."}, block]}
        assert wire.write([prepend_text(message, "Quote.")]) == [quoted]
        changed = {"role": "user", "content": [{"type": kind, "text": "Short."}]}
        if not mark:
            assert wire.write([replace_texts(message, lambda _: "Short.")]) == [changed]

    @pytest.mark.parametrize("endpoint", OTHERS)
    def test_a_quote_before_a_string_is_a_block_of_its_own(self, endpoint: EndpointName) -> None:
        """Clients write a text as a string where it bears no mark; the bytes with a quote stay the same."""
        kind, field = ("text", "messages") if endpoint == "messages" else ("input_text", "input")
        wire = read_conversation(endpoint, {field: [{"role": "user", "content": "Look."}]})
        [written] = wire.write([prepend_text(wire.messages[0], "Quote.")])
        assert written["content"] == [{"type": kind, "text": "Quote."}, {"type": kind, "text": "Look."}]

    def test_a_quote_goes_before_a_user_s_own_parts(self) -> None:
        part = {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}", "detail": "auto"}
        items = [{"role": "user", "content": [part, {"type": "input_text", "text": "What is it?"}]}]
        wire = read_conversation("responses", {"input": items})
        message = wire.messages[0]
        quoted = {**message, "content": [{"type": "text", "text": "Quote."}, *message["content"]]}
        [written] = wire.write([quoted])
        assert written["content"] == [{"type": "input_text", "text": "Quote."}, *items[0]["content"]]
        assert written["content"][1] is part


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["role", "content", "type", "text", "call_id", "output", "input", "id", "x"]),
            inner,
        )
    ),
    max_leaves=12,
)
KINDS = st.sampled_from(
    ["message", "reasoning", "function_call", "function_call_output", "tool_result", "tool_use", "text"]
)
ITEMS = st.lists(
    JSON
    | st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant", "system"]) | JSON, "content": JSON},
        optional={"type": KINDS},
    ),
    max_size=6,
)


class TestStrange:
    """Nothing that a client may send makes reading or writing raise."""

    @pytest.mark.parametrize("endpoint", OTHERS)
    @given(items=ITEMS | JSON, system=JSON)
    def test_bodies_without_sense(self, endpoint: EndpointName, items: Any, system: Any) -> None:
        field = "input" if endpoint == "responses" else "messages"
        wire = read_conversation(endpoint, {field: items, "instructions": system, "system": system})
        try:
            parse_transcript(wire.messages)
        except TranscriptError:
            return
        if isinstance(items, list) and wire.left_alone is None:
            written = wire.write(wire.messages)
            assert all(any(new is old for old in items) for new in written)
