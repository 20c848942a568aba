"""OpenAI's Responses API: ``instructions`` beside ``input``, which is a text or a list of items.

An assistant's items that stand together (reasoning, texts, calls, what a server's tools did) are read as one
chat message: a provider wants reasoning back with the call that it belongs to, or neither. Outputs are read
as results. Where the provider keeps the history, or an item is of a kind that is not known here, the request
is left alone.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gateway_compaction.core.conversation.messages import ORIGIN, Message
from gateway_compaction.core.conversation.parts import copy_value, part_type
from gateway_compaction.core.endpoints.wire import (
    Item,
    KnownItems,
    ReadItems,
    WireConversation,
    origin_of,
    sole_text,
)

PROVIDER_KEEPS = "the provider keeps this history"
OWN_COMPACTION = "the request asks the provider to manage its context"
SEALED_COMPACTION = "the history holds a compaction that only its provider can read"
LOADS_TOOLS = "the history loads tools, and a part of it may not be left out"
KEEPING_FIELDS = ("previous_response_id", "conversation")
# Items that are not read, and why.
LEFT_ALONE = {
    "item_reference": PROVIDER_KEEPS,
    "compaction": SEALED_COMPACTION,
    "compaction_summary": SEALED_COMPACTION,
    "tool_search_call": LOADS_TOOLS,
    "tool_search_output": LOADS_TOOLS,
    "additional_tools": LOADS_TOOLS,
}
# What a server's tools did on an assistant's behalf: calls and their results in one item.
SERVER_ITEMS = frozenset(
    {
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "mcp_call",
        "mcp_list_tools",
    }
)
# Calls that the client answers with an item named alike, in the field ``call_id``.
CLIENT_CALLS = frozenset({"computer_call", "local_shell_call", "shell_call", "apply_patch_call"})
OUTPUTS = frozenset(
    {"function_call_output", "custom_tool_call_output", *(f"{name}_output" for name in CLIENT_CALLS)}
)
SHELL_OUTPUT, STREAMS = "shell_call_output", ("stdout", "stderr")
# Outputs whose text may be another one; the others are sent as they came.
TEXT_OUTPUTS = OUTPUTS - {"computer_call_output"}
APPROVAL_REQUEST, APPROVAL_RESPONSE = "mcp_approval_request", "mcp_approval_response"
CALLS = frozenset({"function_call", "custom_tool_call", APPROVAL_REQUEST})
ROLES = frozenset({"user", "assistant", "system", "developer"})
INPUT_TEXTS = ("input_text",)
OUTPUT_TEXTS = ("output_text", "text")
# Fields that a text must have; what it cites is told by places in the text that came.
TEXT_FIELDS: Mapping[str, Mapping[str, Any]] = {"output_text": {"annotations": []}}
# Fields of a call's item that say what it calls a tool with, where there are no ``arguments``.
OTHER_PAYLOADS = ("input", "action", "operation")


@dataclass(slots=True)
class _Reading:
    """The chat messages read from a list of items.

    Attributes:
        spans: of each chat message, by its number, the items that it was read from: start and stop; None for
            ``instructions``.
        parts: the parts as they came, by the ``id`` of what they were read as.
        is_plain: the items are known to be texts, calls, outputs and thoughts; what was read is kept.
    """

    items: Sequence[Item]
    is_plain: bool = False
    messages: list[dict[str, Any]] = field(default_factory=list)
    spans: list[tuple[int, int] | None] = field(default_factory=list)
    parts: dict[int, Any] = field(default_factory=dict)
    left_alone: str | None = None

    def add(self, message: dict[str, Any], span: tuple[int, int] | None) -> None:
        message[ORIGIN] = len(self.messages)
        self.messages.append(message)
        self.spans.append(span)

    def join_assistant(self, number: int) -> dict[str, Any]:
        """Return the assistant's message that an item belongs to: the one before it, or a new one."""
        span = self.spans[-1] if self.spans else None
        if span is not None and self.messages[-1]["role"] == "assistant":
            self.spans[-1] = (span[0], number + 1)
        else:
            self.add({"role": "assistant", "content": []}, (number, number + 1))
        return self.messages[-1]

    def to_part(self, part: Any) -> Any:
        """Return a content part of Chat Completions for a part, and remember the part."""
        read = _to_chat_part(part)
        self.parts[id(read)] = part
        return read

    def to_content(self, content: Any) -> Any:
        if not isinstance(content, list):
            return content
        return sole_text(content, INPUT_TEXTS) or [self.to_part(part) for part in content]


known_items = KnownItems()
"""The items of plain bodies that earlier calls brought."""


def read_openai_responses(body: Mapping[str, Any], *, is_plain: bool = False) -> WireConversation:
    """Read a body of ``/v1/responses``.

    Args:
        body: the body.
        is_plain: ``sizes`` has found nothing but texts, calls, outputs and thoughts in it.
    """
    given = body.get("input")
    items = given if isinstance(given, list) else [{"role": "user", "content": given}]
    try:
        reading = _read(items, body.get("instructions"), is_plain=is_plain)
    except RecursionError:
        # Nested deeper than can be copied: it is read without being kept.
        reading = _read(items, body.get("instructions"), is_plain=False)
    return WireConversation(
        "responses",
        reading.messages,
        to_chat_body(body),
        lambda sent: _write(reading, sent),
        PROVIDER_KEEPS if any(body.get(name) for name in KEEPING_FIELDS) else reading.left_alone,
        OWN_COMPACTION if body.get("context_management") else None,
    )


