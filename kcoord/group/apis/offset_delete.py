"""OffsetDelete (47): an admin deletes a group's offsets (KIP-496). There is only v0.

In a group with members, only the offsets of topics that it is not subscribed to can be deleted. Subscriptions are known
only for protocol type "consumer".
"""

from __future__ import annotations

from kcoord.group.classic.state_table import DELETE
from kcoord.group.state.committed_offsets import tombstone
from kcoord.group.state.groups.classic_group import CONSUMER
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.offset_delete_response import OffsetDeleteResponsePartition, OffsetDeleteResponseTopic
from kcoord.protocol.messages import OffsetDeleteRequest, OffsetDeleteResponse


def check_offset_delete(state: ShardState, group_id: str) -> ErrorCode:
    """Whether offsets of the group may be deleted at all: NONE, NON_EMPTY_GROUP, GROUP_ID_NOT_FOUND or
    INVALID_GROUP_ID.
    """
    if not group_id:
        return ErrorCode.INVALID_GROUP_ID
    if group_id in state.consumer:
        return ErrorCode.NONE
    group = state.groups.get(group_id)
    if group is None:
        return ErrorCode.GROUP_ID_NOT_FOUND
    return ErrorCode.NONE if group.protocol_type == CONSUMER else DELETE[group.state]


def subscribed_among(state: ShardState, group_id: str, topics: list[str]) -> frozenset[str]:
    """Those of `topics` that the group is subscribed to: their offsets stay (GROUP_SUBSCRIBED_TO_TOPIC)."""
    consumer = state.consumer.get(group_id)
    if consumer is not None:
        return consumer.all_names() & frozenset(topics)
    group = state.groups.get(group_id)
    if group is None:
        return frozenset()
    subscribed = group.subscribed_topics()
    return frozenset(topic for topic in topics if group.is_subscribed(subscribed, topic))


def offset_delete(transition: Transition, request: OffsetDeleteRequest, context: RequestContext, token: Token) -> None:
    """Handle an OffsetDelete. Deleting an offset that does not exist succeeds."""
    error = check_offset_delete(transition.state, request.group_id)
    if error:
        transition.answer(token, OffsetDeleteResponse(error_code=error))
        return
    kept = subscribed_among(transition.state, request.group_id, [topic.name for topic in request.topics])
    topics = []
    for topic in request.topics:
        indexes = [partition.partition_index for partition in topic.partitions]
        verdict = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC if topic.name in kept else ErrorCode.NONE
        if not verdict:
            _delete(transition, request.group_id, topic.name, indexes)
        partitions = [OffsetDeleteResponsePartition(index, verdict) for index in indexes]
        topics.append(OffsetDeleteResponseTopic(topic.name, partitions))
    transition.answer(token, OffsetDeleteResponse(topics=topics))


def _delete(transition: Transition, group_id: str, topic: str, indexes: list[int]) -> None:
    for index in indexes:
        if index in transition.state.offsets.of_topic(group_id, topic):
            transition.write(tombstone(group_id, topic, index))
