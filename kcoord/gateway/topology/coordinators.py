"""Coordinators of groups: where they are, by upstream's answers.

Rules (GW-9):

1. While the broker is there, kcoord asks upstream for each coordinator. This also makes upstream create
   `__consumer_offsets`. kcoord answers with the broker that upstream names, at kcoord's port for it.
2. If upstream has no coordinator for a group of kcoord's, kcoord names the last known one, or else the broker that was
   asked, because Connect stops all its tasks when discovery fails for one heartbeat interval.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcoord.bounded_cache import BoundedCache
from kcoord.gateway.settings import Address
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.find_coordinator_response import Coordinator
from kcoord.protocol.messages import FindCoordinatorRequest, FindCoordinatorResponse

__all__ = ["GROUP_KEY", "KEYS_FROM", "Coordinators", "group_keys"]

GROUP_KEY = 0
"""FindCoordinator's key type of groups. Transactions and share partitions have other key types."""
KEYS_FROM = 4
"""The first version of FindCoordinator in which a client names several keys, or none."""
NAMED_BYTES, JOINED_BYTES = 8 << 20, 16 << 20
"""Size limits, in bytes, of the remembered coordinators: of groups that a client only asked for, and of groups that a
member has joined here.
"""


def group_keys(request: FindCoordinatorRequest) -> list[str]:
    """The groups that a FindCoordinator asks for, in its order."""
    if request.key_type != GROUP_KEY:
        return []
    return request.coordinator_keys or ([request.key] if request.key else [])


class Coordinators:
    """The last known coordinator of each group.

    A client that asks for many names makes kcoord forget only groups that nobody has joined through this kcoord.
    """

    def __init__(self) -> None:
        self._named: BoundedCache[str, int] = BoundedCache(NAMED_BYTES)
        self._joined: BoundedCache[str, int] = BoundedCache(JOINED_BYTES)

    def of(self, group_id: str) -> int | None:
        at = self._joined.get(group_id)
        return self._named.get(group_id) if at is None else at

    def learn(self, group_id: str, broker_id: int) -> None:
        known = self._joined if group_id in self._joined else self._named
        known[group_id] = broker_id

    def joined(self, group_id: str) -> None:
        """Note that the group has a member here."""
        at = self._named.pop(group_id)
        if at is not None:
            self._joined[group_id] = at

    def groups_at(self, broker_id: int | None) -> list[str]:
        """The groups whose last known coordinator is that broker; None: all groups."""
        return [group for group, at in self._all() if broker_id is None or at == broker_id]

    def learn_from(self, keys: list[str], response: FindCoordinatorResponse) -> set[str]:
        """Remember the coordinators of the groups `keys` that a response names. Returns the keys that have one.

        `keys` is empty if the client asked for other things than groups, for example transactional ids.
        """
        learnt = set()
        for key, node_id, error in _answers(keys, response):
            if key in keys and error == ErrorCode.NONE and node_id >= 0:
                self.learn(key, node_id)
                learnt.add(key)
        return learnt

    def _last_of(self, group_id: str, fallback: int | None) -> int | None:
        at = self.of(group_id)
        return fallback if at is None else at

    def _all(self) -> Iterator[tuple[str, int]]:
        yield from self._joined.items()
        yield from self._named.items()

    def patch(
        self, keys: set[str], request: FindCoordinatorRequest, response: FindCoordinatorResponse, fallback: int | None
    ) -> None:
        """If upstream has no coordinator for one of `keys`, name the last known one, or else `fallback`.

        This sets only the node id. The address follows when nodes are mapped.
        """
        if request.coordinator_keys:
            for each in response.coordinators:
                node = self._last_of(each.key, fallback)
                if each.key in keys and each.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE and node is not None:
                    each.error_code, each.error_message, each.node_id = ErrorCode.NONE, None, node
        elif request.key in keys and response.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE:
            node = self._last_of(request.key, fallback)
            if node is not None:
                response.error_code, response.error_message, response.node_id = ErrorCode.NONE, None, node

    def answer(self, request: FindCoordinatorRequest, at: dict[int, Address]) -> FindCoordinatorResponse | None:
        """The answer from what kcoord knows alone; None if a coordinator, or its address, is not known."""
        keys = group_keys(request)
        nodes = [self.of(key) for key in keys]
        if not keys or any(node is None or node not in at for node in nodes):
            return None
        found = [
            Coordinator(key=key, node_id=node, host=at[node][0], port=at[node][1])
            for key, node in zip(keys, nodes, strict=True)
            if node is not None
        ]
        if request.coordinator_keys:
            return FindCoordinatorResponse(coordinators=found)
        return FindCoordinatorResponse(node_id=found[0].node_id, host=found[0].host, port=found[0].port)


def _answers(keys: list[str], response: FindCoordinatorResponse) -> list[tuple[str, int, int]]:
    if response.coordinators:
        return [(each.key, each.node_id, each.error_code) for each in response.coordinators]
    return [(keys[0], response.node_id, response.error_code)] if keys else []
