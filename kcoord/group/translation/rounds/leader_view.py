"""Member metadata that a classic leader is shown: as each member would send it if it ran its target already.

It is not what the members report, so nobody has to join again before the leader computes (CM-4). A config offset above
the leader's own would make the leader refuse to compute (CM-6).
"""

from __future__ import annotations

from collections.abc import Sequence

from kcoord.assign.connect import CLASSIC_VERSION
from kcoord.assign.model import Member as AssignorMember
from kcoord.group.state.classic_workers.embedded_protocol import version
from kcoord.group.state.classic_workers.leader_picture import Picture
from kcoord.group.state.groups.connect_group import ConnectGroup, ConnectMember, Resources
from kcoord.protocol.embedded import EAGER, NAMES, WorkerAssignment, WorkerState, encode_state
from kcoord.protocol.generated.join_group_response import JoinGroupResponseMember


def list_members(
    group: ConnectGroup, leader: ConnectMember, shown: Sequence[AssignorMember]
) -> list[JoinGroupResponseMember]:
    """The members for the JoinGroup answer of the leader, with what is `shown` of them."""
    assert leader.metadata.classic is not None
    number = version(group.classic.protocol)
    highest = leader.metadata.classic.config_offset
    return [
        JoinGroupResponseMember(
            each.member_id, None, state(group.members[each.member_id], each.target, number, highest)
        )
        for each in shown
    ]


def list_slices(group: ConnectGroup, picture: Picture, offset: int) -> list[JoinGroupResponseMember]:
    """A picture as members, for the JoinGroup answer of the leader, which has read up to `offset`."""
    number = version(group.classic.protocol)
    listed = []
    for each in picture.slices:
        allocation = None
        if each.resources:
            allocation = WorkerAssignment(number, config_offset=offset, assigned=each.resources)
        metadata = encode_state(WorkerState(number, each.url, offset, allocation))
        listed.append(JoinGroupResponseMember(each.member_id, None, metadata))
    return listed


def state(member: ConnectMember, target: Resources, number: int, highest_offset: int) -> bytes:
    """The embedded metadata of one member that is to run `target`, in version `number`."""
    classic = member.metadata.classic
    offset = highest_offset if classic is None else min(classic.config_offset, highest_offset)
    allocation = None
    if target and number > EAGER:
        allocation = WorkerAssignment(number, config_offset=offset, assigned=target)
    return encode_state(WorkerState(number, member.metadata.url or "", offset, allocation))


def as_named(member: ConnectMember) -> AssignorMember:
    """The member with the names by which placement rules know it."""
    return AssignorMember(member.member_id, member.metadata.instance_id, member.metadata.url)


def assignor_input(group: ConnectGroup, member: ConnectMember, _assignor: str, target: Resources) -> AssignorMember:
    """A classic worker with its embedded metadata, for an assignor that reads version -1."""
    return AssignorMember(
        member.member_id, None, member.metadata.url, target, CLASSIC_VERSION, metadata=_own_state(group, member)
    )


def _own_state(group: ConnectGroup, member: ConnectMember) -> bytes:
    classic = member.metadata.classic
    assert classic is not None
    target = group.target_of(member) or frozenset()
    return state(member, target, version(best(classic.protocols)), classic.config_offset)


def best(protocols: Sequence[str]) -> str:
    """The newest of the embedded protocols that a worker speaks."""
    return max(protocols, key=NAMES.index)
