"""Branch counting: which branches of the engine a run takes, counted by statements that are compiled into it on demand.

The engine itself contains none of this. `count_branches` reads the sources of its modules and puts a statement before
each branch: the body of an `if`, an `else`, a loop, a `case`, an `except`. Each function gets the resulting code, until
`Count.end` is called or the process ends. A branch that is taken sets its byte.

A branch is named by where it is and what it asks, not by its line: `branch connect.install.check: if error`.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from collections import Counter
from collections.abc import Iterator
from itertools import compress
from types import CodeType, FunctionType, ModuleType

from kcoord.sim.basis.garbage_collection import no_collection

PACKAGES = (
    "kcoord.group.connect",
    "kcoord.group.consumer",
    "kcoord.group.modern",
    "kcoord.group.conversion",
    "kcoord.group.translation",
    "kcoord.group.state.classic_workers",
)
"""The packages with the rules that runs are to exercise, and what is inside them."""
MODULES = (
    "kcoord.group.apis.connect_group_describe",
    "kcoord.group.apis.connect_group_heartbeat",
    "kcoord.group.apis.connect_group_install_assignment",
    "kcoord.group.apis.connect_group_prepare_assignment",
    "kcoord.group.apis.consumer_group_describe",
    "kcoord.group.apis.consumer_group_heartbeat",
    "kcoord.group.state.connect_settings",
    "kcoord.group.state.groups.assignor_support",
    "kcoord.group.state.groups.connect_group",
    "kcoord.group.state.groups.consumer_group",
    "kcoord.group.state.groups.modern_group",
    "kcoord.group.state.groups.modern_member",
    "kcoord.group.state.groups.modern_states",
    "kcoord.group.state.records.connect_records",
    "kcoord.group.state.records.connect_replay",
    "kcoord.group.state.records.consumer_records",
    "kcoord.group.state.records.consumer_replay",
)
"""The modules with such rules in packages that also serve classic groups."""
_ROOT = "kcoord.group."
_MARKS = "__branches_taken__"
LONGEST = 100
"""The longest name, in characters."""

Block = tuple[str, list[ast.stmt]]


class Count:
    """The branches that are counted, and those that were taken."""

    def __init__(self) -> None:
        self.names: list[str] = []
        """All branches. The number of a branch is its place here."""
        self._marks = bytearray()
        """One byte for each branch: whether it was taken."""
        self._before: list[tuple[FunctionType, CodeType]] = []

    def take(self) -> frozenset[str]:
        """The names of the branches that were taken since the last call."""
        found = frozenset(compress(self.names, self._marks))
        self._marks[:] = bytes(len(self._marks))
        return found

    def add(self, module: ModuleType) -> None:
        """Count the branches of this module too."""
        source = _syntax_tree(module)
        for body, name in list(_named(source, module.__name__)):
            _note(body, len(self.names))
            self.names.append(name)
            self._marks.append(0)
        codes = dict(_codes(compile(ast.fix_missing_locations(source), inspect.getfile(module), "exec")))
        for function in dict.fromkeys(_functions_of(module)):  # a class may name one of its module's once more
            code = codes.get(function.__qualname__)
            if code is not None and code.co_freevars == function.__code__.co_freevars:
                self._before.append((function, function.__code__))
                function.__globals__[_MARKS] = self._marks
                function.__code__ = code

    def end(self) -> None:
        """Give every function its own code back."""
        for function, code in self._before:
            function.__code__ = code
            function.__globals__.pop(_MARKS, None)
        self._before.clear()


def count_branches() -> Count:
    """From now on, count the branches of all modules in PACKAGES, and of MODULES."""
    count = Count()
    for module in _modules():
        count.add(module)
    return count


def branch_names() -> list[str]:
    """The names of all branches. This does not start a count."""
    return [name for module in _modules() for _, name in _named(_syntax_tree(module), module.__name__)]


def _modules() -> Iterator[ModuleType]:
    for package in PACKAGES:
        folder = importlib.import_module(package)
        for each in sorted(module.name for module in pkgutil.walk_packages(folder.__path__, f"{package}.")):
            yield importlib.import_module(each)
    yield from map(importlib.import_module, MODULES)


# -- the sources ------------------------------------------------------------------------------------------------------


def _syntax_tree(module: ModuleType) -> ast.Module:
    with no_collection():
        return ast.parse(inspect.getsource(module))


def _named(source: ast.Module, module: str) -> Iterator[tuple[list[ast.stmt], str]]:
    """The statements of each branch of a module, and its name."""
    for function, where in _functions(source, module.removeprefix(_ROOT)):
        known: Counter[str] = Counter()
        for asks, body in _branches(function):
            name = f"branch {where}: {asks}"[:LONGEST]
            known[name] += 1
            yield body, name if known[name] == 1 else f"{name} ({known[name]})"


def _functions(source: ast.Module, where: str) -> Iterator[tuple[ast.AST, str]]:
    """Functions of the module and methods of its classes, with their names."""
    for node in source.body:
        if isinstance(node, ast.FunctionDef):
            yield node, f"{where}.{node.name}"
        elif isinstance(node, ast.ClassDef):
            for method in node.body:
                if isinstance(method, ast.FunctionDef):
                    yield method, f"{where}.{node.name}.{method.name}"


def _branches(function: ast.AST) -> Iterator[Block]:
    """What each branch of a function asks, and its statements."""
    for node in ast.walk(function):
        match node:
            case ast.If():
                asks = _text(node.test)
                yield f"if {asks}", node.body
                if node.orelse and not (len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)):
                    yield f"else of if {asks}", node.orelse
            case ast.For():
                yield f"for {_text(node.target)} in {_text(node.iter)}", node.body
            case ast.While():
                yield f"while {_text(node.test)}", node.body
            case ast.ExceptHandler():
                yield f"except {_text(node.type)}", node.body
            case ast.match_case():
                yield f"case {_text(node.pattern)}", node.body


def _text(node: ast.AST | None) -> str:
    return "" if node is None else ast.unparse(node)


def _note(body: list[ast.stmt], number: int) -> None:
    mark = ast.Subscript(ast.Name(_MARKS, ast.Load()), ast.Constant(number), ast.Store())
    body.insert(0, ast.copy_location(ast.Assign([mark], ast.Constant(1)), body[0]))


# -- the functions ----------------------------------------------------------------------------------------------------


def _codes(code: CodeType, within: str = "") -> Iterator[tuple[str, CodeType]]:
    """The code of functions of a module and methods of its classes, by qualified name."""
    for each in code.co_consts:
        if isinstance(each, CodeType):
            name = f"{within}{each.co_name}"
            yield name, each
            if not each.co_flags & inspect.CO_OPTIMIZED:  # a class's body
                yield from _codes(each, f"{name}.")


def _functions_of(module: ModuleType) -> Iterator[FunctionType]:
    for owner in (module, *(each for each in vars(module).values() if inspect.isclass(each))):
        if getattr(owner, "__module__", module.__name__) != module.__name__:
            continue
        for each in list(vars(owner).values()):
            function = (
                getattr(each, "fget", None) or getattr(each, "__func__", None) or getattr(each, "__wrapped__", each)
            )
            if isinstance(function, FunctionType) and function.__module__ == module.__name__:
                yield function
