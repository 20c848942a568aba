"""Play conversations call by call and count what each strategy would be billed, its summaries included.

Whether compaction saves money depends on the provider's prompt cache: what stands where it stood in the call
before costs a tenth or a half, and whatever changes the beginning of a request is paid for anew, as are the
calls to the model that writes the summaries. So a bill is counted here from the messages of each call, beside
what anybody would build first: one summary of the beginning that stays until the window is full again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from gateway_compaction.core.conversation.messages import Message, role_of, text_of
from gateway_compaction.core.conversation.provider_rules import newly_broken
from gateway_compaction.core.conversation.transcript import parse_transcript, split_at_answers
from gateway_compaction.core.policy.book import Identity, PolicyBook
from gateway_compaction.evaluation.played import GatewayPlayer, PeerPlayer, Player, Sent
from gateway_compaction.evaluation.strategies import SlidingWindow, Weigh
from gateway_compaction.ports import SummaryAnswer, SummaryRequest
from gateway_compaction.replay import DRAIN_SECONDS, FixedModels, build_replay_runtime

THINKING_TOKENS = 512
"""What a summariser of the gateway may write beyond twice the length that it is asked for."""

SUMMARY_TOKENS = 500
"""Length of the one summary of the plain strategy."""

INSTRUCTION_TOKENS = 200
"""What the plain strategy tells its summariser besides the conversation."""

PLAIN_TRIGGER = 0.85
"""Usage from which the plain strategy summarises: that of ``medium``, so that only what is sent differs."""

PLAIN_KEEP_LAST = 4
"""Messages that the plain strategy always keeps."""


@dataclass(frozen=True, slots=True)
class Prices:
    """A price list, in uncached tokens of a prompt.

    Attributes:
        cached: one that the provider reads from its prompt cache.
        written: one that it reads and puts into the cache.
        output: one that a summariser writes.
    """

    cached: float
    written: float
    output: float


PRICES: Mapping[str, Prices] = {
    "cached .1, written 1.25": Prices(0.1, 1.25, 5.0),
    "cached .5": Prices(0.5, 1.0, 4.0),
}
"""The two price lists that most models have, in their own form; ``find_prices`` reads a model's."""


def find_prices(model: str, costs: Mapping[str, Mapping[str, Any]]) -> Prices | None:
    """Return a model's prices as LiteLLM's cost map has them, or None where it does not know the model."""
    known = costs.get(model) or {}
    read = known.get("input_cost_per_token")
    if not read:
        return None
    cached = known.get("cache_read_input_token_cost", read)
    written = known.get("cache_creation_input_token_cost") or read
    return Prices(cached / read, written / read, (known.get("output_cost_per_token") or read) / read)


@dataclass(slots=True)
class Spending:
    """Tokens that one strategy was charged for on some conversations, and how its calls ended.

    Attributes:
        cached: tokens of prompts that stood where they stood in the call before.
        written: the other tokens of prompts.
        summary_cached: tokens of questions to a summariser that stood in the conversation's last call.
        summary_read: the other tokens of such questions.
        summary_output: tokens that a summariser wrote.
        breaks: calls that changed what the call before had sent.
        over_window: calls that were longer than the window.
        invalid: calls that break a rule of a provider which the client kept.
    """

    strategy: str
    calls: int = 0
    cached: int = 0
    written: int = 0
    summaries: int = 0
    summary_cached: int = 0
    summary_read: int = 0
    summary_output: int = 0
    breaks: int = 0
    over_window: int = 0
    invalid: int = 0

    def bill(self, prices: Prices) -> float:
        """Return the bill per call, in uncached tokens of a prompt, summaries included."""
        prompts = self.cached * prices.cached + self.written * prices.written
        asked = self.summary_cached * prices.cached + self.summary_read + self.summary_output * prices.output
        return (prompts + asked) / max(1, self.calls)


