"""The way from a task to a compaction: which model is asked what, how often, and what is believed.

There is one pipeline for each process. It asks one model after the other, retries what may pass, leaves a
model alone that keeps failing, and lets no answer through that is no summary: what is stored here is what
later calls of the conversation are answered from.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from gateway_compaction.core.conversation.messages import Message, told_text_of
from gateway_compaction.core.planning.shared_prefix import SharedPrefix
from gateway_compaction.core.records.compaction import Compaction, Kind, Segment
from gateway_compaction.core.summary.acceptance import CUT_OFF, accept_summary
from gateway_compaction.core.summary.identifier_check import check_identifiers
from gateway_compaction.core.summary.prompts import (
    ShownLimit,
    SummaryBrief,
    build_merge_prompt,
    build_prompt,
    measure_messages,
    split_messages,
)
from gateway_compaction.core.summary.segments import (
    MIN_SEGMENT_TOKENS,
    Coverage,
    Piece,
    build_extract_segments,
    close_earlier,
    find_merge_run,
    find_min_length,
    fit_pieces,
    is_merge_needed,
    replace_run,
    split_into_pieces,
)
from gateway_compaction.core.summary.statistics import Targets, build_summary_records
from gateway_compaction.core.text.language import detect_conversation_language, get_phrases
from gateway_compaction.core.tokens.windows import LearnedWindow, WindowBook
from gateway_compaction.engine.summary_task import SummaryTask
from gateway_compaction.errors import (
    SummaryError,
    SummaryLimited,
    SummaryRefused,
    SummaryRejected,
    SummaryTimeout,
    SummaryTooLong,
)
from gateway_compaction.ports import Models, Summarizer, SummaryAnswer, SummaryRequest

T = TypeVar("T")
TRIES = 3
"""Questions to one model before the next one is asked; most failures of providers pass within seconds."""

PAUSE_SECONDS = 1.0
"""Pause after the first failure; it doubles with each further one."""

FAILURES_TO_OPEN = 3
"""Failures in a row after which a model is not asked for a while."""

OPEN_SECONDS = 10.0
"""Seconds that such a model is left alone: what it misses when it has come back is no more than that."""

PROMPT_SHARE = 0.6
"""Share of the summariser's window that a question may fill: our count of foreign models is rough."""

UNKNOWN_WINDOW = 16_000
"""Tokens that a summariser is taken to read where nobody says how many."""

THINKING_TOKENS = 512
"""Tokens on top of twice a summary's length, for models that think before they write."""

LONG_THINKING_TOKENS = 8_000
"""The same, once a model was cut off: thoughts of 630 to 2,400 tokens were seen before a summary."""

CUT_OFFS_TO_BELIEVE = 3
"""Answers in a row for which the larger room was too small as well: then what is whole of them is taken."""

MOST_ROOMY = 1_000
"""Models that are known to need more room, or to be cut off; names of models may come from clients."""

LEAST_SHOWN = 200
"""Tokens that a message too large for the summariser's window is at least shown with."""

MOST_SHORTENED = 2
"""How often one text is asked for anew, in shorter questions, after a summariser refused one as too long."""

FINAL = (SummaryLimited, SummaryTimeout)
"""Failures after which the same model is not asked again for a task: that would hurt live calls."""


@dataclass(slots=True)
class _Breaker:
    """Stops questions to a model that keeps failing: each would cost its timeout and end the same.

    After a pause one question tries again.
    """

    failures: int = 0
    until: float = 0.0


@dataclass(slots=True)
class _Attempt:
    """All questions to one model, a group of the host's, for one summary.

    Attributes:
        answered: the model that answered, as the provider names it.
        cost: dollars so far, None where the host does not know.
        unsourced: identifiers in the answers that their sources do not hold.
        targets: the characters that were asked for, by the range of the messages that a text stands for.
    """

    task: SummaryTask
    model: str
    answered: str
    cost: float | None = None
    unsourced: int = 0
    targets: dict[tuple[int, int], int] = field(default_factory=dict)


