"""The map of the instances as a gateway needs it: which instance stands before which broker."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kcoord.instances.instance_map import Address, Instance
from kcoord.instances.membership import Membership
from kcoord.protocol.record_levels import RELEASE_0_1_0

__all__ = ["MapPlaces"]


class MapPlaces:
    """The newest map, as a gateway's `Places`. `seen` returns the brokers' own addresses, as far as this instance knows
    them.
    """

    def __init__(self, membership: Membership, seen: Callable[[], Mapping[int, Address]] = dict) -> None:
        self._membership = membership
        self._seen = seen
        self._is_leaving = False

    def address_of(self, broker_id: int, _reached: str, /) -> Address | None:
        """The address by which clients reach a broker, the same on all instances; None if the map does not give one."""
        instance = self._instance_of(broker_id)
        return None if instance is None else instance.address_of_broker(broker_id)

    def is_here(self, broker_id: int) -> bool:
        """Whether this instance stands before the broker."""
        return self._membership.is_self(self._instance_of(broker_id))

    def leave(self) -> None:
        """Note that this instance is about to stop: from now on, name other instances in its place, if there
        are any.
        """
        self._is_leaving = True

    def _instance_of(self, broker_id: int) -> Instance | None:
        """The instance that stands before a broker. If it has died, or is this one and stops, it is one of the others,
        the same on all instances.
        """
        membership = self._membership
        found = membership.map.instance_of_broker(broker_id)
        if found is None:
            return None
        leaves = self._is_leaving and membership.is_self(found)
        if not leaves and not membership.has_died(found):
            return found
        others = [each for each in membership.living() if not (leaves and membership.is_self(each))]
        return others[broker_id % len(others)] if others else found

    def others(self) -> frozenset[tuple[int, int]]:
        """All other living instances, each as its id and start time."""
        membership = self._membership
        there = membership.living()
        return frozenset((each.instance_id, each.started_ms) for each in there if not membership.is_self(each))

    def has_0_1_0(self) -> bool:
        """Whether one of the instances may be of release 0.1.0. True also while there is no map."""
        return self._membership.map.record_level == RELEASE_0_1_0

    def began_new(self) -> bool:
        """Whether this instance or one of the map says that the installation began with a kcoord that adopts groups."""
        return self._membership.instance.began_new or self._membership.map.began_new

    def brokers(self) -> Mapping[int, Address | None]:
        """All brokers that the map names, each with its own address if this instance knows it."""
        seen = self._seen()
        return {broker_id: seen.get(broker_id) for broker_id in self._membership.map.brokers}

    async def known(self) -> None:
        """Wait for the first map."""
        await self._membership.joined()
