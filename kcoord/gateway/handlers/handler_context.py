"""The handlers' context: what handlers need of the gateway, as far as most of them do."""

from __future__ import annotations

from typing import Protocol

from kcoord.gateway.ownership.group_ownership import OwnershipContext
from kcoord.gateway.ownership.guarded_groups import GuardedGroups
from kcoord.gateway.ownership.rights import Rights
from kcoord.gateway.ownership.sentinels import Sentinels
from kcoord.gateway.ports import Places
from kcoord.gateway.topology.coordinators import Coordinators
from kcoord.loop.turn_queue import TurnQueue

__all__ = ["HandlerContext"]


class HandlerContext(OwnershipContext, Protocol):
    """Whose a group is, the groups behind their rights, and a turn of the event loop for what is large."""

    coordinators: Coordinators
    guarded: GuardedGroups
    places: Places | None
    rights: Rights
    turns: TurnQueue

    @property
    def sentinels(self) -> Sentinels: ...
