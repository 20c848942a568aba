"""Send every trial by every strategy, and count what survives."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from gateway_compaction.core.conversation.messages import Message
from gateway_compaction.core.conversation.transcript import parse_transcript
from gateway_compaction.core.extractive.extract import build_extract
from gateway_compaction.evaluation.judge import Judge
from gateway_compaction.evaluation.material import Conversation, Question
from gateway_compaction.evaluation.metrics import SentText, answer_words
from gateway_compaction.evaluation.rules import find_rules, find_task
from gateway_compaction.evaluation.strategies import OURS, Finder, Strategy, Weigh
from gateway_compaction.evaluation.summaries import names_in_context
from gateway_compaction.evaluation.trials import Trial, make_trials, user_message

FAULTS = (ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError)
MOST_FAULTS = 20
TOP = 3


@dataclass(slots=True)
class Tally:
    """The results of one strategy at one budget: values by measure, each with its conversation.

    Attributes:
        over: requests that were still larger than the budget.
        faults: requests at which the strategy raised, by the name of the exception.
        tight: requests left out, whose preamble and last message alone take more than half of the budget.
        small: requests left out, which fit as they are.
        fitting: requests measured although they fit as they are; ``larger`` of them were made larger.
        first_ms: milliseconds of the first request of each conversation.
    """

    strategy: str
    budget: int
    values: dict[str, list[tuple[str, float]]] = field(default_factory=dict)
    over: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    tight: int = 0
    small: int = 0
    fitting: int = 0
    larger: int = 0
    requests: int = 0
    first_ms: list[float] = field(default_factory=list)

    def add(self, measure: str, conversation: str, value: float | bool) -> None:
        """Add one more value of a measure."""
        self.values.setdefault(measure, []).append((conversation, float(value)))


@dataclass(frozen=True, slots=True)
class Bench:
    """Strategies, budgets, and one way to count tokens for all of them.

    ``weigh`` counts messages as a request, ``count`` a text; ``step`` is called after each trial.
    """

    strategies: Sequence[Strategy]
    budgets: Sequence[int]
    weigh: Weigh
    count: Callable[[str], int]
    known: bool = True
    unknown: bool = True
    judge: Judge | None = None
    step: Callable[[], None] = lambda: None

    def count_steps(self, conversations: Iterable[Conversation]) -> int:
        """Return how often ``step`` will be called."""
        trials = sum(len(list(self._trials(c))) for c in conversations)
        return trials * len(self.strategies) * len(self.budgets)

    async def run(self, conversations: Sequence[Conversation]) -> list[Tally]:
        """Run all trials, and return one tally for each strategy and budget."""
        made = []
        for budget in self.budgets:
            trials = [(t, self._classify_size(t, budget)) for c in conversations for t in self._trials(c)]
            # Where every request fits there is nothing to leave out.
            wanted = ("large",) if any(state == "large" for _, state in trials) else ("small",)
            for strategy in self.strategies:
                tally = Tally(strategy.name, budget)
                made.append(tally)
                await self._run_strategy(tally, strategy, trials, wanted)
        return made

    def _trials(self, conversation: Conversation) -> Iterator[Trial]:
        return make_trials(conversation, self.known, self.unknown)

    def _classify_size(self, trial: Trial, budget: int) -> str:
        """Return ``small`` where it fits as it is, ``tight`` where what must stay takes half of the budget,
        else ``large``.
        """
        if self.weigh(trial.messages) <= budget:
            return "small"
        fixed = [*parse_transcript(trial.messages).preamble, trial.messages[-1]]
        return "tight" if self.weigh(fixed) > budget // 2 else "large"

    async def _run_strategy(
        self,
        tally: Tally,
        strategy: Strategy,
        trials: Sequence[tuple[Trial, str]],
        wanted: tuple[str, ...],
    ) -> None:
        sender = _Sender(strategy, tally, self.weigh)
        for trial, state in trials:
            tally.tight += state == "tight"
            tally.small += state == "small" and "small" not in wanted
            self._measure_unsized(tally, strategy, trial)
            if state in wanted and sender.willing:
                sent = await sender.send(trial)
                if sent is not None:
                    if state == "small":
                        tally.fitting += 1
                        tally.larger += self.weigh(sent) > self.weigh(trial.messages)
                    await self._measure_sent(tally, strategy, trial, sent)
            self.step()

    async def _measure_sent(
        self, tally: Tally, strategy: Strategy, trial: Trial, sent: Sequence[Message]
    ) -> None:
        name = trial.conversation.id
        tokens = self.weigh(sent)
        tally.requests += 1
        tally.over += tokens > tally.budget
        tally.add("tokens", name, tokens)
        context = SentText.of(sent)
        if trial.question is not None:
            _measure_question(tally, trial, trial.question, context, "")
            if self.judge is not None:
                await self._measure_judged(tally, trial.question, sent, name)
        elif trial.probe is not None:
            tally.add("probes", name, context.holds(trial.probe.sentence))
        else:
            self._measure_without_question(tally, strategy, trial, context)

    async def _measure_judged(
        self, tally: Tally, question: Question, sent: Sequence[Message], name: str
    ) -> None:
        assert self.judge is not None
        mark = await self.judge.mark(sent, question.text, question.answer)
        if mark is not None:
            tally.add("judged", name, mark)

    def _measure_without_question(
        self, tally: Tally, strategy: Strategy, trial: Trial, context: SentText
    ) -> None:
        name, history = trial.conversation.id, trial.messages[:-1]
        for question in trial.conversation.questions if trial.ends and self.unknown else ():
            _measure_question(tally, trial, question, context, "_unknown")
        task = find_task(history)
        if task:
            tally.add("task", name, context.holds_task(task))
        for rule in find_rules(history):
            tally.add("rules", name, context.holds(rule))
        if trial.needed:
            tally.add("identifiers", name, _share_true([context.spells(n) for n in trial.needed]))

    def _measure_unsized(self, tally: Tally, strategy: Strategy, trial: Trial) -> None:
        """Measure what does not depend on a request's size: searches, and summaries on their own."""
        if trial.probe is not None and isinstance(strategy, Finder):
            best = [SentText.of([user_message(text)]) for text in strategy.find(trial.messages)[:TOP]]
            found = any(c.holds(trial.probe.sentence) for c in best)
            tally.add("hit3", trial.conversation.id, found)
        if trial.needed and strategy.name == OURS:
            self._measure_extract(tally, trial)

    def _measure_extract(self, tally: Tally, trial: Trial) -> None:
        """Measure the summary without a model on its own, with as many tokens as the budget."""
        name, history = trial.conversation.id, parse_transcript(trial.messages[:-1]).history
        if self.weigh(history) <= tally.budget:
            return
        text = build_extract(history, tally.budget, self.count)
        read = SentText.of([user_message(text)])
        tally.add("identifiers_summary", name, _share_true([read.spells(n) for n in trial.needed]))
        kept = names_in_context(text, history, trial.needed)
        tally.add("identifiers_in_context", name, _share_true([n in kept for n in trial.needed]))


