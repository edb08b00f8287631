"""Relayed members: members whose requests another instance relays here, and a pause of their sessions when it is gone.

Clients that came by an instance which died are still sent to it until the map names another one. That takes as long as
the instances need to notice its death. The owner of their group may be well meanwhile. So that no member expires on its
way to another instance, the owner pauses the sessions for that long (as GW-10 does for a broker that is away). The next
sign of life, by any instance, counts again.
"""

from __future__ import annotations

from collections.abc import Callable

from kcoord.bounded_cache import BoundedCache
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    ConnectGroupHeartbeatRequest,
    HeartbeatRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    Request,
    Response,
    SyncGroupRequest,
)

__all__ = ["RelayedMembers"]

KEPT_BYTES = 32 << 20
"""Bytes of members that are remembered for one instance. The least recently used are forgotten first."""
MEMBERS = frozenset({ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.COMPUTE_ASSIGNMENT})
"""Error codes of answers that only a member gets."""


class RelayedMembers:
    """The members whose calls one other instance has relayed, as group and member id."""

    def __init__(self) -> None:
        self._members: BoundedCache[tuple[str, str], None] = BoundedCache(KEPT_BYTES)

    def answered(self, group_id: str | None, request: Request, response: Response) -> None:
        """Note by the answer to a relayed call whether its sender is a member."""
        if group_id is None:
            return
        if isinstance(request, LeaveGroupRequest):
            for member_id in (request.member_id, *(each.member_id for each in request.members)):
                self._members.pop((group_id, member_id))
            return
        member_id = _speaker(request, response)
        if not member_id:
            return
        key = (group_id, member_id)
        if getattr(response, "error_code", None) not in MEMBERS or _leaves(request):
            self._members.pop(key)
            return
        self._members[key] = None

    def miss(self, pause: Callable[[str, str], None]) -> None:
        """The instance is gone: call `pause` with group and member id of each member."""
        members = list(self._members)
        self._members.clear()
        for group_id, member_id in members:
            pause(group_id, member_id)


def _speaker(request: Request, response: Response) -> str:
    """The member id of the sender, if the call is one of a member or makes it one; else empty."""
    if isinstance(response, JoinGroupResponse):
        return response.member_id
    if isinstance(request, SyncGroupRequest | HeartbeatRequest | ConnectGroupHeartbeatRequest):
        return request.member_id
    return ""


def _leaves(request: Request) -> bool:
    return isinstance(request, ConnectGroupHeartbeatRequest) and request.member_epoch < 0
