"""Measure how the project reads, from its source alone.

Run it as ``python -m scripts.measure_house [--root DIR] [--json] [--packages]`` from the project's root.
Only the package itself is measured, not its tests, benchmarks or scripts. What each row counts:

* *Modules* are ``.py`` files other than ``__init__.py``; a folder's are those that lie in it directly.
* *Functions* are all of them, methods and nested ones included, but for tests (``test_…``). Their length
  runs from ``def`` to the last line, docstring and comments included, decorators not. p90 is the nearest
  rank.
* *Private* is a name with a leading underscore that is no ``__dunder__``. The rows about words and
  participles leave out dunders, whose names are given, and properties.
* *Participles* are told by ``house_words.is_participle``; riddles and imperatives likewise.
* *Docstrings* are those of modules, classes and functions; imperatives are asked of functions that are no
  properties.
* *Lines of code* are those that are neither blank nor part of a docstring. Per 100 of them: *comments*,
  which are comment tokens but for those to tools (``noqa``, ``type:``, ``pragma``, ``fmt:``, ``!``). Per
  1,000 of them: *conditional expressions*, ``a if b else c``. So longer docstrings alone change neither.
* *Parameters* are the named ones without the receiver; ``*args`` and ``**kwargs`` do not count.
* *Rooms and arrows* are explained in ``house_rooms``, *ways* in ``house_walk``. The way through ``compact``
  ends where that through ``make_plan`` begins.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import math
import re
import statistics
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from scripts.house_rooms import Plan, draw_plan
from scripts.house_source import PACKAGE, Function, FunctionNode, Module, Project, load
from scripts.house_walk import Way, walk
from scripts.house_words import begins_with_riddle, has_section, is_imperative, is_participle, split_words

__all__ = ["House", "Row", "main", "measure"]

MANY_MODULES = 20
MANY_PARAMETERS = 6
TO_TOOLS = re.compile(r"#\s*(noqa|type:|pragma|fmt:|mypy:|ruff:|!)")
Documented = ast.Module | ast.ClassDef | FunctionNode


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: what is measured, as a text and as plain data."""

    name: str
    text: str
    data: object


@dataclass(frozen=True, slots=True)
class House:
    """Everything measured: the rows of the table, and the rooms of the core."""

    rows: list[Row]
    plan: Plan


def measure(root: Path) -> House:
    """Measure the project below a root."""
    project = load(root)
    if not project.modules:
        raise SystemExit(f"there is no package {PACKAGE} in {root}")
    plan = draw_plan(project)
    rows = [
        *_measure_folders(project, root),
        *_measure_functions(project),
        *_measure_docstrings(project),
        *_measure_lines(project),
        *_measure_rooms(plan),
        *_measure_ways(project),
    ]
    return House(rows, plan)


def _measure_folders(project: Project, root: Path) -> Iterator[Row]:
    """Count the modules of each folder."""
    modules = [m.path.parent.relative_to(root) for m in project.modules.values() if not m.is_face]
    folders = Counter(folder.as_posix() for folder in modules)
    fullest, most = max(folders.items(), key=lambda item: (item[1], item[0]))
    yield Row("modules in the fullest folder", f"{most} ({fullest})", {"folder": fullest, "modules": most})
    crowded = sorted(folder for folder, count in folders.items() if count > MANY_MODULES)
    listed = f" ({', '.join(f'{folder} {folders[folder]}' for folder in crowded)})" if crowded else ""
    yield Row(f"folders with more than {MANY_MODULES} modules", f"{len(crowded)}{listed}", crowded)


