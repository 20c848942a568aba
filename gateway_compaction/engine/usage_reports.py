"""Learning from what providers say of a prompt's length: in their usage reports, and in refusals.

The conversation learns its surplus, which is the floor of its next request; the model's factor learns from
how much a prompt grew between two reports. Requests that were never counted before they were sent are learned
from as well: what a bound of their bytes calls small may be large by what nobody here has seen.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import replace

from gateway_compaction.core.conversation.body import requested_output
from gateway_compaction.core.conversation.transcript import parse_transcript
from gateway_compaction.core.planning.context import reserved_tokens
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.core.tokens.counter import output_reserve
from gateway_compaction.core.tokens.session_surplus import Report, SessionSurplus
from gateway_compaction.engine.offload import Offloader, is_large_decision
from gateway_compaction.engine.parts import EngineParts
from gateway_compaction.engine.request import Decision, SizedModel, Untouched, find_session

LEAST_SHARE = 0.02
"""Share of the window below which a surplus does not matter to a request that is small by its bytes."""


class UsageReports:
    """Takes up what providers report; everything happens in the background."""

    def __init__(self, parts: EngineParts, executor: Executor) -> None:
        self._parts, self._offload = parts, Offloader(executor)

    def is_telling(self, decision: Decision, reported: int | None, *, refused: bool) -> bool:
        """Tell whether something can be learned from the end of a call; this must cost nothing.

        A report that is larger than the window of a call that was answered is impossible. One of a request
        that was taken for small matters only where it is not. A refusal without a number says nothing where
        the answer that was asked for is longer than what was kept free for it.

        Args:
            decision: what was decided about the call.
            reported: tokens of the prompt as the provider counted them, None where it told no number.
            refused: the provider refused the request for its length; else it answered.
        """
        model = decision.model
        if model is None or (isinstance(decision, Untouched) and decision.threshold is None):
            return False
        if refused:
            body = decision.request.body
            reserve = output_reserve(body, model.window, decision.policy.output_reserve)
            return bool(reported) or requested_output(body) <= reserve
        if not reported or reported > model.window:
            return False
        return not isinstance(decision, Untouched) or reported >= (decision.threshold or 0)

    async def learn(self, decision: Decision, reported: int | None, *, refused: bool) -> None:
        """Correct the count of the conversation, and of its model; to be called where ``is_telling``."""
        model, parts = decision.model, self._parts
        assert model is not None
        is_large = isinstance(decision, Untouched) or is_large_decision(decision)
        session, report = await self._offload.run(is_large, self._weigh, decision, model, reported)
        report = replace(report, refused=refused and not report.at_least)
        calibration, known = parts.counter.calibration, parts.surpluses.find(session, model.name)
        factor = calibration.factor(model.name)
        if report.at_least and report.counted * factor >= report.reported:
            return
        surplus, growth = (known or SessionSurplus()).learn(report, factor)
        correction = surplus.correct(factor, model.window, report.reported, int(factor * report.counted))
        tokens = correction.beside + correction.unexplained + (correction.media - 1.0) * factor * report.media
        parts.surpluses.keep(session, model.name, surplus, larger=tokens >= LEAST_SHARE * model.window)
        if growth is None:
            return
        shared = calibration.observe(model.name, growth.counted, growth.reported)
        if shared is not None:
            await parts.store.save_factor(model.name, shared)

    def _weigh(
        self, decision: Decision, model: SizedModel, reported: int | None
    ) -> tuple[SessionRef, Report]:
        """Count what was sent, and find the session of a request that was sent without being hashed."""
        request, counter = decision.request, self._parts.counter
        if isinstance(decision, Untouched):
            transcript = parse_transcript(request.messages)
            counted = counter.raw_prompt_tokens(decision.sent, request.body, model.name)
        elif decision.messages is None and not decision.is_laid_out:
            transcript, counted = decision.context.transcript, decision.context.measure.raw
        else:
            transcript = decision.context.transcript
            # The transcript keeps its messages alive, so that an id names one of them and nothing else. What
            # somebody edited in place since is not followed.
            names = dict(zip(map(id, transcript.history), decision.context.digests, strict=True))
            counted = counter.raw_prompt_tokens(decision.sent, request.body, model.name, names)
        room = model.window - reserved_tokens(request.body, model.window, decision.policy)
        report = Report(
            reported=reported or room,
            counted=counted,
            media=counter.estimated_tokens(decision.sent, model.name),
            compacted=decision.messages is not None,
            at_least=not reported,
        )
        return find_session(request, transcript), report
