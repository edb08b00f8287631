"""Error answers: for each group API the response that has only an error.

They are used where no handler runs: while a shard is loading, after it was dropped, and for a group that the client has
no right to. As in Kafka, the error is at the top of the response if there is a field for it, otherwise in every part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.connect_group_describe_response import DescribedGroup as DescribedConnectGroup
from kcoord.protocol.generated.delete_groups_response import DeletableGroupResult
from kcoord.protocol.generated.describe_configs_response import DescribeConfigsResult
from kcoord.protocol.generated.describe_groups_response import DescribedGroup
from kcoord.protocol.generated.find_coordinator_response import Coordinator
from kcoord.protocol.generated.incremental_alter_configs_response import AlterConfigsResourceResponse
from kcoord.protocol.generated.offset_commit_response import OffsetCommitResponsePartition, OffsetCommitResponseTopic
from kcoord.protocol.generated.offset_fetch_response import (
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)
from kcoord.protocol.generated.txn_offset_commit_response import (
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from kcoord.protocol.messages import (
    AdoptGroupRequest,
    AdoptGroupResponse,
    ConnectGroupDescribeRequest,
    ConnectGroupDescribeResponse,
    ConnectGroupHeartbeatRequest,
    ConnectGroupHeartbeatResponse,
    ConnectGroupInstallAssignmentRequest,
    ConnectGroupInstallAssignmentResponse,
    ConnectGroupPrepareAssignmentRequest,
    ConnectGroupPrepareAssignmentResponse,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    ListGroupsRequest,
    ListGroupsResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
    Request,
    Response,
    SyncGroupRequest,
    SyncGroupResponse,
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
)

UNKNOWN_OFFSET = -1


def _join(request: JoinGroupRequest, error: ErrorCode) -> Response:
    return JoinGroupResponse(
        error_code=error, generation_id=-1, protocol_name="", leader="", member_id=request.member_id
    )


def _sync(request: SyncGroupRequest, error: ErrorCode) -> Response:
    return SyncGroupResponse(error_code=error)


def _heartbeat(request: HeartbeatRequest, error: ErrorCode) -> Response:
    return HeartbeatResponse(error_code=error)


def _leave(request: LeaveGroupRequest, error: ErrorCode) -> Response:
    return LeaveGroupResponse(error_code=error)


def _describe(request: DescribeGroupsRequest, error: ErrorCode) -> Response:
    # In Apache Kafka, an answer with an error has the state Dead only if the group does not exist.
    return DescribeGroupsResponse(groups=[DescribedGroup(group_id=group, error_code=error) for group in request.groups])


def _list(request: ListGroupsRequest, error: ErrorCode) -> Response:
    return ListGroupsResponse(error_code=error)


def _delete(request: DeleteGroupsRequest, error: ErrorCode) -> Response:
    results = [DeletableGroupResult(group_id=group, error_code=error) for group in request.groups_names]
    return DeleteGroupsResponse(results=results)


def _offset_commit(request: OffsetCommitRequest, error: ErrorCode) -> Response:
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                name=topic.name,
                topic_id=topic.topic_id,
                partitions=[
                    OffsetCommitResponsePartition(partition_index=each.partition_index, error_code=error)
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def _txn_offset_commit(request: TxnOffsetCommitRequest, error: ErrorCode) -> Response:
    return TxnOffsetCommitResponse(
        topics=[
            TxnOffsetCommitResponseTopic(
                name=topic.name,
                partitions=[
                    TxnOffsetCommitResponsePartition(partition_index=each.partition_index, error_code=error)
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def _offset_delete(request: OffsetDeleteRequest, error: ErrorCode) -> Response:
    return OffsetDeleteResponse(error_code=error)


def _offset_fetch(request: OffsetFetchRequest, error: ErrorCode) -> Response:
    if request.groups:
        return OffsetFetchResponse(
            groups=[OffsetFetchResponseGroup(group_id=group.group_id, error_code=error) for group in request.groups]
        )
    # v1 has an error field only in the partitions
    return OffsetFetchResponse(
        error_code=error,
        topics=[
            OffsetFetchResponseTopic(
                name=topic.name,
                partitions=[
                    OffsetFetchResponsePartition(
                        partition_index=index, committed_offset=UNKNOWN_OFFSET, metadata="", error_code=error
                    )
                    for index in topic.partition_indexes
                ],
            )
            for topic in request.topics or []
        ],
    )


def _find_coordinator(request: FindCoordinatorRequest, error: ErrorCode) -> Response:
    nowhere: dict[str, Any] = {"node_id": -1, "host": "", "port": -1, "error_code": error, "error_message": None}
    if request.coordinator_keys:
        return FindCoordinatorResponse(
            coordinators=[Coordinator(key=key, **nowhere) for key in request.coordinator_keys]
        )
    return FindCoordinatorResponse(**nowhere)


def _connect_heartbeat(request: ConnectGroupHeartbeatRequest, error: ErrorCode) -> Response:
    return ConnectGroupHeartbeatResponse(error_code=error)


def _connect_prepare(request: ConnectGroupPrepareAssignmentRequest, error: ErrorCode) -> Response:
    return ConnectGroupPrepareAssignmentResponse(error_code=error)


def _connect_install(request: ConnectGroupInstallAssignmentRequest, error: ErrorCode) -> Response:
    return ConnectGroupInstallAssignmentResponse(error_code=error)


def _connect_describe(request: ConnectGroupDescribeRequest, error: ErrorCode) -> Response:
    groups = [DescribedConnectGroup(group_id=group, error_code=error) for group in request.group_ids]
    return ConnectGroupDescribeResponse(groups=groups)


def _adopt(request: AdoptGroupRequest, error: ErrorCode) -> Response:
    return AdoptGroupResponse(error_code=error)


def _describe_configs(request: DescribeConfigsRequest, error: ErrorCode) -> Response:
    return DescribeConfigsResponse(
        results=[
            DescribeConfigsResult(
                error_code=error,
                error_message=None,
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
            for resource in request.resources
        ]
    )


def _alter_configs(request: IncrementalAlterConfigsRequest, error: ErrorCode) -> Response:
    return IncrementalAlterConfigsResponse(
        responses=[
            AlterConfigsResourceResponse(
                error_code=error,
                error_message=None,
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
            for resource in request.resources
        ]
    )


_REFUSALS: dict[type[Request], Callable[[Any, ErrorCode], Response]] = {
    JoinGroupRequest: _join,
    SyncGroupRequest: _sync,
    HeartbeatRequest: _heartbeat,
    LeaveGroupRequest: _leave,
    DescribeGroupsRequest: _describe,
    ListGroupsRequest: _list,
    DeleteGroupsRequest: _delete,
    OffsetCommitRequest: _offset_commit,
    TxnOffsetCommitRequest: _txn_offset_commit,
    OffsetDeleteRequest: _offset_delete,
    OffsetFetchRequest: _offset_fetch,
    FindCoordinatorRequest: _find_coordinator,
    ConnectGroupHeartbeatRequest: _connect_heartbeat,
    ConnectGroupPrepareAssignmentRequest: _connect_prepare,
    ConnectGroupInstallAssignmentRequest: _connect_install,
    ConnectGroupDescribeRequest: _connect_describe,
    AdoptGroupRequest: _adopt,
    DescribeConfigsRequest: _describe_configs,
    IncrementalAlterConfigsRequest: _alter_configs,
}


def refuse(request: Request, error: ErrorCode) -> Response:
    """The answer to `request` (of a group API) that has `error` and nothing else. Raises KeyError for other APIs."""
    return _REFUSALS[type(request)](request, error)
