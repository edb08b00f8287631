"""DescribeGroups (15): the state of groups now.

v0 to v2 differ only in the throttle time. v3: authorized operations, which the server or the gateway fills in. v4:
group.instance.id. v5: flexible. v6: a group that does not exist or is of another type is an error with a text
(KIP-1043); in earlier versions it is a group in state Dead. A group in quarantine has a text that says so, and no error
code.

A connect group that has only classic members is described as they see it: as a classic group.
"""

from __future__ import annotations

import attrs

from kcoord.group.conversion.kind_policy import is_all_classic
from kcoord.group.state.bounded_text import bounded_name
from kcoord.group.state.groups.classic_group import ClassicGroup
from kcoord.group.state.groups.classic_states import ClassicState
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.group.translation.classic_description import describe_as_classic
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.describe_groups_response import DescribedGroup, DescribedGroupMember
from kcoord.protocol.messages import DescribeGroupsRequest, DescribeGroupsResponse

NOT_FOUND_VERSION = 6


def describe_groups(
    transition: Transition, request: DescribeGroupsRequest, context: RequestContext, token: Token
) -> None:
    """Handle a DescribeGroups for groups of this shard."""
    described = [_describe(transition.state, group_id, context) for group_id in request.groups]
    transition.answer(token, DescribeGroupsResponse(groups=described))


def _describe(state: ShardState, group_id: str, context: RequestContext) -> DescribedGroup:
    group = state.groups.get(group_id)
    known = state.quarantine.get(group_id)
    note = None if known is None else known.text()
    if group is not None:
        return attrs.evolve(_describe_classic(group), error_message=note)
    connect = state.connect.get(group_id)
    if connect is not None and is_all_classic(connect):
        return attrs.evolve(describe_as_classic(connect), error_message=note)
    described = DescribedGroup(group_id=group_id, group_state=ClassicState.DEAD.label)
    if context.api_version >= NOT_FOUND_VERSION:
        described.error_code = ErrorCode.GROUP_ID_NOT_FOUND
        described.error_message = f"Group {bounded_name(group_id)} {_why_not(state, group_id)}."
    return described


def _why_not(state: ShardState, group_id: str) -> str:
    if group_id in state.connect:
        return "is a connect group: describe it as one"
    return "is a consumer group: describe it as one" if group_id in state.consumer else "not found"


def _describe_classic(group: ClassicGroup) -> DescribedGroup:
    """The description of a classic group. Only a stable group shows its protocol and the members' metadata, because
    otherwise the next generation may have others.
    """
    protocol = group.protocol_name or "" if group.state is ClassicState.STABLE else ""
    members = [
        DescribedGroupMember(
            member_id=member.member_id,
            group_instance_id=member.instance_id,
            client_id=member.client_id,
            client_host=member.client_host,
            member_metadata=member.metadata(protocol) if group.state is ClassicState.STABLE else b"",
            member_assignment=member.assignment,
        )
        for member in group.members.values()
    ]
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state.label,
        protocol_type=group.protocol_type,
        protocol_data=protocol,
        members=members,
    )


def refuse_describe_groups(request: DescribeGroupsRequest, error: ErrorCode) -> DescribeGroupsResponse:
    """The answer with the same error for each group. Its state is empty, because in Apache Kafka an answer with an
    error has the state Dead only if the group does not exist.
    """
    return DescribeGroupsResponse(groups=[DescribedGroup(group_id=group, error_code=error) for group in request.groups])
