"""Read the project's source with ``ast`` and resolve its names; nothing of the project is imported or run."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

__all__ = [
    "PACKAGE",
    "SCALAR",
    "UNKNOWN",
    "Class",
    "Function",
    "FunctionNode",
    "Module",
    "Project",
    "Types",
    "last_word",
    "load",
    "pair_targets",
]

PACKAGE = "gateway_compaction"
SCALARS = frozenset({"int", "float", "str", "bool", "bytes", "None", "Literal", "Callable"})
WRAPPERS = frozenset({"Optional", "Annotated", "Final", "ClassVar", "Awaitable", "type"})
PROPERTIES = frozenset({"property", "cached_property", "setter", "getter", "deleter"})
DEPTH = 12

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
# The classes that a value may be an instance of, or "scalar"; empty where nothing is declared.
Types = frozenset[str]
SCALAR: Types = frozenset({"scalar"})
UNKNOWN: Types = frozenset()


@dataclass(frozen=True, slots=True)
class Function:
    """One function of the project, with the module and the class that it stands in."""

    module: str
    owner: str | None
    node: FunctionNode

    @property
    def key(self) -> str:
        """Name the function so that no other has the same name."""
        return f"{self.owner or self.module}.{self.node.name}:{self.node.lineno}"

    @property
    def decorators(self) -> set[str]:
        """List the last words of its decorators."""
        return {last_word(d) for d in self.node.decorator_list}

    @property
    def is_property(self) -> bool:
        """Tell whether it is read like an attribute."""
        return bool(self.decorators & PROPERTIES)

    @property
    def parameters(self) -> list[str]:
        """List the named parameters in order, the receiver included."""
        a = self.node.args
        return [p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)]

    @property
    def receiver(self) -> str | None:
        """Return the name of the parameter that a method is called on."""
        if self.owner is None or "staticmethod" in self.decorators or not self.parameters:
            return None
        return self.parameters[0]


@dataclass(slots=True)
class Class:
    """A class of the project: its methods, and what its attributes are declared as."""

    key: str
    module: str
    node: ast.ClassDef
    methods: dict[str, Function] = field(default_factory=dict)
    # What each is declared as; else the annotation of the parameter, or the class, that it is assigned from.
    attributes: dict[str, ast.expr] = field(default_factory=dict)


@dataclass(slots=True)
class Module:
    """One source file: its text, its tree, and what each of its names stands for."""

    name: str
    path: Path
    text: str
    tree: ast.Module
    imports: dict[str, str] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    classes: dict[str, Class] = field(default_factory=dict)
    aliases: dict[str, ast.expr] = field(default_factory=dict)

    @property
    def is_face(self) -> bool:
        """Tell whether it is the ``__init__`` of a package."""
        return self.path.name == "__init__.py"

    @property
    def imported(self) -> Iterator[tuple[str, str]]:
        """Yield the local name and the full dotted name of everything imported, wherever it stands."""
        package = self.name if self.is_face else self.name.rpartition(".")[0]
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from ((a.asname or a.name.split(".")[0], a.name) for a in node.names)
            elif isinstance(node, ast.ImportFrom):
                up = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
                base = ".".join([*up, *([node.module] if node.module else [])])
                yield from ((a.asname or a.name, f"{base}.{a.name}") for a in node.names)


@dataclass(slots=True)
class Project:
    """Every module of the package by its dotted name."""

    modules: dict[str, Module]

    def find(self, dotted: str) -> Function | Class | Module | ast.expr | None:
        """Find what a full dotted name stands for, through any number of packages' faces."""
        for _ in range(DEPTH):
            home, _, name = dotted.rpartition(".")
            module = self.modules.get(home)
            # A face may offer a function by the name of the module that it stands in.
            offered = module.imports.get(name, dotted) if module else dotted
            if dotted in self.modules and offered == dotted:
                return self.modules[dotted]
            if module is None:
                return None
            for known in (module.functions, module.classes, module.aliases):
                if name in known:
                    return known[name]
            if name not in module.imports:
                return None
            dotted = module.imports[name]
        return None

    def resolve(self, module: str, node: ast.expr) -> Function | Class | Module | ast.expr | None:
        """Find what a name or a dotted name stands for where it is written in a module."""
        if isinstance(node, ast.Name):
            return self.find(f"{module}.{node.id}")
        if isinstance(node, ast.Attribute):
            owner = self.resolve(module, node.value)
            if isinstance(owner, Module):
                return self.find(f"{owner.name}.{node.attr}")
            if isinstance(owner, Class):
                return self.method(owner.key, node.attr)
        return None

    def class_of(self, key: str) -> Class | None:
        """Find a class by its full dotted name."""
        found = self.find(key)
        return found if isinstance(found, Class) else None

    def lineage(self, key: str) -> Iterator[Class]:
        """Yield a class and the project classes that it inherits from."""
        waiting, seen = [key], set[str]()
        while waiting:
            found = self.class_of(waiting.pop(0))
            if found is None or found.key in seen:
                continue
            seen.add(found.key)
            yield found
            bases = [self.resolve(found.module, b) for b in found.node.bases]
            waiting.extend(b.key for b in bases if isinstance(b, Class))

    def method(self, key: str, name: str) -> Function | None:
        """Find a method of a class or of one that it inherits from; a protocol has none."""
        for found in self.lineage(key):
            if name in found.methods and not any(last_word(b) == "Protocol" for b in found.node.bases):
                return found.methods[name]
        return None

    def declared(self, module: str, node: ast.expr | None, depth: int = 0) -> Types:
        """Read an annotation as classes of the project, or as a scalar; containers tell nothing."""
        if node is None or depth > DEPTH:
            return UNKNOWN
        if isinstance(node, ast.Constant):
            if not isinstance(node.value, str):
                return SCALAR
            return self.declared(module, ast.parse(node.value, mode="eval").body, depth + 1)
        if isinstance(node, ast.BinOp):
            parts = [self.declared(module, n, depth + 1) for n in (node.left, node.right)]
            return _united(parts)
        if isinstance(node, ast.Subscript):
            word = last_word(node.value)
            if word in WRAPPERS:
                inner = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) else node.slice
                return self.declared(module, inner, depth + 1)
            return SCALAR if word in SCALARS else self.declared(module, node.value, depth + 1)
        if last_word(node) in SCALARS:
            return SCALAR
        found = self.resolve(module, node)
        if isinstance(found, Class):
            return frozenset({found.key})
        return self.declared(module, found, depth + 1) if isinstance(found, ast.expr) else UNKNOWN

    def attribute(self, types: Types, name: str) -> Types:
        """Tell what an attribute of some classes is declared as."""
        owners = [c for key in types for c in self.lineage(key) if name in c.attributes]
        parts = [self.declared(c.module, c.attributes[name]) for c in owners]
        return _united(parts) if parts else UNKNOWN


