"""Heartbeat (12) of a classic consumer in a consumer group: it is alive, and learns whether it must join again."""

from __future__ import annotations

from kcoord.group.classic_consumers.answers import answer_heartbeat
from kcoord.group.classic_consumers.member_checks import check_generation, member_of, note_alive
from kcoord.group.consumer.settle import bring_to_rest, settle
from kcoord.group.consumer.topic_facts import learn_seen
from kcoord.group.modern.refusal import Refused
from kcoord.group.state.groups.consumer_group import ConsumerGroup, ConsumerMember
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.protocol.messages import HeartbeatRequest, HeartbeatResponse


def heartbeat_consumer(
    transition: Transition, group: ConsumerGroup, request: HeartbeatRequest, context: RequestContext, token: Token
) -> None:
    """Handle a Heartbeat. Its answer may wait."""
    try:
        member = _live(transition, group, request, context)
    except Refused as refused:
        transition.answer(token, HeartbeatResponse(error_code=refused.error))
    else:
        answer_heartbeat(transition, group, member, context, token)
    if transition.step.records:
        settle(transition, group)


def _live(
    transition: Transition, group: ConsumerGroup, request: HeartbeatRequest, context: RequestContext
) -> ConsumerMember:
    """Note that the sender lives, and what it has brought. Raises Refused."""
    member = member_of(group, request.member_id, request.group_instance_id)
    check_generation(group, member, request.generation_id)
    note_alive(transition, group, member, request.generation_id, context)
    learn_seen(transition, group, member, context)
    if transition.step.records:
        bring_to_rest(transition, group)
    return member
