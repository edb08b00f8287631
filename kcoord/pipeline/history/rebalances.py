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
class _Stopped:
    """What members had to give up in a rebalance and do not have again, and who ever had to."""

    resources: set[tuple[str, Resource]] = attrs.Factory(set)
    members: set[str] = attrs.Factory(set)


@attrs.define(eq=False)
class _Rebalance:
    """What is known of a rebalance. A group may have hundreds of thousands that later records can still change, so
    what is counted only for the latest one goes when the next begins.
    """

    number: int
    """How many the group had before."""
    kind: str
    epoch: int
    reason: str | None
    where: Row
    """The columns that name the group. Rebalances share them."""
    started_ms: int
    members: int
    installed_ms: int | None = None
    converged_ms: int | None = None
    moved: int | None = None
    granted: int = 0
    lost: int = 0
    stops: int = 0
    returned: int = 0
    interrupted: int = 0
    assigned: Assigned | None = None
    stopped: _Stopped | None = None
    """None: nothing, or it is not the latest one."""

    def count(self, state: GroupState, change: Change) -> None:
        """Count what members were given and had to give up."""
        stopped = self.stopped
        if stopped is None:
            stopped = self.stopped = _Stopped()
        for member_id, resource in change.closed:
            if member_id not in state.members:
                self.lost += 1
                continue
            self.stops += 1
            stopped.resources.add((member_id, resource))
            stopped.members.add(member_id)
        for each in change.opened:
            self.granted += 1
            if each in stopped.resources:
                stopped.resources.discard(each)
                self.returned += 1
        self.interrupted = len(stopped.members)


@attrs.define(eq=False)
class Rebalances:
    """The rows of `epochs` at once, and those of `rebalances` when a later one has converged, or the group ends."""

    _all: list[_Rebalance] = attrs.Factory(list)
    """Those whose rows have not been given."""
    _given: int = 0
    """How many rows have been given."""
    _converged: int = 0
    """The number of the last one that has converged."""
    _by_epoch: dict[str, dict[int, _Rebalance]] = attrs.Factory(dict)
    """By kind and number."""

    def step(self, state: GroupState, step: Step, change: Change) -> Iterator[tuple[str, Row]]:
        """The rows of epochs that begin with this step."""
        for epoch in step.epochs:
            yield "epochs", _epoch_row(state, epoch)
            self._begin(state, epoch)
        for (kind, number), outcome in step.outcomes.items():
            rebalance = self._by_epoch.get(kind, {}).get(number)
            if rebalance is not None:
                rebalance.installed_ms, rebalance.converged_ms = outcome.installed_ms, outcome.converged_ms
                rebalance.moved = None if outcome.installed_ms is None else outcome.moved
                self._note(rebalance)
        if step.assigned is not None:
            computed = self._by_epoch.get(step.assigned.kind, {}).get(step.assigned.epoch)
            if computed is not None:
                computed.assigned = step.assigned
        if not self._all:
            return
        last = self._all[-1]
        if step.stable_ms is not None and last.kind == CLASSIC_GROUP and last.installed_ms is None:
            last.installed_ms = last.converged_ms = step.stable_ms
            self._note(last)
        if change:
            last.count(state, change)
        yield from self._rows(len(self._all) if step.deleted else self._converged - self._given)

    def end(self) -> Iterator[tuple[str, Row]]:
        """The group or the log has ended: the rows of its rebalances."""
        yield from self._rows(len(self._all))

    def _begin(self, state: GroupState, epoch: Epoch) -> None:
        where, reason = group_columns(state), epoch.reason
        if self._all:
            last = self._all[-1]
            last.stopped = None
            where = last.where if last.where == where else where
            reason = last.reason if last.reason == reason else reason
        started = epoch.at_ms if epoch.began_ms is None else epoch.began_ms
        number = self._given + len(self._all)
        new = _Rebalance(number, epoch.kind, epoch.number, reason, where, started, len(state.members))
        self._all.append(new)
        self._by_epoch.setdefault(epoch.kind, {})[epoch.number] = new

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
        given = self._all[:count]
        del self._all[:count]
        self._given += count
        settled: list[int | None] = []
        for each in reversed(given):
            settled_ms = settled_ms if each.converged_ms is None else each.converged_ms
            settled.append(settled_ms)
            numbers = self._by_epoch[each.kind]
            if numbers.get(each.epoch) is each:
                del numbers[each.epoch]
        given.reverse()
        while given:  # one row at a time: there may be many
            yield "rebalances", _row(given.pop(), settled.pop())


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
        "kind": each.kind,
        "epoch": each.epoch,
        "reason": short(each.reason),
        "detail": each.reason,
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
        "interrupted": each.interrupted,
        "assignor": None if each.assigned is None else each.assigned.assignor,
        "computed_by": None if each.assigned is None else each.assigned.computed_by,
        "delay_ms": None if each.assigned is None else each.assigned.delay_ms,
    }
