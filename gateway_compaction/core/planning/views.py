"""One request laid out: what each view of it would cost, and what it would say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from gateway_compaction.core.conversation.digest import message_digest
from gateway_compaction.core.conversation.messages import (
    Message,
    declared_role,
    last_cache_mark,
    role_of,
    text_of,
)
from gateway_compaction.core.conversation.rewrite import mark_for_cache, prepend_text
from gateway_compaction.core.conversation.transcript import Transcript
from gateway_compaction.core.pins.anchors import Scoring
from gateway_compaction.core.pins.pins import rules_in
from gateway_compaction.core.planning.caches import DerivedCaches
from gateway_compaction.core.planning.render import View, render
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.recall.index import Index, build_index, query_of
from gateway_compaction.core.recall.passages import passages
from gateway_compaction.core.recall.recall import Recall, prepare, recall_tokens, recalled
from gateway_compaction.core.records.compaction import Compaction
from gateway_compaction.core.summary.block import (
    ACKNOWLEDGEMENT,
    Frame,
    block_tokens,
    build_summary_message,
    facts_told,
    frame,
)
from gateway_compaction.core.text.escaping import escape_markup
from gateway_compaction.core.text.language import language_of, phrases
from gateway_compaction.core.tokens.counter import Measure

__all__ = ["ViewBuilder"]

Weigh = Callable[[Message], int]
Count = Callable[[str], int]
INDEX_TOKENS = 250_000
FRAME_TOKENS = 600
LEAST_QUOTED, LEAST_SHARE = 160, 0.4


@dataclass(frozen=True, slots=True)
class ViewBuilder:
    """One request, its measure, and the counting functions: what views are laid out on.

    ``weigh`` counts messages as the measure does; ``count`` counts text without calibration, so that what
    is written into a view never changes when the calibration does.
    ``caches`` hold what was made before, by the digest of what it stands for; they outlive the request, since
    nothing in them depends on anything else of it. ``digests`` name each message of the history.
    ``pins`` are what operators pinned.
    """

    transcript: Transcript
    chain: tuple[str, ...]
    measure: Measure
    window: int
    policy: Policy
    weigh: Weigh
    count: Count
    wants_json: bool = False
    digests: tuple[bytes, ...] = ()
    caches: DerivedCaches = field(default_factory=DerivedCaches)
    index_tokens: int = INDEX_TOKENS
    pins: tuple[str, ...] = ()

    def limit(self, cut: int) -> int:
        """Tokens of the summary block for the first ``cut`` messages."""
        summary = self.policy.summary
        covered = self.measure.between(0, cut)
        tokens = block_tokens(summary.max_tokens, summary.rate, self.window, covered)
        if summary.rate is None:
            return tokens
        # A rate is that of the text, in characters, with a quarter to spare; note and pins come on top.
        return min(self.window // 4, tokens * 5 // 4 + FRAME_TOKENS)

    def _bound(self, compaction: Compaction) -> int:
        # A rate was turned into tokens when the compaction was made; the bytes must not drift with the count.
        if compaction.limit is None:
            return self.limit(compaction.covers)
        by_rate = self.policy.summary.rate is not None
        return min(compaction.limit, self.window // 4 if by_rate else self.limit(compaction.covers))

    def rest(self, cut: int) -> int:
        """Tokens of everything but the summary block, when the first ``cut`` messages are covered.

        What operators pinned comes on top of a block's length, and so counts here.
        """
        return self._beside(cut) + self._facts[1]

    def _beside(self, cut: int) -> int:
        opener = self.transcript.openers.get(cut)
        total = self.measure.overhead + self.measure.between(cut, len(self.transcript.history))
        if opener is not None:
            total += self.measure.between(opener, opener + 1)
        return total + (self.weigh(ACKNOWLEDGEMENT) if self.acknowledges(cut) else 0)

    def acknowledges(self, cut: int) -> bool:
        """Whether the message behind the summary message is a user's."""
        opener = self.transcript.openers.get(cut)
        return opener is not None or declared_role(self.transcript.history[cut]) == "user"

    def text_room(self, cut: int, limit: int) -> int:
        """Tokens that a block of ``limit`` leaves for the summary's own text, pins and frame taken off."""
        return self._frame(cut, limit).room

    def shown(self, cut: int, limit: int) -> str:
        """What is read beside the text of a block of ``limit`` tokens: note, pins and the repeated opener."""
        opener = self.transcript.openers.get(cut)
        repeated = "" if opener is None else escape_markup(text_of(self.transcript.history[opener]))
        return "\n".join([*self._frame(cut, limit).lines, repeated])

    def view(self, compaction: Compaction) -> View:
        """A compaction as a view of this request."""
        clip = compaction.clip
        if clip and not (clip.until < len(self.chain) and self.chain[clip.until] == clip.digest):
            compaction = replace(compaction, clip=None)
        if compaction.kind == "cleared":
            return self._weighed(View(0, compaction))
        cut = compaction.covers
        message, tokens = self._carrier(compaction)
        opener = self.transcript.openers.get(cut)
        view = View(self._beside(cut) + tokens, compaction, message, self.acknowledges(cut), opener)
        return self._weighed(view) if compaction.clip else view

    def _weighed(self, view: View) -> View:
        sent = render(view, self.transcript, self.count)[len(self.transcript.preamble) :]
        tokens = self.measure.overhead + sum(self.weigh(m) for m in sent)
        return View(tokens, view.compaction, view.summary_message, view.acknowledge, view.opener)

    def _carrier(self, compaction: Compaction) -> tuple[Message, int]:
        limit = self._bound(compaction)
        facts = self._facts[0]
        key = (compaction.digest, compaction.text, limit, facts, *self._framed)
        frame_ = self._frame(compaction.covers, limit)
        made = self.caches.frames.get(
            key, lambda: build_summary_message(compaction.text, frame_, self.count, facts)
        )
        opener = self.transcript.openers.get(compaction.covers)
        covered = self.transcript.history[: compaction.covers]
        # Marks are no part of a digest: clients move them, so they are looked for anew.
        message = mark_for_cache(made, last_cache_mark([m for i, m in enumerate(covered) if i != opener]))
        return message, self.weigh(message)

    @property
    def _facts(self) -> tuple[tuple[str, ...], int]:
        """What is pinned, and its tokens: of what would fill a quarter of the window, the newest."""

        def make() -> tuple[tuple[str, ...], int]:
            kept = self.pins
            while kept and self._told(kept) > self.window // 4:
                kept = kept[1:]
            return kept, self._told(kept)

        if not self.pins:
            return (), 0
        return self.caches.frames.get(("pins", self.pins, self.window), make)

    def _told(self, facts: tuple[str, ...]) -> int:
        return self.count("\n".join(facts_told(facts)))

    def _frame(self, cut: int, limit: int) -> Frame:
        opener = self.transcript.openers.get(cut)
        return self.caches.frames.get(
            (self.chain[cut], limit, *self._framed),
            lambda: frame(
                self.transcript.history[:cut],
                limit=limit,
                rule_tokens=self.policy.anchors.constraints_max_tokens,
                opener=None if opener is None else self.transcript.history[opener],
                wants_json=self.wants_json,
                count=self.count,
                anchors=self.policy.anchors.max,
                scoring=self._scoring,
                pinned=None if self.policy.summary.rate is None else FRAME_TOKENS,
                rules_of=self.rules_of,
            ),
        )

    def rules_of(self, message: Message, digest: bytes | None = None) -> Sequence[str]:
        """The rules that a message lays down; looked for once. ``digest`` names it, where that is known."""
        if declared_role(message) != "user":
            return ()
        return self.caches.rules.get(digest or message_digest(message), partial(rules_in, message))

    @property
    def _framed(self) -> tuple[int, bool, int, Scoring, bool]:
        """What a frame depends on besides what it stands for: a part of the name it is kept by."""
        anchors = self.policy.anchors
        by_rate = self.policy.summary.rate is not None
        return anchors.constraints_max_tokens, self.wants_json, anchors.max, self._scoring, by_rate

    @property
    def _scoring(self) -> Scoring:
        w = self.policy.anchors.weights
        return Scoring(w.explicit, w.decision, w.tool_result, w.keyword, self.policy.summary.preserve_keys)

    def recalling(self, view: View) -> View:
        """The view with what its user messages need of the covered ones.

        What a message gets depends on the compaction and on the questions before it, and on no count that a
        calibration may change, so it stays the same until the next compaction. The first ones get most, and
        every one something, never more than half of what it saves: each brings the next compaction nearer.
        """
        slack, budget = self.slack, self.quoted
        compaction = view.compaction
        if (
            not budget
            or compaction is None
            or view.summary_message is None
            or not self.index_ready(compaction)
        ):
            return view
        left, room = max(budget, slack), self._spared(compaction, view.summary_message)
        made: dict[int, str] = {}
        taken: frozenset[int] = frozenset()
        for number in self._asking(view, compaction):
            # Half of what is left, and never so little that nothing is answered: each counts as usage.
            share = max(left if budget > slack else left // 2, LEAST_QUOTED, int(LEAST_SHARE * budget))
            if compaction.quotes is not None and number <= compaction.since:
                share = min(share, compaction.quotes)
            quote = self._recall(view, compaction, number, min(budget, share, room), taken)
            if quote.text:
                made[number] = quote.text
                taken |= set(quote.passages)
                left, room = left - quote.tokens, room - quote.tokens
        asked = ((self.transcript.history[number], text) for number, text in made.items())
        costs = sum(self.weigh(prepend_text(message, text)) - self.weigh(message) for message, text in asked)
        # Reserved room that quotes now fill is not counted twice.
        reserve = budget - min(budget, slack)
        return replace(view, tokens=view.tokens + max(0, costs - reserve), recalls=made)

    def _spared(self, compaction: Compaction, summary_message: Message) -> int:
        """Half of what a compaction saves, uncalibrated; no end of tokens where it does not tell."""
        before = compaction.tokens_before
        return max(0, before - self.count(text_of(summary_message))) // 2 if before else 10**9

    @property
    def slack(self) -> int:
        """Tokens between ``medium`` and ``aggressive``."""
        levels = self.policy.levels
        return int((levels.aggressive.at - levels.medium.at) * self.window)

    @property
    def quoted(self) -> int:
        """Most tokens quoted before one message."""
        return recall_tokens(self.policy.recall.max_tokens, self.window, self.slack)

    def index_ready(self, compaction: Compaction) -> bool:
        """Whether what a compaction covers is indexed, or indexed quickly (half a second at most)."""
        known = ("index", compaction.digest) in self.caches.indexes
        return known or self.measure.between(0, compaction.covers) <= self.index_tokens

    def index(self, cut: int) -> Index:
        """The search index of the first ``cut`` messages."""

        def make() -> Index:
            covered = self.transcript.history[:cut]
            pieces = [self.caches.passages.get(d, partial(passages, m)) for d, m in self._named(covered)]
            made = build_index(covered, pieces)
            prepare(made, self.count)
            return made

        return self.caches.indexes.get(("index", self.chain[cut]), make)

    def _named(self, messages: Sequence[Message]) -> Iterator[tuple[bytes, Message]]:
        return zip(self.digests[: len(messages)], messages, strict=True)

    def _asking(self, view: View, compaction: Compaction) -> list[int]:
        opener = [] if view.opener is None else [view.opener]
        history = self.transcript.history
        later = [i for i in range(compaction.covers, len(history)) if role_of(history[i]) == "user"]
        return [i for i in [*opener, *later] if i >= compaction.since]

    def _recall(
        self, view: View, compaction: Compaction, number: int, room: int, taken: frozenset[int]
    ) -> Recall:
        message = self.transcript.history[number]

        def make() -> Recall:
            return recalled(
                self.index(compaction.covers),
                query_of(message, self.policy.summary.preserve_keys),
                room,
                said=phrases(language_of([text_of(message)])),
                own=text_of(message),
                shown=text_of(view.summary_message) if view.summary_message else "",
                taken=taken,
                hidden=view.opener,
                count=self.count,
            )

        key = ("recall", compaction.digest, compaction.text, self.pins, self.chain[number + 1], room, taken)
        return self.caches.frames.get(key, make)
