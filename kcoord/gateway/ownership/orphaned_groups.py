"""Orphaned groups: what is to be done for groups that another instance or process had before.

Whoever coordinates a group looks after what another left of it: a predecessor of this process, or an instance that has
gone. Rules (GW-10, GW-13):

1. Groups of a partition that this instance begins to serve, and all that it serves when another instance is no longer
   in the map: if they have no members, and none come within the grace, their sentinels are taken out upstream.
2. If upstream is away when a partition is gained, its members cannot come back yet, and shall not expire.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from kcoord.gateway.ownership.outage import Outages
from kcoord.gateway.ownership.sentinels import Sentinels
from kcoord.gateway.ports import GroupReader, Places

__all__ = ["OrphanedGroups"]

LOOK_S = 0.2
"""How often it is looked what is served here, and who is there."""


class OrphanContext(Protocol):
    """What the watch needs."""

    groups: GroupReader
    outages: Outages
    places: Places | None
    sentinels: Sentinels

    def owns(self, group_id: str) -> bool: ...


class OrphanedGroups:
    """The watch of one gateway for what it inherits."""

    def __init__(self, gateway: OrphanContext) -> None:
        self._gateway = gateway
        self._served: set[int] = set()
        self._others: frozenset[tuple[int, int]] = frozenset()

    async def watch(self) -> None:
        """Look again and again."""
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
