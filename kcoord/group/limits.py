"""Limits of what one request may bring into a group: for each API what is measured, the bound, and the error.

`Shard.handle` asks `excess` before the handler runs, so a request that is over a limit has touched nothing. Two rules:

1. What Apache Kafka checks is answered as Kafka does: `group.max.size` with GROUP_MAX_SIZE_REACHED, text beside an
   offset with OFFSET_METADATA_TOO_LARGE. What Kafka bounds only by the largest record of its topic is refused here
   before there is a record.
2. A client id is a label that clients send with everything: it is cut (`cut_client_id`), not refused.

Near the end of the int32 in which Kafka's protocol has generations and epochs nobody may join any more, so that the
members that are there can still leave, one epoch each, and the group can be deleted; under its name the next one begins
with the first generation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import attrs

from kcoord.group.connect.group import PROTOCOL_TYPE
from kcoord.group.contents import Contents
from kcoord.group.generic.group import weight_of
from kcoord.group.modern.member import JOINING_EPOCH
from kcoord.group.refuse import refuse
from kcoord.group.settings import GroupLimits
from kcoord.group.step import RequestContext
from kcoord.protocol.embedded import resources_in_assignment, resources_in_state
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.message import Request, Response
from kcoord.protocol.messages import (
    ConnectGroupHeartbeatRequest,
    ConnectGroupHeartbeatResponse,
    ConnectGroupInstallAssignmentRequest,
    ConnectGroupInstallAssignmentResponse,
    ConnectGroupPrepareAssignmentRequest,
    ConnectGroupPrepareAssignmentResponse,
    IncrementalAlterConfigsRequest,
    JoinGroupRequest,
    OffsetCommitRequest,
    SyncGroupRequest,
)
from kcoord.protocol.resources import Entry

MAX_INSTANCE_ID_CHARS = 249
"""Kafka's bound of group.instance.id, which its clients check."""
LAST_EPOCH = 2**31 - 1 - 2**20
"""From this generation or group epoch on nobody may join. What is left is for members that go."""
EMBEDDED_STATES = {"default", "compatible", "sessioned"}


@attrs.frozen(slots=True)
class Excess:
    """What a request brings too much of."""

    error: ErrorCode
    what: str
    text: str
    """What is too much, and which setting bounds it; at most some 200 characters."""


@attrs.frozen(slots=True)
class Bound:
    """One row of the table: what is measured in a request, and how much of it is too much."""

    what: str
    measure: Callable[[Contents, Any], int]
    most: Callable[[GroupLimits], int]
    setting: str
    error: ErrorCode = ErrorCode.INVALID_REQUEST


Measured = dict[type[Request], tuple[tuple[Callable[[Contents, Any], int], int, Bound], ...]]
"""The table with the settings' values in it: what to measure, how much it may be, and the row."""


def bounds_with(limits: GroupLimits) -> Measured:
    """The table for these settings, made once a shard: every request but the hot path's is measured."""
    return {
        request: tuple((bound.measure, bound.most(limits), bound) for bound in bounds)
        for request, bounds in BOUNDS.items()
    }


def excess(bounds: Measured, contents: Contents, request: Request) -> Excess | None:
    """What `request` brings too much of; None where all is within its limits."""
    for measure, most, bound in bounds.get(type(request), ()):
        measured = measure(contents, request)
        if measured > most:
            return Excess(bound.error, bound.what, f"{bound.what}: {measured} is more than {most} ({bound.setting})")
    return None


def refuse_excess(request: Request, over: Excess) -> Response:
    """The answer to a request that is over a limit."""
    response = refuse(request, over.error)
    if isinstance(
        response,
        ConnectGroupHeartbeatResponse | ConnectGroupPrepareAssignmentResponse | ConnectGroupInstallAssignmentResponse,
    ):
        response.error_message = over.text
    return response


def cut_client_id(context: RequestContext, limits: GroupLimits) -> RequestContext:
    """The context with a client id that is not longer than ids may be."""
    if len(context.client_id) <= limits.id_length:
        return context
    return attrs.evolve(context, client_id=context.client_id[: limits.id_length])


def creates_group(contents: Contents, request: Request) -> bool:
    """Whether `request` may bring a group into being, or a configuration for one, that is not there yet."""
    kind = type(request)
    if kind not in CREATORS:
        return False
    if isinstance(request, IncrementalAlterConfigsRequest):
        return any(resource.resource_name not in contents.configurations for resource in request.resources)
    group_id: str = request.group_id  # type: ignore[attr-defined]  # all others of CREATORS have one
    if group_id in contents.groups or group_id in contents.connect:
        return False
    return not isinstance(request, ConnectGroupHeartbeatRequest) or request.member_epoch == JOINING_EPOCH


