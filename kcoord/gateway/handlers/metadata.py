"""Metadata for consumers of the new protocol, from a cluster that is too old for it (KG-18).

These consumers know their partitions by topics' ids, and ask for the names by id. librdkafka does so in Metadata v12,
and ends its process where only v10 or v11 is offered. So kcoord offers v12 everywhere if it serves consumer groups. It
asks the cluster in the version that this has; where there are no ids, kcoord makes them (`topic_watch.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import attrs

from kcoord.gateway.session.upstream import CannotPass
from kcoord.gateway.topology.topic_watch import NO_ID, TopicWatch, made_up_id
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.metadata_request import MetadataRequestTopic
from kcoord.protocol.generated.metadata_response import MetadataResponseTopic
from kcoord.protocol.messages import MetadataRequest, MetadataResponse
from kcoord.protocol.node_addresses import rewrite_addresses
from kcoord.protocol.undecoded_call import Call

if TYPE_CHECKING:
    from kcoord.gateway.session.client_session import ClientSession

__all__ = ["MetadataContext", "metadata"]

RIGHTS_FROM = 8
"""The first version of Metadata that can tell what a client may do."""


class MetadataContext(Protocol):
    """What the handler needs from the gateway."""

    topics: TopicWatch

    def now_ms(self) -> int: ...


async def metadata(gateway: MetadataContext, session: ClientSession, call: Call, request: MetadataRequest) -> None:
    """Pass on a Metadata, or answer it from what the cluster says in its own version.

    Raises UpstreamLost, CannotPass.
    """
    version = call.header.api_version
    theirs = await session.version(MetadataRequest)
    if theirs is None or theirs >= version:
        session.pass_on(call)
        return
    names = await _names_of_ids(gateway, session, request)
    asked = _in_version(request, names, theirs)
    response = await session.ask(asked, theirs, call.header.client_id)
    assert isinstance(response, MetadataResponse)
    if not response.brokers:
        raise CannotPass("Metadata without brokers")
    for topic in response.topics:
        if topic.topic_id == NO_ID and topic.name and not topic.error_code:
            topic.topic_id = made_up_id(topic.name, response.cluster_id)
    response.topics += [
        MetadataResponseTopic(error_code=ErrorCode.UNKNOWN_TOPIC_ID, name=None, topic_id=topic_id)
        for topic_id, name in names.items()
        if name is None
    ]
    rewrite_addresses(response, version, session.map_node)
    await session.learn_nodes()
    session.told_nodes_ms = gateway.now_ms()
    session.answer(call, response)


async def _names_of_ids(
    gateway: MetadataContext, session: ClientSession, request: MetadataRequest
) -> dict[bytes, str | None]:
    """The names of the topics that the request names by id alone; None: the client is shown no such topic."""
    wanted = {each.topic_id for each in request.topics or () if not each.name and each.topic_id != NO_ID}
    return dict(await gateway.topics.names_of(session, wanted)) if wanted else {}


def _in_version(request: MetadataRequest, names: dict[bytes, str | None], version: int) -> MetadataRequest:
    """The request as it can be asked in a lower version."""
    topics = request.topics
    if topics is not None:
        named = [each.name or names.get(each.topic_id) for each in topics]
        topics = [MetadataRequestTopic(name=name) for name in dict.fromkeys(named) if name]
    rights = request.include_topic_authorized_operations and version >= RIGHTS_FROM
    return attrs.evolve(request, topics=topics, include_topic_authorized_operations=rights)
