"""CreateTopics (19): declares topics in a kcoord without a cluster (KG-14).

v2 adds the throttle time. v4: the numbers of partitions and replicas may be left to the broker (-1). v5 is flexible and
tells what the topic has. v7 tells its id. The topics have no data, so they have neither replicas nor settings: whoever
asks for more than one replica, for a certain broker or for a setting is refused.
"""

from __future__ import annotations

from collections import Counter

from kcoord.group.consumer.declared_topics import TopicRefused, check_name, check_room, declare
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.create_topics_request import CreatableTopic
from kcoord.protocol.generated.create_topics_response import CreatableTopicResult
from kcoord.protocol.messages import CreateTopicsRequest, CreateTopicsResponse

OF_ITSELF = -1
"""The number of partitions or replicas that is left to kcoord."""


def create_topics(transition: Transition, request: CreateTopicsRequest, context: RequestContext, token: Token) -> None:
    """Handle a CreateTopics. Each topic has its own result."""
    named = Counter(topic.name for topic in request.topics)
    results = []
    for topic in {each.name: each for each in request.topics}.values():
        try:
            if named[topic.name] > 1:
                raise TopicRefused(ErrorCode.INVALID_REQUEST, "the topic is named more than once")
            results.append(_created(transition, topic, is_check=request.validate_only))
        except TopicRefused as refused:
            results.append(
                CreatableTopicResult(topic.name, error_code=refused.error, error_message=refused.message, configs=None)
            )
    transition.answer(token, CreateTopicsResponse(topics=results))


def _created(transition: Transition, topic: CreatableTopic, *, is_check: bool) -> CreatableTopicResult:
    """What a new topic has. Raises TopicRefused."""
    check_name(transition.state, topic.name)
    if topic.assignments:
        raise TopicRefused(ErrorCode.INVALID_REPLICA_ASSIGNMENT, "a kcoord without a cluster has no replicas to place")
    if topic.replication_factor not in (OF_ITSELF, 1):
        message = "a kcoord without a cluster keeps no data: leave the replication factor out, or say 1"
        raise TopicRefused(ErrorCode.INVALID_REPLICATION_FACTOR, message)
    if topic.configs:
        message = f"topics of a kcoord without a cluster have no settings: leave out {topic.configs[0].name}"
        raise TopicRefused(ErrorCode.INVALID_CONFIG, message)
    partitions = 1 if topic.num_partitions == OF_ITSELF else topic.num_partitions
    check_room(transition.state, partitions)
    result = CreatableTopicResult(topic.name, num_partitions=partitions, replication_factor=1)
    if not is_check:
        result.topic_id = declare(transition, topic.name, partitions).id
    return result


def refuse_create_topics(request: CreateTopicsRequest, error: ErrorCode) -> CreateTopicsResponse:
    """The answer with the same error for each topic."""
    return CreateTopicsResponse(
        topics=[CreatableTopicResult(each.name, error_code=error, configs=None) for each in request.topics]
    )
