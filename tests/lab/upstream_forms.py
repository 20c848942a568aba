"""Answers of the fake upstream in other forms than that of Chat Completions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from tests.lab.counting import count_text
from tests.lab.scripts import Reply, Seen

__all__ = ["error_body", "events_of", "payload_of"]

Event = tuple[str | None, dict[str, Any]]


def payload_of(seen: Seen, reply: Reply) -> dict[str, Any]:
    """A whole answer in the form of the path that was asked."""
    if seen.path.endswith("/completions"):
        return _text_completion(seen, reply)
    return _anthropic(seen, reply) if seen.path.endswith("/messages") else _response(seen, reply)


def events_of(seen: Seen, reply: Reply) -> Iterator[Event]:
    """The server-sent events of the same answer."""
    if seen.path.endswith("/completions"):
        return iter([(None, _text_completion(seen, reply))])
    return (
        _anthropic_events(seen, reply) if seen.path.endswith("/messages") else _response_events(seen, reply)
    )


def error_body(seen: Seen, error: dict[str, Any]) -> dict[str, Any]:
    """An error in the form of the path that was asked."""
    if seen.path.endswith("/messages"):
        kind = "invalid_request_error" if error.get("code") else error.get("type")
        return {"type": "error", "error": {"type": kind, "message": error.get("message")}}
    return {"error": error}


def _text_completion(seen: Seen, reply: Reply) -> dict[str, Any]:
    """The older form, in which a text is completed."""
    read, written = _tokens(seen, reply)
    choice = {"index": 0, "text": reply.text, "finish_reason": "stop", "logprobs": None}
    shell = {"id": "cmpl-lab", "object": "text_completion", "created": 1_700_000_000, "model": seen.model}
    usage = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
    return {**shell, "choices": [choice], "usage": usage}


def _tokens(seen: Seen, reply: Reply) -> tuple[int, int]:
    prompt = seen.tokens if reply.prompt_tokens is None else reply.prompt_tokens
    return prompt, count_text(json.dumps(reply.as_message, ensure_ascii=False))


def _blocks(reply: Reply) -> list[dict[str, Any]]:
    message = reply.as_message
    blocks: list[dict[str, Any]] = []
    if message.get("content"):
        blocks.append({"type": "text", "text": message["content"]})
    for call in message.get("tool_calls") or ():
        function = call["function"]
        arguments = json.loads(function["arguments"])
        blocks.append({"type": "tool_use", "id": call["id"], "name": function["name"], "input": arguments})
    return blocks


def _anthropic(seen: Seen, reply: Reply) -> dict[str, Any]:
    read, written = _tokens(seen, reply)
    return {
        "id": f"msg_{_unique(seen)}",
        "type": "message",
        "role": "assistant",
        "model": seen.model,
        "content": _blocks(reply),
        "stop_reason": "tool_use" if reply.tool_calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": read, "output_tokens": written},
    }


def _anthropic_events(seen: Seen, reply: Reply) -> Iterator[Event]:
    whole = _anthropic(seen, reply)
    usage = {**whole["usage"], "output_tokens": 1}
    start = {**whole, "content": [], "stop_reason": None, "usage": usage}
    yield "message_start", {"type": "message_start", "message": start}
    for index, block in enumerate(whole["content"]):
        if block["type"] == "text":
            opened, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            text = json.dumps(block["input"])
            opened, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": text}
        opening = {"type": "content_block_start", "index": index, "content_block": opened}
        yield "content_block_start", opening
        yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", "index": index}
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    output = {"output_tokens": whole["usage"]["output_tokens"]}
    yield "message_delta", {"type": "message_delta", "delta": ended, "usage": output}
    yield "message_stop", {"type": "message_stop"}


def _unique(seen: Seen) -> str:
    """What the ids of an answer end with: clients merge messages with the same id."""
    return hashlib.sha256(seen.raw).hexdigest()[:16]


def _items(seen: Seen, reply: Reply) -> list[dict[str, Any]]:
    message = reply.as_message
    items: list[dict[str, Any]] = []
    if message.get("content"):
        part = {"type": "output_text", "text": message["content"], "annotations": []}
        item = {"type": "message", "id": f"msg_{_unique(seen)}", "role": "assistant", "status": "completed"}
        items.append({**item, "content": [part]})
    for number, call in enumerate(message.get("tool_calls") or ()):
        item = {
            "type": "function_call",
            "id": f"fc_{_unique(seen)}{number}",
            "call_id": call["id"],
            "status": "completed",
        }
        items.append({**item, **call["function"]})
    return items


def _response(seen: Seen, reply: Reply, output: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    read, written = _tokens(seen, reply)
    items = _items(seen, reply) if output is None else output
    return {
        "id": f"resp_{_unique(seen)}",
        "object": "response",
        "created_at": 1_700_000_000,
        "status": "completed" if items else "in_progress",
        "error": None,
        "incomplete_details": None,
        "instructions": seen.body.get("instructions"),
        "metadata": {},
        "model": seen.model,
        "output": items,
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": {
            "input_tokens": read,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": written,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": read + written,
        },
    }


def _response_events(seen: Seen, reply: Reply) -> Iterator[Event]:
    number = 0

    def event(kind: str, **values: Any) -> Event:
        nonlocal number
        number += 1
        return kind, {"type": kind, "sequence_number": number - 1, **values}

    begun = {**_response(seen, reply, []), "usage": None}
    yield event("response.created", response=begun)
    yield event("response.in_progress", response=begun)
    for index, item in enumerate(_items(seen, reply)):
        place = {"output_index": index, "item_id": item["id"]}
        if item["type"] == "message":
            part = item["content"][0]
            opened = {**item, "status": "in_progress", "content": []}
            yield event("response.output_item.added", output_index=index, item=opened)
            empty = {**part, "text": ""}
            yield event("response.content_part.added", **place, content_index=0, part=empty)
            text = part["text"]
            yield event("response.output_text.delta", **place, content_index=0, delta=text, logprobs=[])
            yield event("response.output_text.done", **place, content_index=0, text=text, logprobs=[])
            yield event("response.content_part.done", **place, content_index=0, part=part)
        else:
            opened = {**item, "status": "in_progress", "arguments": ""}
            yield event("response.output_item.added", output_index=index, item=opened)
            arguments = item["arguments"]
            yield event("response.function_call_arguments.delta", **place, delta=arguments)
            yield event("response.function_call_arguments.done", **place, arguments=arguments)
        yield event("response.output_item.done", output_index=index, item=item)
    yield event("response.completed", response=_response(seen, reply))
