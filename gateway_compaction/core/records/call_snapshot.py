"""One call as operators look at it: what the client sent beside what the model got.

Without it nobody could say why a model has forgotten something: the rewritten request exists only for the
moment of the call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

# The fate of a message that stands before the conversation proper, such as a system prompt.
PREAMBLE = "preamble"


@dataclass(frozen=True, slots=True)
class CallSnapshot:
    """The latest call that was looked at closely: the messages of the client and those of the model.

    Attributes:
        at: seconds since 1970.
        sent: per message of the client: role, tokens, and what became of it: ``verbatim``, ``covered``,
            ``cleared``, ``shortened``, ``recalled`` (covered, and quoted) or ``preamble``.
        saw: per message of the model: role, tokens, and its origin: ``verbatim``, ``preamble``, ``summary``,
            ``acknowledgement``, ``opener``, ``cleared``, ``shortened`` or ``quoting``.
        client: the client's messages themselves, only where ``storage.content`` is ``full``.
        model: the model's messages, likewise.
        levels: tokens of the three level lines: light, medium, aggressive.
        window: tokens of the model's window.
        fixed: tokens of tools, response format and output reserve.
        covers: number of messages after the preamble that the used compaction covers.
        version: the version of that compaction, None where none was used.
        cuts: indexes in ``sent`` at which the history may be divided.
        omitted: the messages were too large to be kept.
        endpoint: where the call came in: ``chat``, ``messages`` or ``responses``; None in a record of an
            earlier version, which did not keep it.
        exchange: where the gateway keeps the conversation, and its messages were sent as they came: the
            exchange that the call became. The messages stand there and are stored once; ``client`` holds the
            preamble until they are read (see ``fill_snapshot``). 0 elsewhere.
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
    endpoint: str | None = None
    exchange: int = 0


class SnapshotBounds(NamedTuple):
    """The ends of the parts of a call.

    Attributes:
        preamble: length of the preamble, in ``sent`` and in ``saw``.
        covered_end: end in ``sent`` of what a summary replaced.
        block_end: end in ``saw`` of what stands in its place.
    """

    preamble: int
    covered_end: int
    block_end: int


def name_messages(start: int, end: int) -> str:
    """Name messages ``start`` to ``end`` (counted from 0 behind the preamble, end excluded) in words."""
    return f"message {end}" if end - start == 1 else f"messages {start + 1}–{end}"


def find_bounds(call: CallSnapshot) -> SnapshotBounds:
    """Find where preamble, covered messages and block end; without a block both ends are the preamble's."""
    preamble = next((i for i, (*_, fate) in enumerate(call.sent) if fate != PREAMBLE), len(call.sent))
    block_start = min(preamble, len(call.saw))
    if block_start == len(call.saw) or call.saw[block_start][2] != "summary":
        return SnapshotBounds(preamble, preamble, block_start)
    covered_end = min(preamble + call.covers, len(call.sent))
    # What stays is alike on both sides; whatever else was seen is the block.
    tail = len(call.sent) - covered_end
    block_end = min(len(call.saw), max(block_start + 1, len(call.saw) - tail))
    return SnapshotBounds(preamble, covered_end, block_end)


def number_messages(call: CallSnapshot) -> tuple[tuple[int | None, ...], tuple[int | None, ...]]:
    """Give each message that was sent, and each that was seen, its number, from 1 behind the preamble.

    A message that both sides have has one number. None for those of the preamble, and for what stands in a
    summary's place.
    """
    bounds = find_bounds(call)
    sent = [*[None] * bounds.preamble, *range(1, len(call.sent) - bounds.preamble + 1)]
    first = bounds.covered_end - bounds.preamble + 1
    saw = [*[None] * bounds.block_end, *range(first, first + len(call.saw) - bounds.block_end)]
    return tuple(sent), tuple(saw)