def _measure_functions(project: Project) -> Iterator[Row]:
    """Measure how long functions are, what they are called, and what they take."""
    nodes = [node for module in project.modules.values() for node in _functions_of(module)]
    lengths = sorted((node.end_lineno or node.lineno) - node.lineno + 1 for node in nodes)
    middle = int(statistics.median(lengths))
    p90 = lengths[math.ceil(0.9 * len(lengths)) - 1]
    yield Row("functions", f"{len(nodes):,}", len(nodes))
    data = {"median": middle, "p90": p90, "max": lengths[-1]}
    yield Row("function median / p90 / max, lines", f"{middle} / {p90} / {lengths[-1]}", data)
    yield _share("private functions", (n.name.startswith("_") and not _is_dunder(n.name) for n in nodes))
    verbs = [node.name for node in nodes if not (_is_dunder(node.name) or _is_property(node))]
    words = statistics.mean(len(split_words(name)) for name in verbs)
    yield Row("words in a function's name", f"{words:.2f}", round(words, 3))
    yield _share("function names that are a participle or adjective", map(is_participle, verbs))
    crowded = sum(_count_parameters(node) > MANY_PARAMETERS for node in nodes)
    yield Row(f"functions with more than {MANY_PARAMETERS} parameters", str(crowded), crowded)


def _measure_docstrings(project: Project) -> Iterator[Row]:
    """Measure how docstrings begin and whether they have sections."""
    documented = [
        (node, text)
        for module in project.modules.values()
        for node in ast.walk(module.tree)
        if isinstance(node, Documented) and (text := ast.get_docstring(node))
    ]
    texts = [text for _, text in documented]
    yield Row("docstrings", f"{len(texts):,}", len(texts))
    yield _share(
        "docstrings that begin with What / Whose / Whether / How / Which / Where",
        map(begins_with_riddle, texts),
    )
    asked = [text for node, text in documented if isinstance(node, FunctionNode) and not _is_property(node)]
    yield _share("function docstrings in the imperative", map(is_imperative, asked))
    yield _share("docstrings with Args / Returns / Raises / Attributes", map(has_section, texts))


def _measure_lines(project: Project) -> Iterator[Row]:
    """Count lines, comments and conditional expressions."""
    modules = project.modules.values()
    lines = sum(len(m.text.splitlines()) for m in modules)
    code = sum(map(_count_code, modules))
    comments = sum(map(_count_comments, modules))
    choices = sum(isinstance(node, ast.IfExp) for m in modules for node in ast.walk(m.tree))
    yield Row("lines", f"{lines:,}", lines)
    yield Row("lines of code", f"{code:,}", code)
    yield Row(
        "comments per 100 lines of code", f"{100 * comments / code:.1f}", round(100 * comments / code, 2)
    )
    per_thousand = 1000 * choices / code
    yield Row(
        "conditional expressions per 1,000 lines of code", f"{per_thousand:.0f}", round(per_thousand, 1)
    )


def _measure_rooms(plan: Plan) -> Iterator[Row]:
    """Count the rooms of the core and what leads from one to another."""
    rooms = f"{len(plan.rooms)} ({plan.packages} of them packages)"
    yield Row("core: rooms", rooms, {"rooms": len(plan.rooms), "packages": plan.packages})
    yield Row("core: import arrows between rooms", str(len(plan.arrows)), len(plan.arrows))
    circles = "; ".join(" – ".join(circle) for circle in plan.circles)
    yield Row("core: circles", f"{len(plan.circles)}{f' ({circles})' if circles else ''}", plan.circles)
    upward = ", ".join(f"{a.source} → {a.target}" for a in plan.upward)
    data = [list(arrow) for arrow in plan.upward]
    yield Row("core: arrows that point upward", f"{len(plan.upward)}{f' ({upward})' if upward else ''}", data)


def _measure_ways(project: Project) -> Iterator[Row]:
    """Walk the way of a request and that of a context."""
    compact = _find_method(project, "Compactor", "compact")
    make_plan = _find_function(project, f"{PACKAGE}.core", "make_plan")
    yield _way_row("way of a request through `compact`", project, compact, frozenset({"make_plan"}))
    yield _way_row("a context through `make_plan`", project, make_plan, frozenset())


def _way_row(name: str, project: Project, start: Function | None, stops: frozenset[str]) -> Row:
    """Make the row of one way; a start that is not found is said, and is no zero."""
    name = f"{name}: modules, returns"
    if start is None:
        return Row(name, "not found", None)
    way: Way = walk(project, start, stops)
    text = f"{len(way.modules)}, {way.returns} (in {len(way.functions)} functions)"
    return Row(name, text, way._asdict())


