"""The size of bodies that hold nothing but texts, calls and results, found before they are read.

Most requests are far below every level. To tell that it takes the bytes of their texts, in one pass that
makes nothing: such a body is sent as it came, and its messages are never read. A body with anything else in
it (media, blocks of servers' tools, fields that nobody knows) has no size here, and is read as ever.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from gateway_compaction.core.conversation.body import PlainSize
from gateway_compaction.core.endpoints.anthropic_messages import asks_to_manage
from gateway_compaction.core.endpoints.openai_responses import KEEPING_FIELDS
from gateway_compaction.core.endpoints.wire import EndpointName

# Tuples, since what a client says of a kind need not be a string.
TEXTS = ("text",)
RESPONSES_TEXTS = ("input_text", "output_text", "text")
THOUGHTS = ("thinking", "redacted_thinking")
CHAT_FIELDS = frozenset({"role", "content", "tool_calls", "tool_call_id"})
CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
ROLES = ("user", "assistant", "system", "developer")
OUTPUTS = ("function_call_output", "custom_tool_call_output")

# The quotes, the colon, the comma and the blanks of an entry of a JSON object, or the braces of one.
BESIDE_ENTRY = 8

# Characters of one text, and bytes of one character at most.
LONGEST_ENCODED, MOST_BYTES = 1_000_000, 4


Texts = list[Any]
"""What a body says, to be weighed once all of it was found to have a size."""


class _NotPlain(Exception):
    """A body holds something whose size is not that of its text."""


def find_size(endpoint: EndpointName, body: Mapping[str, Any]) -> PlainSize | None:
    """Return the size of a body's messages; None where they have to be read to tell it."""
    texts: Texts = []
    try:
        messages, calls = FINDERS[endpoint](body, texts)
        size = sum(map(_count_bytes, texts))
    except (_NotPlain, LookupError, TypeError, ValueError, RecursionError):
        return None
    return PlainSize(messages, calls, size)


def _count_bytes(text: Any) -> int:
    """Return the bytes of a text in UTF-8; of one that takes long to encode no fewer.

    Put together first, texts of 20 MB would be copied as a whole, which holds up all requests.
    """
    # What is no text raises a TypeError; Python knows of each text whether its characters are bytes.
    if str.isascii(text):
        return len(text)
    return (
        MOST_BYTES * len(text) if len(text) > LONGEST_ENCODED else len(text.encode("utf-8", "surrogatepass"))
    )


def _find_in_chat(body: Mapping[str, Any], texts: Texts) -> tuple[int, int]:
    """Collect the texts of Chat Completions; return how many messages and calls there are."""
    messages, calls = _list_of(body.get("messages")), 0
    for message in messages:
        if type(message) is not dict or type(message.get("role")) is not str:
            raise _NotPlain
        content = message.get("content")
        if type(content) is str:
            texts.append(content)
        else:
            _add_content(texts, content)
        if len(message) > 2:
            if not message.keys() <= CHAT_FIELDS:
                raise _NotPlain
            for call in _list_of(message.get("tool_calls") or []):
                calls += 1
                _add_call(texts, call.get("function") if type(call) is dict else None, "arguments")
    return len(messages), calls


def _find_in_messages(body: Mapping[str, Any], texts: Texts) -> tuple[int, int]:
    """Collect the texts of Anthropic's Messages; return how many messages and calls there are at most."""
    if asks_to_manage(body):
        raise _NotPlain
    messages = 1
    inputs: list[Any] = []
    _add_content(texts, body.get("system"))
    for item in _list_of(body.get("messages")):
        # What is no object has no entries, and ends this with a TypeError.
        role, content = item["role"], item["content"]
        if len(item) != 2 or type(role) is not str:
            raise _NotPlain
        messages += 1
        if type(content) is str:
            texts.append(content)
            continue
        if type(content) is not list:
            raise _NotPlain
        for block in content:
            kind = block["type"]
            if kind == "text":
                texts.append(block["text"])
            elif kind == "tool_result" and role != "assistant":
                # A message of its own, and another one is what may follow it.
                messages += 2
                _add_content(texts, block.get("content"))
            elif kind == "tool_use" and role == "assistant":
                texts.append(block.get("name"))
                inputs.append(block.get("input"))
            elif kind in THOUGHTS and role == "assistant":
                _add_strings(texts, block)
            else:
                raise _NotPlain
    _add_inputs(texts, inputs)
    return messages, len(inputs)


def _add_inputs(texts: Texts, inputs: Sequence[Any]) -> None:
    """Add what calls are made with: texts that are not shorter than the JSON of all of them.

    Their strings are written as one, which takes half of the time of writing each call's JSON.
    """
    strings: list[str] = []
    others, entries = [], 0
    for value in inputs:
        if type(value) is not dict:
            others.append(value)
            continue
        entries += len(value) + 1
        strings += value
        for inner in value.values():
            (strings if type(inner) is str else others).append(inner)
    texts.append(json.dumps("".join(strings), ensure_ascii=False))
    texts.append(json.dumps(others, ensure_ascii=False, default=repr))
    texts.append(" " * (BESIDE_ENTRY * entries))


def _find_in_responses(body: Mapping[str, Any], texts: Texts) -> tuple[int, int]:
    """Collect the texts of OpenAI's Responses; return how many messages and calls there are at most."""
    if body.get("context_management") or any(body.get(name) for name in KEEPING_FIELDS):
        raise _NotPlain
    items, calls = _list_of(body.get("input")), 0
    texts.append(body.get("instructions") or "")
    for item in items:
        kind = item.get("type", "message") if type(item) is dict else None
        if kind == "message" and item.get("role") in ROLES:
            _add_content(texts, item.get("content"), RESPONSES_TEXTS)
        elif kind == "function_call" or (kind == "custom_tool_call" and item.get("arguments") is None):
            calls += 1
            _add_call(texts, item, CALLS[kind])
        elif kind in OUTPUTS:
            _add_content(texts, item.get("output"), RESPONSES_TEXTS)
        elif kind == "reasoning":
            _add_strings(texts, item)
        else:
            raise _NotPlain
    return len(items) + 1, calls


FINDERS = {"chat": _find_in_chat, "messages": _find_in_messages, "responses": _find_in_responses}


def _list_of(value: Any) -> list[Any]:
    if type(value) is not list:
        raise _NotPlain
    return value


def _add_content(texts: Texts, content: Any, types: Sequence[str] = TEXTS) -> None:
    """Add a content that is a text, texts or nothing."""
    if type(content) is str:
        texts.append(content)
        return
    for part in () if content is None else _list_of(content):
        if type(part) is not dict or part.get("type") not in types:
            raise _NotPlain
        texts.append(part.get("text"))


def _add_call(texts: Texts, call: Any, payload: str) -> None:
    if type(call) is not dict:
        raise _NotPlain
    texts += (call.get("name"), call.get(payload))


def _add_strings(texts: Texts, value: Any) -> None:
    """Add all strings in what a model thought, under whatever name they stand."""
    if type(value) is str:
        texts.append(value)
        return
    for inner in value.values() if type(value) is dict else value if type(value) is list else ():
        _add_strings(texts, inner)
