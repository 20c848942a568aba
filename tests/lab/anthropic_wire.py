"""Anthropic's Messages API as the fake upstream speaks it: a body in, an answer, a stream or an error out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.lab.counting import count_text
from tests.lab.scripts import Reply, Seen

__all__ = ["PATH", "as_chat", "as_error", "as_events", "as_message"]

PATH = "/messages"


def as_chat(body: Mapping[str, Any]) -> dict[str, Any]:
    """The body as a chat completion, to be counted and searched."""
    system = [{"role": "system", "content": _text_of(body["system"])}] if body.get("system") else []
    messages = [{"role": m["role"], "content": _text_of(m["content"])} for m in body.get("messages") or ()]
    return {**body, "messages": [*system, *messages]}


def as_message(seen: Seen, reply: Reply) -> dict[str, Any]:
    """A whole answer."""
    text = reply.text or ""
    return {
        "id": "msg_lab",
        "type": "message",
        "role": "assistant",
        "model": seen.model,
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": seen.tokens, "output_tokens": count_text(text)},
    }


def as_events(seen: Seen, reply: Reply) -> Iterator[tuple[str, dict[str, Any]]]:
    """The events of a streamed answer."""
    whole = as_message(seen, reply)
    yield "message_start", {"message": {**whole, "content": [], "stop_reason": None}}
    yield "content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}
    yield "content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": reply.text or ""}}
    yield "content_block_stop", {"index": 0}
    ending = {"stop_reason": "end_turn", "stop_sequence": None}
    yield "message_delta", {"delta": ending, "usage": {"output_tokens": whole["usage"]["output_tokens"]}}
    yield "message_stop", {}


def as_error(reply: Reply) -> dict[str, Any]:
    """An error."""
    given = dict(reply.error or {})
    return {"type": "error", "error": {"type": given.get("type"), "message": given.get("message")}}


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(b["text"] if b.get("type") == "text" else json.dumps(b) for b in content)
