"""The rights of a client: whether it may be a member of the groups that kcoord is to have.

kcoord has no rights of its own at the cluster. It takes and holds a group, and commits for it, over the connections of
the group's members. So these need what they needed before: Read on the group. The check sends a heartbeat for a member
that does not exist, which changes nothing: every broker checks whether the group may be read before it looks for the
member.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from kcoord.cli.checks.access_rules import ANONYMOUS, BY_CERTIFICATE, command, groups_of, literal_prefix
from kcoord.cli.checks.finding import Finding, fine, note, problem
from kcoord.client import Cluster, Connection
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    DescribeClusterRequest,
    DescribeClusterResponse,
    HeartbeatRequest,
    HeartbeatResponse,
)
from kcoord.settings import Settings

NOBODY = "kcoord-check"
"""A member id that no member has."""
DESCRIBE = 8
"""The bit of this operation in the authorized operations: Kafka's number of AclOperation."""
NAMED = 3
"""How many groups a line names."""
MOST = 200
"""How many groups are asked about."""


async def check_rights(cluster: Cluster, settings: Settings, groups: Sequence[str]) -> AsyncIterator[Finding]:
    """What the client of `cluster` may do with `groups`, those that `--groups` matches. Raises ClientError."""
    who = principal_of(cluster, settings)
    connection = await cluster.any()
    if not await _may_see_all(connection):
        yield note(
            "rights",
            f"{who} may not describe the cluster, so groups that it may not describe are not listed here",
            command(settings.upstream, who, ["Describe"], "--cluster"),
        )
    if groups:
        asked = groups[:MOST]
        refused = [each for each in asked if not await _may_read(connection, each)]
        yield _judge(settings, who, refused, len(asked), is_everybody=cluster.security.mechanism is None)
    else:
        for pattern in settings.groups:
            found = await _judge_pattern(connection, settings, who, pattern)
            if found is not None:
                yield found


def principal_of(cluster: Cluster, settings: Settings) -> str:
    """The principal that the cluster sees for the client."""
    if cluster.security.mechanism is not None:
        return f"User:{cluster.security.username}"
    return ANONYMOUS if settings.upstream_ssl_certificate_location is None else BY_CERTIFICATE


def _judge(settings: Settings, who: str, refused: Sequence[str], asked: int, *, is_everybody: bool) -> Finding:
    if not refused:
        return fine("rights", f"{who} may be a member of {'the group' if asked == 1 else f'all {asked} groups'}")
    named = ", ".join(refused[:NAMED]) + (f" and {len(refused) - NAMED} more" if len(refused) > NAMED else "")
    resource = next((found for each in settings.groups if (found := groups_of(each))), None)
    resource = resource or [word for each in refused[:NAMED] for word in ("--group", each)]
    text = f"{who} may not be a member of {named}, by kcoord or without it: it needs Read on the group"
    told = command(settings.upstream, who, ["Read"], *resource)
    return (problem if is_everybody or len(refused) == asked else note)("rights", text, told)


async def _judge_pattern(connection: Connection, settings: Settings, who: str, pattern: str) -> Finding | None:
    """If no group exists yet: check one that the pattern would match. None if no such name can be made up."""
    prefix = literal_prefix(pattern)
    if prefix is None:
        return None
    example = f"{prefix}{NOBODY}"
    if await _may_read(connection, example):
        return fine("rights", f"{who} may be a member of groups such as {example}")
    told = command(settings.upstream, who, ["Read"], *groups_of(pattern))
    return note("rights", f"{who} may not be a member of groups such as {example}: it needs Read on them", told)


async def _may_read(connection: Connection, group: str) -> bool:
    request = HeartbeatRequest(group_id=group, generation_id=-1, member_id=NOBODY)
    response = await connection.send(request, HeartbeatResponse)
    return response.error_code != ErrorCode.GROUP_AUTHORIZATION_FAILED


async def _may_see_all(connection: Connection) -> bool:
    """Whether the cluster lists all groups. Clusters before Kafka 2.8 do not say, and count as doing so."""
    if not connection.serves(DescribeClusterRequest):
        return True
    request = DescribeClusterRequest(include_cluster_authorized_operations=True)
    response = await connection.send(request, DescribeClusterResponse)
    return bool(response.cluster_authorized_operations >> DESCRIBE & 1)
