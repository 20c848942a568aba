"""The record of one part of a summary: the messages and turns that it stands for, and how long it became.

It is computed when the part is written and stored with the compaction, because the messages themselves are
not stored: later nobody could tell how long they were, or which length was asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class SummaryRecord:
    """One segment of a summary, held against the messages that it stands for.

    Attributes:
        start: position of its first message, after the preamble.
        end: position behind its last one.
        first_turn: the first turn that it stands for, from 1; 0 where no user has spoken yet. A divided turn
            belongs to all its segments.
        last_turn: the last one.
        original_chars: characters of the text of its messages.
        summary_chars: characters of the segment.
        target_chars: characters that were asked for, None where the length was asked for in tokens.
        rate: the rate that was asked for (``summary.rate``, or what an operator set), None where none was.
        created_at: seconds since 1970; of parts older than records, when the compaction was made that they
            were taken over from.
    """

    start: int
    end: int
    first_turn: int
    last_turn: int
    original_chars: int
    summary_chars: int
    target_chars: int | None = None
    rate: float | None = None
    created_at: float = 0.0

    @property
    def turns(self) -> tuple[int, ...]:
        """The numbers of the turns that it stands for."""
        return tuple(range(self.first_turn, self.last_turn + 1)) if self.first_turn else ()

    @property
    def actual_rate(self) -> float:
        """The characters of the segment as a share of those that it stands for; 0 where there are none."""
        return round(self.summary_chars / self.original_chars, 4) if self.original_chars else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the record in plain JSON types, as it is stored."""
        return {
            "start": self.start,
            "end": self.end,
            "turns": [self.first_turn, self.last_turn],
            "original_chars": self.original_chars,
            "summary_chars": self.summary_chars,
            "target_chars": self.target_chars,
            "rate": self.rate,
            "created_at": self.created_at,
        }

    @classmethod
    def from_dict(cls, raw: Any) -> SummaryRecord:
        """Read a record back.

        Raises:
            ValueError: it is not one.
        """
        try:
            first, last = raw["turns"]
            return cls(
                start=int(raw["start"]),
                end=int(raw["end"]),
                first_turn=int(first),
                last_turn=int(last),
                original_chars=int(raw["original_chars"]),
                summary_chars=int(raw["summary_chars"]),
                target_chars=None if raw["target_chars"] is None else int(raw["target_chars"]),
                rate=None if raw["rate"] is None else float(raw["rate"]),
                created_at=float(raw["created_at"]),
            )
        except (KeyError, TypeError, IndexError, AttributeError, OverflowError) as error:
            raise ValueError(f"not a summary record: {error!r}") from error
