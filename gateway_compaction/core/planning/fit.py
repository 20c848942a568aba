"""Making a request fit now, without store or model."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from gateway_compaction.core.conversation.messages import RESULT_ROLES, declared_role
from gateway_compaction.core.extractive.extract import Reading, extract, read
from gateway_compaction.core.planning.render import View
from gateway_compaction.core.planning.views import ViewBuilder
from gateway_compaction.core.records.compaction import Clip, Compaction, Segment
from gateway_compaction.core.summary.block import LEAST_TEXT
from gateway_compaction.core.text.shorten import is_clearable, shorten

__all__ = ["clear", "compacted", "fit", "read_ahead"]

LEAST_BLOCK = 100
OLD_SHARE = 0.6
CLIPS = (8, 16, 32, 64, 128, 256)
TRIES = 4
LEAST_CLIP = 24


def clear(views: ViewBuilder, keep_last: int) -> tuple[Compaction, View] | None:
    """All old tool results replaced in one block, up to the last ``keep_last`` messages."""
    history = views.transcript.history
    cuts = [c for c in views.transcript.cuts if c <= len(history) - keep_last]
    if not cuts or not any(is_clearable(m, views.count) for m in history[: cuts[-1]]):
        return None
    cut = cuts[-1]
    before = views.measure.between(0, cut)
    made = Compaction(views.chain[cut], cut, "cleared", window=views.window, tokens_before=before)
    view = views.view(made)
    after = view.tokens - views.measure.overhead - views.measure.between(cut, len(history))
    made = replace(made, tokens_after=after)
    return made, replace(view, compaction=made)


def compacted(views: ViewBuilder, keep_last: int, goal: int) -> tuple[Compaction, View] | None:
    """An extract though there is room yet: to ``goal`` tokens, or of all but the last ``keep_last`` messages.

    Returns None where nothing can be covered. What is made is at most half as long as what it stands for.
    """
    cuts = [c for c in views.transcript.cuts if c <= len(views.transcript.history) - keep_last]
    if not cuts:
        return None
    above = [c for c in cuts if views.measure.total > goal and views.rest(c) + views.limit(c) <= goal]
    cut = above[0] if above else cuts[-1]
    half = max(LEAST_BLOCK, views.measure.between(0, cut) // 2)
    return _extended(views, None, cut, min(views.limit(cut), half))


def fit(
    views: ViewBuilder, base: Compaction | None, keep_last: int, goal: int, limit: int
) -> tuple[Compaction, View] | None:
    """An extract of what ``base`` does not cover, and, if need be, shorter messages.

    ``goal`` tokens are aimed at, ``limit`` must be met, the window itself is the last resort. Returns None
    where nothing can be cut.
    """
    covered = base.covers if base else 0
    cuts = [c for c in views.transcript.cuts if c > covered]
    keeping = [c for c in cuts if c <= len(views.transcript.history) - keep_last]
    for cut in keeping:
        if views.rest(cut) + views.limit(cut) <= goal:
            return _covering(views, base, cut, views.limit(cut))
    softer = [*keeping[-1:], *cuts[len(keeping) :], *([covered] if base else [])]
    for most in (limit - min(views.quoted, views.slack), limit, views.window):
        for cut in softer:
            made = _within(views, base, cut, most)
            if made is not None:
                return made
    return _clipped(views, base, softer, limit) if views.transcript.history else None


def _within(
    views: ViewBuilder, base: Compaction | None, cut: int, most: int
) -> tuple[Compaction, View] | None:
    """With the longest block that leaves all within ``most`` tokens; None where that is too short."""
    room = most - views.rest(cut)
    for _ in range(TRIES):
        if room < LEAST_BLOCK:
            return None
        made = _covering(views, base, cut, min(room, views.limit(cut)))
        over = made[1].tokens - most
        if over <= 0:
            return made
        # A block's limit is not calibrated, its weight is.
        room = max(room - over, min(room - 1, LEAST_BLOCK))
    return None


def _covering(views: ViewBuilder, base: Compaction | None, cut: int, limit: int) -> tuple[Compaction, View]:
    """A block of at most ``limit`` tokens up to ``cut``.

    What a model wrote of exactly these messages stays its record, shown shorter: a pure function of the
    request, so that it is the same at every call, and the whole of it is there for a larger window.
    """
    if base is None or base.kind != "model" or base.covers != cut:
        return _extended(views, base, cut, limit)
    shown = replace(base, limit=limit if base.limit is None else min(limit, base.limit))
    return shown, views.view(shown)


def _extended(views: ViewBuilder, base: Compaction | None, cut: int, limit: int) -> tuple[Compaction, View]:
    """What a model wrote, and an extract of what follows it up to ``cut``; an extract is made anew."""
    base = base if base is not None and base.kind == "model" else None
    start = base.covers if base else 0
    room = views.text_room(cut, limit)
    segments: tuple[Segment, ...] = ()
    if base is not None and base.text:
        old = shorten(base.text, max(LEAST_TEXT, int(room * OLD_SHARE)), views.count, "[…]")
        segments = (Segment(0, start, old),)
        room -= views.count(old)
    text = _extract(views, start, cut, room, views.shown(cut, limit)) if room >= LEAST_TEXT else ""
    if text:
        segments = (*segments, Segment(start, cut, text))
    parent = base.digest if base else None
    before = views.measure.between(0, cut)
    since = views.transcript.last_user or 0
    made = Compaction(
        views.chain[cut],
        cut,
        "extractive",
        segments,
        limit,
        since=since,
        window=views.window,
        parent=parent,
        tokens_before=before,
    )
    view = views.view(made)
    made = replace(made, tokens_after=views.weigh(view.summary_message) if view.summary_message else 0)
    return made, replace(view, compaction=made)


def read_ahead(views: ViewBuilder, start: int) -> None:
    """Look through the messages from ``start`` on, so that an extract of them is quick when one is needed.

    No more than are kept: with more, each look would begin anew.
    """
    _readings(views, start, min(len(views.transcript.history), start + views.caches.readings.entries))
    for digest, message in zip(views.digests, views.transcript.history, strict=True):
        views.rules_of(message, digest)


def _readings(views: ViewBuilder, start: int, end: int) -> list[Reading]:
    named = zip(views.digests[start:end], views.transcript.history[start:end], strict=True)
    return [views.caches.readings.get(digest, partial(read, message)) for digest, message in named]


def _extract(views: ViewBuilder, start: int, cut: int, room: int, shown: str) -> str:
    """An extract of some messages, and what there is in each: both are kept for the next request."""

    def make() -> str:
        some = views.transcript.history[start:cut]
        return extract(some, room, views.count, _readings(views, start, cut), shown)

    return views.caches.frames.get(("extract", start, views.chain[cut], room, shown), make)


def _clipped(
    views: ViewBuilder, base: Compaction | None, cuts: list[int], limit: int
) -> tuple[Compaction, View] | None:
    """Cover as much as can be, and shorten what stays until it fits; the best try if nothing does.

    Results of tools give way before the summary does.
    """
    best: tuple[Compaction, View] | None = None
    length, cut = len(views.transcript.history), max(cuts, default=None)
    blocks = (0,) if cut is None else (views.limit(cut), min(LEAST_BLOCK, views.limit(cut)))
    for block in blocks:
        found = None if cut is None else _covering(views, base, cut, block)
        for part in CLIPS:
            clip = Clip(length, max(LEAST_CLIP, views.window // part), _spared(views), views.chain[length])
            made = _clip(views, found, clip)
            if best is None or made[1].tokens < best[1].tokens:
                best = made
            if best[1].tokens <= limit:
                return best
    return best


def _spared(views: ViewBuilder) -> tuple[int, ...]:
    transcript = views.transcript
    last = len(transcript.history) - 1
    continued = () if declared_role(transcript.history[last]) in RESULT_ROLES else (last,)
    asked = () if transcript.last_user is None else (transcript.last_user,)
    return tuple(sorted({*asked, *continued}))


def _clip(views: ViewBuilder, found: tuple[Compaction, View] | None, clip: Clip) -> tuple[Compaction, View]:
    # Where nothing may be covered the messages stay, shortened. A clearing that covers nothing says so.
    kept = found[0] if found else Compaction(views.chain[0], 0, "cleared")
    kept = replace(kept, clip=clip, window=views.window)
    view = views.view(kept)
    return kept, replace(view, compaction=kept)
