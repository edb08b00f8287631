"""Resources (connectors and tasks): converting them from and to the entries of messages and records.

On the wire, resources are entries of the form {Connectors, Tasks}. Every message and every record has its own classes
for these entries, so the functions here rely only on the names of the attributes.

- Several entries mean their union. One entry is written, or none if there are no resources.
- Written entries are sorted, so that the same resources always give the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Protocol, TypeVar

from kcoord.resource import CONNECTOR, Resource, new

__all__ = ["Entry", "Task", "misnamed", "pack", "unpack"]


class Task(Protocol):
    """A ConnectorTaskId of any message."""

    connector_id: str
    task_id: int


class Entry(Protocol):
    """A ConnectorsAndTasks of any message, or a ConnectorsTasks of any record."""

    @property
    def connectors(self) -> Sequence[str]: ...

    @property
    def tasks(self) -> Sequence[Task]: ...


E = TypeVar("E")
T = TypeVar("T")


def unpack(entries: Iterable[Entry]) -> frozenset[Resource]:
    """All resources that the entries name, each once. Check entries from a client with `misnamed` first."""
    found: list[Resource] = []
    for entry in entries:
        found += [new(Resource, (connector, CONNECTOR)) for connector in entry.connectors]
        found += [new(Resource, (task.connector_id, task.task_id)) for task in entry.tasks]
    return frozenset(found)


def misnamed(entries: Iterable[Entry]) -> str | None:
    """The first thing in the entries that is not a resource, as an error text; None if all are resources.

    A name must not be empty, and a task id not below 0: -1 would be read as the connector itself.
    """
    for entry in entries:
        if "" in entry.connectors:
            return "a connector's name is empty"
        for task in entry.tasks:
            if task.task_id < 0 or not task.connector_id:
                return f"{task.connector_id!r} has no task {task.task_id}"
    return None


def pack(
    resources: Collection[tuple[str, int]],
    entry_type: Callable[[list[str], list[T]], E],
    task_type: Callable[[str, int], T],
) -> list[E]:
    """The resources as one entry of this type, sorted by connector and task id; no entry if there are none."""
    if not resources:
        return []
    connectors: list[str] = []
    task_ids: dict[str, list[int]] = {}
    for connector, task_id in resources:
        if task_id == CONNECTOR:
            connectors.append(connector)
        elif connector in task_ids:
            task_ids[connector].append(task_id)
        else:
            task_ids[connector] = [task_id]
    connectors.sort()  # names and numbers sorted apart: tuples take 2 to 3 times as long
    tasks = [task_type(connector, task_id) for connector in sorted(task_ids) for task_id in sorted(task_ids[connector])]
    return [entry_type(connectors, tasks)]
