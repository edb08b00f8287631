"""SyncGroup of a member of a classic group."""

from __future__ import annotations

from kcoord.group.classic.answers import sync_error
from kcoord.group.classic.join_and_sync_calls import Sync
from kcoord.group.classic.member_checks import check_member
from kcoord.group.classic.state_table import SYNC, SYNC_LEADER
from kcoord.group.state.groups.classic_group import ClassicGroup
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import SyncGroupRequest

NAMES_PROTOCOL_VERSION = 5


def sync_classic(
    transition: Transition, group: ClassicGroup, request: SyncGroupRequest, context: RequestContext, token: Token
) -> bool:
    """Handle a SyncGroup; it may stay parked until the leader's SyncGroup has come. False: it was refused."""
    error = _check(group, request, context.api_version)
    if error:
        sync_error(transition, token, error)
        return False
    leads = group.leader_id == request.member_id
    assignments = {each.member_id: each.assignment for each in request.assignments} if leads else {}
    event = SYNC_LEADER if leads else SYNC
    member = group.members[request.member_id]
    member.last_seen_ms = transition.now_ms
    event[group.state](transition, group, Sync(token, member, assignments))
    member.rejoined = member.rejoined and member.comes_by_older(context)
    return True


def _check(group: ClassicGroup, request: SyncGroupRequest, api_version: int) -> ErrorCode:
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
