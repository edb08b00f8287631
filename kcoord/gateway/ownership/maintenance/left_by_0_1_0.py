"""Groups that release 0.1.0 left behind: kcoord makes them readable for Kafka's tools again (AD-5).

Release 0.1.0 gave its sentinel the protocol type `kcoord`, and a group without members keeps the type of the last one.
Kafka's tools cannot read such a group. kcoord takes it as a consumer group and, since it has no members, gives it back
as it does with every such group (`sentinel_care.py`). From then on the group has the type `consumer`. That is what it
was: only the committed offsets of consumers keep a group without members.

kcoord lists the groups of each broker when it starts, and then less and less often. It needs a connection of its own
for this, so it does nothing if upstream asks for credentials; there the next member's join heals the group. Of several
instances, the one that stands before a broker does it for the groups of that broker. It takes one group at a time,
because each join waits for the cluster's `group.initial.rebalance.delay.ms`.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Protocol

from kcoord.gateway.interfaces import Places
from kcoord.gateway.ownership.access.group_ownership import OwnershipContext, Unanswered, facts_of
from kcoord.gateway.ownership.maintenance.group_appearances import GroupAppearances
from kcoord.gateway.ownership.maintenance.sentinel_care import Sentinels
from kcoord.gateway.ownership.sentinel.appearance import CONSUMER, OF_0_1_0, Appearance
from kcoord.gateway.ownership.sentinel.described_groups import described_groups
from kcoord.gateway.ownership.sentinel.sentinel import Sentinel
from kcoord.gateway.session.connection_context import ConnectionContext
from kcoord.gateway.session.service_connection import ServiceConnection
from kcoord.gateway.session.upstream import UpstreamLost
from kcoord.gateway.topology.brokers import BrokerMap
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    ListGroupsRequest,
    ListGroupsResponse,
)
from kcoord.protocol.primitives import DecodeError

__all__ = ["GroupsLeftBy010"]

log = logging.getLogger("kcoord.gateway")

EMPTY = "Empty"
FIRST_PAUSE_S, LONGEST_PAUSE_S = 5.0, 3_600.0
"""The pause after the first look at a broker, in seconds; each later one is twice as long, up to the longest."""
DESCRIBED_AT_ONCE = 100


class LeftContext(OwnershipContext, ConnectionContext, Protocol):
    """What `GroupsLeftBy010` needs from the gateway."""

    appearances: GroupAppearances
    brokers: BrokerMap
    places: Places | None
    sentinels: Sentinels


class GroupsLeftBy010:
    """The watch of one gateway for groups of the protocol type `kcoord` that have no members."""

    def __init__(self, gateway: LeftContext) -> None:
        self._gateway = gateway

    async def watch(self) -> None:
        """Look, heal and pause for as long as kcoord runs; does not return, unless upstream asks for credentials."""
        pause_s = FIRST_PAUSE_S
        while not self._gateway.settings.uses_sasl:
            brokers = [] if self._gateway.appearances.is_of_0_1_0 else self._brokers_here()
            await asyncio.gather(*map(self._heal_groups_of, brokers))
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S) if brokers else FIRST_PAUSE_S

    def _brokers_here(self) -> list[int]:
        places = self._gateway.places
        return [broker_id for broker_id in self._gateway.brokers.ids if places is None or places.is_here(broker_id)]

    async def _heal_groups_of(self, broker_id: int) -> None:
        # not the gateway's own connection: a broker answers nothing else on a connection while a join waits there
        asker = ServiceConnection(self._gateway, broker_id)
        try:
            for group_id in await self._left_at(asker):
                await self._heal(self._gateway.sentinels.of(group_id), asker)
        except (UpstreamLost, DecodeError) as fault:
            log.debug("broker %d: cannot look for groups of release 0.1.0: %s", broker_id, fault)
        finally:
            asker.close()

    async def _left_at(self, asker: ServiceConnection) -> list[str]:
        """The groups that release 0.1.0 has left behind at a broker and that kcoord may take. Raises UpstreamLost,
        DecodeError.
        """
        listed = await asker.ask(ListGroupsRequest(), await asker.version(ListGroupsRequest) or 0)
        assert isinstance(listed, ListGroupsResponse)
        old = [
            each.group_id
            for each in listed.groups
            if each.protocol_type == OF_0_1_0.protocol_type and self._gateway.owns(each.group_id)
        ]
        left = []
        for first in range(0, len(old), DESCRIBED_AT_ONCE):
            described = await described_groups(asker, old[first : first + DESCRIBED_AT_ONCE])
            left += [each.group_id for each in described if each.group_state == EMPTY and not each.members]
        return left

    async def _heal(self, sentinel: Sentinel, asker: ServiceConnection) -> None:
        """Take the group, unless it has members by now. Raises UpstreamLost, DecodeError."""
        try:
            facts = await facts_of(self._gateway, sentinel.group_id)
        except Unanswered:
            return  # the next look does it
        if facts.has_members or sentinel.is_joined or sentinel.is_taking:
            return
        error = await sentinel.take(asker, facts.generation or 0, Appearance(CONSUMER))
        if error == ErrorCode.NONE:
            log.info("group %s, left behind by kcoord 0.1.0, can be read by Kafka's tools again", sentinel.group_id)
        else:
            log.debug("group %s, left behind by kcoord 0.1.0: %s", sentinel.group_id, error.name)
