"""A check of a model's summary by identifiers: those that it lost of its source, those that it made up.

Names, numbers and paths are what a summary must not get wrong, and they can be compared without a model: an
identifier stands in the source or it does not.
"""

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
from gateway_compaction.core.summary.prompts import ShownLimit, render_messages
from gateway_compaction.core.text.identifiers import find_identifiers
from gateway_compaction.core.text.shorten import shorten

Count = Callable[[str], int]
# The line of lost identifiers takes at most this part of the limit: a fourth where the source is dense with
# identifiers, such as the work of a coding agent, a tenth in a chat.
DENSE_PART = 4
CHAT_PART = 10
# Identifiers among a hundred words from which a source is dense (most chats are below, agents at about ten).
DENSE = 1.0
# Shorter identifiers are too easily spelled in another word to say that they were made up.
MIN_IDENTIFIER_CHARS = 4
# The line that an earlier check added, which a model copied from the previous summary.
OWN_LINE = re.compile(r"(?m)^identifiers: .*\n?")
# Separators between thousands: "12,500" and "12500" are one number.
THOUSANDS = re.compile(r"(?<=\d)[,.'\u00a0\u202f](?=\d{3}(?!\d))")


@dataclass(frozen=True, slots=True)
class IdentifierCheck:
    """A summary with the weightiest identifiers that it had lost.

    Attributes:
        text: the summary, with a line of them behind it where there are any.
        unsourced: number of identifiers in it that stand nowhere in its source.
    """

    text: str
    unsourced: int


def check_identifiers(
    text: str, messages: Sequence[Message], previous: str, limit: int, count: Count
) -> IdentifierCheck:
    """Add the identifiers that a model's summary lost, and count those that it made up.

    Args:
        text: the summary, accepted.
        messages: the messages that it stands for.
        previous: the summary that it continues, a source as well; may be empty.
        limit: most tokens of the result.
        count: counts the tokens of a text.
    """
    body = OWN_LINE.sub("", text).strip() or text
    source = [*messages]
    if previous:
        source.insert(0, assistant_message(previous))
    readings = [read_sources(message) for message in source]
    part = DENSE_PART if identifier_density(readings) >= DENSE else CHAT_PART
    line = list_identifiers(weigh_identifiers(readings), body, limit // part, count)
    unsourced = _count_unsourced(body, source)
    if not line:
        return IdentifierCheck(body, unsourced)
    room = limit - count(line) - 1
    return IdentifierCheck(f"{shorten(body, room, count, '[…]')}\n{line}", unsourced)


def _count_unsourced(text: str, source: Sequence[Message]) -> int:
    """Count the identifiers of a text that stand nowhere in its source, however they are written there."""
    told = render_messages(source, 0, ShownLimit(10**9), len).lower()
    told_bare = THOUSANDS.sub("", told)
    names = {name.lower() for name in find_identifiers(text) if len(name) >= MIN_IDENTIFIER_CHARS}
    return sum(name not in told and THOUSANDS.sub("", name) not in told_bare for name in names)
