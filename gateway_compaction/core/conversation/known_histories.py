"""Histories that earlier calls brought, with what was read of them, for the next call of each conversation.

A client sends its whole history with every call, and all but the end of it was read before. To compare it
with what came then takes a tenth of what reading and hashing it does. What is kept are copies, which nobody
else can edit, and only what compares equal in all that it holds is taken as read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from gateway_compaction.core.conversation.digest import OPENING
from gateway_compaction.core.conversation.messages import ORIGIN, Message

KEPT_CHARACTERS, MESSAGE_CHARACTERS = 16_000_000, 400
"""Characters of messages that are kept in one process, in 16 to 64 MB: some thirty conversations of 100,000
tokens. Each message takes the room of some more."""

BRANCHES = 8
"""Histories with the same opening that are kept: branches of one conversation, or chats that begin alike."""


@dataclass(frozen=True, slots=True)
class KnownHistory:
    """A history that was read, with all that was read of it.

    Attributes:
        messages: copies of its messages.
        size: the room that they take, in characters.
        texts: for each message its text if it is plain, else None.
        roles: the part that each message plays.
        openers: the history's cuts; see ``Transcript``.
        digests: one name for each message.
        chain: names of its beginnings.
    """

    messages: tuple[Any, ...]
    size: int
    texts: tuple[str | None, ...]
    roles: tuple[str, ...]
    openers: Mapping[int, int | None]
    digests: tuple[bytes, ...]
    chain: tuple[str, ...]


class Beginning(NamedTuple):
    """The messages at the beginning of a history that a known one begins with too.

    Attributes:
        length: how many they are.
    """

    known: KnownHistory
    length: int


class KnownHistories:
    """The histories of one process; those that nobody went on with for longest go first.

    Threads may share it. Of two that keep a branch of one conversation in the same moment one may be lost,
    and is read anew.
    """

    def __init__(self, limit: int = KEPT_CHARACTERS) -> None:
        self._limit = limit
        self._kept: dict[tuple[Any, ...], tuple[KnownHistory, ...]] = {}
        self._size = 0

    def find(self, history: Sequence[Any]) -> Beginning | None:
        """Return the longest beginning of a history that is known, None where there is none."""
        found: Beginning | None = None
        for known in self._kept.get(_name_opening(history), ()):
            length = _count_equal(known.messages, history)
            if length > (found.length if found else 0):
                found = Beginning(known, length)
            if length == len(known.messages):
                break
        return found

    def keep(self, history: Sequence[Message], read: KnownHistory, beginning: Beginning | None) -> None:
        """Keep what was read of a history, in the place of the one that it goes on from.

        Args:
            history: the messages themselves, which are copied.
            read: all that was read of them; its own ``messages`` and ``size`` do not count.
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
        kept = KnownHistory(
            (*before, *new), size, read.texts, read.roles, read.openers, read.digests, read.chain
        )
        replaced = beginning.known if beginning and start == len(beginning.known.messages) else None
        name = _name_opening(history)
        others = self._kept.pop(name, ())
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
    """Return the texts of a history's first messages, None for those that have no plain one."""
    contents = (one.get("content") if isinstance(one, Mapping) else None for one in history[:OPENING])
    return tuple(content if type(content) is str else None for content in contents)


def _count_equal(known: Sequence[Any], history: Sequence[Any]) -> int:
    """Return how many messages at the beginning of a history are as they are known."""
    length = 0
    for one, message in zip(known, history, strict=False):
        if one != message:
            break
        length += 1
    return length
