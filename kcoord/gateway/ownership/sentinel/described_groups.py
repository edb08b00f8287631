"""Groups as the cluster describes them now, and the sentinel in such a description."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from kcoord.gateway.ownership.sentinel.appearance import SeenAppearance, read_appearance
from kcoord.gateway.ownership.sentinel.upstream_errors import PASSING
from kcoord.gateway.session.upstream import Asker, UpstreamLost
from kcoord.protocol.generated.describe_groups_response import DescribedGroup, DescribedGroupMember
from kcoord.protocol.messages import DescribeGroupsRequest, DescribeGroupsResponse

__all__ = [
    "COMPLETING",
    "INSTANCE_ID",
    "PREPARING",
    "STABLE",
    "Seen",
    "described_group",
    "described_groups",
    "is_at_rest",
    "is_given_out_without",
    "other_members",
    "seen_sentinel",
]

INSTANCE_ID = "kcoord"
"""The group instance id of every sentinel."""
PREPARING, COMPLETING, STABLE = "PreparingRebalance", "CompletingRebalance", "Stable"
GIVEN_OUT = frozenset({COMPLETING, STABLE})
"""States of a group whose members are those of its last rebalance."""
NEWEST = 5
"""The last version of DescribeGroups that does not answer a missing group with an error."""


async def described_groups(asker: Asker, group_ids: Sequence[str]) -> list[DescribedGroup]:
    """The groups, in the order of their ids; a missing one is Dead. Raises UpstreamLost.

    Empty if the broker does not have DescribeGroups.
    """
    version = await asker.version(DescribeGroupsRequest, NEWEST)
    if version is None:
        return []
    response = await asker.ask(DescribeGroupsRequest(groups=list(group_ids)), version)
    assert isinstance(response, DescribeGroupsResponse)
    return response.groups


async def described_group(asker: Asker, group_id: str) -> DescribedGroup:
    """One group. Raises UpstreamLost, also if the broker does not have DescribeGroups."""
    for described in await described_groups(asker, [group_id]):
        return described
    raise UpstreamLost("the broker does not have DescribeGroups")


def is_at_rest(described: DescribedGroup) -> bool:
    """Whether no rebalance is under way, so that a coordinator that loads its log has the group as described here.

    A group that this client may not have described counts as at rest.
    """
    return described.error_code not in PASSING and described.group_state not in (PREPARING, COMPLETING)


def is_given_out_without(
    described: DescribedGroup, client_id: str | None, instance_id: str | None, *, is_released: bool
) -> bool:
    """Whether the group's last rebalance has given its work to others than this client.

    False if the sentinel is there, or if a member has this client id or instance id: that may be this client, under a
    member id that it has not heard of. While members join, the last rebalance cannot be seen: in a release they have
    come from here (`is_released`), else somebody had the group before.
    """
    names = {each.group_instance_id for each in described.members}
    clients = {each.client_id for each in described.members}
    has_others = described.group_state in GIVEN_OUT or (not is_released and described.group_state == PREPARING)
    is_over = has_others and bool(names) and INSTANCE_ID not in names
    return is_over and (client_id or "") not in clients and (instance_id is None or instance_id not in names)


def other_members(described: DescribedGroup) -> list[DescribedGroupMember]:
    """The members of a group without the sentinel."""
    return [each for each in described.members if each.group_instance_id != INSTANCE_ID]


@attrs.frozen(slots=True)
class Seen:
    """The sentinel as upstream describes it."""

    member_id: str
    shown: SeenAppearance | None
    """None while an instance is joining, or if kcoord cannot read it."""
    is_stable: bool

    @property
    def mark(self) -> int | None:
        return None if self.shown is None else self.shown.mark


def seen_sentinel(described: DescribedGroup) -> Seen | None:
    """The sentinel in a description of its group; None: it is not the group's only member."""
    if [each.group_instance_id for each in described.members] != [INSTANCE_ID]:
        return None
    [member] = described.members
    shown = read_appearance(described.protocol_type, member.member_metadata, member.member_assignment)
    return Seen(member.member_id, shown, described.group_state == STABLE)
