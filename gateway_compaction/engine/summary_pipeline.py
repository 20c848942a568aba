"""From a task to a compaction: which model is asked what, how often, and what is believed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from gateway_compaction.core.conversation.messages import Message, text_of
from gateway_compaction.core.planning.shared_prefix import SharedPrefix
from gateway_compaction.core.records.compaction import Compaction, Kind, Segment
from gateway_compaction.core.summary.acceptance import accept_summary
from gateway_compaction.core.summary.identifier_check import check_identifiers
from gateway_compaction.core.summary.prompts import (
    build_policy_merge_prompt,
    build_policy_prompt,
    measure_messages,
    split_messages,
)
from gateway_compaction.core.summary.segments import (
    MIN_SEGMENT_TOKENS,
    Piece,
    build_extract_segments,
    find_merge_run,
    find_min_length,
    fit_pieces,
    is_merge_needed,
    replace_run,
    split_into_pieces,
)
from gateway_compaction.core.text.language import detect_conversation_language, get_phrases
from gateway_compaction.engine.worker import SummaryTask
from gateway_compaction.errors import (
    SummaryDenied,
    SummaryError,
    SummaryLimited,
    SummaryRejected,
    SummaryTimeout,
)
from gateway_compaction.ports import Models, Summarizer, SummaryRequest

__all__ = ["SummaryPipeline"]

T = TypeVar("T")
TRIES, PAUSE_SECONDS = 3, 1.0
FAILURES_TO_OPEN, OPEN_SECONDS = 3, 30.0
PROMPT_SHARE = 0.6
UNKNOWN_WINDOW = 16_000
FINAL = (SummaryLimited, SummaryTimeout)


@dataclass(slots=True)
class _Breaker:
    """Stops attempt a model that failed three times in a row; one call tries again after 30 s."""

    failures: int = 0
    until: float = 0.0


@dataclass(slots=True)
class _Attempt:
    """All questions to one model for one summary: who answered, what it cost, what was made up."""

    task: SummaryTask
    model: str
    answered: str
    cost: float | None = None
    unsourced: int = 0


@dataclass(slots=True)
class SummaryPipeline:
    """Composes summaries; state is one breaker for each summariser model."""

    summarizer: Summarizer
    models: Models
    executor: Executor
    clock: Callable[[], float] = time.monotonic
    pause_seconds: float = PAUSE_SECONDS
    breakers: dict[str, _Breaker] = field(default_factory=dict)

    @property
    def paused_models(self) -> tuple[str, ...]:
        """Models that are not asked at present, because they failed."""
        now = self.clock()
        return tuple(
            name
            for name, breaker in self.breakers.items()
            if breaker.failures >= FAILURES_TO_OPEN and breaker.until > now
        )

    async def make_summary(self, task: SummaryTask) -> Compaction:
        """The compaction that a task asks for; what its first use will need is made as well.

        Raises:
            SummaryError: no model gave a usable summary.
        """
        made = await self._make_compaction(task)
        if task.index is not None:
            await self._run_apart(task.index)
        return made

    async def _make_compaction(self, task: SummaryTask) -> Compaction:
        summary = task.policy.summary
        if summary.strategy == "window":
            segments = await self._run_apart(_build_note, task)
            return _build_compaction(task, "extractive", segments)
        longest = await self._run_apart(task.room)
        if summary.model == "extractive":
            return _build_compaction(task, "extractive", await self._run_apart(_build_extract, task, longest))
        problem: SummaryError | None = None
        for model in (summary.model or task.caller.model, *summary.fallbacks):
            try:
                return await self._ask_model(_Attempt(task, model, model), longest)
            except SummaryError as error:
                problem = error
        raise problem or SummaryError("no model is named")

    async def _ask_model(self, attempt: _Attempt, longest: int) -> Compaction:
        task, base = attempt.task, attempt.task.job.base
        segments: tuple[Segment, ...] | None = None
        if task.prefix is not None and attempt.model == task.caller.model:
            segments = await self._ask_behind_prefix(attempt, task.prefix, longest)
        if segments is None and task.policy.summary.strategy == "rolling":
            start, before = (base.covers, task.covered_tokens - task.source_tokens) if base else (0, 0)
            piece = Piece(start, tuple(task.messages), task.source_tokens, longest, before=before)
            text = await self._ask_in_parts(attempt, piece, base.text if base else "")
            segments = (Segment(0, task.job.covers, text),)
        elif segments is None:
            segments = await self._extend_segments(attempt, longest)
        made = _build_compaction(task, "model", segments)
        return replace(made, model=attempt.answered, cost=attempt.cost, unsourced=attempt.unsourced)

    async def _ask_behind_prefix(
        self, attempt: _Attempt, prefix: SharedPrefix, longest: int
    ) -> tuple[Segment, ...] | None:
        """One text, asked for behind the messages that the model has read; None to ask in the plain way."""
        task, base, policy = attempt.task, attempt.task.job.base, attempt.task.policy
        rolling = policy.summary.strategy == "rolling"
        kept = () if rolling or base is None else base.segments
        left = longest - sum(_count_segments(task, kept))
        if left < find_min_length(longest):
            return None
        source = task.covered_tokens if rolling else task.source_tokens
        limit = min(left, max(MIN_SEGMENT_TOKENS, source // 2))
        request = self._build_request(attempt, ("", prefix.write_question(policy, limit)), limit)
        request = replace(request, prefix=prefix.messages, tools=prefix.tools)
        try:
            text = await self._ask_until_accepted(attempt, request, source, limit)
        except SummaryRejected:
            return None
        before = base.text if rolling and base is not None else ""
        text = await self._check_identifiers(attempt, text, task.messages, before, limit)
        start = base.covers if kept and base is not None else 0
        return (*kept, Segment(start, task.job.covers, text))

    async def _extend_segments(self, attempt: _Attempt, longest: int) -> tuple[Segment, ...]:
        """The old segments as they are, merged where there is no room, and new ones behind them."""
        task = attempt.task
        kept = task.job.base.segments if task.job.base else ()
        used = _count_segments(task, kept)
        left = longest - sum(used)
        start = task.job.base.covers if task.job.base else 0
        sizes = await self._run_apart(measure_messages, task.messages, task.count)
        pieces = await self._run_apart(
            split_into_pieces, task.messages, start, sizes, task.policy, longest, left
        )
        refused: SummaryRejected | None = None
        while refused is None and is_merge_needed(kept, used, pieces, longest):
            try:
                kept = await self._merge_segments(attempt, kept)
            except SummaryRejected as error:
                refused = error
            used = _count_segments(task, kept)
            left = longest - sum(used)
        if left < find_min_length(longest):
            raise refused or SummaryRejected("no room is left for a new segment")
        fitting = fit_pieces(pieces, left)
        new = [Segment(p.start, p.end, await self._ask_in_parts(attempt, p, "")) for p in fitting]
        return (*kept, *new)

    async def _merge_segments(self, attempt: _Attempt, kept: tuple[Segment, ...]) -> tuple[Segment, ...]:
        """The segments with four neighbours condensed into one that is as long as one of them."""
        task, run = attempt.task, find_merge_run(kept)
        parts = kept[run[0] : run[1]]
        source = sum(_count_segments(task, parts))
        limit = max(MIN_SEGMENT_TOKENS, source // max(2, len(parts)))
        request = self._build_request(attempt, build_policy_merge_prompt(parts, task.policy, limit), limit)
        text = await self._ask_until_accepted(attempt, request, source, limit)
        before = "\n\n".join(p.text for p in parts)
        return replace_run(kept, run, await self._check_identifiers(attempt, text, (), before, limit))

    async def _ask_in_parts(self, attempt: _Attempt, piece: Piece, previous: str) -> str:
        """One text, made part by part where the messages exceed the summariser's own window."""
        task, before, start, limit = attempt.task, previous, piece.start, piece.limit
        source = piece.before
        window = self.models.facts(attempt.model).window or UNKNOWN_WINDOW
        room = int(window * PROMPT_SHARE) - piece.limit
        parts = await self._run_apart(split_messages, piece.messages, room, task.policy, task.count)
        for part, tokens in parts:
            source += tokens
            limit = min(piece.limit, max(MIN_SEGMENT_TOKENS, source // 2))
            ask = partial(
                build_policy_prompt,
                start=start,
                limit=limit,
                chars=piece.chars if len(part) == len(piece.messages) else None,
                shown=max(200, room // 4),
            )
            asked = await self._run_apart(ask, part, before, task.policy, task.count)
            before = await self._ask_until_accepted(
                attempt, self._build_request(attempt, asked, limit), source, limit
            )
            start += len(part)
        return await self._check_identifiers(attempt, before, piece.messages, previous, limit)

    async def _check_identifiers(
        self, attempt: _Attempt, text: str, messages: Sequence[Message], previous: str, limit: int
    ) -> str:
        found = await self._run_apart(check_identifiers, text, messages, previous, limit, attempt.task.count)
        attempt.unsourced += found.unsourced
        return found.text

    def _build_request(self, attempt: _Attempt, asked: tuple[str, str], limit: int) -> SummaryRequest:
        timeout = attempt.task.policy.summary.timeout_seconds
        # Room for models that think first; what is longer than the limit is shortened, not cut off.
        return SummaryRequest(attempt.model, *asked, 2 * limit + 512, timeout, attempt.task.caller)

    async def _ask_until_accepted(
        self, attempt: _Attempt, request: SummaryRequest, source: int, limit: int
    ) -> str:
        breaker, count = self.breakers.setdefault(request.model, _Breaker()), attempt.task.count
        for number in range(TRIES):
            if breaker.failures >= FAILURES_TO_OPEN and breaker.until > self.clock():
                raise SummaryError(f"{request.model} failed {breaker.failures} times in a row; not asked")
            try:
                answer = await self.summarizer.complete(request)
                attempt.answered = answer.model
                attempt.cost = answer.cost if attempt.cost is None else attempt.cost + (answer.cost or 0.0)
                ended, called = answer.finish_reason, answer.has_tool_calls
                text = accept_summary(
                    answer.text, ended, called, source, limit, count, _source_texts(attempt.task)
                )
            except (SummaryDenied, SummaryRejected):
                # About one caller or one conversation: the model itself works.
                raise
            except SummaryError as error:
                breaker.failures += 1
                breaker.until = self.clock() + OPEN_SECONDS
                if isinstance(error, FINAL) or number == TRIES - 1:
                    raise
                await asyncio.sleep(self.pause_seconds * 2**number)
            else:
                breaker.failures = 0
                return text
        raise AssertionError("unreachable")

    async def _run_apart(self, work: Callable[..., T], *args: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.executor, work, *args)


def _build_compaction(task: SummaryTask, kind: Kind, segments: tuple[Segment, ...]) -> Compaction:
    base = task.job.base
    return Compaction(
        digest=task.job.digest,
        covers=task.job.covers,
        kind=kind,
        segments=segments,
        limit=task.job.block,
        since=task.since,
        parent=base.digest if base else None,
        tokens_before=task.covered_tokens,
        tokens_after=sum(_count_segments(task, segments)),
    )


def _source_texts(task: SummaryTask) -> Iterator[str]:
    """What a summary stands for; nothing where an operator's own prompt may ask for another language."""
    if not task.policy.summary.prompt_text:
        yield from (text_of(message) for message in task.messages)
        yield from (segment.text for segment in task.job.base.segments) if task.job.base else ()


def _build_note(task: SummaryTask) -> tuple[Segment, ...]:
    """A note in place of a summary."""
    said = get_phrases(detect_conversation_language(task.messages))
    return (Segment(0, task.job.covers, f"[{said.unseen}: {task.job.covers}]"),)


def _build_extract(task: SummaryTask, longest: int) -> tuple[Segment, ...]:
    job, shown = task.job, task.shown()
    return build_extract_segments(
        task.messages, job.covers, job.base, task.policy, longest, task.count, shown
    )


def _count_segments(task: SummaryTask, segments: Sequence[Segment]) -> list[int]:
    return [task.count(s.text) for s in segments]
