"""Exchanges of a kept conversation, the tree that they make, and their stored form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# The version of the stored form; an exchange of another one is not read.
SCHEMA = 1

# How an id begins, and the hex digits behind it, which name the session.
ID_PREFIX, ID_DIGITS = "conv_", 32

Item = Any
"""A message or an input item, in the form of its endpoint."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """The messages that one call added to a conversation: what it brought, then what it was answered.

    Attributes:
        parent: number of the exchange that it goes on from, 0 for none.
        start: number of messages that stand before it.
        messages: the new ones and the answer.
        brought: how many of them the client sent.
        preamble: system and developer messages that the call began with; None where it had none.
        key: name of the call's idempotency key, empty where it had none.
        digest: name of what the client sent, by which a repeated call is known.
        at: when it was made, in seconds since 1970.
    """

    parent: int
    start: int
    messages: tuple[Item, ...]
    brought: int = 0
    preamble: tuple[Item, ...] | None = None
    key: str = ""
    digest: str = ""
    at: float = 0.0

    @property
    def end(self) -> int:
        """The number of messages of the conversation, up to and with this exchange."""
        return self.start + len(self.messages)

    def encode(self) -> str:
        """Return the exchange as JSON; the messages keep the order of their fields."""
        return json.dumps(
            {
                "v": SCHEMA,
                "parent": self.parent,
                "start": self.start,
                "brought": self.brought,
                "preamble": self.preamble,
                "key": self.key,
                "digest": self.digest,
                "at": self.at,
                "messages": self.messages,
            },
            ensure_ascii=False,
            separators=(",", ":"),
        )

    @classmethod
    def decode(cls, text: str) -> Exchange:
        """Read an exchange back.

        Raises:
            ValueError: it is of another version, or none at all.
        """
        try:
            raw = json.loads(text)
            if raw["v"] != SCHEMA:
                raise ValueError(f"unknown schema {raw['v']!r}")
            preamble = raw["preamble"]
            return cls(
                parent=int(raw["parent"]),
                start=int(raw["start"]),
                messages=tuple(raw["messages"]),
                brought=int(raw["brought"]),
                preamble=None if preamble is None else tuple(preamble),
                key=str(raw["key"]),
                digest=str(raw["digest"]),
                at=float(raw["at"]),
            )
        except (KeyError, TypeError, RecursionError, OverflowError) as error:
            raise ValueError(f"not an exchange: {error!r}") from error


@dataclass(frozen=True, slots=True)
class KeptConversation:
    """A conversation as it is stored.

    Attributes:
        form: the endpoint in whose form the messages are; empty while there are none.
        version: counts the changes of the head.
        head: number of the exchange that the next call goes on from, 0 while there is none.
        size: bytes of all exchanges.
        exchanges: by number, those of all branches.
        created: when it began, in seconds since 1970.
        begun: the same to the microsecond, as the store wrote it, by which one that began anew under the same
            name is told from the one before; empty in one of an earlier version.
    """

    form: str = ""
    version: int = 0
    head: int = 0
    size: int = 0
    exchanges: Mapping[int, Exchange] = field(default_factory=dict)
    created: float = 0.0
    begun: str = ""

    def find_path(self, number: int) -> tuple[int, ...]:
        """Return the numbers of an exchange and of all that it goes on from, the first one first."""
        path: list[int] = []
        while number in self.exchanges and number not in path:
            path.append(number)
            number = self.exchanges[number].parent
        return tuple(reversed(path))

    def list_messages(self, number: int, most: int | None = None) -> list[Item]:
        """Return the messages up to and with an exchange, at most so many of the first ones."""
        found: list[tuple[Item, ...]] = []
        for place in reversed(self.find_path(number)):
            exchange = self.exchanges[place]
            most = exchange.end if most is None else most
            found.append(exchange.messages[: max(0, most - exchange.start)])
            most = min(most, exchange.start)
        return [message for messages in reversed(found) for message in messages]

    def find_preamble(self, number: int) -> tuple[Item, ...]:
        """Return the preamble that was sent last on the way to an exchange."""
        for place in reversed(self.find_path(number)):
            preamble = self.exchanges[place].preamble
            if preamble is not None:
                return preamble
        return ()

    def list_branches(self) -> tuple[int, ...]:
        """Return the exchanges that none goes on from, but for the head: the ends of earlier branches."""
        parents = {exchange.parent for exchange in self.exchanges.values()}
        return tuple(sorted(set(self.exchanges) - parents - {self.head}))


def to_conversation_id(session_key: str) -> str:
    """Return the id by which clients name the conversation of a session."""
    return ID_PREFIX + session_key


def read_conversation_id(text: str) -> str | None:
    """Return the name of the session that an id stands for; None for what is no id of ours."""
    digits = text.removeprefix(ID_PREFIX)
    is_hex = len(digits) == ID_DIGITS and all(c in "0123456789abcdef" for c in digits)
    return digits if is_hex and text.startswith(ID_PREFIX) else None
