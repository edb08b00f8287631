"""OffsetCommit (8): stores a group's offsets in kcoord's own log.

v2-v4 may set a retention time; v5 dropped it. v6 adds the leader epoch, v7 group.instance.id. v8 is flexible. v9 is as
v8, with the errors of KIP-848's groups. v10 has topics by id only.

A kcoord without a cluster accepts every name, declared or not. Of ids it knows those of its declared topics (KG-14).
"""

from __future__ import annotations

from kcoord.group.classic.check_commit import check_commit
from kcoord.group.consumer.offset_checks import check_commit as check_consumer_commit
from kcoord.group.consumer.topic_facts import NO_ID, give_names
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.offset_commit_request import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kcoord.protocol.generated.offset_commit_response import OffsetCommitResponsePartition, OffsetCommitResponseTopic
from kcoord.protocol.messages import OffsetCommitRequest, OffsetCommitResponse
from kcoord.protocol.records import OffsetCommitKey, OffsetCommitValue, Record

TOPIC_ID_VERSION = 10
NO_RETENTION = -1
UTF16_UNIT_BYTES = 2
MAX_INT64 = 2**63 - 1
MAX_TOPIC_CHARS = 249
"""The longest name that a topic can have in Kafka."""


def offset_commit(transition: Transition, request: OffsetCommitRequest, context: RequestContext, token: Token) -> None:
    """Handle an OffsetCommit: store all offsets that may be stored, with an error for each partition whose offset may
    not.
    """
    if context.api_version >= TOPIC_ID_VERSION:
        give_names(transition.state, request.topics)
    error = _check(transition, request, context)
    if error:
        transition.answer(token, refuse_offset_commit(request, error))
        return
    topics = [
        OffsetCommitResponseTopic(
            name=topic.name,
            topic_id=topic.topic_id,
            partitions=[
                OffsetCommitResponsePartition(partition.partition_index, _commit(transition, request, topic, partition))
                for partition in topic.partitions
            ],
        )
        for topic in request.topics
    ]
    transition.answer(token, OffsetCommitResponse(topics=topics))


def _check(transition: Transition, request: OffsetCommitRequest, context: RequestContext) -> ErrorCode:
    """The error for all of it; NONE if the member may commit."""
    epoch = request.generation_id_or_member_epoch
    consumer = transition.state.consumer.get(request.group_id)
    if consumer is not None:
        partitions = ((topic.name, each.partition_index) for topic in request.topics for each in topic.partitions)
        return check_consumer_commit(consumer, request.member_id, epoch, partitions)
    return check_commit(
        transition.state,
        request.group_id,
        request.member_id,
        request.group_instance_id,
        epoch,
        False,
        transition.now_ms,
        context.api_version,
    )


def _commit(
    transition: Transition,
    request: OffsetCommitRequest,
    named: OffsetCommitRequestTopic,
    partition: OffsetCommitRequestPartition,
) -> ErrorCode:
    metadata, topic = partition.committed_metadata or "", named.name
    if not topic and named.topic_id != NO_ID:
        return ErrorCode.UNKNOWN_TOPIC_ID
    if not topic or len(topic) > MAX_TOPIC_CHARS or partition.partition_index < 0:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if _too_long(metadata, transition.state.settings.offset_metadata_max_bytes):
        return ErrorCode.OFFSET_METADATA_TOO_LARGE
    if _is_one_too_many(transition, request.group_id, topic, partition.partition_index):
        return ErrorCode.INVALID_COMMIT_OFFSET_SIZE
    value = OffsetCommitValue(
        offset=partition.committed_offset,
        leader_epoch=partition.committed_leader_epoch,
        metadata=metadata,
        commit_timestamp=transition.wall_ms,
        expire_timestamp=_expire_timestamp(transition.wall_ms, request.retention_time_ms),
    )
    transition.write(Record(OffsetCommitKey(request.group_id, topic, partition.partition_index), value))
    return ErrorCode.NONE


def _expire_timestamp(wall_ms: int, retention_ms: int) -> int:
    """When the offset expires, in Unix ms; -1: by the group's rules. The sum is bounded. In Apache Kafka it overflows,
    so that what should stay longest is removed at the next check.
    """
    return -1 if retention_ms == NO_RETENTION else min(wall_ms + retention_ms, MAX_INT64)


def _is_one_too_many(transition: Transition, group_id: str, topic: str, partition: int) -> bool:
    """Whether the group would keep more offsets than it may. In a cluster the existing partitions are the bound; a
    kcoord alone accepts any name.
    """
    offsets = transition.state.offsets
    full = offsets.count(group_id) >= transition.state.settings.limits.offsets
    return full and partition not in offsets.of_topic(group_id, topic)


def _too_long(metadata: str, limit: int) -> bool:
    if UTF16_UNIT_BYTES * len(metadata) <= limit:
        return False
    return len(metadata.encode("utf-16-be", "surrogatepass")) // UTF16_UNIT_BYTES > limit


def refuse_offset_commit(request: OffsetCommitRequest, error: ErrorCode) -> OffsetCommitResponse:
    """The answer with the same error for each partition."""
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                name=topic.name,
                topic_id=topic.topic_id,
                partitions=[
                    OffsetCommitResponsePartition(partition_index=each.partition_index, error_code=error)
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )
