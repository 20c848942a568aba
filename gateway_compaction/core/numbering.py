"""How messages are numbered for people: from 1 behind the preamble, the same message alike on both sides."""

from __future__ import annotations

from gateway_compaction.core.last_call import LastCall

__all__ = ["messages", "numbers", "parted"]

PREAMBLE = "preamble"


def messages(start: int, end: int) -> str:
    """Messages ``start`` to ``end`` (counted from 0 behind the preamble, end excluded) in words."""
    return f"message {end}" if end - start == 1 else f"messages {start + 1}–{end}"


def parted(call: LastCall) -> tuple[int, int, int]:
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


def numbers(call: LastCall) -> tuple[tuple[int | None, ...], tuple[int | None, ...]]:
    """The number of each message that was sent and of each that was seen.

    None for those of the preamble, and for what stands in a summary's place.
    """
    start, end, block = parted(call)
    sent = [None] * start + [i + 1 for i in range(len(call.sent) - start)]
    first = end - start + 1
    saw = [None] * block + [first + i for i in range(len(call.saw) - block)]
    return tuple(sent), tuple(saw)
