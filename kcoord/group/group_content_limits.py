"""Limits of what one request may bring into a group: for each API what is measured, the bound, and the error.

`Shard.handle` calls `excess` before the handler runs, so a request over a limit has changed nothing. Two rules:

1. What Apache Kafka checks gets Kafka's error: `group.max.size` GROUP_MAX_SIZE_REACHED, the text beside an offset
   OFFSET_METADATA_TOO_LARGE. What Kafka limits only by the largest record of its topic is refused here before there is
   a record.
2. A client id that is too long is cut (`cut_client_id`), not refused: it is only a label, and clients send it with
   every request.

Generations and epochs are an int32 in Kafka's protocol. Shortly before the largest one nobody may join any more. The
members of such a group can still leave, which takes one epoch each, and then the group can be deleted. A new group of
that name begins with the first generation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import attrs

from kcoord.group.api_handlers_and_rights import ALL_APIS
from kcoord.group.error_responses import refuse
from kcoord.group.modern.client_assignors import ListedAssignor
from kcoord.group.state.groups.classic_group import weight_of
from kcoord.group.state.groups.connect_group import PROTOCOL_TYPE
from kcoord.group.state.groups.modern_member import JOINING_EPOCH
from kcoord.group.state.settings import GroupLimits
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.step import RequestContext
from kcoord.protocol.embedded import NAMES, resources_in_assignment, resources_in_state
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.message_base import Request, Response
from kcoord.protocol.messages import (
    ConnectGroupHeartbeatRequest,
    ConnectGroupHeartbeatResponse,
    ConnectGroupInstallAssignmentRequest,
    ConnectGroupInstallAssignmentResponse,
    ConnectGroupPrepareAssignmentRequest,
    ConnectGroupPrepareAssignmentResponse,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ConsumerGroupInstallAssignmentRequest,
    ConsumerGroupInstallAssignmentResponse,
    ConsumerGroupPrepareAssignmentRequest,
    ConsumerGroupPrepareAssignmentResponse,
    IncrementalAlterConfigsRequest,
    JoinGroupRequest,
    OffsetCommitRequest,
    SyncGroupRequest,
)
from kcoord.protocol.resources import Entry

MAX_INSTANCE_ID_CHARS = 249
"""Kafka's limit of a group.instance.id, which Kafka's clients check."""
LAST_EPOCH = 2**31 - 1 - 2**20
"""The last generation or group epoch in which clients may join. The rest of the int32 is for members that leave."""


@attrs.frozen(slots=True)
class Excess:
    """A limit that a request exceeds."""

    error: ErrorCode
    what: str
    text: str
    """What is too much, and the setting that limits it; about 200 characters at most."""


@attrs.frozen(slots=True)
class Bound:
    """Something that is limited: what it is called, the setting that limits it, and the error for too much of it."""

    what: str
    setting: str
    error: ErrorCode = ErrorCode.INVALID_REQUEST

    def excess(self, measured: int, most: int) -> Excess:
        """The excess of a request that has `measured` of it where `most` are allowed."""
        return Excess(self.error, self.what, f"{self.what}: {measured} is more than {most} ({self.setting})")


IDS, MEMBER_BYTES, GROUP_BYTES = "group.max.id.length", "group.max.member.metadata.bytes", "group.max.bytes"
RESOURCES, AS_KAFKA = "group.connect.max.resources", "as in Kafka"
GROUP_ID = Bound("characters of the group's id", IDS, ErrorCode.INVALID_GROUP_ID)
MEMBER_ID = Bound("characters of the member's id", IDS)
PROTOCOL_NAME = Bound("characters of a protocol's type or name", IDS)
WORKER_TEXT = Bound("characters of Url or ServerAssignor", IDS)
CONSUMER_TEXT = Bound("characters of RackId or ServerAssignor", IDS)
ASSIGNOR_NAME = Bound("characters of an assignor's name", IDS)
CONNECTOR_NAME = Bound("characters of a connector's name", IDS)
INSTANCE_ID = Bound("characters of the static member's id", AS_KAFKA)
METADATA = Bound("bytes of the member's metadata", MEMBER_BYTES)
GROUP_SIZE = Bound("bytes of the group", GROUP_BYTES, ErrorCode.GROUP_MAX_SIZE_REACHED)
ASSIGNED = Bound("bytes of the group with its assignments", GROUP_BYTES)
LISTED = Bound("connectors and tasks in one list", RESOURCES)
ENTRY_BYTES = 64
"""What an entry of a list counts at least: it takes memory also if it is empty."""
EPOCH = Bound("the group has had nearly all generations that there can be, delete it", "the last to join in")


def excess(state: ShardState, request: Request) -> Excess | None:
    """The limit that `request` exceeds; None: it exceeds none.

    Every request is measured here, except on the hot path. So this must be fast: each API has one function, which
    measures everything once.
    """
    check = CHECKS.get(type(request))
    return None if check is None else check(state.settings.limits, state, request)


def refuse_excess(request: Request, over: Excess) -> Response:
    """The answer to a request that is over a limit."""
    response = refuse(request, over.error)
    if isinstance(
        response,
        ConnectGroupHeartbeatResponse
        | ConnectGroupPrepareAssignmentResponse
        | ConnectGroupInstallAssignmentResponse
        | ConsumerGroupHeartbeatResponse
        | ConsumerGroupPrepareAssignmentResponse
        | ConsumerGroupInstallAssignmentResponse,
    ):
        response.error_message = over.text
    return response


def cut_client_id(context: RequestContext, limits: GroupLimits) -> RequestContext:
    """The context, with a client id that is cut to the length of ids."""
    if len(context.client_id) <= limits.id_length:
        return context
    return attrs.evolve(context, client_id=context.client_id[: limits.id_length])


def creates_group(state: ShardState, request: Request) -> bool:
    """Whether `request` may create a group, or a configuration for a group that has none yet."""
    kind = type(request)
    if kind not in CREATORS:
        return False
    if isinstance(request, IncrementalAlterConfigsRequest):
        return any(resource.resource_name not in state.configurations for resource in request.resources)
    group_id: str = request.group_id  # type: ignore[attr-defined]  # all others of CREATORS have one
    if state.any_group(group_id) is not None:
        return False
    joins = ConnectGroupHeartbeatRequest | ConsumerGroupHeartbeatRequest
    return not isinstance(request, joins) or request.member_epoch == JOINING_EPOCH


# -- one function for each API ----------------------------------------------------------------------------------------


def _join_group(limits: GroupLimits, state: ShardState, request: JoinGroupRequest) -> Excess | None:
    ids = limits.id_length
    if len(request.group_id) > ids:
        return GROUP_ID.excess(len(request.group_id), ids)
    if len(request.member_id) > ids:
        return MEMBER_ID.excess(len(request.member_id), ids)
    if len(request.protocol_type) > ids:
        return PROTOCOL_NAME.excess(len(request.protocol_type), ids)
    instance_id = request.group_instance_id
    if instance_id is not None and len(instance_id) > MAX_INSTANCE_ID_CHARS:
        return INSTANCE_ID.excess(len(instance_id), MAX_INSTANCE_ID_CHARS)
    total = largest = 0
    for each in request.protocols:
        if len(each.name) > ids:
            return PROTOCOL_NAME.excess(len(each.name), ids)
        size = len(each.metadata)
        total += size + len(each.name)
        if size > largest:
            largest = size
    if total > limits.member_metadata_bytes:
        return METADATA.excess(total, limits.member_metadata_bytes)
    if request.protocol_type == PROTOCOL_TYPE:
        most = limits.resources
        runs = max(
            (resources_in_state(each.metadata, most) for each in request.protocols if each.name in NAMES), default=0
        )
        if runs > most:
            return LISTED.excess(runs, most)
    return _join_of_known(limits, state, request, largest)


def _join_of_known(limits: GroupLimits, state: ShardState, request: JoinGroupRequest, largest: int) -> Excess | None:
    """The limit of a known group that this join exceeds. `largest`: bytes of metadata that its record may hold."""
    connect = state.connect.get(request.group_id)
    if connect is not None:
        return EPOCH.excess(connect.epoch, LAST_EPOCH) if connect.epoch > LAST_EPOCH else None
    group = state.groups.get(request.group_id)
    if group is None:
        return None
    if group.generation > LAST_EPOCH:
        return EPOCH.excess(group.generation, LAST_EPOCH)
    weight = group.weight + largest
    if weight > limits.group_bytes:
        before = group.members.get(request.member_id or group.static_ids.get(request.group_instance_id or "", ""))
        weight -= 0 if before is None else weight_of(before)
    return GROUP_SIZE.excess(weight, limits.group_bytes) if weight > limits.group_bytes else None


def _sync_group(limits: GroupLimits, state: ShardState, request: SyncGroupRequest) -> Excess | None:
    if not request.assignments:
        return None
    group = state.groups.get(request.group_id)
    weight = sum([len(each.member_id) + len(each.assignment) for each in request.assignments])
    weight += 0 if group is None else group.weight
    if weight > limits.group_bytes:
        return ASSIGNED.excess(weight, limits.group_bytes)
    if request.group_id in state.connect:
        assigned = 0
        for each in request.assignments:
            assigned += resources_in_assignment(each.assignment, limits.resources)
            if assigned > limits.resources:
                return LISTED.excess(assigned, limits.resources)
    return None


def _offset_commit(limits: GroupLimits, _state: ShardState, request: OffsetCommitRequest) -> Excess | None:
    chars = len(request.group_id)
    return GROUP_ID.excess(chars, limits.id_length) if chars > limits.id_length else None


def _connect_heartbeat(limits: GroupLimits, state: ShardState, request: ConnectGroupHeartbeatRequest) -> Excess | None:
    over = _worker_ids(limits, state, request)
    if over is not None:
        return over
    for text in (request.url, request.server_assignor):
        if text is not None and len(text) > limits.id_length:
            return WORKER_TEXT.excess(len(text), limits.id_length)
    instance_id = request.instance_id
    if instance_id is not None and len(instance_id) > MAX_INSTANCE_ID_CHARS:
        return INSTANCE_ID.excess(len(instance_id), MAX_INSTANCE_ID_CHARS)
    for entries in (request.connectors_and_tasks, request.configured_connectors_and_tasks):
        over = _resources(limits, entries) if entries else None
        if over is not None:
            return over
    if request.member_epoch == JOINING_EPOCH:
        connect = state.connect.get(request.group_id)
        if connect is not None and connect.epoch > LAST_EPOCH:
            return EPOCH.excess(connect.epoch, LAST_EPOCH)
    return _assignors(limits, state, request) if request.client_assignors else None


def _consumer_heartbeat(
    limits: GroupLimits, state: ShardState, request: ConsumerGroupHeartbeatRequest
) -> Excess | None:
    ids = limits.id_length
    if len(request.group_id) > ids:
        return GROUP_ID.excess(len(request.group_id), ids)
    if len(request.member_id) > ids:
        return MEMBER_ID.excess(len(request.member_id), ids)
    if request.instance_id is not None and len(request.instance_id) > MAX_INSTANCE_ID_CHARS:
        return INSTANCE_ID.excess(len(request.instance_id), MAX_INSTANCE_ID_CHARS)
    for text in (request.rack_id, request.server_assignor):
        if text is not None and len(text) > ids:
            return CONSUMER_TEXT.excess(len(text), ids)
    names = sum(map(len, request.subscribed_topic_names or ())) + len(request.subscribed_topic_regex or "")
    if names > limits.member_metadata_bytes:
        return METADATA.excess(names, limits.member_metadata_bytes)
    over = _consumer_assignors(limits, state, request) if request.client_assignors else None
    if over is not None:
        return over
    group = state.consumer.get(request.group_id) if request.member_epoch == JOINING_EPOCH else None
    return EPOCH.excess(group.epoch, LAST_EPOCH) if group is not None and group.epoch > LAST_EPOCH else None


def _consumer_assignors(
    limits: GroupLimits, state: ShardState, request: ConsumerGroupHeartbeatRequest
) -> Excess | None:
    group = state.consumer.get(request.group_id)
    members = {} if group is None else group.members
    others = (each.metadata.client_assignors for at, each in members.items() if at != request.member_id)
    return _listed(limits, request.client_assignors or (), others)


def _assignors(limits: GroupLimits, state: ShardState, request: ConnectGroupHeartbeatRequest) -> Excess | None:
    group = state.connect.get(request.group_id)
    members = {} if group is None else group.members
    others = (each.metadata.assignors for at, each in members.items() if at != request.member_id)
    return _listed(limits, request.client_assignors or (), others)


def _listed(
    limits: GroupLimits, own: Sequence[ListedAssignor], others: Iterable[Sequence[ListedAssignor]]
) -> Excess | None:
    """Check the size of a member's own assignors, and of all members' together, which the chosen one is shown."""
    total = 0
    for each in own:
        if len(each.name) > limits.id_length:
            return ASSIGNOR_NAME.excess(len(each.name), limits.id_length)
        total += max(ENTRY_BYTES, len(each.name) + len(each.metadata))
    if total > limits.member_metadata_bytes:
        return METADATA.excess(total, limits.member_metadata_bytes)
    total += sum([len(assignor.metadata) for assignors in others for assignor in assignors])
    return GROUP_SIZE.excess(total, limits.group_bytes) if total > limits.group_bytes else None


def _consumer_install(
    limits: GroupLimits, state: ShardState, request: ConsumerGroupInstallAssignmentRequest
) -> Excess | None:
    over = _worker_ids(limits, state, request)
    if over is not None:
        return over
    size = sum([len(each.member_id) + len(each.metadata) for each in request.members])
    return ASSIGNED.excess(size, limits.group_bytes) if size > limits.group_bytes else None


def _connect_install(
    limits: GroupLimits, state: ShardState, request: ConnectGroupInstallAssignmentRequest
) -> Excess | None:
    over = _worker_ids(limits, state, request)
    if over is not None:
        return over
    size = sum([len(each.member_id) + len(each.metadata) for each in request.members])
    if size > limits.group_bytes:
        return ASSIGNED.excess(size, limits.group_bytes)
    return _resources(limits, [entry for each in request.members for entry in each.connectors_and_tasks])


def _worker_ids(
    limits: GroupLimits,
    _state: ShardState,
    request: ConnectGroupHeartbeatRequest
    | ConnectGroupPrepareAssignmentRequest
    | ConnectGroupInstallAssignmentRequest
    | ConsumerGroupPrepareAssignmentRequest
    | ConsumerGroupInstallAssignmentRequest,
) -> Excess | None:
    ids = limits.id_length
    if len(request.group_id) > ids:
        return GROUP_ID.excess(len(request.group_id), ids)
    return MEMBER_ID.excess(len(request.member_id), ids) if len(request.member_id) > ids else None


def _resources(limits: GroupLimits, entries: Sequence[Entry]) -> Excess | None:
    """Check the number of connectors and tasks in a list, and the length of their names."""
    count = sum([len(entry.connectors) + len(entry.tasks) for entry in entries])
    if count > limits.resources:
        return LISTED.excess(count, limits.resources)
    for entry in entries:
        names = {task.connector_id for task in entry.tasks}
        names.update(entry.connectors)
        longest = max(map(len, names), default=0)
        if longest > limits.id_length:
            return CONNECTOR_NAME.excess(longest, limits.id_length)
    return None


CHECKS: dict[type[Request], Callable[[GroupLimits, ShardState, Any], Excess | None]] = {
    JoinGroupRequest: _join_group,
    SyncGroupRequest: _sync_group,
    OffsetCommitRequest: _offset_commit,
    ConnectGroupHeartbeatRequest: _connect_heartbeat,
    ConsumerGroupHeartbeatRequest: _consumer_heartbeat,
    ConnectGroupPrepareAssignmentRequest: _worker_ids,
    ConnectGroupInstallAssignmentRequest: _connect_install,
    ConsumerGroupPrepareAssignmentRequest: _worker_ids,
    ConsumerGroupInstallAssignmentRequest: _consumer_install,
}
CREATORS = frozenset(row.request for row in ALL_APIS if row.creates)
"""The requests that may create a group."""
