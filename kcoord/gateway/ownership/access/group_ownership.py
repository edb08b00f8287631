"""Group ownership: whether a group is kcoord's now, by its coordinator and its sentinel.

The coordinator may be another instance. Rules:

1. kcoord asks the group's coordinator before it decides where a call goes. If it passed on the call of a member that it
   has itself, upstream would answer that the member is unknown. If the coordinator does not answer, kcoord passes
   nothing on and the client tries again.
2. If the sentinel is in the group, or upstream has refused it, kcoord knows the answer without asking.
3. While the sentinel joins, the group is kcoord's. Upstream may refuse the sentinel because the group's members are
   there. So kcoord does not tell such a member, when it comes through kcoord, that it is unknown before upstream has
   answered (`group_calls.is_elsewhere`).
4. A request that names a group whose shard is being loaded waits a moment for it. A request that names several groups
   then gets for each of them the answer that kcoord has.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from kcoord.gateway.interfaces import GroupReader
from kcoord.gateway.ownership.sentinel.sentinel import Sentinel
from kcoord.gateway.session.upstream import UpstreamLost
from kcoord.gateway.settings import GatewaySettings
from kcoord.group.api_handlers_and_rights import API_TABLE
from kcoord.group.group_configs import GROUP
from kcoord.group.group_facts import UNKNOWN, GroupFacts
from kcoord.group.state.owner_setting import Owner
from kcoord.protocol.messages import (
    HeartbeatRequest,
    LeaveGroupRequest,
    ListGroupsRequest,
    Request,
    SyncGroupRequest,
)

__all__ = [
    "Unanswered",
    "described_here",
    "facts_of",
    "groups_named",
    "is_here",
    "is_the_clusters",
    "may_be_here",
    "members_named",
    "seems_here",
    "wait_until_loaded",
    "when_taken",
]

FIRST_LOOK_S, LAST_LOOK_S, SLOWER = 0.02, 0.2, 1.5
"""First pause and longest pause, in seconds, between two checks whether a group is loaded, and the factor between."""

_BATCHES = {row.request: row.batch for row in API_TABLE if row.batch is not None and row.right is not None}
"""How requests name several groups. FindCoordinator is not among them: it only asks for nodes, and needs no right here.
"""


class KnownSentinels(Protocol):
    """The existing sentinels, by group."""

    def known(self, group_id: str, /) -> Sentinel | None: ...


class OwnershipContext(Protocol):
    """What group ownership needs from the gateway."""

    settings: GatewaySettings
    groups: GroupReader
    now_ms: Callable[[], int]

    @property
    def sentinels(self) -> KnownSentinels: ...

    def owns(self, group_id: str) -> bool:
        """Whether kcoord may take the group, or could take it earlier and still has members of it."""

    def owner_of(self, group_id: str, facts: GroupFacts) -> str:
        """Who shall have the group (`gateway.owner`)."""

    def matches(self, group_id: str) -> bool:
        """Whether kcoord may take the group (`--groups`)."""


class Unanswered(UpstreamLost):
    """The group's coordinator, this instance or another, does not answer now."""


async def facts_of(gateway: OwnershipContext, group_id: str) -> GroupFacts:
    """The facts that the group's coordinator gives now. Raises Unanswered."""
    facts = (await gateway.groups.facts([group_id])).get(group_id, UNKNOWN)
    if not facts.loaded:
        raise Unanswered(f"nobody coordinates group {group_id} at the moment")
    return facts


async def is_here(gateway: OwnershipContext, group_id: str) -> bool:
    """Whether kcoord has the group, or is taking it. Raises Unanswered."""
    decided = _decided(gateway, group_id)
    return (await facts_of(gateway, group_id)).has_members if decided is None else decided


async def when_taken(gateway: OwnershipContext, group_id: str) -> None:
    """If the sentinel is joining, wait until it is known whether it gets into the group."""
    sentinel = gateway.sentinels.known(group_id)
    if sentinel is not None and sentinel.taking is not None:
        await asyncio.wait({sentinel.taking})


