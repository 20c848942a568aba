"""Walk the way that a value, such as a request, takes through the functions of the project.

The walk begins at one function with its parameters (``self`` excepted) as the value that is followed. A value
*carries* the request when it is

* a followed parameter, or assigned from a value that carries;
* an attribute or a property of a value that carries, unless it is declared as a number, a text, a flag or a
  callable: a count taken from the request is no longer the request;
* made by ``replace`` or by a class of the project from a value that carries;
* returned by a function of the project that returns a value that carries;
* a choice (``or``, ``and``, ``if … else``, ``await``, ``:=``) between values of which one carries.

What is subscripted, iterated over or computed from such a value does not carry. A call is followed into a
function of the project when an argument or the receiver carries; a property is followed like a call, a
constructor only where ``__init__`` or ``__post_init__`` is written out. Names are resolved through imports
(also through the face of a package), ``self.``, and the declared types of parameters, attributes and
results. A function that is handed on with its arguments (``run(work, request)``, ``partial``) is followed
as if it were called. Methods of a ``Protocol`` have no body and end the way, and so does a function named
in ``stops``: it has a walk of its own.

What is counted: the distinct modules that hold the functions passed, and the ``return`` statements in those
functions, nested functions included.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import NamedTuple

from scripts.house_source import (
    SCALAR,
    UNKNOWN,
    Class,
    Function,
    FunctionNode,
    Project,
    Types,
    last_word,
    pair_targets,
)

__all__ = ["Way", "walk"]

PASSES = 3
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


class Way(NamedTuple):
    """The way of a value: the modules and functions that it passes, and the returns in those functions."""

    modules: list[str]
    functions: list[str]
    returns: int


class Value(NamedTuple):
    """What is known of an expression: whether it carries the request, and what it may be an instance of."""

    carries: bool = False
    types: Types = UNKNOWN


NOTHING = Value()


def walk(project: Project, start: Function, stops: frozenset[str] = frozenset()) -> Way:
    """Follow the parameters of a function through every project function that they are handed to."""
    walker = Walker(project, stops)
    followed = frozenset(p for p in start.parameters if p != start.receiver)
    walker.follow(start, followed)
    passed = sorted(walker.passed.values(), key=lambda f: (f.module, f.node.lineno))
    returns = sum(isinstance(n, ast.Return) for f in passed for n in ast.walk(f.node))
    names = [f"{f.owner or f.module}.{f.node.name}" for f in passed]
    return Way(sorted({f.module for f in passed}), names, returns)


@dataclass(slots=True)
class Walker:
    """The functions passed so far, and for each set of followed parameters whether the result carries."""

    project: Project
    stops: frozenset[str]
    passed: dict[str, Function] = field(default_factory=dict)
    results: dict[tuple[str, frozenset[str]], bool] = field(default_factory=dict)

    def follow(self, function: Function, followed: frozenset[str]) -> bool:
        """Pass a function with some of its parameters followed, and tell whether its result carries."""
        key = (function.key, followed)
        if function.node.name in self.stops:
            return False
        if key not in self.results:
            self.passed[function.key] = function
            # A function that calls itself finds this answer, which its own returns then correct.
            self.results[key] = False
            self.results[key] = Body(self, function, followed).read()
        return self.results[key]

    def call(
        self, function: Function, receiver: Value, values: list[Value], named: dict[str, Value]
    ) -> Value:
        """Bind arguments to a function's parameters and follow it when one of them carries."""
        names = function.parameters
        bound = {}
        if function.receiver is not None:
            bound[names[0]] = receiver
            names = names[1:]
        rest = function.node.args
        for place, value in enumerate(values):
            name = names[place] if place < len(names) else rest.vararg.arg if rest.vararg else ""
            bound[name] = Value(value.carries or bound.get(name, NOTHING).carries)
        for name, value in named.items():
            bound[name if name in names or not rest.kwarg else rest.kwarg.arg] = value
        followed = frozenset(name for name, value in bound.items() if value.carries and name)
        types = self.project.declared(function.module, function.node.returns)
        carries = bool(followed) and self.follow(function, followed)
        return Value(carries and types != SCALAR, types)


