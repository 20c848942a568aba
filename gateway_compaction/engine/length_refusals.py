"""A provider's refusal for length: what it teaches, and the smaller request that is asked instead of it."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import Executor
from dataclasses import dataclass, replace

from gateway_compaction.core.conversation.body import requested_output
from gateway_compaction.core.policy.fields import LARGEST
from gateway_compaction.core.tokens.counter import output_reserve
from gateway_compaction.core.tokens.refusal import LengthRefusal
from gateway_compaction.core.tokens.windows import LEAST_WINDOW, LearnedWindow
from gateway_compaction.engine.compactor import Compactor
from gateway_compaction.engine.parts import EngineParts
from gateway_compaction.engine.request import Decision, Measured, Planned
from gateway_compaction.engine.worker import Worker
from gateway_compaction.ports import ModelFacts

log = logging.getLogger("gateway_compaction")

MOST_ASKED_AGAIN = 2
"""How often one call is asked again, each time with less; the last time with the least that can be."""

ASKED_AGAIN = "asked again after a refusal"
"""The second part of the reason of such a decision."""

MISCOUNTED = 0.8
"""Share of what was refused that is tried where, by our count, what was refused would have fitted."""


@dataclass(frozen=True, slots=True)
class RefusedCall:
    """One attempt that was refused.

    Attributes:
        base: what was decided about the request as the client sent it.
        decision: what was sent.
        deployment: who refused it.
        refusal: what the provider said.
        asked_again: how often this call was asked again before.
    """

    base: Decision
    decision: Decision
    deployment: ModelFacts
    refusal: LengthRefusal
    asked_again: int = 0

    @property
    def policy_name(self) -> str:
        """The policy in force."""
        return self.decision.policy.name


@dataclass(frozen=True, slots=True)
class _Size:
    """The tokens of what was refused, by our count: of the prompt, and with what is kept free for the answer.

    ``is_telling`` where their number alone explains the refusal.
    """

    prompt: int
    total: int
    is_telling: bool


class LengthRefusals:
    """Learns from refusals, and decides again for less than was refused."""

    def __init__(
        self,
        parts: EngineParts,
        compactor: Compactor,
        worker: Worker,
        executor: Executor,
    ) -> None:
        self._parts, self._compactor, self._worker = parts, compactor, worker
        self._executor, self._clock = executor, parts.clock

    def is_followed(self, decision: Decision, deployment: ModelFacts) -> bool:
        """Tell whether a refusal is looked at: not where a policy leaves the request alone."""
        policy = decision.policy
        if policy.mode == "off" or (decision.model is None and decision.outcome == "bypassed"):
            return False
        unknown = deployment.window is None and policy.context_window is None
        return not (unknown and policy.unknown_window == "leave")

    async def learn(self, refused: RefusedCall) -> None:
        """Learn from a refusal that nothing is asked again for."""
        if self.is_followed(refused.decision, refused.deployment):
            self._learn(refused, await self._measure(refused))
            self._record(refused, "passed_on")

    async def plan_again(self, refused: RefusedCall) -> Decision | None:
        """Learn from a refusal, and decide again; None where nothing smaller can or may be sent.

        The deployment's window as it is known now is what is fitted. Where our count says that what was
        refused fits it, the count is too low, and as much less is sent as the provider counted more. The last
        time the smallest request is sent that can be made.
        """
        if not self.is_followed(refused.decision, refused.deployment):
            return None
        size = await self._measure(refused)
        learned = self._learn(refused, size)
        again = None
        if not self._is_pointless(refused):
            base = _lift_bypass(refused.base)
            for window in self._list_windows(refused, size, learned):
                again = await self._compactor.refit(base, ModelFacts(window, refused.deployment.name))
                if await self._count(again, refused.deployment.name) < await self._count(
                    refused.decision, refused.deployment.name
                ):
                    again = replace(again, reason=f"{again.reason}; {ASKED_AGAIN}")
                    break
                again = None
        self._record(refused, "asked_again" if again is not None else "passed_on")
        return again

    def _is_pointless(self, refused: RefusedCall) -> bool:
        """Tell whether no shorter conversation helps: the answer that is asked for alone is too long."""
        limit = refused.refusal.limit
        return limit is not None and requested_output(refused.decision.request.body) >= limit

    def _list_windows(self, refused: RefusedCall, size: _Size, learned: LearnedWindow) -> list[int]:
        """List the windows to fit, the largest first; a later one is tried where nothing becomes smaller."""
        if refused.asked_again + 1 >= MOST_ASKED_AGAIN:
            return [LEAST_WINDOW]
        facts, policy = refused.deployment, refused.decision.policy
        known = self._compactor.windows.find_window(facts, policy)
        window = known or learned.window(self._clock()) or size.total
        counted = refused.refusal.counted
        if counted is not None and counted > size.prompt:
            window = window * size.prompt // counted
        if size.total <= window:
            window = int(size.total * MISCOUNTED)
        limit, asked = refused.refusal.limit, requested_output(refused.decision.request.body)
        if limit is not None and policy.output_reserve == "auto":
            # Of an answer that is longer than half of a window only that half is kept free.
            window = min(window, 2 * (limit - asked))
        return [max(LEAST_WINDOW, window), LEAST_WINDOW]

    def _learn(self, refused: RefusedCall, size: _Size) -> LearnedWindow:
        """Remember what a refusal says of the deployment's window, here and for the other replicas."""
        refusal, facts = refused.refusal, refused.deployment
        sent = size.total if size.is_telling else None
        about = LearnedWindow(model=facts.name, declared=facts.window)
        told = refusal.limit if refusal.in_tokens else None
        learned = self._parts.windows.refuse(facts.key, told, sent, self._clock(), about)
        log.warning(
            "refused for length: deployment=%s model=%s sent=%d limit=%s counted=%s declared=%s window=%s",
            facts.key,
            facts.name,
            size.total,
            refusal.limit,
            refusal.counted,
            facts.window,
            learned.window(self._clock()),
        )
        if learned.window(self._clock()) is not None:
            self._worker.run_later(self._parts.store.save_window(facts.key, learned))
        return learned

    def _record(self, refused: RefusedCall, result: str) -> None:
        self._parts.telemetry.record_length_refusal(refused.policy_name, result)

    async def _measure(self, refused: RefusedCall) -> _Size:
        """Count what was refused, and tell whether its length alone explains the refusal.

        Images, and an answer asked for that is longer than what was kept free for it, explain one as well.
        """
        decision, name = refused.decision, refused.deployment.name
        body, counter = decision.request.body, self._parts.counter
        window = decision.model.window if decision.model is not None else LARGEST
        reserve = output_reserve(body, window, decision.policy.output_reserve)
        raw = await self._count(decision, name)
        prompt = int(raw * counter.calibration.factor(name))
        total = prompt + reserve
        if isinstance(decision, Measured | Planned):
            sent = decision.tokens_after if isinstance(decision, Planned) and decision.messages else None
            total = sent or decision.tokens_before
        # Of a history that the provider keeps only the end is seen.
        is_telling = refused.refusal.in_tokens and requested_output(body) <= reserve
        is_telling = is_telling and decision.request.left_alone is None
        return _Size(prompt, total, is_telling and not counter.has_media(decision.sent))

    async def _count(self, decision: Decision, name: str) -> int:
        """Return the raw tokens of what a decision sends, counted off the loop."""
        work = self._parts.counter.raw_prompt_tokens
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, work, decision.sent, decision.request.body, name)


def _lift_bypass(decision: Decision) -> Decision:
    """Return a decision whose session may be rewritten: as it came it is refused in any case."""
    if not isinstance(decision, Planned) or decision.context.session.bypass is None:
        return decision
    session = replace(decision.context.session, bypass=None)
    return replace(decision, context=decision.context.with_session(session))
