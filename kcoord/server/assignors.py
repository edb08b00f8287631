"""Which assignors run in this coordinator, and where do they come from?

`group.connect.assignors` names them, the default first. The built-in ones are always to be had; others are brought by
installed packages under the entry point group `kcoord.assignors`: an entry point is named as its assignor is, and leads
to what makes one when it is called without arguments, usually a class with `name` and `assign` (see
`kcoord.assign.interface.ServerAssignor`). Rules:

1. Only what is named is loaded: a broken package that nobody uses harms nobody.
2. A name that is not there, and a package that cannot give what its entry point promises, stop the start with one line.
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
    """An assignor that is not there or does not work; the text is one line: which, why, what to do."""


def load_assignors(names: Iterable[str], offered: Iterable[EntryPoint] | None = None) -> tuple[ServerAssignor, ...]:
    """The assignors of these names, in their order. `offered` are the entry points, by default those of all installed
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
    except Exception as fault:  # other people's code: whatever it raises, the start ends with its name
        raise AssignorError(f"{where} cannot be loaded: {type(fault).__name__}: {fault}") from fault
    if not isinstance(made, ServerAssignor):
        raise AssignorError(f"{where} makes a {type(made).__name__}, which is no assignor: it needs name and assign")
    if made.name != name:
        raise AssignorError(f"{where} calls itself {made.name}: an entry point has the name of its assignor")
    return made
