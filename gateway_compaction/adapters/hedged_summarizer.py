"""Hedged questions to a summariser: one that gets no answer for long is asked once more beside the first.

A question that was asked while a model hung is never answered, also after the model has come back. Waiting
for its timeout would leave the conversation without a summary for a minute. Slow and hanging cannot be told
apart from outside, so the first question is kept, and whichever is answered first decides.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field, replace

from gateway_compaction.ports import Summarizer, SummaryAnswer, SummaryRequest

PATIENCE_SECONDS = 15.0
"""Silence after which a question is asked again. With the pauses of 10 s of a session and of a model that
fails, a summary is there within half a minute of the model's return."""

TIMES_SLOWEST = 3.0
"""A model that is known to be slow is waited for so many times as long as its slowest answer took lately."""

ANSWERS_KEPT = 20
"""Answers of a model by which it is known to be slow."""

MOST_MODELS = 1_000
"""Models whose speed is known; names of models may come from clients."""


@dataclass(slots=True)
class HedgedSummarizer:
    """A ``Summarizer`` that asks another one, and asks it again where it is silent for long.

    At most two questions are open at a time: the first, and the latest repetition. All end with the first
    one's timeout, so a policy's ``summary.timeout_seconds`` bounds them together.
    """

    summarizer: Summarizer
    patience_seconds: float = PATIENCE_SECONDS
    answer_seconds: dict[str, deque[float]] = field(default_factory=dict)

    async def complete(self, request: SummaryRequest) -> SummaryAnswer:
        """See ``Summarizer.complete``; the first answer or error of the open questions is the answer."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + request.timeout_seconds
        first = asyncio.ensure_future(self._ask(request))
        repeated: asyncio.Future[SummaryAnswer] | None = None
        try:
            while True:
                waiting = {first} if repeated is None else {first, repeated}
                left = deadline - loop.time()
                patience = self._find_patience(request.model)
                # The timeout itself is the summariser's own to tell: nothing is repeated so near to it.
                limit = patience if 0 < patience < left else None
                done, _ = await asyncio.wait(waiting, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
                if done:
                    return (first if first in done else done.pop()).result()
                if repeated is not None:
                    await _give_up([repeated])
                again = replace(request, timeout_seconds=max(0.001, deadline - loop.time()))
                repeated = asyncio.ensure_future(self._ask(again))
        finally:
            await _give_up([task for task in (first, repeated) if task is not None])

    async def aclose(self) -> None:
        """Close the summariser, where it can be closed."""
        close = getattr(self.summarizer, "aclose", None)
        if close is not None:
            await close()

    async def _ask(self, request: SummaryRequest) -> SummaryAnswer:
        """Ask once, and remember how long the answer took."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        answer = await self.summarizer.complete(request)
        if request.model not in self.answer_seconds and len(self.answer_seconds) >= MOST_MODELS:
            self.answer_seconds.clear()
        known = self.answer_seconds.setdefault(request.model, deque(maxlen=ANSWERS_KEPT))
        known.append(loop.time() - started)
        return answer

    def _find_patience(self, model: str) -> float:
        """Return the seconds of silence after which a model is asked again."""
        slowest = max(self.answer_seconds.get(model, ()), default=0.0)
        return max(self.patience_seconds, TIMES_SLOWEST * slowest)


async def _give_up(questions: list[asyncio.Future[SummaryAnswer]]) -> None:
    """Cancel the questions that are still open, and take note of their ends: an error there is nobody's."""
    for question in questions:
        question.cancel()
    await asyncio.gather(*questions, return_exceptions=True)
