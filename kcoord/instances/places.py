"""Where do the instances stand before the cluster's brokers? What a gateway needs of the map, in its words."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kcoord.instances.map import Address
from kcoord.instances.membership import Membership

__all__ = ["MapPlaces"]


class MapPlaces:
    """The newest map, for a gateway (its `Places`). `seen` gives the brokers' own addresses, as far as they are known
    here.
    """

    def __init__(self, membership: Membership, seen: Callable[[], Mapping[int, Address]] = dict) -> None:
        self._membership = membership
        self._seen = seen

    def address_of(self, broker_id: int, _reached: str, /) -> Address | None:
        """By which host and port clients reach a broker, the same on all instances; None where the map does not say."""
        return self._membership.map.address_of_broker(broker_id)

    def others(self) -> frozenset[tuple[int, int]]:
        """All other instances, each as its id and when it started."""
        membership = self._membership
        there = membership.map.instances.values()
        return frozenset((each.instance_id, each.started_ms) for each in there if not membership.is_self(each))

    def brokers(self) -> Mapping[int, Address | None]:
        """All brokers that the map names, each with its own address where that was seen here."""
        seen = self._seen()
        return {broker_id: seen.get(broker_id) for broker_id in self._membership.map.brokers}

    async def known(self) -> None:
        """Returns when the first map is there."""
        await self._membership.joined()
