"""The size of bodies that hold nothing but texts, calls and results, found before they are read.

Most requests are far below every level. To tell that it takes the bytes of their texts, in one pass that
makes nothing: such a body is sent as it came, and its messages are never read. A body with anything else in
it (media, blocks of servers' tools, fields that nobody knows) has no size here, and is read as ever.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
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
OUTPUTS = ("function_call_output", "custom_tool_call_output")
to_json = json.JSONEncoder(ensure_ascii=False, default=repr).encode


class _NotPlain(Exception):
    """A body holds something whose size is not that of its text."""


def find_size(endpoint: EndpointName, body: Mapping[str, Any]) -> PlainSize | None:
    """Return the size of a body's messages; None where they have to be read to tell it."""
    try:
        return FINDERS[endpoint](body)
    except (_NotPlain, RecursionError, ValueError):
        return None


def _size_chat(body: Mapping[str, Any]) -> PlainSize:
    calls = size = 0
    messages = _list_of(body.get("messages"))
    for message in messages:
        if type(message) is not dict or type(message.get("role")) is not str:
            raise _NotPlain
        content = message.get("content")
        size += _bytes_of(content) if type(content) is str else _size_texts(content)
        if len(message) > 2:
            if not message.keys() <= CHAT_FIELDS:
                raise _NotPlain
            for call in _list_of(message.get("tool_calls") or []):
                calls += 1
                size += _size_call(call.get("function") if type(call) is dict else None, "arguments")
    return PlainSize(len(messages), calls, size)


def _size_messages(body: Mapping[str, Any]) -> PlainSize:
    if asks_to_manage(body):
        raise _NotPlain
    items = _list_of(body.get("messages"))
    messages, calls, size = 1, 0, _size_texts(body.get("system"))
    for item in items:
        role = item.get("role") if type(item) is dict else None
        if type(role) is not str or len(item) != 2:
            raise _NotPlain
        content = item.get("content")
        if type(content) is str:
            messages += 1
            size += _bytes_of(content)
            continue
        blocks = _list_of(content)
        messages += len(blocks) or 1
        for block in blocks:
            kind = block.get("type") if type(block) is dict else None
            if kind == "text" and type(text := block.get("text")) is str:
                size += _bytes_of(text)
            elif kind == "tool_result" and role != "assistant":
                size += _size_texts(block.get("content"))
            elif kind == "tool_use" and role == "assistant":
                calls += 1
                size += _bytes_of(to_json(block.get("input"))) + _bytes_of(block.get("name"))
            elif kind in THOUGHTS and role == "assistant":
                size += _size_strings(block)
            else:
                raise _NotPlain
    return PlainSize(messages, calls, size)


def _size_responses(body: Mapping[str, Any]) -> PlainSize:
    if body.get("context_management") or any(body.get(name) for name in KEEPING_FIELDS):
        raise _NotPlain
    items = _list_of(body.get("input"))
    calls, size = 0, _bytes_of(body.get("instructions") or "")
    for item in items:
        kind = item.get("type", "message") if type(item) is dict else None
        if kind == "message" and item.get("role") in ("user", "assistant", "system", "developer"):
            size += _size_texts(item.get("content"), RESPONSES_TEXTS)
        elif kind == "function_call" or (kind == "custom_tool_call" and item.get("arguments") is None):
            calls += 1
            size += _size_call(item, CALLS[kind])
        elif kind in OUTPUTS:
            size += _size_texts(item.get("output"), RESPONSES_TEXTS)
        elif kind == "reasoning":
            size += _size_strings(item)
        else:
            raise _NotPlain
    return PlainSize(len(items) + 1, calls, size)


FINDERS = {"chat": _size_chat, "messages": _size_messages, "responses": _size_responses}


def _list_of(value: Any) -> list[Any]:
    if type(value) is not list:
        raise _NotPlain
    return value


def _bytes_of(text: Any) -> int:
    """Return the bytes of a text in UTF-8; Python knows of each whether a character is a byte."""
    if type(text) is not str:
        raise _NotPlain
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _size_texts(content: Any, types: Sequence[str] = TEXTS) -> int:
    """Return the bytes of a content that is a text, texts or nothing."""
    if type(content) is str:
        return _bytes_of(content)
    size = 0
    for part in () if content is None else _list_of(content):
        if type(part) is not dict or part.get("type") not in types:
            raise _NotPlain
        size += _bytes_of(part.get("text"))
    return size


def _size_call(call: Any, payload: str) -> int:
    if type(call) is not dict:
        raise _NotPlain
    return _bytes_of(call.get("name")) + _bytes_of(call.get(payload))


def _size_strings(value: Any) -> int:
    """Return the bytes of all strings in what a model thought, under whatever name they stand."""
    if type(value) is str:
        return _bytes_of(value)
    inner: Iterable[Any] = value.values() if type(value) is dict else value if type(value) is list else ()
    return sum(map(_size_strings, inner))
