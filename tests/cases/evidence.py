"""What was seen while a case was played."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gateway_compaction.core.records.compaction import Compaction
from tests.cases.prepared import Prepared
from tests.lab import Answer, Seen

__all__ = ["Call", "Evidence"]

Message = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the client, and what it led to.

    Attributes:
        sent: the messages as the client sent them, ``body`` the rest.
        upstream: what reached the models that answer, attempt by attempt.
        number: the pass it belongs to.
        began: when it was sent, by ``time.monotonic``.
        judged: whether the checks apply to it; else it only prepared the situation.
        first: the first judged one of its pass.
    """

    sent: Sequence[Message]
    body: Mapping[str, Any]
    answer: Answer
    upstream: Sequence[Seen]
    number: int
    began: float
    judged: bool = True
    first: bool = True

    @property
    def served(self) -> Seen:
        """The request that was answered."""
        return self.upstream[-1]

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages of the request that was answered; none where none arrived."""
        return self.upstream[-1].messages if self.upstream else []

    @property
    def is_cached(self) -> bool:
        """Whether LiteLLM's response cache answered."""
        return not self.upstream and self.answer.headers.get("x-litellm-cache-key") is not None


@dataclass(slots=True)
class Evidence:
    """Everything that the checks of one case look at.

    Attributes:
        plain: the client's messages as LiteLLM itself sends them, without compaction.
        asked: what the summariser was asked, by pass.
        covered: what a stored summary stands for at the start, by pass; None where nothing could be stored.
        records: the stored compactions of each judged call's conversation, at the end, by call.
        facts: measurements and observations by name.
        missing: what of the situation did not come about, so that nothing was tested.
        notes: what a reader of the result should know.
    """

    prepared: Prepared
    calls: list[Call] = field(default_factory=list)
    plain: list[dict[str, Any]] | None = None
    asked: dict[int, list[Seen]] = field(default_factory=dict)
    covered: dict[int, int | None] = field(default_factory=dict)
    records: dict[int, tuple[Compaction, ...]] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def judged(self) -> list[Call]:
        """The calls that the checks apply to."""
        return [call for call in self.calls if call.judged and not call.is_cached]

    @property
    def all_asked(self) -> list[Seen]:
        """Everything that the summariser was asked."""
        return [seen for asked in self.asked.values() for seen in asked]

    def note(self, text: str) -> None:
        """Say something once."""
        if text not in self.notes:
            self.notes.append(text)
