"""ConnectGroupHeartbeat (32100): a worker joins, reports what it owns, learns what it is to run, and leaves.

The order of checks: the fields of the request; then the group, the member, its connection and its epoch. Only then does
the request change anything. A request that is refused changes nothing.

| MemberEpoch | sender | meaning |
| --- | --- | --- |
| 0, all fields, nothing owned | anybody | join (CG-6) |
| 0, otherwise | a member at epoch 0 | heartbeat, if owned is part of its current |
| its epoch | a member | heartbeat |
| its previous epoch, owned given | a member | heartbeat of a member that missed the last answer (CG-12) |
| any epoch that it may have been told | a member after a load | heartbeat (CG-11) |
| -1 | a member | leaves for good (CG-9) |
| -2 | a static member | leaves for a while (CG-28) |
"""

from __future__ import annotations

from kcoord.group.connect.answers import answer, answer_or_hold, refuse_heartbeat
from kcoord.group.connect.configured_set import learn_configured, refuse_file
from kcoord.group.connect.member_metadata import first_metadata, merged_metadata, metadata_at_rejoin, still_supported
from kcoord.group.connect.membership import go_away, join, rejoin, remove, succeed, update
from kcoord.group.connect.reasons import Reason
from kcoord.group.connect.request_validation import wrong_in_heartbeat
from kcoord.group.connect.settle import settle
from kcoord.group.conversion.newcomer import existing, group_for, take_name
from kcoord.group.modern.epochs import is_repeated
from kcoord.group.modern.grants_and_releases import note_owned
from kcoord.group.modern.newest_connection import check_newer, check_newest, take_in
from kcoord.group.modern.refusal import Refused
from kcoord.group.state.connect_settings import Effective
from kcoord.group.state.groups.connect_group import ConnectGroup, ConnectMember, Metadata, Resources
from kcoord.group.state.groups.modern_member import AWAY_EPOCH, JOINING_EPOCH, LEAVING_EPOCH
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import ConnectGroupHeartbeatRequest, ConnectGroupHeartbeatResponse
from kcoord.protocol.resources import unpack
from kcoord.resource import Resource


def connect_group_heartbeat(
    transition: Transition, request: ConnectGroupHeartbeatRequest, context: RequestContext, token: Token
) -> None:
    """Handle a ConnectGroupHeartbeat."""
    wrong = wrong_in_heartbeat(request)
    if wrong is not None:
        refuse_heartbeat(transition, token, ErrorCode.INVALID_REQUEST, wrong)
        return
    owned = None if request.connectors_and_tasks is None else unpack(request.connectors_and_tasks)
    try:
        check_newer(transition, transition.state.connect.get(request.group_id), context)
        if request.member_epoch in (LEAVING_EPOCH, AWAY_EPOCH):
            _leave(transition, request, context, token)
        elif _is_join(request, owned):
            _join(transition, request, context, token)
        else:
            _live(transition, request, context, token, owned)
    except Refused as refused:
        refuse_heartbeat(transition, token, refused.error, refused.message)


def _is_join(request: ConnectGroupHeartbeatRequest, owned: Resources | None) -> bool:
    return request.member_epoch == JOINING_EPOCH and request.rebalance_timeout_ms > 0 and owned == frozenset()


# -- joining ----------------------------------------------------------------------------------------------------------


def _join(transition: Transition, request: ConnectGroupHeartbeatRequest, context: RequestContext, token: Token) -> None:
    group = group_for(transition, request.group_id)
    refuse_file(group, request)
    limits = transition.state.effective(request.group_id)
    predecessor = _whose_place(group, request)
    metadata = first_metadata(request, context, limits.session_timeout_ms)
    if predecessor is None and len(group.members) >= limits.max_size:
        raise Refused(ErrorCode.GROUP_MAX_SIZE_REACHED, f"the group has {len(group.members)} members already")
    if predecessor is not None and predecessor.member_id == request.member_id:
        check_newest(transition, group, predecessor, context)
        _check_flushed(predecessor, context)
        metadata = metadata_at_rejoin(predecessor.metadata, metadata)
    still_supported(group, request.member_id, predecessor, metadata, limits)
    epoch = group.epoch
    group, member = _admit(transition, group, request.member_id, predecessor, metadata)
    take_in(transition, group, member, context, None)
    learn_configured(transition, group, request, bumped=group.epoch > epoch)
    _answer(transition, group, member, request, context, token, full=True)


def _whose_place(group: ConnectGroup, request: ConnectGroupHeartbeatRequest) -> ConnectMember | None:
    """The member whose place the joining worker takes: its own, or the static member that it was under another id. None
    for a new member. Raises Refused.
    """
    known = group.members.get(request.member_id)
    if known is not None and known.classic is not None:
        raise Refused(ErrorCode.INVALID_REQUEST, f"member {known.member_id} speaks the classic protocol")
    if request.instance_id is None:
        return known
    holder_id = group.static_ids.get(request.instance_id)
    if known is not None:
        if known.metadata.instance_id != request.instance_id:
            raise Refused(ErrorCode.INVALID_REQUEST, f"member {known.member_id} has another InstanceId")
        return known
    if holder_id is None:
        return None
    holder = group.members[holder_id]
    if holder.away:
        return holder
    if group.fenced.get(request.instance_id) == request.member_id:
        raise Refused(ErrorCode.FENCED_INSTANCE_ID, f"member {holder_id} is {request.instance_id} now")
    raise Refused(ErrorCode.UNRELEASED_INSTANCE_ID, f"member {holder_id} is {request.instance_id} still")


