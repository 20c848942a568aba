"""Find the rooms of a folder, the import arrows between them, their order and the circles among them.

A room is a direct child of the folder: a package with everything below it, or a module that lies in the
folder itself. So a flat folder has a room for each module. The folder's own ``__init__`` is no room. An
arrow is one pair of rooms of which the first imports the second, at the head of a file, in a function or
for types only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from scripts.house_source import PACKAGE, Project

__all__ = ["Arrow", "Plan", "draw_plan"]


class Arrow(NamedTuple):
    """One room imports another."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Plan:
    """The rooms of a folder.

    Attributes:
        rooms: every room, the lowest first: a room stands above those that it imports.
        packages: how many of the rooms are packages.
        arrows: the imports between rooms, sorted.
        circles: the groups of rooms that reach one another.
        upward: the arrows that lead to a higher room; none unless there is a circle.
    """

    rooms: list[str]
    packages: int
    arrows: list[Arrow]
    circles: list[list[str]]
    upward: list[Arrow]


def draw_plan(project: Project, folder: str = "core") -> Plan:
    """Find the rooms of a folder of the package and what leads from one to another."""
    prefix = f"{PACKAGE}.{folder}."
    rooms = {
        name: name.removeprefix(prefix).split(".")[0] for name in project.modules if name.startswith(prefix)
    }
    arrows = set()
    for name, room in rooms.items():
        for _, dotted in project.modules[name].imported:
            # What is imported is a module, or a name in the module or package before the last dot.
            home = dotted if dotted in project.modules else dotted.rpartition(".")[0]
            if home in rooms and rooms[home] != room:
                arrows.add(Arrow(room, rooms[home]))
    names = sorted(set(rooms.values()))
    packages = sum(
        project.modules[prefix + room].is_face for room in names if prefix + room in project.modules
    )
    ordered = order_rooms(names, arrows)
    height = {room: place for place, room in enumerate(ordered)}
    upward = sorted(a for a in arrows if height[a.target] > height[a.source])
    return Plan(ordered, packages, sorted(arrows), find_circles(names, arrows), upward)


def order_rooms(rooms: list[str], arrows: set[Arrow]) -> list[str]:
    """Order rooms from the lowest to the highest.

    The next is always one that imports nothing still to come. Where a circle leaves none, it is the one that
    imports the fewest of them, then the one that most of them import, then the first by name.
    """
    left, ordered = set(rooms), list[str]()
    while left:
        between = [a for a in arrows if a.source in left and a.target in left]
        imports = {room: sum(a.source == room for a in between) for room in left}
        imported = {room: sum(a.target == room for a in between) for room in left}
        lowest = min(left, key=lambda room: (imports[room], -imported[room] if imports[room] else 0, room))
        ordered.append(lowest)
        left.remove(lowest)
    return ordered


def find_circles(rooms: list[str], arrows: set[Arrow]) -> list[list[str]]:
    """Group the rooms that reach one another; a room alone is no circle."""
    reached = {room: {a.target for a in arrows if a.source == room} for room in rooms}
    for middle in rooms:
        for room in rooms:
            if middle in reached[room]:
                reached[room] |= reached[middle]
    groups = {tuple(sorted({b for b in reached[a] if a in reached[b]})) for a in rooms if a in reached[a]}
    return [list(group) for group in sorted(groups)]
