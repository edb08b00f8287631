"""Verification of a partition's log: whether a sound coordinator can have written it.

The verifier replays the records in the order of the log, step by step. On the way it checks that every record belongs
to a group of this partition, that after each step no resource is granted to two members (CG-2), and that epochs and
generations never go back. They may go back only if the group was deleted, or if a member joins again or goes away. At
the end it checks all that `soundness` says.

A compacted log lacks the records that were replaced. Then a step may show less than there was, but never more. So the
verifier looks for two owners on the way, and for what must exist only at the end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import attrs

from kcoord.group.durable_invariants import complaints, granted, named
from kcoord.group.partition_of_group import partition_of
from kcoord.group.state.groups.modern_member import JOINING_EPOCH
from kcoord.group.state.records.connect_replay import UNSAID
from kcoord.group.state.replay import replay
from kcoord.group.state.settings import GroupSettings
from kcoord.group.state.shard_state import ShardState
from kcoord.protocol.records import (
    ConnectWorkerGroupCurrentMemberAssignmentKey,
    ConnectWorkerGroupMetadataKey,
    ConnectWorkerGroupTargetAssignmentKey,
    GroupMetadataKey,
    Record,
)
from kcoord.protocol.resources import unpack
from kcoord.resource import Resource

NEVER_BACK: dict[type, tuple[str, Callable[[Any], int]]] = {
    ConnectWorkerGroupMetadataKey: ("group epoch", lambda value: value.epoch),
    ConnectWorkerGroupTargetAssignmentKey: ("assignment epoch", lambda value: value.assignment_epoch),
    ConnectWorkerGroupCurrentMemberAssignmentKey: ("member epoch", lambda value: value.member_epoch),
    GroupMetadataKey: ("generation", lambda value: value.generation),
}
"""The numbers that never go back while there is a record with that key."""


@attrs.frozen
class Finding:
    """Something that is wrong, and the position where it showed; None: at the end."""

    position: int | None
    what: str


class Verifier:
    """Verifies the log of one partition, `partition` of `partitions`."""

    def __init__(self, partition: int, partitions: int) -> None:
        self._partition = partition
        self._partitions = partitions
        self._state = ShardState(GroupSettings(), lambda: "")
        self._last: dict[Any, int] = {}
        self._owns: dict[tuple[str, str], frozenset[Resource]] = {}
        self._owners: dict[tuple[str, Resource], set[str]] = defaultdict(set)
        self._suspects: dict[tuple[str, Resource], int] = {}
        self.records = 0

    def see(self, position: int, record: Record) -> Iterator[Finding]:
        """Check and replay the next record of the log."""
        self.records += 1
        for what in (*self._misplaced(record), *self._went_back(record)):
            yield Finding(position, what)
        if isinstance(record.key, ConnectWorkerGroupCurrentMemberAssignmentKey):
            self._follow_owner(position, record)
        try:
            replay(self._state, record)
        except Exception as error:  # any exception: a load of this log would stop there
            yield Finding(position, f"the record cannot be replayed: {error!r}")

    def step_done(self) -> Iterator[Finding]:
        """Check the state after all records of a step."""
        for (group_id, resource), position in self._suspects.items():
            owners = [each for each in self._owners[group_id, resource] if self._was_granted(group_id, each)]
            if len(owners) > 1:
                both = " and of ".join(sorted(owners))
                what = f"connect group {group_id}: {named(resource)} is in the current of {both} (CG-2)"
                yield Finding(position, what)
        self._suspects.clear()

    def _was_granted(self, group_id: str, member_id: str) -> bool:
        """Whether everything in a member's current must have been granted to it. False while its metadata is not known:
        in a compacted log that record may come later.
        """
        group = self._state.connect.get(group_id)
        member = None if group is None else group.members.get(member_id)
        return member is not None and member.metadata is not UNSAID and granted(member)

    @property
    def groups(self) -> int:
        """The number of groups so far."""
        return len(self._state.connect.keys() | self._state.consumer.keys() | self._state.groups.keys())

    def end(self) -> Iterator[Finding]:
        """Check the state at the end of the log."""
        for what in complaints(self._state):
            yield Finding(None, what)

    # -- inside -------------------------------------------------------------------------------------------------------

    def _misplaced(self, record: Record) -> Iterator[str]:
        group_id = group_of(record)
        belongs = partition_of(group_id, self._partitions)
        if belongs != self._partition:
            yield f"group {group_id} belongs to partition {belongs}"

    def _went_back(self, record: Record) -> Iterator[str]:
        key = record.key
        known = NEVER_BACK.get(type(key))
        if known is None:
            return
        if record.value is None:
            self._last.pop(identity(record), None)
            return
        name, of = known
        number, last = of(record.value), self._last.get(identity(record))
        of_member = isinstance(key, ConnectWorkerGroupCurrentMemberAssignmentKey)
        anew = of_member and number <= JOINING_EPOCH  # it joins, or has left for a while
        if last is not None and number < last and not anew:
            member = f" of member {getattr(key, 'member_id', '')}" if of_member else ""
            yield f"group {group_of(record)}: the {name}{member} goes back from {last} to {number}"
        self._last[identity(record)] = number

    def _follow_owner(self, position: int, record: Record) -> None:
        key, value = record.key, record.value
        assert isinstance(key, ConnectWorkerGroupCurrentMemberAssignmentKey)
        who = key.group_id, key.member_id
        before = self._owns.pop(who, frozenset())
        now: frozenset[Resource] = frozenset() if value is None else unpack(getattr(value, "connectors_tasks", ()))
        if now:
            self._owns[who] = now
        for resource in before - now:
            self._owners[key.group_id, resource].discard(key.member_id)
        for resource in now - before:
            owners = self._owners[key.group_id, resource]
            owners.add(key.member_id)
            if len(owners) > 1:
                self._suspects[key.group_id, resource] = position


def group_of(record: Record) -> str:
    """The id of the group that a record belongs to."""
    key = record.key
    group_id = getattr(key, "group_id", None)
    return str(key.group if group_id is None else group_id)  # type: ignore[union-attr]


def identity(record: Record) -> tuple[Any, ...]:
    """The type and the fields of a record's key: two keys are equal if these are."""
    return type(record.key), *(getattr(record.key, field.attribute) for field in record.key.FIELDS)
