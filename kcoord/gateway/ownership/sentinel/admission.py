"""The admission of a group's members, when kcoord releases the group: the sentinel offers their protocol, then leaves.

The caller holds the sentinel's `lock`. All coroutines raise UpstreamLost.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from collections.abc import Set as AbstractSet

import attrs

from kcoord.gateway.ownership.sentinel import joins, requests
from kcoord.gateway.ownership.sentinel.described_groups import PREPARING, described_group, other_members
from kcoord.gateway.ownership.sentinel.state import SentinelState
from kcoord.gateway.ownership.sentinel.upstream_errors import LOST
from kcoord.gateway.session.upstream import Asker
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.generated.leave_group_request import MemberIdentity

__all__ = ["LetIn", "Terms", "go", "let_in", "let_nobody_in"]

GENERATIONS_BEHIND = 16
"""How many generations the cluster may be behind kcoord at a release; the sentinel joins once for each of them."""


@attrs.frozen
class LetIn:
    """What the sentinel must know to let the group's members in."""

    offers: Sequence[JoinGroupRequestProtocol]
    """The protocols that they speak."""
    generation: int
    """The group's generation here."""
    members: AbstractSet[str]
    """The ids of its members here."""


Terms = Callable[[], Awaitable[LetIn | None]]
"""Tells what holds when the sentinel has nothing else to do; None: it must not let anybody in any more."""


async def let_in(sentinel: SentinelState, asker: Asker, terms: Terms) -> ErrorCode:
    """Offer the protocols of the group's members, so that they can join it upstream.

    OPERATION_NOT_ATTEMPTED: there are no `terms` any more.

    If members are there already, the sentinel has let them in. If this process does not know of that, an earlier
    process died on the way. While the cluster waits for that one's sentinel, no member has had an answer to its
    join, and their connections have ended: the sentinel removes them all. Otherwise it leaves the group to them.
    If `members` of the group here are in it by their ids, the group was never adopted: it is the cluster's.
    """
    let_in = await terms()
    if let_in is None:
        return ErrorCode.OPERATION_NOT_ATTEMPTED
    generation = let_in.generation
    described = await described_group(asker, sentinel.group_id)
    others = other_members(described)
    if sentinel.IS_SHARED:  # another instance may have joined as a new member since
        sentinel.member_id = next((each.member_id for each in described.members if each not in others), "")
    if any(each.member_id in let_in.members for each in others):
        if len(others) < len(described.members):
            await requests.evict(sentinel, asker)
        sentinel.note_refusal()
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    sentinel.offers = tuple(let_in.offers)
    sentinel.inherited = sentinel.inherited or sentinel.mark is not None  # until it is known to have joined, or left
    if others and sentinel.mark is not None:
        sentinel.inherited = False
        return ErrorCode.NONE
    if not others:
        return await _join_not_before(sentinel, asker, generation)
    if described.group_state != PREPARING or len(others) == len(described.members):
        return await go(sentinel, asker)
    sentinel.member_id, sentinel.refused = "", False
    error = await requests.remove(sentinel, asker, [MemberIdentity(each.member_id) for each in others])
    return error or await joins.join(sentinel, asker, generation)


async def _join_not_before(sentinel: SentinelState, asker: Asker, generation: int) -> ErrorCode:
    """Join until the next generation upstream is not below `generation` here (AD-18).

    Of two members that claim one partition, clients believe the one with the higher generation.
    """
    error = await joins.join(sentinel, asker, generation)
    for _ in range(GENERATIONS_BEHIND):
        if error or sentinel.generation + 1 >= generation:
            break
        error = await joins.join(sentinel, asker, generation)
    return error


async def let_nobody_in(sentinel: SentinelState, asker: Asker, generation: int) -> ErrorCode:
    """Offer only its own protocol and remove members that have come."""
    sentinel.offers, sentinel.mark, sentinel.beat_due_ms = (), None, 0
    return await joins.join(sentinel, asker, generation, is_released=True)


async def go(sentinel: SentinelState, asker: Asker, right_after: Callable[[], None] | None = None) -> ErrorCode:
    """Leave the group to the members that are in it now."""
    error = await requests.evict(sentinel, asker, right_after=right_after)
    if error in LOST or error == ErrorCode.NONE:
        sentinel.forget()
        sentinel.refused = True
        return ErrorCode.NONE
    return error
