"""A connect group of classic workers, described as a classic group.

It looks like the group that its workers take it for: of type `connect`, with the metadata that each worker would send
if it ran its target, and the target as a whole assignment. It is Stable when none of them has to join or fetch
anything.
"""

from __future__ import annotations

from kcoord.group.state.classic_workers.embedded_protocol import version
from kcoord.group.state.classic_workers.phases import Phase
from kcoord.group.state.groups.classic_states import ClassicState
from kcoord.group.state.groups.connect_group import PROTOCOL_TYPE, ConnectGroup, ConnectMember
from kcoord.group.translation.rounds.leader_view import state
from kcoord.protocol.embedded import WorkerAssignment, encode_assignment
from kcoord.protocol.generated.describe_groups_response import DescribedGroup, DescribedGroupMember

STATES = {
    Phase.STABLE: ClassicState.STABLE,
    Phase.PREPARING: ClassicState.PREPARING,
    Phase.COMPLETING: ClassicState.COMPLETING,
}


def classic_state(group: ConnectGroup) -> ClassicState:
    """The state of the worker that is furthest from its assignment."""
    phases = {each.classic.phase for each in group.participants() if each.classic is not None}
    return next((STATES[each] for each in (Phase.PREPARING, Phase.COMPLETING) if each in phases), ClassicState.STABLE)


def describe_as_classic(group: ConnectGroup) -> DescribedGroup:
    """The group as DescribeGroups answers it."""
    return DescribedGroup(
        group_id=group.group_id,
        group_state=classic_state(group).label,
        protocol_type=PROTOCOL_TYPE,
        protocol_data=group.classic.protocol or "",
        members=[_member(group, each) for each in group.participants()],
    )


def _member(group: ConnectGroup, member: ConnectMember) -> DescribedGroupMember:
    metadata, target, number = member.metadata, group.target_of(member) or frozenset(), version(group.classic.protocol)
    offset = -1 if metadata.classic is None else metadata.classic.config_offset
    assignment = WorkerAssignment(
        number, 0, group.computed_by or "", group.computed_by_url or "", group.computed_offset, assigned=target
    )
    return DescribedGroupMember(
        member_id=member.member_id,
        group_instance_id=None,
        client_id=metadata.client_id,
        client_host=metadata.client_host,
        member_metadata=state(member, target, number, offset),
        member_assignment=encode_assignment(assignment),
    )
