"""How messages are numbered for people: from 1 behind the preamble, the same message alike on both sides."""

from __future__ import annotations

from collections.abc import Sequence

from gateway_compaction.core.last_call import LastCall

__all__ = ["messages", "numbers", "parted"]

IN_BLOCK = frozenset({"summary", "acknowledgement", "opener"})
REPLACED = frozenset({"covered", "recalled"})
PREAMBLE = "preamble"


def messages(start: int, end: int) -> str:
    """Messages ``start`` to ``end`` (counted from 0 behind the preamble, end excluded) in words."""
    return f"message {end}" if end - start == 1 else f"messages {start + 1}–{end}"


def parted(call: LastCall) -> tuple[int, int, int]:
    """How long the preamble is, and where what a summary replaced ends in ``sent``, and the block in ``saw``.

    Without a block both ends are the preamble's.
    """
    start = _while([fate for *_, fate in call.sent], 0, {PREAMBLE})
    saw = min(start, len(call.saw))
    block = _while([fate for *_, fate in call.saw], saw, IN_BLOCK)
    if block == saw:
        return start, start, saw
    return start, _while([fate for *_, fate in call.sent], start, REPLACED), block


def numbers(call: LastCall) -> tuple[tuple[int | None, ...], tuple[int | None, ...]]:
    """The number of each message that was sent and of each that was seen.

    None for those of the preamble, and for what stands in a summary's place.
    """
    start, end, block = parted(call)
    sent = [None] * start + [i + 1 for i in range(len(call.sent) - start)]
    first = end - start + 1
    saw = [None] * block + [first + i for i in range(len(call.saw) - block)]
    return tuple(sent), tuple(saw)


def _while(fates: Sequence[str], start: int, among: frozenset[str] | set[str]) -> int:
    """Where the first fate stands, from ``start`` on, that is none of these."""
    return next((i for i in range(start, len(fates)) if fates[i] not in among), len(fates))
