"""The derived tables of one partition of the log, all made in one pass over its records.

The same records give the same rows in the same order, whatever reads them and in whatever pieces.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from kcoord.pipeline.history.audit import Audit
from kcoord.pipeline.history.configured import Configured
from kcoord.pipeline.history.entry import Entry, Row
from kcoord.pipeline.history.rebalances import Balance, Rebalances
from kcoord.pipeline.history.state import GroupState, by_group
from kcoord.pipeline.history.steps import Steps
from kcoord.pipeline.history.timeline import Change, Ownership, Sessions, Whole


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
        yield from self.rebalances.end(self.state)
        yield from self.ownership.end(self.state)
        yield from self.sessions.end(self.state)
        yield from self.configured.end(self.state)
        yield from self.audit.end()


def derive(partition: int, entries: Iterable[Entry], partitions: int | None = None) -> Iterator[tuple[str, Row]]:
    """Rows, each with the name of its table. `entries` are of one partition, in order of position. `partitions` is the
    number of the log's partitions, if known.
    """
    steps = Steps()
    groups: dict[str, _Group] = {}

    def whole(offset: int) -> bool:
        return steps.whole_from is not None and offset >= steps.whole_from

    for step in steps.cut(entries):
        for group_id, its in by_group(step).items():
            group = groups.get(group_id)
            if group is None:
                group = groups[group_id] = _Group(GroupState(partition, group_id), whole, partitions)
            yield from group.step(its)
    for _, group in sorted(groups.items()):
        yield from group.end()