# -- what is measured -------------------------------------------------------------------------------------------------


def _group_id(_contents: Contents, request: Any) -> int:
    return len(request.group_id)


def _member_id(_contents: Contents, request: Any) -> int:
    return len(request.member_id)


def _member_or_type(_contents: Contents, request: JoinGroupRequest) -> int:
    return max(len(request.member_id), len(request.protocol_type))


def _worker_texts(_contents: Contents, request: ConnectGroupHeartbeatRequest) -> int:
    return max(len(request.member_id), len(request.url or ""), len(request.server_assignor or ""))


def _group_instance_id(_contents: Contents, request: JoinGroupRequest) -> int:
    return 0 if request.group_instance_id is None else len(request.group_instance_id)


def _instance_id(_contents: Contents, request: ConnectGroupHeartbeatRequest) -> int:
    return 0 if request.instance_id is None else len(request.instance_id)


def _protocol_name(_contents: Contents, request: JoinGroupRequest) -> int:
    return max([len(each.name) for each in request.protocols], default=0)


def _protocol_bytes(_contents: Contents, request: JoinGroupRequest) -> int:
    return sum([len(each.name) + len(each.metadata) for each in request.protocols])


def _reported_resources(_contents: Contents, request: JoinGroupRequest) -> int:
    if request.protocol_type != PROTOCOL_TYPE:
        return 0
    states = [each.metadata for each in request.protocols if each.name in EMBEDDED_STATES]
    return max((resources_in_state(state) for state in states), default=0)


def _bytes_with_member(contents: Contents, request: JoinGroupRequest) -> int:
    """What the group's record takes when this member has joined, whichever protocol is chosen."""
    largest = max([len(each.metadata) for each in request.protocols], default=0)
    group = contents.groups.get(request.group_id)
    if group is None:
        return largest
    elder = group.members.get(request.member_id or group.static_ids.get(request.group_instance_id or "", ""))
    return group.weight + largest - (0 if elder is None else weight_of(elder))


def _bytes_with_assignments(contents: Contents, request: SyncGroupRequest) -> int:
    group = contents.groups.get(request.group_id)
    brought = sum([len(each.member_id) + len(each.assignment) for each in request.assignments])
    return brought + (0 if group is None else group.weight)


def _assigned_resources(contents: Contents, request: SyncGroupRequest) -> int:
    if request.group_id not in contents.connect:
        return 0
    return sum(resources_in_assignment(each.assignment) for each in request.assignments)


def _epoch(contents: Contents, request: JoinGroupRequest | ConnectGroupHeartbeatRequest) -> int:
    if isinstance(request, ConnectGroupHeartbeatRequest) and request.member_epoch != JOINING_EPOCH:
        return 0
    connect = contents.connect.get(request.group_id)
    if connect is not None:
        return connect.epoch
    group = contents.groups.get(request.group_id)
    return 0 if group is None else group.generation


def _assignor_name(_contents: Contents, request: ConnectGroupHeartbeatRequest) -> int:
    return max([len(each.name) for each in request.client_assignors or ()], default=0)


def _assignor_bytes(_contents: Contents, request: ConnectGroupHeartbeatRequest) -> int:
    return sum([len(each.name) + len(each.metadata) for each in request.client_assignors or ()])


def _bytes_with_assignors(contents: Contents, request: ConnectGroupHeartbeatRequest) -> int:
    """What the chosen worker is shown of all members' metadata."""
    group = contents.connect.get(request.group_id)
    if not request.client_assignors or group is None:
        return 0
    others = (member.said.assignors for at, member in group.members.items() if at != request.member_id)
    known = sum([len(assignor.metadata) for assignors in others for assignor in assignors])
    return known + _assignor_bytes(contents, request)


def _named_resources(_contents: Contents, request: ConnectGroupHeartbeatRequest) -> int:
    return max(_count(request.connectors_and_tasks or ()), _count(request.configured_connectors_and_tasks or ()))


def _connector_name(_contents: Contents, request: ConnectGroupHeartbeatRequest) -> int:
    return max(_longest(request.connectors_and_tasks or ()), _longest(request.configured_connectors_and_tasks or ()))


def _installed_resources(_contents: Contents, request: ConnectGroupInstallAssignmentRequest) -> int:
    return sum(_count(each.connectors_and_tasks) for each in request.members)


