"""OffsetFetch (9): reads a group's offsets from kcoord's own log.

v1 has errors in partitions only. v2: topics null means all topics of the group. v3-v5 add the throttle time and the
leader epoch. v6 is flexible. v7 adds RequireStable (KIP-447). v8 allows several groups. v9 adds member id and epoch
(KIP-848), which are ignored for classic groups. v10 has topics by id only.

An offset that is not stored is -1, also for a group that does not exist. There are no transactions in kcoord's own log,
so every offset is stable. Of ids a kcoord without a cluster knows those of its declared topics (KG-14): any other is
UNKNOWN_TOPIC_ID, and v10 of a whole group has the declared topics only.
"""

from __future__ import annotations

from kcoord.group.consumer.offset_checks import check_fetch
from kcoord.group.consumer.topic_facts import give_names
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.offset_fetch_request import OffsetFetchRequestGroup, OffsetFetchRequestTopics
from kcoord.protocol.generated.offset_fetch_response import (
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from kcoord.protocol.messages import OffsetFetchRequest, OffsetFetchResponse
from kcoord.protocol.records import OffsetCommitValue

BATCH_VERSION = 8
TOPIC_ID_VERSION = 10
NO_OFFSET = OffsetCommitValue(offset=-1)


def offset_fetch(transition: Transition, request: OffsetFetchRequest, context: RequestContext, token: Token) -> None:
    """Handle an OffsetFetch, of one group or of several in this shard."""
    if context.api_version >= BATCH_VERSION:
        of_one = _group_by_id if context.api_version >= TOPIC_ID_VERSION else _group
        groups = [of_one(transition, group) for group in request.groups]
        transition.answer(token, OffsetFetchResponse(groups=groups))
        return
    if request.topics is None:
        wanted = [
            (topic, list(offsets)) for topic, offsets in transition.state.offsets.of_group(request.group_id).items()
        ]
    else:
        wanted = [(topic.name, topic.partition_indexes) for topic in request.topics]
    topics = [
        OffsetFetchResponseTopic(
            topic,
            [
                OffsetFetchResponsePartition(index, value.offset, value.leader_epoch, value.metadata)
                for index, value in _values(transition, request.group_id, topic, indexes)
            ],
        )
        for topic, indexes in wanted
    ]
    transition.answer(token, OffsetFetchResponse(topics=topics))


def _group(transition: Transition, group: OffsetFetchRequestGroup) -> OffsetFetchResponseGroup:
    consumer = transition.state.consumer.get(group.group_id)
    error = ErrorCode.NONE if consumer is None else check_fetch(consumer, group.member_id, group.member_epoch)
    if error:
        return OffsetFetchResponseGroup(group.group_id, error_code=error)
    if group.topics is None:
        wanted = [
            (topic, list(offsets)) for topic, offsets in transition.state.offsets.of_group(group.group_id).items()
        ]
    else:
        wanted = [(topic.name, topic.partition_indexes) for topic in group.topics]
    topics = [
        OffsetFetchResponseTopics(
            name=topic,
            partitions=[
                OffsetFetchResponsePartitions(index, value.offset, value.leader_epoch, value.metadata)
                for index, value in _values(transition, group.group_id, topic, indexes)
            ],
        )
        for topic, indexes in wanted
    ]
    return OffsetFetchResponseGroup(group.group_id, topics)


def _values(
    transition: Transition, group_id: str, topic: str, indexes: list[int]
) -> list[tuple[int, OffsetCommitValue]]:
    stored = transition.state.offsets.of_topic(group_id, topic)
    return [(index, stored.get(index, NO_OFFSET)) for index in indexes]


def _group_by_id(transition: Transition, group: OffsetFetchRequestGroup) -> OffsetFetchResponseGroup:
    """The same for a group whose topics are named by id, in the answer too."""
    topics = transition.state.topics or {}
    give_names(transition.state, group.topics or ())
    known = None if group.topics is None else [each for each in group.topics if each.name]
    answer = _group(transition, OffsetFetchRequestGroup(group.group_id, group.member_id, group.member_epoch, known))
    answer.topics = [each for each in answer.topics if each.name in topics]
    for topic in answer.topics:
        topic.topic_id = topics[topic.name].id
    if answer.error_code == ErrorCode.NONE:
        answer.topics += [_unknown(each) for each in group.topics or () if not each.name]
    return answer


def _unknown(topic: OffsetFetchRequestTopics) -> OffsetFetchResponseTopics:
    return OffsetFetchResponseTopics(
        topic_id=topic.topic_id,
        partitions=[
            OffsetFetchResponsePartitions(index, NO_OFFSET.offset, metadata="", error_code=ErrorCode.UNKNOWN_TOPIC_ID)
            for index in topic.partition_indexes
        ],
    )


def refuse_offset_fetch(request: OffsetFetchRequest, error: ErrorCode) -> OffsetFetchResponse:
    """The answer with the same error for each group; before v8 at the top and, because v1 has no field there, in each
    partition.
    """
    if request.groups:
        return OffsetFetchResponse(
            groups=[OffsetFetchResponseGroup(group_id=group.group_id, error_code=error) for group in request.groups]
        )
    return OffsetFetchResponse(
        error_code=error,
        topics=[
            OffsetFetchResponseTopic(
                name=topic.name,
                partitions=[
                    OffsetFetchResponsePartition(
                        partition_index=index, committed_offset=NO_OFFSET.offset, metadata="", error_code=error
                    )
                    for index in topic.partition_indexes
                ],
            )
            for topic in request.topics or []
        ],
    )
