"""JoinGroup (11): a member joins, or joins again.

v0 has no rebalance timeout: the session timeout is used. v1 adds the rebalance timeout. v2 and v3 are as v1. v4: a
newcomer must join twice, the second time with the member id that it was given (KIP-394). v5 adds group.instance.id
(KIP-345). v6 is flexible. v7 adds the protocol type to the answer, v8 a reason (KIP-800), v9 SkipAssignment (KIP-814).
"""

from __future__ import annotations

from sys import intern

from kcoord.group.connect.found import make_room
from kcoord.group.connect.group import PROTOCOL_TYPE
from kcoord.group.generic.answers import NO_MEMBER_ID, join_error
from kcoord.group.generic.calls import Join
from kcoord.group.generic.group import GenericGroup
from kcoord.group.generic.joining import put_out
from kcoord.group.generic.member import Member, Protocols
from kcoord.group.generic.reasons import Reason, tell
from kcoord.group.generic.states import State
from kcoord.group.generic.table import (
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
from kcoord.group.generic.voting import may_join
from kcoord.group.generic.who import check_member
from kcoord.group.settings import GroupSettings
from kcoord.group.step import RequestContext, Token
from kcoord.group.translation.entry import group_to_join_translated
from kcoord.group.translation.join_group import join_translated
from kcoord.group.turn import Turn
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import JoinGroupRequest

NEEDS_ID_VERSION = 4
REBALANCE_TIMEOUT_VERSION = 1
PREFIX_CHARS = 255
"""How many characters of a client's or instance's id go into a member id, which must stay a string that can be sent."""


def join_group(turn: Turn, request: JoinGroupRequest, context: RequestContext, token: Token) -> None:
    """Handle a JoinGroup; it may stay parked."""
    error = _check_request(request, turn.contents.settings)
    if error:
        join_error(turn, token, error, request.member_id)
        return
    protocols = _protocols_of(request)
    connect = group_to_join_translated(turn, request.group_id, request.protocol_type, protocols)
    if connect is not None:
        member_id = request.member_id or _new_id(turn, request, context)
        join = _join_of(request, context, token, protocols, member_id)
        join_translated(turn, connect, join, context, is_new=not request.member_id)
        return
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
        join = _join_of(request, context, token, protocols, _new_id(turn, request, context))
        _join_unknown(turn, group, join)
        _note_connection(turn, group, join, context)
    elif _is_stale(group, request, context):
        join_error(turn, token, ErrorCode.REBALANCE_IN_PROGRESS, request.member_id)
    else:
        join = _join_of(request, context, token, protocols, request.member_id)
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


def _check_request(request: JoinGroupRequest, settings: GroupSettings) -> ErrorCode:
    if not request.group_id:
        return ErrorCode.INVALID_GROUP_ID
    if not settings.min_session_timeout_ms <= request.session_timeout_ms <= settings.max_session_timeout_ms:
        return ErrorCode.INVALID_SESSION_TIMEOUT
    return ErrorCode.NONE


def _protocols_of(request: JoinGroupRequest) -> Protocols:
    protocols: dict[str, bytes] = {}
    for protocol in request.protocols:
        protocols.setdefault(intern(protocol.name), protocol.metadata)
    return tuple(protocols.items())


def _new_id(turn: Turn, request: JoinGroupRequest, context: RequestContext) -> str:
    prefix = context.client_id if request.group_instance_id is None else request.group_instance_id
    return f"{prefix[:PREFIX_CHARS]}-{turn.contents.ids()}"


def _join_of(
    request: JoinGroupRequest, context: RequestContext, token: Token, protocols: Protocols, member_id: str
) -> Join:
    has_timeout = context.api_version >= REBALANCE_TIMEOUT_VERSION
    return Join(
        token=token,
        api_version=context.api_version,
        member_id=member_id,
        instance_id=request.group_instance_id,
        client_id=intern(context.client_id),
        client_host=intern(context.client_host),
        protocol_type=intern(request.protocol_type),
        protocols=protocols,
        session_timeout_ms=request.session_timeout_ms,
        rebalance_timeout_ms=request.rebalance_timeout_ms if has_timeout else request.session_timeout_ms,
        reason=request.reason,
    )


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
