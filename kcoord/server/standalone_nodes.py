"""The nodes that clients of a kcoord without a cluster see, and the node that has a group.

A kcoord that runs by itself is the only node. If several instances share a log, each of them names all instances, by
the same map.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import attrs

if TYPE_CHECKING:
    from kcoord.instances.instance_map import Instance
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
    """All instances as nodes. `reached` is the address at which the asking client reached this instance."""

    @property
    def cluster_id(self) -> str: ...

    def is_current(self) -> bool:
        """Whether this instance is in touch with the others. If not, they may have taken over its groups."""
        ...

    def nodes(self, reached: Address) -> Sequence[Node]:
        """The nodes that are alive; never empty."""
        ...

    def owner(self, group_id: str, reached: Address) -> Node | None:
        """The node that coordinates the group; None if no node does at the moment."""
        ...


@attrs.frozen
class OneNode:
    """A kcoord that runs by itself. Without an advertised address it names to each client the address that the client
    used.
    """

    cluster_id: str
    advertised: Address | None

    def is_current(self) -> bool:
        """See Nodes. There are no other instances."""
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
    """Several instances, from the newest map that this one has."""

    cluster_id: str
    membership: Membership

    def is_current(self) -> bool:
        """See Nodes."""
        return not self.membership.is_cut_off

    def nodes(self, _reached: Address) -> Sequence[Node]:
        """See Nodes. Before there is a map, this instance alone."""
        return [self._node(each) for each in self.membership.living()] or [self._node(self.membership.instance)]

    def owner(self, group_id: str, _reached: Address) -> Node | None:
        """See Nodes. If the owner has died, this instance names itself, and requests wait here for the next owner: a
        client that reaches no coordinator gives up its work.
        """
        found = self.membership.owner(group_id)
        if found is not None and self.membership.has_died(found):
            found = self.membership.instance
        return None if found is None else self._node(found)

    def _node(self, instance: Instance) -> Node:
        return Node(instance.instance_id, instance.host, instance.port, self.membership.is_self(instance))
