"""What does a heartbeat say of its worker, together with what was known? The merged member is judged, not the request
alone (connect-groups rule 15).
"""

from __future__ import annotations

import attrs

from kcoord.group.connect.found import Refused
from kcoord.group.connect.group import ConnectGroup, Member, Said
from kcoord.group.connect.selection import leaves_nobody
from kcoord.group.connect.settings import Effective
from kcoord.group.step import RequestContext
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated import connect_group_heartbeat_request as heard
from kcoord.protocol.generated import connect_worker_group_member_metadata_value as kept
from kcoord.protocol.messages import ConnectGroupHeartbeatRequest


def first_said(request: ConnectGroupHeartbeatRequest, context: RequestContext, session_timeout_ms: int) -> Said:
    """What a worker says that joins."""
    return Said(
        instance_id=request.instance_id,
        client_id=context.client_id,
        client_host=context.client_host,
        assignors=[_kept(each) for each in request.client_assignors or ()],
        url=request.url,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        session_timeout_ms=session_timeout_ms,
        server_assignor=request.server_assignor,
    )


def merged_said(known: Said, request: ConnectGroupHeartbeatRequest, context: RequestContext) -> Said:
    """What is known of a member, with what the request changes; `known` itself where it changes nothing. Setting one
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
    if request.server_assignor is not None:
        changed = attrs.evolve(changed, server_assignor=request.server_assignor, assignors=[])
    if request.client_assignors is not None:
        assignors = [_kept(each) for each in request.client_assignors]
        changed = attrs.evolve(
            changed, assignors=assignors, server_assignor=None if assignors else changed.server_assignor
        )
    return known if changed == known else changed


def _kept(each: heard.Assignor) -> kept.Assignor:
    return kept.Assignor(
        each.name, each.minimum_version, each.maximum_version, each.reason, each.version, each.metadata
    )


def still_supported(group: ConnectGroup, member_id: str, elder: Member | None, said: Said, limits: Effective) -> None:
    """Raise Refused(UNSUPPORTED_ASSIGNOR) for a server-side assignor that is not on, and for version ranges with which
    no worker could compute for all (rule 16).
    """
    if said.server_assignor is not None and limits.assignor(said.server_assignor) is None:
        on = ", ".join(each.name for each in limits.assignors)
        raise Refused(ErrorCode.UNSUPPORTED_ASSIGNOR, f"there is no assignor {said.server_assignor} here, but {on}")
    replaced = member_id if elder is None else elder.member_id
    others = [(each.member_id, each.said) for each in group.participants() if each.member_id != replaced]
    if said.assignors and not _is_like(said, others) and leaves_nobody(others, (member_id, said)):
        raise Refused(
            ErrorCode.UNSUPPORTED_ASSIGNOR, "no worker would support the versions of all members' common assignor"
        )


def _is_like(said: Said, others: list[tuple[str, Said]]) -> bool:
    """Whether somebody is there already who supports the very same: then nothing can change for the worse. In a fleet
    of equal workers the last one that came tells it, without a look at all of them.
    """
    return bool(others) and _support(others[-1][1]) == _support(said)


def _support(said: Said) -> list[tuple[str, int, int]]:
    return [(each.name, each.minimum_version, each.maximum_version) for each in said.assignors]
