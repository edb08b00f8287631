"""Which nodes do clients of a kcoord without a cluster see, and which of them has a group?

A kcoord that runs by itself is the only one. Of several instances over one log each names them all by the same map, on
whichever instance one asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import attrs

if TYPE_CHECKING:
    from kcoord.instances.map import Instance
    from kcoord.instances.membership import Membership

Address = tuple[str, int]

ONLY_ID = 0


@attrs.frozen
class Node:
    """One instance, as clients see it."""

    id: int
    host: str
    port: int
    is_self: bool = True


class Nodes(Protocol):
    """All instances. `reached` is the address by which the client that asks came here."""

    @property
    def cluster_id(self) -> str: ...

    def is_current(self) -> bool:
        """Whether this instance hears of the others: else they may have taken over what it believes to be its own."""
        ...

    def nodes(self, reached: Address) -> Sequence[Node]:
        """Those that are there; never none."""
        ...

    def owner(self, group_id: str, reached: Address) -> Node | None:
        """Who coordinates the group; None: nobody at the moment."""
        ...


@attrs.frozen
class OneNode:
    """A kcoord that runs by itself. Without an advertised address each client is told the one that it came in by."""

    cluster_id: str
    advertised: Address | None

    def is_current(self) -> bool:
        """See Nodes. There is nobody to hear of."""
        return True

    def nodes(self, reached: Address) -> Sequence[Node]:
        """See Nodes."""
        host, port = self.advertised or reached
        return [Node(ONLY_ID, host, port)]

    def owner(self, _group_id: str, reached: Address) -> Node | None:
        """See Nodes."""
        return self.nodes(reached)[0]


@attrs.frozen
class InstanceNodes:
    """Several instances, by the newest map that this one has."""

    cluster_id: str
    membership: Membership

    def is_current(self) -> bool:
        """See Nodes."""
        return not self.membership.is_cut_off

    def nodes(self, _reached: Address) -> Sequence[Node]:
        """See Nodes. Before there is a map, this instance."""
        return [self._node(each) for each in self.membership.living()] or [self._node(self.membership.instance)]

    def owner(self, group_id: str, _reached: Address) -> Node | None:
        """See Nodes. Where the owner has died this instance is named, and calls wait here for the next owner: a client
        that finds nobody alive gives up its work.
        """
        found = self.membership.owner(group_id)
        if found is not None and self.membership.has_died(found):
            found = self.membership.instance
        return None if found is None else self._node(found)

    def _node(self, instance: Instance) -> Node:
        return Node(instance.instance_id, instance.host, instance.port, self.membership.is_self(instance))
