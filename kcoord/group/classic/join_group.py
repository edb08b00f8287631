"""JoinGroup of a member of a classic group: it joins, or joins again."""

from __future__ import annotations

from kcoord.group.classic.answers import NO_MEMBER_ID, join_error
from kcoord.group.classic.join_and_sync_calls import Join, join_of, new_member_id
from kcoord.group.classic.join_phase import evict
from kcoord.group.classic.member_checks import check_member
from kcoord.group.classic.state_table import (
    GONE,
    NEEDS_ID,
    NEWCOMER,
    PENDING_GONE,
    REJOIN_CHANGED,
    REJOIN_LEADER,
    REJOIN_SAME,
    STATIC_RETURN,
    OnRejoin,
    Row,
)
from kcoord.group.classic.voting import may_join
from kcoord.group.state.groups.classic_group import ClassicGroup
from kcoord.group.state.groups.classic_member import ClassicMember, Protocols
from kcoord.group.state.groups.classic_reasons import Reason, tell
from kcoord.group.state.groups.classic_states import ClassicState
from kcoord.group.state.groups.connect_group import PROTOCOL_TYPE
from kcoord.group.state.replaced_groups import make_room
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import JoinGroupRequest

NEEDS_ID_VERSION = 4


def join_classic(
    transition: Transition, request: JoinGroupRequest, protocols: Protocols, context: RequestContext, token: Token
) -> None:
    """Handle the JoinGroup of a member of a classic group; it may stay parked."""
    group = transition.state.groups.get(request.group_id) or ClassicGroup(request.group_id)
    if not _has_room(group, request.member_id, transition.state.settings.max_size):
        _turn_away(transition, group, request.member_id)
        join_error(transition, token, ErrorCode.GROUP_MAX_SIZE_REACHED, NO_MEMBER_ID)
        return
    if group.state is ClassicState.DEAD and request.member_id:
        join_error(transition, token, ErrorCode.UNKNOWN_MEMBER_ID, request.member_id)
    elif not may_join(group, request.protocol_type, protocols) or not make_room(transition, request.group_id):
        join_error(transition, token, ErrorCode.INCONSISTENT_GROUP_PROTOCOL, request.member_id)
    elif not request.member_id:
        join = join_of(request, context, token, protocols, new_member_id(transition, request, context))
        _join_unknown(transition, group, join)
        _note_connection(transition, group, join, context)
    elif _is_stale(group, request, context):
        join_error(transition, token, ErrorCode.REBALANCE_IN_PROGRESS, request.member_id)
    else:
        join = join_of(request, context, token, protocols, request.member_id)
        _join_known(transition, group, join)
        _note_connection(transition, group, join, context)


def _is_stale(group: ClassicGroup, request: JoinGroupRequest, context: RequestContext) -> bool:
    """Whether a Connect worker has meanwhile joined by a newer connection. Its newest JoinGroup says what it runs, and
    a conversion of the group relies on that. (A worker has one connection; other clients may have several.)
    """
    member = group.members.get(request.member_id)
    return member is not None and group.protocol_type == PROTOCOL_TYPE and member.comes_by_older(context)


def _note_connection(transition: Transition, group: ClassicGroup, join: Join, context: RequestContext) -> None:
    member = transition.state.groups.get(group.group_id, group).members.get(join.member_id)
    if member is not None:
        member.connection, member.opened = context.connection, context.opened


def _join_unknown(transition: Transition, group: ClassicGroup, join: Join) -> None:
    """The request has no member id: a newcomer, or a static member that comes back."""
    if join.instance_id is None:
        event = NEEDS_ID if join.api_version >= NEEDS_ID_VERSION else NEWCOMER
        event[group.state](transition, group, join)
        return
    predecessor = group.members.get(group.static_ids.get(join.instance_id, NO_MEMBER_ID))
    if predecessor is None:
        NEWCOMER[group.state](transition, group, join)
    else:
        STATIC_RETURN[group.state](transition, group, predecessor, join)


def _join_known(transition: Transition, group: ClassicGroup, join: Join) -> None:
    """The request has a member id: a newcomer that was given one, or a member."""
    if join.member_id in group.pending:
        if join.instance_id is None:
            NEWCOMER[group.state](transition, group, join)
        else:  # only dynamic members are given ids
            join_error(transition, join.token, ErrorCode.UNKNOWN_SERVER_ERROR, join.member_id)
        return
    error = check_member(group, join.member_id, join.instance_id)
    if error:
        join_error(transition, join.token, error, join.member_id)
        return
    member = group.members[join.member_id]
    _rejoin_event(group, member, join.protocols)[group.state](transition, group, member, join)


def _rejoin_event(group: ClassicGroup, member: ClassicMember, protocols: Protocols) -> Row[OnRejoin]:
    if not member.offers_the_same(protocols):
        return REJOIN_CHANGED
    may_lead = group.leader_id == member.member_id or group.leader_is_unknown
    return REJOIN_LEADER if may_lead else REJOIN_SAME


def _has_room(group: ClassicGroup, member_id: str, max_size: int) -> bool:
    """Whether the group has room for the sender. While members are joining, only those that have joined count. So in a
    group that is too large the last ones to join are refused.
    """
    member = group.members.get(member_id)
    if group.state is ClassicState.PREPARING:
        return (member is not None and member.parked_join is not None) or group.parked_joins < max_size
    return member is not None or len(group.members) < max_size


def _turn_away(transition: Transition, group: ClassicGroup, member_id: str) -> None:
    """The sender finds no room: it is removed if it was a member, and is not waited for."""
    if group.pending.pop(member_id, None) is not None:
        PENDING_GONE[group.state](transition, group)
    elif member_id in group.members:
        evict(transition, group, group.members[member_id])
        GONE[group.state](transition, group, tell(Reason.OVER_MAX_SIZE, [member_id]))
