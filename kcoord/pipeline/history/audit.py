"""The audit: what is in the log and must never be.

| finding | meaning | rule |
| --- | --- | --- |
| double owner | two members of the new protocol could be running one resource after a step, or any two members of a consumer group | CG-2, KG-8, KG-23 |
| gap | nobody could be running something configured, although the group is at rest: it has converged, no delay runs, it waits for no member that is away, and no placement rules say where work runs | CG-10, CG-21, CG-22, CG-28, KG-7 |
| epoch back | a group epoch, assignment epoch, member epoch or generation is lower than before | CG-13, KG-3 |
| bad install | an assignment names something twice, or something that does not exist; or it leaves something out without a delay or placement rules; or it is of an epoch that has not begun | CG-18, CG-21 |
| misplaced | a record of a group that belongs to another partition | |

A classic worker may come with work that it runs already, and gives up what others have by then: it is not a second
owner. A classic consumer in a consumer group is one: it is never told what another has. A classic leader takes work away in one assignment and gives it in the next: in a group with classic members,
nothing counts as left out. Where compaction may have removed records, the log shows less than there was, never more: so
gaps and installs are not judged there.
"""  # noqa: E501

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import Any

import attrs

from kcoord.group.partition_of_group import partition_of
from kcoord.group.state.groups.modern_member import JOINING_EPOCH
from kcoord.pipeline.history.entry import (
    CLASSIC,
    CONNECT,
    CONSUMERS,
    CONSUMERS_CURRENT,
    CONSUMERS_TARGET,
    CURRENT,
    TARGET,
    Entry,
    Row,
    epoch_of,
    member_of,
)
from kcoord.pipeline.history.state import (
    CLASSIC_MEMBER,
    CONSUMER,
    CONSUMER_PROTOCOL_TYPE,
    NEW_PROTOCOL,
    NOTHING,
    GroupState,
    Step,
)
from kcoord.pipeline.history.steps import Whole
from kcoord.pipeline.history.timeline import Change, Ownership, group_columns
from kcoord.protocol.records import EPOCH_FIELDS
from kcoord.resource import CONNECTOR, Resource

_NEVER_BACK = {
    **dict.fromkeys((CONNECT, CONSUMERS), "group epoch"),
    **dict.fromkeys((TARGET, CONSUMERS_TARGET), "assignment epoch"),
    **dict.fromkeys((CURRENT, CONSUMERS_CURRENT), "member epoch"),
    CLASSIC: "generation",
}
_OF_MEMBER = frozenset((CURRENT, CONSUMERS_CURRENT))


