"""Groups as the cluster describes them now."""

from __future__ import annotations

from collections.abc import Sequence

from kcoord.gateway.session.upstream import Asker, UpstreamLost
from kcoord.protocol.generated.describe_groups_response import DescribedGroup
from kcoord.protocol.messages import DescribeGroupsRequest, DescribeGroupsResponse

__all__ = ["described_group", "described_groups"]

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
