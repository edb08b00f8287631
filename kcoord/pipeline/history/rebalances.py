"""The rows of `epochs`, `rebalances` and `balance`: which epochs began and why, what came of each, and how evenly the
work was spread.

A rebalance is an epoch or a generation. What members were given and had to give up counts for the latest epoch that had
begun, because that is the one they heard of. If several began in one step, it counts for the last of them.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from kcoord.pipeline.history.entry import Row
from kcoord.pipeline.history.state import CLASSIC_GROUP, NOTHING, Assigned, Epoch, GroupState, Step
from kcoord.pipeline.history.timeline import Change, group_columns, short
from kcoord.resource import Resource


@attrs.define(eq=False)
class _Rebalance:
    number: int
    """How many the group had before."""
    epoch: Epoch
    where: Row
    started_ms: int
    members: int
    installed_ms: int | None = None
    converged_ms: int | None = None
    moved: int | None = None
    granted: int = 0
    lost: int = 0
    stopped: set[tuple[str, Resource]] = attrs.Factory(set)
    stops: int = 0
    returned: int = 0
    interrupted: set[str] = attrs.Factory(set)
    assigned: Assigned | None = None

    def count(self, state: GroupState, change: Change) -> None:
        for member_id, resource in change.closed:
            if member_id not in state.members:
                self.lost += 1
                continue
            self.stops += 1
            self.stopped.add((member_id, resource))
            self.interrupted.add(member_id)
        for each in change.opened:
            self.granted += 1
            if each in self.stopped:
                self.stopped.discard(each)
                self.returned += 1


@attrs.define(eq=False)
class Rebalances:
    """The rows of `epochs` at once, and those of `rebalances` when a later one has converged, or the group ends."""

    _all: list[_Rebalance] = attrs.Factory(list)
    """Those whose rows have not been given."""
    _given: int = 0
    """How many rows have been given."""
    _converged: int = 0
    """The number of the last one that has converged."""
    _by_epoch: dict[tuple[str, int], _Rebalance] = attrs.Factory(dict)

    def step(self, state: GroupState, step: Step, change: Change) -> Iterator[tuple[str, Row]]:
        """The rows of epochs that begin with this step."""
        for epoch in step.epochs:
            yield "epochs", _epoch_row(state, epoch)
            started = epoch.at_ms if epoch.began_ms is None else epoch.began_ms
            new = _Rebalance(self._given + len(self._all), epoch, group_columns(state), started, len(state.members))
            self._all.append(new)
            self._by_epoch[epoch.kind, epoch.number] = new
        for kind_and_epoch, outcome in step.outcomes.items():
            rebalance = self._by_epoch.get(kind_and_epoch)
            if rebalance is not None:
                rebalance.installed_ms, rebalance.converged_ms = outcome.installed_ms, outcome.converged_ms
                rebalance.moved = None if outcome.installed_ms is None else outcome.moved
                self._note(rebalance)
        if step.assigned is not None:
            computed = self._by_epoch.get((step.assigned.kind, step.assigned.epoch))
            if computed is not None:
                computed.assigned = step.assigned
        if not self._all:
            return
        last = self._all[-1]
        if step.stable_ms is not None and last.epoch.kind == CLASSIC_GROUP and last.installed_ms is None:
            last.installed_ms = last.converged_ms = step.stable_ms
            self._note(last)
        last.count(state, change)
        yield from self._rows(len(self._all) if step.deleted else self._converged - self._given)

    def end(self) -> Iterator[tuple[str, Row]]:
        """The group or the log has ended: the rows of its rebalances."""
        yield from self._rows(len(self._all))

    def _note(self, rebalance: _Rebalance) -> None:
        if rebalance.converged_ms is not None:
            self._converged = max(self._converged, rebalance.number)

    def _rows(self, count: int) -> Iterator[tuple[str, Row]]:
        """The rows of the first `count`: those before one that has converged, of which the log says nothing more, or
        all of them.
        """
        if count <= 0:
            return
        settled_ms = self._all[count].converged_ms if count < len(self._all) else None
        rows = []
        for each in reversed(self._all[:count]):
            settled_ms = settled_ms if each.converged_ms is None else each.converged_ms
            rows.append(_row(each, settled_ms))
            name = each.epoch.kind, each.epoch.number
            if self._by_epoch.get(name) is each:
                del self._by_epoch[name]
        del self._all[:count]
        self._given += count
        yield from (("rebalances", row) for row in reversed(rows))


@attrs.define(eq=False)
class Balance:
    """The rows of `balance` of one group."""

    _last: tuple[object, ...] | None = None

    def step(self, state: GroupState, step: Step, changed: bool, owned: int) -> Iterator[tuple[str, Row]]:
        """A row for the state after this step, if it has changed. `owned`: how many resources have an owner."""
        if step.deleted or not state.alive or not (changed or step.came or step.went or step.configured_changed):
            return
        sizes = [len(state.owned.get(each, NOTHING)) for each in state.members]
        configured = None if state.configured is None else len(state.configured)
        now = (len(sizes), configured, owned, max(sizes, default=0), min(sizes, default=0))
        if now == self._last:
            return
        self._last = now
        names = ("members", "configured", "owned", "most", "least")
        where = {"offset": step.offset, "at": step.at_ms, "epoch": state.epoch}
        yield "balance", {**group_columns(state), **where, **dict(zip(names, now, strict=True))}


def _epoch_row(state: GroupState, epoch: Epoch) -> Row:
    return {
        **group_columns(state),
        "kind": epoch.kind,
        "epoch": epoch.number,
        "offset": epoch.offset,
        "at": epoch.at_ms,
        "began": epoch.began_ms,
        "reason": short(epoch.reason),
        "detail": epoch.reason,
        "members": len(state.members),
        "configured": None if state.configured is None else len(state.configured),
    }


def _row(each: _Rebalance, settled_ms: int | None) -> Row:
    return {
        **each.where,
        "kind": each.epoch.kind,
        "epoch": each.epoch.number,
        "reason": short(each.epoch.reason),
        "detail": each.epoch.reason,
        "started": each.started_ms,
        "installed": each.installed_ms,
        "converged": each.converged_ms,
        "settled": settled_ms,
        "duration_ms": None if settled_ms is None else max(0, settled_ms - each.started_ms),
        "members": each.members,
        "moved": each.moved,
        "granted": each.granted,
        "stopped": each.stops,
        "returned": each.returned,
        "lost": each.lost,
        "interrupted": len(each.interrupted),
        "assignor": None if each.assigned is None else each.assigned.assignor,
        "computed_by": None if each.assigned is None else each.assigned.computed_by,
        "delay_ms": None if each.assigned is None else each.assigned.delay_ms,
    }
