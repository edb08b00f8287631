"""Validation of the connect group requests by their fields alone, before any state is looked at.

Each function returns a text that says what is wrong, or None.
"""

from __future__ import annotations

from collections.abc import Iterable

from kcoord.group.state.groups.modern_member import AWAY_EPOCH, JOINING_EPOCH
from kcoord.protocol.generated.connect_group_heartbeat_request import Assignor
from kcoord.protocol.messages import (
    ConnectGroupHeartbeatRequest,
    ConnectGroupInstallAssignmentRequest,
    ConnectGroupPrepareAssignmentRequest,
)
from kcoord.protocol.resources import misnamed

OLDEST_VERSION = -1
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
        _wrong_in_assignors(request.client_assignors or ())
        or misnamed(request.connectors_and_tasks or ())
        or misnamed(request.configured_connectors_and_tasks or ())
    )


def _wrong_in_assignors(assignors: Iterable[Assignor]) -> str | None:
    names: set[str] = set()
    for each in assignors:
        if not each.name:
            return "an assignor's Name is empty"
        if each.name in names:
            return f"assignor {each.name} is listed twice"
        names.add(each.name)
        lowest, highest = each.minimum_version, each.maximum_version
        if lowest < OLDEST_VERSION:
            return f"assignor {each.name}: MinimumVersion is {lowest}, it must be -1 or more"
        if highest < 0 or highest < lowest:
            return (
                f"assignor {each.name}: MaximumVersion is {highest}, it must be 0 or more, and MinimumVersion or more"
            )
        if not lowest <= each.version <= highest:
            return f"assignor {each.name}: Version {each.version} is not within {lowest} to {highest}"
    return None


def wrong_in_prepare(request: ConnectGroupPrepareAssignmentRequest) -> str | None:
    """What is wrong in a ConnectGroupPrepareAssignment."""
    if not request.group_id:
        return "GroupId is empty"
    if not request.member_id:
        return "MemberId is empty"
    if request.member_epoch < JOINING_EPOCH:
        return f"MemberEpoch is {request.member_epoch}: it must be 0 or more"
    return None


def wrong_in_install(request: ConnectGroupInstallAssignmentRequest) -> str | None:
    """What is wrong in a ConnectGroupInstallAssignment. `install.check` judges the assignment itself."""
    if request.scheduled_delay_ms < 0:
        return f"ScheduledDelayMs is {request.scheduled_delay_ms}"
    for member in request.members:
        wrong = "a member's MemberId is empty" if not member.member_id else misnamed(member.connectors_and_tasks)
        if wrong:
            return wrong
    return wrong_in_prepare(
        ConnectGroupPrepareAssignmentRequest(request.group_id, request.member_id, request.member_epoch)
    )
