"""Find the identifiers that later messages use again, which a compaction in between must keep.

The pattern is not the one that writes the identifier ledger: with the same one, a spelling that the ledger
does not know would never count as lost.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from gateway_compaction.core.conversation.messages import (
    Message,
    calls_of,
    role_of,
    spell_arguments,
    told_text_of,
)

# Tags and the line numbers of listings are skipped as a whole.
PIECE = re.compile(
    r"(?m)</?\w[\w-]*/?>|^\s*\d+[:|-]|https?://[^\s\"'`<>()\[\]{}]+|[^\s\"'`<>()\[\]{},;:|=*$!?\\]+"
)
EDGES = ".:-+&%@#"
LETTER, DIGIT = re.compile(r"[A-Za-z]"), re.compile(r"\d")
KINDS = re.compile(
    r"https?://\S+\.\S+"  # addresses
    r"|[\w.+-]+@[\w-]+\.\w+"
    r"|[.~]*(?:/[\w.@+-]+)+|[\w.-]+(?:/[\w.@+-]+){2,}|(?=[^\d]\S*[._\d])[\w.-]+/[\w.@+-]+"  # paths
    r"|[\w-]+(?:\.[\w-]+)*\.[A-Za-z]\w{0,7}"  # files, dotted names
    r"|\w*[A-Za-z0-9]_\w+"  # snake_case
    r"|[a-z]+[A-Z]\w*|(?:[A-Z][a-z0-9]+){2,}"  # camelCase
    r"|[A-Za-z]\w*-?\d[\w-]*|(?=\w*[A-Z])(?=\w*\d)[\w-]{4,}|(?=[a-f]*\d)[0-9a-f]{7,}"  # codes
    r"|\d{4}-\d\d-\d\d|(?!(?:19|20)\d\d\Z)\d{4,}"  # dates, numbers, not years
)
SHORTEST, LONGEST = 4, 100
SHARES = (0.25, 0.5, 0.75)
LEAST_NEEDED = 3


@dataclass(frozen=True, slots=True)
class Point:
    """A call of a recorded conversation: the messages sent, and the identifiers of theirs that the rest
    needs.
    """

    sent: tuple[Message, ...]
    needed: tuple[str, ...]


def find_names(text: str) -> set[str]:
    """Return the identifiers of a text."""
    return {name for piece in PIECE.findall(text) if (name := _clean_name(piece)) is not None}


@lru_cache(maxsize=100_000)
def _clean_name(piece: str) -> str | None:
    bare = piece.lstrip(EDGES).rstrip(EDGES + "/")
    if not SHORTEST <= len(bare) <= LONGEST or "base64" in bare:
        return None
    return bare if KINDS.fullmatch(bare) else None


def find_points(messages: Sequence[Message]) -> list[Point]:
    """Return up to three calls: a quarter, a half and three quarters into a conversation.

    An identifier is needed where the model itself writes it later, in text or calls, and it was shown before
    the call, but is not shown again between the call and its use.
    """
    calls = [i for i, m in enumerate(messages) if i and role_of(m) == "assistant"]
    found = []
    for at in dict.fromkeys(calls[int(share * len(calls))] for share in SHARES if calls):
        needed = _find_needed(messages, at)
        if len(needed) >= LEAST_NEEDED:
            found.append(Point(tuple(messages[:at]), tuple(sorted(needed))))
    return found


def _find_needed(messages: Sequence[Message], at: int) -> set[str]:
    before = {name for m in messages[:at] for name in find_names(text_with_arguments(m))}
    needed: set[str] = set()
    shown: set[str] = set()
    for message in messages[at:]:
        names = find_names(text_with_arguments(message))
        if role_of(message) == "assistant":
            needed |= (names & before) - shown
        shown |= names
    return needed


def text_with_arguments(message: Message) -> str:
    """Return what a message says: its text, and the arguments of its calls."""
    arguments = (entry for call in calls_of(message) for entry in spell_arguments(call))
    return "\n".join([told_text_of(message), *arguments])
