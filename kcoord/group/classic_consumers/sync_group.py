"""SyncGroup (14) of a classic consumer in a consumer group: it fetches what it is assigned."""

from __future__ import annotations

from kcoord.group.classic.answers import sync_error
from kcoord.group.classic_consumers.answers import answer_sync
from kcoord.group.classic_consumers.member_checks import (
    check_generation,
    check_protocol,
    member_of,
    note_alive,
)
from kcoord.group.classic_consumers.rejoin import call, has_to_rejoin
from kcoord.group.consumer.settle import settle
from kcoord.group.modern.refusal import Refused
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.consumer_group import ConsumerGroup, Stage
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import SyncGroupRequest


def sync_consumer(
    transition: Transition, group: ConsumerGroup, request: SyncGroupRequest, context: RequestContext, token: Token
) -> None:
    """Handle a SyncGroup. Its answer may wait."""
    try:
        member = member_of(group, request.member_id, request.group_instance_id)
        check_generation(group, member, request.generation_id)
        check_protocol(member, request.protocol_type, request.protocol_name)
        note_alive(transition, group, member, request.generation_id, context)
    except Refused as refused:
        sync_error(transition, token, refused.error)
        return
    is_behind = member.stage is not Stage.UNREVOKED and member.epoch != group.assignment_epoch
    if is_behind and has_to_rejoin(group, member):
        call(transition, group, member)
        sync_error(transition, token, ErrorCode.REBALANCE_IN_PROGRESS)
        return
    member.call_due_ms = NEVER_MS
    answer_sync(transition, group, member, context, token)
    if transition.step.records:
        settle(transition, group)
