"""The tokens that a provider counts in one conversation and we do not: its surplus.

What we count can be wrong in ways that belong to one conversation: tools that the host adds behind us,
files and pictures that a rule of thumb prices, a language that the encoding is bad at. The provider's own
number for the last call tells by how much, and the next call of the same conversation begins with the same
messages. So that number bounds the next one from below, whatever our rules say. Without it such a
conversation is sent as it came, and refused, again and again.

A surplus never leaves its conversation: as a factor of the model it would make every other one look fuller
than it is. What the model's factor may learn is how much a prompt grew between two reports of one
conversation, since whatever is constant in both is not in the difference.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

# A difference of fewer tokens says nothing: the framing that we guess is too large a share of it.
LEAST_GROWTH = 200
# How often its estimate something embedded may cost; beyond that the surplus comes from elsewhere.
MOST_MEDIA = 20.0
# Of the surplus that a refusal told the share that a report must tell to be taken for the provider's own.
CONFIRMED = 0.25


@dataclass(frozen=True, slots=True)
class Report:
    """A provider's number for one prompt, beside our own count of what was sent.

    Attributes:
        reported: tokens of the prompt as the provider counted them.
        counted: raw tokens as we counted them, embedded media included.
        media: the part of ``counted`` that a rule of thumb priced.
        compacted: the request did not go as it came.
        refused: the provider refused the prompt for its length, and told the number.
        at_least: a refusal without a number: the prompt had more than fits, and nobody knows how many.
    """

    reported: int
    counted: int
    media: int = 0
    compacted: bool = False
    refused: bool = False
    at_least: bool = False


@dataclass(frozen=True, slots=True)
class Growth:
    """The tokens by which a prompt grew between two reports: as the provider counted, and as we did."""

    reported: int
    counted: int


@dataclass(frozen=True, slots=True)
class Correction:
    """A surplus in tokens, as a measure takes it up.

    Attributes:
        beside: tokens beside the messages, which stay whatever is compacted.
        unexplained: further tokens of the request as it came, of which a compacted one is free.
        media: how often its estimate embedded media cost.
    """

    beside: int = 0
    unexplained: int = 0
    media: float = 1.0


NO_CORRECTION = Correction()


@dataclass(frozen=True, slots=True)
class SessionSurplus:
    """The knowledge of one conversation's surplus; with every report a new value.

    Requests as they came and compacted ones are kept apart. If a compacted one, which weighs less, told
    anything of the others, the next request would be taken to fit as it came, and every second call would
    lose the provider's prompt cache.

    Attributes:
        plain: the last report of a request that went as it came.
        compacted: the last report of one that did not.
        refusal: the last refusal that told a number, until a report takes its place.
        media: how often its estimate embedded media cost, as far as reports tell.
        last: the last report of all.
        anchor: the report that the next one is compared with for the model's factor.
    """

    plain: Report | None = None
    compacted: Report | None = None
    refusal: Report | None = None
    media: float = 1.0
    last: Report | None = None
    anchor: Report | None = None

    def learn(self, report: Report, factor: float) -> tuple[SessionSurplus, Growth | None]:
        """Take up a report.

        Args:
            report: what the provider said.
            factor: the model's factor, by which raw tokens are calibrated.

        Returns:
            What is known now, and the growth from which the model's factor may learn, if any.
        """
        known = replace(self, media=self._learn_media(report, factor), last=report)
        if report.refused:
            return replace(known, refusal=report), None
        known = replace(known, compacted=report) if report.compacted else replace(known, plain=report)
        if self.refusal is not None and self._is_confirmed(self.refusal, report, factor):
            known = replace(known, refusal=None)
        if report.at_least:
            return known, None
        anchor = self.anchor
        if anchor is None or anchor.media != report.media:
            return replace(known, anchor=report), None
        growth = Growth(report.reported - anchor.reported, report.counted - anchor.counted)
        if growth.counted < 0:
            growth = Growth(-growth.reported, -growth.counted)
        if growth.counted < LEAST_GROWTH:
            return known, None
        return replace(known, anchor=report), growth

    def correct(self, factor: float, window: int, room: int, counted: int) -> Correction:
        """Return the correction of the next request's measure.

        Args:
            factor: the model's factor.
            window: tokens that the model reads at most.
            room: the part of the window that is not kept free for the answer.
            counted: calibrated tokens of the request's prompt as we count it.
        """
        told = [report for report in (self.plain, self.compacted, self.refusal) if report is not None]
        plain = [(_excess(r, factor, self.media, room), r.counted) for r in told if not r.compacted]
        compacted = [_excess(r, factor, self.media, room) for r in told if r.compacted]
        largest, reported = max(plain, default=(0, 0))
        # Conversations that open alike share a session: what a long one told is no floor of a short one.
        share = min(1.0, counted / (factor * reported)) if reported else 1.0
        largest = max(0, int(largest * share))
        # Until a compacted request has told, nobody knows how much of it goes with the messages. Taken for
        # larger than half of the window it would leave no room, and messages would be shortened in vain.
        beside = max([0, *compacted]) if compacted else min(largest, window // 2)
        return Correction(beside, max(0, largest - beside), self.media)

    def _is_confirmed(self, refusal: Report, report: Report, factor: float) -> bool:
        """Tell whether a report may take the place of a refusal.

        Where a stream brings no report, the host gives its own estimate for one. That tells of no surplus at
        all, and must not take back what the provider has said.
        """
        told, now = (_excess(r, factor, self.media) for r in (refusal, report))
        return refusal.compacted == report.compacted and now >= CONFIRMED * told

    def _learn_media(self, report: Report, factor: float) -> float:
        """Return how often its estimate embedded media cost: from two reports, or else all that is over.

        What tools cost beside them is in both reports, and not in the difference.
        """
        if not report.media:
            return self.media
        excess, last = _excess(report, factor), self.last
        if last is None:
            ratio = excess / (factor * report.media)
        elif abs(report.media - last.media) >= LEAST_GROWTH:
            ratio = (excess - _excess(last, factor)) / (factor * (report.media - last.media))
        else:
            return self.media
        return min(MOST_MEDIA, max(1.0, 1.0 + ratio))


def _excess(report: Report, factor: float, media: float = 1.0, room: int | None = None) -> int:
    """Return how many tokens more than we count the provider did; below 0 where it counted fewer."""
    reported = report.reported
    if report.at_least and room is not None:
        # A window that was learned since explains a refusal by itself.
        reported = min(reported, room)
    return math.floor(reported - factor * (report.counted + (media - 1.0) * report.media))
