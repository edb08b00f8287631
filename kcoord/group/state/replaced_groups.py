"""Replaced groups: a group without members is deleted when a group of another kind takes its name. Offsets stay."""

from __future__ import annotations

from collections.abc import Iterable

from kcoord.group.state.records import connect_records, consumer_records
from kcoord.group.state.records.classic_records import tombstone
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.transition import Transition
from kcoord.protocol.records import Record


def replace_by_connect(transition: Transition, group_id: str) -> None:
    """Delete the empty group of another kind whose name a connect group takes."""
    replace_classic(transition, group_id)
    if group_id in transition.state.consumer:
        _write(transition, consumer_records.deletion(transition.state.consumer[group_id]))


def replace_by_consumers(transition: Transition, group_id: str) -> None:
    """Delete the empty group of another kind whose name a consumer group takes."""
    replace_classic(transition, group_id)
    if group_id in transition.state.connect:
        _write(transition, connect_records.deletion(transition.state.connect[group_id]))


def replace_classic(transition: Transition, group_id: str) -> None:
    """Delete the classic group whose name another group takes."""
    if group_id in transition.state.groups:
        transition.write(tombstone(group_id))


def make_room(transition: Transition, group_id: str) -> bool:
    """Delete a group without a barrier that has no members, so that a classic group can take its name. False if it has
    members.
    """
    group = transition.state.modern_group(group_id)
    if group is None:
        return True
    if group.members:
        return False
    _write(transition, deletion_of(transition.state, group_id))
    return True


def _write(transition: Transition, records: Iterable[Record]) -> None:
    for record in records:
        transition.write(record)


def deletion_of(state: ShardState, group_id: str) -> list[Record]:
    """The records that delete the group of that name, whatever its kind. Offsets have tombstones of their own."""
    if group_id in state.connect:
        return connect_records.deletion(state.connect[group_id])
    if group_id in state.consumer:
        return consumer_records.deletion(state.consumer[group_id])
    return [tombstone(group_id)]
