"""The views of one request: what each says, what it costs, and the messages that it is sent as.

A view is one way to send the conversation. The plan compares views by their tokens before any of them is
sent, so what a view costs is computed here from the very messages that ``render`` would send.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from gateway_compaction.core.conversation.messages import (
    Message,
    carried_cache_mark,
    declared_role,
    text_of,
    thinking_fields_of,
)
from gateway_compaction.core.conversation.rewrite import leave_out_middle, mark_for_cache, prepend_text
from gateway_compaction.core.pins.anchors import Scoring
from gateway_compaction.core.pins.pins import Rule, find_rules
from gateway_compaction.core.planning.context import RequestContext
from gateway_compaction.core.planning.quotes import QuoteFinder
from gateway_compaction.core.records.compaction import Compaction
from gateway_compaction.core.summary.block import (
    BlockFrame,
    FrameSettings,
    build_acknowledgement,
    build_frame,
    build_summary_message,
    compute_block_limit,
    render_operator_pins,
)
from gateway_compaction.core.summary.segments import TURNS_PER_SEGMENT
from gateway_compaction.core.summary.turn_labels import LABEL_TOKENS, label_segments
from gateway_compaction.core.text.escaping import escape_markup
from gateway_compaction.core.text.shorten import clear_result, clip_message, is_clearable

NOTE_AND_PINS_TOKENS = 600
"""Tokens for note and pins where ``summary.rate`` sets the length of the text alone."""


@dataclass(frozen=True, slots=True)
class View:
    """One way to send a conversation; without a compaction it is sent as it came.

    Attributes:
        tokens: what the request would use, with everything fixed and the output reserve.
        compaction: what is left out or shortened.
        summary_message: the message that stands for what the compaction covers, if it covers anything.
        acknowledgement: the assistant's one word that follows the summary message, if any does.
        opener: index of the user message that is repeated behind it, where a turn is divided.
        recalls: texts quoted before user messages, by the message's index.
        reserve_used: tokens of these quotes that fill room which ``tokens`` counts for them anyway.
    """

    tokens: int
    compaction: Compaction | None = None
    summary_message: Message | None = None
    acknowledgement: Message | None = None
    opener: int | None = None
    recalls: Mapping[int, str] = field(default_factory=dict)
    reserve_used: int = 0

    def is_smaller_than(self, other: View) -> bool:
        """Tell whether fewer tokens go upstream: ``tokens`` counts free room for quotes as well."""
        return self.tokens + self.reserve_used < other.tokens + other.reserve_used


def render(view: View, context: RequestContext) -> list[Message]:
    """Return the messages of a view: preamble, summary message, acknowledgement, opener, tail.

    What is not changed is passed on as the object that came in, so that a client's own fields stay with it.
    """
    transcript, compaction = context.transcript, view.compaction
    messages = list(transcript.preamble)
    if compaction is None:
        return [*messages, *transcript.history]
    rest = list(range(len(transcript.history)))
    if view.summary_message is not None:
        messages.append(view.summary_message)
        if view.acknowledgement is not None:
            messages.append(view.acknowledgement)
        rest = rest[compaction.covers :]
        if view.opener is not None:
            rest.insert(0, view.opener)
    for index in rest:
        message = transcript.history[index]
        if index != view.opener:
            message = apply_compaction(compaction, index, context)
        text = view.recalls.get(index)
        messages.append(message if text is None else prepend_text(message, text))
    return messages


def apply_compaction(compaction: Compaction, index: int, context: RequestContext) -> Message:
    """Return a message that stays, cleared or clipped as the compaction says; else the same object."""
    message, clip = context.transcript.history[index], compaction.clip
    if is_cleared(compaction, index, context):
        message = clear_result(message, context.raw_tokens)
    elif clip and index < clip.until and index not in clip.spare:
        message = clip_message(message, clip.max_tokens, context.raw_tokens)
    return message


def is_cleared(compaction: Compaction, index: int, context: RequestContext) -> bool:
    """Tell whether a compaction replaces a message by a marker that says what it was."""
    if compaction.kind != "cleared" or index >= compaction.covers:
        return False
    return is_clearable(context.transcript.history[index], context.raw_tokens)


@dataclass(frozen=True)
class ViewBuilder:
    """Builds the views of one request, and tells what their parts may cost.

    It holds the context and what is the same for every cut of it, so one can be made wherever a view is
    needed. Whatever takes long is kept in the context's caches, by the digest of what it was made of.
    """

    context: RequestContext

    # What a summary block may cost, and what stands beside it.

    def summary_block_limit(self, cut: int) -> int:
        """Return the most tokens of a summary block for the first ``cut`` messages."""
        summary, window = self.context.policy.summary, self.context.window
        covered = self.context.measure.between(0, cut)
        rate = self.context.rate
        tokens = compute_block_limit(summary.max_tokens, rate, window, covered)
        if rate is not None:
            # A rate is that of the text, in characters, with a quarter to spare; note and pins come on top.
            tokens = min(window // 4, tokens * 5 // 4 + NOTE_AND_PINS_TOKENS)
        return tokens

    def tokens_behind(self, cut: int) -> int:
        """Return the tokens of the fixed part and of all that follows the first ``cut`` messages."""
        context = self.context
        return context.measure.overhead + context.measure.between(cut, len(context.transcript.history))

    def tokens_beside_block(self, cut: int) -> int:
        """Return the tokens of everything but the summary block, when the first ``cut`` messages are covered.

        That is the fixed part, the tail, and what joins the tail on to the block.
        """
        context = self.context
        opener = context.transcript.openers.get(cut)
        total = self.tokens_behind(cut)
        if opener is not None:
            total += context.measure.between(opener, opener + 1)
        fields = self._acknowledgement_fields(cut)
        if fields is not None:
            if fields not in self._acknowledgement_tokens:
                word = build_acknowledgement(fields)
                self._acknowledgement_tokens[fields] = context.calibrated_tokens(word)
            total += self._acknowledgement_tokens[fields]
        return total

    def tokens_with_full_block(self, cut: int) -> int:
        """Return the tokens of a view that covers ``cut`` messages, were its block as long as it may be."""
        return self.tokens_beside_block(cut) + self.pinned_tokens + self.summary_block_limit(cut)

    @property
    def pinned_tokens(self) -> int:
        """Tokens of what operators pinned: it stands in every summary block, on top of the block's limit."""
        return self._pinned_facts[1]

    def text_room(self, cut: int, limit: int) -> int:
        """Return the tokens that a block of ``limit`` leaves for the summary's own text."""
        room = self._build_frame(cut, limit, self.context.rate is not None).room
        return room - min(self._count_labels(cut) * LABEL_TOKENS, room // 4)

    def text_beside_summary(self, cut: int, limit: int) -> str:
        """Return what is read beside the text of a block of ``limit`` tokens.

        That is the note, the pins and the user message that is repeated behind the block. An extract that
        said it once more would waste its room.
        """
        opener = self.context.transcript.openers.get(cut)
        repeated = ""
        if opener is not None:
            repeated = escape_markup(text_of(self.context.transcript.history[opener]))
        frame = self._build_frame(cut, limit, self.context.rate is not None)
        return "\n".join([*frame.lines, repeated])

    def _build_acknowledgement(self, cut: int) -> Message | None:
        """Build the word that parts the block from a user's message: some models refuse two in a row."""
        fields = self._acknowledgement_fields(cut)
        return None if fields is None else build_acknowledgement(fields)

    @cached_property
    def _acknowledgement_tokens(self) -> dict[tuple[str, ...], int]:
        """The tokens of each such word, by its fields: the search for a cut asks for them once a cut."""
        return {}

    def _acknowledgement_fields(self, cut: int) -> tuple[str, ...] | None:
        """Return which fields with thinking that word has at a cut, or None where it is not needed."""
        transcript = self.context.transcript
        if transcript.openers.get(cut) is None and declared_role(transcript.history[cut]) != "user":
            return None
        first = self._thinking_ends.get("", cut)
        return tuple(f for f, end in self._thinking_ends.items() if f and first < cut <= end)

    @cached_property
    def _thinking_ends(self) -> Mapping[str, int]:
        """For each field with plain thinking the first assistant message without it; for "" the first of all.

        Only what is covered decides, so that the bytes of an epoch do not depend on later messages.
        """
        history = self.context.transcript.history
        ends: dict[str, int] = {}
        answers = [i for i, role in enumerate(self.context.transcript.roles) if role == "assistant"]
        if answers:
            ends[""] = answers[0]
            for field in thinking_fields_of(history[answers[0]]):
                without = (i for i in answers if field not in thinking_fields_of(history[i]))
                ends[field] = next(without, len(history))
        return ends

    # Views.

    def build_view(self, compaction: Compaction) -> View:
        """Build the view of this request in which a compaction is used, without quotes."""
        clip, chain = compaction.clip, self.context.chain
        if clip and not (clip.until < len(chain) and chain[clip.until] == clip.digest):
            compaction = replace(compaction, clip=None)
        if compaction.kind == "cleared":
            return self._count_rendered(View(0, compaction))
        cut = compaction.covers
        message = self._build_summary_message(compaction)
        tokens = self.tokens_beside_block(cut) + self.context.calibrated_tokens(message)
        opener = self.context.transcript.openers.get(cut)
        view = View(tokens, compaction, message, self._build_acknowledgement(cut), opener)
        return self._count_rendered(view) if compaction.clip else view

    def tokens_in_place(self, cut: int, summary_message: Message) -> int:
        """Return the tokens of all that stands for the first ``cut`` messages: note, pins, text and opener.

        Quotes are not among them: those come and go with the calls.
        """
        context = self.context
        tail = context.measure.between(cut, len(context.transcript.history))
        beside = self.tokens_beside_block(cut) - context.measure.overhead - tail
        return beside + context.calibrated_tokens(summary_message)

    def measure_in_place(self, compaction: Compaction) -> int:
        """Return the same for a compaction that is no view yet, and keep nothing of its text.

        Its session may have been erased while it was made.
        """
        frame = self._build_frame_of(compaction)
        message = build_summary_message(
            self._label_text(compaction), frame, self.context.raw_tokens, self._pinned_facts[0]
        )
        return self.tokens_in_place(compaction.covers, message)

    def _count_rendered(self, view: View) -> View:
        """Count a view message by message, where the measure of the request does not tell what is changed."""
        context = self.context
        sent = render(view, context)[len(context.transcript.preamble) :]
        return replace(view, tokens=context.measure.overhead + sum(map(context.calibrated_tokens, sent)))

    def _build_summary_message(self, compaction: Compaction) -> Message:
        """Build the message that stands for what is covered, the same bytes at every call."""
        context, cut, text = self.context, compaction.covers, self._label_text(compaction)
        frame_, facts = self._build_frame_of(compaction), self._pinned_facts[0]
        message = context.caches.frames.get(
            ("summary message", text, frame_, facts),
            lambda: build_summary_message(text, frame_, context.raw_tokens, facts),
        )
        opener = context.transcript.openers.get(cut)
        history = context.transcript.history
        # Marks are no part of a digest: clients move them, so they are looked for anew.
        covered = [message for i, message in enumerate(history[:cut]) if i != opener]
        behind = [*([] if opener is None else [history[opener]]), *history[cut:]]
        return mark_for_cache(message, carried_cache_mark(covered, behind))

    def _is_rated(self, compaction: Compaction) -> bool:
        """Tell whether a compaction's text has a length of its own, beside note and pins.

        That is decided when it is made: a rate that an operator sets later is for the next summary, and
        changes no byte of this one.
        """
        return compaction.rate is not None or self.context.policy.summary.rate is not None

    def _build_frame_of(self, compaction: Compaction) -> BlockFrame:
        return self._build_frame(compaction.covers, self._block_limit(compaction), self._is_rated(compaction))

    def _label_text(self, compaction: Compaction) -> str:
        """Return the summary; by turns each of its texts stands behind a label that names its turns."""
        if self.context.policy.summary.strategy != "turns":
            return compaction.text
        return label_segments(compaction.segments, self.context.transcript.turn_starts)

    def _count_labels(self, cut: int) -> int:
        """Return how many labels the summary of the first ``cut`` messages has at most."""
        policy = self.context.policy
        if policy.summary.strategy != "turns":
            return 0
        turns = bisect_left(self.context.transcript.turn_starts, cut)
        return -(-turns // (policy.triggers.turns or TURNS_PER_SEGMENT))

    def _block_limit(self, compaction: Compaction) -> int:
        """Return the most tokens of a stored compaction's block."""
        if compaction.limit is None:
            limit = self.summary_block_limit(compaction.covers)
        else:
            summary, window = self.context.policy.summary, self.context.window
            covered = self.context.measure.between(0, compaction.covers)
            limit = compute_block_limit(summary.max_tokens, None, window, covered)
            if self._is_rated(compaction):
                # The rate was turned into tokens when the compaction was made. Turned into tokens anew it
                # would drift with the count, and the bytes with it.
                limit = self.context.window // 4
            limit = min(limit, compaction.limit)
        return limit

    @cached_property
    def _pinned_facts(self) -> tuple[tuple[str, ...], int]:
        """What operators pinned, and its tokens: of what would fill a quarter of the window, the newest."""
        context, facts = self.context, self.context.session.controls.pins

        def choose() -> tuple[tuple[str, ...], int]:
            for start in range(len(facts)):
                tokens = context.raw_tokens("\n".join(render_operator_pins(facts[start:])))
                if tokens <= context.window // 4:
                    return facts[start:], tokens
            return (), 0

        return context.caches.frames.get(("pins", facts, context.window), choose)

    def _build_frame(self, cut: int, limit: int, rated: bool) -> BlockFrame:
        """Build the note and the pins of a block of ``limit`` tokens, once for all requests."""
        context = self.context
        opener = context.transcript.openers.get(cut)
        settings = self._frame_settings(rated)

        def build() -> BlockFrame:
            # The transcript keeps its messages alive, so that an id names one of them and nothing else.
            covered = context.transcript.history[:cut]
            names = dict(zip(map(id, covered), context.digests[:cut], strict=True))
            return build_frame(
                covered,
                limit,
                settings,
                context.raw_tokens,
                opener=None if opener is None else context.transcript.history[opener],
                rules_of=lambda message: self.find_rules(message, names[id(message)]),
            )

        return context.caches.frames.get(("frame", context.chain[cut], limit, settings), build)

    def _frame_settings(self, rated: bool) -> FrameSettings:
        """All that a frame depends on besides its messages and limit: a part of the key it is kept by."""
        policy, weights = self.context.policy, self.context.policy.anchors.weights
        return FrameSettings(
            rule_tokens=policy.anchors.constraints_max_tokens,
            wants_json=self.context.wants_json,
            max_anchors=policy.anchors.max,
            scoring=Scoring(
                weights.explicit,
                weights.decision,
                weights.tool_result,
                weights.keyword,
                policy.summary.preserve_keys,
            ),
            pinned_tokens=NOTE_AND_PINS_TOKENS if rated else None,
        )

    def find_rules(self, message: Message, digest: bytes) -> tuple[Rule, ...]:
        """Return the rules that a user's message lays down; each message is read once."""
        if declared_role(message) != "user":
            return ()
        return self.context.caches.rules.get(digest, lambda: find_rules(leave_out_middle(message)))

    # Quotes.

    @cached_property
    def quotes(self) -> QuoteFinder:
        """What finds the quotes of this request."""
        return QuoteFinder(self.context)

    def add_quotes(self, view: View) -> View:
        """Return the view with what its user messages need of the covered ones.

        All of it counts as usage, so where many needed quotes, the next compaction comes sooner.
        """
        context, compaction, summary = self.context, view.compaction, view.summary_message
        if compaction is None or summary is None:
            return view
        quotes = self.quotes.find_quotes(compaction, summary, view.opener)
        if not quotes:
            return view
        count, history = context.calibrated_tokens, context.transcript.history
        costs = sum(count(prepend_text(history[n], text)) - count(history[n]) for n, text in quotes.items())
        # Reserved room that quotes now fill is not counted twice.
        filled = min(costs, context.reserved_for_quotes)
        return replace(view, tokens=view.tokens + costs - filled, recalls=quotes, reserve_used=filled)
