"""Group appearances: how each group's sentinel must look, by its coordinator and the cluster (AD-2, AD-4, AD-5).

The group's coordinator, which may be another instance, tells the members' subscriptions, but only while the group is
stable. The cluster tells the partitions of their topics, if the client on whose connection kcoord asks may see them. An
instance of release 0.1.0 takes a sentinel of another type for a stranger. So while such an instance shares the groups,
or must be able to come back (`compatible.with`), every sentinel looks as that release makes it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Protocol

from kcoord.gateway.interfaces import Places
from kcoord.gateway.ownership.access.guarded_groups import GuardedGroups
from kcoord.gateway.ownership.sentinel.appearance import CONNECT, CONSUMER, OF_0_1_0, Appearance, KnownAppearance
from kcoord.gateway.session.upstream import Asker
from kcoord.gateway.settings import GatewaySettings
from kcoord.group.state.groups.subscription import subscribed_topics
from kcoord.protocol.consumer_embedded import decode_assignment
from kcoord.protocol.embedded import EmbeddedError
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.consumer_group_describe_response import DescribedGroup
from kcoord.protocol.generated.metadata_request import MetadataRequestTopic
from kcoord.protocol.messages import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    MetadataRequest,
    MetadataResponse,
)

__all__ = ["DEAD", "GroupAppearances", "topics_in"]

STABLE, DEAD = "Stable", "Dead"
MAKES_NO_TOPICS = 4
"""The first version of Metadata that can ask without creating topics."""


class AppearanceContext(Protocol):
    """What `GroupAppearances` needs from the gateway."""

    guarded: GuardedGroups
    places: Places | None
    settings: GatewaySettings


class GroupAppearances:
    """How the sentinels of this process must look."""

    def __init__(self, gateway: AppearanceContext) -> None:
        self._gateway = gateway

    @property
    def is_of_0_1_0(self) -> bool:
        """Whether every sentinel must look as release 0.1.0 makes it."""
        places = self._gateway.places
        return self._gateway.settings.keeps_to_0_1_0 or (places is not None and places.has_0_1_0())

    def of_first(self, protocol_type: str) -> Appearance:
        """The appearance for a group's first member. It has no topics, because the other members are not known yet."""
        return OF_0_1_0 if self.is_of_0_1_0 else Appearance(protocol_type)

    async def of(self, group_id: str, asker: Asker, /) -> KnownAppearance | None:
        """The appearance in a group that has members here; None: not known. Raises UpstreamLost."""
        if self.is_of_0_1_0:
            return KnownAppearance(OF_0_1_0, is_settled=True)
        described = await self._gateway.guarded.describe(DescribeGroupsRequest(groups=[group_id]))
        assert isinstance(described, DescribeGroupsResponse)
        [group] = described.groups
        if group.error_code:
            return None
        if group.group_state == DEAD:  # it has members here, so it is of a kind without a barrier
            topics = await self.of_consumers(group_id)
            if topics is not None:
                return KnownAppearance(Appearance(CONSUMER, await _partitions(asker, topics)), is_settled=True)
            return KnownAppearance(Appearance(CONNECT), is_settled=True)
        if group.protocol_type != CONSUMER:
            return KnownAppearance(Appearance(group.protocol_type), is_settled=True) if group.protocol_type else None
        if group.group_state != STABLE:
            return KnownAppearance(Appearance(CONSUMER), is_settled=False)
        topics = subscribed_topics(member.member_metadata for member in group.members)
        if topics is None:
            return KnownAppearance(Appearance(CONSUMER), is_settled=True)
        return KnownAppearance(Appearance(CONSUMER, await _partitions(asker, topics)), is_settled=True)

    async def of_consumers(self, group_id: str) -> frozenset[str] | None:
        """The topics of a consumer group of the new protocol; None: it is of another kind."""
        response = await self._gateway.guarded.describe(ConsumerGroupDescribeRequest(group_ids=[group_id]))
        assert isinstance(response, ConsumerGroupDescribeResponse)
        [described] = response.groups
        return None if described.error_code else topics_in(described)

    async def of_classic_consumers(self, group_id: str) -> frozenset[str]:
        """The topics that members of a classic group of consumers subscribe to, if that can be told now, or have
        partitions of.
        """
        described = await self._gateway.guarded.describe(DescribeGroupsRequest(groups=[group_id]))
        assert isinstance(described, DescribeGroupsResponse)
        [group] = described.groups
        if group.protocol_type != CONSUMER:
            return frozenset()
        subscribed = subscribed_topics(each.member_metadata for each in group.members if each.member_metadata)
        topics = subscribed or frozenset()
        with contextlib.suppress(EmbeddedError):  # the group does not become another then
            assigned = (decode_assignment(each.member_assignment) for each in group.members)
            topics |= {topic for each in assigned for topic, _ in each.partitions}
        return topics


def topics_in(described: DescribedGroup) -> frozenset[str]:
    """The topics that the description of a consumer group names."""
    assigned = (
        topic.topic_name
        for member in described.members
        for share in (member.assignment, member.target_assignment)
        for topic in share.topic_partitions
    )
    return frozenset(assigned).union(*(member.subscribed_topic_names for member in described.members))


async def _partitions(asker: Asker, topics: Iterable[str]) -> dict[str, int]:
    """The number of partitions of each topic; 0 if the cluster does not say. Raises UpstreamLost."""
    counts = dict.fromkeys(topics, 0)
    version = await asker.version(MetadataRequest)
    if counts and version is not None and version >= MAKES_NO_TOPICS:
        asked = [MetadataRequestTopic(name=topic) for topic in counts]
        response = await asker.ask(MetadataRequest(topics=asked, allow_auto_topic_creation=False), version)
        assert isinstance(response, MetadataResponse)
        for topic in response.topics:
            if topic.error_code == ErrorCode.NONE and topic.name in counts:
                counts[topic.name] = len(topic.partitions)
    return counts
