"""Snapshots as values: bounds as they are stored, when one is due, how two differ, and their texts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.records.client_state import ClientState
from gateway_compaction.core.records.compaction import Segment
from gateway_compaction.core.records.restore_point import FoundFacts, RestorePoint
from gateway_compaction.core.records.snapshots import (
    PointChange,
    SnapshotBounds,
    SnapshotLine,
    compare_points,
    describe_snapshot,
    is_snapshot_due,
)

POINT = RestorePoint(
    "t.s",
    9.5,
    "before rebuild",
    ClientState(plan="first", decisions=("keep the API",)),
    FoundFacts("be brief", "mend it", ("never on Fridays",), ("found",), ("a.py",), ("T-1",), "an extract"),
    (Segment(0, 4, "one\n\ntwo"),),
    covers=4,
    version=2,
    pins=("a pin",),
    recent=(("user", "go on"),),
    messages=7,
)


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("3:60", SnapshotBounds(3, 60.0)),
        ("0:604800", SnapshotBounds(0, 604_800.0)),
        *((text, SnapshotBounds()) for text in ("", "3", "3:", "x:1", "-1:5", "1:2:3", "9" * 50 + ":1")),
    ],
)
def test_bounds_are_read_back(text: str, bounds: SnapshotBounds) -> None:
    assert SnapshotBounds.decode(text) == bounds
    assert SnapshotBounds.decode(bounds.encode()) == bounds


def test_the_usual_bounds_are_those_of_a_policy() -> None:
    kept = Policy().storage.snapshots
    assert SnapshotBounds() == SnapshotBounds(kept.number, float(kept.age))


@pytest.mark.parametrize(("last", "due"), [(None, False), (0.0, True), (100.0, True), (100.1, False)])
def test_one_is_due_once_so_much_time_has_passed(last: float | None, due: bool) -> None:
    assert is_snapshot_due(last, 1_900.0, 1_800.0) is due


def test_a_list_says_what_it_is_of() -> None:
    assert describe_snapshot(POINT) == SnapshotLine("9", 9.5, "before rebuild", 7, 2, "first")
    assert describe_snapshot(replace(POINT, state=ClientState(task="only a task"))).plan == "only a task"


def test_what_differs_is_told_part_by_part() -> None:
    assert compare_points(POINT, replace(POINT, at=99.0, reason="", version=3)) == ()
    state = ClientState(plan="second", decisions=("keep the API", "no cache"))
    segments = (Segment(0, 4, "one"), Segment(4, 8, "three"))
    now = replace(POINT, state=state, segments=segments, pins=(), recent=(("user", "stop"),))
    assert compare_points(POINT, now) == (
        PointChange("plan", ("first",), ("second",)),
        PointChange("decisions", (), ("no cache",)),
        PointChange("pins", ("a pin",), ()),
        PointChange("summary", ("two",), ("three",)),
        PointChange("recent", ("user: go on",), ("user: stop",)),
    )
    bare = replace(POINT, state=ClientState(), segments=())
    assert [c.part for c in compare_points(POINT, bare)] == ["plan", "decisions", "summary"]


def test_every_text_of_a_point_is_changed() -> None:
    changed = POINT.map_texts(str.upper)
    facts = FoundFacts(
        "BE BRIEF", "MEND IT", ("NEVER ON FRIDAYS",), ("FOUND",), ("A.PY",), ("T-1",), "AN EXTRACT"
    )
    assert changed.facts == facts
    assert changed.state.plan == "FIRST" and changed.segments[0].text == "ONE\n\nTWO"
    assert (changed.pins, changed.recent) == (("A PIN",), (("user", "GO ON"),))
