"""Making a request fit now, without store or model; and the sums that every view needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from gateway_compaction.core.compaction import Clip, Compaction, Segment
from gateway_compaction.core.extract import extract
from gateway_compaction.core.messages import RESULT_ROLES, Message, Transcript
from gateway_compaction.core.policy import Policy
from gateway_compaction.core.render import View, render
from gateway_compaction.core.shorten import is_clearable, shorten
from gateway_compaction.core.summary import ACKNOWLEDGEMENT, LEAST_TEXT, Frame, block_tokens, carrier, frame
from gateway_compaction.core.tokens import Measure

__all__ = ["Desk", "clear", "fit"]

Weigh = Callable[[Message], int]
Count = Callable[[str], int]
LEAST_BLOCK = 100
OLD_SHARE = 0.6
CLIPS = (8, 16, 32, 64, 128, 256)
LEAST_CLIP = 24


@dataclass(frozen=True, slots=True)
class Desk:
    """One request, its measure, and the counting functions: what views are laid out on.

    ``weigh`` counts messages as the measure does; ``count`` counts text without calibration, so that what
    is written into a view never changes when the calibration does.
    ``memo`` keeps carriers and frames that were made before, by the digest of what they stand for; it may
    outlive the request, since they depend on nothing else of it.
    """

    transcript: Transcript
    chain: tuple[str, ...]
    measure: Measure
    window: int
    policy: Policy
    weigh: Weigh
    count: Count
    wants_json: bool = False
    memo: dict[Any, Any] = field(default_factory=dict)

    def limit(self, cut: int) -> int:
        """Tokens of the summary block for the first ``cut`` messages."""
        summary = self.policy.summary
        covered = self.measure.between(0, cut)
        return block_tokens(summary.max_tokens, summary.rate, self.window, covered)

    def _bound(self, compaction: Compaction) -> int:
        # A rate was turned into tokens when the compaction was made; the bytes must not drift with the count.
        if compaction.limit is None:
            return self.limit(compaction.covers)
        by_rate = self.policy.summary.rate is not None
        return min(compaction.limit, self.window // 4 if by_rate else self.limit(compaction.covers))

    def rest(self, cut: int) -> int:
        """Tokens of everything but the summary block, when the first ``cut`` messages are covered."""
        opener = self.transcript.openers.get(cut)
        total = self.measure.overhead + self.measure.between(cut, len(self.transcript.history))
        if opener is not None:
            total += self.measure.between(opener, opener + 1)
        return total + (self.weigh(ACKNOWLEDGEMENT) if self.acknowledges(cut) else 0)

    def acknowledges(self, cut: int) -> bool:
        """Whether the message behind the carrier is a user's."""
        opener = self.transcript.openers.get(cut)
        return opener is not None or self.transcript.history[cut]["role"] == "user"

    def text_room(self, cut: int, limit: int) -> int:
        """Tokens that a block of ``limit`` leaves for the summary's own text, pins and frame taken off."""
        return self._frame(cut, limit).room

    def view(self, compaction: Compaction) -> View:
        """A compaction as a view of this request."""
        if compaction.kind == "cleared":
            return self._weighed(View(0, compaction))
        cut = compaction.covers
        message, tokens = self._carrier(compaction)
        opener = self.transcript.openers.get(cut)
        view = View(self.rest(cut) + tokens, compaction, message, self.acknowledges(cut), opener)
        return self._weighed(view) if compaction.clip else view

    def _weighed(self, view: View) -> View:
        sent = render(view, self.transcript, self.count)[len(self.transcript.preamble) :]
        tokens = self.measure.overhead + sum(self.weigh(m) for m in sent)
        return View(tokens, view.compaction, view.carrier, view.acknowledge, view.opener)

    def _carrier(self, compaction: Compaction) -> tuple[Message, int]:
        limit = self._bound(compaction)
        key = (compaction.digest, compaction.text, limit, *self._framed)
        if key not in self.memo:
            message = carrier(compaction.text, self._frame(compaction.covers, limit), self.count)
            self.memo[key] = (message, self.weigh(message))
        message, tokens = self.memo[key]
        return message, tokens

    def _frame(self, cut: int, limit: int) -> Frame:
        key = (self.chain[cut], limit, *self._framed)
        if key not in self.memo:
            opener = self.transcript.openers.get(cut)
            self.memo[key] = frame(
                self.transcript.history[:cut],
                limit=limit,
                rule_tokens=self.policy.anchors.constraints_max_tokens,
                opener=None if opener is None else self.transcript.history[opener],
                wants_json=self.wants_json,
                count=self.count,
            )
        found: Frame = self.memo[key]
        return found

    @property
    def _framed(self) -> tuple[int, bool]:
        return self.policy.anchors.constraints_max_tokens, self.wants_json


