"""Who may prepare and install: the consumer that was chosen, at its epoch, on its newest connection (KG-27; CG-19)."""

from __future__ import annotations

from kcoord.group.modern.newest_connection import check_newer, check_newest
from kcoord.group.modern.refusal import Refused
from kcoord.group.state.groups.computation import Computation
from kcoord.group.state.groups.consumer_group import ConsumerGroup, ConsumerMember, FrozenConsumers
from kcoord.group.state.step import RequestContext
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import ConsumerGroupInstallAssignmentRequest as InstallRequest
from kcoord.protocol.messages import ConsumerGroupPrepareAssignmentRequest as PrepareRequest


def check_member(
    transition: Transition, request: PrepareRequest | InstallRequest, context: RequestContext
) -> tuple[ConsumerGroup, ConsumerMember]:
    """The group and the member. Raises Refused unless both exist and the request has an epoch that the member may have
    been told last. None of these errors ends its membership.
    """
    group = transition.state.consumer.get(request.group_id)
    check_newer(transition, group, context)
    if group is None:
        raise Refused(ErrorCode.GROUP_ID_NOT_FOUND, f"there is no consumer group {request.group_id}")
    member = group.members.get(request.member_id)
    if member is None or member.is_classic:
        raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, f"the group has no member {request.member_id}")
    check_newest(transition, group, member, context)
    if member.epoch_unsure or request.member_epoch not in (member.epoch, member.told_epoch):
        message = f"the member's epoch is {member.epoch}: ask again after the next heartbeat"
        raise Refused(ErrorCode.STALE_MEMBER_EPOCH, message)
    return group, member


def check_computing(
    transition: Transition, request: PrepareRequest | InstallRequest, context: RequestContext
) -> tuple[ConsumerGroup, ConsumerMember, Computation[FrozenConsumers]]:
    """The group, the member and its computation. Raises Refused unless this member is chosen to compute."""
    group, member = check_member(transition, request, context)
    computation = group.computation
    if computation is None or computation.chosen != member.member_id:
        raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, f"member {member.member_id} was not chosen to compute")
    return group, member, computation
