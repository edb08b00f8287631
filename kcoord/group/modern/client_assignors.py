"""Client-side assignors: what members list, which assignor they have in common, and who may run it (CG-15, CG-16)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.assignor_support import Support
from kcoord.group.state.groups.modern_group import AnyGroup
from kcoord.group.state.groups.modern_member import JOINING_EPOCH, AnyMember
from kcoord.group.state.transition import Transition

OLDEST_VERSION = -1
NO_CLASSIC = 2**15
"""Above every version."""

Kinds = Mapping[Support, int]
"""The number of members with each support."""


class ListedAssignor(Protocol):
    """A client-side assignor in a member's list, as heartbeats and records have it."""

    name: str
    minimum_version: int
    maximum_version: int
    reason: int
    version: int
    metadata: bytes


def wrong_in_assignors(assignors: Iterable[ListedAssignor]) -> str | None:
    """What is wrong in a member's list; None: nothing."""
    names: set[str] = set()
    for each in assignors:
        if not each.name:
            return "an assignor's Name is empty"
        if each.name in names:
            return f"assignor {each.name} is listed twice"
        names.add(each.name)
        lowest, highest = each.minimum_version, each.maximum_version
        if lowest < OLDEST_VERSION:
            return f"assignor {each.name}: MinimumVersion is {lowest}, it must be -1 or more"
        if highest < 0 or highest < lowest:
            return (
                f"assignor {each.name}: MaximumVersion is {highest}, it must be 0 or more, and MinimumVersion or more"
            )
        if not lowest <= each.version <= highest:
            return f"assignor {each.name}: Version {each.version} is not within {lowest} to {highest}"
    return None


class ComputationRequest(Protocol):
    """A request of a member that computes, to prepare or to install."""

    group_id: str
    member_id: str
    member_epoch: int


def wrong_in_ids(request: ComputationRequest) -> str | None:
    """What is wrong in the ids and the epoch of such a request; None: nothing."""
    if not request.group_id:
        return "GroupId is empty"
    if not request.member_id:
        return "MemberId is empty"
    if request.member_epoch < JOINING_EPOCH:
        return f"MemberEpoch is {request.member_epoch}: it must be 0 or more"
    return None


def common_assignor(kinds: Kinds) -> str | None:
    """The client-side assignor that all members list and most list first; None: they have none in common."""
    if not kinds:
        return None
    first, *others = [[listed.name for listed in support.listed] for support in kinds]
    common = set(first).intersection(*others)
    if not common:
        return None
    firsts = dict.fromkeys(common, 0)
    for support, count in kinds.items():
        firsts[next(listed.name for listed in support.listed if listed.name in firsts)] += count
    return min(common, key=lambda name: (-firsts[name], name))


def qualified(kinds: Kinds, name: str, lowest: int = NO_CLASSIC) -> frozenset[Support]:
    """The supports whose version range for the assignor contains those of all members, and `lowest` (CG-16)."""
    ranges = [
        (support, listed.minimum_version, listed.maximum_version)
        for support in kinds
        for listed in support.listed
        if listed.name == name
    ]
    lowest = min(lowest, *[low for _, low, _ in ranges])
    highest = max(high for _, _, high in ranges)
    return frozenset([support for support, low, high in ranges if low == lowest and high == highest])


def first_able(transition: Transition, group: AnyGroup, able: Iterable[str]) -> str | None:
    """Whom to choose of those who are able: the first by member id. One whose connection is closed may be dead: it
    comes last. None: nobody is able.
    """

    def order(member_id: str) -> tuple[bool, str]:
        return transition.state.is_closed(group.members[member_id].connection), member_id

    return min(able, key=order, default=None)


def watch_computation(transition: Transition, group: AnyGroup, member: AnyMember) -> None:
    """Start the time to compute with the first answer that asks for it: the member cannot have begun before (CG-20)."""
    computation = group.computation
    assert computation is not None
    if computation.due_ms == NEVER_MS:
        computation.due_ms = transition.now_ms + member.metadata.rebalance_timeout_ms
        transition.wake(group, computation.due_ms)
