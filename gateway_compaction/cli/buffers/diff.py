"""Compare two versions of a summary, segment by segment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher, unified_diff
from typing import Any, Literal

from gateway_compaction.core.records.compaction import Compaction, Segment

Op = Literal["equal", "changed", "removed", "added"]
OPS: dict[str, Op] = {"equal": "equal", "replace": "changed", "delete": "removed", "insert": "added"}
CONTEXT = 2
# Comparing lines takes their number squared: longer texts are shown as gone and come.
MOST_LINES = 2_000


@dataclass(frozen=True, slots=True)
class Change:
    """Neighbouring segments that changed alike; ``lines`` as a unified diff has them, none where all is
    equal.
    """

    op: Op
    before: tuple[Segment, ...]
    after: tuple[Segment, ...]
    lines: tuple[str, ...] = ()


def compare_segments(old: Compaction, new: Compaction) -> list[Change]:
    """Return the segments of both in order; equal ones have the same range and the same text."""
    matcher = SequenceMatcher(None, old.segments, new.segments, autojunk=False)
    found = []
    for tag, a, b, c, d in matcher.get_opcodes():
        before, after = old.segments[a:b], new.segments[c:d]
        lines = () if tag == "equal" else tuple(_diff_lines(before, after))
        found.append(Change(OPS[tag], before, after, lines))
    return found


def describe_version(compaction: Compaction) -> dict[str, Any]:
    """Return what a version is, without its text."""
    return {
        "version": compaction.version,
        "kind": compaction.kind,
        "covers": compaction.covers,
        "tokens_before": compaction.tokens_before,
        "tokens_after": compaction.tokens_after,
        "model": compaction.model,
        "created_at": compaction.created_at,
    }


def _diff_lines(before: Sequence[Segment], after: Sequence[Segment]) -> Iterator[str]:
    old, new = _join_segments(before), _join_segments(after)
    if max(len(old), len(new)) > MOST_LINES:
        yield from (f"-{line}" for line in old)
        yield from (f"+{line}" for line in new)
        return
    # The first two lines name files.
    for number, line in enumerate(unified_diff(old, new, lineterm="", n=CONTEXT)):
        if number > 1:
            yield line


def _join_segments(segments: Sequence[Segment]) -> list[str]:
    return [line for segment in segments for line in segment.text.split("\n")]
