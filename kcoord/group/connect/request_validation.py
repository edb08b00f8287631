"""Validation of the connect group requests: by their fields alone, and whether a worker may prepare or install (CG-19).

A check of fields looks at no state. It returns a text that says what is wrong, or None.

No error of the other checks removes the member or makes it join again. FENCED_MEMBER_EPOCH means: ask again after the
next heartbeat. UNKNOWN_MEMBER_ID means: give up computing.
"""

from __future__ import annotations

from kcoord.group.modern.client_assignors import wrong_in_assignors, wrong_in_ids
from kcoord.group.modern.newest_connection import check_newer, check_newest
from kcoord.group.modern.refusal import Refused
from kcoord.group.state.groups.computation import Computation
from kcoord.group.state.groups.connect_group import ConnectGroup, ConnectMember, Frozen
from kcoord.group.state.groups.modern_member import AWAY_EPOCH
from kcoord.group.state.step import RequestContext
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    ConnectGroupHeartbeatRequest,
    ConnectGroupInstallAssignmentRequest,
    ConnectGroupPrepareAssignmentRequest,
)
from kcoord.protocol.resources import misnamed

"""The version of classic members' metadata."""


def wrong_in_heartbeat(request: ConnectGroupHeartbeatRequest) -> str | None:
    """What is wrong in a ConnectGroupHeartbeat."""
    checks = (
        (not request.group_id, "GroupId is empty"),
        (not request.member_id, "MemberId is empty"),
        (request.member_epoch < AWAY_EPOCH, "MemberEpoch is {0.member_epoch}: it must be -2 or more"),
        (request.instance_id == "", "InstanceId is empty"),
        (
            request.member_epoch == AWAY_EPOCH and request.instance_id is None,
            "MemberEpoch -2 is for static members: InstanceId is missing",
        ),
        (
            request.rebalance_timeout_ms != -1 and request.rebalance_timeout_ms <= 0,
            "RebalanceTimeoutMs is {0.rebalance_timeout_ms}: it must be above 0, or -1 for no change",
        ),
        (request.server_assignor == "", "ServerAssignor is empty"),
        (
            request.server_assignor is not None and bool(request.client_assignors),
            "ServerAssignor and ClientAssignors are both set",
        ),
        (request.config_offset < -1, "ConfigOffset is {0.config_offset}"),
        (request.max_wait_ms < 0, "MaxWaitMs is {0.max_wait_ms}"),
    )
    for wrong, text in checks:
        if wrong:
            return text.format(request)  # formatted only now, because nearly every heartbeat is valid
    return (
        wrong_in_assignors(request.client_assignors or ())
        or misnamed(request.connectors_and_tasks or ())
        or misnamed(request.configured_connectors_and_tasks or ())
    )


def wrong_in_install(request: ConnectGroupInstallAssignmentRequest) -> str | None:
    """What is wrong in a ConnectGroupInstallAssignment. `install.check` judges the assignment itself."""
    if request.scheduled_delay_ms < 0:
        return f"ScheduledDelayMs is {request.scheduled_delay_ms}"
    for member in request.members:
        wrong = "a member's MemberId is empty" if not member.member_id else misnamed(member.connectors_and_tasks)
        if wrong:
            return wrong
    return wrong_in_ids(request)


# -- who may prepare and install ---------------------------------------------------------------------------------------


def check_member(
    transition: Transition,
    request: ConnectGroupPrepareAssignmentRequest | ConnectGroupInstallAssignmentRequest,
    context: RequestContext,
) -> tuple[ConnectGroup, ConnectMember]:
    """The group and the member. Raises Refused unless both exist and the request has the member's epoch."""
    group = transition.state.connect.get(request.group_id)
    check_newer(transition, group, context)
    if group is None:
        raise Refused(ErrorCode.GROUP_ID_NOT_FOUND, f"there is no connect group {request.group_id}")
    member = group.members.get(request.member_id)
    if member is None:
        raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, f"the group has no member {request.member_id}")
    check_newest(transition, group, member, context)
    if member.evicted or member.epoch_unsure or request.member_epoch != member.epoch:
        raise Refused(
            ErrorCode.FENCED_MEMBER_EPOCH, f"the member's epoch is {member.epoch}: ask again after the next heartbeat"
        )
    return group, member


def check_computing(
    transition: Transition,
    request: ConnectGroupPrepareAssignmentRequest | ConnectGroupInstallAssignmentRequest,
    context: RequestContext,
) -> tuple[ConnectGroup, ConnectMember, Computation[Frozen]]:
    """The group, the member and its computation. Raises Refused unless this member is chosen to compute."""
    group, member = check_member(transition, request, context)
    computation = group.computation
    if computation is None or computation.chosen != member.member_id:
        raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, f"member {member.member_id} was not chosen to compute")
    return group, member, computation
