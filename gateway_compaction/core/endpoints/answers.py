"""A model's answer as the messages that a client would send back with its next call.

A client that keeps a conversation itself appends the answer to its list: what it appends, by the habits of
each API, is what is made here, so that a kept conversation is sent with the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gateway_compaction.core.endpoints.wire import EndpointName, Item

# Fields of a chat answer that belong to the next request too. The first two always stand there.
CHAT_FIELDS = ("role", "content", "tool_calls", "function_call", "thinking_blocks", "refusal")
# Of a sound only its id is sent back.
AUDIO = "audio"
# Fields of a call of a tool, in this order.
CALL_FIELDS = ("id", "type", "function", "custom")
# How a delta of Anthropic's names what it adds, and the field of the block that it adds to.
DELTAS: Mapping[str, str] = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
}


def read_answer(endpoint: EndpointName, body: Mapping[str, Any]) -> tuple[Item, ...] | None:
    """Return the messages of a whole answer; None where it holds none."""
    return {"chat": _read_chat, "messages": _read_messages, "responses": _read_responses}[endpoint](body)


def read_events(lines: Iterable[str]) -> list[Mapping[str, Any]]:
    """Return the events of a stream of server-sent events, from its lines; what is no JSON is left out."""
    events = []
    for line in lines:
        if line.startswith("data:"):
            try:
                event = json.loads(line.removeprefix("data:"))
            except (ValueError, RecursionError):
                continue
            if isinstance(event, Mapping):
                events.append(event)
    return events


def assemble_messages_answer(events: Iterable[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Put together the answer that a stream of Anthropic's events tells; None where it did not end."""
    blocks: dict[Any, dict[str, Any]] = {}
    inputs: dict[Any, str] = {}
    is_ended = False
    for event in events:
        index, kind = event.get("index"), event.get("type")
        if kind == "content_block_start" and isinstance(event.get("content_block"), Mapping):
            blocks[index] = dict(event["content_block"])
        elif kind == "content_block_delta" and index in blocks and isinstance(event.get("delta"), Mapping):
            _add_delta(blocks[index], event["delta"], inputs, index)
        is_ended = is_ended or kind == "message_stop"
    for index, text in inputs.items():
        blocks[index]["input"] = _parse_input(text)
    return {"role": "assistant", "content": list(blocks.values())} if is_ended else None


def _add_delta(block: dict[str, Any], delta: Mapping[str, Any], inputs: dict[Any, str], index: Any) -> None:
    kind = delta.get("type")
    if kind == "input_json_delta":
        inputs[index] = inputs.get(index, "") + str(delta.get("partial_json") or "")
    elif kind == "citations_delta":
        block["citations"] = [*(block.get("citations") or ()), delta.get("citation")]
    elif (name := DELTAS.get(str(kind))) is not None:
        block[name] = str(block.get(name) or "") + str(delta.get(name) or "")


def _parse_input(text: str) -> Any:
    try:
        return json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}


def _read_chat(body: Mapping[str, Any]) -> tuple[Item, ...] | None:
    """Return the message of the first choice, as the SDK's users append it."""
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, Sequence) and choices else None
    answer = first.get("message") if isinstance(first, Mapping) else None
    if not isinstance(answer, Mapping):
        return None
    message: dict[str, Any] = {"role": "assistant", "content": answer.get("content")}
    message |= {name: answer[name] for name in CHAT_FIELDS[2:] if answer.get(name)}
    if len(message) > len(CHAT_FIELDS[:2]) and message["content"] == "":
        # A stream that only calls tools says nothing; a whole answer says so with null.
        message["content"] = None
    if isinstance(message.get("tool_calls"), Sequence):
        message["tool_calls"] = [_read_call(call) for call in message["tool_calls"]]
    if isinstance(answer.get(AUDIO), Mapping):
        message[AUDIO] = {"id": answer[AUDIO].get("id")}
    return (message,)


def _read_call(call: Any) -> Any:
    if not isinstance(call, Mapping):
        return call
    kept = {name: call[name] for name in CALL_FIELDS if call.get(name) is not None}
    if isinstance(kept.get("function"), Mapping):
        function = kept["function"]
        kept["function"] = {"name": function.get("name"), "arguments": function.get("arguments")}
    return kept


def _read_messages(body: Mapping[str, Any]) -> tuple[Item, ...] | None:
    blocks = body.get("content")
    if not isinstance(blocks, Sequence) or isinstance(blocks, str) or not blocks:
        return None
    return ({"role": "assistant", "content": [_drop_none(block) for block in blocks]},)


def _read_responses(body: Mapping[str, Any]) -> tuple[Item, ...] | None:
    output = body.get("output")
    if not isinstance(output, Sequence) or isinstance(output, str) or not output:
        return None
    return tuple(_drop_none(item) for item in output)


def _drop_none(value: Any) -> Any:
    """Return an object without the fields that are None, which SDKs do not send back."""
    return {k: v for k, v in value.items() if v is not None} if isinstance(value, Mapping) else value
