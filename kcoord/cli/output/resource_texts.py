"""Many connectors and tasks in one text: `clock: connector, 0-3; usage: 0` for people, by connector for programs; and
partitions of topics in the same form.
"""

from collections.abc import Collection, Iterable
from typing import Any

from kcoord.assign import CONNECTOR, Resource
from kcoord.printable import printable


def resources_text(resources: Collection[tuple[str, int]], nothing: str = "-") -> str:
    """All of them on one line, with tasks or partitions as ranges."""
    return "; ".join(f"{printable(name)}: {ranges(tasks)}" for name, tasks in _by_connector(resources)) or nothing


def ranges(numbers: list[int]) -> str:
    """`connector, 0-3, 7`. The number -1 is the connector itself."""
    parts = ["connector"] if -1 in numbers else []
    start = before = None
    for number in [*sorted(number for number in numbers if number >= 0), None]:
        if start is not None and before is not None and number != before + 1:
            parts.append(f"{start}" if start == before else f"{start}-{before}")
            start = number
        start = number if start is None else start
        before = number
    return ", ".join(parts)


def resources_json(resources: Collection[Resource]) -> dict[str, Any]:
    """Connectors by name, and the task numbers of each connector."""
    grouped = [(name, [task for task in tasks if task != CONNECTOR]) for name, tasks in _by_connector(resources)]
    return {
        "connectors": sorted(name for name, task in resources if task == CONNECTOR),
        "tasks": {name: tasks for name, tasks in grouped if tasks},
    }


def partitions_json(partitions: Collection[tuple[str, int]]) -> dict[str, Any]:
    """The partitions of each topic."""
    return dict(_by_connector(partitions))


def counted(count: int, one: str = "connector or task", many: str = "connectors and tasks") -> str:
    """`1 connector or task`, `12 connectors and tasks`."""
    return f"1 {one}" if count == 1 else f"{count} {many}"


def _by_connector(resources: Collection[tuple[str, int]]) -> Iterable[tuple[str, list[int]]]:
    found: dict[str, list[int]] = {}
    for name, task in sorted(resources):
        found.setdefault(name, []).append(task)
    return found.items()
