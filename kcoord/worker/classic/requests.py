"""The four requests of a classic worker: JoinGroup, SyncGroup, Heartbeat, LeaveGroup."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from kcoord.protocol.embedded import (
    EAGER,
    NAMES,
    WorkerAssignment,
    WorkerState,
    encode_assignment,
    encode_state,
)
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.generated.sync_group_request import SyncGroupRequestAssignment
from kcoord.protocol.messages import HeartbeatRequest, JoinGroupRequest, LeaveGroupRequest, SyncGroupRequest
from kcoord.worker.classic.phases import Timing
from kcoord.worker.setup import Setup

_CONNECT = "connect"
_REASON = "the consumer is being closed"
"""The reason that Connect gives when it has stopped everything before it leaves. By it a coordinator knows that others
may start the work at once (CM-13). This worker leaves in no other way.
"""


def join_group(setup: Setup, timing: Timing, member_id: str, allocation: WorkerAssignment | None) -> JoinGroupRequest:
    """Join, with what the worker runs. It offers its newest protocol and all below."""
    states = [
        WorkerState(
            version, setup.url or "", setup.config_offset, None if version == EAGER else _as(version, allocation)
        )
        for version in range(timing.version, EAGER - 1, -1)
    ]
    return JoinGroupRequest(
        group_id=setup.group_id,
        session_timeout_ms=timing.session_ms,
        rebalance_timeout_ms=setup.rebalance_timeout_ms,
        member_id=member_id,
        group_instance_id=setup.instance_id,
        protocol_type=_CONNECT,
        protocols=[JoinGroupRequestProtocol(NAMES[state.version], encode_state(state)) for state in states],
    )


def sync_group(
    setup: Setup, member_id: str, generation: int, version: int, assignments: Mapping[str, WorkerAssignment]
) -> SyncGroupRequest:
    """Fetch the assignment; the leader's request has the assignments of all."""
    return SyncGroupRequest(
        group_id=setup.group_id,
        generation_id=generation,
        member_id=member_id,
        group_instance_id=setup.instance_id,
        protocol_type=_CONNECT,
        protocol_name=NAMES[version],
        assignments=[SyncGroupRequestAssignment(name, encode_assignment(each)) for name, each in assignments.items()],
    )


def heartbeat(setup: Setup, member_id: str, generation: int) -> HeartbeatRequest:
    """A sign of life."""
    return HeartbeatRequest(
        group_id=setup.group_id,
        generation_id=generation,
        member_id=member_id,
        group_instance_id=setup.instance_id,
    )


def leave_group(setup: Setup, member_id: str) -> LeaveGroupRequest:
    """Leave for good."""
    return LeaveGroupRequest(group_id=setup.group_id, members=[MemberIdentity(member_id, setup.instance_id, _REASON)])


def _as(version: int, allocation: WorkerAssignment | None) -> WorkerAssignment | None:
    if allocation is None or version == EAGER:
        return None
    return attrs.evolve(allocation, version=version)
