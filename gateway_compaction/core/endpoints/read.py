"""Choosing the reader of a body by its endpoint, and an endpoint by the form of a body."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any

from gateway_compaction.core.conversation.messages import RESULT_ROLES
from gateway_compaction.core.conversation.parts import is_call, is_result
from gateway_compaction.core.endpoints import anthropic_messages, openai_responses
from gateway_compaction.core.endpoints.anthropic_messages import read_anthropic_messages
from gateway_compaction.core.endpoints.chat import read_chat
from gateway_compaction.core.endpoints.openai_responses import read_openai_responses
from gateway_compaction.core.endpoints.sizes import find_size
from gateway_compaction.core.endpoints.wire import EndpointName, MessagesOnDemand, WireConversation

Reader = Callable[[Mapping[str, Any]], WireConversation]
READERS: Mapping[EndpointName, Reader] = {
    "chat": read_chat,
    "messages": read_anthropic_messages,
    "responses": read_openai_responses,
}
# What reads a body whose size is known: nothing in it but texts, calls, results and thoughts.
PLAIN_READERS: Mapping[EndpointName, Reader] = {
    **READERS,
    "messages": partial(read_anthropic_messages, is_plain=True),
    "responses": partial(read_openai_responses, is_plain=True),
}
RESTS = {"messages": anthropic_messages.to_chat_body, "responses": openai_responses.to_chat_body}


def forget_items() -> None:
    """Drop what is kept of the bodies of earlier calls: something was erased."""
    anthropic_messages.known_items.forget()
    openai_responses.known_items.forget()


def read_conversation(endpoint: EndpointName, body: Mapping[str, Any]) -> WireConversation:
    """Read the body of a request to an endpoint; nothing in it makes this raise.

    Where the size of the messages tells enough of them, they are read when somebody looks at them.
    """
    size = find_size(endpoint, body)
    if size is None or endpoint == "chat":
        return replace(READERS[endpoint](body), size=size)
    read = cache(partial(PLAIN_READERS[endpoint], body))
    messages = MessagesOnDemand(lambda: read().messages)
    return WireConversation(
        endpoint, messages, RESTS[endpoint](body), lambda sent: read().write(sent), size=size
    )


def find_endpoint(body: Mapping[str, Any]) -> EndpointName:
    """Return the endpoint whose form a body has; both forms of messages can say nothing but texts alike."""
    if "messages" not in body and "input" in body:
        return "responses"
    messages = body.get("messages")
    listed = [m for m in messages if isinstance(m, Mapping)] if isinstance(messages, list) else []
    if any(m.get("tool_calls") or m.get("role") in RESULT_ROLES for m in listed):
        return "chat"
    parts = (part for m in listed if isinstance(m.get("content"), list) for part in m["content"])
    is_anthropic = "system" in body or any(is_call(part) or is_result(part) for part in parts)
    return "messages" if is_anthropic else "chat"
