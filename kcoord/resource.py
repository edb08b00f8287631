"""Resources, which are what is assigned: a connector, or a task of one.

A resource is a tuple with named fields. It equals the plain tuple of a name and a number, and has the same hash, order
and text, so users' code may give plain tuples. `resource_of` and `resources_of` take those in.

Groups have tens of thousands of resources. Where so many are made or looked at in one go, `new` is quicker than the
class, `ordered` than `sorted`, and `task_id == CONNECTOR`, `connectors_among` and `tasks_among` than `is_connector`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import NamedTuple, TypeVar

R = TypeVar("R", bound=tuple[str, int])

CONNECTOR = -1
"""The task id of a connector itself."""


class Resource(NamedTuple):
    """A connector, or a task of one. Equal to the plain tuple: `Resource("copy", 0) == ("copy", 0)`. Resources sort by
    connector, then by task, the connector itself first.
    """

    connector: str
    """The connector's name."""
    task_id: int
    """The task's number, from 0; `CONNECTOR` for the connector itself."""

    @property
    def is_connector(self) -> bool:
        """Whether this is the connector itself, not one of its tasks."""
        return self.task_id == CONNECTOR

    def __repr__(self) -> str:
        """The text of the plain tuple: users see it in logs and error texts."""
        return tuple.__repr__(self)


new: Callable[[type[Resource], tuple[str, int]], Resource] = tuple.__new__
"""`new(Resource, (name, task_id))` makes a resource in half the time: for code that makes thousands."""


def connector(name: str) -> Resource:
    """The connector itself."""
    return Resource(name, CONNECTOR)


def task(name: str, task_id: int) -> Resource:
    """One task of a connector."""
    return Resource(name, task_id)


def resource_of(given: tuple[str, int]) -> Resource:
    """A resource from what a user's code gave, which may be a plain tuple."""
    return given if isinstance(given, Resource) else Resource._make(given)


def resources_of(given: Iterable[tuple[str, int]]) -> frozenset[Resource]:
    """A set of resources from what a user's code gave, which may be plain tuples. A set of nothing but resources comes
    back as the same object.
    """
    if type(given) is frozenset:
        for each in given:
            if type(each) is not Resource:
                break
        else:
            return given
    return frozenset(map(Resource._make, given))


def connectors_among(resources: Iterable[R]) -> list[R]:
    """Those that are connectors themselves. Plain tuples will do."""
    return [each for each in resources if each[1] == CONNECTOR]


def tasks_among(resources: Iterable[R]) -> list[R]:
    """Those that are tasks. Plain tuples will do."""
    return [each for each in resources if each[1] != CONNECTOR]


def ordered(resources: Iterable[R]) -> list[R]:
    """As `sorted`, but names and numbers are sorted apart. For thousands of tasks of some hundred connectors that takes
    a quarter of the time. Plain tuples will do.
    """
    by_connector: dict[str, list[R]] = {}
    for each in resources:
        by_connector.setdefault(each[0], []).append(each)
    found: list[R] = []
    for name in sorted(by_connector):
        found += sorted(by_connector[name], key=itemgetter(1))
    return found


def tell(resource: tuple[str, int]) -> str:
    """The name that people use: `sink` for the connector, `sink-0` for its first task."""
    name, task_id = resource
    return name if task_id == CONNECTOR else f"{name}-{task_id}"
