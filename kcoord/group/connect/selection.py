"""Which assignor is to compute, and which workers could run it? (connect-groups rules 15, 16)

1. A client-side assignor that every member lists; of several the one first for most members, ties by name.
2. Else the server-side one that most members ask for; ties, and nobody asking, by the server's order.
3. A worker qualifies for a client-side assignor when its version range contains the union of all members' ranges: then
   it reads everybody's metadata.
4. Nobody qualifies (any more): the server-side `cooperative` where the configured set is known, else nothing. Those who
   are away for a while are waited for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

import attrs

from kcoord.group.connect.group import Member, Said

FALLBACK = "cooperative"


@attrs.frozen(slots=True)
class ClientSide:
    """A worker computes."""

    name: str
    qualified: tuple[str, ...]
    """Member ids of those who can; never empty."""


@attrs.frozen(slots=True)
class ServerSide:
    """The coordinator computes."""

    name: str


@attrs.frozen(slots=True)
class Nobody:
    """No worker reads everybody's metadata for the common assignor."""

    name: str


@attrs.frozen(slots=True)
class Absent:
    """Those who could are away for a while (rule 28): they compute when they are back, or their sessions end."""

    name: str


Selection = ClientSide | ServerSide | Nobody | Absent


def common_assignor(all_said: Collection[Said]) -> str | None:
    """The client-side assignor that all list and most put first; None where there is none."""
    if not all_said:
        return None
    lists = [[assignor.name for assignor in said.assignors] for said in all_said]
    common = set(lists[0]).intersection(*lists[1:])
    if not common:
        return None
    firsts = Counter(next(name for name in names if name in common) for names in lists)
    return min(common, key=lambda name: (-firsts[name], name))


def qualified(members: Sequence[tuple[str, Said]], name: str) -> tuple[str, ...]:
    """Who supports everybody's versions of the assignor."""
    ranges = [
        (member_id, assignor.minimum_version, assignor.maximum_version)
        for member_id, said in members
        for assignor in said.assignors
        if assignor.name == name
    ]
    lowest = min(low for _, low, _ in ranges)
    highest = max(high for _, _, high in ranges)
    return tuple(member_id for member_id, low, high in ranges if low == lowest and high == highest)


def server_side(all_said: Collection[Said], server_order: Sequence[str]) -> str:
    """The server-side assignor that most ask for."""
    votes = Counter(said.server_assignor for said in all_said if said.server_assignor in server_order)
    return min(server_order, key=lambda name: (-votes[name], server_order.index(name)))


def select(participants: Sequence[Member], server_order: Sequence[str]) -> Selection:
    """What is to compute for these members, of whom those that are away compute nothing themselves."""
    said = [(member.member_id, member.said) for member in participants]
    name = common_assignor([each for _, each in said])
    if name is None:
        return ServerSide(server_side([each for _, each in said], server_order))
    away = {member.member_id for member in participants if member.away}
    able = qualified(said, name)
    if not able:
        return Nobody(name)
    present = tuple([member_id for member_id in able if member_id not in away])
    return ClientSide(name, present) if present else Absent(name)


def leaves_nobody(members: Sequence[tuple[str, Said]]) -> bool:
    """Whether these have an assignor in common, and none of them could compute for all (rule 16)."""
    name = common_assignor([said for _, said in members])
    return name is not None and not qualified(members, name)
