"""What a model's summary lost of its source and what it made up, told by identifiers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gateway_compaction.core.conversation.messages import Message
from gateway_compaction.core.conversation.rewrite import assistant_message
from gateway_compaction.core.extractive.identifier_ledger import (
    identifier_density,
    list_identifiers,
    read_sources,
    weigh_identifiers,
)
from gateway_compaction.core.summary.prompts import render_messages
from gateway_compaction.core.text.identifiers import find_identifiers
from gateway_compaction.core.text.shorten import shorten

__all__ = ["IdentifierCheck", "check_identifiers"]

Count = Callable[[str], int]
PART, PART_CHAT = 4, 10
DENSE = 1.0
LEAST_NAME = 4
OWN_LINE = re.compile(r"(?m)^identifiers: .*\n?")
GROUPED = re.compile(r"(?<=\d)[,.'\u00a0\u202f](?=\d{3}(?!\d))")


@dataclass(frozen=True, slots=True)
class IdentifierCheck:
    """A summary with the weightiest identifiers it had lost; ``unsourced`` counts those it made up."""

    text: str
    unsourced: int


def check_identifiers(
    text: str, messages: Sequence[Message], previous: str, limit: int, count: Count
) -> IdentifierCheck:
    """A model's summary of some messages and a ``previous`` summary, within ``limit`` tokens.

    What the source holds and the text lost follows it in one line, of a quarter of the limit at most.
    """
    body = OWN_LINE.sub("", text).strip() or text
    source: list[Message] = [*([assistant_message(previous)] if previous else []), *messages]
    found = [read_sources(message) for message in source]
    part = PART if identifier_density(found) >= DENSE else PART_CHAT
    line = list_identifiers(weigh_identifiers(found), body, limit // part, count)
    if not line:
        return IdentifierCheck(body, _unsourced(body, source))
    room = limit - count(line) - 1
    return IdentifierCheck(f"{shorten(body, room, count, '[…]')}\n{line}", _unsourced(body, source))


def _unsourced(text: str, source: Sequence[Message]) -> int:
    """How many identifiers of a text stand nowhere in its source, however they are written there."""
    said = render_messages(source, 0, 10**9, len).lower()
    bare = GROUPED.sub("", said)
    names = {n.lower() for n in find_identifiers(text) if len(n) >= LEAST_NAME}
    return sum(n not in said and GROUPED.sub("", n) not in bare for n in names)
