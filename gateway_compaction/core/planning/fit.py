"""Views that are made now, without store or model: cleared results, extracts, and shortened messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from gateway_compaction.core.conversation.digest import count_characters, digest_message
from gateway_compaction.core.conversation.messages import RESULT_ROLES, Message, declared_role
from gateway_compaction.core.conversation.rewrite import LONGEST_READ, leave_out_middle
from gateway_compaction.core.extractive.extract import Reading, build_extract, read_message
from gateway_compaction.core.planning.context import RequestContext
from gateway_compaction.core.planning.views import View, ViewBuilder
from gateway_compaction.core.records.compaction import Clip, Compaction, Segment
from gateway_compaction.core.summary.block import MIN_TEXT_TOKENS
from gateway_compaction.core.text.shorten import is_clearable, shorten

LEAST_BLOCK = 100
"""Tokens below which a summary block says too little to cover anything."""

OLD_SHARE = 0.6
"""Share of an extended block that what a model wrote before may take."""

TRIES = 4
"""Attempts to make a block short enough; each comes nearer, since its limit is not calibrated."""

CLIPS = (8, 16, 32, 64, 128, 256)
"""Parts of the window that one message may take, tried in this order until everything fits."""

LEAST_CLIP = 24
"""Tokens that every shortened message keeps."""

MOST_READ = 5_000
"""Messages that an extract is made of, the latest: Python's collector looks at all that was read of them, and
holds every request for as long."""

MOST_READ_CHARS = 4_000_000
"""Characters that an extract is made of, the latest: a million tokens, which take ten seconds to read."""


class MadeView(NamedTuple):
    """A compaction that was made for this request, and the view that it is used in."""

    compaction: Compaction
    view: View


def clear_results(views: ViewBuilder, keep_last: int) -> MadeView | None:
    """Replace old tool results by markers, in one block up to the last ``keep_last`` messages.

    In one block, since each further clearing would cost the provider's prompt cache once more. Returns None
    where there is none to replace.
    """
    context = views.context
    history, measure = context.transcript.history, context.measure
    cut = max((c for c in context.transcript.cuts if c <= len(history) - keep_last), default=0)
    if not any(is_clearable(message, context.raw_tokens) for message in history[:cut]):
        return None
    before = measure.between(0, cut)
    cleared = Compaction(context.chain[cut], cut, "cleared", window=context.window, tokens_before=before)
    view = views.build_view(cleared)
    after = view.tokens - measure.overhead - measure.between(cut, len(history))
    cleared = replace(cleared, tokens_after=after)
    return MadeView(cleared, replace(view, compaction=cleared))


def compact_early(views: ViewBuilder, keep_last: int, goal: int) -> MadeView | None:
    """Make an extract though there is room yet, because an operator asked for it.

    It leaves ``goal`` tokens, or covers all but the last ``keep_last`` messages where that is out of reach
    or reached already; it is at most half as long as what it stands for, so that something is saved. Returns
    None where nothing can be covered.
    """
    context = views.context
    cuts = [c for c in context.transcript.cuts if c <= len(context.transcript.history) - keep_last]
    if not cuts:
        return None
    cut = cuts[-1]
    if context.measure.total > goal:
        cut = next((c for c in cuts if views.tokens_with_full_block(c) <= goal), cut)
    half = max(LEAST_BLOCK, context.measure.between(0, cut) // 2)
    return _extend(views, None, cut, min(views.summary_block_limit(cut), half))


def fit(
    views: ViewBuilder, base: Compaction | None, keep_last: int, goal: int, limit: int
) -> MadeView | None:
    """Make the request fit: an extract of what ``base`` does not cover and, if need be, shorter messages.

    First the last ``keep_last`` messages stay and ``goal`` tokens are aimed at, with a whole summary block.
    Then the block becomes shorter and the tail too, until ``limit`` is met, with room for quotes while that
    is possible, and the window itself as the last resort. At the very end messages that stay are shortened.

    Args:
        views: the views of the request.
        base: the summary to build on, or None.
        keep_last: messages that shall stay as they are.
        goal: tokens that the next requests shall have room above.
        limit: tokens that must not be exceeded, if that can be.

    Returns:
        The first that fits, else the smallest; None where nothing can be cut.
    """
    context = views.context
    covered = base.covers if base else 0
    cuts = [c for c in context.transcript.cuts if c > covered]
    keeping = [c for c in cuts if c <= len(context.transcript.history) - keep_last]
    for cut in keeping:
        if views.tokens_with_full_block(cut) <= goal:
            return _cover(views, base, cut, views.summary_block_limit(cut))
    harder = [*keeping[-1:], *cuts[len(keeping) :], *([covered] if base else [])]
    for most in (limit - min(views.quotes.budget, context.levels.gap), limit, context.window):
        for cut in harder:
            made = _cover_within(views, base, cut, most)
            if made is not None:
                return made
    return _clip_until_fit(views, base, harder, limit) if context.transcript.history else None


def _cover_within(views: ViewBuilder, base: Compaction | None, cut: int, most: int) -> MadeView | None:
    """Cover with the longest block that leaves all within ``most`` tokens; None where that is too short."""
    room = most - views.tokens_beside_block(cut) - views.pinned_tokens
    for _ in range(TRIES):
        if room < LEAST_BLOCK:
            break
        made = _cover(views, base, cut, min(room, views.summary_block_limit(cut)))
        over = made.view.tokens - most
        if over <= 0:
            return made
        # A block's limit is not calibrated, its tokens in the view are.
        room = max(room - over, min(room - 1, LEAST_BLOCK))
    return None


def _cover(views: ViewBuilder, base: Compaction | None, cut: int, limit: int) -> MadeView:
    """Cover the messages up to ``cut`` with a block of at most ``limit`` tokens.

    What a model wrote of exactly these messages stays its record, sent shorter: a pure function of the
    request, so that it is the same at every call, and the whole of it is there for a larger window.
    """
    if base is None or base.kind != "model" or base.covers != cut:
        return _extend(views, base, cut, limit)
    shorter = replace(base, limit=limit if base.limit is None else min(limit, base.limit))
    return MadeView(shorter, views.build_view(shorter))


def _extend(views: ViewBuilder, base: Compaction | None, cut: int, limit: int) -> MadeView:
    """Lay an extract behind what a model wrote, up to ``cut``.

    An older extract is not built upon but made anew from its source, so that nothing is shortened twice.
    """
    context, segments, start = views.context, list[Segment](), 0
    room, parent = views.text_room(cut, limit), None
    if base is not None and base.kind == "model":
        start, parent = base.covers, base.digest
        if base.text:
            longest = max(MIN_TEXT_TOKENS, int(room * OLD_SHARE))
            text = context.redactor.mask_text(base.text, context.redactor.marks(start))
            old = shorten(text, longest, context.raw_tokens, "[…]")
            segments.append(Segment(0, start, old))
            room -= context.raw_tokens(old)
    if room >= MIN_TEXT_TOKENS:
        text = _extract(context, start, cut, room, views.text_beside_summary(cut, limit))
        if text:
            segments.append(Segment(start, cut, text))
    extended = Compaction(
        context.chain[cut],
        cut,
        "extractive",
        tuple(segments),
        limit,
        since=context.transcript.last_user or 0,
        window=context.window,
        parent=parent,
        tokens_before=context.measure.between(0, cut),
        rate=context.rate,
    )
    view = views.build_view(extended)
    # Only what covers nothing has no message in its place.
    assert view.summary_message is not None
    extended = replace(extended, tokens_after=views.tokens_in_place(cut, view.summary_message))
    return MadeView(extended, replace(view, compaction=extended))


def _extract(context: RequestContext, start: int, cut: int, room: int, beside: str) -> str:
    """Extract some messages in at most ``room`` tokens; what ``beside`` says already is left out.

    Secrets are marked, though the extract goes to the model that has just read them: it is stored after the
    call, and later calls must send the same bytes.
    """
    redactor, history = context.redactor, context.transcript.history

    def build() -> str:
        marks, first = redactor.marks(cut), _find_first_read(history, start, cut)
        messages = [*map(leave_out_middle, redactor.mask_history(first, cut, marks))]
        readings, shown = _read(context, messages, first), redactor.mask_text(beside, marks)
        return build_extract(messages, room, context.raw_tokens, readings, shown)

    key = ("extract", start, context.chain[cut], room, beside, redactor.detector)
    return context.caches.frames.get(key, build)


def _read(context: RequestContext, masked: Sequence[Message], start: int) -> Sequence[Reading]:
    """Read what an extract needs of masked messages, from ``start`` on; each is read only once."""
    end = start + len(masked)
    messages = zip(context.digests[start:end], context.transcript.history[start:end], masked, strict=True)
    # Most are not changed by masking, and what is has a digest of its own.
    named = ((digest if new is old else digest_message(new), new) for digest, old, new in messages)
    return [context.caches.readings.get(name, partial(read_message, message)) for name, message in named]


def _find_first_read(history: Sequence[Message], start: int, cut: int) -> int:
    """Return the first of the messages up to a cut that are read: of a huge history the latest."""
    characters = 0
    for index in range(cut - 1, max(start, cut - MOST_READ) - 1, -1):
        characters += min(LONGEST_READ, count_characters(history[index]))
        if characters > MOST_READ_CHARS:
            return index + 1
    return max(start, cut - MOST_READ)


def read_ahead(context: RequestContext, start: int) -> None:
    """Read the messages from ``start`` on after a call, so that an extract of them is quick when needed.

    What an earlier call of the same history has read is not read again: that call's mark stands in the cache
    of readings, and goes when they do. No more is read than the cache keeps beside it: with more, each
    reading would push out one that is still to be used.
    """
    views, history, readings = ViewBuilder(context), context.transcript.history, context.caches.readings
    end = min(len(history), start + readings.entries - 1)

    def name_mark(index: int) -> tuple[object, ...]:
        return ("read ahead", context.chain[index], start, context.redactor.detector)

    read = next((index for index in range(end, start, -1) if name_mark(index) in readings), start)
    first = _find_first_read(history, read, end)
    _read(context, [*map(leave_out_middle, context.redactor.mask_history(first, end))], first)
    for digest, message in zip(context.digests[read:], history[read:], strict=True):
        views.find_rules(message, digest)
    readings.get(name_mark(end), lambda: True)


def _clip_until_fit(
    views: ViewBuilder, base: Compaction | None, cuts: list[int], limit: int
) -> MadeView | None:
    """Cover as much as can be, and shorten what stays until it fits; the smallest where nothing does.

    Results of tools give way before the summary does. The last question stays whole, and so does an answer
    that the model is to go on with. Where nothing may be covered all messages stay, shortened.
    """
    context = views.context
    history, length = context.transcript.history, len(context.transcript.history)
    spare = set() if context.transcript.last_user is None else {context.transcript.last_user}
    if declared_role(history[-1]) not in RESULT_ROLES:
        spare.add(length - 1)
    # A clearing that covers nothing stands for messages that are shortened only.
    uncovered = Compaction(context.chain[0], 0, "cleared")
    smallest: MadeView | None = None
    cut = max(cuts, default=None)
    blocks = [0]
    if cut is not None:
        blocks = [views.summary_block_limit(cut), min(LEAST_BLOCK, views.summary_block_limit(cut))]
    for block in blocks:
        covering = uncovered if cut is None else _cover(views, base, cut, block).compaction
        for part in CLIPS:
            most = max(LEAST_CLIP, context.window // part)
            clip = Clip(length, most, tuple(sorted(spare)), context.chain[length])
            clipped = replace(covering, clip=clip, window=context.window)
            made = MadeView(clipped, replace(views.build_view(clipped), compaction=clipped))
            if smallest is None or made.view.tokens < smallest.view.tokens:
                smallest = made
            if smallest.view.tokens <= limit:
                return smallest
    return smallest
