"""Snapshots of a session: when one is taken, what a list says of them, and how two of them differ."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gateway_compaction.core.records.restore_point import RestorePoint

# The name of a snapshot: the second in which it was taken.
NAME = re.compile(r"[0-9]{1,10}")


@dataclass(frozen=True, slots=True)
class SnapshotBounds:
    """The snapshots that a session keeps: so many, for so many seconds."""

    number: int = 20
    age: float = 7 * 86_400.0

    def encode(self) -> str:
        """Return the bounds as they are stored with a session."""
        return f"{self.number}:{self.age:g}"

    @classmethod
    def decode(cls, text: str) -> SnapshotBounds:
        """Read bounds back; what is none gives the usual ones."""
        number, colon, age = text.partition(":")
        is_sound = colon and number.isdecimal() and age.isdecimal() and len(text) < 40
        return cls(int(number), float(age)) if is_sound else cls()


@dataclass(frozen=True, slots=True)
class SnapshotLine:
    """One line of a list of snapshots.

    Attributes:
        name: what it is restored by; the second in which it was taken.
        at: when it was taken, in seconds since 1970.
        reason: why it was taken.
        messages: number of messages after the preamble that the conversation had.
        version: version of its summary, 0 for none.
        plan: the plan that the client told, else its task; empty for neither.
    """

    name: str
    at: float
    reason: str
    messages: int
    version: int
    plan: str


@dataclass(frozen=True, slots=True)
class PointChange:
    """The difference of one part between two moments of a session."""

    part: str
    removed: tuple[str, ...]
    added: tuple[str, ...]


def describe_snapshot(point: RestorePoint) -> SnapshotLine:
    """Return the line that a list has of a snapshot."""
    plan = point.state.plan or point.state.task
    return SnapshotLine(point.name, point.at, point.reason, point.messages, point.version, plan)


def is_snapshot_due(last: float | None, at: float, interval: float) -> bool:
    """Tell whether a session is to have a snapshot now.

    Args:
        last: when the last one was taken, or the session began; None where it begins with this call.
        at: the present time.
        interval: seconds between two of them.
    """
    return last is not None and at - last >= interval


def compare_points(old: RestorePoint, new: RestorePoint) -> tuple[PointChange, ...]:
    """Return what a later conversation would be told otherwise, part by part; equal parts are left out."""
    before, after = dict(_list_lines(old)), dict(_list_lines(new))
    changes = (PointChange(part, *_differ(lines, after[part])) for part, lines in before.items())
    return tuple(change for change in changes if change.removed or change.added)


def _differ(old: Sequence[str], new: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(x for x in old if x not in new), tuple(x for x in new if x not in old)


def _list_lines(point: RestorePoint) -> Iterator[tuple[str, tuple[str, ...]]]:
    state, facts = point.state, point.facts
    values: Mapping[str, str] = {
        "project": state.project or facts.preamble,
        "plan": state.plan,
        "task": state.task or facts.task,
        "cwd": state.cwd,
    }
    yield from ((name, (value,) if value else ()) for name, value in values.items())
    yield "decisions", state.decisions or facts.decisions
    yield "files", state.files or facts.files
    yield "identifiers", facts.identifiers
    yield "rules", facts.rules
    yield "pins", point.pins
    summary = "\n".join(segment.text for segment in point.segments) or facts.extract
    yield "summary", tuple(line for line in summary.splitlines() if line.strip())
    yield "recent", tuple(f"{role}: {text}" for role, text in point.recent)
