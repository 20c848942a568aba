"""Conversations in the form of the other endpoints, and the rules that their providers hold requests to."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

__all__ = [
    "anthropic_violations",
    "responses_violations",
    "to_anthropic",
    "to_responses",
]

Message = Mapping[str, Any]
MOST_MARKS = 4


def to_anthropic(messages: Sequence[Message]) -> dict[str, Any]:
    """A body of ``/v1/messages`` that says what some chat messages say; ids are made anew, by position."""
    system, items = [], list[dict[str, Any]]()
    number, waiting = 0, list[str]()
    for message in messages:
        role, blocks = message["role"], _text_blocks(message, "text")
        if role in ("system", "developer"):
            system += blocks
            continue
        if role == "tool":
            used = waiting.pop(0) if waiting else "toolu_unknown"
            blocks = [{"type": "tool_result", "tool_use_id": used, "content": _text(message)}]
            role = "user"
        for call in message.get("tool_calls") or ():
            number += 1
            waiting.append(f"toolu_{number}")
            arguments = _arguments(call["function"]["arguments"])
            name = call["function"]["name"]
            blocks.append({"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": arguments})
        if items and items[-1]["role"] == role:
            items[-1]["content"] += blocks
        elif blocks:
            items.append({"role": role, "content": blocks})
    body: dict[str, Any] = {"messages": items, "max_tokens": 512}
    return {**body, "system": system} if system else body


def to_responses(messages: Sequence[Message]) -> dict[str, Any]:
    """A body of ``/v1/responses`` that says what some chat messages say; ids are made anew, by position."""
    instructions, items = list[str](), list[dict[str, Any]]()
    number, waiting = 0, list[str]()
    for message in messages:
        role = message["role"]
        if role in ("system", "developer"):
            instructions.append(_text(message))
            continue
        if role == "tool":
            used = waiting.pop(0) if waiting else "call_unknown"
            items.append({"type": "function_call_output", "call_id": used, "output": _text(message)})
            continue
        if text := _text(message):
            kind = "output_text" if role == "assistant" else "input_text"
            part = {"type": kind, "text": text, **({"annotations": []} if role == "assistant" else {})}
            items.append({"type": "message", "role": role, "content": [part]})
        for call in message.get("tool_calls") or ():
            number += 1
            waiting.append(f"call_{number}")
            items.append({"type": "function_call", "call_id": f"call_{number}", **call["function"]})
    body: dict[str, Any] = {"input": items, "max_output_tokens": 512, "store": False}
    return {**body, "instructions": "\n".join(instructions)} if instructions else body


def _text(message: Message) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(str(p.get("text") or "") for p in content or () if isinstance(p, Mapping))


def _text_blocks(message: Message, kind: str) -> list[dict[str, Any]]:
    text = _text(message)
    return [{"type": kind, "text": text}] if text.strip() else []


def _arguments(arguments: Any) -> Any:
    try:
        read = json.loads(arguments)
    except (TypeError, ValueError):
        return {"raw": arguments}
    return read if isinstance(read, dict) else {"raw": read}


def anthropic_violations(body: Mapping[str, Any]) -> list[str]:
    """What Anthropic's API would refuse about a body's messages, by its public reference."""
    return [*_anthropic_roles(body["messages"]), *_anthropic_pairs(body["messages"]), *_marks(body)]


def _blocks(item: Mapping[str, Any]) -> list[Any]:
    content = item.get("content")
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def _anthropic_roles(items: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if not items or items[0].get("role") != "user":
        yield "-: the first message is not a user's"
    for index, item in enumerate(items):
        if set(item) - {"role", "content"}:
            yield f"{index}: extra fields ({sorted(item)})"
        if item.get("role") not in ("user", "assistant"):
            yield f"{index}: unknown role ({item.get('role')})"
        if index and items[index - 1].get("role") == item.get("role"):
            yield f"{index}: roles do not alternate"
        blocks = _blocks(item)
        if not blocks:
            yield f"{index}: no content"
        for block in blocks:
            if block.get("type") == "text" and not str(block.get("text") or "").strip():
                yield f"{index}: empty text"


def _anthropic_pairs(items: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    wanted: list[str] = []
    served: set[str] = set()
    for index, item in enumerate(items):
        blocks = _blocks(item)
        for block in blocks if item.get("role") == "assistant" else ():
            kind = str(block.get("type"))
            if kind in ("server_tool_use", "mcp_tool_use"):
                served.add(block["id"])
            elif kind.endswith("_tool_result") and block["tool_use_id"] not in served:
                yield f"{index}: {kind} without its call ({block['tool_use_id']})"
        results = [b["tool_use_id"] for b in blocks if b.get("type") == "tool_result"]
        if sorted(results) != sorted(wanted):
            yield f"{index}: results do not answer the calls of the message before ({wanted}, {results})"
        first = [b.get("type") == "tool_result" for b in blocks]
        if first != sorted(first, reverse=True):
            yield f"{index}: a result stands behind other content"
        wanted = [b["id"] for b in blocks if b.get("type") == "tool_use"]
        thinks = [b.get("type") in ("thinking", "redacted_thinking") for b in blocks]
        if any(thinks) and item.get("role") != "assistant":
            yield f"{index}: thinking outside of an assistant's message"
    if wanted:
        yield "-: the last calls have no results"


def _marks(body: Mapping[str, Any]) -> Iterator[str]:
    outer = [block for item in body["messages"] for block in _blocks(item)]
    said = [inner for block in outer for inner in (*_inner_blocks(block), block)]
    blocks = [*(body.get("tools") or ()), *_system(body), *said]
    marks = [block["cache_control"] for block in blocks if block.get("cache_control")]
    if len(marks) > MOST_MARKS:
        yield f"-: {len(marks)} cache marks"
    lives = [mark.get("ttl", "5m") for mark in marks]
    if "1h" in lives[lives.index("5m") :] if "5m" in lives else False:
        yield "-: a mark of an hour behind one of five minutes"


def _inner_blocks(block: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    content = block.get("content") if block.get("type") == "tool_result" else None
    return content if isinstance(content, list) else ()


def _system(body: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    system = body.get("system")
    return system if isinstance(system, list) else ()


def responses_violations(body: Mapping[str, Any]) -> list[str]:
    """What OpenAI's Responses API would refuse about a body's items, by its public reference."""
    items = body["input"]
    if isinstance(items, str):
        return []
    return [*_item_forms(items), *_output_forms(items), *_item_pairs(items), *_reasoning(items)]


def _item_forms(items: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for index, item in enumerate(items):
        if any(name.startswith("_") for name in item) or "cache_control" in item:
            yield f"{index}: extra fields ({sorted(item)})"
        kinds = {"assistant": ("output_text", "refusal"), None: ()}.get(item.get("role"))
        for part in item.get("content") or () if isinstance(item.get("content"), list) else ():
            kind = part.get("type")
            if item.get("type", "message") != "message":
                continue
            if kinds is not None and kind not in kinds:
                yield f"{index}: {kind} in an assistant's message"
            if kinds is None and kind in ("text", "output_text"):
                yield f"{index}: {kind} in a message of {item.get('role')}"


def _output_forms(items: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield outputs whose ``output`` is of another form than their kind has."""
    for index, item in enumerate(items):
        kind, output = str(item.get("type", "message")), item.get("output")
        if kind == "shell_call_output":
            if not isinstance(output, list) or any(set(o) != {"stdout", "stderr", "outcome"} for o in output):
                yield f"{index}: an entry of a shell's output has stdout, stderr and outcome"
        elif kind == "computer_call_output":
            if not isinstance(output, Mapping) or output.get("type") != "computer_screenshot":
                yield f"{index}: the output of a computer's call is a screenshot"
        elif kind == "mcp_approval_response" and output is not None:
            yield f"{index}: unknown parameter (output)"


def _item_pairs(items: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    open_calls: list[Any] = []
    approvals: set[Any] = set()
    for index, item in enumerate(items):
        kind = str(item.get("type", "message"))
        if kind == "mcp_approval_request":
            approvals.add(item["id"])
        if item.get("approval_request_id") and item["approval_request_id"] not in approvals:
            yield f"{index}: {kind} without the request that it approves"
        if kind.endswith("_output"):
            if item.get("call_id") not in open_calls:
                yield f"{index}: no tool call found for function call output ({item.get('call_id')})"
            else:
                open_calls.remove(item.get("call_id"))
        elif kind.endswith("_call") and item.get("call_id"):
            open_calls.append(item["call_id"])
    if open_calls:
        yield f"-: no tool output found for function call ({open_calls})"


def _reasoning(items: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    followers = ("reasoning", "message", "function_call", "custom_tool_call")
    for index, item in enumerate(items):
        if item.get("type") != "reasoning":
            continue
        after = items[index + 1] if index + 1 < len(items) else {}
        kind = str(after.get("type", "message"))
        follows = kind in followers or kind.endswith("_call")
        if not follows or after.get("role") in ("user", "system", "developer"):
            yield f"{index}: reasoning without the item that follows it"