async def is_the_clusters(gateway: OwnershipContext, group_id: str) -> bool:
    """Whether the cluster shall have the group, and kcoord has no members in it. Raises Unanswered."""
    return _is_given(gateway, group_id, await facts_of(gateway, group_id))


def seems_here(gateway: OwnershipContext, group_id: str) -> bool:
    """As `is_here`, from known facts and without asking the coordinator; for bookkeeping."""
    decided = _decided(gateway, group_id)
    return gateway.groups.known_facts(group_id).has_members if decided is None else decided


def _decided(gateway: OwnershipContext, group_id: str) -> bool | None:
    """Whether the group is kcoord's, if the sentinel alone decides it; None: the coordinator must be asked."""
    if not gateway.owns(group_id):
        return False
    sentinel = gateway.sentinels.known(group_id)
    if sentinel is not None and (sentinel.refused or sentinel.is_joined or sentinel.is_taking):
        return sentinel.is_contested or not sentinel.refused
    return None


async def described_here(gateway: OwnershipContext, group_ids: Iterable[str]) -> set[str]:
    """The groups that kcoord must describe, with or without members, and those that it cannot describe now.

    The cluster describes an empty group that it shall have.
    """
    ours = [group_id for group_id in group_ids if may_be_here(gateway, group_id)]
    facts = await gateway.groups.facts(ours) if ours else {}
    return {
        group_id
        for group_id in ours
        if not (known := facts.get(group_id, UNKNOWN)).loaded
        or (known.generation is not None and not _is_given(gateway, group_id, known))
    }


def _is_given(gateway: OwnershipContext, group_id: str, facts: GroupFacts) -> bool:
    return gateway.owner_of(group_id, facts) == Owner.CLUSTER and not facts.has_members


def may_be_here(gateway: OwnershipContext, group_id: str) -> bool:
    """Whether kcoord may take the group, by the facts known without asking, and upstream has not refused it."""
    sentinel = gateway.sentinels.known(group_id)
    if not gateway.owns(group_id) or _is_given(gateway, group_id, gateway.groups.known_facts(group_id)):
        return False
    return sentinel is None or not sentinel.refused


def groups_named(request: Request) -> list[str]:
    """The groups that a request is about. Of the resources that have settings, only groups count."""
    if isinstance(request, ListGroupsRequest):
        return []
    batch = _BATCHES.get(type(request))
    if batch is None:
        return [getattr(request, "group_id", "")]
    named = getattr(request, batch.names)
    return [batch.name_of(each) for each in named if getattr(each, "resource_type", GROUP) == GROUP]


def members_named(request: SyncGroupRequest | HeartbeatRequest | LeaveGroupRequest) -> set[str]:
    """The ids of the members that a request is about; LeaveGroup can name several from version 3 on (KIP-345)."""
    others = request.members if isinstance(request, LeaveGroupRequest) else ()
    return {request.member_id, *(each.member_id for each in others)}


async def wait_until_loaded(gateway: OwnershipContext, named: Sequence[str]) -> bool:
    """Wait until those of these groups that are kcoord's are loaded, for `gateway.patience.ms` at most. Returns whether
    it waited.
    """
    ours = [group_id for group_id in named if gateway.owns(group_id)]
    if all(gateway.groups.known_facts(group_id).loaded for group_id in ours):
        return False
    until_ms = gateway.now_ms() + gateway.settings.patience_ms
    pause_s, waited = FIRST_LOOK_S, False
    while gateway.now_ms() < until_ms:
        facts = await gateway.groups.facts(ours)
        if all(facts.get(group_id, UNKNOWN).loaded for group_id in ours):
            break
        await asyncio.sleep(pause_s)
        pause_s, waited = min(pause_s * SLOWER, LAST_LOOK_S), True
    return waited
