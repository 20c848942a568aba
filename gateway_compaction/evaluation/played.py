"""Play conversations call by call, ask questions on the way, and count what survives and what it costs.

One cold request shows what a search finds. A client does not send one: its conversation grows, a compaction
has served some calls by the time a question comes, older quotes stand before older messages, and whatever
changes the beginning of a request is paid for anew. So a conversation is sent as it grows, and each question
is asked at a place of its own behind its evidence, answered with the recorded answer, and stays.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from gateway_compaction.core.conversation.messages import Message, role_of, text_of
from gateway_compaction.core.policy.book import Identity, PolicyBook
from gateway_compaction.engine.post_call import Ending
from gateway_compaction.engine.request import Planned, Request
from gateway_compaction.evaluation.material import Conversation, Question
from gateway_compaction.evaluation.metrics import SentText, answer_words
from gateway_compaction.evaluation.run import FAULTS
from gateway_compaction.evaluation.strategies import OURS, Strategy, Weigh
from gateway_compaction.ports import Caller
from gateway_compaction.replay import DRAIN_SECONDS, FixedModels, NoSummarizer, build_replay_runtime
from gateway_compaction.runtime import Runtime

CALLS_A_QUESTION = 5
"""Messages of the user for each question that is asked: more, and the questions would be the conversation."""

CACHED_PRICE = 0.1
"""What a token costs that a provider reads from its prompt cache, as a share of one that it does not."""

RECALL_MARK = "<recall>"
"""What a quote begins with."""

DEFAULT_POLICY: Mapping[str, object] = {
    "version": 1,
    "defaults": {"mode": "enforce", "summary": {"model": "extractive"}},
}
"""The defaults, but for the summaries: an extract stands in for a model's."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question in its place: before which message of the recording it is asked."""

    before: int
    question: Question


@dataclass(frozen=True, slots=True)
class Sent:
    """The messages that are sent for one call, and whether any message of the history is left out."""

    messages: Sequence[Message]
    is_compacted: bool


class Player(Protocol):
    """Something that sends the calls of one conversation, in order."""

    async def send(self, messages: Sequence[Message]) -> Sent:
        """Return what is sent for the next call."""


@dataclass(frozen=True, slots=True)
class Mark:
    """The outcome of one question.

    Attributes:
        conversation: the name of its conversation.
        share: the share of its evidence that is sent.
        is_compacted: whether messages were left out for this call.
        is_quoted: whether anything was quoted for it.
        cold: the share that one cold request of the same history would have kept, where that was asked for.
    """

    conversation: str
    share: float
    is_compacted: bool
    is_quoted: bool
    cold: float | None = None


@dataclass(slots=True)
class PlayedTally:
    """The results of one strategy in one window.

    Attributes:
        marks: one for each question.
        bills: of each call what its tokens cost, those that stand where they stood in the call before at the
            price of cached ones.
        tokens: of each call the tokens that were sent.
        rewrites: calls that changed what the call before had sent, and so lost the prompt cache behind it.
        faults: conversations that were given up since the strategy raised.
    """

    strategy: str
    window: int
    marks: list[Mark] = field(default_factory=list)
    bills: list[float] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    rewrites: int = 0
    faults: int = 0

    @property
    def is_ours(self) -> bool:
        """Whether these are the results of this gateway."""
        return self.strategy == OURS


