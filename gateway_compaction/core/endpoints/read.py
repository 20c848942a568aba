"""Choosing the reader of a body by its endpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateway_compaction.core.endpoints.anthropic_messages import read_anthropic_messages
from gateway_compaction.core.endpoints.chat import read_chat
from gateway_compaction.core.endpoints.openai_responses import read_openai_responses
from gateway_compaction.core.endpoints.wire import EndpointName, WireConversation

READERS = {"chat": read_chat, "messages": read_anthropic_messages, "responses": read_openai_responses}


def read_conversation(endpoint: EndpointName, body: Mapping[str, Any]) -> WireConversation:
    """Read the body of a request to an endpoint; nothing in it makes this raise."""
    return READERS[endpoint](body)
