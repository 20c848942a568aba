"""One record per decision: what was done to a request, and why. Never message contents."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

__all__ = ["CompactionEvent", "Outcome"]

Outcome = Literal["none", "prepared", "applied", "fallback", "passthrough", "bypassed", "observed", "failed"]


@dataclass(frozen=True, slots=True)
class CompactionEvent:
    """One decision about one request, one background summary, or one deed of an operator (``type``).

    ``by`` says who it was that did a deed; never a key, only its hash or alias.
    """

    type: Literal["request", "summary", "audit"]
    at: float
    outcome: str
    reason: str
    level: str | None = None
    model: str | None = None
    policy: str | None = None
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
        """Plain JSON types; absent fields left out."""
        return {k: v for k, v in asdict(self).items() if v is not None}
