"""Heartbeat (12) of a classic consumer in a consumer group: it is alive, and learns whether it must join again."""

from __future__ import annotations

from kcoord.group.classic_consumers.member_checks import check_generation, member_of, note_alive
from kcoord.group.classic_consumers.rejoin import call, follow_quietly, has_to_rejoin
from kcoord.group.consumer.settle import bring_to_rest, settle
from kcoord.group.consumer.topic_facts import learn_seen
from kcoord.group.modern.refusal import Refused
from kcoord.group.state.groups.consumer_group import ConsumerGroup
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import HeartbeatRequest, HeartbeatResponse


def heartbeat_consumer(
    transition: Transition, group: ConsumerGroup, request: HeartbeatRequest, context: RequestContext, token: Token
) -> None:
    """Handle a Heartbeat."""
    try:
        error = _heartbeat(transition, group, request, context)
    except Refused as refused:
        error = refused.error
    transition.answer(token, HeartbeatResponse(error_code=error))
    if transition.step.records:
        settle(transition, group)


def _heartbeat(
    transition: Transition, group: ConsumerGroup, request: HeartbeatRequest, context: RequestContext
) -> ErrorCode:
    member = member_of(group, request.member_id, request.group_instance_id)
    check_generation(group, member, request.generation_id)
    note_alive(group, member, request.generation_id, context, transition.now_ms)
    learn_seen(transition, group, member, context)
    if transition.step.records:
        bring_to_rest(transition, group)
    if has_to_rejoin(group, member):
        call(transition, group, member)
        return ErrorCode.REBALANCE_IN_PROGRESS
    follow_quietly(transition, group, member)
    return ErrorCode.NONE
