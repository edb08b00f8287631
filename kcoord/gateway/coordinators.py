"""Where is a group's coordinator, as upstream says or last said?

Rules (gateway rule 9): FindCoordinator is always asked upstream (that is also what makes `__consumer_offsets` there);
the broker named is answered at kcoord's port for it. Where upstream says that it has none for a group that is kcoord's
to take, the last known one is named, or the broker that was asked: Connect stops all its tasks when discovery fails for
one heartbeat interval.
"""

from __future__ import annotations

from typing import Any

from kcoord.gateway.settings import Address
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.find_coordinator_response import Coordinator
from kcoord.protocol.messages import FindCoordinatorRequest, FindCoordinatorResponse

__all__ = ["GROUP_KEY", "KEYS_FROM", "Coordinators", "group_keys", "keep_newest"]

GROUP_KEY = 0
"""FindCoordinator's key type of groups; transactions and share partitions have theirs."""
KEYS_FROM = 4
"""The version of FindCoordinator from which a client names several keys, or none."""
KNOWN_LIMIT = 200_000
"""Groups that something is remembered of; beyond, the longest known are forgotten."""


def keep_newest(known: dict[str, Any], limit: int = KNOWN_LIMIT) -> None:
    """Forget what is too much of `known`, by group: clients may ask about any name."""
    while len(known) > limit:
        del known[next(iter(known))]


def group_keys(request: FindCoordinatorRequest) -> list[str]:
    """The groups that a FindCoordinator asks for, in its order."""
    if request.key_type != GROUP_KEY:
        return []
    return request.coordinator_keys or ([request.key] if request.key else [])


class Coordinators:
    """The last known coordinator of each group."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def of(self, group_id: str) -> int | None:
        return self._known.get(group_id)

    def learn(self, group_id: str, broker_id: int) -> None:
        self._known.pop(group_id, None)
        self._known[group_id] = broker_id
        keep_newest(self._known)

    def groups_at(self, broker_id: int | None) -> list[str]:
        """The groups whose coordinator that broker was last; all for None."""
        return [group for group, at in self._known.items() if broker_id is None or at == broker_id]

    def learn_from(self, keys: list[str], response: FindCoordinatorResponse) -> None:
        """Remember what a response says about groups."""
        for key, node_id, error in _answers(keys, response):
            if error == ErrorCode.NONE and node_id >= 0:
                self.learn(key, node_id)

    def patch(
        self, keys: set[str], request: FindCoordinatorRequest, response: FindCoordinatorResponse, fallback: int | None
    ) -> None:
        """Where upstream has no coordinator for one of `keys`, name the last known, or `fallback`.

        Only the node id is set: the address follows when nodes are mapped.
        """
        if request.coordinator_keys:
            for each in response.coordinators:
                node = self._known.get(each.key, fallback)
                if each.key in keys and each.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE and node is not None:
                    each.error_code, each.error_message, each.node_id = ErrorCode.NONE, None, node
        elif request.key in keys and response.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE:
            node = self._known.get(request.key, fallback)
            if node is not None:
                response.error_code, response.error_message, response.node_id = ErrorCode.NONE, None, node

    def answer(self, request: FindCoordinatorRequest, at: dict[int, Address]) -> FindCoordinatorResponse | None:
        """The answer from what is known alone; None unless it is known for every key."""
        keys = group_keys(request)
        nodes = [self._known.get(key) for key in keys]
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
