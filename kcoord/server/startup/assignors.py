"""The assignors of this coordinator: built-in ones and ones from installed packages (entry points).

`group.connect.assignors` and `group.consumer.assignors` name the assignors, the default first. The built-in ones are
always available. Installed packages bring others by the entry point groups `kcoord.assignors` and
`kcoord.consumer_assignors`. An entry point has the name of its assignor. It refers to a callable without arguments that
makes one, usually a class (see `kcoord.assign.interface.ServerAssignor` and
`kcoord.assign.consumer.interface.ConsumerAssignor`). Rules:

1. Only assignors that are named are loaded. So a broken package that is not used does no harm.
2. The start stops with one line if a name is unknown, or if a package does not give what its entry point promises.
3. A package cannot take the name of a built-in assignor.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, Protocol, TypeGuard, TypeVar

import attrs

from kcoord.assign.built_in import SERVER_SIDE
from kcoord.assign.consumer.built_in import CONSUMER_ASSIGNORS
from kcoord.assign.consumer.interface import ConsumerAssignor
from kcoord.assign.interface import ServerAssignor

ENTRY_POINTS = "kcoord.assignors"
CONSUMER_ENTRY_POINTS = "kcoord.consumer_assignors"


class _Named(Protocol):
    """What all assignors have."""

    @property
    def name(self) -> str:
        """The name by which members ask for it."""


A = TypeVar("A", bound=_Named)


class AssignorError(Exception):
    """An assignor does not exist or does not work. The text is one line: which assignor, why, what to do."""


def load_assignors(names: Iterable[str], offered: Iterable[EntryPoint] | None = None) -> tuple[ServerAssignor, ...]:
    """The assignors of connect groups with these names, in this order. `offered` are the entry points, by default those
    of all installed packages. Raises AssignorError.
    """
    return CONNECT.load(names, offered)


def load_consumer_assignors(
    names: Iterable[str], offered: Iterable[EntryPoint] | None = None
) -> tuple[ConsumerAssignor, ...]:
    """The same of consumer groups. Raises AssignorError."""
    return CONSUMER.load(names, offered)


@attrs.frozen
class _Kind(Generic[A]):
    """The assignors of one kind of groups."""

    setting: str
    entry_points: str
    built_in: Mapping[str, Callable[[], A]]
    is_one: Callable[[object], TypeGuard[A]]
    needs: str
    """What an assignor must have, in words."""

    def load(self, names: Iterable[str], offered: Iterable[EntryPoint] | None) -> tuple[A, ...]:
        """Raises AssignorError."""
        packages = {each.name: each for each in (entry_points(group=self.entry_points) if offered is None else offered)}
        return tuple(self._load(name, packages) for name in names)

    def _load(self, name: str, packages: dict[str, EntryPoint]) -> A:
        if name in self.built_in:
            if name in packages:
                raise AssignorError(
                    f"{self.setting}: {packages[name].value} takes the name of the built-in assignor {name}: "
                    "uninstall that package, or let it choose another name"
                )
            return self.built_in[name]()
        if name not in packages:
            known = [*self.built_in, *sorted(packages)]
            nearest = difflib.get_close_matches(name, known, n=1, cutoff=0)[0]
            raise AssignorError(
                f"{self.setting}: there is no assignor {name}; the nearest is {nearest} (all: {', '.join(known)})"
            )
        return self._plug_in(name, packages[name])

    def _plug_in(self, name: str, entry_point: EntryPoint) -> A:
        where = f"{self.setting}: {name} ({entry_point.value})"
        try:
            made = entry_point.load()()
        except Exception as fault:  # foreign code may raise anything: the error must name it
            raise AssignorError(f"{where} cannot be loaded: {type(fault).__name__}: {fault}") from fault
        if not self.is_one(made):
            kind = type(made).__name__
            raise AssignorError(f"{where} makes a {kind}, which is no assignor: it needs {self.needs}")
        if made.name != name:
            raise AssignorError(f"{where} calls itself {made.name}: an entry point has the name of its assignor")
        return made


def _assigns_to_workers(made: object) -> TypeGuard[ServerAssignor]:
    return isinstance(made, ServerAssignor)


def _assigns_to_consumers(made: object) -> TypeGuard[ConsumerAssignor]:
    return isinstance(made, ConsumerAssignor)


CONNECT = _Kind(
    setting="group.connect.assignors",
    entry_points=ENTRY_POINTS,
    built_in=SERVER_SIDE,
    is_one=_assigns_to_workers,
    needs="name and assign",
)
CONSUMER = _Kind(
    setting="group.consumer.assignors",
    entry_points=CONSUMER_ENTRY_POINTS,
    built_in=CONSUMER_ASSIGNORS,
    is_one=_assigns_to_consumers,
    needs="name, reads_racks and assign",
)