def _find_method(project: Project, owner: str, name: str) -> Function | None:
    """Find a method by the name of its class, wherever in the package that stands."""
    owners = (m.classes[owner] for m in project.modules.values() if owner in m.classes)
    return next((found for c in owners if (found := c.methods.get(name))), None)


def _find_function(project: Project, below: str, name: str) -> Function | None:
    """Find a function by its name in any module below a package."""
    modules = (m for key, m in project.modules.items() if key.startswith(f"{below}."))
    return next((m.functions[name] for m in modules if name in m.functions), None)


def _functions_of(module: Module) -> Iterator[FunctionNode]:
    """Yield every function of a module that is no test."""
    for node in ast.walk(module.tree):
        if isinstance(node, FunctionNode) and not node.name.startswith("test_"):
            yield node


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _is_property(node: FunctionNode) -> bool:
    return Function("", None, node).is_property


def _count_parameters(node: FunctionNode) -> int:
    """Count the named parameters of a function without its receiver."""
    names = Function("", None, node).parameters
    return len(names) - (names[:1] in (["self"], ["cls"]))


def _count_code(module: Module) -> int:
    """Count the lines of a module that are neither blank nor part of a docstring."""
    filled = {number for number, line in enumerate(module.text.splitlines(), 1) if line.strip()}
    for node in ast.walk(module.tree):
        if isinstance(node, Documented) and ast.get_docstring(node):
            docstring = node.body[0]
            filled -= set(range(docstring.lineno, (docstring.end_lineno or docstring.lineno) + 1))
    return len(filled)


def _count_comments(module: Module) -> int:
    """Count the comments of a module that are written for readers."""
    tokens = tokenize.generate_tokens(io.StringIO(module.text).readline)
    return sum(t.type == tokenize.COMMENT and not TO_TOOLS.match(t.string) for t in tokens)


def _share(name: str, flags: Iterable[bool]) -> Row:
    """Make the row of a share, with the numbers that it is made of."""
    known = list(flags)
    share = sum(known) / len(known) if known else 0.0
    data = {"count": sum(known), "of": len(known), "share": round(share, 4)}
    return Row(name, f"{share:.0%} ({sum(known):,} of {len(known):,})", data)


def format_table(rows: list[Row]) -> str:
    """Write the rows as a Markdown table, padded so that it reads as plain text too."""
    cells = [("", "here"), *((row.name, row.text) for row in rows)]
    left, right = (max(len(cell[i]) for cell in cells) for i in (0, 1))
    lines = [f"| {name:<{left}} | {text:<{right}} |" for name, text in cells]
    return "\n".join([lines[0], f"|{'-' * (left + 2)}|{'-' * (right + 2)}|", *lines[1:]])


def format_packages(plan: Plan) -> str:
    """Write the rooms of the core, the lowest first, and each arrow between them, one a line."""
    upward = set(plan.upward)
    arrows = [f"{a.source} -> {a.target}{'  (upward)' if a in upward else ''}" for a in plan.arrows]
    rooms = [f"{len(plan.rooms)} rooms, {plan.packages} of them packages, the lowest first:", *plan.rooms]
    return "\n".join([*rooms, "", f"{len(arrows)} arrows:", *arrows])


def main(arguments: list[str] | None = None) -> int:
    """Print the table, or the rooms of the core, of the project below a root."""
    parser = argparse.ArgumentParser(prog="measure_house", description="Measure how the project reads.")
    parser.add_argument(
        "--root", type=Path, default=Path(__file__).resolve().parents[1], help="the project's root"
    )
    parser.add_argument("--json", action="store_true", help="print plain data instead of text")
    parser.add_argument(
        "--packages", action="store_true", help="print the rooms of the core and their arrows"
    )
    chosen = parser.parse_args(arguments)
    house = measure(chosen.root.resolve())
    if chosen.json:
        rooms = {"rooms": house.plan.rooms, "arrows": [list(arrow) for arrow in house.plan.arrows]}
        rows = {row.name: row.data for row in house.rows}
        print(json.dumps(rooms if chosen.packages else rows, indent=2, ensure_ascii=False))
    else:
        print(format_packages(house.plan) if chosen.packages else format_table(house.rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
