"""The growth of a summary: new messages are taken into pieces, and old segments are merged.

Segments that were written are never edited. Only where a new summary would pass its length are neighbours
merged, four by four, the most alike in span first: so what was said long ago has been rewritten a few times,
not once for every summary since.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from gateway_compaction.core.conversation.messages import Message, told_text_of
from gateway_compaction.core.conversation.transcript import find_turn_starts
from gateway_compaction.core.extractive.extract import build_extract
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.records.compaction import Compaction, Segment
from gateway_compaction.core.text.shorten import shorten

Count = Callable[[str], int]
# A new segment has about so many tokens where the summary has room for it.
SEGMENT_TOKENS = 250
# One new segment stands for about so many tokens of messages.
SOURCE_TOKENS = 4_000
# Neighbours that become one.
MERGED_AT_ONCE = 4
# Fewest tokens that are worth asking a model for.
MIN_SEGMENT_TOKENS = 40
# Fewest tokens of an extract, which costs no call.
MIN_EXTRACT_TOKENS = 24
# Where characters are aimed at, the bound in tokens is so much wider: cutting a sentence is not worth it.
SLACK = 1.2
# Extracts by turns may exceed the room so far; the block shortens them once more.
EXTRACT_SLACK = 1.25
# Turns of one segment where ``triggers.turns`` is not set.
TURNS_PER_SEGMENT = 3
# Most segments written at one time: each is a call.
MAX_PIECES = 8
# Share of the room that an older summary keeps beside an extract of what followed it.
OLD_SHARE = 0.6
# Share of the room that the last pieces take before the older ones are joined.
RECENT_SHARE = 0.75


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of messages that one new segment is to stand for.

    Attributes:
        start: position of the first message.
        messages: the messages.
        tokens: tokens of the messages.
        limit: most tokens of the segment's text.
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
        """Tokens that the text will likely have."""
        return self.limit if self.chars is None else int(self.limit / SLACK)


@dataclass(frozen=True, slots=True)
class Coverage:
    """The messages that a summary is to stand for, and what is there already.

    Attributes:
        messages: the messages that no earlier summary tells.
        covers: number of messages from the beginning of the conversation to the end of these.
        base: the compaction that tells what came before them, or None.
    """

    messages: Sequence[Message]
    covers: int
    base: Compaction | None = None


def find_min_length(longest: int) -> int:
    """Return the tokens below which a new segment of a summary of ``longest`` is not worth writing."""
    return min(MIN_SEGMENT_TOKENS, longest // 2)


def compute_segment_limit(longest: int, left: int) -> int:
    """Return the most tokens of a new segment in a summary of ``longest`` tokens, ``left`` of them free.

    About 250 tokens; in a short summary a quarter of it, so that there is something to merge, or half of what
    is free.
    """
    return min(SEGMENT_TOKENS, max(longest // 4, left // 2, find_min_length(longest)))


def split_into_pieces(
    messages: Sequence[Message], start: int, tokens: Sequence[int], policy: Policy, longest: int, left: int
) -> list[Piece]:
    """Split new messages by ``summary.strategy``: into pieces of about equal size, or of turns.

    Args:
        messages: the new messages.
        start: position of the first one.
        tokens: tokens of each.
        policy: names the strategy and the rate.
        longest: most tokens of the whole summary.
        left: how many of them are free.
    """
    limit = compute_segment_limit(longest, left)
    if policy.summary.strategy == "turns":
        cuts = _find_turn_cuts(messages, policy)
        # Beyond so many calls the oldest turns are one piece.
        cuts = [0, *cuts[1:][-MAX_PIECES:]]
    else:
        cuts = _find_even_cuts(tokens, limit, longest, policy.summary.rate)
    return _build_pieces(messages, start, tokens, cuts, limit, policy.summary.rate)


def close_earlier(
    base: Compaction | None, since: int, longest: int, count: Count
) -> tuple[tuple[Segment, ...], str]:
    """Divide a running summary where the work changed: what was told before it stays, as a text of its own.

    Otherwise each rewriting would mix the old plan into the new one.

    Args:
        base: the summary so far.
        since: number of messages at which the work changed, 0 for never.
        longest: most tokens of the whole summary, of which the old text gets half.
        count: counts the tokens of a text.

    Returns:
        The text that is closed, as one segment or none, and the text that goes on.
    """
    segments = base.segments if base is not None else ()
    closed = [segment for segment in segments if segment.end <= since]
    running = "\n\n".join(segment.text for segment in segments[len(closed) :] if segment.text)
    if not closed:
        return (), running
    text = shorten("\n\n".join(segment.text for segment in closed), longest // 2, count, "[…]")
    return (Segment(0, closed[-1].end, text),), running


def fit_pieces(pieces: Sequence[Piece], left: int) -> list[Piece]:
    """Return the pieces with shorter limits where ``left`` tokens are too few; one piece, if need be."""
    wanted = sum(piece.limit for piece in pieces)
    if wanted <= left:
        return list(pieces)
    if left >= MIN_SEGMENT_TOKENS * len(pieces):
        return [_shorten_piece(piece, left / wanted) for piece in pieces]
    messages = tuple(message for piece in pieces for message in piece.messages)
    return [Piece(pieces[0].start, messages, sum(piece.tokens for piece in pieces), left)]


def build_extract_segments(
    coverage: Coverage, policy: Policy, longest: int, count: Count, text_beside: str = ""
) -> tuple[Segment, ...]:
    """Build a summary without a model: one text, or by turns one for each few of them.

    Args:
        coverage: what the summary stands for; what a base tells is kept, shortened.
        policy: names the strategy.
        longest: most tokens of the summary.
        count: counts the tokens of a text.
        text_beside: what is read beside the summary; an extract does not repeat it.
    """
    start = 0
    room = longest
    old: tuple[Segment, ...] = ()
    base, messages = coverage.base, coverage.messages
    if base is not None and base.text:
        start = base.covers
        old = (Segment(0, start, shorten(base.text, int(room * OLD_SHARE), count, "[…]")),)
        room -= count(old[0].text)
    if policy.summary.strategy != "turns":
        text = build_extract(messages, max(MIN_EXTRACT_TOKENS, room), count, shown=text_beside)
        return (*old, Segment(start, coverage.covers, text))
    limit = compute_segment_limit(room, room)
    tokens = [count(told_text_of(message)) for message in messages]
    cuts = _find_turn_cuts(messages, policy)
    pieces = _build_pieces(messages, start, tokens, cuts, limit, policy.summary.rate)
    new = [
        Segment(piece.start, piece.end, build_extract(piece.messages, piece.limit, count, shown=text_beside))
        for piece in _join_old_pieces(pieces, room)
    ]
    return (*old, *new)


def _join_old_pieces(pieces: list[Piece], room: int) -> list[Piece]:
    """Return the last pieces as they are and the older ones as one, where all are longer than ``room``."""
    if sum(p.limit for p in pieces) <= room * EXTRACT_SLACK:
        return pieces
    used = 0
    first = len(pieces)
    while first > 1 and used + pieces[first - 1].limit <= room * RECENT_SHARE:
        first -= 1
        used += pieces[first].limit
    return [*fit_pieces(pieces[:first], max(MIN_EXTRACT_TOKENS, room - used)), *pieces[first:]]


def _find_even_cuts(tokens: Sequence[int], limit: int, longest: int, rate: float | None) -> list[int]:
    """Find where pieces of about equal size begin.

    There is one for every 4,000 tokens, in at most half of the summary; with a ``rate`` there are as many as
    its share of the tokens fills.
    """
    total = sum(tokens)
    wanted = total // SOURCE_TOKENS if rate is None else int(total * rate) // SEGMENT_TOKENS
    parts = max(1, min(wanted, longest // max(1, limit) // 2, MAX_PIECES, len(tokens)))
    cuts = [0]
    done = list(accumulate(tokens))
    for part in range(1, parts):
        middle = next(i for i, t in enumerate(done) if t * parts >= part * total) + 1
        cuts.append(min(max(middle, cuts[-1] + 1), len(tokens) - parts + part))
    return cuts


def _find_turn_cuts(messages: Sequence[Message], policy: Policy) -> list[int]:
    """Find where every ``triggers.turns`` turns begin."""
    step = policy.triggers.turns or TURNS_PER_SEGMENT
    openers = find_turn_starts(messages)
    return [0, *openers[step::step]]


def is_merge_needed(
    kept: Sequence[Segment], sizes: Sequence[int], pieces: Sequence[Piece], longest: int
) -> bool:
    """Tell whether old segments must be merged before new ones are added.

    Fewer than four are merged only where not even one new segment would fit.

    Args:
        kept: the old segments.
        sizes: tokens of each.
        pieces: the new ones; at least one.
        longest: most tokens of the whole summary.
    """
    left = longest - sum(sizes)
    if left >= sum(p.aim for p in pieces):
        return False
    if len(kept) >= MERGED_AT_ONCE:
        return True
    return left < pieces[0].aim and (len(kept) > 1 or sum(sizes) > longest // 2)


def find_merge_run(segments: Sequence[Segment]) -> tuple[int, int]:
    """Find the run (first, end) of at most four neighbours to merge: the longest of them spans least.

    Of equal runs it is the oldest. So no text is rewritten much more often than the others.
    """
    size = min(MERGED_AT_ONCE, len(segments))
    runs = range(len(segments) - size + 1)
    first = min(runs, key=lambda i: max(s.end - s.start for s in segments[i : i + size]))
    return first, first + size


def replace_run(segments: Sequence[Segment], run: tuple[int, int], text: str) -> tuple[Segment, ...]:
    """Return the segments with one run of them, (first, end), replaced by ``text``."""
    first, end = run
    new = Segment(segments[first].start, segments[end - 1].end, text)
    return (*segments[:first], new, *segments[end:])


def _build_pieces(
    messages: Sequence[Message],
    start: int,
    tokens: Sequence[int],
    cuts: Sequence[int],
    limit: int,
    rate: float | None,
) -> list[Piece]:
    """Build the pieces that begin at ``cuts``; with a ``rate`` its share of their texts sets their length."""
    pieces: list[Piece] = []
    for first, end in pairwise([*cuts, len(messages)]):
        run = tuple(messages[first:end])
        size = sum(tokens[first:end])
        if rate is None:
            pieces.append(Piece(start + first, run, size, limit))
            continue
        chars = int(sum(len(told_text_of(message)) for message in run) * rate)
        longest = max(MIN_SEGMENT_TOKENS, int(size * rate * SLACK))
        pieces.append(Piece(start + first, run, size, longest, max(1, chars)))
    return pieces


def _shorten_piece(piece: Piece, share: float) -> Piece:
    chars = None if piece.chars is None else max(1, int(piece.chars * share))
    return replace(piece, limit=int(piece.limit * share), chars=chars)
