"""SyncGroup (14) of a classic consumer in a consumer group: it fetches what it is assigned."""

from __future__ import annotations

from kcoord.group.classic.answers import sync_error
from kcoord.group.classic_consumers.member_checks import (
    check_generation,
    check_protocol,
    first_protocol,
    member_of,
    note_alive,
)
from kcoord.group.classic_consumers.member_metadata import protocols_of
from kcoord.group.classic_consumers.rejoin import call, has_to_rejoin
from kcoord.group.modern.refusal import Refused
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
from kcoord.protocol.messages import SyncGroupRequest, SyncGroupResponse

VERSION_BYTES = 2


def sync_consumer(
    transition: Transition, group: ConsumerGroup, request: SyncGroupRequest, context: RequestContext, token: Token
) -> None:
    """Handle a SyncGroup."""
    try:
        member = member_of(group, request.member_id, request.group_instance_id)
        check_generation(group, member, request.generation_id)
        check_protocol(member, request.protocol_type, request.protocol_name)
        note_alive(group, member, request.generation_id, context, transition.now_ms)
    except Refused as refused:
        sync_error(transition, token, refused.error)
        return
    is_behind = member.stage is not Stage.UNREVOKED and member.epoch != group.assignment_epoch
    if is_behind and has_to_rejoin(group, member):
        call(transition, group, member)
        sync_error(transition, token, ErrorCode.REBALANCE_IN_PROGRESS)
        return
    member.call_due_ms = NEVER_MS
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
