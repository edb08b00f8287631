"""DeleteTopics (20): removes declared topics, in a kcoord without a cluster (KG-14).

v4 is flexible. v6 names topics by name or id. Offsets of the topic stay until they expire.
"""

from __future__ import annotations

from kcoord.group.consumer.declared_topics import TopicRefused, forget, found
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.delete_topics_request import DeleteTopicState
from kcoord.protocol.generated.delete_topics_response import DeletableTopicResult
from kcoord.protocol.messages import DeleteTopicsRequest, DeleteTopicsResponse


def delete_topics(transition: Transition, request: DeleteTopicsRequest, context: RequestContext, token: Token) -> None:
    """Handle a DeleteTopics. Each topic has its own result."""
    results = []
    for topic in _named(request):
        try:
            known = found(transition.state, topic.name, topic.topic_id)
            forget(transition, known)
            results.append(DeletableTopicResult(known.name, known.id))
        except TopicRefused as refused:
            results.append(DeletableTopicResult(topic.name, topic.topic_id, refused.error, refused.message))
    transition.answer(token, DeleteTopicsResponse(responses=results))


def _named(request: DeleteTopicsRequest) -> list[DeleteTopicState]:
    """The topics that a request of any version names. One that is named twice is not there the second time."""
    return request.topics or [DeleteTopicState(name=name) for name in request.topic_names]


def refuse_delete_topics(request: DeleteTopicsRequest, error: ErrorCode) -> DeleteTopicsResponse:
    """The answer with the same error for each topic."""
    return DeleteTopicsResponse(
        responses=[DeletableTopicResult(each.name, each.topic_id, error) for each in _named(request)]
    )