def _read(items: Sequence[Item], instructions: Any, *, is_plain: bool) -> _Reading:
    reading = _Reading(items, is_plain)
    if instructions:
        reading.add({"role": "system", "content": instructions}, None)
    if is_plain:
        _read_plain_items(reading)
    else:
        _read_items(reading, items, 0)
    return reading


def to_chat_body(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a body without its messages, under the names of Chat Completions."""
    beside = ("input", "instructions", "text", "max_output_tokens")
    rest = {name: value for name, value in body.items() if name not in beside}
    text = body.get("text")
    if isinstance(text, Mapping) and text.get("format"):
        rest["response_format"] = text["format"]
    if body.get("max_output_tokens"):
        rest["max_tokens"] = body["max_output_tokens"]
    return rest


def _join_parts(reading: _Reading, parts: Sequence[Any]) -> Any:
    """Return the content of an assistant's message for the parts of all its items."""
    # What else stands in the part of a text is lost with every change of the text.
    text = sole_text(parts, OUTPUT_TEXTS, bare=False)
    return text or [reading.to_part(part) for part in parts] or None


def _read_plain_items(reading: _Reading) -> None:
    """Read the items of a plain body; what an earlier call has brought is taken over as it was read then.

    Copies are read: the messages are kept, and whoever gets the items may edit them. The last of the known
    messages is read again where it is an assistant's, since more items may belong to it.
    """
    offset, start = len(reading.messages), 0
    known_here = known_items.at(offset)
    beginning = known_here.find(reading.items)
    if beginning is not None:
        read = beginning.known.read
        end = bisect_right(read.spans, beginning.length, key=lambda span: span[1])
        if end and read.messages[end - 1]["role"] == "assistant":
            end -= 1
        start = read.spans[end - 1][1] if end else 0
        reading.messages += read.messages[:end]
        reading.spans += read.spans[:end]
        # An id names a part only for as long as its message is kept.
        listed = [m["content"] for m in reading.messages[offset:] if type(m["content"]) is list]
        names = (id(part) for parts in listed for part in parts)
        reading.parts = {name: read.parts[name] for name in names if name in read.parts}
    _read_items(reading, [copy_value(item) for item in reading.items[start:]], start)
    messages, spans = tuple(reading.messages[offset:]), tuple(reading.spans[offset:])
    known_here.keep(reading.items, ReadItems(messages, spans, dict(reading.parts)), beginning)


def _read_items(reading: _Reading, items: Sequence[Item], start: int) -> None:
    """Read items, of which the first has the number ``start``."""
    first = len(reading.messages)
    for number, item in enumerate(items, start):
        _read_item(reading, number, item)
    for message in reading.messages[first:]:
        if message["role"] == "assistant":
            message["content"] = _join_parts(reading, message["content"])


def _read_item(reading: _Reading, number: int, item: Item) -> None:
    if type(item) is not dict and not isinstance(item, Mapping):
        reading.left_alone = f"input[{number}] is no item"
        return
    kind = str(item.get("type", "message"))
    if kind == "message" and str(item.get("role")) in ROLES:
        _read_message(reading, number, item)
    elif kind == "reasoning":
        reading.join_assistant(number).setdefault("thinking_blocks", []).append(item)
    elif kind in SERVER_ITEMS:
        reading.join_assistant(number)["content"].append(item)
    elif kind in CALLS or (kind in CLIENT_CALLS and item.get("call_id")):
        reading.join_assistant(number).setdefault("tool_calls", []).append(_to_call(item, kind))
    elif kind in OUTPUTS or kind == APPROVAL_RESPONSE:
        reading.add(_to_result(reading, item), (number, number + 1))
    else:
        reading.left_alone = LEFT_ALONE.get(kind, f"an item of the kind {kind[:40]} is not known here")


def _read_message(reading: _Reading, number: int, item: Mapping[str, Any]) -> None:
    if item["role"] != "assistant":
        content = reading.to_content(item.get("content"))
        reading.add({"role": item["role"], "content": content}, (number, number + 1))
        return
    message, content = reading.join_assistant(number), item.get("content")
    if isinstance(content, list):
        message["content"] += content
    elif isinstance(content, str):
        message["content"].append({"type": "text", "text": content})


def _to_call(item: Mapping[str, Any], kind: str) -> dict[str, Any]:
    payload = item.get("arguments")
    if payload is None:
        payload = next((item[name] for name in OTHER_PAYLOADS if item.get(name) is not None), None)
    name, ids = item.get("name") or kind.removesuffix("_call"), item.get("call_id") or item.get("id")
    if kind == "custom_tool_call":
        return {"id": ids, "type": "custom", "custom": {"name": name, "input": payload}}
    arguments = payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False, default=repr)
    return {"id": ids, "type": "function", "function": {"name": name, "arguments": arguments}}


