"""Pieces of messages, and the greedy choice among them where each choice makes others less worth having."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass

# Who talks, in contrast to tools, whose output is read by lines rather than by sentences.
SPEAKERS = ("assistant", "user")
# Measured on English chats; less for other scripts, which does no harm to an order of preference.
BYTES_PER_TOKEN = 4.2
# So many pieces in a row that do not fit mean that the room is used up, or as good as.
MOST_MISSES = 60


@dataclass(frozen=True, slots=True)
class Piece:
    """Verbatim text of a message.

    Attributes:
        message: the index of the message.
        place: orders the pieces of one message; about where the text stands in it.
        role: whose it is.
        text: the text.
        is_prose: sentences, which may stand on one line with others, not a line that stands alone.
    """

    message: int
    place: int
    role: str
    text: str
    is_prose: bool = False


def select_by_gain(
    bounds: Sequence[float], gain: Callable[[int], float], take: Callable[[int], bool], least: float = 0.0
) -> None:
    """Offer pieces by falling gain until sixty in a row were not taken.

    Gains only fall as other pieces are taken, so an old gain is an upper bound: a piece is looked at again
    only when it comes up, and not after every choice (lazy greedy selection). On a tie the lower number
    comes first.

    Args:
        bounds: for each piece, by number, at least the gain that it has at first.
        gain: tells the gain that a piece has now.
        take: takes a piece, and tells whether it fitted.
        least: a gain of this or less is not worth having.
    """
    waiting = [(-bound, i) for i, bound in enumerate(bounds) if bound > least]
    heapq.heapify(waiting)
    misses = 0
    while waiting and misses < MOST_MISSES:
        _, i = heapq.heappop(waiting)
        now = gain(i)
        if now <= least:
            continue
        if waiting and -now > waiting[0][0]:
            heapq.heappush(waiting, (-now, i))
        elif take(i):
            misses = 0
        else:
            misses += 1


def estimate_tokens(text: str) -> float:
    """Return about how many tokens a text has: enough for an order of preference, and counted at once."""
    length = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return length / BYTES_PER_TOKEN
