"""Which assignor is to compute, and which workers could run it? (CG-15, CG-16)

1. A client-side assignor that every member lists; of several the one first for most members, ties by name.
2. Else the server-side one that most members ask for; ties, and nobody asking, by the server's order.
3. A worker qualifies for a client-side assignor when its version range contains the union of all members' ranges: then
   it reads everybody's metadata.
4. Legacy workers list nothing. Where there are some, whoever computes must also read version -1, which theirs is; if
   no worker of the new protocol can, a legacy worker computes.
5. Nobody qualifies (any more): the server-side `cooperative` where the configured set is known, else nothing. Those who
   are away for a while are waited for.

All is asked of the different things that members support (`support.py`), not of each member: a fleet joins in one go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from kcoord.group.connect.group import ConnectGroup
from kcoord.group.connect.support import Support
from kcoord.protocol.frozen import frozen

FALLBACK = "cooperative"
LEGACY_VERSION = -1
"""The version that metadata of legacy workers has."""
NO_LEGACY = 2**15
"""Above every version."""

Kinds = Mapping[Support, int]
"""How many members support what."""


@frozen(slots=True)
class Qualified:
    """The members that can compute and are not away. A look at the group as it is at this moment, not a copy."""

    group: ConnectGroup
    kinds: frozenset[Support]

    def __contains__(self, member_id: str) -> bool:
        supports = self.group.supports.by_member.get(member_id)
        return supports in self.kinds and not self.group.members[member_id].away

    def __iter__(self) -> Iterator[str]:
        members = self.group.members
        return (each for each in self.group.supports.those_with(self.kinds) if not members[each].away)


@frozen(slots=True)
class ClientSide:
    """A worker computes."""

    name: str
    qualified: Qualified
    """Those who can; never empty."""


@frozen(slots=True)
class ServerSide:
    """The coordinator computes."""

    name: str


@frozen(slots=True)
class Nobody:
    """No worker reads everybody's metadata for the common assignor."""

    name: str


@frozen(slots=True)
class Absent:
    """Those who could are away for a while (CG-28): they compute when they are back, or their sessions end."""

    name: str


@frozen(slots=True)
class LegacySide:
    """A worker that speaks the generic protocol computes, as its leader."""

    workers: Qualified


Selection = ClientSide | ServerSide | Nobody | Absent | LegacySide


def common_assignor(kinds: Kinds) -> str | None:
    """The client-side assignor that all list and most put first; None where there is none."""
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


def qualified(kinds: Kinds, name: str, lowest: int = NO_LEGACY) -> frozenset[Support]:
    """What those support who read everybody's versions of the assignor, `lowest` among them."""
    ranges = [
        (support, listed.minimum_version, listed.maximum_version)
        for support in kinds
        for listed in support.listed
        if listed.name == name
    ]
    lowest = min(lowest, *[low for _, low, _ in ranges])
    highest = max(high for _, _, high in ranges)
    return frozenset([support for support, low, high in ranges if low == lowest and high == highest])


def server_side(kinds: Kinds, server_order: Sequence[str]) -> str:
    """The server-side assignor that most ask for."""
    votes: Counter[str] = Counter()
    for support, count in kinds.items():
        if support.server_assignor is not None:
            votes[support.server_assignor] += count
    return min(server_order, key=lambda name: (-votes[name], server_order.index(name)))


def select(group: ConnectGroup, server_order: Sequence[str]) -> Selection:
    """What is to compute for the group's participants, of whom those that are away compute nothing themselves."""
    kinds = group.supports.kinds()
    legacy = frozenset([support for support in kinds if support.legacy])
    if legacy:
        return _select_beside_legacy(group, kinds, legacy)
    name = common_assignor(kinds)
    if name is None:
        return ServerSide(server_side(kinds, server_order))
    able = qualified(kinds, name)
    if not able:
        return Nobody(name)
    present = Qualified(group, able)
    return Absent(name) if next(iter(present), None) is None else ClientSide(name, present)


def _select_beside_legacy(group: ConnectGroup, kinds: Kinds, legacy: frozenset[Support]) -> Selection:
    if len(legacy) < len(kinds):
        new = {support: count for support, count in kinds.items() if not support.legacy}
        name = common_assignor(new)
        if name is not None:
            present = Qualified(group, qualified(new, name, LEGACY_VERSION))
            if next(iter(present), None) is not None:
                return ClientSide(name, present)
    return LegacySide(Qualified(group, legacy))


def legacy_side(group: ConnectGroup) -> LegacySide | None:
    """The legacy workers, if there are any that take part."""
    legacy = frozenset([support for support in group.supports.kinds() if support.legacy])
    return LegacySide(Qualified(group, legacy)) if legacy else None


def leaves_nobody(kinds: Kinds) -> bool:
    """Whether these have an assignor in common, and none of them could compute for all (CG-16). Where there are
    legacy workers, one of them can.
    """
    if any(support.legacy for support in kinds):
        return False
    name = common_assignor(kinds)
    return name is not None and not qualified(kinds, name)
