"""Former member ids: the cluster does not know them, but their members must not hear UNKNOWN_MEMBER_ID.

These are the ids of members here, and the ids that members had here before they went to the cluster, which gave them
new ones. A member that comes by such an id joins the cluster without an id. Every other client must hear that it is
unknown, because its partitions may have other owners by now: for example a member whose session has ended, or one
without which the cluster has given out the group's work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import attrs

from kcoord.bounded_cache import BoundedCache
from kcoord.gateway.interfaces import GroupReader
from kcoord.gateway.ownership.access.guarded_groups import GuardedGroups
from kcoord.gateway.ownership.sentinel.described_groups import described_group, is_given_out_without
from kcoord.group.group_facts import GroupFacts
from kcoord.group.state.owner_setting import Owner
from kcoord.protocol.messages import (
    HeartbeatRequest,
    JoinGroupRequest,
    OffsetCommitRequest,
    SyncGroupRequest,
    TxnOffsetCommitRequest,
)
from kcoord.protocol.undecoded_call import Call

if TYPE_CHECKING:
    from kcoord.gateway.session.client_session import ClientSession

__all__ = ["FormerMemberIds"]

MemberCall = JoinGroupRequest | SyncGroupRequest | HeartbeatRequest | OffsetCommitRequest | TxnOffsetCommitRequest
"""A call of one member."""

FORMER_IDS_BYTES = 4 << 20
"""Size limit, in bytes, of the memory of former ids."""


class FormerIdsContext(Protocol):
    """What `FormerMemberIds` needs from the gateway."""

    groups: GroupReader
    guarded: GuardedGroups
    now_ms: Callable[[], int]

    def owner_of(self, group_id: str, facts: GroupFacts) -> str: ...


@attrs.frozen
class _Former:
    """An id that the cluster does not know, whose member may not have heard of a new one."""

    has_gone: bool
    """Whether the member is known to have been one here. False: it may have been one."""
    until_ms: int
    """When its session upstream ends if it does not hear of its new id. Others may own its partitions after that."""


class FormerMemberIds:
    """The former ids that this process remembers."""

    def __init__(self, gateway: FormerIdsContext) -> None:
        self._gateway = gateway
        self._known: BoundedCache[tuple[str, str], _Former] = BoundedCache(FORMER_IDS_BYTES)
        """By group and member id."""

    def note(self, request: JoinGroupRequest, before: str, *, has_gone: bool = True) -> None:
        """Note that the cluster does not know the id `before`: its member must join there without an id.

        `has_gone`: it is known to have been a member here.
        """
        until_ms = self._gateway.now_ms() + request.session_timeout_ms
        self._known[request.group_id, before] = _Former(has_gone, until_ms)

    def has_gone(self, group_id: str, member_id: str) -> bool:
        """Whether a member with that id has gone to the cluster, which knows it by another id."""
        known = self._still(group_id, member_id)
        return known is not None and known.has_gone

    async def is_ours(self, session: ClientSession, call: Call, request: MemberCall) -> bool:
        """Whether `request` is of a member here, or of one that was here until it went, and the cluster has not given
        out the group's work without it (AD-17). Raises UpstreamLost if nobody can say.
        """
        group_id, member_id, gateway = request.group_id, request.member_id, self._gateway
        if not await self.is_known(group_id, member_id):
            return False
        is_to_go = gateway.owner_of(group_id, gateway.groups.known_facts(group_id)) == Owner.CLUSTER
        is_released = is_to_go or self._still(group_id, member_id) is not None
        client = call.header.client_id, request.group_instance_id
        return not is_given_out_without(await described_group(session, group_id), *client, is_released=is_released)

    async def is_known(self, group_id: str, member_id: str) -> bool:
        """Whether a member here has that id, or had it until it went. Raises UpstreamLost if nobody can say."""
        if self._still(group_id, member_id) is not None:
            return True
        known = self._gateway.groups.known_facts(group_id)
        is_empty = known.loaded and not known.has_members
        return not is_empty and member_id in await self._gateway.guarded.member_ids(group_id)

    def _still(self, group_id: str, member_id: str) -> _Former | None:
        known = self._known.get((group_id, member_id))
        return None if known is None or self._gateway.now_ms() > known.until_ms else known