@attrs.define(eq=False)
class Audit:
    """The rows of `audit` of one group."""

    whole: Whole
    partitions: int | None
    """How many partitions the log has, if known."""
    _last: dict[tuple[int, str | None], int] = attrs.Factory(dict)
    _doubles: dict[Resource, Row] = attrs.Factory(dict)
    _gaps: dict[Resource, Row] = attrs.Factory(dict)
    _is_misplaced: bool | None = None

    def records(self, state: GroupState, entries: list[Entry]) -> Iterator[tuple[str, Row]]:
        """Findings that single records show."""
        if self._is_misplaced is None:
            yield from self._placed(state, entries[0])
        for entry in entries:
            number = entry.record.key.API_KEY
            if number in _NEVER_BACK:
                last = self._advance(entry, number)
                if last is not None:
                    yield _went_back(state, entry, number, last)

    def step(self, state: GroupState, step: Step, change: Change, ownership: Ownership) -> Iterator[tuple[str, Row]]:
        """Findings that the state after a step shows."""
        if change or step.came:
            yield from self._owned_twice(state, step, change, ownership)
        if not (state.from_start or self.whole(step.offset)):
            return
        if step.target_changed and state.kind in NEW_PROTOCOL:
            yield from self._installed(state, step)
        if state.converged or self._gaps:
            yield from self._unowned(state, step, change, ownership)

    def end(self) -> Iterator[tuple[str, Row]]:
        """The log has ended: findings that still last."""
        for _, row in sorted([*self._doubles.items(), *self._gaps.items()]):
            yield "audit", row

    # Inside

    def _placed(self, state: GroupState, entry: Entry) -> Iterator[tuple[str, Row]]:
        self._is_misplaced = False
        if self.partitions is None:
            return
        belongs = partition_of(state.group_id, self.partitions)
        if belongs != state.partition:
            self._is_misplaced = True
            what = f"the group belongs to partition {belongs} of {self.partitions}"
            yield "audit", _row(state, "misplaced", entry.offset, entry.at_ms, None, [], what)

    def _advance(self, entry: Entry, number: int) -> int | None:
        """Note an epoch. Gives the one before, if that was higher."""
        key: Any = entry.record.key
        what = number, key.member_id if number in _OF_MEMBER else None
        value = entry.record.value
        if value is None:
            self._last.pop(what, None)  # the epoch starts over
            return None
        epoch: int = getattr(value, EPOCH_FIELDS[number])
        last = self._last.get(what)
        self._last[what] = epoch
        if last is None or epoch >= last:
            return None
        # a member that joins again, or has left for a while
        return None if number in _OF_MEMBER and epoch <= JOINING_EPOCH else last

    def _owned_twice(
        self, state: GroupState, step: Step, change: Change, ownership: Ownership
    ) -> Iterator[tuple[str, Row]]:
        touched = {resource for _, resource in (*change.opened, *change.closed)}
        if step.came:  # what a member speaks may be logged only now
            touched |= {each for member_id in step.came for each in state.owned.get(member_id, NOTHING)}
        for resource in sorted(touched):
            granted: list[str] = []
            if ownership.counts.get(resource, 0) > 1:
                granted = [each for each in state.owners(resource) if _was_granted(state, each)]
            if len(granted) > 1:
                if resource not in self._doubles:
                    what = f"{_named(state, resource)} could be running on {' and '.join(granted)}"
                    found = _row(state, "double owner", step.offset, step.at_ms, resource, granted, what)
                    self._doubles[resource] = found
            elif resource in self._doubles:
                yield "audit", {**self._doubles.pop(resource), "until": step.at_ms}

    def _installed(self, state: GroupState, step: Step) -> Iterator[tuple[str, Row]]:
        def wrong(what: str, resource: Resource | None = None, who: list[str] | None = None) -> tuple[str, Row]:
            return "audit", _row(state, "bad install", step.offset, step.at_ms, resource, who or [], what)

        if state.assignment_epoch > state.epoch:
            yield wrong(f"the assignment epoch {state.assignment_epoch} is above the group's {state.epoch}")
        assigned = NOTHING.union(*state.targets.values())
        for resource in _assigned_twice(state) if sum(map(len, state.targets.values())) > len(assigned) else ():
            who = sorted(each for each, target in state.targets.items() if resource in target)
            yield wrong(f"{_named(state, resource)} is in the targets of {' and '.join(who)}", resource, who)
        if state.configured is None or not state.members or state.assignment_epoch != state.epoch:
            return
        for resource in sorted(assigned - state.configured):
            yield wrong(f"{_named(state, resource)} is assigned, and not configured", resource)
        if state.delay_deadline_ms <= 0 and not _has_classic_members(state) and not state.has_rules:
            for resource in sorted(state.configured - assigned):
                yield wrong(f"{_named(state, resource)} is configured, and in no target, without a delay", resource)

    def _unowned(
        self, state: GroupState, step: Step, change: Change, ownership: Ownership
    ) -> Iterator[tuple[str, Row]]:
        rests = (
            state.kind in NEW_PROTOCOL
            and state.converged
            and bool(state.members)
            and not state.error
            and not state.has_rules
            and state.delay_deadline_ms <= 0
            and state.epoch == state.assignment_epoch
            and not _has_classic_members(state)
        )
        found: set[Resource] = set()
        if rests:
            if not (change or step.outcomes or step.configured_changed or step.epochs or step.target_changed):
                return
            wait = {each for member_id in state.absent for each in state.targets.get(member_id, NOTHING)}
            found = set(ownership.unowned(state)) - wait
        for resource in sorted(self._gaps.keys() - found):
            yield "audit", {**self._gaps.pop(resource), "until": step.at_ms}
        for resource in sorted(found - self._gaps.keys()):
            who = [member_id for member_id, each in change.closed if each == resource]
            what = f"nobody could be running {_named(state, resource)}, which is configured, and the group is at rest"
            self._gaps[resource] = _row(state, "gap", step.offset, step.at_ms, resource, who, what)


def _went_back(state: GroupState, entry: Entry, number: int, last: int) -> tuple[str, Row]:
    member_id, epoch = member_of(entry.record), epoch_of(entry.record)
    who = [] if member_id is None else [member_id]
    what = f"the {_NEVER_BACK[number]} goes back from {last} to {epoch}"
    return "audit", _row(state, "epoch back", entry.offset, entry.at_ms, None, who, what)


def _assigned_twice(state: GroupState) -> list[Resource]:
    times = Counter(chain.from_iterable(state.targets.values()))
    return sorted(each for each, number in times.items() if number > 1)


def _was_granted(state: GroupState, member_id: str) -> bool:
    member = state.members.get(member_id)
    return member is not None and (member.side == CONSUMER or member.speaks in NEW_PROTOCOL)


def _has_classic_members(state: GroupState) -> bool:
    return any(each.speaks == CLASSIC_MEMBER for each in state.members.values())


def _named(state: GroupState, resource: Resource) -> str:
    name, number = resource
    if number == CONNECTOR:
        return f"connector {name}"
    return f"{'partition' if state.protocol_type == CONSUMER_PROTOCOL_TYPE else 'task'} {name}-{number}"


def _row(
    state: GroupState, finding: str, offset: int, at_ms: int, resource: Resource | None, who: list[str], what: str
) -> Row:
    return {
        **group_columns(state),
        "finding": finding,
        "offset": offset,
        "at": at_ms,
        "until": None,
        "connector": None if resource is None else resource.connector,
        "task": None if resource is None else resource.task_id,
        "member_ids": who,
        "what": what,
    }
