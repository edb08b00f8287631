"""The assignors of this coordinator: built-in ones and ones from installed packages (entry points).

`group.connect.assignors` names the assignors, the default first. The built-in ones are always available. Installed
packages bring others by the entry point group `kcoord.assignors`. An entry point has the name of its assignor. It
refers to a callable without arguments that makes one, usually a class with `name` and `assign` (see
`kcoord.assign.interface.ServerAssignor`). Rules:

1. Only assignors that are named are loaded. So a broken package that is not used does no harm.
2. The start stops with one line if a name is unknown, or if a package does not give what its entry point promises.
3. A package cannot take the name of a built-in assignor.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points

from kcoord.assign.built_in import SERVER_SIDE
from kcoord.assign.interface import ServerAssignor

ENTRY_POINTS = "kcoord.assignors"


class AssignorError(Exception):
    """An assignor does not exist or does not work. The text is one line: which assignor, why, what to do."""


def load_assignors(names: Iterable[str], offered: Iterable[EntryPoint] | None = None) -> tuple[ServerAssignor, ...]:
    """The assignors with these names, in this order. `offered` are the entry points, by default those of all installed
    packages. Raises AssignorError.
    """
    packages = {each.name: each for each in (entry_points(group=ENTRY_POINTS) if offered is None else offered)}
    return tuple(_load(name, packages) for name in names)


def _load(name: str, packages: dict[str, EntryPoint]) -> ServerAssignor:
    if name in SERVER_SIDE:
        if name in packages:
            raise AssignorError(
                f"group.connect.assignors: {packages[name].value} takes the name of the built-in assignor {name}: "
                "uninstall that package, or let it choose another name"
            )
        return SERVER_SIDE[name]()
    if name not in packages:
        known = [*SERVER_SIDE, *sorted(packages)]
        nearest = difflib.get_close_matches(name, known, n=1, cutoff=0)[0]
        raise AssignorError(
            f"group.connect.assignors: there is no assignor {name}; the nearest is {nearest} (all: {', '.join(known)})"
        )
    return _plug_in(name, packages[name])


def _plug_in(name: str, entry_point: EntryPoint) -> ServerAssignor:
    where = f"group.connect.assignors: {name} ({entry_point.value})"
    try:
        made = entry_point.load()()
    except Exception as fault:  # foreign code may raise anything: the error must name it
        raise AssignorError(f"{where} cannot be loaded: {type(fault).__name__}: {fault}") from fault
    if not isinstance(made, ServerAssignor):
        raise AssignorError(f"{where} makes a {type(made).__name__}, which is no assignor: it needs name and assign")
    if made.name != name:
        raise AssignorError(f"{where} calls itself {made.name}: an entry point has the name of its assignor")
    return made
