"""Resources, which are what is assigned: a connector, or a task of one.

A resource is a plain tuple, so that sets of tens of thousands are cheap and sort by connector, then by task. A
connector is its own task -1.
"""

from __future__ import annotations

from typing import TypeAlias

Resource: TypeAlias = tuple[str, int]
"""(connector, task id). The task id is CONNECTOR for the connector itself."""

CONNECTOR = -1


def connector(name: str) -> Resource:
    """The connector itself."""
    return (name, CONNECTOR)


def task(name: str, task_id: int) -> Resource:
    """One task of a connector."""
    return (name, task_id)


def tell(resource: Resource) -> str:
    """The name that people use: `sink` for the connector, `sink-0` for its first task."""
    name, task_id = resource
    return name if task_id == CONNECTOR else f"{name}-{task_id}"
