"""The records of Connect's configuration topic: what each kind says.

| key | value | says |
| --- | --- | --- |
| `connector-NAME` | `{"properties": {…}}` | the connector exists, with this configuration; null: it is deleted |
| `task-NAME-N` | `{"properties": {…}}` | task N's next configuration, which counts from the next commit on |
| `commit-NAME` | `{"tasks": N}` | the connector has N tasks, whose configurations were written before |
| `target-state-NAME` | `{"state": …, "state.v2": …}` | STARTED, PAUSED or STOPPED; null: STARTED |
| `restart-connector-NAME` | `{"include-tasks": …, "only-failed": …}` | the worker that runs it must restart it |
| `session-key`, `tasks-fencing-NAME`, `logger-cluster-NAME` | | not used by this library |

Values are JSON, as Connect's converter writes it: without schemas, or with schemas, as `{"schema": …, "payload": …}`.
The names, prefixes and fields are Connect's (KIP-745, KIP-875, KIP-618, KIP-507, KIP-976 added some).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, TypeAlias

import attrs

Properties: TypeAlias = Mapping[str, str | None]
"""A configuration: all values are texts or null."""

_INT32 = 1 << 31
_TASK = re.compile(r"(?P<name>.+)-(?P<task>\+?\d{1,10})", re.ASCII | re.DOTALL)


class Unreadable(ValueError):
    """A record that cannot be used; the text says why. `counts`: Connect's offset moves past it all the same."""

    def __init__(self, why: str, counts: bool = True) -> None:
        super().__init__(why)
        self.counts = counts


class Target(Enum):
    """The state in which a connector is to be."""

    STARTED = "STARTED"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"


@attrs.frozen
class Connector:
    """A connector's configuration; None: it is deleted."""

    name: str
    properties: Properties | None


@attrs.frozen
class Task:
    """A task's next configuration."""

    name: str
    task: int
    properties: Properties


@attrs.frozen
class Commit:
    """From now on the connector has this number of tasks."""

    name: str
    tasks: int


@attrs.frozen
class TargetState:
    """The state in which the connector is to be; None: no longer set."""

    name: str
    target: Target | None


@attrs.frozen
class Restart:
    """A request to restart the connector: with its tasks if so requested, or only what has failed."""

    name: str
    include_tasks: bool
    only_failed: bool


@attrs.frozen
class Other:
    """A record that is for Connect's own workers alone."""


Said: TypeAlias = Connector | Task | Commit | TargetState | Restart | Other


def read(key: bytes | None, value: bytes | None) -> Said:
    """Read a record. Raises Unreadable."""
    said = None if value is None else _json(value)
    if key is None:
        raise Unreadable("it has no key")
    name = key.decode(errors="replace")
    for prefix, kind in _KINDS.items():
        if name.startswith(prefix):
            return kind(name[len(prefix) :], said)
    if name.startswith(_NOT_OURS):
        return Other()
    raise Unreadable("Connect writes no such key")


def _json(value: bytes) -> Any:
    """Decode a value. If Connect's converter cannot read a value, Connect's offset stays where it was."""
    try:
        said = json.loads(value)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"its value is not valid JSON: {error}", counts=False) from None
    if isinstance(said, dict) and said.keys() == {"schema", "payload"}:
        return said["payload"]
    return said


def _connector(name: str, said: Any) -> Connector:
    return Connector(_named(name), None if said is None else _properties(said))


def _task(name: str, said: Any) -> Task:
    found = _TASK.fullmatch(name)
    if found is None or int(found["task"]) >= _INT32:
        raise Unreadable("its key is to end with the connector's name and the task's number")
    return Task(found["name"], int(found["task"]), _properties(said))


def _commit(name: str, said: Any) -> Commit:
    tasks = _fields(said).get("tasks")
    if type(tasks) is not int or not 0 <= tasks < _INT32:
        raise Unreadable(f"tasks is {tasks!r}, and is to be a count")
    return Commit(_named(name), tasks)


def _target_state(name: str, said: Any) -> TargetState:
    if said is None:
        return TargetState(_named(name), None)
    fields = _fields(said)
    target = fields.get("state.v2")
    if not isinstance(target, str):
        target = fields.get("state")
    try:
        return TargetState(_named(name), Target(target))
    except ValueError:
        raise Unreadable(f"state is {target!r}, and is to be one of {', '.join(Target.__members__)}") from None


def _restart(name: str, said: Any) -> Restart:
    fields = _fields(said)
    return Restart(_named(name), fields.get("include-tasks") is True, fields.get("only-failed") is True)


def _named(name: str) -> str:
    if not name:
        raise Unreadable("its key names no connector")
    return name


def _fields(said: Any) -> dict[str, Any]:
    if not isinstance(said, dict):
        raise Unreadable(f"its value is {'null' if said is None else type(said).__name__}, and is to be an object")
    return said


def _properties(said: Any) -> Properties:
    properties = _fields(said).get("properties")
    if not isinstance(properties, dict):
        raise Unreadable("its value has no properties")
    for name, value in properties.items():
        if value is not None and not isinstance(value, str):
            raise Unreadable(f"property {name} is {value!r}, and is to be a text")
    return properties


_KINDS: Mapping[str, Callable[[str, Any], Said]] = {
    "target-state-": _target_state,
    "connector-": _connector,
    "task-": _task,
    "commit-": _commit,
    "restart-connector-": _restart,
}
_NOT_OURS = ("tasks-fencing-", "session-key", "logger-cluster-")
