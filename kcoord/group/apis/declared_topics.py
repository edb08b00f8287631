"""DeclaredTopics (kcoord's own API): all topics of a kcoord without a cluster (KG-14).

Each instance asks the one that has the topics' partition of the log. No client can send it.
"""

from __future__ import annotations

from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.protocol.generated.declared_topics_response import DeclaredTopic
from kcoord.protocol.messages import DeclaredTopicsRequest, DeclaredTopicsResponse


def declared_topics(
    transition: Transition, request: DeclaredTopicsRequest, context: RequestContext, token: Token
) -> None:
    """Handle a DeclaredTopics."""
    topics = [DeclaredTopic(each.name, each.id, each.partitions) for each in transition.state.declared.values()]
    transition.answer(token, DeclaredTopicsResponse(topics=topics))