def _to_result(reading: _Reading, item: Mapping[str, Any]) -> dict[str, Any]:
    output = item.get("output")
    if item.get("type") == APPROVAL_RESPONSE:
        output = json.dumps({"approve": item.get("approve"), "reason": item.get("reason")})
    elif isinstance(output, Mapping):
        # A picture of a screen; what else is an object is told as JSON.
        output = [output] if _image_url(output) else json.dumps(output, ensure_ascii=False, default=repr)
    elif item.get("type") == SHELL_OUTPUT and isinstance(output, list):
        output = [{"type": "text", "text": text} for text in _printed(output)]
    ids = item.get("call_id") or item.get("approval_request_id")
    return {"role": "tool", "tool_call_id": ids, "content": reading.to_content(output)}


def _printed(output: Sequence[Any]) -> list[str]:
    """Return what the commands of a shell's call printed."""
    streams = (entry.get(name) for entry in output if isinstance(entry, Mapping) for name in STREAMS)
    return [text for text in streams if text and isinstance(text, str)]


def _image_url(part: Any) -> str | None:
    """Return the address of an image, a link or the image itself in base64; None where there is none."""
    url = part.get("image_url") if isinstance(part, Mapping) else None
    return url if isinstance(url, str) else None


def _to_chat_part(part: Any) -> Any:
    kind = part_type(part)
    if kind in ("input_text", "output_text") and isinstance(part.get("text"), str):
        return {"type": "text", "text": part["text"]}
    url = _image_url(part)
    if kind in ("input_image", "computer_screenshot") and url is not None:
        image = (
            {"url": url} if part.get("detail") in (None, "auto") else {"url": url, "detail": part["detail"]}
        )
        return {"type": "image_url", "image_url": image}
    return part


def _write(reading: _Reading, sent: Sequence[Message]) -> list[Item]:
    """Return the items for the body; ``instructions`` stay where they are, since they are never changed."""
    items: list[Item] = []
    for message in sent:
        origin = origin_of(message)
        if origin is None:
            items.append({"role": str(message["role"]), "content": _own_content(message)})
            continue
        span = reading.spans[origin]
        if span is None:
            continue
        came = reading.items[span[0] : span[1]]
        is_same = reading.messages[origin] is message
        items.extend(came if is_same else _rebuild(reading, came, message))
    return items


def _own_content(message: Message) -> Any:
    content = message["content"]
    if not isinstance(content, list):
        return content
    # Marks for a cache are not of this endpoint.
    return "\n\n".join(str(part.get("text")) for part in content)


def _rebuild(reading: _Reading, came: Sequence[Item], message: Message) -> Iterator[Item]:
    """Yield the items of a message with the texts of a changed copy, everything else in its place."""
    content, role = message.get("content"), message["role"]
    if role == "tool":
        yield _rebuild_output(reading, came[0], content)
        return
    if role != "assistant":
        if isinstance(came[0].get("content"), list) and isinstance(content, str):
            content = [{"type": "text", "text": content}]
        yield {**came[0], "content": _to_wire_content(reading, content, "input_text")}
        return
    parts = iter(content if isinstance(content, list) else [{"type": "text", "text": content}])
    for item in came:
        if item.get("type") in SERVER_ITEMS:
            next(parts, None)
            yield item
        elif item.get("type", "message") == "message":
            old = item.get("content")
            count = len(old) if isinstance(old, list) else 1
            taken = [part for part, _ in zip(parts, range(count), strict=False)]
            if isinstance(old, list):
                yield {**item, "content": _to_wire_content(reading, taken, "output_text")}
            else:
                yield {**item, "content": "\n".join(str(part.get("text")) for part in taken)}
        else:
            yield item


def _rebuild_output(reading: _Reading, item: Mapping[str, Any], content: Any) -> Item:
    """Return an output that says something else, in the form that its kind has."""
    kind, came = item.get("type"), item.get("output")
    if kind not in TEXT_OUTPUTS:
        return item
    if kind != SHELL_OUTPUT:
        return {**item, "output": _to_wire_content(reading, content, "input_text")}
    text = content if isinstance(content, str) else "\n".join(str(p.get("text")) for p in content)
    last = came[-1] if isinstance(came, list) and came and isinstance(came[-1], Mapping) else {}
    return {**item, "output": [{**last, "stdout": text, "stderr": ""}]}


def _to_wire_content(reading: _Reading, content: Any, text_type: str) -> Any:
    """Return content as this endpoint writes it; what was not changed is the part that came in."""
    if not isinstance(content, list):
        return content
    wire = []
    for part in content:
        came = reading.parts.get(id(part))
        if came is not None:
            # Of a plain body it is kept for later calls, and what is sent may be edited by the host.
            wire.append(copy_value(came) if reading.is_plain else came)
        elif part_type(part) == "text":
            wire.append({"type": text_type, "text": part["text"], **TEXT_FIELDS.get(text_type, {})})
        else:
            wire.append(part)
    return wire
