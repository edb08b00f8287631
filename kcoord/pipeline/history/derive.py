"""The derived tables of one partition of the log, all made in one pass over its records.

The same records give the same rows, whatever reads them and in whatever pieces. A follower can be kept between two
pieces (`kept_follower.py`): it goes on where it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from kcoord.pipeline.history.audit import Audit
from kcoord.pipeline.history.configured import Configured
from kcoord.pipeline.history.entry import Entry, Row
from kcoord.pipeline.history.rebalances import Balance, Rebalances
from kcoord.pipeline.history.state import GroupState, by_group
from kcoord.pipeline.history.steps import Steps, Whole
from kcoord.pipeline.history.timeline import Change, Ownership, Sessions


@attrs.define(eq=False)
class _Group:
    """Everything that follows one group."""

    state: GroupState
    whole: Whole
    partitions: int | None
    ownership: Ownership = attrs.field(init=False)
    sessions: Sessions = attrs.field(init=False)
    audit: Audit = attrs.field(init=False)
    rebalances: Rebalances = attrs.Factory(Rebalances)
    balance: Balance = attrs.Factory(Balance)
    configured: Configured = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.ownership, self.sessions = Ownership(self.whole), Sessions(self.whole)
        self.configured = Configured(self.whole)
        self.audit = Audit(self.whole, self.partitions)

    def step(self, entries: list[Entry]) -> Iterator[tuple[str, Row]]:
        state = self.state
        yield from self.audit.records(state, entries)
        step = state.take(entries)
        change = Change.of(state, step)
        yield from self.rebalances.step(state, step, change)
        yield from self.ownership.step(state, step, change)
        yield from self.sessions.step(state, step)
        yield from self.configured.step(state, step)
        yield from self.balance.step(state, step, bool(change), self.ownership.owned)
        yield from self.audit.step(state, step, change, self.ownership)

    def end(self) -> Iterator[tuple[str, Row]]:
        yield from self.rebalances.end()
        yield from self.ownership.end(self.state)
        yield from self.sessions.end(self.state)
        yield from self.configured.end(self.state)
        yield from self.audit.end()


@attrs.define(eq=False)
class Follower:
    """Follows all groups of one partition."""

    partition: int
    partitions: int | None = None
    """The number of the log's partitions, if known."""
    _steps: Steps = attrs.Factory(Steps)
    _groups: dict[str, _Group] = attrs.Factory(dict)

    def follow(self, entries: Iterable[Entry]) -> Iterator[tuple[str, Row]]:
        """The rows that no later record changes, each with the name of its table. `entries` are in order of position.
        They go on where the last ones ended; those that were followed already are left out.
        """
        for step in self._steps.cut(entries):
            yield from self._take(step)

    def rest(self) -> Iterator[tuple[str, Row]]:
        """The rows that later records can still change or take back, as the log is now. This is the follower's end."""
        yield from self._take(self._steps.last())
        for _, group in sorted(self._groups.items()):
            yield from group.end()

    def _take(self, step: list[Entry]) -> Iterator[tuple[str, Row]]:
        for group_id, its in by_group(step).items():
            group = self._groups.get(group_id)
            if group is None:
                state = GroupState(self.partition, group_id)
                group = self._groups[group_id] = _Group(state, self._steps.whole, self.partitions)
            yield from group.step(its)


def derive(partition: int, entries: Iterable[Entry], partitions: int | None = None) -> Iterator[tuple[str, Row]]:
    """All rows of a partition that is there as a whole, each with the name of its table (see Follower)."""
    follower = Follower(partition, partitions)
    yield from follower.follow(entries)
    yield from follower.rest()
