"""The record of one decision: what was done to a request, and why. Never message contents.

Metrics, logs, archives and the administration all read it, so that none of them tells another story.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Outcome = Literal["none", "prepared", "applied", "fallback", "passthrough", "bypassed", "observed", "failed"]

EXTRACTIVE = "extractive"
"""The name that summaries made without a model are counted under, in the place of a model group's."""


@dataclass(frozen=True, slots=True)
class CompactionEvent:
    """One decision about one request, one background summary, or one action of an operator.

    Attributes:
        type: which of the three it is.
        at: seconds since 1970.
        outcome: what was done, of a request one of ``Outcome``.
        reason: why it was done.
        level: the level that the request's usage reached.
        model: the model group of the request, or the one that was asked for a summary (``EXTRACTIVE``
            where none was).
        policy: the name of the policy.
        endpoint: the endpoint that was called: ``chat``, ``messages`` or ``responses``.
        tokens_before: tokens of the request as it came, with what is kept free for the answer.
        tokens_after: the same of what was sent, or in ``observe`` would have been; of a summary, the tokens
            of what it stands for and of all that stands in their place.
        window: tokens of the model's window.
        messages_before: messages of the request as it came.
        messages_after: messages of what was sent.
        covers: number of messages that the used compaction covers.
        version: its version.
        seconds: how long it took.
        cost: dollars that it cost, where the host knows.
        by: who did an action: never a key, only its hash or alias.
    """

    type: Literal["request", "summary", "audit"]
    at: float
    outcome: str
    reason: str
    level: str | None = None
    model: str | None = None
    policy: str | None = None
    endpoint: str | None = None
    tokens_before: int = 0
    tokens_after: int = 0
    window: int | None = None
    messages_before: int = 0
    messages_after: int = 0
    covers: int = 0
    version: int | None = None
    seconds: float | None = None
    cost: float | None = None
    by: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the event in plain JSON types; absent fields are left out."""
        return {name: value for name, value in asdict(self).items() if value is not None}