@dataclass(slots=True)
class _Sender:
    """Sends trials and takes the time. It sends once what does not depend on the question."""

    strategy: Strategy
    tally: Tally
    weigh: Weigh
    kept: dict[tuple[str, int], list[Message]] = field(default_factory=dict)

    @property
    def willing(self) -> bool:
        """False after errors alone: what cannot be done at all is not tried a thousand times."""
        return self.tally.faults.total() < MOST_FAULTS or self.tally.requests > 0

    async def send(self, trial: Trial) -> list[Message] | None:
        """Return what is sent, or None where the strategy failed."""
        key = (trial.conversation.id, len(trial.messages))
        if key in self.kept:
            return [*self.kept[key][:-1], trial.messages[-1]]
        longest = trial if self.strategy.reads_question else self._with_longest_question(trial)
        started = time.perf_counter()
        try:
            sent = await self.strategy.send(longest.messages, self.tally.budget, trial.asked)
        except FAULTS as fault:
            if self.strategy.name == OURS:
                raise
            self.tally.faults[type(fault).__name__] += 1
            return None
        ms = 1e3 * (time.perf_counter() - started)
        if not any(c == trial.conversation.id for c, _ in self.tally.values.get("ms", ())):
            self.tally.first_ms.append(ms)
        self.tally.add("ms", trial.conversation.id, ms)
        if self.strategy.reads_question or not sent or sent[-1] != longest.messages[-1]:
            return sent
        self.kept[key] = sent
        return [*sent[:-1], trial.messages[-1]]

    def _with_longest_question(self, trial: Trial) -> Trial:
        """Return the request with the longest question or probe of the conversation, so that each fits."""
        asked = [trial.messages[-1]]
        if trial.asked or trial.ends:
            asked += [user_message(q.text) for q in trial.conversation.questions]
            asked += [user_message(p.text) for p in trial.conversation.probes]
        last = max(asked, key=lambda m: self.weigh([m]))
        return replace(trial, messages=(*trial.messages[:-1], last))


def _measure_question(tally: Tally, trial: Trial, question: Question, context: SentText, suffix: str) -> None:
    answer, name = answer_words(question.answer), trial.conversation.id
    kept = [context.keeps(trial.conversation.messages[e], answer) for e in question.evidence]
    tally.add(f"evidence{suffix}", name, _share_true(kept))
    if answer:
        tally.add(f"answers{suffix}", name, context.has_words(answer))


def _share_true(found: Sequence[bool]) -> float:
    return sum(found) / len(found)