def _united(parts: Sequence[Types]) -> Types:
    """Unite declared types: a scalar (such as None) gives way to a class, and to what is unknown."""
    united = frozenset[str]().union(*parts)
    return united - SCALAR if len(united) > 1 or UNKNOWN in parts else united


def last_word(node: ast.expr) -> str:
    """Return the last word of a dotted name, of what is called, or of what is subscripted."""
    while isinstance(node, ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def load(root: Path) -> Project:
    """Read every module of the package below a project's root."""
    modules = {}
    for path in sorted((root / PACKAGE).rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        text = path.read_text(encoding="utf-8")
        module = Module(name, path, text, ast.parse(text))
        module.imports = dict(module.imported)
        _read_names(module)
        modules[name] = module
    return Project(modules)


def _read_names(module: Module) -> None:
    """Note the functions, the classes and the aliases that a module defines."""
    for node in module.tree.body:
        if isinstance(node, FunctionNode):
            module.functions[node.name] = Function(module.name, None, node)
        elif isinstance(node, ast.ClassDef):
            module.classes[node.name] = _read_class(module.name, node)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            module.aliases[node.targets[0].id] = node.value


def _read_class(module: str, node: ast.ClassDef) -> Class:
    """Note the methods of a class and every declaration or assignment that types an attribute."""
    made = Class(f"{module}.{node.name}", module, node)
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            made.attributes[item.target.id] = item.annotation
        elif isinstance(item, FunctionNode):
            made.methods.setdefault(item.name, Function(module, made.key, item))
    for method in made.methods.values():
        a = method.node.args
        typed = {p.arg: p.annotation for p in (*a.args, *a.kwonlyargs) if p.annotation}
        for inner in ast.walk(method.node):
            if isinstance(inner, ast.AnnAssign) and isinstance(inner.target, ast.Attribute):
                made.attributes.setdefault(inner.target.attr, inner.annotation)
            elif isinstance(inner, ast.Assign):
                for target, value in pair_targets(inner.targets[0], inner.value):
                    source = value.func if isinstance(value, ast.Call) else typed.get(last_word(value))
                    if isinstance(target, ast.Attribute) and last_word(target.value) == "self" and source:
                        made.attributes.setdefault(target.attr, source)
    return made


def pair_targets(target: ast.expr, value: ast.expr) -> Iterable[tuple[ast.expr, ast.expr]]:
    """Pair what is assigned with what it is assigned from, element by element where both are written out."""
    both = (ast.Tuple, ast.List)
    if isinstance(target, both) and isinstance(value, both) and len(target.elts) == len(value.elts):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]
