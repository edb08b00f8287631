"""The assignors that a group's members support, and the members of a connect group by distinct support (CG-15, CG-16).

The workers of a fleet nearly always list the same assignors. So a question about all members is answered from the few
*distinct* supports. For each of them the index has its members. It is an index of durable state: only `replay` changes
it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

import attrs

from kcoord.protocol.records import ConnectWorkerGroupMemberMetadataValue as Metadata


class Listed(NamedTuple):
    """A client-side assignor in a member's list."""

    name: str
    minimum_version: int
    maximum_version: int


class Support(NamedTuple):
    """The assignors that a member asks for; equal for all members that ask for the same."""

    server_assignor: str | None
    listed: tuple[Listed, ...]
    """In the member's order of preference."""
    classic: bool = False
    """It is a classic member: it lists no assignors, and its metadata counts as version -1."""


def support_of(metadata: Metadata) -> Support:
    """The support of a member with this metadata."""
    listed = tuple([Listed(each.name, each.minimum_version, each.maximum_version) for each in metadata.assignors])
    return Support(metadata.server_assignor, listed, metadata.classic is not None)


@attrs.define(slots=True, eq=False)
class Supports:
    """The participants of one group by their support."""

    by_member: dict[str, Support] = attrs.Factory(dict)
    members: dict[Support, set[str]] = attrs.Factory(dict)
    """Member ids by support; no set is empty."""

    @classmethod
    def of(cls, all_metadata: Iterable[tuple[str, Metadata]]) -> Supports:
        """Build the index from the metadata of all participants."""
        made = cls()
        for member_id, metadata in all_metadata:
            made.put(member_id, support_of(metadata))
        return made

    def put(self, member_id: str, support: Support) -> None:
        """Note that the member takes part and has this support from now on."""
        if self.by_member.get(member_id) == support:
            return
        self.drop(member_id)
        self.by_member[member_id] = support
        self.members.setdefault(support, set()).add(member_id)

    def drop(self, member_id: str) -> None:
        """Remove the member, if it takes part."""
        support = self.by_member.pop(member_id, None)
        if support is not None:
            alike = self.members[support]
            alike.discard(member_id)
            if not alike:
                del self.members[support]

    def kinds(self) -> dict[Support, int]:
        """The distinct supports, and the number of members with each."""
        return {support: len(alike) for support, alike in self.members.items()}

    def those_with(self, supports: Collection[Support]) -> Iterator[str]:
        """The ids of all members that have one of these supports, in no order."""
        for support in supports:
            yield from self.members[support]
