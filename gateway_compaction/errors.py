"""Everything that this package raises on purpose, so that a caller can tell it from a fault of ours.

CompactionError
├── PolicyError        a policy file or block that cannot be used: file, path, value, remedy
├── TranscriptError    a message list that cannot be read as a conversation
├── SourceNotFound     a client asked to go on from a conversation that is not there, or is not its own
├── StoreError         the store did not answer, or answered nonsense
│   └── StoreBusy      not asked at all: the breaker is open
├── ConversationRefused   a call of a kept conversation that cannot be answered: status, code and why
├── ArchiveError       an operator asked for what cannot be given or done
│   ├── NotFound            no such session, version or pin, or not this operator's to see
│   │   └── PartNotFound       no such version or pin of a session that may be seen: what there is
│   └── ActionRefused       it cannot be done, and why
│       └── InvalidDocument    what was to be imported is no exported session: where, and why
└── SummaryError       no usable summary came back
    ├── SummaryRejected   the model answered, the answer is not a summary
    ├── SummaryDenied     the caller may not use (or has no budget for) the summariser model
    ├── SummaryRefused    the provider refuses the request itself: the same one would be refused again
    │   └── SummaryTooLong    because the question is too long: a shorter one may be answered
    ├── SummaryLimited    the summariser is rate limited: trying again would hurt live calls
    └── SummaryTimeout    the summariser did not answer in time
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Self

__all__ = [
    "ActionRefused",
    "ArchiveError",
    "CompactionError",
    "ConversationRefused",
    "InvalidDocument",
    "NotFound",
    "PartNotFound",
    "PolicyError",
    "SourceNotFound",
    "StoreBusy",
    "StoreError",
    "SummaryDenied",
    "SummaryError",
    "SummaryLimited",
    "SummaryRefused",
    "SummaryRejected",
    "SummaryTimeout",
    "SummaryTooLong",
    "TranscriptError",
]


class CompactionError(Exception):
    """The root of this package's errors."""


class PolicyError(CompactionError):
    """A policy that cannot be used; says where, what was found and what to write instead.

    ``others`` are the further problems of the same source, found in the same pass.
    """

    def __init__(
        self, source: str, path: str, problem: str, remedy: str, *, others: tuple[PolicyError, ...] = ()
    ) -> None:
        self.source, self.path, self.problem, self.remedy = source, path, problem, remedy
        self.others = others
        super().__init__(f"{source}: {path}: {problem}. {remedy}")


class TranscriptError(CompactionError):
    """The messages cannot be read as a conversation; they are passed on unchanged."""


class SourceNotFound(CompactionError):
    """A client asked to go on from a conversation that is not there, or is not its own; it is told so."""


class StoreError(CompactionError):
    """The store did not answer in time, refused, or returned what cannot be read."""


class StoreBusy(StoreError):
    """The breaker is open: the store was not asked."""


class ConversationRefused(CompactionError):
    """A call of a kept conversation that cannot be answered; the client is told so with an HTTP status.

    It is the one error of ours that reaches a caller: an answer without the conversation would be wrong.
    """

    def __init__(self, status: int, code: str, problem: str) -> None:
        self.status, self.code, self.problem = status, code, problem
        super().__init__(problem)


class ArchiveError(CompactionError):
    """An operator asked for something that cannot be given or done."""


class NotFound(ArchiveError):
    """No such session, version or pin; or not this operator's to see, which must look the same."""


class PartNotFound(NotFound):
    """No such version or pin of a session that this operator may see; the text says what it has."""

    @classmethod
    def version(cls, number: int | None, there: Iterable[int]) -> Self:
        """Say which versions there are; without a number, that none is in use."""
        known = ", ".join(map(str, sorted(there, reverse=True))) or "none"
        return cls(f"The session has no version {number or 'in use'}; there are: {known}")

    @classmethod
    def pin(cls, there: int) -> Self:
        """Say how many pins there are."""
        plural = "" if there == 1 else "s"
        return cls(f"The session has no such pin; it has {there or 'no'} pin{plural}")


class ActionRefused(ArchiveError):
    """It cannot be done; the text says why and what can be done instead."""


class InvalidDocument(ActionRefused):
    """A document to be imported is no exported session: ``path`` says where, ``problem`` why."""

    def __init__(self, path: str, problem: str) -> None:
        self.path, self.problem = path, problem
        super().__init__(f"Not an exported session: {path}: {problem}")


class SummaryError(CompactionError):
    """The summariser gave no usable summary.

    ``is_outage`` tells whether it is the summariser that fails, whatever it is asked: then a session waits no
    longer for its return than it has to.
    """

    is_outage: ClassVar[bool] = True


class SummaryRejected(SummaryError):
    """The answer is empty, cut off, an error text, a tool call, or not smaller than its source."""

    is_outage = False


class SummaryDenied(SummaryError):
    """The calling team may not use the summariser model, or has no budget left for it."""

    is_outage = False


class SummaryRefused(SummaryError):
    """The summariser's provider or the router refused the request itself; it is not sent again as it was."""

    is_outage = False


class SummaryTooLong(SummaryRefused):
    """The question is too long for the summariser; ``limit`` is the window that the provider told, if any."""

    def __init__(self, text: str, limit: int | None = None) -> None:
        super().__init__(text)
        self.limit = limit


class SummaryLimited(SummaryError):
    """The summariser is rate limited; it is not asked again for this job."""


class SummaryTimeout(SummaryError):
    """The summariser did not answer in time; it is not asked again for this job."""
