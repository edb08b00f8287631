"""The handlers' context: what most handlers need from the gateway."""

from __future__ import annotations

from typing import Protocol

from kcoord.gateway.interfaces import Places
from kcoord.gateway.ownership.access.group_ownership import OwnershipContext
from kcoord.gateway.ownership.access.guarded_groups import GuardedGroups
from kcoord.gateway.ownership.access.rights import Rights
from kcoord.gateway.ownership.maintenance.sentinel_care import Sentinels
from kcoord.gateway.topology.coordinators import Coordinators
from kcoord.loop.turn_queue import TurnQueue

__all__ = ["HandlerContext"]


class HandlerContext(OwnershipContext, Protocol):
    """Who has a group, the groups behind their rights, and turns of the event loop for large work."""

    coordinators: Coordinators
    guarded: GuardedGroups
    places: Places | None
    rights: Rights
    turns: TurnQueue

    @property
    def sentinels(self) -> Sentinels: ...
