"""What is a legacy worker to start and to stop? Its target, as the difference that its assignment carries.

Revoked is what it holds and its target lacks; assigned what its target has beyond that, less what anybody else may
still be running (CM-4, CG-2). Under `default` it holds nothing when it joins, and the
difference is the whole.
"""

from __future__ import annotations

from kcoord.group.connect.group import ConnectGroup, Member, Resources
from kcoord.group.contents import Contents
from kcoord.group.translation.leader import is_ready
from kcoord.group.translation.spoken import DEFAULT
from kcoord.protocol.frozen import frozen

NOTHING: Resources = frozenset()


@frozen(slots=True)
class Increment:
    """The way from what a worker holds to its target, as far as it is free."""

    assigned: Resources = NOTHING
    revoked: Resources = NOTHING
    awaited: Resources = NOTHING
    """What its target has and somebody else may be running yet."""


NO_INCREMENT = Increment()


def disarms(group: ConnectGroup, member: Member) -> bool:
    """Whether the worker must stop everything before it may be told of the group's protocol. In its first round under
    `default` Connect 4.3 stops nothing that the answer lacks: what it holds it would run on (seen in its sources).
    """
    return (
        group.legacy.protocol == DEFAULT
        and bool(member.current)
        and set(group.legacy.members[member.member_id]) > {DEFAULT}
    )


def increment(group: ConnectGroup, member: Member) -> Increment:
    """As of now."""
    told = member.legacy
    if told is not None and told.protocol != DEFAULT and disarms(group, member):
        return Increment(revoked=member.current)
    target = group.target_of(member) or NOTHING
    held = member.current - member.doubtful
    if held == target and held == member.current:
        return NO_INCREMENT
    missing = target - held
    free = frozenset([each for each in missing if each not in group.owners])
    return Increment(free, member.current - (held & target), missing - free)


def to_give(contents: Contents, group: ConnectGroup, member: Member, whole: Increment) -> Resources:
    """What of `whole.assigned` may be told now: nothing new while the leader is not ready, but to the leader itself
    (CM-23).
    """
    if member.member_id == group.computed_by or is_ready(contents, group):
        return whole.assigned
    return NOTHING
