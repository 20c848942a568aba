"""Chat Completions: the form that everything else is read into, passed through as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gateway_compaction.core.conversation.messages import Message
from gateway_compaction.core.endpoints.wire import WireConversation


def read_chat(body: Mapping[str, Any]) -> WireConversation:
    """Read a body of ``/v1/chat/completions``."""
    messages = body.get("messages")
    rest = {name: value for name, value in body.items() if name != "messages"}
    return WireConversation("chat", messages if isinstance(messages, list) else (), rest, _write)


def _write(sent: Sequence[Message]) -> list[Message]:
    return list(sent)
