"""The answers to Heartbeat and SyncGroup of a classic consumer in a consumer group, at once or held.

In individual mode the answer to a heartbeat waits until there is something to say, or until the next one comes (KG-26).
Clients send heartbeats more often than their answers wait. So a consumer can be called at any time, except in the first
3 s after it has joined: it has sent no heartbeat yet.

1. If a newcomer is to have something, and others still have any of that, the answer to its SyncGroup waits for all of
   it.
2. Whoever must let go of something is called together with all others whose share changes: when each of them can be
   called, or after `GATHER_MS`. Until then it goes on consuming. If each were called by itself, what the first ones
   let go of would be nobody's until the last one has come.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcoord.group.classic.answers import sync_error
from kcoord.group.classic_consumers.individual_mode import is_individual
from kcoord.group.classic_consumers.member_checks import first_protocol
from kcoord.group.classic_consumers.member_metadata import protocols_of
from kcoord.group.classic_consumers.rejoin import call, follow_quietly, has_to_rejoin
from kcoord.group.consumer.answers import advance, is_to_change, next_of
from kcoord.group.consumer.next_assignment import GATHER_MS
from kcoord.group.modern.held_replies import hold, take_held
from kcoord.group.state.consumer_settings import INTERVALS_WAIT
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.consumer_group import (
    PROTOCOL_TYPE,
    ConsumerGroup,
    ConsumerMember,
    Partitions,
    Stage,
    by_topic,
)
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.protocol.consumer_embedded import encode_assignment
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import HeartbeatResponse, SyncGroupResponse

LONGEST_WAIT_MS = 10_000
"""How long an answer waits at most, unless `consumer.heartbeat.wait.ms` is set. The time between two heartbeats is
shorter: 3 s with most clients.
"""
PART_OF_SESSION = 3
"""An answer waits for no longer than that part of the member's session."""
VERSION_BYTES = 2


def answer_heartbeat(
    transition: Transition, group: ConsumerGroup, member: ConsumerMember, context: RequestContext, token: Token
) -> None:
    """Answer a heartbeat, or hold its answer. The one before it waits no more."""
    flush(transition, group, member)
    wait_ms = _wait_ms(transition, group, member)
    if wait_ms <= 0:
        _tell(transition, group, member, token)
        return
    member.has_parked_sync = False
    hold(transition, group, member, context.connection, token, wait_ms)
    notify(transition, group, member)
    call_together(transition, group)


def answer_sync(
    transition: Transition, group: ConsumerGroup, member: ConsumerMember, context: RequestContext, token: Token
) -> None:
    """Answer a SyncGroup that came in time, or hold its answer. Of two by one member, the first waits no more."""
    refuse(transition, group, member, ErrorCode.REBALANCE_IN_PROGRESS)
    wait_ms = _wait_ms(transition, group, member)
    if wait_ms > 0:
        _take_what_is_free(transition, group, member)
    if wait_ms > 0 and member.stage is Stage.UNRELEASED and not member.assigned:
        member.has_parked_sync = True
        hold(transition, group, member, context.connection, token, wait_ms)
    else:
        _tell_assignment(transition, group, member, token)
    call_together(transition, group)


def _take_what_is_free(transition: Transition, group: ConsumerGroup, member: ConsumerMember) -> None:
    """Give the member what has become free since it joined, as far as that is of the generation that it knows."""
    if next_of(group, member).epoch == member.generation:
        advance(transition, group, member, None)


