"""The configurations as of an offset of the config topic.

The topic is one list that all workers of a cluster read, each up to its own position. Records take offsets as Connect's
do: a connector takes one, its deletion two, task configurations one a task and one to commit them, a session key one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping

import attrs

from kcoord.assign.incremental import Snapshot
from kcoord.resource import Resource


@attrs.frozen
class Configs:
    """Everything that a worker has read up to an offset."""

    offset: int = 0
    """The next offset to read. Connect's workers tell each other this number."""
    task_counts: Mapping[str, int] = attrs.Factory(dict)
    """All connectors. 0 tasks if there are no task configurations yet."""
    revisions: Mapping[str, int] = attrs.Factory(dict)
    """How many times each connector's task configurations were written."""

    def snapshot(self) -> Snapshot:
        """What the assignors look at."""
        return Snapshot(self.offset, self.task_counts)

    def resources(self) -> frozenset[Resource]:
        """All connectors and tasks."""
        return self.snapshot().resources()


@attrs.frozen
class News:
    """What has changed between two readings, as far as workers act on it."""

    rebalance: bool = False
    """Whether a connector came or went, or task configurations changed."""
    reconfigured: frozenset[str] = frozenset()
    """Connectors whose task configurations were written again."""


def news(before: Configs, seen: Configs, now: Configs) -> News:
    """What a worker learns from reading on from `seen` to `now`. Its herder knew `before` until now."""
    reconfigured = frozenset(name for name, count in now.revisions.items() if count != seen.revisions.get(name))
    came = any(name not in seen.task_counts and name not in before.task_counts for name in now.task_counts)
    went = any(name not in now.task_counts and name in before.task_counts for name in seen.task_counts)
    return News(came or went or bool(reconfigured), reconfigured)


class ConfigTopic:
    """The config topic of a cluster."""

    def __init__(self) -> None:
        self._states = [Configs()]
        self._offsets = [0]

    @property
    def newest(self) -> Configs:
        """Everything in the topic."""
        return self._states[-1]

    def read(self, offset: int) -> Configs:
        """Everything before that offset. The records of one write are not separated."""
        return self._states[bisect_right(self._offsets, offset) - 1]

    def put_connector(self, name: str) -> Configs:
        """Create a connector, without tasks yet, or change it."""
        return self._write(1, {name: self.newest.task_counts.get(name, 0)})

    def put_tasks(self, name: str, count: int) -> Configs:
        """The leader writes a connector's task configurations."""
        revisions = {**self.newest.revisions, name: self.newest.revisions.get(name, 0) + 1}
        return self._write(count + 1, {name: count}, revisions)

    def remove(self, name: str) -> Configs:
        """Delete a connector."""
        counts = {each: count for each, count in self.newest.task_counts.items() if each != name}
        return self._add(Configs(self.newest.offset + 2, counts, self.newest.revisions))

    def put_session_key(self) -> Configs:
        """The leader writes a new session key: that takes an offset, and there is nothing to act on."""
        return self._write(1, {})

    def _write(self, records: int, counts: Mapping[str, int], revisions: Mapping[str, int] | None = None) -> Configs:
        newest = self.newest
        return self._add(
            Configs(newest.offset + records, {**newest.task_counts, **counts}, revisions or newest.revisions)
        )

    def _add(self, state: Configs) -> Configs:
        self._states.append(state)
        self._offsets.append(state.offset)
        return state
