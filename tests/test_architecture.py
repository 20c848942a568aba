"""The arrows between the rooms of the house, and the sizes and names in them, read off the source."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "gateway_compaction"
FILES = sorted(p.relative_to(PACKAGE).as_posix() for p in PACKAGE.rglob("*.py"))
LONGEST_FILE, LONGEST_FUNCTION = 500, 60
# A folder with more modules is hard to take in; core/ with more rooms or arrows is hard to draw.
MOST_MODULES, MOST_ROOMS, MOST_ARROWS = 20, 12, 30

# Rooms and what each may import besides itself, from the innermost outwards. A new room needs a line here and
# a face: a docstring in its __init__.py, or in the module where the room is a single file.
TEXT = {"core.conversation", "core.text"}
RECORDS = {"core.policy", "core.records"}
SUMMARY = TEXT | RECORDS | {"core.pins", "core.extractive"}
ERRORS = {"errors"}
CORE_ROOMS: dict[str, set[str]] = {
    "core.conversation": ERRORS,
    "core.records": ERRORS,
    "core.endpoints": ERRORS | {"core.conversation"},
    "core.policy": ERRORS | {"core.endpoints"},
    "core.text": ERRORS | {"core.conversation"},
    "core.tokens": ERRORS | {"core.conversation"},
    "core.redaction": ERRORS | {"core.conversation", "core.records"},
    "core.pins": ERRORS | TEXT,
    "core.recall": ERRORS | TEXT,
    "core.extractive": ERRORS | TEXT,
    "core.summary": ERRORS | SUMMARY,
    "core.planning": ERRORS | SUMMARY | {"core.summary", "core.recall", "core.tokens", "core.redaction"},
}
CORE = ERRORS | {"core", *CORE_ROOMS}
CONTRACTS = CORE | {"ports", "archive", "telemetry"}
WIRED = CONTRACTS | {"engine", "adapters", "settings", "runtime"}
ROOMS: dict[str, set[str]] = {
    "__init__": CORE | {"ports"},
    "errors": set(),
    "core": set(),
    **CORE_ROOMS,
    "ports": CORE,
    "archive": CORE,
    "telemetry": CORE,
    "engine": CONTRACTS,
    "adapters": CONTRACTS,
    "settings": CORE,
    "runtime": WIRED - {"runtime"},
    "client_metadata": CORE,
    "call_state": CONTRACTS | {"engine", "client_metadata"},
    "call_refusals": WIRED | {"call_state"},
    "admin": WIRED | {"call_state"},
    "hook": WIRED | {"client_metadata", "call_state", "call_refusals", "admin"},
    "replay": WIRED,
    "evaluation": WIRED | {"replay"},
    "cli": WIRED | {"replay", "evaluation", "__init__"},
}
IMPURE = frozenset(
    "aiohttp asyncio concurrent contextvars datetime fakeredis ftplib glob http httpx io litellm logging"
    " multiprocessing os pathlib queue random redis requests sched secrets select selectors shutil signal"
    " smtplib socket sqlite3 ssl subprocess sys tempfile threading time urllib uuid warnings".split()
)
PURE_NAMES = {"pathlib": {"PurePath", "PurePosixPath"}, "datetime": {"date"}}
# Every handler of all exceptions that does not raise again: there foreign code may raise anything.
BROAD = {
    "hook.py": {"guarded"},
    "adapters/litellm/models.py": {
        "_find_model_info",
        "_find_catalogued_window",
        "_ask",
        "has_window_fallback",
    },
    "adapters/litellm/answer_headers.py": {"_add"},
    "adapters/litellm/ask_again.py": {"_log_failure"},
    "call_refusals.py": {"may_ask_again", "ask_again"},
    "adapters/litellm/probes.py": {"_find_fault"},
    "admin/mount.py": {"mount"},
    "adapters/litellm/prices.py": {"_catalogue_prices"},
    "admin/problems.py": {"answer_or_problem"},
    "admin/teams.py": {"_load_teams", "_load_team"},
    "admin/ui/errors.py": {"answer_or_problem"},
}
LEAST_FACE = 5
FACES = {"ports.py", "archive.py", "errors.py", "telemetry.py", "adapters/demo_model.py"}
RIDDLES = ("What ", "Whose ", "Whether ", "Which ", "How ", "Where ")
CODE = re.compile(r"`([^`]+)`")
BANNED_WORDS = {"manager", "helper", "helpers", "util", "utils", "processor", "service", "handler"}
GIVEN = {"get_route_handler"}  # FastAPI's own name for what is overridden
BANNED_FILES = {"utils", "util", "helpers", "helper", "common", "misc"}
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def source(file: str) -> str:
    """The text of a file."""
    return (PACKAGE / file).read_text(encoding="utf-8")


@cache
def tree(file: str) -> ast.Module:
    """A file, parsed."""
    return ast.parse(source(file))


def room_of(module: str) -> str:
    """Return the room of a module, given its dotted path below the package: core/ has rooms of its own."""
    first, *rest = module.split(".")
    return f"core.{rest[0]}" if first == "core" and rest else first or "__init__"


def module_of(file: str) -> str:
    """The dotted path of a file below the package."""
    return file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def imports(file: str) -> Iterator[tuple[str, str]]:
    """Module and name of everything imported, also inside functions."""
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno} imports relatively"
            yield from ((node.module or "", alias.name) for alias in node.names)


def own_imports(file: str) -> Iterator[str]:
    """Dotted paths below the package of the modules of ours that a file imports."""
    modules = {module_of(f) for f in FILES}
    for module, name in imports(file):
        if module.partition(".")[0] == "gateway_compaction":
            path = module.partition(".")[2]
            inner = f"{path}.{name}" if path else name
            yield inner if inner in modules else path or "__init__"


def definitions(file: str) -> Iterator[tuple[Definition, bool]]:
    """Every function and class with whether it is public: no private name, in no function."""

    def within(body: list[ast.stmt], public: bool) -> Iterator[tuple[Definition, bool]]:
        for node in body:
            if isinstance(node, Definition):
                seen = public and not node.name.startswith("_")
                yield node, seen
                yield from within(node.body, seen and isinstance(node, ast.ClassDef))

    return within(tree(file).body, True)


def functions_around(file: str, wanted: ast.AST) -> list[str]:
    """Names of the functions that hold a node, the innermost last."""
    return [
        node.name
        for node in ast.walk(tree(file))
        if isinstance(node, FUNCTIONS) and any(inner is wanted for inner in ast.walk(node))
    ]


class TestArrows:
    """Who may import whom."""

    @pytest.mark.parametrize("file", FILES)
    def test_a_room_imports_only_what_stands_before_it(self, file: str) -> None:
        room = room_of(module_of(file))
        assert room in ROOMS, f"{room} has no line in ROOMS"
        foreign = {m for m in own_imports(file) if room_of(m) not in ROOMS[room] | {room}}
        assert not foreign, f"{file} must not import {sorted(foreign)}"

    def test_every_room_of_the_table_exists(self) -> None:
        assert set(ROOMS) == {room_of(module_of(file)) for file in FILES}

    def test_there_are_no_circles(self) -> None:
        edges = {module_of(f): set(own_imports(f)) - {module_of(f)} for f in FILES}
        left = dict(edges)
        while free := [m for m, needed in left.items() if not needed & set(left)]:
            for module in free:
                del left[module]
        assert not left, f"these import each other: {sorted(left)}"

    def test_the_engine_and_the_adapters_do_not_know_each_other(self) -> None:
        assert "adapters" not in ROOMS["engine"] and "engine" not in ROOMS["adapters"]

    def test_the_rooms_of_core_can_be_drawn(self) -> None:
        arrows = {(room_of(module_of(f)), room_of(m)) for f in FILES for m in own_imports(f)}
        drawn = {(a, b) for a, b in arrows if a != b and a in CORE_ROOMS and b in CORE_ROOMS}
        assert len(CORE_ROOMS) <= MOST_ROOMS and len(drawn) <= MOST_ARROWS, sorted(drawn)

    def test_no_folder_is_crowded(self) -> None:
        folders = Counter(file.rpartition("/")[0] for file in FILES if not file.endswith("__init__.py"))
        assert not {folder: count for folder, count in folders.items() if count > MOST_MODULES}


class TestPictures:
    """ARCHITECTURE.md draws the house and core/, and names every room."""

    PAGE = PACKAGE.parent / "ARCHITECTURE.md"

    def drawn(self, first: str) -> str:
        """Return the picture of arrows on the page that begins with a room."""
        found = re.search(rf"```\n({first} <-.*?)```", self.PAGE.read_text("utf-8"), re.DOTALL)
        assert found is not None
        return found[1]

    @pytest.mark.parametrize(("first", "prefix"), [("errors", ""), ("conversation", "core.")])
    def test_the_arrows_are_those_that_hold(self, first: str, prefix: str) -> None:
        tiers = [re.findall(r"\w+", tier) for tier in self.drawn(first).split("<-")]
        place = {prefix + room: i for i, tier in enumerate(tiers) for room in tier}
        outer = set(ROOMS) - set(CORE_ROOMS) - {"__init__"}
        assert set(place) == (set(CORE_ROOMS) if prefix else outer)
        wrong = {(r, n) for r in place for n in ROOMS[r] & set(place) if place[n] > place[r]}
        assert not wrong

    def test_what_a_bar_parts_does_not_know_each_other(self) -> None:
        groups = re.findall(r"\{([^}]*\|[^}]*)\}", self.drawn("errors"))
        assert groups
        for group in groups:
            sides = [set(re.findall(r"\w+", side)) for side in group.split("|")]
            for side in sides:
                others = set().union(*(other for other in sides if other is not side))
                assert not {(room, n) for room in side for n in ROOMS[room] & others}

    def test_every_room_has_a_row(self) -> None:
        table = self.PAGE.read_text("utf-8").partition("| room | for |")[2].partition("\n\n")[0]
        rows = re.findall(r"^\| ([^|]*) \|", table, re.MULTILINE)
        named = {
            name.removesuffix(".py").strip("/").replace("/", ".")
            for row in rows
            for name in CODE.findall(row)
        }
        assert named == set(ROOMS)

    @pytest.mark.parametrize("room", sorted(r for r in ROOMS if (PACKAGE / r.replace(".", "/")).is_dir()))
    def test_every_room_has_a_face(self, room: str) -> None:
        face = ast.get_docstring(tree(f"{room.replace('.', '/')}/__init__.py")) or ""
        assert len(face.splitlines()) >= LEAST_FACE, (
            f"{room}: say what it is for, takes, gives and may import"
        )

    def test_every_file_that_is_named_is_there(self) -> None:
        files = set(re.findall(r"`([\w/.-]+\.(?:py|md|json|yaml|lua))`", self.PAGE.read_text("utf-8")))
        assert len(files) > 30
        assert not [f for f in files if not (PACKAGE / f).exists() and not (PACKAGE.parent / f).exists()]

    def test_every_name_that_a_place_is_given_by_is_in_it(self) -> None:
        found = re.findall(r"`([\w.]+)` (?:of|in) `([\w/]+\.py)`", self.PAGE.read_text("utf-8"))
        assert len(found) > 10
        last = [(name.rpartition(".")[2], f) for name, f in found]
        assert not [(name, f) for name, f in last if not re.search(rf"\b{name}\b", source(f))]


class TestOutside:
    """Where other people's packages are touched."""

    @pytest.mark.parametrize("file", [f for f in FILES if f.startswith("core/")])
    def test_the_core_is_pure(self, file: str) -> None:
        for module, name in imports(file):
            top = module.partition(".")[0]
            assert top not in IMPURE or name in PURE_NAMES.get(top, ()), f"{file} imports {module} {name}"
        for node in ast.walk(tree(file)):
            assert not isinstance(node, ast.AsyncFunctionDef | ast.Await), f"{file} waits"
            called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
            assert called not in ("open", "print", "input", "exec", "eval"), f"{file} calls {called}"

    @pytest.mark.parametrize(
        ("packages", "allowed"),
        [
            ({"litellm"}, r"hook\.py|adapters/.*|admin/[a-z_]+\.py"),
            ({"fastapi"}, r"admin/.*"),
            ({"redis", "fakeredis"}, r"adapters/redis/connection\.py"),
            ({"cryptography"}, r"adapters/vault\.py"),
            ({"tiktoken"}, r"core/tokens/counter\.py"),
            ({"prometheus_client"}, r"adapters/prometheus\.py"),
            ({"typer"}, r"cli/.*"),
            ({"yaml"}, r"adapters/policy_file\.py|cli/.*"),
            ({"pydantic_settings"}, r"settings\.py"),
        ],
    )
    def test_each_is_imported_in_few_places(self, packages: set[str], allowed: str) -> None:
        found = {f for f in FILES for module, _ in imports(f) if module.partition(".")[0] in packages}
        strays = {f for f in found if not re.fullmatch(allowed, f)}
        assert not strays and found


