"""Which members speak to this instance by another one, and what becomes of their sessions when that one is gone?

Clients that came by an instance which died are sent to it until the map names another, and that takes as long as the
instances miss it. Their group's owner may have lost nothing meanwhile: so that nobody expires on the way, their
sessions stand still for that long (as GW-10 has it for a broker that is away). The next sign of life, by
whichever instance, counts again.
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

__all__ = ["Guests"]

KEPT_BYTES = 32 << 20
"""Members that are remembered for one instance; the ones that were heard of longest ago are forgotten first."""
MEMBERS = frozenset({ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.COMPUTE_ASSIGNMENT})
"""Answers that only a member gets."""


class Guests:
    """Members whose calls one other instance has relayed: group and member id."""

    def __init__(self) -> None:
        self._members: BoundedCache[tuple[str, str], None] = BoundedCache(KEPT_BYTES)

    def answered(self, group_id: str | None, request: Request, response: Response) -> None:
        """A relayed call was answered: its sender is a member, or none any more."""
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
        """That instance is gone: `pause` each of them, by group and member id."""
        members = list(self._members)
        self._members.clear()
        for group_id, member_id in members:
            pause(group_id, member_id)


def _speaker(request: Request, response: Response) -> str:
    """The member id of who is or becomes a member by this call."""
    if isinstance(response, JoinGroupResponse):
        return response.member_id
    if isinstance(request, SyncGroupRequest | HeartbeatRequest | ConnectGroupHeartbeatRequest):
        return request.member_id
    return ""


def _leaves(request: Request) -> bool:
    return isinstance(request, ConnectGroupHeartbeatRequest) and request.member_epoch < 0
