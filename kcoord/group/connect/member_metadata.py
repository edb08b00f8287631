"""A member's metadata: the merge of what a heartbeat says with what was known, and the check of its assignors.

The coordinator judges the merged metadata, not the request alone (CG-15).
"""

from __future__ import annotations

import attrs

from kcoord.group.connect.selection import leaves_nobody
from kcoord.group.modern.refusal import Refused
from kcoord.group.state.connect_settings import Effective
from kcoord.group.state.groups.assignor_support import support_of
from kcoord.group.state.groups.connect_group import ConnectGroup, ConnectMember, Metadata
from kcoord.group.state.step import RequestContext
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated import connect_group_heartbeat_request as heard
from kcoord.protocol.generated import connect_worker_group_member_metadata_value as kept
from kcoord.protocol.messages import ConnectGroupHeartbeatRequest

MOST_TROUBLE_CHARS = 1_000
"""A longer `Trouble` text is cut, not refused: it is for people."""


def first_metadata(request: ConnectGroupHeartbeatRequest, context: RequestContext, session_timeout_ms: int) -> Metadata:
    """The metadata of a worker that joins."""
    return Metadata(
        instance_id=request.instance_id,
        client_id=context.client_id,
        client_host=context.client_host,
        assignors=[_kept(each) for each in request.client_assignors or ()],
        url=request.url,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        session_timeout_ms=session_timeout_ms,
        server_assignor=request.server_assignor,
        trouble=_in_short(request.trouble),
    )


def metadata_at_rejoin(known: Metadata, metadata: Metadata) -> Metadata:
    """The metadata of a known member that joins again. A join has all fields, so the worker does not use what it leaves
    out. The instance id stays.
    """
    return attrs.evolve(
        metadata,
        instance_id=known.instance_id,
        session_timeout_ms=known.session_timeout_ms,
        group_epoch=known.group_epoch,
    )


def merged_metadata(known: Metadata, request: ConnectGroupHeartbeatRequest, context: RequestContext) -> Metadata:
    """The known metadata with the changes of the request; `known` itself if the request changes nothing. Setting one
    kind of assignor clears the other.
    """
    changed = known
    if request.rebalance_timeout_ms > 0:
        changed = attrs.evolve(
            changed,
            rebalance_timeout_ms=request.rebalance_timeout_ms,
            client_id=context.client_id,
            client_host=context.client_host,
        )
    if request.url is not None:
        changed = attrs.evolve(changed, url=request.url)
    if request.trouble is not None:
        changed = attrs.evolve(changed, trouble=_in_short(request.trouble))
    if request.server_assignor is not None:
        changed = attrs.evolve(changed, server_assignor=request.server_assignor, assignors=[])
    if request.client_assignors is not None:
        assignors = [_kept(each) for each in request.client_assignors]
        changed = attrs.evolve(
            changed, assignors=assignors, server_assignor=None if assignors else changed.server_assignor
        )
    return known if changed is known or changed == known else changed


def _in_short(trouble: str | None) -> str | None:
    """The text, cut if it is too long; None for an empty one, which says that all is well."""
    return trouble[:MOST_TROUBLE_CHARS] if trouble else None


def _kept(each: heard.Assignor) -> kept.Assignor:
    return kept.Assignor(
        each.name, each.minimum_version, each.maximum_version, each.reason, each.version, each.metadata
    )


def still_supported(
    group: ConnectGroup, member_id: str, predecessor: ConnectMember | None, metadata: Metadata, limits: Effective
) -> None:
    """Raise Refused(UNSUPPORTED_ASSIGNOR) for a server-side assignor that the server does not have, and for version
    ranges after which no worker could compute for all members (CG-16).
    """
    support = support_of(metadata)
    if predecessor is not None and not predecessor.evicted and support_of(predecessor.metadata) == support:
        return  # nothing changes for the group
    if metadata.server_assignor is not None and limits.assignor(metadata.server_assignor) is None:
        on = ", ".join(each.name for each in limits.assignors)
        raise Refused(ErrorCode.UNSUPPORTED_ASSIGNOR, f"there is no assignor {metadata.server_assignor} here, but {on}")
    now = group.supports.kinds()
    then = dict(now)
    replaced = group.supports.by_member.get(member_id if predecessor is None else predecessor.member_id)
    if replaced is not None:
        then[replaced] -= 1
        if not then[replaced]:
            del then[replaced]
    then[support] = then.get(support, 0) + 1
    if metadata.assignors and leaves_nobody(then) and not leaves_nobody(now):
        raise Refused(
            ErrorCode.UNSUPPORTED_ASSIGNOR, "no worker would support the versions of all members' common assignor"
        )
