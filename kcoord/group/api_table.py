"""The API table: one row for each API about groups, with all that the rest of kcoord needs to know of it.

To add an API, write its schema, a file in `apis/`, and a row here. Each module that handles requests derives what it
needs from the rows once, when it is imported. Consumers are: the shard (handlers), the server and the gateway (rights,
what is offered, what is read), the shard's host (what writes), the instances (what is relayed), batches (how a request
for several groups is split), and the protocol reference (docs/protocol.md).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from kcoord.group.apis.adopt_group import adopt_group
from kcoord.group.apis.connect_group_describe import connect_group_describe, refuse_connect_group_describe
from kcoord.group.apis.connect_group_heartbeat import connect_group_heartbeat
from kcoord.group.apis.connect_group_install_assignment import connect_group_install_assignment
from kcoord.group.apis.connect_group_prepare_assignment import connect_group_prepare_assignment
from kcoord.group.apis.delete_groups import delete_groups, refuse_delete_groups
from kcoord.group.apis.describe_configs import refuse_describe_configs
from kcoord.group.apis.describe_groups import describe_groups, refuse_describe_groups
from kcoord.group.apis.find_coordinator import refuse_find_coordinator
from kcoord.group.apis.heartbeat import heartbeat
from kcoord.group.apis.incremental_alter_configs import refuse_incremental_alter_configs
from kcoord.group.apis.join_group import join_group, refuse_join_group
from kcoord.group.apis.leave_group import leave_group
from kcoord.group.apis.list_groups import list_groups
from kcoord.group.apis.offset_commit import offset_commit, refuse_offset_commit
from kcoord.group.apis.offset_delete import offset_delete
from kcoord.group.apis.offset_fetch import offset_fetch, refuse_offset_fetch
from kcoord.group.apis.sync_group import sync_group
from kcoord.group.apis.txn_offset_commit import refuse_txn_offset_commit
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.message import Request, Response
from kcoord.protocol.messages import (
    AdoptGroupRequest,
    ConnectGroupDescribeRequest,
    ConnectGroupHeartbeatRequest,
    ConnectGroupInstallAssignmentRequest,
    ConnectGroupPrepareAssignmentRequest,
    DeleteGroupsRequest,
    DescribeConfigsRequest,
    DescribeGroupsRequest,
    FindCoordinatorRequest,
    HeartbeatRequest,
    IncrementalAlterConfigsRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    ListGroupsRequest,
    OffsetCommitRequest,
    OffsetDeleteRequest,
    OffsetFetchRequest,
    SyncGroupRequest,
    TxnOffsetCommitRequest,
    response_class,
)

Handler = Callable[[Transition, Any, RequestContext, Token], None]
Refusal = Callable[[Any, ErrorCode], Response]


def error_at_top(request: Request, error: ErrorCode) -> Response:
    """The response with `error` in its field for the whole request, and nothing else."""
    fields: dict[str, Any] = {"error_code": error}
    return response_class(request.API_KEY)(**fields)


@attrs.frozen(kw_only=True)
class ApiRow:
    """What kcoord needs to know of one API."""

    request: type[Request]
    handler: Handler | None = None
    """Carries out the request in a shard. None: the shard's host does (settings), or no shard has part in it."""
    refusal: Refusal = error_at_top
    """Makes the response that has only an error: at the top if there is a field for it, as in Kafka, otherwise in each
    part.
    """


API_TABLE = (
    ApiRow(request=JoinGroupRequest, handler=join_group, refusal=refuse_join_group),
    ApiRow(request=SyncGroupRequest, handler=sync_group),
    ApiRow(request=HeartbeatRequest, handler=heartbeat),
    ApiRow(request=LeaveGroupRequest, handler=leave_group),
    ApiRow(request=ConnectGroupHeartbeatRequest, handler=connect_group_heartbeat),
    ApiRow(request=ConnectGroupPrepareAssignmentRequest, handler=connect_group_prepare_assignment),
    ApiRow(request=ConnectGroupInstallAssignmentRequest, handler=connect_group_install_assignment),
    ApiRow(request=ConnectGroupDescribeRequest, handler=connect_group_describe, refusal=refuse_connect_group_describe),
    ApiRow(request=DescribeGroupsRequest, handler=describe_groups, refusal=refuse_describe_groups),
    ApiRow(request=ListGroupsRequest, handler=list_groups),
    ApiRow(request=DeleteGroupsRequest, handler=delete_groups, refusal=refuse_delete_groups),
    ApiRow(request=DescribeConfigsRequest, refusal=refuse_describe_configs),
    ApiRow(request=IncrementalAlterConfigsRequest, refusal=refuse_incremental_alter_configs),
    ApiRow(request=OffsetCommitRequest, handler=offset_commit, refusal=refuse_offset_commit),
    ApiRow(request=TxnOffsetCommitRequest, refusal=refuse_txn_offset_commit),
    ApiRow(request=OffsetFetchRequest, handler=offset_fetch, refusal=refuse_offset_fetch),
    ApiRow(request=OffsetDeleteRequest, handler=offset_delete),
    ApiRow(request=FindCoordinatorRequest, refusal=refuse_find_coordinator),
    ApiRow(request=AdoptGroupRequest, handler=adopt_group),
)
"""The rows: classic members, members of connect groups, admins, settings, offsets, discovery, kcoord's own."""
