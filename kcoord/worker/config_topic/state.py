"""The connectors and tasks that exist when Connect's configuration topic has been read up to an offset.

- A commit takes the configurations of tasks that were written since the commit before. It counts only if there is one
  for each of its tasks: compaction may have removed some, or the worker that wrote them died. Until a commit that
  counts, the connector is *inconsistent*: it has no tasks then, so that none runs twice with two configurations.
- If there are more configurations than the commit counts, compaction has left them from earlier commits.
- A commit of an unknown connector is left over from one that was deleted.
- A connector that is STOPPED has no tasks because Connect commits none for it. PAUSED ones have theirs.
- The offset is that of the next record, as Connect counts; it moves with every record that can be read at all.

Source: Connect's KafkaConfigBackingStore and ClusterConfigState (4.3).
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from kcoord.assign import CONNECTOR, Resource
from kcoord.worker.config_topic.records import (
    Commit,
    Connector,
    Other,
    Properties,
    Restart,
    Said,
    Target,
    TargetState,
    Task,
    Unreadable,
    read,
)

NO_OFFSET = -1


@attrs.frozen
class ConnectorConfig:
    """One connector."""

    name: str
    properties: Properties
    target: Target
    tasks: tuple[Properties, ...]
    """The configurations of its tasks."""
    revision: int
    """Increases with every commit: then its tasks are to be stopped everywhere, and started with their new
    configurations.
    """
    consistent: bool


@attrs.frozen(eq=False)
class ConnectConfig:
    """All connectors, as of an offset."""

    offset: int = NO_OFFSET
    connectors: Mapping[str, ConnectorConfig] = attrs.Factory(dict)
    resources: frozenset[Resource] = frozenset()
    """All connectors and tasks."""
    revisions: Mapping[str, int] = attrs.Factory(dict)
    """The revision of each connector."""


@attrs.define
class ConfigState:
    """What has been read so far. `take` adds a record, `snapshot` returns the result."""

    offset: int = NO_OFFSET
    restarts: list[Restart] = attrs.Factory(list)
    """Restart requests that nobody has taken yet."""
    _properties: dict[str, Properties] = attrs.Factory(dict)
    _targets: dict[str, Target] = attrs.Factory(dict)
    _counts: dict[str, int] = attrs.Factory(dict)
    _tasks: dict[str, dict[int, Properties]] = attrs.Factory(dict)
    _uncommitted: dict[str, dict[int, Properties]] = attrs.Factory(dict)
    _inconsistent: set[str] = attrs.Factory(set)
    _revisions: dict[str, int] = attrs.Factory(dict)
    _snapshot: ConnectConfig = attrs.Factory(ConnectConfig)
    _changed: bool = False

    def take(self, offset: int, key: bytes | None, value: bytes | None) -> None:
        """Take one more record. Raises Unreadable if it cannot be used; it is left out then."""
        try:
            said = read(key, value)
        except Unreadable as fault:
            if fault.counts:
                self.offset = offset + 1
            raise
        self.offset = offset + 1
        if not isinstance(said, Other | Restart):
            self._changed = True
        self._follow(said)

    def _follow(self, said: Said) -> None:
        match said:
            case Connector(name, None):
                self._remove(name)
            case Connector(name, properties) if properties is not None:
                self._properties[name] = properties
            case Task(name, task, properties):
                self._uncommitted.setdefault(name, {})[task] = properties
            case Commit(name, tasks):
                self._commit(name, tasks)
            case TargetState(name, None):
                self._targets.pop(name, None)
            case TargetState(name, target) if target is not None:
                self._targets[name] = target
            case Restart():
                self.restarts.append(said)

    def _commit(self, name: str, tasks: int) -> None:
        if name not in self._properties:
            self._remove(name)
            return
        written = self._uncommitted.pop(name, {})
        if len(written) >= tasks and all(task in written for task in range(tasks)):
            self._tasks.setdefault(name, {}).update(written)
            self._inconsistent.discard(name)
        else:
            self._inconsistent.add(name)
        self._counts[name] = tasks
        self._revisions[name] = self._revisions.get(name, 0) + 1

    def _remove(self, name: str) -> None:
        for each in (self._properties, self._counts, self._tasks, self._uncommitted):
            each.pop(name, None)

    def snapshot(self) -> ConnectConfig:
        """All that is configured now. What has not changed is the same object as before."""
        if self._changed:
            self._changed = False
            self._snapshot = self._made()
        elif self._snapshot.offset != self.offset:
            self._snapshot = attrs.evolve(self._snapshot, offset=self.offset)
        return self._snapshot

    def _made(self) -> ConnectConfig:
        connectors = {name: self._connector(name) for name in self._properties}
        resources = frozenset(
            Resource(name, task) for name, each in connectors.items() for task in range(CONNECTOR, len(each.tasks))
        )
        revisions = {name: each.revision for name, each in connectors.items()}
        same = resources == self._snapshot.resources
        return ConnectConfig(self.offset, connectors, self._snapshot.resources if same else resources, revisions)

    def _connector(self, name: str) -> ConnectorConfig:
        consistent = name not in self._inconsistent
        of_tasks = self._tasks.get(name, {})
        tasks = tuple(of_tasks[task] for task in range(self._counts.get(name, 0))) if consistent else ()
        target = self._targets.get(name, Target.STARTED)
        return ConnectorConfig(name, self._properties[name], target, tasks, self._revisions.get(name, 0), consistent)