class Body(ast.NodeVisitor):
    """One function read with some of its parameters followed."""

    def __init__(self, walker: Walker, function: Function, followed: frozenset[str]) -> None:
        self.walker, self.project, self.function = walker, walker.project, function
        self.carries = False
        self.names: dict[str, Value] = {}
        a = function.node.args
        for p in (*a.posonlyargs, *a.args, *a.kwonlyargs):
            self.names[p.arg] = Value(p.arg in followed, self._declared(p.annotation))
        for extra in (a.vararg, a.kwarg):
            if extra is not None:
                self.names[extra.arg] = Value(extra.arg in followed)
        if function.receiver is not None and function.owner is not None:
            self.names[function.receiver] = Value(function.receiver in followed, frozenset({function.owner}))

    def read(self) -> bool:
        """Read the body until loops have nothing new to tell, and say whether what it returns carries."""
        for _ in range(PASSES):
            for statement in self.function.node.body:
                self.visit(statement)
        return self.carries

    def _declared(self, annotation: ast.expr | None) -> Types:
        return self.project.declared(self.function.module, annotation)

    # Statements: what is not listed here is visited in the order in which it stands.

    def visit(self, node: ast.AST) -> None:
        """Visit a statement, or value an expression."""
        if isinstance(node, ast.expr):
            self.value(node)
        else:
            super().visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        """Hand what is assigned on to each target."""
        for target in node.targets:
            for one, value in pair_targets(target, node.value):
                self._bind(one, self.value(value))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Hand what is assigned on to the target, as what it is declared."""
        value = self.value(node.value) if node.value else NOTHING
        self._bind(node.target, Value(value.carries, self._declared(node.annotation) or value.types))

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        """Bind the target only where the values that it takes are written out."""
        self._bind(node.target, self._element(node.iter))
        for statement in (*node.body, *node.orelse):
            self.visit(statement)

    visit_AsyncFor = visit_For

    def visit_withitem(self, node: ast.withitem) -> None:
        """Bind what a context manager gives."""
        value = self.value(node.context_expr)
        if node.optional_vars is not None:
            self._bind(node.optional_vars, value)

    def visit_Match(self, node: ast.Match) -> None:
        """Bind the names that patterns capture to what is matched."""
        subject = self.value(node.subject)
        for case in node.cases:
            for inner in ast.walk(case.pattern):
                if isinstance(inner, ast.MatchAs) and inner.name:
                    made = inner.pattern if isinstance(inner.pattern, ast.MatchClass) else None
                    types = self._declared(made.cls) if made else UNKNOWN
                    whole = inner is case.pattern
                    self._set(
                        inner.name, Value(subject.carries, types or (subject.types if whole else UNKNOWN))
                    )
            for part in (*([case.guard] if case.guard else []), *case.body):
                self.visit(part)

    def visit_Return(self, node: ast.Return) -> None:
        """Note whether what is returned carries."""
        if node.value is not None:
            self.carries |= self.value(node.value).carries

    def visit_FunctionDef(self, node: FunctionNode) -> None:
        """Read a nested function among the names of the one around it; its returns are its own."""
        before = self.carries
        for statement in node.body:
            self.visit(statement)
        self.carries = before

    visit_AsyncFunctionDef = visit_FunctionDef

    def _bind(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self._set(target.id, value)
        elif isinstance(target, ast.Tuple | ast.List):
            for one in target.elts:
                self._bind(one, Value(value.carries))
        elif isinstance(target, ast.Starred):
            self._bind(target.value, Value(value.carries))

    def _set(self, name: str, value: Value) -> None:
        # A name that carried once carries everywhere: branches are not told apart.
        known = self.names.get(name, NOTHING)
        self.names[name] = Value(known.carries or value.carries, known.types | value.types)

    # Expressions.

    def value(self, node: ast.expr) -> Value:
        """Tell whether an expression carries and what it is; follow the calls in it."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id, NOTHING)
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Await):
            return self.value(node.value)
        if isinstance(node, ast.NamedExpr):
            value = self.value(node.value)
            self._bind(node.target, value)
            return value
        if isinstance(node, ast.IfExp):
            self.value(node.test)
            return _either([self.value(node.body), self.value(node.orelse)])
        if isinstance(node, ast.BoolOp):
            return _either([self.value(v) for v in node.values])
        if isinstance(node, COMPREHENSIONS):
            self._comprehension(node)
            return NOTHING
        for child in ast.iter_child_nodes(node):
            self.visit(child)
        return NOTHING

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        for part in node.generators:
            self._bind(part.target, self._element(part.iter))
            for test in part.ifs:
                self.value(test)
        for made in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            self.value(made)

    def _element(self, node: ast.expr) -> Value:
        if isinstance(node, ast.Tuple | ast.List):
            return _either([self.value(one) for one in node.elts])
        self.value(node)
        return NOTHING

    def _attribute(self, node: ast.Attribute) -> Value:
        owner = self.value(node.value)
        for key in sorted(owner.types):
            method = self.project.method(key, node.attr)
            if method is not None and method.is_property:
                made = self.walker.call(method, owner, [], {})
                return Value(owner.carries and made.types != SCALAR, made.types)
            if method is not None:
                return NOTHING
        types = self.project.attribute(owner.types, node.attr)
        return Value(owner.carries and types != SCALAR, types)

    def _callee(self, node: ast.expr) -> tuple[Function | Class | None, Value]:
        """Find what an expression names that can be called, and the receiver that it is called on."""
        if isinstance(node, ast.Attribute):
            receiver = self.value(node.value)
            for key in sorted(receiver.types):
                method = self.project.method(key, node.attr)
                if method is not None and not method.is_property:
                    return method, receiver
        if isinstance(node, ast.Name) and node.id == self.function.receiver:
            # In a class method the receiver is the class itself.
            return self.project.class_of(self.function.owner or ""), NOTHING
        if isinstance(node, ast.Name | ast.Attribute) and last_word(node) not in self.names:
            found = self.project.resolve(self.function.module, node)
            if isinstance(found, Function | Class):
                return found, NOTHING
        return None, NOTHING

    def _call(self, node: ast.Call) -> Value:
        callee, receiver = self._callee(node.func)
        if callee is None and isinstance(node.func, ast.Attribute):
            self.value(node.func)
        values = [self.value(a.value if isinstance(a, ast.Starred) else a) for a in node.args]
        named = {k.arg or "": self.value(k.value) for k in node.keywords}
        any_carries = any(v.carries for v in (*values, *named.values()))
        handed = self._handed_on(node, values, named)
        if isinstance(callee, Function):
            made = self.walker.call(callee, receiver, values, named)
            return _either([made, *handed]) if handed else made
        if isinstance(callee, Class):
            for name in ("__init__", "__post_init__"):
                method = self.project.method(callee.key, name)
                if method is not None:
                    written = (values, named) if name == "__init__" else ([], {})
                    self.walker.call(method, Value(any_carries), *written)
            return Value(any_carries, frozenset({callee.key}))
        if last_word(node.func) == "replace" and values:
            return Value(any_carries, values[0].types)
        if last_word(node.func) == "cast" and len(values) == 2:
            return Value(values[1].carries, self._declared(node.args[0]))
        return _either(handed) if handed else NOTHING

    def _handed_on(self, node: ast.Call, values: list[Value], named: dict[str, Value]) -> list[Value]:
        """Follow each function among the arguments with the arguments behind it."""
        results = []
        for place, argument in enumerate(node.args):
            if isinstance(argument, ast.Name | ast.Attribute):
                function, receiver = self._callee(argument)
                if isinstance(function, Function):
                    results.append(self.walker.call(function, receiver, values[place + 1 :], named))
        return results


def _either(values: list[Value]) -> Value:
    """Unite values of which any may be meant."""
    return Value(any(v.carries for v in values), frozenset[str]().union(*(v.types for v in values)))