class TestSizes:
    """Small enough to be read at one sitting."""

    @pytest.mark.parametrize("file", FILES)
    def test_of_files(self, file: str) -> None:
        assert len(source(file).splitlines()) <= LONGEST_FILE

    @pytest.mark.parametrize("file", FILES)
    def test_of_functions(self, file: str) -> None:
        sizes = {
            node.name: (node.end_lineno or 0) - node.lineno + 1
            for node in ast.walk(tree(file))
            if isinstance(node, FUNCTIONS)
        }
        assert not {name: lines for name, lines in sizes.items() if lines > LONGEST_FUNCTION}


class TestFaults:
    """Handlers of all exceptions are few, and held here."""

    @staticmethod
    def broad(file: str) -> Iterator[ast.ExceptHandler]:
        """Handlers of every exception that do not raise it again."""
        for node in ast.walk(tree(file)):
            if isinstance(node, ast.ExceptHandler):
                caught = ast.unparse(node.type) if node.type else "BaseException"
                last = node.body[-1]
                again = isinstance(last, ast.Raise) and last.exc is None
                if re.search(r"\b(Base)?Exception\b", caught) and not again:
                    yield node

    @pytest.mark.parametrize("file", FILES)
    def test_none_stands_elsewhere(self, file: str) -> None:
        around = {(functions_around(file, handler) or ["the module"])[-1] for handler in self.broad(file)}
        assert around <= BROAD.get(file, set()), f"{file}: {sorted(around)}"

    def test_the_list_holds_nothing_that_is_gone(self) -> None:
        found = {f: {functions_around(f, h)[-1] for h in self.broad(f)} for f in FILES}
        assert {f: names for f, names in found.items() if names} == BROAD

    @pytest.mark.parametrize("file", [f for f in BROAD if f != "hook.py"])
    def test_each_says_why(self, file: str) -> None:
        lines = source(file).splitlines()
        silent = [
            handler.lineno
            for handler in self.broad(file)
            if not any("#" in line for line in lines[handler.lineno - 1 : handler.body[0].lineno - 1])
        ]
        assert not silent, f"{file}: no reason is given in line {silent}"


