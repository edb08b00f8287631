"""The trace of a run, for people: one line for each event, with virtual seconds, who, and what."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.message_base import Request, Response
from kcoord.protocol.messages import (
    ConnectGroupHeartbeatRequest,
    ConnectGroupHeartbeatResponse,
    ConnectGroupInstallAssignmentRequest,
    ConnectGroupPrepareAssignmentResponse,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ConsumerGroupInstallAssignmentRequest,
    ConsumerGroupPrepareAssignmentResponse,
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kcoord.protocol.records import Record
from kcoord.protocol.resources import unpack
from kcoord.sim.classic_worker.trace import names, of_classic_request, of_classic_response

__all__ = ["Sink", "names", "of_record", "of_request", "of_response"]

Sink = Callable[[str], None]


def of_request(request: Request) -> str:
    """A request in short: the fields that it has, not those that it leaves out."""
    match request:
        case ConnectGroupHeartbeatRequest():
            said = [f"heartbeat {request.member_id} epoch {request.member_epoch}"]
            if request.connectors_and_tasks is not None:
                said.append(f"owns {names(unpack(request.connectors_and_tasks))}")
            if request.rebalance_timeout_ms > 0:
                said.append("all fields")
            if request.configured_connectors_and_tasks is not None:
                configured = unpack(request.configured_connectors_and_tasks)
                said.append(f"configured@{request.config_offset} {names(configured)}")
            if request.max_wait_ms:
                said.append(f"may be held {request.max_wait_ms} ms")
            return ", ".join(said)
        case ConnectGroupInstallAssignmentRequest():
            told = [f"{each.member_id} {names(unpack(each.connectors_and_tasks))}" for each in request.members]
            return (
                f"install {request.member_id} epoch {request.member_epoch}, group epoch {request.group_epoch}, "
                f"error {request.error}, delay {request.scheduled_delay_ms}: {', '.join(told)}"
            )
        case ConsumerGroupHeartbeatRequest():
            said = [f"heartbeat {request.member_id} epoch {request.member_epoch}"]
            if request.topic_partitions is not None:
                said.append(f"owns {partitions(request.topic_partitions)}")
            if request.subscribed_topic_names is not None:
                said.append(f"subscribes to [{' '.join(request.subscribed_topic_names)}]")
            if request.client_assignors:
                said.append(f"can run {' '.join(each.name for each in request.client_assignors)}")
            return ", ".join(said)
        case ConsumerGroupInstallAssignmentRequest():
            told = [f"{each.member_id} {partitions(each.topic_partitions)}" for each in request.members]
            return (
                f"install {request.member_id} epoch {request.member_epoch}, group epoch {request.group_epoch}, "
                f"error {request.error}: {', '.join(told)}"
            )
        case OffsetCommitRequest():
            told = [
                f"{topic.name}-{at.partition_index} {at.committed_offset}"
                for topic in request.topics
                for at in topic.partitions
            ]
            return f"commit {request.member_id} epoch {request.generation_id_or_member_epoch}: {', '.join(told)}"
        case OffsetFetchRequest():
            told = [f"{each.member_id} epoch {each.member_epoch}" for each in request.groups]
            return f"fetch {', '.join(told)}"
        case JoinGroupRequest() | SyncGroupRequest() | HeartbeatRequest() | LeaveGroupRequest():
            return of_classic_request(request)
        case _:
            what = type(request).__name__.removeprefix("ConnectGroup").removesuffix("Request")
            return f"{what} {getattr(request, 'member_id', '')} epoch {getattr(request, 'member_epoch', '')}"


def of_response(response: Response) -> str:
    """A response in short."""
    error = getattr(response, "error_code", 0)
    said = [ErrorCode(error).name] if error else []
    match response:
        case ConnectGroupHeartbeatResponse():
            if not error or error == ErrorCode.COMPUTE_ASSIGNMENT:
                said.append(f"epoch {response.member_epoch}")
                said.append(f"session {response.session_timeout_ms} ms")
            if response.assignment is not None:
                said.append(f"run {names(unpack(response.assignment.connectors_and_tasks))}")
        case ConsumerGroupHeartbeatResponse() if not error:
            said.append(f"epoch {response.member_epoch}")
            if response.assignment is not None:
                said.append(f"consume {partitions(response.assignment.topic_partitions)}")
            if response.should_compute_assignment:
                said.append("compute")
        case OffsetCommitResponse():
            errors = {at.error_code for topic in response.topics for at in topic.partitions}
            said += [ErrorCode(each).name for each in sorted(errors)]
        case OffsetFetchResponse():
            said += [ErrorCode(each.error_code).name for each in response.groups]
        case JoinGroupResponse() | SyncGroupResponse() if not error:
            said.append(of_classic_response(response))
        case ConnectGroupPrepareAssignmentResponse() | ConsumerGroupPrepareAssignmentResponse():
            said.append(f"group epoch {response.group_epoch}")
    if text := getattr(response, "error_message", None):
        said.append(f"({text})")
    return ", ".join(said) or "ok"


def of_record(record: Record) -> str:
    """A record in short."""
    key, value = record.key, record.value
    what = type(key).__name__.removeprefix("ConnectWorkerGroup").removesuffix("Key")
    who = getattr(key, "member_id", "") or getattr(key, "epoch", "") or getattr(key, "topic", "")
    if value is None:
        return f"{what} {who} gone"
    told = []
    for name in (
        "epoch", "reason", "assignment_epoch", "computed_by", "delay_deadline_ms", "error", "config_offset",
        "member_epoch", "previous_member_epoch", "evicted", "session_timeout_ms", "instance_id", "configurations",
    ):  # fmt: skip
        found = getattr(value, name, None)
        if found not in (None, "", 0, -1, False):
            told.append(f"{name} {found}")
    if (resources := getattr(value, "connectors_tasks", None)) is not None:
        told.append(names(unpack(resources)))
    told += [
        f"{name.split('_')[0]} {partitions(listed)}"
        for name in ("topic_partitions", "assigned_partitions", "partitions_pending_revocation")
        if (listed := getattr(value, name, None)) is not None
    ]
    return f"{what} {who} {', '.join(told)}"


def partitions(listed: Iterable[Any]) -> str:
    """`[A0 A1]`: partitions of topics whose ids end with a letter; `[A2.0]` of the second topic of that name."""
    names = []
    for each in listed:
        made = each.topic_id[14]
        names += [
            f"{chr(each.topic_id[15])}{made if made > 1 else ''}{'.' if made > 1 else ''}{at}" for at in each.partitions
        ]
    return f"[{' '.join(sorted(names))}]"
