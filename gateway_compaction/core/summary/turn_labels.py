"""The turns that the parts of a summary stand for, and the labels that tell a model which these are.

A label depends on the covered messages alone, so that the bytes of a summary message stay the same while the
conversation grows.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from gateway_compaction.core.records.compaction import Segment

# Tokens of one label, with its line break.
LABEL_TOKENS = 8


def find_turns(segment: Segment, turn_starts: Sequence[int]) -> tuple[int, int]:
    """Return the first and the last turn that a segment touches, from 1; zeros where it touches none.

    Args:
        segment: a part of a summary.
        turn_starts: positions of the user messages that open the turns, ascending.
    """
    last = bisect_left(turn_starts, segment.end)
    return (max(1, bisect_right(turn_starts, segment.start)), last) if last else (0, 0)


def name_turns(first: int, last: int) -> str:
    """Name some turns in words, such as ``turns 1–3``; empty where there are none."""
    if not first:
        return ""
    return f"turn {first}" if first == last else f"turns {first}–{last}"


def label_segments(segments: Sequence[Segment], turn_starts: Sequence[int]) -> str:
    """Return the texts of some segments, each behind a line such as ``[turns 1–3]``."""
    labelled = []
    for segment in segments:
        named = name_turns(*find_turns(segment, turn_starts))
        if segment.text:
            labelled.append(f"[{named}]\n{segment.text}" if named else segment.text)
    return "\n\n".join(labelled)
