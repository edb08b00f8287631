"""Heartbeat (12) of a classic consumer in a consumer group: it is alive, and learns whether it must join again.

In individual mode the answer waits until there is something to say, or until the next heartbeat comes (KG-26). Clients
send heartbeats more often than their answers wait. So a consumer can be called at any time.
"""

from __future__ import annotations

from kcoord.group.classic_consumers.individual_mode import is_individual
from kcoord.group.classic_consumers.member_checks import check_generation, member_of, note_alive
from kcoord.group.classic_consumers.rejoin import call, follow_quietly, has_to_rejoin
from kcoord.group.consumer.settle import bring_to_rest, settle
from kcoord.group.consumer.topic_facts import learn_seen
from kcoord.group.modern.held_replies import hold, take_held
from kcoord.group.modern.refusal import Refused
from kcoord.group.state.consumer_settings import INTERVALS_WAIT
from kcoord.group.state.groups.consumer_group import ConsumerGroup, ConsumerMember
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import HeartbeatRequest, HeartbeatResponse

LONGEST_WAIT_MS = 10_000
"""How long an answer waits at most, unless `consumer.heartbeat.wait.ms` is set. The time between two heartbeats is
shorter: 3 s with most clients.
"""
PART_OF_SESSION = 3
"""An answer waits for no longer than that part of the member's session."""


def heartbeat_consumer(
    transition: Transition, group: ConsumerGroup, request: HeartbeatRequest, context: RequestContext, token: Token
) -> None:
    """Handle a Heartbeat. Its answer may wait."""
    try:
        member = _live(transition, group, request, context)
    except Refused as refused:
        transition.answer(token, HeartbeatResponse(error_code=refused.error))
    else:
        flush(transition, group, member)
        wait_ms = _wait_ms(transition, group, member)
        if wait_ms > 0 and not has_to_rejoin(group, member):
            hold(transition, group, member, context.connection, token, wait_ms)
        else:
            _answer(transition, group, member, token)
    if transition.step.records:
        settle(transition, group)


def _live(
    transition: Transition, group: ConsumerGroup, request: HeartbeatRequest, context: RequestContext
) -> ConsumerMember:
    """Note that the sender lives, and what it has brought. Raises Refused."""
    member = member_of(group, request.member_id, request.group_instance_id)
    check_generation(group, member, request.generation_id)
    note_alive(group, member, request.generation_id, context, transition.now_ms)
    learn_seen(transition, group, member, context)
    if transition.step.records:
        bring_to_rest(transition, group)
    return member


def _wait_ms(transition: Transition, group: ConsumerGroup, member: ConsumerMember) -> int:
    """How long an answer that says nothing new may wait; 0: not at all."""
    set_ms = transition.state.consumer_settings(group.group_id).heartbeat_wait_ms
    if not is_individual(transition.state, group.group_id):
        return 0
    longest_ms = LONGEST_WAIT_MS if set_ms == INTERVALS_WAIT else set_ms
    return min(longest_ms, member.session_timeout_ms // PART_OF_SESSION)


def flush(transition: Transition, group: ConsumerGroup, member: ConsumerMember) -> None:
    """Send the member's held answer as it is now."""
    token = take_held(transition.state, member)
    if token is not None:
        _answer(transition, group, member, token)


def _answer(transition: Transition, group: ConsumerGroup, member: ConsumerMember, token: Token) -> None:
    if has_to_rejoin(group, member):
        call(transition, group, member)
        error = ErrorCode.REBALANCE_IN_PROGRESS
    else:
        follow_quietly(transition, group, member)
        error = ErrorCode.NONE
    transition.answer(token, HeartbeatResponse(error_code=error))