def _installed_name(_contents: Contents, request: ConnectGroupInstallAssignmentRequest) -> int:
    return max((_longest(each.connectors_and_tasks) for each in request.members), default=0)


def _installed_bytes(_contents: Contents, request: ConnectGroupInstallAssignmentRequest) -> int:
    return sum(len(each.member_id) + len(each.metadata) for each in request.members)


def _count(entries: Iterable[Entry]) -> int:
    return sum([len(entry.connectors) + len(entry.tasks) for entry in entries])


def _longest(entries: Sequence[Entry]) -> int:
    longest = 0
    for entry in entries:
        names = {task.connector_id for task in entry.tasks}
        names.update(entry.connectors)
        longest = max(longest, max(map(len, names), default=0))
    return longest


# -- the table --------------------------------------------------------------------------------------------------------


def _ids(limits: GroupLimits) -> int:
    return limits.id_length


def _instance_ids(_limits: GroupLimits) -> int:
    return MAX_INSTANCE_ID_CHARS


def _member_bytes(limits: GroupLimits) -> int:
    return limits.member_metadata_bytes


def _group_bytes(limits: GroupLimits) -> int:
    return limits.group_bytes


def _resources(limits: GroupLimits) -> int:
    return limits.resources


def _last_epoch(_limits: GroupLimits) -> int:
    return LAST_EPOCH


IDS, MEMBER_BYTES, GROUP_BYTES = "group.max.id.length", "group.max.member.metadata.bytes", "group.max.bytes"
RESOURCES = "group.connect.max.resources"
GROUP_ID = Bound("characters of the group's id", _group_id, _ids, IDS, ErrorCode.INVALID_GROUP_ID)
MEMBER_ID = Bound("characters of the member's id", _member_id, _ids, IDS)
INSTANCE_ID = "characters of group.instance.id"
EPOCH = Bound(
    "the group has had nearly all generations that there can be, delete it", _epoch, _last_epoch, "the last to join in"
)

CREATORS = {JoinGroupRequest, OffsetCommitRequest, ConnectGroupHeartbeatRequest, IncrementalAlterConfigsRequest}
"""What may bring a group into being."""
BOUNDS: dict[type[Request], tuple[Bound, ...]] = {
    JoinGroupRequest: (
        GROUP_ID,
        Bound("characters of the member's id or protocol type", _member_or_type, _ids, IDS),
        Bound(INSTANCE_ID, _group_instance_id, _instance_ids, "as in Kafka"),
        Bound("characters of a protocol's name", _protocol_name, _ids, IDS),
        Bound("bytes of the member's metadata", _protocol_bytes, _member_bytes, MEMBER_BYTES),
        Bound("connectors and tasks that the member runs", _reported_resources, _resources, RESOURCES),
        EPOCH,
        Bound(
            "bytes of the group",
            _bytes_with_member,
            _group_bytes,
            GROUP_BYTES,
            ErrorCode.GROUP_MAX_SIZE_REACHED,
        ),
    ),
    SyncGroupRequest: (
        Bound("bytes of the group", _bytes_with_assignments, _group_bytes, GROUP_BYTES),
        Bound("connectors and tasks that are assigned", _assigned_resources, _resources, RESOURCES),
    ),
    OffsetCommitRequest: (GROUP_ID,),
    ConnectGroupHeartbeatRequest: (
        GROUP_ID,
        Bound("characters of MemberId, Url or ServerAssignor", _worker_texts, _ids, IDS),
        Bound("characters of InstanceId", _instance_id, _instance_ids, "as in Kafka"),
        Bound("characters of an assignor's name", _assignor_name, _ids, IDS),
        Bound("bytes of the assignors' metadata", _assignor_bytes, _member_bytes, MEMBER_BYTES),
        Bound("connectors and tasks in one list", _named_resources, _resources, RESOURCES),
        Bound("characters of a connector's name", _connector_name, _ids, IDS),
        EPOCH,
        Bound(
            "bytes of all members' metadata",
            _bytes_with_assignors,
            _group_bytes,
            GROUP_BYTES,
            ErrorCode.GROUP_MAX_SIZE_REACHED,
        ),
    ),
    ConnectGroupPrepareAssignmentRequest: (GROUP_ID, MEMBER_ID),
    ConnectGroupInstallAssignmentRequest: (
        GROUP_ID,
        MEMBER_ID,
        Bound("connectors and tasks that are assigned", _installed_resources, _resources, RESOURCES),
        Bound("characters of a connector's name", _installed_name, _ids, IDS),
        Bound("bytes of ids and metadata", _installed_bytes, _group_bytes, GROUP_BYTES),
    ),
}
