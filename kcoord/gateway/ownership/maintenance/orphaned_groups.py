"""Orphaned groups: groups that another instance, or a predecessor of this process, left behind.

The instance that coordinates a group also takes care of what an earlier one left of it. Rules (GW-10, GW-13):

1. kcoord removes the sentinels of groups that have no members, if none come within the grace. It does so for the groups
   of a partition that this instance begins to serve, and, when another instance is no longer in the map, for all groups
   that this instance serves.
2. If upstream is away when this instance gains a partition, the members of its groups cannot come back yet, so kcoord
   pauses their sessions.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from kcoord.gateway.interfaces import GroupReader, Places
from kcoord.gateway.ownership.access.outage import Outages
from kcoord.gateway.ownership.maintenance.sentinel_care import Sentinels

__all__ = ["OrphanedGroups"]

LOOK_S = 0.2
"""How often, in seconds, kcoord looks which partitions this instance serves and which other instances there are."""


class OrphanContext(Protocol):
    """What `OrphanedGroups` needs from the gateway."""

    groups: GroupReader
    outages: Outages
    places: Places | None
    sentinels: Sentinels

    def owns(self, group_id: str) -> bool: ...


class OrphanedGroups:
    """The watch of one gateway for groups that it inherits."""

    def __init__(self, gateway: OrphanContext) -> None:
        self._gateway = gateway
        self._served: set[int] = set()
        self._others: frozenset[tuple[int, int]] = frozenset()

    async def watch(self) -> None:
        """Look every `LOOK_S` seconds; does not return."""
        while True:
            await self._look()
            await asyncio.sleep(LOOK_S)

    async def _look(self) -> None:
        gateway = self._gateway
        served = gateway.groups.owned()
        gained, self._served = served - self._served, served
        others = gateway.places.others() if gateway.places is not None else frozenset()
        gone, self._others = self._others - others, others
        if gone or gained:
            gateway.sentinels.inherit(self._groups_of(served if gone else gained))
        if gained:
            await gateway.outages.keep_loaded(self._groups_of(gained))

    def _groups_of(self, partitions: set[int]) -> list[str]:
        gateway = self._gateway
        found = (group_id for partition in partitions for group_id in gateway.groups.groups_of(partition))
        return [group_id for group_id in found if gateway.owns(group_id)]
