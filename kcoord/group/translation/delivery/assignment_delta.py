"""The increment: what a classic worker is to start and to stop, as the difference between its target and what it holds.

Revoked is what it holds and its target lacks. Assigned is what its target has beyond that, less what any other member
may still be running (CM-4, CG-2). Under `default` the worker holds nothing when it joins, so the difference is the
whole target.
"""

from __future__ import annotations

from kcoord.group.state.classic_workers.embedded_protocol import DEFAULT
from kcoord.group.state.groups.connect_group import ConnectGroup, ConnectMember, Resources
from kcoord.group.state.shard_state import ShardState
from kcoord.group.translation.rounds.leader import is_ready
from kcoord.protocol.frozen_class import frozen

NOTHING: Resources = frozenset()


@frozen(slots=True)
class AssignmentDelta:
    """The difference between what a worker holds and its target, as far as that is free."""

    assigned: Resources = NOTHING
    revoked: Resources = NOTHING
    awaited: Resources = NOTHING
    """What its target has, and another member may still be running."""


NO_INCREMENT = AssignmentDelta()


def disarms(group: ConnectGroup, member: ConnectMember) -> bool:
    """Whether the worker must stop everything before it may be told the group's protocol. In its first round under
    `default` Connect 4.3 does not stop what the answer lacks: it would run on what it holds (from Connect's source).
    """
    return (
        group.classic.protocol == DEFAULT
        and bool(member.current)
        and set(group.classic.members[member.member_id]) > {DEFAULT}
    )


def increment(group: ConnectGroup, member: ConnectMember) -> AssignmentDelta:
    """The present increment of a worker."""
    told = member.classic
    if told is not None and told.protocol != DEFAULT and disarms(group, member):
        return AssignmentDelta(revoked=member.current)
    target = group.target_of(member) or NOTHING
    held = member.current - member.doubtful
    if held == target and held == member.current:
        return NO_INCREMENT
    missing = target - held
    free = frozenset([each for each in missing if each not in group.owners])
    return AssignmentDelta(free, member.current - (held & target), missing - free)


def to_give(state: ShardState, group: ConnectGroup, member: ConnectMember, whole: AssignmentDelta) -> Resources:
    """The part of `whole.assigned` that the worker may be told now: nothing new while the leader is not ready, except
    to the leader itself (CM-23).
    """
    if member.member_id == group.computed_by or is_ready(state, group):
        return whole.assigned
    return NOTHING
