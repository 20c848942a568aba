"""How a summary grows: into which pieces new messages are taken, and which old segments are merged.

Segments that were written are never edited. Only where a new summary would pass its length are neighbours
merged, four by four, the most alike in span first: so what was said long ago has been rewritten a few times,
not once for every summary since.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from gateway_compaction.core.conversation.messages import Message, text_of
from gateway_compaction.core.conversation.transcript import find_turn_starts
from gateway_compaction.core.extractive.extract import build_extract
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.records.compaction import Compaction, Segment
from gateway_compaction.core.text.shorten import shorten

__all__ = [
    "MIN_SEGMENT_TOKENS",
    "Piece",
    "build_extract_segments",
    "compute_segment_limit",
    "find_merge_run",
    "find_min_length",
    "fit_pieces",
    "is_merge_needed",
    "replace_run",
    "split_into_pieces",
]

Count = Callable[[str], int]
SEGMENT_TOKENS = 250
SOURCE_TOKENS = 4_000
MERGED_AT_ONCE = 4
MIN_SEGMENT_TOKENS, LEAST_EXTRACT = 40, 24
SLACK, OVER = 1.2, 1.25
TURNS, MOST_PIECES = 3, 8
OLD_SHARE, RECENT_SHARE = 0.6, 0.75


@dataclass(frozen=True, slots=True)
class Piece:
    """Messages that one new segment is to stand for.

    Attributes:
        start: position of the first message.
        tokens: of the messages.
        limit: longest text in tokens.
        chars: length to aim at in characters; None where the limit decides.
        before: tokens of what the text stands for besides, which a previous summary tells.
    """

    start: int
    messages: tuple[Message, ...]
    tokens: int
    limit: int
    chars: int | None = None
    before: int = 0

    @property
    def end(self) -> int:
        """Position behind the last message."""
        return self.start + len(self.messages)

    @property
    def aim(self) -> int:
        """Tokens that its text will likely have."""
        return self.limit if self.chars is None else int(self.limit / SLACK)


def find_min_length(longest: int) -> int:
    """Tokens below which a new segment is not worth writing."""
    return min(MIN_SEGMENT_TOKENS, longest // 2)


def compute_segment_limit(longest: int, left: int) -> int:
    """The longest new segment, where a summary may have ``longest`` tokens and has ``left`` of them free.

    About 250 tokens; in a short summary a quarter of it, so that there is something to merge, or half of what
    is free.
    """
    return min(SEGMENT_TOKENS, max(longest // 4, left // 2, find_min_length(longest)))


def split_into_pieces(
    messages: Sequence[Message], start: int, tokens: Sequence[int], policy: Policy, longest: int, left: int
) -> list[Piece]:
    """What new messages are taken into, by ``summary.strategy``: pieces of about equal size, or of turns."""
    rate, limit = policy.summary.rate, compute_segment_limit(longest, left)
    if policy.summary.strategy == "turns":
        cuts = _turn_cuts(messages, policy.triggers.turns or TURNS)
        cuts = [0, *cuts[1:][-MOST_PIECES:]]
    else:
        cuts = _even_cuts(tokens, limit, longest, rate)
    return [_piece(messages, start, tokens, a, b, limit, rate) for a, b in pairwise([*cuts, len(messages)])]


def fit_pieces(pieces: Sequence[Piece], left: int) -> list[Piece]:
    """The pieces with shorter limits where ``left`` tokens are less than they ask for; one, if need be."""
    wanted = sum(p.limit for p in pieces)
    if wanted <= left:
        return list(pieces)
    if left >= MIN_SEGMENT_TOKENS * len(pieces):
        return [_shorter(p, left / wanted) for p in pieces]
    messages = tuple(m for p in pieces for m in p.messages)
    return [Piece(pieces[0].start, messages, sum(p.tokens for p in pieces), left)]


def build_extract_segments(
    messages: Sequence[Message],
    covers: int,
    base: Compaction | None,
    policy: Policy,
    longest: int,
    count: Count,
    shown: str = "",
) -> tuple[Segment, ...]:
    """The summary without a model: one text, or by turns one for each few of them.

    What stands in the text ``shown`` is read beside it.
    """
    start, room = 0, longest
    kept: tuple[Segment, ...] = ()
    if base is not None and base.text:
        start = base.covers
        kept = (Segment(0, start, shorten(base.text, int(room * OLD_SHARE), count, "[…]")),)
        room -= count(kept[0].text)
    if policy.summary.strategy != "turns":
        text = build_extract(messages, max(LEAST_EXTRACT, room), count, shown=shown)
        return (*kept, Segment(start, covers, text))
    rate, limit = policy.summary.rate, compute_segment_limit(room, room)
    tokens = [count(text_of(m)) for m in messages]
    cuts = [*_turn_cuts(messages, policy.triggers.turns or TURNS), len(messages)]
    pieces = [_piece(messages, start, tokens, a, b, limit, rate) for a, b in pairwise(cuts)]
    pieces = _recent(pieces, room)
    told = [build_extract(p.messages, p.limit, count, shown=shown) for p in pieces]
    return (*kept, *(Segment(p.start, p.end, text) for p, text in zip(pieces, told, strict=True)))


def _recent(pieces: list[Piece], room: int) -> list[Piece]:
    """The last pieces as they are and the older ones as one, where all are longer than ``room``."""
    if sum(p.limit for p in pieces) <= room * OVER:
        return pieces
    used, first = 0, len(pieces)
    while first > 1 and used + pieces[first - 1].limit <= room * RECENT_SHARE:
        first -= 1
        used += pieces[first].limit
    return [*fit_pieces(pieces[:first], max(LEAST_EXTRACT, room - used)), *pieces[first:]]


def _even_cuts(tokens: Sequence[int], limit: int, longest: int, rate: float | None) -> list[int]:
    """Where pieces of about equal size begin: one for every 4,000 tokens, in at most half of the summary.

    With a ``rate`` as many as its share of the tokens fills.
    """
    total = sum(tokens)
    wanted = total // SOURCE_TOKENS if rate is None else int(total * rate) // SEGMENT_TOKENS
    parts = max(1, min(wanted, longest // max(1, limit) // 2, MOST_PIECES, len(tokens)))
    cuts, done = [0], list(accumulate(tokens))
    for part in range(1, parts):
        middle = next(i for i, t in enumerate(done) if t * parts >= part * total) + 1
        cuts.append(min(max(middle, cuts[-1] + 1), len(tokens) - parts + part))
    return cuts


def _turn_cuts(messages: Sequence[Message], step: int) -> list[int]:
    """Where every ``step`` turns begin."""
    openers = find_turn_starts(messages)
    return [0, *openers[step::step]]


def is_merge_needed(
    kept: Sequence[Segment], sizes: Sequence[int], pieces: Sequence[Piece], longest: int
) -> bool:
    """Whether old segments, of so many tokens, must be merged before new ones are added.

    Fewer than four are merged only where not even one new segment would fit.
    """
    left = longest - sum(sizes)
    if left >= sum(p.aim for p in pieces):
        return False
    if len(kept) >= MERGED_AT_ONCE:
        return True
    return left < pieces[0].aim and (len(kept) > 1 or sum(sizes) > longest // 2)


def find_merge_run(segments: Sequence[Segment]) -> tuple[int, int]:
    """The run of (at most) four neighbours of which the longest spans least; of equals the oldest."""
    size = min(MERGED_AT_ONCE, len(segments))
    runs = range(len(segments) - size + 1)
    first = min(runs, key=lambda i: max(s.end - s.start for s in segments[i : i + size]))
    return first, first + size


def replace_run(segments: Sequence[Segment], run: tuple[int, int], text: str) -> tuple[Segment, ...]:
    """The segments with one run of them replaced by ``text``."""
    first, end = run
    new = Segment(segments[first].start, segments[end - 1].end, text)
    return (*segments[:first], new, *segments[end:])


def _piece(
    messages: Sequence[Message],
    start: int,
    tokens: Sequence[int],
    a: int,
    b: int,
    limit: int,
    rate: float | None,
) -> Piece:
    taken, size = tuple(messages[a:b]), sum(tokens[a:b])
    if rate is None:
        return Piece(start + a, taken, size, limit)
    chars = int(sum(len(text_of(m)) for m in taken) * rate)
    # Characters are aimed at, tokens are the bound: a little over is not worth cutting a sentence.
    return Piece(start + a, taken, size, max(MIN_SEGMENT_TOKENS, int(size * rate * SLACK)), max(1, chars))


def _shorter(piece: Piece, share: float) -> Piece:
    chars = None if piece.chars is None else max(1, int(piece.chars * share))
    return replace(piece, limit=int(piece.limit * share), chars=chars)
