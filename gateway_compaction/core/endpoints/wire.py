"""A request's conversation as chat messages, and the way back into the body that it was read from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from gateway_compaction.core.conversation.messages import ORIGIN, Message

EndpointName = Literal["chat", "messages", "responses"]

Item = Any
"""An entry of the body's field of messages, as the client sent it."""


@dataclass(frozen=True, slots=True)
class WireConversation:
    """The conversation of one request.

    Attributes:
        endpoint: the endpoint whose form the body has.
        messages: the conversation as chat messages; not checked, since whoever parses them does that.
        body: the rest of the request, under the names that Chat Completions has for it.
        write: makes of chat messages the value of the body's field ``field``. The messages are those above,
            changed copies of them, and new ones.
        left_alone: why nothing of this request may be changed, or None.
        managed: why it is not, unless a policy says otherwise: the provider shortens it. Or None.
    """

    endpoint: EndpointName
    messages: Sequence[Any]
    body: Mapping[str, Any]
    write: Callable[[Sequence[Message]], Any]
    left_alone: str | None = None
    managed: str | None = None

    @property
    def field(self) -> str:
        """The field of the body that holds the messages."""
        return "input" if self.endpoint == "responses" else "messages"


def number_messages(messages: Sequence[dict[str, Any]]) -> None:
    """Give each message that was read its number, which copies of it keep."""
    for number, message in enumerate(messages):
        message[ORIGIN] = number


def origin_of(message: Message) -> int | None:
    """Return the number of the message that a message was read as or copied from; None for a new one."""
    origin = message.get(ORIGIN)
    return origin if isinstance(origin, int) else None
