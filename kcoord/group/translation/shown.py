"""What is the computing worker shown of the others? Metadata as each would send it if it ran its target by now.

Not what they report: so nobody has to come again before somebody computes (legacy rule 4). A config offset above the
leader's own would make it refuse to compute (legacy rule 6).
"""

from __future__ import annotations

from kcoord.group.connect.group import ConnectGroup, Member
from kcoord.group.translation.spoken import version
from kcoord.protocol.embedded import EAGER, NAMES, WorkerAssignment, WorkerState, encode_state
from kcoord.protocol.generated.join_group_response import JoinGroupResponseMember


def list_members(group: ConnectGroup, leader: Member) -> list[JoinGroupResponseMember]:
    """All who take part, for the JoinGroup answer of the one that leads."""
    assert leader.said.legacy is not None
    number = version(group.legacy.protocol)
    highest = leader.said.legacy.config_offset
    return [
        JoinGroupResponseMember(member.member_id, None, state(group, member, number, highest))
        for member in group.participants()
    ]


def state(group: ConnectGroup, member: Member, number: int, highest_offset: int) -> bytes:
    """The embedded metadata of one member, in version `number`."""
    legacy = member.said.legacy
    offset = highest_offset if legacy is None else min(legacy.config_offset, highest_offset)
    target = group.target_of(member)
    allocation = None
    if target and number > EAGER:
        allocation = WorkerAssignment(number, config_offset=offset, assigned=target)
    return encode_state(WorkerState(number, member.said.url or "", offset, allocation))


def own_state(group: ConnectGroup, member: Member) -> bytes:
    """The embedded metadata of a legacy worker, for an assignor that reads version -1."""
    legacy = member.said.legacy
    assert legacy is not None
    return state(group, member, version(best(legacy.protocols)), legacy.config_offset)


def best(protocols: list[str]) -> str:
    """The newest of the embedded protocols that a worker speaks."""
    return max(protocols, key=NAMES.index)