def clear(desk: Desk, keep_last: int) -> tuple[Compaction, View] | None:
    """All old tool results replaced in one block, up to the last ``keep_last`` messages."""
    history = desk.transcript.history
    cuts = [c for c in desk.transcript.cuts if c <= len(history) - keep_last]
    if not cuts or not any(is_clearable(m, desk.count) for m in history[: cuts[-1]]):
        return None
    cut = cuts[-1]
    before = desk.measure.between(0, cut)
    view = desk.view(Compaction(desk.chain[cut], cut, "cleared"))
    after = view.tokens - desk.measure.overhead - desk.measure.between(cut, len(history))
    made = Compaction(desk.chain[cut], cut, "cleared", tokens_before=before, tokens_after=after)
    return made, replace(view, compaction=made)


def fit(desk: Desk, view: View, keep_last: int, goal: int, limit: int) -> tuple[Compaction, View] | None:
    """An extract of what the longest fitting compaction does not cover, and, if need be, shorter messages.

    ``goal`` tokens are aimed at, ``limit`` must be met, the window itself is the last resort. Returns None
    where nothing can be cut.
    """
    base = view.compaction if view.carrier is not None else None
    covered = base.covers if base else 0
    cuts = [c for c in desk.transcript.cuts if c > covered]
    keeping = [c for c in cuts if c <= len(desk.transcript.history) - keep_last]
    for cut in keeping:
        if desk.rest(cut) + desk.limit(cut) <= goal:
            return _extended(desk, base, cut, desk.limit(cut))
    for cut in [*keeping[-1:], *(c for c in cuts if c not in keeping)]:
        room = limit - desk.rest(cut)
        if room >= LEAST_BLOCK:
            return _extended(desk, base, cut, min(room, desk.limit(cut)))
    return _clipped(desk, base, cuts, limit)


def _extended(
    desk: Desk, base: Compaction | None, cut: int, limit: int, clip: Clip | None = None
) -> tuple[Compaction, View]:
    """What a model wrote, and an extract of what follows it up to ``cut``; an extract is made anew."""
    base = base if base is not None and base.kind == "model" else None
    start = base.covers if base else 0
    room = desk.text_room(cut, limit)
    segments: tuple[Segment, ...] = ()
    if base is not None and base.text:
        old = shorten(base.text, max(LEAST_TEXT, int(room * OLD_SHARE)), desk.count, "[…]")
        segments = (Segment(0, start, old),)
        room -= desk.count(old)
    text = extract(desk.transcript.history[start:cut], room, desk.count) if room >= LEAST_TEXT else ""
    if text:
        segments = (*segments, Segment(start, cut, text))
    parent = base.digest if base else None
    before = desk.measure.between(0, cut)
    made = Compaction(desk.chain[cut], cut, "extractive", segments, limit, clip, parent, tokens_before=before)
    view = desk.view(made)
    made = replace(made, tokens_after=desk.weigh(view.carrier) if view.carrier else 0)
    return made, replace(view, compaction=made)


def _clipped(
    desk: Desk, base: Compaction | None, cuts: list[int], limit: int
) -> tuple[Compaction, View] | None:
    """Cover as much as can be, and shorten what stays until it fits; the best try if nothing does."""
    best: tuple[Compaction, View] | None = None
    for target in (limit, desk.window):
        for part in CLIPS:
            clip = Clip(len(desk.transcript.history), max(LEAST_CLIP, desk.window // part), _spared(desk))
            made = _clip(desk, base, cuts, clip, target)
            if made is not None and (best is None or made[1].tokens < best[1].tokens):
                best = made
            if best is not None and best[1].tokens <= target:
                return best
    return best


def _spared(desk: Desk) -> tuple[int, ...]:
    transcript = desk.transcript
    last = len(transcript.history) - 1
    continued = () if transcript.history[last]["role"] in RESULT_ROLES else (last,)
    asked = () if transcript.last_user is None else (transcript.last_user,)
    return tuple(sorted({*asked, *continued}))


def _clip(
    desk: Desk, base: Compaction | None, cuts: list[int], clip: Clip, target: int
) -> tuple[Compaction, View] | None:
    if cuts:
        return _extended(desk, base, cuts[-1], min(desk.limit(cuts[-1]), max(LEAST_BLOCK, target // 4)), clip)
    if base is not None:
        kept = replace(base, clip=clip)
        return kept, desk.view(kept)
    # Nothing may be covered: the messages stay, shortened. A clearing that covers nothing says so.
    bare = Compaction(desk.chain[0], 0, "cleared", clip=clip)
    return bare, desk.view(bare)
