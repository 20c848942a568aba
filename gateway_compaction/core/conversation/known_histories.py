"""Histories that earlier calls brought, with what was read of them, for the next call of each conversation.

A client sends its whole history with every call, and all but the end of it was read before. To compare it
with what came then takes a tenth of what reading and hashing it does. What is kept are copies, which nobody
else can edit, and only what compares equal in all that it holds is taken as read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from gateway_compaction.core.conversation.digest import OPENING
from gateway_compaction.core.conversation.messages import ORIGIN

KEPT_CHARACTERS, MESSAGE_CHARACTERS = 16_000_000, 400
"""Characters of messages that are kept in one process of each form, in 16 to 64 MB: some thirty conversations
of 100,000 tokens. Each message takes the room of some more. The forms of one conversation share texts."""

BRANCHES = 8
"""Histories with the same opening that are kept: branches of one conversation, or chats that begin alike."""

NAMED_CHARACTERS = 100
"""Characters of a text in an opening by which conversations are told apart before they are compared."""

Read = TypeVar("Read")


@dataclass(frozen=True, slots=True)
class KnownHistory(Generic[Read]):
    """A history that was read, with all that was read of it.

    Attributes:
        messages: copies of its messages.
        size: the room that they take, in characters.
        read: what was read of them.
    """

    messages: tuple[Any, ...]
    size: int
    read: Read


class Beginning(NamedTuple, Generic[Read]):
    """The messages at the beginning of a history that a known one begins with too.

    Attributes:
        length: how many they are.
    """

    known: KnownHistory[Read]
    length: int


class KnownHistories(Generic[Read]):
    """The histories of one process in one form; those that nobody went on with for longest go first.

    Threads may share it. Of two that keep a branch of one conversation in the same moment one may be lost,
    and is read anew.
    """

    def __init__(self, limit: int = KEPT_CHARACTERS) -> None:
        self._limit = limit
        self._kept: dict[tuple[Any, ...], tuple[KnownHistory[Read], ...]] = {}
        self._size = 0

    def find(self, history: Sequence[Any]) -> Beginning[Read] | None:
        """Return the longest beginning of a history that is known, None where there is none."""
        found: Beginning[Read] | None = None
        for known in self._kept.get(_name_opening(history), ()):
            length = _count_equal(known.messages, history)
            if length > (found.length if found else 0):
                found = Beginning(known, length)
            if length == len(known.messages):
                break
        return found

    def keep(self, history: Sequence[Any], read: Read, beginning: Beginning[Read] | None) -> None:
        """Keep what was read of a history, in the place of the one that it goes on from.

        Args:
            history: its messages, which are copied.
            read: what was read of them; nobody may edit it.
            beginning: what ``find`` returned of this history.
        """
        start, before, size = 0, (), 0
        if beginning is not None:
            known, start = beginning
            before = known.messages[:start]
            size = known.size if start == len(known.messages) else sum(map(_measure, before))
        new = tuple(map(_freeze, history[start:]))
        size += sum(map(_measure, new))
        if size > self._limit // 4:
            return
        replaced = beginning.known if beginning and start == len(beginning.known.messages) else None
        name = _name_opening(history)
        others = self._kept.pop(name, ())
        kept = KnownHistory((*before, *new), size, read)
        left = (*(other for other in others if other is not replaced), kept)[-BRANCHES:]
        self._kept[name] = left
        self._size += sum(one.size for one in left) - sum(one.size for one in others)
        if self._size > self._limit:
            self._drop_oldest()

    def forget(self) -> None:
        """Drop all texts."""
        self._kept, self._size = {}, 0

    def _drop_oldest(self) -> None:
        """Drop the oldest conversations until a quarter of the room is free."""
        conversations = list(self._kept.items())
        sizes = [sum(one.size for one in many) for _, many in conversations]
        # Added up anew: what two threads have kept in the same moment was counted wrongly.
        room, start, total = self._limit - self._limit // 4, 0, sum(sizes)
        while total > room:
            total, start = total - sizes[start], start + 1
        self._kept, self._size = dict(conversations[start:]), total


def copy_value(value: Any) -> Any:
    """Return a copy of a JSON value, which nobody else can edit."""
    if type(value) is dict:
        return {name: copy_value(one) for name, one in value.items()}
    return [copy_value(one) for one in value] if type(value) is list else value


class _Exact:
    """A number of a copied message, which equals only what is written alike: Python takes True for 1.0."""

    __slots__ = ("_written",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: float) -> None:
        self._written = repr(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, int | float) and repr(other) == self._written


def _freeze(value: Any, key: str = "") -> Any:
    """Copy a JSON value; what is none equals nothing."""
    kind = type(value)
    if kind is str or value is None:
        return value
    if kind is dict:
        return {name: _freeze(one, name) for name, one in value.items()}
    if kind is list:
        return [_freeze(one) for one in value]
    if kind is int and key == ORIGIN:
        return value
    return _Exact(value) if kind in (int, float, bool) else object()


def _measure(value: Any) -> int:
    """Return the room that a copied message takes, in characters."""
    if type(value) is str:
        return len(value)
    if type(value) is dict:
        return MESSAGE_CHARACTERS + sum(map(_measure, value.values()))
    return MESSAGE_CHARACTERS + sum(map(_measure, value)) if type(value) is list else 0


def _name_opening(history: Sequence[Any]) -> tuple[Any, ...]:
    """Return how the texts of a history's first messages begin, and how long they are."""
    texts = (text for message in history[:OPENING] for text in _list_texts(message))
    return tuple((len(text), text[:NAMED_CHARACTERS]) for text in texts)


def _list_texts(value: Any, depth: int = 3) -> Iterator[str]:
    if type(value) is str:
        yield value
    elif depth and type(value) in (dict, list):
        for inner in value.values() if type(value) is dict else value:
            yield from _list_texts(inner, depth - 1)


def _count_equal(known: Sequence[Any], history: Sequence[Any]) -> int:
    """Return how many messages at the beginning of a history are as they are known."""
    length = 0
    for one, message in zip(known, history, strict=False):
        if one != message:
            break
        length += 1
    return length
