"""The selection of the assignor, and of the workers that could run it (CG-15, CG-16).

1. A client-side assignor that every member lists. Of several, the one that most members list first; then by name.
2. Otherwise the server-side assignor that most members ask for; then by the server's order.
3. A worker qualifies for a client-side assignor when its version range contains the ranges of all members: then it can
   read the metadata of all of them.
4. Classic members list no assignors; their metadata counts as version -1. Beside them, a worker must also read version
   -1. If no worker of the new protocol does, the classic members' side is selected.
5. If nobody qualifies, the server-side `cooperative` computes where the configured set is known, otherwise nobody.
   Workers that qualify and are away for a while are waited for.

These functions look at the distinct supports of the members (`assignor_support.py`), not at each member: a whole fleet
may join at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from kcoord.assign.connect import CLASSIC_VERSION
from kcoord.group.modern.client_assignors import Kinds, common_assignor, qualified
from kcoord.group.state.groups.assignor_support import Support
from kcoord.group.state.groups.connect_group import ConnectGroup
from kcoord.protocol.frozen_class import frozen

FALLBACK = "cooperative"
"""The version of classic members' metadata."""


@frozen(slots=True)
class Qualified:
    """The members that can compute and are not away. A view of the group, not a copy."""

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
    """The members that can compute; never empty."""


@frozen(slots=True)
class ServerSide:
    """The coordinator computes."""

    name: str


@frozen(slots=True)
class Nobody:
    """No worker can read the metadata of all members for the common assignor."""

    name: str


@frozen(slots=True)
class Absent:
    """The workers that could compute are away for a while (CG-28). The group waits for their return or the end of their
    sessions.
    """

    name: str


@frozen(slots=True)
class ClassicMembers:
    """Classic members: under `default` one of them computes as leader, otherwise the coordinator computes for them."""

    workers: Qualified


Selection = ClientSide | ServerSide | Nobody | Absent | ClassicMembers


def server_side(kinds: Kinds, server_order: Sequence[str]) -> str:
    """The server-side assignor that most members ask for; then by the server's order."""
    votes: Counter[str] = Counter()
    for support, count in kinds.items():
        if support.server_assignor is not None:
            votes[support.server_assignor] += count
    return min(server_order, key=lambda name: (-votes[name], server_order.index(name)))


def select(group: ConnectGroup, server_order: Sequence[str]) -> Selection:
    """Who is to compute for the group's participants. Members that are away are assigned work but cannot compute."""
    kinds = group.supports.kinds()
    classic = frozenset([support for support in kinds if support.classic])
    if classic:
        return _select_beside_classic(group, kinds, classic)
    name = common_assignor(kinds)
    if name is None:
        return ServerSide(server_side(kinds, server_order))
    able = qualified(kinds, name)
    if not able:
        return Nobody(name)
    present = Qualified(group, able)
    return Absent(name) if next(iter(present), None) is None else ClientSide(name, present)


def _select_beside_classic(group: ConnectGroup, kinds: Kinds, classic: frozenset[Support]) -> Selection:
    if len(classic) < len(kinds):
        new = {support: count for support, count in kinds.items() if not support.classic}
        name = common_assignor(new)
        if name is not None:
            present = Qualified(group, qualified(new, name, CLASSIC_VERSION))
            if next(iter(present), None) is not None:
                return ClientSide(name, present)
    return ClassicMembers(Qualified(group, classic))


def classic_side(group: ConnectGroup) -> ClassicMembers | None:
    """The classic members that take part; None: there are none."""
    classic = frozenset([support for support in group.supports.kinds() if support.classic])
    return ClassicMembers(Qualified(group, classic)) if classic else None


def leaves_nobody(kinds: Kinds) -> bool:
    """Whether the members have an assignor in common and none of them could compute for all (CG-16). False if there
    are classic members: their side can always be selected.
    """
    if any(support.classic for support in kinds):
        return False
    name = common_assignor(kinds)
    return name is not None and not qualified(kinds, name)