def _wait_ms(transition: Transition, group: ConsumerGroup, member: ConsumerMember) -> int:
    """How long an answer that says nothing new may wait; 0: not at all."""
    set_ms = transition.state.consumer_settings(group.group_id).heartbeat_wait_ms
    if not is_individual(transition.state, group.group_id):
        return 0
    longest_ms = LONGEST_WAIT_MS if set_ms == INTERVALS_WAIT else set_ms
    return min(longest_ms, member.session_timeout_ms // PART_OF_SESSION)


# -- held answers ------------------------------------------------------------------------------------------------------


def flush(transition: Transition, group: ConsumerGroup, member: ConsumerMember) -> None:
    """Send the member's held answer as it is now."""
    token = take_held(transition.state, member)
    if token is None:
        return
    if not member.has_parked_sync:
        _tell(transition, group, member, token)
        return
    _take_what_is_free(transition, group, member)
    if has_to_rejoin(group, member):  # what it is to have is of a later generation than it knows
        call(transition, group, member)
        sync_error(transition, token, ErrorCode.REBALANCE_IN_PROGRESS)
    else:
        _tell_assignment(transition, group, member, token)


def refuse(transition: Transition, _group: ConsumerGroup, member: ConsumerMember, error: ErrorCode) -> None:
    """Refuse what is held. If the member has come by another connection, nobody reads that answer."""
    token = take_held(transition.state, member)
    if token is None:
        return
    told = ErrorCode.REBALANCE_IN_PROGRESS if error is ErrorCode.FENCED_MEMBER_EPOCH else error
    if member.has_parked_sync:
        sync_error(transition, token, told)
    else:
        transition.answer(token, HeartbeatResponse(error_code=told))


def notify(transition: Transition, group: ConsumerGroup, member: ConsumerMember) -> None:
    """Send the held answer if there is something to say; else the next heartbeat tells it."""
    if member.held is None or not has_to_rejoin(group, member):
        return
    if member.has_parked_sync or not _waits_for_others(transition, group, member):
        flush(transition, group, member)
    else:
        transition.state.holds.want(member, min(member.wake_ms, group.gathering_ms + GATHER_MS))


# -- who is called together --------------------------------------------------------------------------------------------


def _waits_for_others(transition: Transition, group: ConsumerGroup, member: ConsumerMember) -> bool:
    """Whether the member must let go of something, and is not called yet, because somebody else whose share changes
    cannot be (rule 2 above).
    """
    return (
        transition.now_ms < group.gathering_ms + GATHER_MS
        and member.stage is not Stage.UNREVOKED
        and bool(next_of(group, member).pending)
        and _wait_ms(transition, group, member) > 0
        and any(each is not member for each in _beyond_reach(group))
    )


def _beyond_reach(group: ConsumerGroup) -> Iterator[ConsumerMember]:
    """The classic members whose share changes, and who cannot be called: they wait for no answer, and are not on their
    way either.
    """
    for member_id in group.unconverged:
        member = group.members.get(member_id)
        if member is None or not member.is_classic or member.held is not None:
            continue
        if member.call_due_ms == NEVER_MS and is_to_change(group, member):
            yield member


def call_together(transition: Transition, group: ConsumerGroup) -> None:
    """Call all who must let go of something and have waited for others, if all can be called now. To be looked at when
    a classic member has come.
    """
    if not group.unconverged or next(_beyond_reach(group), None) is not None:
        return
    for member_id in sorted(group.unconverged):
        member = group.members.get(member_id)
        if member is None or not member.is_classic or member.has_parked_sync or not has_to_rejoin(group, member):
            continue
        token = take_held(transition.state, member)
        if token is not None:
            _call(transition, group, member, token)


# -- what is told ------------------------------------------------------------------------------------------------------


def _tell(transition: Transition, group: ConsumerGroup, member: ConsumerMember, token: Token) -> None:
    """Answer a heartbeat."""
    if has_to_rejoin(group, member) and not _waits_for_others(transition, group, member):
        _call(transition, group, member, token)
    else:
        follow_quietly(transition, group, member)
        transition.answer(token, HeartbeatResponse(error_code=ErrorCode.NONE))


def _call(transition: Transition, group: ConsumerGroup, member: ConsumerMember, token: Token) -> None:
    """Answer a heartbeat: the member is to join again."""
    call(transition, group, member)
    transition.answer(token, HeartbeatResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS))


def _tell_assignment(transition: Transition, group: ConsumerGroup, member: ConsumerMember, token: Token) -> None:
    """Answer a SyncGroup."""
    transition.answer(
        token,
        SyncGroupResponse(
            protocol_type=PROTOCOL_TYPE,
            protocol_name=first_protocol(member),
            assignment=encoded(group, member, member.assigned),
        ),
    )


def encoded(group: ConsumerGroup, member: ConsumerMember, partitions: Partitions) -> bytes:
    """Partitions in the version of the consumer protocol that a classic member speaks. Topics that are gone have no
    name any more, and are left out.
    """
    names = {topic.id: topic.name for topic in group.topics.values()}
    named = {names[topic]: numbers for topic, numbers in by_topic(partitions).items() if topic in names}
    _, spoken = protocols_of(member)[0]
    return encode_assignment(int.from_bytes(spoken[:VERSION_BYTES], "big", signed=True), named)
