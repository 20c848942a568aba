"""Histories that earlier calls brought, with what was read of them, for the next call of each conversation.

A client sends its whole history with every call, and all but the end of it was read before. To compare it
with what came then takes a tenth of what reading and hashing it does. What is kept are copies, which nobody
else can edit, and only what compares equal in all that it holds is taken as read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Generic, NamedTuple, TypeVar

from gateway_compaction.core.conversation.digest import OPENING
from gateway_compaction.core.conversation.messages import ORIGIN

KEPT_CHARACTERS = 16_000_000
"""The room of the messages that are kept in one process of each form, in characters: of some thirty
conversations of 100,000 tokens."""

VALUE_CHARACTERS, OBJECT_CHARACTERS = 50, 200
"""The room that each value takes besides its text, and each object or list besides its values."""

BRANCHES = 8
"""Histories with the same opening that are kept: branches of one conversation, or chats that begin alike."""

NEWEST = 8
"""Messages at the end of a known history that a later one may have otherwise and still take its place:
clients mark the newest for the provider's cache, and take the marks back."""

NAMED_TEXTS, NAMED_CHARACTERS = 16, 100
"""Texts of an opening, and characters of each, by which conversations are told apart at first."""

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


@dataclass(slots=True)
class _Kept(Generic[Read]):
    """Histories by their openings, those that nobody went on with for longest first, and their room."""

    histories: dict[tuple[Any, ...], tuple[KnownHistory[Read], ...]] = field(default_factory=dict)
    size: int = 0


class KnownHistories(Generic[Read]):
    """The histories of one process in one form; those that nobody went on with for longest go first.

    Threads may share it. Of two that keep a branch of one conversation in the same moment one may be lost,
    and is read anew. What is kept while another thread forgets is forgotten as well.
    """

    def __init__(self, limit: int = KEPT_CHARACTERS) -> None:
        self._limit = limit
        self._kept = _Kept[Read]()

    def find(self, history: Sequence[Any]) -> Beginning[Read] | None:
        """Return the longest beginning of a history that is known, None where there is none."""
        found: Beginning[Read] | None = None
        for known in self._kept.histories.get(_name_opening(history), ()):
            length = _count_equal(known.messages, history)
            if length > (found.length if found else 0):
                found = Beginning(known, length)
            if length == len(history):
                break
        return found

    def keep(self, history: Sequence[Any], read: Read, beginning: Beginning[Read] | None) -> None:
        """Keep what was read of a history, in the place of the one that it goes on from.

        Args:
            history: its messages, which are copied.
            read: what was read of them; nobody may edit it.
            beginning: what ``find`` returned of this history.
        """
        # Bound once: where another thread forgets meanwhile, this goes with the rest.
        kept, name = self._kept, _name_opening(history)
        if beginning is not None and beginning.length == len(history):
            # All of it is known; its conversation is the newest again.
            kept.histories[name] = kept.histories.pop(name, ())
            return
        start, before, size, replaced = 0, (), 0, None
        if beginning is not None:
            known, start = beginning
            others = known.messages[start:]
            before, size = known.messages[:start], known.size - sum(map(_measure, others))
            replaced = known if len(others) <= NEWEST else None
        try:
            new = tuple(map(_freeze, history[start:]))
            size += sum(map(_measure, new))
        except RecursionError:
            # Nested deeper than Python follows; whoever reads it has to see to that as well.
            return
        if size > self._limit // 4:
            return
        others = kept.histories.pop(name, ())
        left = [one for one in others if one is not replaced]
        left.append(KnownHistory((*before, *new), size, read))
        while len(left) > BRANCHES or sum(one.size for one in left) > self._limit // 4:
            del left[0]
        kept.histories[name] = tuple(left)
        kept.size += sum(one.size for one in left) - sum(one.size for one in others)
        if kept.size > self._limit:
            self._drop_oldest(kept)

    def forget(self) -> None:
        """Drop all texts."""
        self._kept = _Kept()

    def _drop_oldest(self, kept: _Kept[Read]) -> None:
        """Drop the oldest conversations until a quarter of the room is free."""
        # Added up anew: what two threads have kept in the same moment was counted wrongly.
        sizes = {name: sum(one.size for one in many) for name, many in list(kept.histories.items())}
        kept.size = sum(sizes.values())
        oldest = iter(sizes.items())
        while kept.size > self._limit - self._limit // 4:
            name, size = next(oldest)
            kept.histories.pop(name, None)
            kept.size -= size


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
    """Return the room that a copied value takes, in characters."""
    kind = type(value)
    if kind is str:
        return VALUE_CHARACTERS + len(value)
    if kind is dict:
        return OBJECT_CHARACTERS + sum(_measure(name) + _measure(one) for name, one in value.items())
    return OBJECT_CHARACTERS + sum(map(_measure, value)) if kind is list else VALUE_CHARACTERS


def _name_opening(history: Sequence[Any]) -> tuple[Any, ...]:
    """Return how the texts of a history's first messages begin, and how long they are."""
    texts = (text for message in history[:OPENING] for text in _list_texts(message))
    return tuple((len(text), text[:NAMED_CHARACTERS]) for text in islice(texts, NAMED_TEXTS))


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