@dataclass(slots=True)
class Scales:
    """Weighs messages, each only once: a conversation comes again with every call."""

    weigh: Weigh
    count: Callable[[str], int]
    _weights: dict[str, int] = field(default_factory=dict)

    def weigh_one(self, message: Message) -> int:
        """Return the tokens of one message within a request."""
        key = json.dumps(message, sort_keys=True, default=str)
        if key not in self._weights:
            self._weights[key] = self.weigh([message]) - self.weigh([])
        return self._weights[key]

    def weigh_all(self, messages: Sequence[Message]) -> int:
        """Return the tokens of some messages of a request."""
        return sum(map(self.weigh_one, messages))

    def write(self, source: str, tokens: int) -> str:
        """Return the beginning of a source in about so many tokens: what stands in for a model's summary."""
        beginning = source[: 8 * tokens]
        counted = self.count(beginning)
        return beginning if counted <= tokens else beginning[: len(beginning) * tokens // counted]


@dataclass(slots=True)
class MeteredSummarizer:
    """A stand-in for a model that writes as much as it is asked for, and is charged for it."""

    scales: Scales
    spending: Spending

    async def complete(self, request: SummaryRequest) -> SummaryAnswer:
        """See ``ports.Summarizer``."""
        shown = request.user.split("<transcript>", 1)[-1].split("</transcript>")[0]
        source = shown if request.prefix == () else "\n".join(text_of(m) for m in request.prefix)
        text = self.scales.write(source, max(40, (request.max_tokens - THINKING_TOKENS) // 2))
        self.spending.summaries += 1
        self.spending.summary_cached += self.scales.weigh_all(request.prefix)
        self.spending.summary_read += self.scales.count(request.system) + self.scales.count(request.user)
        self.spending.summary_output += self.scales.count(text)
        return SummaryAnswer(f"<summary>{text}</summary>", "stop", request.model)


@dataclass(slots=True)
class PinnedSummaryPlayer:
    """The plain strategy: one summary of the beginning, which stays until the window is full again.

    It is made by a model at the call that would come near the window, of the summary before and what has come
    since. With ``shares_prefix`` it is asked for behind the last call's own prompt, which the provider has
    cached.
    """

    window: int
    target: float
    shares_prefix: bool
    scales: Scales
    spending: Spending
    covers: int = 0
    text: str = ""

    async def send(self, messages: Sequence[Message]) -> Sent:
        """See ``Player``."""
        transcript = parse_transcript(messages)
        sent = self._build(transcript.preamble, transcript.history, transcript.openers.get(self.covers))
        if self.scales.weigh_all(sent) >= PLAIN_TRIGGER * self.window:
            self._summarise(sent, messages)
            sent = self._build(transcript.preamble, transcript.history, transcript.openers.get(self.covers))
        return Sent(sent, self.covers > 0)

    def _build(
        self, preamble: Sequence[Message], history: Sequence[Message], opener: int | None
    ) -> list[Message]:
        if not self.covers:
            return [*preamble, *history]
        note: Message = {"role": "user", "content": f"Summary of the conversation so far:\n{self.text}"}
        reply: Message = {"role": "assistant", "content": "OK."}
        repeated = [] if opener is None else [history[opener]]
        tail = history[self.covers :]
        parted = [reply] if opener is not None or role_of(tail[0]) == "user" else []
        return [*preamble, note, *parted, *repeated, *tail]

    def _summarise(self, sent: Sequence[Message], messages: Sequence[Message]) -> None:
        """Cover as little as brings usage to the target, or as much as may be."""
        transcript = parse_transcript(messages)
        history = transcript.history
        cuts = [c for c in transcript.cuts if self.covers < c <= len(history) - PLAIN_KEEP_LAST]
        if not cuts:
            return
        fixed = self.scales.weigh_all(transcript.preamble) + SUMMARY_TOKENS
        goal = self.target * self.window - fixed
        cut = next((c for c in cuts if self.scales.weigh_all(history[c:]) <= goal), cuts[-1])
        new = history[self.covers : cut]
        text = self.scales.write("\n".join(text_of(m) for m in reversed(new)), SUMMARY_TOKENS)
        self.spending.summaries += 1
        self.spending.summary_output += self.scales.count(text)
        self.spending.summary_read += INSTRUCTION_TOKENS
        if self.shares_prefix:
            self.spending.summary_cached += self.scales.weigh_all(sent)
        else:
            self.spending.summary_read += self.scales.count(self.text) + self.scales.weigh_all(new)
        self.covers, self.text = cut, text


class Variant(Protocol):
    """A strategy whose bill is counted: it makes a player for each conversation."""

    @property
    def name(self) -> str:
        """The name that tables show."""

    def make_player(self, window: int, scales: Scales, spending: Spending) -> Player:
        """Return what sends the calls of one conversation, and charges ``spending`` for its summaries."""


@dataclass(frozen=True, slots=True)
class PassThrough:
    """No compaction at all."""

    name: str = "pass-through"

    def make_player(self, window: int, scales: Scales, spending: Spending) -> Player:
        """See ``Variant``."""
        return _Unchanged()


@dataclass(frozen=True, slots=True)
class Sliding:
    """The newest messages that fit; each call then begins otherwise than the one before."""

    name: str = "sliding window"

    def make_player(self, window: int, scales: Scales, spending: Spending) -> Player:
        """See ``Variant``."""
        return PeerPlayer(SlidingWindow(scales.weigh), window)


@dataclass(frozen=True, slots=True)
class PinnedSummary:
    """See ``PinnedSummaryPlayer``."""

    name: str
    target: float
    shares_prefix: bool = False

    def make_player(self, window: int, scales: Scales, spending: Spending) -> Player:
        """See ``Variant``."""
        return PinnedSummaryPlayer(window, self.target, self.shares_prefix, scales, spending)


@dataclass(frozen=True, slots=True)
class GatewayVariant:
    """The code that serves requests, under somebody's policies."""

    name: str
    book: PolicyBook
    identity: Identity

    def make_player(self, window: int, scales: Scales, spending: Spending) -> Player:
        """See ``Variant``."""
        model = self.identity.model or "replay"
        summarizer = MeteredSummarizer(scales, spending)
        runtime = build_replay_runtime(FixedModels(window, model), summarizer, self.book)
        return GatewayPlayer(runtime, model, self.identity)


class _Unchanged:
    async def send(self, messages: Sequence[Message]) -> Sent:
        return Sent(messages, False)


async def spend(
    variant: Variant,
    conversations: Sequence[Sequence[Message]],
    window: int,
    scales: Scales,
    step: Callable[[], None] = lambda: None,
) -> Spending:
    """Play conversations with one strategy and return what it was charged for; ``step`` follows each call."""
    spending = Spending(variant.name)
    for messages in conversations:
        player = variant.make_player(window, scales, spending)
        before: Sequence[Message] = ()
        for call in split_at_answers(messages):
            sent = (await player.send(call)).messages
            _charge(spending, scales, before, sent)
            spending.over_window += scales.weigh_all(sent) > window
            spending.invalid += bool(newly_broken({"messages": list(sent)}, {"messages": list(call)}))
            before = sent
            step()
        if isinstance(player, GatewayPlayer):
            await player.runtime.worker.drain(DRAIN_SECONDS)
            await player.runtime.aclose()
    return spending


def _charge(spending: Spending, scales: Scales, before: Sequence[Message], sent: Sequence[Message]) -> None:
    same = 0
    while same < min(len(before), len(sent)) and before[same] == sent[same]:
        same += 1
    spending.calls += 1
    spending.cached += scales.weigh_all(sent[:same])
    spending.written += scales.weigh_all(sent[same:])
    spending.breaks += same < len(before)
