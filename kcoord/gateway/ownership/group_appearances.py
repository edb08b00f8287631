"""How the sentinel of a group is to look: the group's coordinator and the cluster know (AD-2, AD-4, AD-5).

The group's coordinator, which may be another instance, tells the members' subscriptions of a stable group only. The
cluster tells the partitions of their topics, as far as the member in whose name it is asked may see them. An instance
of release 0.1.0 takes a sentinel of another type for a stranger: while there is one, every sentinel looks as that
release makes it. So too where that release shall be able to come back (`compatible.with`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from kcoord.gateway.ownership.guarded_groups import GuardedGroups
from kcoord.gateway.ownership.sentinel import KnownAppearance
from kcoord.gateway.ownership.sentinel_appearance import CONNECT, CONSUMER, OF_0_1_0, Appearance
from kcoord.gateway.ports import Places
from kcoord.gateway.session.upstream import Asker
from kcoord.gateway.settings import GatewaySettings
from kcoord.group.generic.subscription import subscribed_topics
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.metadata_request import MetadataRequestTopic
from kcoord.protocol.messages import (
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    MetadataRequest,
    MetadataResponse,
)

__all__ = ["DEAD", "GroupAppearances"]

STABLE, DEAD = "Stable", "Dead"
MAKES_NO_TOPICS = 4
"""The first version of Metadata that can be asked without creating topics."""


class AppearanceContext(Protocol):
    """What an appearance is made of."""

    guarded: GuardedGroups
    places: Places | None
    settings: GatewaySettings


class GroupAppearances:
    """How the sentinels of all groups of this process are to look."""

    def __init__(self, gateway: AppearanceContext) -> None:
        self._gateway = gateway

    @property
    def is_of_0_1_0(self) -> bool:
        """Whether every sentinel must look as release 0.1.0 makes it."""
        places = self._gateway.places
        return self._gateway.settings.keeps_to_0_1_0 or (places is not None and places.has_0_1_0())

    def of_first(self, protocol_type: str) -> Appearance:
        """How it looks for the first member of a group: who else comes with that one is not known yet."""
        return OF_0_1_0 if self.is_of_0_1_0 else Appearance(protocol_type)

    async def of(self, group_id: str, asker: Asker, /) -> KnownAppearance | None:
        """How it looks in a group that has members here; None where nobody can say. Raises UpstreamLost."""
        if self.is_of_0_1_0:
            return KnownAppearance(OF_0_1_0, is_settled=True)
        described = await self._gateway.guarded.describe(DescribeGroupsRequest(groups=[group_id]))
        assert isinstance(described, DescribeGroupsResponse)
        [group] = described.groups
        if group.error_code:
            return None
        if group.group_state == DEAD:  # it has members, but none of a classic group
            return KnownAppearance(Appearance(CONNECT), is_settled=True)
        if group.protocol_type != CONSUMER:
            return KnownAppearance(Appearance(group.protocol_type), is_settled=True) if group.protocol_type else None
        if group.group_state != STABLE:
            return KnownAppearance(Appearance(CONSUMER), is_settled=False)
        topics = subscribed_topics(member.member_metadata for member in group.members)
        if topics is None:
            return KnownAppearance(Appearance(CONSUMER), is_settled=True)
        return KnownAppearance(Appearance(CONSUMER, await _partitions(asker, topics)), is_settled=True)


async def _partitions(asker: Asker, topics: Iterable[str]) -> dict[str, int]:
    """How many partitions each of these topics has; 0 where the cluster does not say. Raises UpstreamLost."""
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