class TestNames:
    """Names that say what a thing is."""

    @pytest.mark.parametrize("file", FILES)
    def test_nothing_is_called_by_what_everything_is(self, file: str) -> None:
        assert not BANNED_FILES & set(file.removesuffix(".py").split("/"))
        for node, _ in definitions(file):
            words = re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", node.name)
            found = {word.lower() for word in words} & BANNED_WORDS
            assert not found or node.name in GIVEN, f"{file}: {node.name}"

    @pytest.mark.parametrize("file", FILES)
    def test_nothing_is_printed_but_by_the_command_line(self, file: str) -> None:
        calls = [n for n in ast.walk(tree(file)) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
        prints = [n.lineno for n in calls if isinstance(n.func, ast.Name) and n.func.id == "print"]
        assert not prints or file.startswith("cli/")


class TestPublic:
    """What a module offers has a docstring; only faces list what they offer."""

    @staticmethod
    def offered(file: str) -> list[str] | None:
        """Return what ``__all__`` says, or None where there is none."""
        for node in tree(file).body:
            if isinstance(node, ast.Assign | ast.AnnAssign):
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                if isinstance(target, ast.Name) and target.id == "__all__" and node.value is not None:
                    return list(ast.literal_eval(node.value))
        return None

    @pytest.mark.parametrize("file", FILES)
    def test_only_faces_list_names(self, file: str) -> None:
        assert self.offered(file) is None or file.endswith("__init__.py") or file in FACES

    @pytest.mark.parametrize("file", FILES)
    def test_the_list_is_sorted_constants_first_then_classes(self, file: str) -> None:
        names = self.offered(file) or []
        rank = {name: 0 if name.isupper() else 1 if name[:1].isupper() else 2 for name in names}
        assert names == sorted(names, key=lambda name: (rank[name], name))
        assert len(set(names)) == len(names)

    @pytest.mark.parametrize("file", FILES)
    def test_what_is_public_has_a_docstring(self, file: str) -> None:
        assert ast.get_docstring(tree(file)) or not tree(file).body
        silent = [node.name for node, seen in definitions(file) if seen and not ast.get_docstring(node)]
        assert not silent, f"{file}: {silent}"

    @pytest.mark.parametrize("file", FILES)
    def test_no_docstring_is_a_riddle(self, file: str) -> None:
        """A docstring that begins with What or Whose leaves its verb to be guessed; a property needs none."""
        nodes: list[ast.Module | Definition] = [tree(file)]
        nodes += [
            node
            for node, _ in definitions(file)
            if not any("property" in ast.unparse(decorator) for decorator in node.decorator_list)
        ]
        said = {getattr(node, "name", "the module"): ast.get_docstring(node) or "" for node in nodes}
        assert not [name for name, text in said.items() if text.startswith(RIDDLES)]
