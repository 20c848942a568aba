"""Run one comparison from beginning to end: strategies, budgets and conversations in, rows out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gateway_compaction.core.conversation.messages import Message
from gateway_compaction.core.policy.book import Identity, PolicyBook
from gateway_compaction.core.tokens.counter import TokenCounter
from gateway_compaction.evaluation.judge import Judge
from gateway_compaction.evaluation.material import Conversation, explain_unasked
from gateway_compaction.evaluation.peers import Absent, find_peers
from gateway_compaction.evaluation.played import DEFAULT_POLICY, PlayedBench
from gateway_compaction.evaluation.played_report import PlayedRow, make_played_rows
from gateway_compaction.evaluation.report import Row, make_rows
from gateway_compaction.evaluation.run import Bench
from gateway_compaction.evaluation.strategies import (
    Coverage,
    Gateway,
    MessageSearch,
    SlidingWindow,
    Strategy,
    Weigh,
)
from gateway_compaction.replay import identity_for_replay
from gateway_compaction.runtime import use_bundled_encodings

Progress = Callable[[int, int], None]


class NoStrategyError(Exception):
    """The name of a strategy does not exist; the text lists those that do."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The choices of one comparison. ``names`` are parts of strategy names; none means all."""

    budgets: Sequence[int]
    names: Sequence[str] = ()
    known: bool = True
    unknown: bool = True
    model: str = "gpt-4o"
    book: PolicyBook | None = None
    judge: Judge | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True)
class PlayedComparison:
    """The rows of one set of conversations that were played, and the strategies that cannot run here."""

    title: str
    rows: Sequence[PlayedRow]
    absent: Sequence[Absent]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The rows of one set of conversations, the strategies that cannot run here, and why questions are
    missing.
    """

    title: str
    rows: Sequence[Row]
    absent: Sequence[Absent]
    unasked: str | None = None


async def compare(
    sets: Mapping[str, Sequence[Conversation]], wanted: Wanted, progress: Progress
) -> list[Comparison]:
    """Compare strategies on each named set of conversations.

    ``progress`` is called with the steps done and the steps in all.

    Raises:
        NoStrategyError: no strategy has such a name.
    """
    use_bundled_encodings()
    counter = TokenCounter()

    def weigh(messages: Sequence[Message]) -> int:
        return counter.raw_prompt_tokens(messages, {}, wanted.model)

    ours, chosen = _choose_strategies(wanted, weigh)
    absent = [s for s in chosen if isinstance(s, Absent)]
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        progress(done, total)

    bench = Bench(
        [s for s in chosen if not isinstance(s, Absent)],
        wanted.budgets,
        weigh,
        lambda text: counter.raw_tokens(text, wanted.model),
        wanted.known,
        wanted.unknown,
        wanted.judge,
        step,
    )
    total = sum(bench.count_steps(conversations) for conversations in sets.values())
    made = []
    for title, conversations in sets.items():
        rows = make_rows(await bench.run(conversations), not wanted.known)
        made.append(Comparison(title, rows, absent, explain_unasked(conversations) if wanted.known else None))
    await ours.aclose()
    return made


async def compare_played(
    sets: Mapping[str, Sequence[Conversation]], wanted: Wanted, progress: Progress
) -> list[PlayedComparison]:
    """Play each named set of conversations call by call with every strategy; a budget is a window.

    This gateway has the policy that was given, else the defaults; an extract stands in for its model.

    Raises:
        NoStrategyError: no strategy has such a name.
    """
    use_bundled_encodings()
    counter = TokenCounter()

    def weigh(messages: Sequence[Message]) -> int:
        return counter.raw_prompt_tokens(messages, {}, wanted.model)

    ours, chosen = _choose_strategies(wanted, weigh)
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        progress(done, total)

    book = wanted.book or PolicyBook(DEFAULT_POLICY, "eval")
    identity, _ = identity_for_replay(book, Identity(model=wanted.model), extract=True, asks="")
    strategies = [s for s in chosen if not isinstance(s, Absent)]
    bench = PlayedBench(
        strategies, wanted.budgets, weigh, wanted.model, book, identity, wanted.seed, step=step
    )
    total = sum(bench.count_steps(conversations) for conversations in sets.values())
    absent = [s for s in chosen if isinstance(s, Absent)]
    made = [
        PlayedComparison(title, make_played_rows(await bench.run(conversations)), absent)
        for title, conversations in sets.items()
    ]
    await ours.aclose()
    return made


def _choose_strategies(wanted: Wanted, weigh: Weigh) -> tuple[Gateway, list[Strategy | Absent]]:
    ours = Gateway(wanted.model, weigh, wanted.book)
    plain: list[Strategy | Absent] = [ours, SlidingWindow(weigh), MessageSearch(weigh), Coverage(weigh)]
    everything = [*plain, *find_peers(wanted.model, weigh)]
    chosen = [s for s in everything if _matches_name(s.name, wanted.names)]
    if not chosen:
        known = ", ".join(s.name for s in everything)
        raise NoStrategyError(f"no strategy has {' or '.join(wanted.names)} in its name; there are: {known}")
    return ours, chosen


def _matches_name(name: str, parts: Sequence[str]) -> bool:
    return not parts or any(part.lower() in name.lower() for part in parts)
