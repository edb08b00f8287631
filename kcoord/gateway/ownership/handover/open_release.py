"""The open release of one group: which members were sent to the cluster, and which of them it has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

import attrs

from kcoord.gateway.ownership.sentinel.described_groups import INSTANCE_ID
from kcoord.gateway.session.client_session import ClientSession
from kcoord.gateway.session.upstream import Upstream
from kcoord.protocol.generated.describe_groups_response import DescribedGroupMember
from kcoord.protocol.messages import JoinGroupRequest

__all__ = ["OpenRelease", "PassedJoin"]


@attrs.frozen
class PassedJoin:
    """A member's JoinGroup that was passed on."""

    there: str | None
    """The new id, or else the instance id, of the member upstream; None: it named neither (older than KIP-394)."""
    session: ClientSession
    upstream: Upstream | None
    """The connection that it was passed on by."""
    client_id: str

    @property
    def is_lost(self) -> bool:
        """Whether its answer can no longer come."""
        return self.session.gone or self.session.upstream is not self.upstream

    def has_arrived(self, there: AbstractSet[str | None], unnamed: Counter[str]) -> bool:
        """Whether the cluster has its member: by its id in `there`, or else as one of the `unnamed` members, which are
        counted by client id. In the second case it takes one from `unnamed`.
        """
        if self.there is not None:
            return self.there in there
        unnamed[self.client_id] -= 1
        return unnamed[self.client_id] >= 0


@attrs.define
class OpenRelease:
    """The open release of one group: its members are sent to the cluster."""

    ids: dict[str, str] = attrs.Factory(dict)
    """Member ids that upstream has given out → the id that the member has or had here; for a newcomer its new id."""
    came: dict[str, PassedJoin] = attrs.Factory(dict)
    """The JoinGroups that were passed on, by the id of their member here; without those that were refused or lost."""
    leave_by_ms: int | None = None
    """When the sentinel leaves at the latest; None until the first JoinGroup is passed on."""
    has_left: bool = False
    """Whether the sentinel has left, or is about to."""
    is_left: bool = False
    """Whether kcoord knows that the sentinel is not in the group upstream."""
    sends_back: bool = False
    """Whether the members were removed upstream a moment ago, in an adoption that failed."""
    unheard: dict[str, tuple[JoinGroupRequest, str]] = attrs.Factory(dict)
    """Members that have not come by their new id yet, so they may not have heard of it. By the new id: the JoinGroup
    that was answered, and the id here.
    """
    dead: set[str] = attrs.Factory(set)
    """Ids that upstream has given out and no longer knows."""

    def stays(self, before: str) -> None:
        """The JoinGroup of the member with the id `before` here was refused or is lost."""
        self.came.pop(before, None)

    def have_come(self, here: AbstractSet[str]) -> bool:
        """Whether the JoinGroups of all members here were passed on. One that left, or whose session has ended, is no
        member here any more and need not come.
        """
        return here <= self.came.keys()

    def missing(self, members: Iterable[DescribedGroupMember]) -> dict[str, PassedJoin]:
        """The JoinGroups that were passed on and whose members are not among those that the cluster describes. Of
        these, the lost ones count no longer as passed on.
        """
        missing = _missing_joins(self.came, members)
        for before in [before for before, join in missing.items() if join.is_lost]:
            self.stays(before)
        return missing

    def starts_over(self) -> None:
        """Upstream still has the sentinel and knows of no member's join: forget all JoinGroups."""
        self.came.clear()
        self.has_left = self.is_left = False
        self.leave_by_ms = None


def _missing_joins(came: Mapping[str, PassedJoin], members: Iterable[DescribedGroupMember]) -> dict[str, PassedJoin]:
    """The JoinGroups in `came` whose members the cluster does not have yet.

    The cluster gives ids of its own to clients older than KIP-394. So it has as many of these as it has members with
    their client id that no other JoinGroup in `came` names.
    """
    ids = {join.there for join in came.values() if join.there is not None}
    there: set[str | None] = set()
    unnamed: Counter[str] = Counter()
    for member in members:
        named = ids & {member.member_id, member.group_instance_id}
        there |= named
        unnamed[member.client_id] += not named and member.group_instance_id != INSTANCE_ID
    return {before: join for before, join in came.items() if not join.has_arrived(there, unnamed)}