@dataclass(slots=True)
class SummaryPipeline:
    """Makes summaries; its only state is what is known of each summariser model.

    Attributes:
        roomy_models: models that were cut off and then had room enough; they have it from the start.
        cut_offs: how often in a row the larger room was too small for a model as well.
        windows: the windows that refused questions taught, by model group: which deployment of it refused is
            not known.
    """

    summarizer: Summarizer
    models: Models
    executor: Executor
    clock: Callable[[], float] = time.monotonic
    pause_seconds: float = PAUSE_SECONDS
    breakers: dict[str, _Breaker] = field(default_factory=dict)
    roomy_models: set[str] = field(default_factory=set)
    cut_offs: dict[str, int] = field(default_factory=dict)
    windows: WindowBook = field(default_factory=WindowBook)

    @property
    def paused_models(self) -> tuple[str, ...]:
        """Models that are not asked at present, because they failed several times in a row."""
        now = self.clock()
        return tuple(
            name
            for name, breaker in self.breakers.items()
            if breaker.failures >= FAILURES_TO_OPEN and breaker.until > now
        )

    async def make_summary(self, task: SummaryTask) -> Compaction:
        """Make the compaction that a task asks for, and the search index that its first use will need.

        Raises:
            SummaryError: no model gave a usable summary.
        """
        task = await self._run_apart(task.mask_secrets)
        compaction = await self._make_compaction(task)
        tokens = await self._run_apart(task.tokens_in_place, compaction)
        compaction = replace(compaction, tokens_after=tokens)
        if task.needs_index:
            await self._run_apart(task.build_index)
        return compaction

    async def _make_compaction(self, task: SummaryTask) -> Compaction:
        """Make it in the way that the policy names; a model's failure hands the task on to the next model."""
        summary = task.policy.summary
        if summary.strategy == "window":
            segments = await self._run_apart(_build_note, task)
            return await self._add_records(task, _build_compaction(task, "extractive", segments))
        longest = await self._run_apart(task.text_room)
        if summary.model == "extractive":
            segments = await self._run_apart(_build_extract, task, longest)
            return await self._add_records(task, _build_compaction(task, "extractive", segments))
        problem: SummaryError | None = None
        for model in (summary.model or task.caller.model, *summary.fallbacks):
            try:
                return await self._ask_model(_Attempt(task, model, model), longest)
            except SummaryError as error:
                problem = error
        raise problem or SummaryError("no model is named")

    async def _ask_model(self, attempt: _Attempt, longest: int) -> Compaction:
        """Let one model write the summary, of at most ``longest`` tokens, by the policy's strategy."""
        task, base = attempt.task, attempt.task.job.base
        segments: tuple[Segment, ...] | None = None
        is_rolling = task.policy.summary.strategy == "rolling"
        closed, previous = close_earlier(base, task.reset_at, longest, task.count)
        if task.prefix is not None and attempt.model == task.caller.model and not (is_rolling and closed):
            segments = await self._ask_behind_prefix(attempt, task.prefix, longest)
        if segments is None and is_rolling:
            start, left = base.covers if base else 0, longest - sum(task.count_segments(closed))
            before = task.covered_tokens - task.source_tokens if previous else 0
            piece = Piece(start, task.messages, task.source_tokens, left, before=before)
            text = await self._ask_in_parts(attempt, piece, previous)
            segments = (*closed, Segment(closed[-1].end if closed else 0, task.job.covers, text))
        elif segments is None:
            segments = await self._extend_segments(attempt, longest)
        compaction = _build_compaction(task, "model", segments)
        compaction = await self._add_records(task, compaction, attempt.targets)
        return replace(
            compaction,
            model=attempt.answered,
            asked=attempt.model,
            cost=attempt.cost,
            unsourced=attempt.unsourced,
        )

    async def _add_records(
        self, task: SummaryTask, compaction: Compaction, targets: Targets | None = None
    ) -> Compaction:
        """Return a compaction with the record of each of its segments."""
        transcript, rate = task.decision.context.transcript, task.policy.summary.rate
        records = await self._run_apart(
            build_summary_records, compaction, transcript, rate, task.job.base, targets
        )
        return replace(compaction, records=records)

    async def _ask_behind_prefix(
        self, attempt: _Attempt, prefix: SharedPrefix, longest: int
    ) -> tuple[Segment, ...] | None:
        """Ask for one text behind the messages that the model has read: the provider's prompt cache serves.

        Returns None where there is no room, or no usable answer: then the model is asked in the plain way.
        """
        task, base, policy = attempt.task, attempt.task.job.base, attempt.task.policy
        rolling = policy.summary.strategy == "rolling"
        kept = () if rolling or base is None else base.segments
        left = longest - sum(task.count_segments(kept))
        if left < find_min_length(longest):
            return None
        source = task.covered_tokens if rolling else task.source_tokens
        limit = min(left, max(MIN_SEGMENT_TOKENS, source // 2))
        request = self._build_request(attempt, ("", prefix.write_question(policy, limit)), limit)
        request = replace(request, prefix=prefix.messages, tools=prefix.tools)
        try:
            text = await self._ask_until_accepted(attempt, request, source, limit)
        except (SummaryRejected, SummaryRefused):
            return None
        before = base.text if rolling and base is not None else ""
        text = await self._check_identifiers(attempt, text, task.messages, before, limit)
        start = base.covers if kept and base is not None else 0
        return (*kept, Segment(start, task.job.covers, text))

    async def _extend_segments(self, attempt: _Attempt, longest: int) -> tuple[Segment, ...]:
        """Write new segments behind the old ones, which stay as they are or, for lack of room, are merged."""
        task = attempt.task
        kept = task.job.base.segments if task.job.base else ()
        used = task.count_segments(kept)
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
            used = task.count_segments(kept)
            left = longest - sum(used)
        if left < find_min_length(longest):
            raise refused or SummaryRejected("no room is left for a new segment")
        fitting = fit_pieces(pieces, left)
        new = [Segment(p.start, p.end, await self._ask_in_parts(attempt, p, "")) for p in fitting]
        attempt.targets = {(p.start, p.end): p.chars for p in fitting if p.chars is not None}
        return (*kept, *new)

    async def _merge_segments(
        self, attempt: _Attempt, kept: tuple[Segment, ...], shortened: int = 0
    ) -> tuple[Segment, ...]:
        """Condense four neighbours into one as long as one of them; half of them if four are too long."""
        task, (first, end) = attempt.task, find_merge_run(kept)
        run = first, min(end, first + max(2, (end - first) >> shortened))
        parts = kept[run[0] : run[1]]
        source = sum(task.count_segments(parts))
        limit = max(MIN_SEGMENT_TOKENS, source // max(2, len(parts)) >> shortened)
        brief = SummaryBrief.from_policy(task.policy, limit)
        request = self._build_request(attempt, build_merge_prompt(parts, brief), limit)
        try:
            text = await self._ask_until_accepted(attempt, request, source, limit)
        except SummaryTooLong:
            if shortened == MOST_SHORTENED:
                raise
            return await self._merge_segments(attempt, kept, shortened + 1)
        text = await self._check_identifiers(attempt, text, (), "\n\n".join(p.text for p in parts), limit)
        return replace_run(kept, run, text)

    async def _ask_in_parts(self, attempt: _Attempt, piece: Piece, previous: str) -> str:
        """Ask for one text; in shorter questions, and a shorter one, where one is refused as too long.

        Raises:
            SummaryError: the model gave none.
        """
        for _ in range(MOST_SHORTENED):
            window = self._find_window(attempt.model)
            try:
                return await self._ask_part_by_part(attempt, piece, previous)
            except SummaryTooLong:
                learned = self._find_window(attempt.model)
                if learned >= window:
                    raise
                answer = (learned - int(learned * PROMPT_SHARE) - _find_thinking(attempt.task)) // 2
                piece = replace(piece, limit=max(MIN_SEGMENT_TOKENS, min(piece.limit, answer)))
        return await self._ask_part_by_part(attempt, piece, previous)

    async def _ask_part_by_part(self, attempt: _Attempt, piece: Piece, previous: str) -> str:
        """Ask for one text, part by part where the messages exceed the summariser's own window."""
        task, before, start, limit = attempt.task, previous, piece.start, piece.limit
        source = piece.before
        window = self._find_window(attempt.model)
        room = int(window * PROMPT_SHARE) - piece.limit
        shown = ShownLimit.from_policy(task.policy, max(LEAST_SHOWN, room // 4))
        parts = await self._run_apart(split_messages, piece.messages, room, task.policy, task.count)
        for part, tokens in parts:
            source += tokens
            limit = min(piece.limit, max(MIN_SEGMENT_TOKENS, source // 2))
            chars = piece.chars if len(part) == len(piece.messages) else None
            brief = SummaryBrief.from_policy(task.policy, limit, chars)
            prompts = await self._run_apart(build_prompt, part, before, start, brief, shown, task.count)
            request = self._build_request(attempt, prompts, limit)
            before = await self._ask_until_accepted(attempt, request, source, limit)
            start += len(part)
        return await self._check_identifiers(attempt, before, piece.messages, previous, limit)

    async def _check_identifiers(
        self, attempt: _Attempt, text: str, messages: Sequence[Message], previous: str, limit: int
    ) -> str:
        """Return a text as far as its source bears its identifiers out, and count the others."""
        result = await self._run_apart(check_identifiers, text, messages, previous, limit, attempt.task.count)
        attempt.unsourced += result.unsourced
        return result.text

    def _build_request(self, attempt: _Attempt, prompts: tuple[str, str], limit: int) -> SummaryRequest:
        """Build a request, of a system and a user prompt, for a text of ``limit`` tokens."""
        # A longer text is shortened afterwards; the model must not cut it off.
        max_tokens = 2 * limit + _find_thinking(attempt.task)
        timeout = attempt.task.policy.summary.timeout_seconds
        return SummaryRequest(attempt.model, *prompts, max_tokens, timeout, attempt.task.caller)

    async def _ask_until_accepted(
        self, attempt: _Attempt, request: SummaryRequest, source: int, limit: int
    ) -> str:
        """Ask a model, a few times at most, until it gives a usable summary of ``source`` tokens.

        Raises:
            SummaryError: it gave none, or is left alone at present.
        """
        breaker, count = self.get_breaker(request.model), attempt.task.count
        for number in range(TRIES):
            if breaker.failures >= FAILURES_TO_OPEN:
                if breaker.until > self.clock():
                    raise SummaryError(f"{request.model} failed {breaker.failures} times in a row; not asked")
                # This question alone finds out whether the model works again.
                breaker.until = self.clock() + OPEN_SECONDS
            try:
                answer = await self._ask_with_room(attempt, request)
                is_cut, told = self._is_always_cut_off(request.model), _source_texts(attempt.task)
                text = accept_summary(answer, source, limit, count, told, may_be_cut_off=is_cut)
            except SummaryError as error:
                if not error.is_outage:
                    # About one caller, one request or one conversation: the model itself works for others.
                    raise
                breaker.failures += 1
                breaker.until = self.clock() + OPEN_SECONDS
                if isinstance(error, FINAL) or number == TRIES - 1:
                    raise
                await asyncio.sleep(self.pause_seconds * 2**number)
            else:
                breaker.failures = 0
                return await self._run_apart(attempt.task.mask_text, text)
        raise AssertionError("unreachable")

    async def _ask_with_room(self, attempt: _Attempt, request: SummaryRequest) -> SummaryAnswer:
        """Ask; where the answer was cut off, ask once more with more room for thoughts.

        Models that think before they write spend the room of a short answer on that. Once more room has
        helped, the model has it from the start.
        """
        roomy = replace(request, max_tokens=self._find_larger_limit(attempt, request))
        needs_room = request.model in self.roomy_models or self._is_always_cut_off(request.model)
        has_room = needs_room or roomy.max_tokens <= request.max_tokens
        answer = await self._ask_once(attempt, roomy if needs_room else request)
        if answer.finish_reason in CUT_OFF and not has_room:
            answer = await self._ask_once(attempt, roomy)
            if answer.finish_reason not in CUT_OFF:
                if len(self.roomy_models) >= MOST_ROOMY:
                    self.roomy_models.clear()
                self.roomy_models.add(request.model)
        self._count_cut_off(request.model, answer.finish_reason)
        return answer

    def get_breaker(self, model: str) -> _Breaker:
        """Return what is known of a model's failures."""
        if model not in self.breakers and len(self.breakers) >= MOST_ROOMY:
            self.breakers.clear()
        return self.breakers.setdefault(model, _Breaker())

    def _is_always_cut_off(self, model: str) -> bool:
        """Tell whether a model was cut off so often in a row that it will be again, whatever its room."""
        return self.cut_offs.get(model, 0) >= CUT_OFFS_TO_BELIEVE

    def _count_cut_off(self, model: str, finish_reason: str | None) -> None:
        """Count how often in a row a model was cut off though it had all the room that there is."""
        if finish_reason not in CUT_OFF:
            self.cut_offs.pop(model, None)
            return
        if len(self.cut_offs) >= MOST_ROOMY:
            self.cut_offs.clear()
        self.cut_offs[model] = self.cut_offs.get(model, 0) + 1

    def _find_larger_limit(self, attempt: _Attempt, request: SummaryRequest) -> int:
        """Return the tokens of an answer for a model that needs more, as far as its window has room."""
        thinking, usual = attempt.task.policy.summary.thinking_tokens, _find_thinking(attempt.task)
        more = LONG_THINKING_TOKENS if thinking == "auto" else max(2 * thinking, LONG_THINKING_TOKENS)
        window = self._find_window(request.model)
        free = int(window * (1 - PROMPT_SHARE))
        return max(request.max_tokens, min(request.max_tokens - usual + more, free))

    async def _ask_once(self, attempt: _Attempt, request: SummaryRequest) -> SummaryAnswer:
        """Ask, and note who answered and what it cost, or that the question was too long."""
        try:
            answer = await self.summarizer.complete(request)
        except SummaryTooLong as error:
            await self._learn_window(attempt, request, error.limit)
            raise
        attempt.answered = answer.model
        attempt.cost = answer.cost if attempt.cost is None else attempt.cost + (answer.cost or 0.0)
        return answer

    def _find_window(self, model: str) -> int:
        """Return the tokens that a summariser reads: no more than its refusals have taught."""
        declared = self.models.facts(model).window
        return self.windows.window(model, declared, self.clock()) or UNKNOWN_WINDOW

    async def _learn_window(self, attempt: _Attempt, request: SummaryRequest, told: int | None) -> None:
        """Learn from a question that was refused as too long; behind a prefix only what the provider told."""
        sent = None
        if not request.prefix:
            text = f"{request.system}\n{request.user}"
            sent = await self._run_apart(attempt.task.count, text) + request.max_tokens
        self.windows.refuse(request.model, told, sent, self.clock(), LearnedWindow(model=request.model))

    async def _run_apart(self, work: Callable[..., T], *args: Any) -> T:
        """Run what takes long on the thread of the background, so that requests are not held up."""
        return await asyncio.get_running_loop().run_in_executor(self.executor, work, *args)


def _find_thinking(task: SummaryTask) -> int:
    """Return the tokens on top of a summary's length for a model that thinks."""
    thinking = task.policy.summary.thinking_tokens
    return THINKING_TOKENS if thinking == "auto" else thinking


def _build_compaction(task: SummaryTask, kind: Kind, segments: tuple[Segment, ...]) -> Compaction:
    base = task.job.base
    return Compaction(
        digest=task.job.digest,
        covers=task.job.covers,
        kind=kind,
        segments=segments,
        limit=task.job.block,
        since=task.since,
        lead_tokens=task.job.lead_tokens,
        parent=base.digest if base else None,
        tokens_before=task.covered_tokens,
        rate=task.policy.summary.rate,
    )


def _source_texts(task: SummaryTask) -> Iterator[str]:
    """Yield the texts that a summary stands for, by which an answer in a foreign script is noticed.

    None where an operator's own prompt may ask for another language.
    """
    if not task.policy.summary.prompt_text:
        yield from (told_text_of(message) for message in task.messages)
        yield from (segment.text for segment in task.job.base.segments) if task.job.base else ()


def _build_note(task: SummaryTask) -> tuple[Segment, ...]:
    """Build the note that the strategy ``window`` puts in place of a summary."""
    said = get_phrases(detect_conversation_language(task.messages))
    return (Segment(0, task.job.covers, f"[{said.unseen}: {task.job.covers}]"),)


def _build_extract(task: SummaryTask, longest: int) -> tuple[Segment, ...]:
    """Build an extract of at most ``longest`` tokens; no model is asked."""
    coverage = Coverage(task.messages, task.job.covers, task.job.base)
    return build_extract_segments(coverage, task.policy, longest, task.count, task.text_beside_summary())
