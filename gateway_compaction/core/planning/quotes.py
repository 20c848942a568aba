"""The quotes of one request: which user messages get any, and which covered passages they show."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

from gateway_compaction.core.conversation.messages import Message, role_of, text_of
from gateway_compaction.core.planning.context import RequestContext
from gateway_compaction.core.recall.index import PassageIndex, build_index, build_query
from gateway_compaction.core.recall.passages import split_into_passages
from gateway_compaction.core.recall.recall import (
    LEAST_ROOM,
    AlreadySent,
    Candidates,
    Quote,
    choose_quote,
    find_candidates,
    quote_budget,
    quote_share,
    render_all_lines,
)
from gateway_compaction.core.records.compaction import Compaction
from gateway_compaction.core.text.language import detect_language, get_phrases

MOST_OF_SAVED = 7 / 8
"""Share of the tokens that a compaction saves which all quotes beside it may take."""

NO_LIMIT = 10**9
"""More tokens than any request has, where a compaction does not tell what it saves."""


@dataclass(frozen=True)
class QuoteFinder:
    """Finds what the user messages of one request need of the covered ones.

    What it finds depends on the compaction and on the messages up to each question, and is kept in the
    context's caches, so that later calls find the same.
    """

    context: RequestContext

    @cached_property
    def budget(self) -> int:
        """Most tokens quoted before one message."""
        context = self.context
        recall = context.policy.recall
        return quote_budget(recall.max_tokens, recall.priority, context.window, context.levels.gap)

    def find_quotes(self, compaction: Compaction, summary: Message, opener: int | None) -> dict[int, str]:
        """Return what is quoted before user messages, by their index, when a compaction is sent.

        What a message gets depends on the compaction and on the questions before it, and on no count that a
        calibration may change, so it stays the same until the next compaction: otherwise each call would lose
        the provider's prompt cache. A question that the covered messages answer gets the whole budget,
        whatever was quoted before older messages. Together they never take all that the compaction saves:
        what is ready would otherwise be no smaller than what came, and could not be used.

        Args:
            compaction: what is sent.
            summary: the message that stands for what it covers.
            opener: index of the user message that is repeated behind it, if any is.
        """
        context, history = self.context, self.context.transcript.history
        if self.budget < LEAST_ROOM or not self.has_index(compaction):
            return {}
        quotes: dict[int, str] = {}
        needing, room = 0, NO_LIMIT
        if compaction.tokens_before:
            saved = compaction.tokens_before - context.raw_tokens(text_of(summary))
            room = max(0, int(MOST_OF_SAVED * saved))
        quoted: frozenset[int] = frozenset()
        first = self.find_first_question(compaction)
        tail = range(compaction.covers, len(history))
        for number in [*([] if opener is None else [opener]), *tail]:
            if number < first or role_of(history[number]) != "user":
                continue
            candidates = self._find_candidates(compaction, number)
            share = min(room, quote_share(self.budget, candidates, needing))
            needing += candidates.need == "much"
            if compaction.quotes is not None and number <= compaction.since:
                share = min(share, compaction.quotes)
            sent = AlreadySent(text_of(summary), quoted, opener)
            quote = self._choose(compaction, number, share, sent)
            if quote.text:
                quotes[number] = quote.text
                quoted |= set(quote.passages)
                room -= quote.tokens
        return quotes

    def find_first_question(self, compaction: Compaction) -> int:
        """Return the index from which on messages get quotes: those before were answered without.

        A summary is made ahead of its use, and what came in between was answered from the whole history. To
        quote for it now would cost tokens at every call and help nobody. Counted is without calibration, so
        that the place does not move.
        """
        context = self.context
        lead, first = compaction.lead_tokens, compaction.since
        if context.measure.total < context.levels.medium:
            # An operator wants it used before it was needed.
            return first
        while lead > 0:
            first += 1
            if first >= len(context.transcript.history):
                break
            lead -= context.raw_message_tokens(context.transcript.history[first])
        return first

    def _find_candidates(self, compaction: Compaction, number: int) -> Candidates:
        """Find what of the covered messages a user message may be shown; once for all requests."""
        context = self.context
        message, keys = context.transcript.history[number], context.policy.summary.preserve_keys
        return context.caches.frames.get(
            ("candidates", compaction.digest, context.chain[number + 1], keys),
            lambda: find_candidates(self.get_index(compaction.covers), build_query(message, keys)),
        )

    def _choose(self, compaction: Compaction, number: int, room: int, sent: AlreadySent) -> Quote:
        """Choose what is quoted before a user message, in at most ``room`` tokens; once for all requests."""
        context = self.context
        message = context.transcript.history[number]

        def choose() -> Quote:
            index, candidates = self.get_index(compaction.covers), self._find_candidates(compaction, number)
            phrases = get_phrases(detect_language([text_of(message)]))
            return choose_quote(index, candidates, sent, room, phrases, context.raw_tokens)

        asked, pins = context.chain[number + 1], context.session.controls.pins
        key = ("recall", compaction.digest, compaction.text, pins, asked, room, sent.passages)
        return context.caches.frames.get(key, choose)

    def has_index(self, compaction: Compaction) -> bool:
        """Tell whether what a compaction covers is indexed, or indexed quickly (half a second at most)."""
        is_indexed = ("index", compaction.digest) in self.context.caches.indexes
        tokens = self.context.measure.between(0, compaction.covers)
        return is_indexed or tokens <= self.context.index_tokens

    def get_index(self, cut: int) -> PassageIndex:
        """Return the search index of the first ``cut`` messages; it is built once for all requests."""
        context = self.context

        def build() -> PassageIndex:
            covered = context.transcript.history[:cut]
            names = zip(context.digests[:cut], covered, strict=True)
            pieces = [
                context.caches.passages.get(digest, partial(split_into_passages, m)) for digest, m in names
            ]
            index = build_index(covered, pieces)
            render_all_lines(index, context.raw_tokens)
            return index

        return context.caches.indexes.get(("index", context.chain[cut]), build)