def _admit(
    transition: Transition, group: ConnectGroup, member_id: str, predecessor: ConnectMember | None, metadata: Metadata
) -> tuple[ConnectGroup, ConnectMember]:
    if predecessor is None:
        group = join(transition, take_name(transition, group), member_id, metadata)
    elif predecessor.member_id != member_id:
        succeed(transition, group, predecessor, member_id, metadata)
    else:
        rejoin(transition, group, predecessor, metadata)
    return group, group.members[member_id]


# -- living -----------------------------------------------------------------------------------------------------------


def _live(
    transition: Transition,
    request: ConnectGroupHeartbeatRequest,
    context: RequestContext,
    token: Token,
    owned: Resources | None,
) -> None:
    group, member = _find(transition, request, owned)
    check_newest(transition, group, member, context)
    repeat = _check_epoch(group, member, request.member_epoch, owned)
    limits = transition.state.effective(request.group_id)
    refuse_file(group, request)
    metadata = merged_metadata(member.metadata, request, context)
    if metadata is not member.metadata:
        still_supported(group, member.member_id, member, metadata, limits)
    first = take_in(transition, group, member, context, None if repeat else request.member_epoch)
    epoch = group.epoch
    if not repeat:
        note_owned(transition, group, member, context, owned, first)
    if metadata is not member.metadata:
        update(transition, group, member, metadata)
    learn_configured(transition, group, request, bumped=group.epoch > epoch)
    if repeat:
        _answer_again(transition, group, member, token, limits)
        settle(transition, group)
    else:
        _answer(transition, group, member, request, context, token, full=request.rebalance_timeout_ms > 0)


def _answer(
    transition: Transition,
    group: ConnectGroup,
    member: ConnectMember,
    request: ConnectGroupHeartbeatRequest,
    context: RequestContext,
    token: Token,
    full: bool,
) -> None:
    """Settle the group, answer, and settle again if records were written: first the answer must show what follows from
    the request, then something may follow from the answer's grants.
    """
    settle(transition, group)
    answer_or_hold(transition, group, member, request, context, token, full)
    if transition.step.records:
        settle(transition, group)


def _find(
    transition: Transition, request: ConnectGroupHeartbeatRequest, owned: Resources | None
) -> tuple[ConnectGroup, ConnectMember]:
    group = existing(transition, request.group_id)
    member = None if group is None else group.members.get(request.member_id)
    if group is not None and request.instance_id is not None:
        holder = group.static_ids.get(request.instance_id)
        if holder is not None and holder != request.member_id:
            raise Refused(ErrorCode.FENCED_INSTANCE_ID, f"member {holder} is {request.instance_id} now")
        if member is not None and holder is None:
            raise Refused(ErrorCode.INVALID_REQUEST, f"member {member.member_id} has no or another InstanceId")
    if group is None or member is None or member.classic is not None:
        if group is not None and request.member_id in group.fenced.values():
            raise Refused(ErrorCode.FENCED_INSTANCE_ID, "another has taken this static member's place")
        if request.member_epoch == JOINING_EPOCH and owned:
            raise Refused(ErrorCode.INVALID_REQUEST, "a worker that joins owns nothing yet")
        raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, f"the group has no member {request.member_id}")
    return group, member


def _check_flushed(member: ConnectMember, context: RequestContext) -> None:
    """Raise Refused for a join that was read before the last answer had been sent. A join says that the worker runs
    nothing (CG-6), but that answer may have granted more after the worker wrote the join.
    """
    if member.current and context.pipelined and context.connection == member.connection:
        raise Refused(ErrorCode.FENCED_MEMBER_EPOCH, "the member may have been granted more since it joined")


def _check_epoch(group: ConnectGroup, member: ConnectMember, epoch: int, owned: Resources | None) -> bool:
    """Whether the member repeats its heartbeat because it missed the last answer (CG-12). Raises Refused for any other
    wrong epoch, and if the member owns what it was not granted.
    """
    if member.evicted:
        raise Refused(ErrorCode.FENCED_MEMBER_EPOCH, "the member did not let go in time: it must join anew")
    has_arrived = member.member_id not in group.unconverged  # CG-10
    repeat = is_repeated(group, member, epoch, owned, has_arrived=has_arrived)
    if owned is not None and not owned <= member.current:
        raise Refused(ErrorCode.FENCED_MEMBER_EPOCH, "the member owns what it was not granted")
    return repeat


def _answer_again(
    transition: Transition, group: ConnectGroup, member: ConnectMember, token: Token, limits: Effective
) -> None:
    """Repeat the lost answer. Nothing is released and the member does not move (CG-12)."""
    told = member.current & (group.target_of(member) or frozenset[Resource]())
    answer(transition, group, member, told, token, limits, full=True, asked=None)


# -- leaving ----------------------------------------------------------------------------------------------------------


def _leave(
    transition: Transition, request: ConnectGroupHeartbeatRequest, context: RequestContext, token: Token
) -> None:
    group, member = _find(transition, request, None)
    check_newest(transition, group, member, context)
    if request.member_epoch == AWAY_EPOCH:
        go_away(transition, group, member)
    else:
        remove(transition, group, [member], Reason.LEFT)
    transition.answer(token, ConnectGroupHeartbeatResponse(member_epoch=request.member_epoch))
    settle(transition, group)
