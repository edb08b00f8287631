"""JoinGroup of a member of a classic group: it joins, or joins again."""

from __future__ import annotations

from kcoord.group.classic.answers import NO_MEMBER_ID, join_error
from kcoord.group.classic.calls import Join, join_of, new_member_id
from kcoord.group.classic.joining import put_out
from kcoord.group.classic.table import (
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
from kcoord.group.classic.member_checks import check_member
from kcoord.group.state.groups.classic_group import GenericGroup
from kcoord.group.state.groups.classic_member import Member, Protocols
from kcoord.group.state.groups.classic_reasons import Reason, tell
from kcoord.group.state.groups.classic_states import State
from kcoord.group.state.groups.connect_group import PROTOCOL_TYPE
from kcoord.group.state.replaced_groups import make_room
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Turn
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import JoinGroupRequest

NEEDS_ID_VERSION = 4


def join_classic(
    turn: Turn, request: JoinGroupRequest, protocols: Protocols, context: RequestContext, token: Token
) -> None:
    """Handle the JoinGroup of a member of a classic group; it may stay parked."""
    group = turn.contents.groups.get(request.group_id) or GenericGroup(request.group_id)
    if not _has_room(group, request.member_id, turn.contents.settings.max_size):
        _turn_away(turn, group, request.member_id)
        join_error(turn, token, ErrorCode.GROUP_MAX_SIZE_REACHED, NO_MEMBER_ID)
        return
    if group.state is State.DEAD and request.member_id:
        join_error(turn, token, ErrorCode.UNKNOWN_MEMBER_ID, request.member_id)
    elif not may_join(group, request.protocol_type, protocols) or not make_room(turn, request.group_id):
        join_error(turn, token, ErrorCode.INCONSISTENT_GROUP_PROTOCOL, request.member_id)
    elif not request.member_id:
        join = join_of(request, context, token, protocols, new_member_id(turn, request, context))
        _join_unknown(turn, group, join)
        _note_connection(turn, group, join, context)
    elif _is_stale(group, request, context):
        join_error(turn, token, ErrorCode.REBALANCE_IN_PROGRESS, request.member_id)
    else:
        join = join_of(request, context, token, protocols, request.member_id)
        _join_known(turn, group, join)
        _note_connection(turn, group, join, context)


def _is_stale(group: GenericGroup, request: JoinGroupRequest, context: RequestContext) -> bool:
    """Whether a Connect worker has meanwhile joined by a newer connection. Its newest JoinGroup says what it runs, and
    a conversion of the group relies on that. (A worker has one connection; other clients may have several.)
    """
    member = group.members.get(request.member_id)
    return member is not None and group.protocol_type == PROTOCOL_TYPE and member.comes_by_older(context)


def _note_connection(turn: Turn, group: GenericGroup, join: Join, context: RequestContext) -> None:
    member = turn.contents.groups.get(group.group_id, group).members.get(join.member_id)
    if member is not None:
        member.connection, member.opened = context.connection, context.opened


def _join_unknown(turn: Turn, group: GenericGroup, join: Join) -> None:
    """The request has no member id: a newcomer, or a static member that comes back."""
    if join.instance_id is None:
        event = NEEDS_ID if join.api_version >= NEEDS_ID_VERSION else NEWCOMER
        event[group.state](turn, group, join)
        return
    elder = group.members.get(group.static_ids.get(join.instance_id, NO_MEMBER_ID))
    if elder is None:
        NEWCOMER[group.state](turn, group, join)
    else:
        STATIC_RETURN[group.state](turn, group, elder, join)


def _join_known(turn: Turn, group: GenericGroup, join: Join) -> None:
    """The request has a member id: a newcomer that was given one, or a member."""
    if join.member_id in group.pending:
        if join.instance_id is None:
            NEWCOMER[group.state](turn, group, join)
        else:  # only dynamic members are given ids
            join_error(turn, join.token, ErrorCode.UNKNOWN_SERVER_ERROR, join.member_id)
        return
    error = check_member(group, join.member_id, join.instance_id)
    if error:
        join_error(turn, join.token, error, join.member_id)
        return
    member = group.members[join.member_id]
    _rejoin_event(group, member, join.protocols)[group.state](turn, group, member, join)


def _rejoin_event(group: GenericGroup, member: Member, protocols: Protocols) -> Row[OnRejoin]:
    if not member.offers_the_same(protocols):
        return REJOIN_CHANGED
    may_lead = group.leader_id == member.member_id or group.leader_is_unknown
    return REJOIN_LEADER if may_lead else REJOIN_SAME


def _has_room(group: GenericGroup, member_id: str, max_size: int) -> bool:
    """Whether the group has room for the sender. While members are joining, only those that have joined count. So in a
    group that is too large the last ones to join are refused.
    """
    member = group.members.get(member_id)
    if group.state is State.PREPARING:
        return (member is not None and member.parked_join is not None) or group.parked_joins < max_size
    return member is not None or len(group.members) < max_size


def _turn_away(turn: Turn, group: GenericGroup, member_id: str) -> None:
    """The sender finds no room: it is removed if it was a member, and is not waited for."""
    if group.pending.pop(member_id, None) is not None:
        PENDING_GONE[group.state](turn, group)
    elif member_id in group.members:
        put_out(turn, group, group.members[member_id])
        GONE[group.state](turn, group, tell(Reason.OVER_MAX_SIZE, [member_id]))
