"""The messages between classic members and the coordinator, for people: one line each."""

from __future__ import annotations

from collections.abc import Iterable

from kcoord.assign import tell
from kcoord.group.state.groups.consumer_group import PROTOCOL_TYPE
from kcoord.protocol import consumer_embedded
from kcoord.protocol.embedded import WorkerAssignment, WorkerState, decode_assignment, decode_state
from kcoord.protocol.messages import (
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    SyncGroupRequest,
    SyncGroupResponse,
)


def names(resources: Iterable[tuple[str, int]]) -> str:
    """`[a a-0]`"""
    return f"[{' '.join(map(tell, sorted(resources)))}]"


def of_classic_request(request: JoinGroupRequest | SyncGroupRequest | HeartbeatRequest | LeaveGroupRequest) -> str:
    """A request in short."""
    match request:
        case JoinGroupRequest():
            offered = request.protocols[0]
            said = _said(request.protocol_type, offered.metadata)
            return f"join {request.member_id or 'as nobody'} by {offered.name}, {said}"
        case SyncGroupRequest():
            told = [f"{each.member_id} {_told(request.protocol_type, each.assignment)}" for each in request.assignments]
            return f"sync {request.member_id} generation {request.generation_id}{': ' if told else ''}{'; '.join(told)}"
        case LeaveGroupRequest():
            return f"leave {', '.join(f'{each.member_id} ({each.reason})' for each in request.members)}"
    return f"beat {request.member_id} generation {request.generation_id}"


def of_classic_response(response: JoinGroupResponse | SyncGroupResponse) -> str:
    """A response in short."""
    if isinstance(response, SyncGroupResponse):
        return _told(response.protocol_type, response.assignment) if response.assignment else "nothing"
    shown = [f"{each.member_id} {_said(response.protocol_type, each.metadata)}" for each in response.members]
    leads = f", shown {'; '.join(shown)}" if shown else ""
    return f"generation {response.generation_id} by {response.protocol_name}, leader {response.leader}{leads}"


def _said(protocol_type: str | None, metadata: bytes) -> str:
    if protocol_type != PROTOCOL_TYPE:
        return _state(decode_state(metadata))
    said = consumer_embedded.decode_subscription(metadata)
    return f"subscribes to [{' '.join(said.topics)}], owns {names(said.owned)}"


def _told(protocol_type: str | None, assignment: bytes) -> str:
    if protocol_type != PROTOCOL_TYPE:
        return _assignment(decode_assignment(assignment))
    return f"consumes {names(consumer_embedded.decode_assignment(assignment).partitions)}"


def _state(state: WorkerState) -> str:
    held = "null" if state.allocation is None else names(state.allocation.assigned)
    return f"at {state.config_offset} holds {held}"


def _assignment(told: WorkerAssignment) -> str:
    parts = [f"starts {names(told.assigned)}"]
    if told.revoked:
        parts.append(f"stops {names(told.revoked)}")
    if told.delay_ms:
        parts.append(f"delay {told.delay_ms}")
    if told.error:
        parts.append(f"error {told.error}")
    return f"{', '.join(parts)}, led by {told.leader} at {told.config_offset}"