def place_questions(conversation: Conversation, seed: int) -> list[Asked]:
    """Choose questions, and for each a place anywhere behind its evidence, in the order of their places.

    Of a conversation without questions its probes are asked. There is one for every few messages of the user
    at most.
    """
    chance = random.Random(seed)
    users = [i for i, m in enumerate(conversation.messages) if role_of(m) == "user"]
    questions = [*conversation.questions, *_probes_as_questions(conversation)]
    wanted = max(1, len(users) // CALLS_A_QUESTION)
    asked = []
    for question in chance.sample(questions, min(len(questions), wanted)):
        later = [i for i in users if i > max(question.evidence)]
        asked.append(Asked(chance.choice([*later, len(conversation.messages)]), question))
    return sorted(asked, key=lambda one: one.before)


def _probes_as_questions(conversation: Conversation) -> Iterable[Question]:
    for probe in conversation.probes:
        holding = [i for i, m in enumerate(conversation.messages) if probe.sentence in text_of(m)]
        if holding:
            yield Question(probe.text, probe.sentence, (holding[0],))


@dataclass(slots=True)
class GatewayPlayer:
    """The code that serves requests, with what follows each call."""

    runtime: Runtime
    model: str
    identity: Identity

    async def send(self, messages: Sequence[Message]) -> Sent:
        """See ``Player``."""
        request = Request(list(messages), {}, self.model, "eval", self.identity, Caller(self.model))
        decision = await self.runtime.compactor.compact(request)
        self.runtime.post_call.follow(decision, Ending("answered"))
        await self.runtime.worker.drain(DRAIN_SECONDS)
        used = decision.used if isinstance(decision, Planned) else None
        return Sent(list(decision.sent), used is not None and used.covers > 0)


@dataclass(frozen=True, slots=True)
class PeerPlayer:
    """Another strategy; it knows nothing of the calls before."""

    strategy: Strategy
    window: int

    async def send(self, messages: Sequence[Message]) -> Sent:
        """See ``Player``."""
        sent = await self.strategy.send(messages, self.window, True)
        return Sent(sent, len(sent) < len(messages))


@dataclass(slots=True)
class PlayedBench:
    """Strategies and windows that conversations are played with.

    Attributes:
        book: the policies of this gateway; ``identity`` says whose they are.
        step: called after each call.
    """

    strategies: Sequence[Strategy]
    windows: Sequence[int]
    weigh: Weigh
    model: str
    book: PolicyBook
    identity: Identity
    seed: int = 0
    with_cold: bool = True
    step: Callable[[], None] = lambda: None
    _weights: dict[str, int] = field(default_factory=dict)

    def count_steps(self, conversations: Iterable[Conversation]) -> int:
        """Return how often ``step`` will be called."""
        calls = 0
        for one in conversations:
            users = sum(role_of(m) == "user" for m in one.messages)
            calls += users + len(place_questions(one, self.seed))
        return calls * len(self.strategies) * len(self.windows)

    async def run(self, conversations: Sequence[Conversation]) -> list[PlayedTally]:
        """Play all conversations, and return one tally for each strategy and window."""
        tallies = []
        for window in self.windows:
            for strategy in self.strategies:
                tally = PlayedTally(strategy.name, window)
                for one in conversations:
                    await self._play(tally, strategy, one)
                tallies.append(tally)
        return tallies

    async def _play(self, tally: PlayedTally, strategy: Strategy, one: Conversation) -> None:
        runtime: Runtime | None = None
        player: Player = PeerPlayer(strategy, tally.window)
        if strategy.name == OURS:
            runtime = self._build_runtime(tally.window)
            player = GatewayPlayer(runtime, self.model, self.identity)
        try:
            await self._play_calls(tally, player, one)
        except FAULTS:
            if strategy.name == OURS:
                raise
            tally.faults += 1
        finally:
            if runtime is not None:
                await runtime.aclose()

    async def _play_calls(self, tally: PlayedTally, player: Player, one: Conversation) -> None:
        asked = place_questions(one, self.seed)
        history: list[Message] = []
        before: Sequence[Message] = ()

        async def call() -> Sent:
            nonlocal before
            sent = await player.send(history)
            self._charge(tally, before, sent.messages)
            before = sent.messages
            self.step()
            return sent

        for number in range(len(one.messages) + 1):
            for this in asked:
                if this.before != number:
                    continue
                history.append({"role": "user", "content": this.question.text})
                sent = await call()
                tally.marks.append(await self._mark(tally, one, this.question, history, sent))
                history.append({"role": "assistant", "content": this.question.answer or "I see."})
            if number < len(one.messages):
                history.append(one.messages[number])
                if role_of(one.messages[number]) == "user":
                    await call()

    async def _mark(
        self,
        tally: PlayedTally,
        one: Conversation,
        question: Question,
        history: Sequence[Message],
        sent: Sent,
    ) -> Mark:
        cold = None
        if self.with_cold and tally.is_ours:
            runtime = self._build_runtime(tally.window)
            alone = await GatewayPlayer(runtime, self.model, self.identity).send(history)
            await runtime.aclose()
            cold = _share_kept(one, question, alone.messages)
        share = _share_kept(one, question, sent.messages)
        is_quoted = RECALL_MARK in text_of(sent.messages[-1])
        return Mark(one.id, share, sent.is_compacted, is_quoted, cold)

    def _charge(self, tally: PlayedTally, before: Sequence[Message], sent: Sequence[Message]) -> None:
        same = 0
        while same < min(len(before), len(sent)) and before[same] == sent[same]:
            same += 1
        cached = sum(self._weigh_one(m) for m in sent[:same])
        fresh = sum(self._weigh_one(m) for m in sent[same:])
        tally.bills.append(CACHED_PRICE * cached + fresh)
        tally.tokens.append(cached + fresh)
        tally.rewrites += same < len(before)

    def _weigh_one(self, message: Message) -> int:
        key = json.dumps(message, sort_keys=True, default=str)
        if key not in self._weights:
            self._weights[key] = self.weigh([message]) - self.weigh([])
        return self._weights[key]

    def _build_runtime(self, window: int) -> Runtime:
        return build_replay_runtime(FixedModels(window, self.model), NoSummarizer(), self.book)


def _share_kept(one: Conversation, question: Question, sent: Sequence[Message]) -> float:
    context, words = SentText.of(sent), answer_words(question.answer)
    kept = [context.keeps(one.messages[e], words) for e in question.evidence]
    return sum(kept) / len(kept)
