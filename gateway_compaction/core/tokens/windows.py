"""The windows of deployments as refusals teach them, beside what configurations declare.

A window that is declared too large would otherwise be refused at every long call. This is about windows
alone: how tokens are counted is corrected in ``calibration``, and neither changes the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

LEARNED_SECONDS = 86_400.0
"""So long after its last refusal a learnt window holds: a server may be started again with a larger one."""

HOUR = 3_600.0

REFUSALS_AN_HOUR = 2
"""Refusals in an hour after which nothing larger than what has passed is tried."""

LEAST_WINDOW = 200
"""The smallest window that anything can be fitted to; as in a policy."""

BELOW_REFUSED = 0.95
"""Share of the smallest request that was refused that is tried at most: counts are off by a few per cent."""

LEAST_BOUND = 500
"""Tokens below which a refusal without a number teaches no window: it is likelier about something else."""

CREDIBLE = 4
"""Our count and a provider's may differ by so much; beyond that a number is not about what was sent."""

MOST_DEPLOYMENTS = 1_000
"""Deployments that are remembered; clients that bring credentials of their own make new ones."""


@dataclass(frozen=True, slots=True)
class LearnedWindow:
    """The lessons of one deployment's refusals.

    Tokens are those of whole requests: the prompt, and what is kept free for the answer.

    Attributes:
        told: the limit that the provider told, None where it told no number.
        passed: tokens of the largest request that was answered.
        refused: tokens of the smallest request that was refused though it was within what was told.
        at: when it was refused last, in seconds since 1970; the latest first, at most two.
        model: the model's name, and ``declared`` its window as configured: for people.
    """

    told: int | None = None
    passed: int | None = None
    refused: int | None = None
    at: tuple[float, ...] = ()
    model: str = ""
    declared: int | None = None

    def window(self, now: float) -> int | None:
        """Return the window that is safe to fill, None where nothing was learned."""
        known = [tokens for tokens in (self.told, self._bound(now)) if tokens is not None]
        return max(LEAST_WINDOW, min(known)) if known else None

    def is_valid(self, now: float) -> bool:
        """Tell whether it still holds."""
        return bool(self.at) and now - self.at[0] < LEARNED_SECONDS

    def is_disproved(self, prompt: int, now: float) -> bool:
        """Tell whether a prompt that was answered shows that the limit that was told is not the window's.

        It may have been told of something else, or the server been started again with a larger window. Where
        several servers with different windows answer under one name both are true by turns: after two
        refusals in an hour the smaller one holds.
        """
        if self.told is None or prompt * BELOW_REFUSED <= self.told:
            return False
        return self._count_recent(now) < REFUSALS_AN_HOUR

    def _count_recent(self, now: float) -> int:
        return sum(now - at < HOUR for at in self.at)

    def _bound(self, now: float) -> int | None:
        """Return the window between what passed and what was refused, where no number was told.

        Half of what was refused is tried where less than that has passed; twice in an hour, then not.
        """
        if self.refused is None:
            return None
        most = int(self.refused * BELOW_REFUSED)
        if self.passed is not None and self._count_recent(now) >= REFUSALS_AN_HOUR:
            return min(most, self.passed)
        return min(most, max(self.passed or 0, self.refused // 2))


class WindowBook:
    """The learnt windows of one process, by deployment; shared with the others through the store."""

    def __init__(self) -> None:
        self._learned: dict[str, LearnedWindow] = {}
        # The largest request that each deployment has answered, and when: a day later it says nothing.
        self._passed: dict[str, tuple[int, float]] = {}

    def window(self, deployment: str, declared: int | None, now: float) -> int | None:
        """Return the window of a deployment: the declared one, or a smaller one that was learned."""
        learned = self._learned.get(deployment)
        window = learned.window(now) if learned is not None and learned.is_valid(now) else None
        known = [tokens for tokens in (declared, window) if tokens is not None]
        return min(known, default=None)

    def all(self, now: float) -> dict[str, LearnedWindow]:
        """Return all that holds, by deployment."""
        return {name: learned for name, learned in self._learned.items() if learned.is_valid(now)}

    def adopt(self, learned: Mapping[str, LearnedWindow]) -> None:
        """Take over what other replicas have learned, where they learned it later.

        A limit that much larger requests passed here was told in an error about something else, as in
        ``refuse``: the replica that learned it may have had no such request to judge it by.
        """
        for deployment, theirs in learned.items():
            own = self._learned.get(deployment)
            at = max(theirs.at, default=0.0)
            passed = self._find_passed(deployment, own, at)
            if theirs.told is not None and not _is_plausible(theirs.told, None, passed):
                continue
            if theirs.at and (own is None or theirs.at[0] >= own.at[0]):
                self._keep(deployment, theirs)

    def refuse(
        self, deployment: str, told: int | None, sent: int | None, now: float, about: LearnedWindow
    ) -> LearnedWindow:
        """Learn from a refusal.

        Args:
            deployment: who refused.
            told: the limit that it told.
            sent: tokens of what was refused, None where they say nothing of the window.
            now: seconds since 1970.
            about: the model's name and its declared window.

        Returns:
            What is known now; what was known before, where the limit that was told cannot be right.
        """
        before = self._learned.get(deployment, LearnedWindow())
        if not before.is_valid(now):
            before = LearnedWindow()
        passed = self._find_passed(deployment, before, now)
        if told is not None and not _is_plausible(told, sent, passed):
            # The error was about something else: it teaches nothing.
            return before
        limit = told if told is not None else before.told
        refused = before.refused
        if sent is not None and sent >= LEAST_BOUND and (limit is None or sent <= limit):
            refused = sent if refused is None else min(refused, sent)
        learned = LearnedWindow(limit, passed, refused, (now, *before.at)[:2], about.model, about.declared)
        if limit is None and refused is None:
            return learned
        self._keep(deployment, learned)
        return learned

    def answer(self, deployment: str, tokens: int, now: float, prompt: int = 0) -> LearnedWindow | None:
        """Note a request that was answered; return what is to be shared, if it is news.

        Args:
            deployment: who answered.
            tokens: tokens of the request with what was kept free for its answer.
            now: seconds since 1970.
            prompt: tokens of what was sent, by the provider's count and by ours at least; 0 where one of
                them is missing. A prompt that is larger than the limit that was told disproves it.
        """
        largest, at = self._passed.pop(deployment, (0, now))
        is_largest = tokens >= largest or now - at >= LEARNED_SECONDS
        self._passed[deployment] = (tokens, now) if is_largest else (largest, at)
        _trim(self._passed)
        learned = self._learned.get(deployment)
        if learned is None:
            return None
        if learned.is_disproved(prompt, now):
            learned = replace(learned, told=None, passed=tokens)
        elif learned.refused is None or tokens <= (learned.passed or 0):
            return None
        else:
            learned = replace(learned, passed=tokens)
        self._learned[deployment] = learned
        return learned

    def _find_passed(self, deployment: str, learned: LearnedWindow | None, now: float) -> int | None:
        """Return the tokens of the largest request that passed within the last day, here or elsewhere."""
        largest, at = self._passed.get(deployment, (0, now))
        own = largest if now - at < LEARNED_SECONDS else 0
        return max(own, (learned.passed if learned else None) or 0) or None

    def _keep(self, deployment: str, learned: LearnedWindow) -> None:
        self._learned.pop(deployment, None)
        self._learned[deployment] = learned
        _trim(self._learned)


def _is_plausible(told: int, sent: int | None, passed: int | None) -> bool:
    """Tell whether a number can be the limit that refused a request.

    It cannot where much larger requests were answered, nor where what was refused is far below it. A number
    in an error about something else, or one that a client had the error quote, would otherwise shorten
    everybody's conversations for a day.
    """
    if passed is not None and told * CREDIBLE < passed:
        return False
    return sent is None or told <= sent * CREDIBLE


def _trim(entries: dict[str, Any]) -> None:
    while len(entries) > MOST_DEPLOYMENTS:
        del entries[next(iter(entries))]
