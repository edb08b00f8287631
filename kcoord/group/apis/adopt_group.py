"""AdoptGroup (kcoord's own API): kcoord takes a running classic group over from the cluster.

The members keep their ids, generation and assignments, as if they had just been loaded from the log (AD-12). The
gateway sends this request once it holds the group's calls; no client can send it (docs/gateway.md). The cluster does
not tell everything:

1. The leader. If nobody has seen who leads, any member that joins again opens a rebalance (AD-13).
2. The members' other protocols. They may come with more protocols than the one that the group speaks.
"""

from __future__ import annotations

from collections import Counter

from kcoord.group.classic.sessions import open_sessions
from kcoord.group.state.groups.classic_reasons import Reason, tell
from kcoord.group.state.groups.classic_states import ClassicState
from kcoord.group.state.replaced_groups import make_room, replace_classic
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import AdoptGroupRequest, AdoptGroupResponse
from kcoord.protocol.records import GroupMetadataKey, GroupMetadataValue, MemberMetadata, Record

__all__ = ["adopt_group"]


def adopt_group(transition: Transition, request: AdoptGroupRequest, context: RequestContext, token: Token) -> None:
    """Handle an AdoptGroup: take over all of the members, or none."""
    refusal = _refusal(transition, request)
    if refusal is not None:
        transition.answer(token, refusal)
        return
    replace_classic(transition, request.group_id)
    transition.write(Record(GroupMetadataKey(request.group_id), _record(request, transition.wall_ms)))
    open_sessions(transition, transition.state.groups[request.group_id])
    transition.answer(token, AdoptGroupResponse())


def _refusal(transition: Transition, request: AdoptGroupRequest) -> AdoptGroupResponse | None:
    if not request.group_id:
        return AdoptGroupResponse(ErrorCode.INVALID_GROUP_ID, "a group without an id cannot be adopted")
    twice = [member_id for member_id, count in Counter(each.member_id for each in request.members).items() if count > 1]
    if not request.members or twice or request.generation_id < 0 or not request.protocol_type:
        return AdoptGroupResponse(ErrorCode.INVALID_REQUEST, "no members, one of them twice, or no generation or type")
    most = transition.state.settings.max_size
    if len(request.members) > most:
        message = f"{len(request.members)} members are more than group.max.size allows ({most})"
        return AdoptGroupResponse(ErrorCode.GROUP_MAX_SIZE_REACHED, message)
    group = transition.state.groups.get(request.group_id)
    if (group is not None and (group.members or group.pending)) or not make_room(transition, request.group_id):
        return AdoptGroupResponse(ErrorCode.NON_EMPTY_GROUP, "kcoord has members in this group already")
    return None


def _record(request: AdoptGroupRequest, wall_ms: int) -> GroupMetadataValue:
    """The group's record: a stable generation in which every member has its assignment."""
    return GroupMetadataValue(
        protocol_type=request.protocol_type,
        generation=request.generation_id,
        protocol=request.protocol_name,
        leader=request.leader,
        current_state_timestamp=wall_ms,
        members=[
            MemberMetadata(
                each.member_id,
                each.group_instance_id,
                each.client_id,
                each.client_host,
                each.rebalance_timeout_ms,
                each.session_timeout_ms,
                bytes(each.metadata),
                bytes(each.assignment),
            )
            for each in request.members
        ],
        state=ClassicState.STABLE.label,
        joined_members=[each.member_id for each in request.members],
        synced_members=[each.member_id for each in request.members],
        reason=tell(Reason.ADOPTED, [each.member_id for each in request.members]),
        reason_timestamp=wall_ms,
    )
