"""The rows of `connectors`: which connectors were configured, with how many tasks, from when to when, as the workers of
connect groups reported.

Only configured tasks count, so a connector that exists before its tasks has none.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from kcoord.pipeline.history.entry import Row
from kcoord.pipeline.history.state import GroupState, Step
from kcoord.pipeline.history.steps import Whole
from kcoord.pipeline.history.timeline import group_columns
from kcoord.resource import CONNECTOR


@attrs.frozen
class _Since:
    tasks: int
    offset: int
    at_ms: int


@attrs.define(eq=False)
class Configured:
    """The rows of `connectors` of one group."""

    whole: Whole
    _since: dict[str, _Since] = attrs.Factory(dict)

    def step(self, state: GroupState, step: Step) -> Iterator[tuple[str, Row]]:
        """The rows that end with this step."""
        if not (step.configured_changed or step.deleted or (state.configured is None and self._since)):
            return
        now: dict[str, int] = {}
        for connector, task in state.configured or ():
            now[connector] = now.get(connector, 0) + (task != CONNECTOR)
        for connector, since in sorted(self._since.items()):
            if now.get(connector) != since.tasks:
                yield "connectors", self._row(state, connector, since, step)
                del self._since[connector]
        for connector, tasks in now.items():
            self._since.setdefault(connector, _Since(tasks, step.offset, step.at_ms))

    def end(self, state: GroupState) -> Iterator[tuple[str, Row]]:
        """The log has ended: the rows that are still open."""
        for connector, since in sorted(self._since.items()):
            yield "connectors", self._row(state, connector, since, None)

    def _row(self, state: GroupState, connector: str, since: _Since, step: Step | None) -> Row:
        return {
            **group_columns(state),
            "connector": connector,
            "tasks": since.tasks,
            "from_offset": since.offset,
            "from_at": since.at_ms,
            "to_offset": None if step is None else step.offset,
            "to_at": None if step is None else step.at_ms,
            "whole": state.from_start or self.whole(since.offset),
        }
