"""A request's conversation as chat messages, and the way back into the body that it was read from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from gateway_compaction.core.conversation.body import PlainSize
from gateway_compaction.core.conversation.known_histories import KnownHistories
from gateway_compaction.core.conversation.messages import ORIGIN, Message

EndpointName = Literal["chat", "messages", "responses"]

Item = Any
"""An entry of the body's field of messages, as the client sent it."""


class MessagesOnDemand(Sequence[Any]):
    """Messages that are read when somebody first looks at one of them."""

    def __init__(self, read: Callable[[], Sequence[Any]]) -> None:
        self._read = read

    def __getitem__(self, index: Any) -> Any:
        return self._read()[index]

    def __len__(self) -> int:
        return len(self._read())

    def __iter__(self) -> Iterator[Any]:
        return iter(self._read())


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
        managed: why nothing is changed unless a policy says otherwise: the provider shortens it. Or None.
        size: what is known of the messages before they are read, or None. With a size nothing is left alone.
    """

    endpoint: EndpointName
    messages: Sequence[Any]
    body: Mapping[str, Any]
    write: Callable[[Sequence[Message]], Any]
    left_alone: str | None = None
    managed: str | None = None
    size: PlainSize | None = None

    @property
    def field(self) -> str:
        """The field of the body that holds the messages."""
        return "input" if self.endpoint == "responses" else "messages"


class ReadItems(NamedTuple):
    """The chat messages that the items of an earlier call were read as.

    Attributes:
        messages: of the items alone, made from copies of them, so that an edit of the request reaches none.
        spans: where each came from, in the endpoint's own terms.
        parts: the parts as they came, by the ``id`` of what they were read as.
    """

    messages: Sequence[dict[str, Any]]
    spans: Sequence[Any]
    parts: Mapping[int, Any]


class KnownItems:
    """The items of plain bodies that earlier calls to one endpoint brought.

    Messages are numbered through the whole request, so what a message before the items shifts is kept apart.
    """

    def __init__(self) -> None:
        self._by_offset = (KnownHistories[ReadItems](), KnownHistories[ReadItems]())

    def at(self, offset: int) -> KnownHistories[ReadItems]:
        """Return those before which so many messages stand, none or one."""
        return self._by_offset[offset]

    def forget(self) -> None:
        """Drop all texts."""
        for known in self._by_offset:
            known.forget()


def sole_text(parts: Sequence[Any], types: tuple[str, ...], *, bare: bool = True) -> str | None:
    """Return the text of parts that are one text and nothing else; None for all others.

    A string means the same as a list of one text, and is read several times as fast by all that follow. An
    empty one means something else.

    Args:
        parts: a content.
        types: the types of a text; no set, since what a client says of a type need not be a string.
        bare: the text has no other field, such as a mark for the cache.
    """
    part = parts[0] if len(parts) == 1 else None
    if type(part) is not dict or part.get("type") not in types or (bare and len(part) != 2):
        return None
    text = part.get("text")
    return text if type(text) is str and text else None


def origin_of(message: Message) -> int | None:
    """Return the number of the message that a message was read as or copied from; None for a new one."""
    origin = message.get(ORIGIN)
    return origin if isinstance(origin, int) else None
