"""CreatePartitions (37): gives declared topics more partitions, in a kcoord without a cluster (KG-14).

v2 is flexible. A topic cannot have fewer partitions than it has.
"""

from __future__ import annotations

from collections import Counter

from kcoord.group.consumer.declared_topics import TopicRefused, check_room, declare, found
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.create_partitions_request import CreatePartitionsTopic
from kcoord.protocol.generated.create_partitions_response import CreatePartitionsTopicResult
from kcoord.protocol.messages import CreatePartitionsRequest, CreatePartitionsResponse


def create_partitions(
    transition: Transition, request: CreatePartitionsRequest, context: RequestContext, token: Token
) -> None:
    """Handle a CreatePartitions. Each topic has its own result."""
    named = Counter(topic.name for topic in request.topics)
    results = []
    for topic in {each.name: each for each in request.topics}.values():
        try:
            if named[topic.name] > 1:
                raise TopicRefused(ErrorCode.INVALID_REQUEST, "the topic is named more than once")
            _grow(transition, topic, is_check=request.validate_only)
            results.append(CreatePartitionsTopicResult(topic.name))
        except TopicRefused as refused:
            results.append(CreatePartitionsTopicResult(topic.name, refused.error, refused.message))
    transition.answer(token, CreatePartitionsResponse(results=results))


def _grow(transition: Transition, topic: CreatePartitionsTopic, *, is_check: bool) -> None:
    """Raises TopicRefused."""
    known = found(transition.state, topic.name)
    if topic.count <= known.partitions:
        message = f"topic {topic.name} has {known.partitions} partitions already: it can only have more"
        raise TopicRefused(ErrorCode.INVALID_PARTITIONS, message)
    if topic.assignments:
        raise TopicRefused(ErrorCode.INVALID_REPLICA_ASSIGNMENT, "a kcoord without a cluster has no replicas to place")
    check_room(transition.state, topic.count - known.partitions)
    if not is_check:
        declare(transition, topic.name, topic.count, known.id)


def refuse_create_partitions(request: CreatePartitionsRequest, error: ErrorCode) -> CreatePartitionsResponse:
    """The answer with the same error for each topic."""
    return CreatePartitionsResponse(results=[CreatePartitionsTopicResult(each.name, error) for each in request.topics])
