"""What do the members of a connect group support, without looking at each of them? (CG-15, CG-16)

A fleet's workers nearly always say the same, however many they are. So what is asked about all of them is asked of the
few *different* things that they say; the members are kept below those. An index over what is durable: only `replay`
changes it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

import attrs

from kcoord.protocol.records import ConnectWorkerGroupMemberMetadataValue as Said


class Listed(NamedTuple):
    """A client-side assignor in a member's list."""

    name: str
    minimum_version: int
    maximum_version: int


class Support(NamedTuple):
    """Which assignors a member asks for, and how; equal for all members that do alike."""

    server_assignor: str | None
    listed: tuple[Listed, ...]
    """The first is the one that it likes best."""
    legacy: bool = False
    """It speaks the generic protocol: it lists nothing, and is listed with version -1."""


def support_of(said: Said) -> Support:
    """What a member that says this supports."""
    listed = tuple([Listed(each.name, each.minimum_version, each.maximum_version) for each in said.assignors])
    return Support(said.server_assignor, listed, said.legacy is not None)


@attrs.define(slots=True, eq=False)
class Supports:
    """The participants of one group by what they support."""

    by_member: dict[str, Support] = attrs.Factory(dict)
    members: dict[Support, set[str]] = attrs.Factory(dict)
    """Member ids; never empty."""

    @classmethod
    def of(cls, all_said: Iterable[tuple[str, Said]]) -> Supports:
        """The same made afresh from what everybody says."""
        made = cls()
        for member_id, said in all_said:
            made.put(member_id, support_of(said))
        return made

    def put(self, member_id: str, support: Support) -> None:
        """The member takes part, and supports this from now on."""
        if self.by_member.get(member_id) == support:
            return
        self.drop(member_id)
        self.by_member[member_id] = support
        self.members.setdefault(support, set()).add(member_id)

    def drop(self, member_id: str) -> None:
        """The member takes part no more, if it ever did."""
        support = self.by_member.pop(member_id, None)
        if support is not None:
            alike = self.members[support]
            alike.discard(member_id)
            if not alike:
                del self.members[support]

    def kinds(self) -> dict[Support, int]:
        """The different supports, and how many members have each."""
        return {support: len(alike) for support, alike in self.members.items()}

    def those_with(self, supports: Collection[Support]) -> Iterator[str]:
        """The member ids of all who support one of these, in no order."""
        for support in supports:
            yield from self.members[support]
