"""One call as operators look at it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["CallSnapshot", "find_bounds", "name_messages", "number_messages"]


@dataclass(frozen=True, slots=True)
class CallSnapshot:
    """What the client sent and what the model got at the latest call that was looked at closely.

    Attributes:
        at: seconds since 1970.
        sent: per message of the client: role, tokens, and what became of it: ``verbatim``, ``covered``,
            ``cleared``, ``shortened``, ``recalled`` (covered, and quoted) or ``preamble``.
        saw: per message of the model: role, tokens, and its origin: ``verbatim``, ``preamble``, ``summary``,
            ``acknowledgement``, ``opener``, ``cleared``, ``shortened`` or ``quoting``.
        client, model: the messages themselves, only where ``storage.content`` is ``full``.
        levels: tokens of the three level lines: light, medium, aggressive.
        fixed: tokens of tools, response format and output reserve.
        cuts: indexes in ``sent`` at which the history may be divided.
        omitted: the messages were too large to be kept.
    """

    at: float
    sent: tuple[tuple[str, int, str], ...]
    saw: tuple[tuple[str, int, str], ...]
    client: tuple[Mapping[str, Any], ...] | None = None
    model: tuple[Mapping[str, Any], ...] | None = None
    levels: tuple[int, int, int] = (0, 0, 0)
    window: int = 0
    fixed: int = 0
    covers: int = 0
    version: int | None = None
    cuts: tuple[int, ...] = ()
    omitted: bool = False


PREAMBLE = "preamble"


def name_messages(start: int, end: int) -> str:
    """Messages ``start`` to ``end`` (counted from 0 behind the preamble, end excluded) in words."""
    return f"message {end}" if end - start == 1 else f"messages {start + 1}–{end}"


def find_bounds(call: CallSnapshot) -> tuple[int, int, int]:
    """How long the preamble is, and where what a summary replaced ends in ``sent``, and the block in ``saw``.

    Without a block both ends are the preamble's.
    """
    start = next((i for i, (*_, fate) in enumerate(call.sent) if fate != PREAMBLE), len(call.sent))
    saw = min(start, len(call.saw))
    if saw == len(call.saw) or call.saw[saw][2] != "summary":
        return start, start, saw
    end = min(start + call.covers, len(call.sent))
    # What stays is alike on both sides; whatever else was seen is the block.
    return start, end, min(len(call.saw), max(saw + 1, len(call.saw) - (len(call.sent) - end)))


def number_messages(call: CallSnapshot) -> tuple[tuple[int | None, ...], tuple[int | None, ...]]:
    """The number of each message that was sent and of each that was seen.

    None for those of the preamble, and for what stands in a summary's place.
    """
    start, end, block = find_bounds(call)
    sent = [None] * start + [i + 1 for i in range(len(call.sent) - start)]
    first = end - start + 1
    saw = [None] * block + [first + i for i in range(len(call.saw) - block)]
    return tuple(sent), tuple(saw)
