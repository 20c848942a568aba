"""Bodies of Messages and Responses are read as if no earlier call had brought them, whoever edits them."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_compaction.core.conversation.rewrite import prepend_text, replace_texts
from gateway_compaction.core.endpoints import anthropic_messages, openai_responses
from gateway_compaction.core.endpoints.read import forget_items, read_conversation
from gateway_compaction.core.endpoints.wire import EndpointName, WireConversation
from tests.core.search import search
from tests.core.strategies import MARK, Json, seeds
from tests.lab.endpoints import to_anthropic, to_responses

MAKERS = {"messages": to_anthropic, "responses": to_responses}
KNOWN = {"messages": anthropic_messages.known_items, "responses": openai_responses.known_items}


def _say(rng: Random, number: int) -> Any:
    texts = [
        {"type": "text", "text": f"said {number}.{n} {rng.randrange(9)}"}
        for n in range(rng.choice([1, 1, 2]))
    ]
    if rng.random() < 0.2:
        texts[-1]["cache_control"] = dict(MARK)  # type: ignore[assignment]
    return texts if len(texts) > 1 or rng.random() < 0.3 else texts[0]["text"]


def _turn(rng: Random, number: int) -> list[Json]:
    talk: list[Json] = [{"role": "user", "content": _say(rng, number)}]
    for step in range(rng.choice([0, 0, 1, 2])):
        arguments = json.dumps({"ship": rng.choice([number, float(number), True, "x"])})
        names = [f"call_{number}_{step}_{n}" for n in range(rng.choice([1, 1, 3]))]
        calls = [
            {"id": i, "type": "function", "function": {"name": "look", "arguments": arguments}} for i in names
        ]
        talk.append({"role": "assistant", "content": rng.choice([None, "Let me look."]), "tool_calls": calls})
        talk += [{"role": "tool", "tool_call_id": i, "content": _say(rng, number)} for i in names]
    return [*talk, {"role": "assistant", "content": _say(rng, number)}]


def _edit(rng: Random, items: list[Any]) -> list[Any]:
    place, kind = rng.randrange(len(items)), rng.randrange(4)
    if kind == 0:
        items[place] = {"role": "user", "content": "edited"}
    elif kind == 1:
        items = items[:place]
    elif kind == 2:
        items = [*items[:place], {"role": "assistant", "content": "inserted"}, *items[place:]]
    return items


def _quote(message: Json) -> Json:
    """What compaction does to messages that stay: a quote before a question, a shorter result."""
    if message["role"] == "user":
        return prepend_text(message, "<recall>what was said</recall>")
    return replace_texts(message, lambda text: text[:4]) if message["role"] == "tool" else message


def _spoil(value: Any) -> None:
    """Edit in place whatever can be, as hosts do to what they send."""
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _spoil(inner)
    if isinstance(value, dict):
        value.clear()
    elif isinstance(value, list):
        value.append("spoilt")


def _read(endpoint: EndpointName, body: Json) -> tuple[WireConversation, Any, Any, Any]:
    wire = read_conversation(endpoint, body)
    messages = list(wire.messages)
    return wire, copy.deepcopy(messages), wire.write(messages), wire.write([*map(_quote, messages)])


@search
@given(seed=seeds, endpoint=st.sampled_from(["messages", "responses"]), system=st.booleans())
def test_whatever_came_before_a_body_is_read_and_written_as_if_nothing_had(
    seed: int, endpoint: EndpointName, system: bool
) -> None:
    rng = Random(seed)
    field, bodies = ("input" if endpoint == "responses" else "messages"), list[Json]()
    talk = [message for number in range(6) for message in _turn(rng, number)]
    items = MAKERS[endpoint](talk)[field]
    for item in items:
        if item.get("role") == "user" and rng.random() < 0.5:
            item["content"] = [*item["content"], *copy.deepcopy(item["content"])]
    for _ in range(6):
        body: Json = {field: copy.deepcopy(items[: rng.randint(1, len(items))])}
        if system or rng.random() < 0.2:
            body |= {"system": "Be brief."} if endpoint == "messages" else {"instructions": "Be brief."}
        bodies.append(body)
        items = _edit(rng, items) or items
    expected = []
    for body in bodies:
        forget_items()
        expected.append(_read(endpoint, copy.deepcopy(body))[1:])
    forget_items()
    for body, wanted in zip(bodies, expected, strict=True):
        _, read, same, quoted = _read(endpoint, body)
        assert (read, same, quoted) == wanted
        assert same == body[field]
        _spoil(quoted)
        _spoil(body)


@pytest.mark.parametrize("endpoint", ["messages", "responses"])
class TestKept:
    """What is kept of a plain body."""

    @pytest.fixture(autouse=True)
    def forget(self) -> None:
        forget_items()

    def test_only_what_is_new_is_read(self, endpoint: EndpointName, monkeypatch: pytest.MonkeyPatch) -> None:
        talk = [message for number in range(20) for message in _turn(Random(7), number)]
        module = anthropic_messages if endpoint == "messages" else openai_responses
        read, item = list[int](), module._read_item
        monkeypatch.setattr(module, "_read_item", lambda r, n, i: (read.append(n), item(r, n, i)))
        for end in (-4, len(talk)):
            read.clear()
            list(read_conversation(endpoint, MAKERS[endpoint](talk[:end])).messages)
        assert 0 < len(read) < 12

    def test_it_is_forgotten_with_everything_else(self, endpoint: EndpointName) -> None:
        body = MAKERS[endpoint](_turn(Random(1), 1))
        list(read_conversation(endpoint, body).messages)
        assert KNOWN[endpoint].at(0)._kept.histories
        forget_items()
        assert not KNOWN[endpoint].at(0)._kept.histories

    def test_what_is_nested_too_deeply_is_read_and_not_kept(self, endpoint: EndpointName) -> None:
        deep: Any = "end"
        for _ in range(480):
            deep = {"a": deep}
        body = MAKERS[endpoint](_turn(Random(1), 1))
        field = "input" if endpoint == "responses" else "messages"
        thought = {"type": "thinking", "thinking": "Hm.", "signature": deep}
        items = {
            "messages": {"role": "assistant", "content": [thought]},
            "responses": {"type": "reasoning", "summary": deep},
        }
        body[field].append(items[endpoint])
        wire = read_conversation(endpoint, body)
        messages = list(wire.messages)
        assert wire.write(messages)[-1] is body[field][-1]
        assert not KNOWN[endpoint].at(0)._kept.histories

    def test_what_stands_before_the_items_changes_no_number(self, endpoint: EndpointName) -> None:
        body = MAKERS[endpoint](_turn(Random(1), 1))
        beside = {"system": "s"} if endpoint == "messages" else {"instructions": "s"}
        for one in (body, {**body, **beside}, body):
            messages = list(read_conversation(endpoint, one).messages)
            assert [message["_origin"] for message in messages] == list(range(len(messages)))
