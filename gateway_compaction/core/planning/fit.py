"""Making a request fit now, without store or model."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from gateway_compaction.core.conversation.messages import RESULT_ROLES
from gateway_compaction.core.extractive.extract import Reading, extract, read
from gateway_compaction.core.planning.render import View
from gateway_compaction.core.planning.views import Desk
from gateway_compaction.core.records.compaction import Clip, Compaction, Segment
from gateway_compaction.core.summary.block import LEAST_TEXT
from gateway_compaction.core.text.shorten import is_clearable, shorten

__all__ = ["clear", "compacted", "fit", "read_ahead"]

LEAST_BLOCK = 100
OLD_SHARE = 0.6
CLIPS = (8, 16, 32, 64, 128, 256)
TRIES = 4
LEAST_CLIP = 24


def clear(desk: Desk, keep_last: int) -> tuple[Compaction, View] | None:
    """All old tool results replaced in one block, up to the last ``keep_last`` messages."""
    history = desk.transcript.history
    cuts = [c for c in desk.transcript.cuts if c <= len(history) - keep_last]
    if not cuts or not any(is_clearable(m, desk.count) for m in history[: cuts[-1]]):
        return None
    cut = cuts[-1]
    before = desk.measure.between(0, cut)
    made = Compaction(desk.chain[cut], cut, "cleared", window=desk.window, tokens_before=before)
    view = desk.view(made)
    after = view.tokens - desk.measure.overhead - desk.measure.between(cut, len(history))
    made = replace(made, tokens_after=after)
    return made, replace(view, compaction=made)


def compacted(desk: Desk, keep_last: int, goal: int) -> tuple[Compaction, View] | None:
    """An extract though there is room yet: to ``goal`` tokens, or of all but the last ``keep_last`` messages.

    Returns None where nothing can be covered. What is made is at most half as long as what it stands for.
    """
    cuts = [c for c in desk.transcript.cuts if c <= len(desk.transcript.history) - keep_last]
    if not cuts:
        return None
    above = [c for c in cuts if desk.measure.total > goal and desk.rest(c) + desk.limit(c) <= goal]
    cut = above[0] if above else cuts[-1]
    half = max(LEAST_BLOCK, desk.measure.between(0, cut) // 2)
    return _extended(desk, None, cut, min(desk.limit(cut), half))


def fit(
    desk: Desk, base: Compaction | None, keep_last: int, goal: int, limit: int
) -> tuple[Compaction, View] | None:
    """An extract of what ``base`` does not cover, and, if need be, shorter messages.

    ``goal`` tokens are aimed at, ``limit`` must be met, the window itself is the last resort. Returns None
    where nothing can be cut.
    """
    covered = base.covers if base else 0
    cuts = [c for c in desk.transcript.cuts if c > covered]
    keeping = [c for c in cuts if c <= len(desk.transcript.history) - keep_last]
    for cut in keeping:
        if desk.rest(cut) + desk.limit(cut) <= goal:
            return _covering(desk, base, cut, desk.limit(cut))
    softer = [*keeping[-1:], *cuts[len(keeping) :], *([covered] if base else [])]
    for most in (limit - min(desk.quoted, desk.slack), limit, desk.window):
        for cut in softer:
            made = _within(desk, base, cut, most)
            if made is not None:
                return made
    return _clipped(desk, base, softer, limit) if desk.transcript.history else None


def _within(desk: Desk, base: Compaction | None, cut: int, most: int) -> tuple[Compaction, View] | None:
    """With the longest block that leaves all within ``most`` tokens; None where that is too short."""
    room = most - desk.rest(cut)
    for _ in range(TRIES):
        if room < LEAST_BLOCK:
            return None
        made = _covering(desk, base, cut, min(room, desk.limit(cut)))
        over = made[1].tokens - most
        if over <= 0:
            return made
        # A block's limit is not calibrated, its weight is.
        room = max(room - over, min(room - 1, LEAST_BLOCK))
    return None


def _covering(desk: Desk, base: Compaction | None, cut: int, limit: int) -> tuple[Compaction, View]:
    """A block of at most ``limit`` tokens up to ``cut``.

    What a model wrote of exactly these messages stays its record, shown shorter: a pure function of the
    request, so that it is the same at every call, and the whole of it is there for a larger window.
    """
    if base is None or base.kind != "model" or base.covers != cut:
        return _extended(desk, base, cut, limit)
    shown = replace(base, limit=limit if base.limit is None else min(limit, base.limit))
    return shown, desk.view(shown)


def _extended(desk: Desk, base: Compaction | None, cut: int, limit: int) -> tuple[Compaction, View]:
    """What a model wrote, and an extract of what follows it up to ``cut``; an extract is made anew."""
    base = base if base is not None and base.kind == "model" else None
    start = base.covers if base else 0
    room = desk.text_room(cut, limit)
    segments: tuple[Segment, ...] = ()
    if base is not None and base.text:
        old = shorten(base.text, max(LEAST_TEXT, int(room * OLD_SHARE)), desk.count, "[…]")
        segments = (Segment(0, start, old),)
        room -= desk.count(old)
    text = _extract(desk, start, cut, room, desk.shown(cut, limit)) if room >= LEAST_TEXT else ""
    if text:
        segments = (*segments, Segment(start, cut, text))
    parent = base.digest if base else None
    before = desk.measure.between(0, cut)
    since = desk.transcript.last_user or 0
    made = Compaction(
        desk.chain[cut],
        cut,
        "extractive",
        segments,
        limit,
        since=since,
        window=desk.window,
        parent=parent,
        tokens_before=before,
    )
    view = desk.view(made)
    made = replace(made, tokens_after=desk.weigh(view.carrier) if view.carrier else 0)
    return made, replace(view, compaction=made)


def read_ahead(desk: Desk, start: int) -> None:
    """Look through the messages from ``start`` on, so that an extract of them is quick when one is needed.

    No more than are kept: with more, each look would begin anew.
    """
    _readings(desk, start, min(len(desk.transcript.history), start + desk.memos.readings.entries))
    for digest, message in zip(desk.digests, desk.transcript.history, strict=True):
        desk.rules_of(message, digest)


def _readings(desk: Desk, start: int, end: int) -> list[Reading]:
    named = zip(desk.digests[start:end], desk.transcript.history[start:end], strict=True)
    return [desk.memos.readings.get(digest, partial(read, message)) for digest, message in named]


def _extract(desk: Desk, start: int, cut: int, room: int, shown: str) -> str:
    """An extract of some messages, and what there is in each: both are kept for the next request."""

    def make() -> str:
        some = desk.transcript.history[start:cut]
        return extract(some, room, desk.count, _readings(desk, start, cut), shown)

    return desk.memos.frames.get(("extract", start, desk.chain[cut], room, shown), make)


def _clipped(
    desk: Desk, base: Compaction | None, cuts: list[int], limit: int
) -> tuple[Compaction, View] | None:
    """Cover as much as can be, and shorten what stays until it fits; the best try if nothing does.

    Results of tools give way before the summary does.
    """
    best: tuple[Compaction, View] | None = None
    length, cut = len(desk.transcript.history), max(cuts, default=None)
    blocks = (0,) if cut is None else (desk.limit(cut), min(LEAST_BLOCK, desk.limit(cut)))
    for block in blocks:
        found = None if cut is None else _covering(desk, base, cut, block)
        for part in CLIPS:
            clip = Clip(length, max(LEAST_CLIP, desk.window // part), _spared(desk), desk.chain[length])
            made = _clip(desk, found, clip)
            if best is None or made[1].tokens < best[1].tokens:
                best = made
            if best[1].tokens <= limit:
                return best
    return best


def _spared(desk: Desk) -> tuple[int, ...]:
    transcript = desk.transcript
    last = len(transcript.history) - 1
    continued = () if transcript.history[last]["role"] in RESULT_ROLES else (last,)
    asked = () if transcript.last_user is None else (transcript.last_user,)
    return tuple(sorted({*asked, *continued}))


def _clip(desk: Desk, found: tuple[Compaction, View] | None, clip: Clip) -> tuple[Compaction, View]:
    # Where nothing may be covered the messages stay, shortened. A clearing that covers nothing says so.
    kept = found[0] if found else Compaction(desk.chain[0], 0, "cleared")
    kept = replace(kept, clip=clip, window=desk.window)
    view = desk.view(kept)
    return kept, replace(view, compaction=kept)
