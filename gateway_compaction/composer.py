"""From a task to a compaction: which model is asked what, how often, and what is believed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from gateway_compaction.core.compaction import Compaction, Kind, Segment
from gateway_compaction.core.extract import extract
from gateway_compaction.core.messages import Message
from gateway_compaction.core.prompts import PACKS, prompt, rendered
from gateway_compaction.core.shorten import shorten
from gateway_compaction.core.summary import accept
from gateway_compaction.errors import (
    SummaryDenied,
    SummaryError,
    SummaryLimited,
    SummaryRejected,
    SummaryTimeout,
)
from gateway_compaction.ports import Models, Summarizer, SummaryRequest
from gateway_compaction.worker import SummaryTask

__all__ = ["Composing"]

T = TypeVar("T")
SEGMENT_TOKENS = 250
OLD_SHARE = 0.6
WORDS_PER_TOKEN = 0.65
TRIES, PAUSE_SECONDS = 3, 1.0
FAILURES_TO_OPEN, OPEN_SECONDS = 3, 30.0
PROMPT_SHARE = 0.6
UNKNOWN_WINDOW = 16_000
FINAL = (SummaryLimited, SummaryRejected, SummaryTimeout)
MESSAGE_TOKENS = 2_000
LEAST_SUMMARY = 40


@dataclass(slots=True)
class _Breaker:
    """Stops asking a model that failed three times in a row; one call tries again after 30 s."""

    failures: int = 0
    until: float = 0.0


@dataclass(slots=True)
class Composing:
    """Composes summaries; state is one breaker for each summariser model."""

    summarizer: Summarizer
    models: Models
    executor: Executor
    clock: Callable[[], float] = time.monotonic
    pause_seconds: float = PAUSE_SECONDS
    breakers: dict[str, _Breaker] = field(default_factory=dict)

    async def __call__(self, task: SummaryTask) -> Compaction:
        """The compaction that a task asks for; what its first use will need is made as well.

        Raises:
            SummaryError: no model gave a usable summary.
        """
        made = await self._composed(task)
        if task.index is not None:
            await self._apart(task.index)
        return made

    async def _composed(self, task: SummaryTask) -> Compaction:
        summary = task.policy.summary
        if summary.strategy == "window":
            note = f"[… {task.job.covers} …]"
            return self._compaction(task, "extractive", (Segment(0, task.job.covers, note),), None, None)
        if summary.model == "extractive":
            segments = await self._apart(_extracted, task)
            return self._compaction(task, "extractive", segments, None, None)
        limit = await self._apart(task.room)
        problem: SummaryError | None = None
        for model in (summary.model or task.caller.model, *summary.fallbacks):
            try:
                return await self._asked(task, model, limit)
            except SummaryError as error:
                problem = error
        raise problem or SummaryError("no model is named")

    async def _asked(self, task: SummaryTask, model: str, longest: int) -> Compaction:
        base = task.job.base
        old = base.text if base else ""
        room = longest - (task.count(old) if old else 0)
        appended = (
            bool(old)
            and task.policy.summary.strategy != "rolling"
            and room >= min(SEGMENT_TOKENS, longest // 4)
        )
        start = base.covers if base else 0
        limit = room if appended else longest
        text, cost, answered = await self._in_parts(task, model, "" if appended else old, limit)
        new = Segment(start if appended else 0, task.job.covers, text)
        segments = (*base.segments, new) if appended and base else (new,)
        return self._compaction(task, "model", segments, answered, cost)

    async def _in_parts(
        self, task: SummaryTask, model: str, previous: str, limit: int
    ) -> tuple[str, float | None, str]:
        """One summary, made part by part where the messages exceed the summariser's own window."""
        window = self.models.facts(model).window or UNKNOWN_WINDOW
        room = int(window * PROMPT_SHARE) - limit
        cost: float | None = None
        answered = model
        start = task.job.base.covers if task.job.base else 0
        for part, tokens in await self._apart(_parts, task, room):
            source = tokens + (task.count(previous) if previous else 0)
            longest = min(limit, max(LEAST_SUMMARY, source // 2))
            shown = max(200, room // 4)
            request = await self._apart(self._request, task, model, part, start, previous, longest, shown)
            previous, spent, answered = await self._accepted(task, request, source, longest)
            cost = spent if cost is None else cost + (spent or 0.0)
            start += len(part)
        return previous, cost, answered

    def _request(
        self,
        task: SummaryTask,
        model: str,
        part: Sequence[Message],
        start: int,
        previous: str,
        limit: int,
        longest: int,
    ) -> SummaryRequest:
        summary = task.policy.summary
        chars = summary.message_chars
        system, user = prompt(
            part,
            previous,
            start=start,
            words=max(20, int(limit * WORDS_PER_TOKEN)),
            instructions=summary.prompt_text or PACKS.get(summary.prompt, PACKS["general"]),
            keys=summary.preserve_keys,
            message_tokens=min(longest, chars // 3 if chars else MESSAGE_TOKENS),
            count=task.count,
        )
        # Room for models that think first; what is longer than the limit is shortened, not cut off.
        return SummaryRequest(model, system, user, 2 * limit + 512, summary.timeout_seconds, task.caller)

    async def _accepted(
        self, task: SummaryTask, request: SummaryRequest, source: int, limit: int
    ) -> tuple[str, float | None, str]:
        breaker = self.breakers.setdefault(request.model, _Breaker())
        for attempt in range(TRIES):
            if breaker.failures >= FAILURES_TO_OPEN and breaker.until > self.clock():
                raise SummaryError(f"{request.model} failed {breaker.failures} times in a row; not asked")
            try:
                answer = await self.summarizer.complete(request)
                text = accept(
                    answer.text, answer.finish_reason, answer.has_tool_calls, source, limit, task.count
                )
            except SummaryDenied:
                raise
            except SummaryError as error:
                breaker.failures += 1
                breaker.until = self.clock() + OPEN_SECONDS
                if isinstance(error, FINAL) or attempt == TRIES - 1:
                    raise
                await asyncio.sleep(self.pause_seconds * 2**attempt)
            else:
                breaker.failures = 0
                return text, answer.cost, answer.model
        raise AssertionError("unreachable")

    async def _apart(self, work: Callable[..., T], *args: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.executor, work, *args)

    def _compaction(
        self,
        task: SummaryTask,
        kind: Kind,
        segments: tuple[Segment, ...],
        model: str | None,
        cost: float | None,
    ) -> Compaction:
        base = task.job.base
        return Compaction(
            digest=task.job.digest,
            covers=task.job.covers,
            kind=kind,
            segments=segments,
            limit=task.job.block,
            since=task.since,
            parent=base.digest if base else None,
            model=model,
            tokens_before=task.covered_tokens,
            tokens_after=sum(task.count(s.text) for s in segments),
            cost=cost,
        )


def _extracted(task: SummaryTask) -> tuple[Segment, ...]:
    base, room = task.job.base, task.room()
    segments: tuple[Segment, ...] = ()
    if base is not None and base.text:
        old = shorten(base.text, int(room * OLD_SHARE), task.count, "[…]")
        segments = (Segment(0, base.covers, old),)
        room -= task.count(old)
    text = extract(task.messages, max(24, room), task.count)
    return (*segments, Segment(base.covers if base else 0, task.job.covers, text))


def _parts(task: SummaryTask, room: int) -> list[tuple[tuple[Message, ...], int]]:
    """Messages in runs of at most ``room`` tokens as they are shown, at least one each, with their tokens."""
    parts: list[list[Message]] = [[]]
    sizes = [0]
    used = 0
    for message in task.messages:
        tokens = task.count(_flat(message))
        shown = min(tokens, MESSAGE_TOKENS) + 12
        if parts[-1] and used + shown > room:
            parts.append([])
            sizes.append(0)
            used = 0
        parts[-1].append(message)
        sizes[-1] += tokens
        used += shown
    return [(tuple(part), size) for part, size in zip(parts, sizes, strict=True)]


def _flat(message: Message) -> str:
    return rendered((message,), 0, 10**9, len)
