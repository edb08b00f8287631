"""SyncGroup (14): the leader brings the assignments of the generation, every member fetches its own.

v0-v2 are alike. v3 adds group.instance.id. v4 is flexible. v5 adds protocol type and name, which must be set and must
be the group's.
"""

from __future__ import annotations

from kcoord.group.conversion.follow import follow_when_stable
from kcoord.group.generic.answers import sync_error
from kcoord.group.generic.calls import Sync
from kcoord.group.generic.group import GenericGroup
from kcoord.group.generic.table import SYNC, SYNC_LEADER
from kcoord.group.generic.who import check_member
from kcoord.group.step import RequestContext, Token
from kcoord.group.translation.sync_group import sync_translated
from kcoord.group.turn import Turn
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import SyncGroupRequest

NAMES_PROTOCOL_VERSION = 5


def sync_group(turn: Turn, request: SyncGroupRequest, context: RequestContext, token: Token) -> None:
    """Handle a SyncGroup; it may stay parked until the leader's SyncGroup has come."""
    connect = turn.contents.connect.get(request.group_id)
    if connect is not None:
        sync_translated(turn, connect, request, context, token)
        return
    group = turn.contents.groups.get(request.group_id) or GenericGroup(request.group_id)
    error = _check(group, request, context.api_version)
    if error:
        sync_error(turn, token, error)
        return
    leads = group.leader_id == request.member_id
    assignments = {each.member_id: each.assignment for each in request.assignments} if leads else {}
    event = SYNC_LEADER if leads else SYNC
    member = group.members[request.member_id]
    event[group.state](turn, group, Sync(token, member, assignments))
    member.rejoined = member.rejoined and member.comes_by_older(context)
    follow_when_stable(turn, group)


def _check(group: GenericGroup, request: SyncGroupRequest, api_version: int) -> ErrorCode:
    named = (request.protocol_type, request.protocol_name)
    if api_version >= NAMES_PROTOCOL_VERSION and None in named:
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if not request.group_id:
        return ErrorCode.INVALID_GROUP_ID
    error = check_member(group, request.member_id, request.group_instance_id)
    if error:
        return error
    if not group.may_know(request.generation_id):
        return ErrorCode.ILLEGAL_GENERATION
    if group.was_converted:
        return ErrorCode.REBALANCE_IN_PROGRESS
    ours = (group.protocol_type, group.protocol_name)
    agree = all(given is None or given == our for given, our in zip(named, ours, strict=True))
    return ErrorCode.NONE if agree else ErrorCode.INCONSISTENT_GROUP_PROTOCOL
