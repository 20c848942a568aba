"""Define the strategies that are compared: this gateway, and three plain ways to keep a request within a
budget.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from gateway_compaction.core.conversation.digest import fingerprint
from gateway_compaction.core.conversation.messages import PREAMBLE_ROLES, Message, declared_role, text_of
from gateway_compaction.core.policy.book import Identity, PolicyBook
from gateway_compaction.core.recall.index import PassageIndex, build_index, build_query, rank_passages
from gateway_compaction.core.recall.passages import split_into_passages
from gateway_compaction.engine.request import Request
from gateway_compaction.ports import Caller
from gateway_compaction.replay import FixedModels, NoSummarizer, build_replay_runtime
from gateway_compaction.runtime import Runtime

OURS = "gateway-compaction"
K1, B = 1.5, 0.75
ROOM_STEP, BESIDE, LEAST_REST = 50, 150, 180
WORD = re.compile(r"\w+")
Weigh = Callable[[Sequence[Message]], int]
"""Tokens of some messages as one request."""
RequestParts = tuple[list[Message], list[Message], Message]
"""The preamble, the messages that may be left out, and the last message."""


@runtime_checkable
class Finder(Protocol):
    """A strategy that searches the conversation."""

    def find(self, messages: Sequence[Message]) -> list[str]:
        """Return what it would quote for the last message, best first."""


class Strategy(Protocol):
    """A way to make messages fit a budget."""

    @property
    def name(self) -> str:
        """The name that tables show."""

    @property
    def reads_question(self) -> bool:
        """Whether the last message changes what is kept of the others."""

    async def send(self, messages: Sequence[Message], budget: int, asked: bool) -> list[Message]:
        """Return what is sent for a request; ``asked``: its last message is the question to be answered."""


def policy_for(room: int, asked: bool) -> dict[str, Any]:
    """Return this gateway's policy for a window with ``room`` tokens beside the preamble; it asks no model.

    Where the question is known, three quarters of the room are for excerpts and one for the rest. Where it is
    not, the summary may take all (that is three quarters of the window at most), and the last messages stay
    that fit beside it.
    """
    excerpts = max(0, min(3 * room // 4, room - LEAST_REST))
    summary = {"model": "extractive", "max_tokens": max(100, room // 4 if asked else room - BESIDE)}
    levels = {
        "light": {"at": 0.9},
        "medium": {"at": 0.96, "keep_last": 10},
        "aggressive": {"at": 0.98, "keep_last": 1, "target": 0.95},
    }
    return {"summary": summary, "recall": {"max_tokens": excerpts if asked else 0}, "levels": levels}


@dataclass(slots=True)
class Gateway:
    """The code that serves requests, with a window of the budget; ``book`` stands in for ``policy_for``."""

    model: str
    weigh: Weigh
    book: PolicyBook | None = None
    name: str = OURS
    reads_question: bool = True
    _runtimes: dict[tuple[int, int, bool], Runtime] = field(default_factory=dict)
    _indexes: dict[str, PassageIndex] = field(default_factory=dict)

    async def send(self, messages: Sequence[Message], budget: int, asked: bool) -> list[Message]:
        """See ``Strategy``."""
        room = budget - self.weigh(_split_request(messages)[0])
        runtime = self._runtime(budget, room // ROOM_STEP * ROOM_STEP, asked)
        identity = Identity(model=self.model)
        request = Request(messages, {}, self.model, "eval", identity, Caller(self.model))
        decision = await runtime.compactor.compact(request)
        return list(messages if decision.messages is None else decision.messages)

    def find(self, messages: Sequence[Message]) -> list[str]:
        """See ``Finder``."""
        history = messages[:-1]
        digest = fingerprint(*(text_of(m) for m in history))
        if digest not in self._indexes:
            self._indexes[digest] = build_index(history, [split_into_passages(m) for m in history])
        index = self._indexes[digest]
        return [index.passages[number].text for _, number in rank_passages(index, build_query(messages[-1]))]

    async def aclose(self) -> None:
        """Close the runtimes."""
        for runtime in self._runtimes.values():
            await runtime.aclose()

    def _runtime(self, budget: int, room: int, asked: bool) -> Runtime:
        key = (budget, room, asked)
        if key not in self._runtimes:
            document: Mapping[str, Any] = {"version": 1, "defaults": policy_for(room, asked)}
            book = self.book or PolicyBook(document, "eval")
            models = FixedModels(budget, self.model)
            self._runtimes[key] = build_replay_runtime(models, NoSummarizer(), book)
        return self._runtimes[key]


@dataclass(frozen=True, slots=True)
class SlidingWindow:
    """A strategy that keeps the newest messages that fit."""

    weigh: Weigh
    name: str = "sliding window"
    reads_question: bool = False

    async def send(self, messages: Sequence[Message], budget: int, asked: bool) -> list[Message]:
        """See ``Strategy``."""
        head, body, last = _split_request(messages)
        return _fill_budget((head, body, last), reversed(range(len(body))), budget, self.weigh, stop=True)


@dataclass(frozen=True, slots=True)
class MessageSearch:
    """Whole messages by BM25 (k1 1.5, b 0.75, lower-case words), in time order; the newest first on a tie."""

    weigh: Weigh
    name: str = "BM25, whole messages"
    reads_question: bool = True

    async def send(self, messages: Sequence[Message], budget: int, asked: bool) -> list[Message]:
        """See ``Strategy``."""
        head, body, last = _split_request(messages)
        return _fill_budget((head, body, last), _order_by_bm25(body, last), budget, self.weigh)

    def find(self, messages: Sequence[Message]) -> list[str]:
        """See ``Finder``."""
        _, body, last = _split_request(messages)
        return [text_of(body[i]) for i in _order_by_bm25(body, last)]


@dataclass(frozen=True, slots=True)
class Coverage:
    """Whole messages, one by one the one that adds most rare words for its tokens."""

    weigh: Weigh
    name: str = "rare-word coverage"
    reads_question: bool = False

    async def send(self, messages: Sequence[Message], budget: int, asked: bool) -> list[Message]:
        """See ``Strategy``."""
        head, body, last = _split_request(messages)
        bags = [frozenset(WORD.findall(text_of(m).lower())) for m in body]
        number = Counter(word for bag in bags for word in bag)
        rarity = {w: math.log(len(bags) / n) for w, n in number.items()}
        costs = [self.weigh([m]) for m in body]
        return _fill_budget((head, body, last), _order_by_coverage(bags, rarity, costs), budget, self.weigh)


def _order_by_coverage(
    bags: Sequence[frozenset[str]], rarity: Mapping[str, float], costs: Sequence[int]
) -> list[int]:
    covered: set[str] = set()

    def gain(i: int) -> float:
        return sum(rarity[w] for w in bags[i] - covered) / max(1, costs[i])

    order: list[int] = []
    heap = [(-gain(i), i) for i in range(len(bags))]
    heapq.heapify(heap)
    while heap:
        _, i = heapq.heappop(heap)
        fresh = -gain(i)
        if heap and fresh > heap[0][0]:
            heapq.heappush(heap, (fresh, i))
            continue
        order.append(i)
        covered |= bags[i]
    return order


def _split_request(messages: Sequence[Message]) -> RequestParts:
    """Return the preamble, what may be left out, and the last message."""
    start = next((i for i, m in enumerate(messages) if declared_role(m) not in PREAMBLE_ROLES), 0)
    return list(messages[:start]), list(messages[start:-1]), messages[-1]


def _fill_budget(
    parts: RequestParts, order: Iterable[int], budget: int, weigh: Weigh, *, stop: bool = False
) -> list[Message]:
    """Return messages in the given order of preference while they fit, in the conversation's order.

    With ``stop`` the first one that does not fit ends it; else smaller ones behind it may still come.
    """
    head, body, last = parts
    room = budget - weigh([*head, last])
    base = weigh([])
    chosen: list[int] = []
    for i in order:
        cost = weigh([body[i]]) - base
        if cost <= room:
            chosen.append(i)
            room -= cost
        elif stop:
            break
    return [*head, *(body[i] for i in sorted(chosen)), last]


def _order_by_bm25(body: Sequence[Message], last: Message) -> list[int]:
    bags = [Counter(WORD.findall(text_of(m).lower())) for m in body]
    scores = _bm25_scores(bags, WORD.findall(text_of(last).lower()))
    return sorted(range(len(body)), key=lambda i: (-scores[i], -i))


def _bm25_scores(bags: Sequence[Counter[str]], query: Sequence[str]) -> list[float]:
    lengths = [sum(bag.values()) for bag in bags]
    mean = sum(lengths) / (len(lengths) or 1) or 1.0
    scores = [0.0] * len(bags)
    for word in dict.fromkeys(query):
        holding = [i for i, bag in enumerate(bags) if word in bag]
        idf = math.log(1 + (len(bags) - len(holding) + 0.5) / (len(holding) + 0.5))
        for i in holding:
            tf = bags[i][word]
            scores[i] += idf * tf * (K1 + 1) / (tf + K1 * (1 - B + B * lengths[i] / mean))
    return scores
