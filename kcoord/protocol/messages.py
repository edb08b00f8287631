# Generated from schemas/ by `python -m schemas.generator`. Do not edit.
"""Messages: every request and response, and by API key their names, versions and classes.

``REQUESTS`` and ``RESPONSES`` hold what kcoord can decode. ``API_NAMES``, ``API_VERSIONS`` and
``FLEXIBLE_FROM`` hold every API of Kafka 4.3, also those that are only passed on, and those of ``OWN_APIS``,
which no Kafka has.

A class is imported when its name is first asked for, and all of them with ``REQUESTS`` or ``RESPONSES``: a
command that asks three questions does not wait for the classes of sixty.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from kcoord.protocol.message_base import Message, Request, Response

if TYPE_CHECKING:
    from kcoord.protocol.generated.adopt_group_request import AdoptGroupRequest
    from kcoord.protocol.generated.adopt_group_response import AdoptGroupResponse
    from kcoord.protocol.generated.api_versions_request import ApiVersionsRequest
    from kcoord.protocol.generated.api_versions_response import ApiVersionsResponse
    from kcoord.protocol.generated.connect_group_describe_request import ConnectGroupDescribeRequest
    from kcoord.protocol.generated.connect_group_describe_response import ConnectGroupDescribeResponse
    from kcoord.protocol.generated.connect_group_heartbeat_request import ConnectGroupHeartbeatRequest
    from kcoord.protocol.generated.connect_group_heartbeat_response import ConnectGroupHeartbeatResponse
    from kcoord.protocol.generated.connect_group_install_assignment_request import ConnectGroupInstallAssignmentRequest
    from kcoord.protocol.generated.connect_group_install_assignment_response import (
        ConnectGroupInstallAssignmentResponse,
    )
    from kcoord.protocol.generated.connect_group_prepare_assignment_request import ConnectGroupPrepareAssignmentRequest
    from kcoord.protocol.generated.connect_group_prepare_assignment_response import (
        ConnectGroupPrepareAssignmentResponse,
    )
    from kcoord.protocol.generated.consumer_group_describe_request import ConsumerGroupDescribeRequest
    from kcoord.protocol.generated.consumer_group_describe_response import ConsumerGroupDescribeResponse
    from kcoord.protocol.generated.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest
    from kcoord.protocol.generated.consumer_group_heartbeat_response import ConsumerGroupHeartbeatResponse
    from kcoord.protocol.generated.consumer_group_install_assignment_request import (
        ConsumerGroupInstallAssignmentRequest,
    )
    from kcoord.protocol.generated.consumer_group_install_assignment_response import (
        ConsumerGroupInstallAssignmentResponse,
    )
    from kcoord.protocol.generated.consumer_group_prepare_assignment_request import (
        ConsumerGroupPrepareAssignmentRequest,
    )
    from kcoord.protocol.generated.consumer_group_prepare_assignment_response import (
        ConsumerGroupPrepareAssignmentResponse,
    )
    from kcoord.protocol.generated.create_partitions_request import CreatePartitionsRequest
    from kcoord.protocol.generated.create_partitions_response import CreatePartitionsResponse
    from kcoord.protocol.generated.create_topics_request import CreateTopicsRequest
    from kcoord.protocol.generated.create_topics_response import CreateTopicsResponse
    from kcoord.protocol.generated.declared_topics_request import DeclaredTopicsRequest
    from kcoord.protocol.generated.declared_topics_response import DeclaredTopicsResponse
    from kcoord.protocol.generated.delete_groups_request import DeleteGroupsRequest
    from kcoord.protocol.generated.delete_groups_response import DeleteGroupsResponse
    from kcoord.protocol.generated.delete_topics_request import DeleteTopicsRequest
    from kcoord.protocol.generated.delete_topics_response import DeleteTopicsResponse
    from kcoord.protocol.generated.describe_cluster_request import DescribeClusterRequest
    from kcoord.protocol.generated.describe_cluster_response import DescribeClusterResponse
    from kcoord.protocol.generated.describe_configs_request import DescribeConfigsRequest
    from kcoord.protocol.generated.describe_configs_response import DescribeConfigsResponse
    from kcoord.protocol.generated.describe_groups_request import DescribeGroupsRequest
    from kcoord.protocol.generated.describe_groups_response import DescribeGroupsResponse
    from kcoord.protocol.generated.describe_topic_partitions_request import DescribeTopicPartitionsRequest
    from kcoord.protocol.generated.describe_topic_partitions_response import DescribeTopicPartitionsResponse
    from kcoord.protocol.generated.fetch_request import FetchRequest
    from kcoord.protocol.generated.fetch_response import FetchResponse
    from kcoord.protocol.generated.find_coordinator_request import FindCoordinatorRequest
    from kcoord.protocol.generated.find_coordinator_response import FindCoordinatorResponse
    from kcoord.protocol.generated.heartbeat_request import HeartbeatRequest
    from kcoord.protocol.generated.heartbeat_response import HeartbeatResponse
    from kcoord.protocol.generated.incremental_alter_configs_request import IncrementalAlterConfigsRequest
    from kcoord.protocol.generated.incremental_alter_configs_response import IncrementalAlterConfigsResponse
    from kcoord.protocol.generated.join_group_request import JoinGroupRequest
    from kcoord.protocol.generated.join_group_response import JoinGroupResponse
    from kcoord.protocol.generated.leave_group_request import LeaveGroupRequest
    from kcoord.protocol.generated.leave_group_response import LeaveGroupResponse
    from kcoord.protocol.generated.list_groups_request import ListGroupsRequest
    from kcoord.protocol.generated.list_groups_response import ListGroupsResponse
    from kcoord.protocol.generated.list_offsets_request import ListOffsetsRequest
    from kcoord.protocol.generated.list_offsets_response import ListOffsetsResponse
    from kcoord.protocol.generated.metadata_request import MetadataRequest
    from kcoord.protocol.generated.metadata_response import MetadataResponse
    from kcoord.protocol.generated.offset_commit_request import OffsetCommitRequest
    from kcoord.protocol.generated.offset_commit_response import OffsetCommitResponse
    from kcoord.protocol.generated.offset_delete_request import OffsetDeleteRequest
    from kcoord.protocol.generated.offset_delete_response import OffsetDeleteResponse
    from kcoord.protocol.generated.offset_fetch_request import OffsetFetchRequest
    from kcoord.protocol.generated.offset_fetch_response import OffsetFetchResponse
    from kcoord.protocol.generated.produce_request import ProduceRequest
    from kcoord.protocol.generated.produce_response import ProduceResponse
    from kcoord.protocol.generated.sasl_authenticate_request import SaslAuthenticateRequest
    from kcoord.protocol.generated.sasl_authenticate_response import SaslAuthenticateResponse
    from kcoord.protocol.generated.sasl_handshake_request import SaslHandshakeRequest
    from kcoord.protocol.generated.sasl_handshake_response import SaslHandshakeResponse
    from kcoord.protocol.generated.share_acknowledge_request import ShareAcknowledgeRequest
    from kcoord.protocol.generated.share_acknowledge_response import ShareAcknowledgeResponse
    from kcoord.protocol.generated.share_fetch_request import ShareFetchRequest
    from kcoord.protocol.generated.share_fetch_response import ShareFetchResponse
    from kcoord.protocol.generated.share_group_describe_request import ShareGroupDescribeRequest
    from kcoord.protocol.generated.share_group_describe_response import ShareGroupDescribeResponse
    from kcoord.protocol.generated.share_group_heartbeat_request import ShareGroupHeartbeatRequest
    from kcoord.protocol.generated.share_group_heartbeat_response import ShareGroupHeartbeatResponse
    from kcoord.protocol.generated.streams_group_describe_request import StreamsGroupDescribeRequest
    from kcoord.protocol.generated.streams_group_describe_response import StreamsGroupDescribeResponse
    from kcoord.protocol.generated.streams_group_heartbeat_request import StreamsGroupHeartbeatRequest
    from kcoord.protocol.generated.streams_group_heartbeat_response import StreamsGroupHeartbeatResponse
    from kcoord.protocol.generated.sync_group_request import SyncGroupRequest
    from kcoord.protocol.generated.sync_group_response import SyncGroupResponse
    from kcoord.protocol.generated.txn_offset_commit_request import TxnOffsetCommitRequest
    from kcoord.protocol.generated.txn_offset_commit_response import TxnOffsetCommitResponse

    REQUESTS: dict[int, type[Request]]
    RESPONSES: dict[int, type[Response]]

__all__ = [
    "API_NAMES",
    "API_VERSIONS",
    "FLEXIBLE_FROM",
    "OWN_APIS",
    "REQUESTS",
    "RESPONSES",
    "AdoptGroupRequest",
    "AdoptGroupResponse",
    "ApiVersionsRequest",
    "ApiVersionsResponse",
    "ConnectGroupDescribeRequest",
    "ConnectGroupDescribeResponse",
    "ConnectGroupHeartbeatRequest",
    "ConnectGroupHeartbeatResponse",
    "ConnectGroupInstallAssignmentRequest",
    "ConnectGroupInstallAssignmentResponse",
    "ConnectGroupPrepareAssignmentRequest",
    "ConnectGroupPrepareAssignmentResponse",
    "ConsumerGroupDescribeRequest",
    "ConsumerGroupDescribeResponse",
    "ConsumerGroupHeartbeatRequest",
    "ConsumerGroupHeartbeatResponse",
    "ConsumerGroupInstallAssignmentRequest",
    "ConsumerGroupInstallAssignmentResponse",
    "ConsumerGroupPrepareAssignmentRequest",
    "ConsumerGroupPrepareAssignmentResponse",
    "CreatePartitionsRequest",
    "CreatePartitionsResponse",
    "CreateTopicsRequest",
    "CreateTopicsResponse",
    "DeclaredTopicsRequest",
    "DeclaredTopicsResponse",
    "DeleteGroupsRequest",
    "DeleteGroupsResponse",
    "DeleteTopicsRequest",
    "DeleteTopicsResponse",
    "DescribeClusterRequest",
    "DescribeClusterResponse",
    "DescribeConfigsRequest",
    "DescribeConfigsResponse",
    "DescribeGroupsRequest",
    "DescribeGroupsResponse",
    "DescribeTopicPartitionsRequest",
    "DescribeTopicPartitionsResponse",
    "FetchRequest",
    "FetchResponse",
    "FindCoordinatorRequest",
    "FindCoordinatorResponse",
    "HeartbeatRequest",
    "HeartbeatResponse",
    "IncrementalAlterConfigsRequest",
    "IncrementalAlterConfigsResponse",
    "JoinGroupRequest",
    "JoinGroupResponse",
    "LeaveGroupRequest",
    "LeaveGroupResponse",
    "ListGroupsRequest",
    "ListGroupsResponse",
    "ListOffsetsRequest",
    "ListOffsetsResponse",
    "Message",
    "MetadataRequest",
    "MetadataResponse",
    "OffsetCommitRequest",
    "OffsetCommitResponse",
    "OffsetDeleteRequest",
    "OffsetDeleteResponse",
    "OffsetFetchRequest",
    "OffsetFetchResponse",
    "ProduceRequest",
    "ProduceResponse",
    "Request",
    "Response",
    "SaslAuthenticateRequest",
    "SaslAuthenticateResponse",
    "SaslHandshakeRequest",
    "SaslHandshakeResponse",
    "ShareAcknowledgeRequest",
    "ShareAcknowledgeResponse",
    "ShareFetchRequest",
    "ShareFetchResponse",
    "ShareGroupDescribeRequest",
    "ShareGroupDescribeResponse",
    "ShareGroupHeartbeatRequest",
    "ShareGroupHeartbeatResponse",
    "StreamsGroupDescribeRequest",
    "StreamsGroupDescribeResponse",
    "StreamsGroupHeartbeatRequest",
    "StreamsGroupHeartbeatResponse",
    "SyncGroupRequest",
    "SyncGroupResponse",
    "TxnOffsetCommitRequest",
    "TxnOffsetCommitResponse",
    "api_name",
    "response_class",
]

_TABLES: dict[str, dict[int, str]] = {
    "REQUESTS": {
        0: "ProduceRequest",
        1: "FetchRequest",
        2: "ListOffsetsRequest",
        3: "MetadataRequest",
        8: "OffsetCommitRequest",
        9: "OffsetFetchRequest",
        10: "FindCoordinatorRequest",
        11: "JoinGroupRequest",
        12: "HeartbeatRequest",
        13: "LeaveGroupRequest",
        14: "SyncGroupRequest",
        15: "DescribeGroupsRequest",
        16: "ListGroupsRequest",
        17: "SaslHandshakeRequest",
        18: "ApiVersionsRequest",
        19: "CreateTopicsRequest",
        20: "DeleteTopicsRequest",
        28: "TxnOffsetCommitRequest",
        32: "DescribeConfigsRequest",
        36: "SaslAuthenticateRequest",
        37: "CreatePartitionsRequest",
        42: "DeleteGroupsRequest",
        44: "IncrementalAlterConfigsRequest",
        47: "OffsetDeleteRequest",
        60: "DescribeClusterRequest",
        68: "ConsumerGroupHeartbeatRequest",
        69: "ConsumerGroupDescribeRequest",
        75: "DescribeTopicPartitionsRequest",
        76: "ShareGroupHeartbeatRequest",
        77: "ShareGroupDescribeRequest",
        78: "ShareFetchRequest",
        79: "ShareAcknowledgeRequest",
        88: "StreamsGroupHeartbeatRequest",
        89: "StreamsGroupDescribeRequest",
        32100: "ConnectGroupHeartbeatRequest",
        32101: "ConnectGroupPrepareAssignmentRequest",
        32102: "ConnectGroupInstallAssignmentRequest",
        32103: "ConnectGroupDescribeRequest",
        32104: "AdoptGroupRequest",
        32105: "DeclaredTopicsRequest",
        32110: "ConsumerGroupPrepareAssignmentRequest",
        32111: "ConsumerGroupInstallAssignmentRequest",
    },
    "RESPONSES": {
        0: "ProduceResponse",
        1: "FetchResponse",
        2: "ListOffsetsResponse",
        3: "MetadataResponse",
        8: "OffsetCommitResponse",
        9: "OffsetFetchResponse",
        10: "FindCoordinatorResponse",
        11: "JoinGroupResponse",
        12: "HeartbeatResponse",
        13: "LeaveGroupResponse",
        14: "SyncGroupResponse",
        15: "DescribeGroupsResponse",
        16: "ListGroupsResponse",
        17: "SaslHandshakeResponse",
        18: "ApiVersionsResponse",
        19: "CreateTopicsResponse",
        20: "DeleteTopicsResponse",
        28: "TxnOffsetCommitResponse",
        32: "DescribeConfigsResponse",
        36: "SaslAuthenticateResponse",
        37: "CreatePartitionsResponse",
        42: "DeleteGroupsResponse",
        44: "IncrementalAlterConfigsResponse",
        47: "OffsetDeleteResponse",
        60: "DescribeClusterResponse",
        68: "ConsumerGroupHeartbeatResponse",
        69: "ConsumerGroupDescribeResponse",
        75: "DescribeTopicPartitionsResponse",
        76: "ShareGroupHeartbeatResponse",
        77: "ShareGroupDescribeResponse",
        78: "ShareFetchResponse",
        79: "ShareAcknowledgeResponse",
        88: "StreamsGroupHeartbeatResponse",
        89: "StreamsGroupDescribeResponse",
        32100: "ConnectGroupHeartbeatResponse",
        32101: "ConnectGroupPrepareAssignmentResponse",
        32102: "ConnectGroupInstallAssignmentResponse",
        32103: "ConnectGroupDescribeResponse",
        32104: "AdoptGroupResponse",
        32105: "DeclaredTopicsResponse",
        32110: "ConsumerGroupPrepareAssignmentResponse",
        32111: "ConsumerGroupInstallAssignmentResponse",
    },
}
_MODULES = {
    "AdoptGroupRequest": "adopt_group_request",
    "AdoptGroupResponse": "adopt_group_response",
    "ApiVersionsRequest": "api_versions_request",
    "ApiVersionsResponse": "api_versions_response",
    "ConnectGroupDescribeRequest": "connect_group_describe_request",
    "ConnectGroupDescribeResponse": "connect_group_describe_response",
    "ConnectGroupHeartbeatRequest": "connect_group_heartbeat_request",
    "ConnectGroupHeartbeatResponse": "connect_group_heartbeat_response",
    "ConnectGroupInstallAssignmentRequest": "connect_group_install_assignment_request",
    "ConnectGroupInstallAssignmentResponse": "connect_group_install_assignment_response",
    "ConnectGroupPrepareAssignmentRequest": "connect_group_prepare_assignment_request",
    "ConnectGroupPrepareAssignmentResponse": "connect_group_prepare_assignment_response",
    "ConsumerGroupDescribeRequest": "consumer_group_describe_request",
    "ConsumerGroupDescribeResponse": "consumer_group_describe_response",
    "ConsumerGroupHeartbeatRequest": "consumer_group_heartbeat_request",
    "ConsumerGroupHeartbeatResponse": "consumer_group_heartbeat_response",
    "ConsumerGroupInstallAssignmentRequest": "consumer_group_install_assignment_request",
    "ConsumerGroupInstallAssignmentResponse": "consumer_group_install_assignment_response",
    "ConsumerGroupPrepareAssignmentRequest": "consumer_group_prepare_assignment_request",
    "ConsumerGroupPrepareAssignmentResponse": "consumer_group_prepare_assignment_response",
    "CreatePartitionsRequest": "create_partitions_request",
    "CreatePartitionsResponse": "create_partitions_response",
    "CreateTopicsRequest": "create_topics_request",
    "CreateTopicsResponse": "create_topics_response",
    "DeclaredTopicsRequest": "declared_topics_request",
    "DeclaredTopicsResponse": "declared_topics_response",
    "DeleteGroupsRequest": "delete_groups_request",
    "DeleteGroupsResponse": "delete_groups_response",
    "DeleteTopicsRequest": "delete_topics_request",
    "DeleteTopicsResponse": "delete_topics_response",
    "DescribeClusterRequest": "describe_cluster_request",
    "DescribeClusterResponse": "describe_cluster_response",
    "DescribeConfigsRequest": "describe_configs_request",
    "DescribeConfigsResponse": "describe_configs_response",
    "DescribeGroupsRequest": "describe_groups_request",
    "DescribeGroupsResponse": "describe_groups_response",
    "DescribeTopicPartitionsRequest": "describe_topic_partitions_request",
    "DescribeTopicPartitionsResponse": "describe_topic_partitions_response",
    "FetchRequest": "fetch_request",
    "FetchResponse": "fetch_response",
    "FindCoordinatorRequest": "find_coordinator_request",
    "FindCoordinatorResponse": "find_coordinator_response",
    "HeartbeatRequest": "heartbeat_request",
    "HeartbeatResponse": "heartbeat_response",
    "IncrementalAlterConfigsRequest": "incremental_alter_configs_request",
    "IncrementalAlterConfigsResponse": "incremental_alter_configs_response",
    "JoinGroupRequest": "join_group_request",
    "JoinGroupResponse": "join_group_response",
    "LeaveGroupRequest": "leave_group_request",
    "LeaveGroupResponse": "leave_group_response",
    "ListGroupsRequest": "list_groups_request",
    "ListGroupsResponse": "list_groups_response",
    "ListOffsetsRequest": "list_offsets_request",
    "ListOffsetsResponse": "list_offsets_response",
    "MetadataRequest": "metadata_request",
    "MetadataResponse": "metadata_response",
    "OffsetCommitRequest": "offset_commit_request",
    "OffsetCommitResponse": "offset_commit_response",
    "OffsetDeleteRequest": "offset_delete_request",
    "OffsetDeleteResponse": "offset_delete_response",
    "OffsetFetchRequest": "offset_fetch_request",
    "OffsetFetchResponse": "offset_fetch_response",
    "ProduceRequest": "produce_request",
    "ProduceResponse": "produce_response",
    "SaslAuthenticateRequest": "sasl_authenticate_request",
    "SaslAuthenticateResponse": "sasl_authenticate_response",
    "SaslHandshakeRequest": "sasl_handshake_request",
    "SaslHandshakeResponse": "sasl_handshake_response",
    "ShareAcknowledgeRequest": "share_acknowledge_request",
    "ShareAcknowledgeResponse": "share_acknowledge_response",
    "ShareFetchRequest": "share_fetch_request",
    "ShareFetchResponse": "share_fetch_response",
    "ShareGroupDescribeRequest": "share_group_describe_request",
    "ShareGroupDescribeResponse": "share_group_describe_response",
    "ShareGroupHeartbeatRequest": "share_group_heartbeat_request",
    "ShareGroupHeartbeatResponse": "share_group_heartbeat_response",
    "StreamsGroupDescribeRequest": "streams_group_describe_request",
    "StreamsGroupDescribeResponse": "streams_group_describe_response",
    "StreamsGroupHeartbeatRequest": "streams_group_heartbeat_request",
    "StreamsGroupHeartbeatResponse": "streams_group_heartbeat_response",
    "SyncGroupRequest": "sync_group_request",
    "SyncGroupResponse": "sync_group_response",
    "TxnOffsetCommitRequest": "txn_offset_commit_request",
    "TxnOffsetCommitResponse": "txn_offset_commit_response",
}

API_NAMES: dict[int, str] = {
    0: "Produce",
    1: "Fetch",
    2: "ListOffsets",
    3: "Metadata",
    4: "LeaderAndIsr",
    5: "StopReplica",
    6: "UpdateMetadata",
    7: "ControlledShutdown",
    8: "OffsetCommit",
    9: "OffsetFetch",
    10: "FindCoordinator",
    11: "JoinGroup",
    12: "Heartbeat",
    13: "LeaveGroup",
    14: "SyncGroup",
    15: "DescribeGroups",
    16: "ListGroups",
    17: "SaslHandshake",
    18: "ApiVersions",
    19: "CreateTopics",
    20: "DeleteTopics",
    21: "DeleteRecords",
    22: "InitProducerId",
    23: "OffsetForLeaderEpoch",
    24: "AddPartitionsToTxn",
    25: "AddOffsetsToTxn",
    26: "EndTxn",
    27: "WriteTxnMarkers",
    28: "TxnOffsetCommit",
    29: "DescribeAcls",
    30: "CreateAcls",
    31: "DeleteAcls",
    32: "DescribeConfigs",
    33: "AlterConfigs",
    34: "AlterReplicaLogDirs",
    35: "DescribeLogDirs",
    36: "SaslAuthenticate",
    37: "CreatePartitions",
    38: "CreateDelegationToken",
    39: "RenewDelegationToken",
    40: "ExpireDelegationToken",
    41: "DescribeDelegationToken",
    42: "DeleteGroups",
    43: "ElectLeaders",
    44: "IncrementalAlterConfigs",
    45: "AlterPartitionReassignments",
    46: "ListPartitionReassignments",
    47: "OffsetDelete",
    48: "DescribeClientQuotas",
    49: "AlterClientQuotas",
    50: "DescribeUserScramCredentials",
    51: "AlterUserScramCredentials",
    52: "Vote",
    53: "BeginQuorumEpoch",
    54: "EndQuorumEpoch",
    55: "DescribeQuorum",
    56: "AlterPartition",
    57: "UpdateFeatures",
    58: "Envelope",
    59: "FetchSnapshot",
    60: "DescribeCluster",
    61: "DescribeProducers",
    62: "BrokerRegistration",
    63: "BrokerHeartbeat",
    64: "UnregisterBroker",
    65: "DescribeTransactions",
    66: "ListTransactions",
    67: "AllocateProducerIds",
    68: "ConsumerGroupHeartbeat",
    69: "ConsumerGroupDescribe",
    70: "ControllerRegistration",
    71: "GetTelemetrySubscriptions",
    72: "PushTelemetry",
    73: "AssignReplicasToDirs",
    74: "ListConfigResources",
    75: "DescribeTopicPartitions",
    76: "ShareGroupHeartbeat",
    77: "ShareGroupDescribe",
    78: "ShareFetch",
    79: "ShareAcknowledge",
    80: "AddRaftVoter",
    81: "RemoveRaftVoter",
    82: "UpdateRaftVoter",
    83: "InitializeShareGroupState",
    84: "ReadShareGroupState",
    85: "WriteShareGroupState",
    86: "DeleteShareGroupState",
    87: "ReadShareGroupStateSummary",
    88: "StreamsGroupHeartbeat",
    89: "StreamsGroupDescribe",
    90: "DescribeShareGroupOffsets",
    91: "AlterShareGroupOffsets",
    92: "DeleteShareGroupOffsets",
    32100: "ConnectGroupHeartbeat",
    32101: "ConnectGroupPrepareAssignment",
    32102: "ConnectGroupInstallAssignment",
    32103: "ConnectGroupDescribe",
    32104: "AdoptGroup",
    32105: "DeclaredTopics",
    32110: "ConsumerGroupPrepareAssignment",
    32111: "ConsumerGroupInstallAssignment",
}

OWN_APIS = frozenset({32100, 32101, 32102, 32103, 32104, 32105, 32110, 32111})
"""The keys of APIs that Kafka has not; see ``schemas/unassigned.json``."""

API_VERSIONS: dict[int, tuple[int, int]] = {
    0: (3, 13),
    1: (4, 18),
    2: (1, 11),
    3: (0, 13),
    8: (2, 10),
    9: (1, 10),
    10: (0, 6),
    11: (0, 9),
    12: (0, 4),
    13: (0, 5),
    14: (0, 5),
    15: (0, 6),
    16: (0, 5),
    17: (0, 1),
    18: (0, 4),
    19: (2, 7),
    20: (1, 6),
    21: (0, 2),
    22: (0, 6),
    23: (2, 4),
    24: (0, 5),
    25: (0, 4),
    26: (0, 5),
    27: (1, 2),
    28: (0, 5),
    29: (1, 3),
    30: (1, 3),
    31: (1, 3),
    32: (1, 4),
    33: (0, 2),
    34: (1, 2),
    35: (1, 5),
    36: (0, 2),
    37: (0, 3),
    38: (1, 3),
    39: (1, 2),
    40: (1, 2),
    41: (1, 3),
    42: (0, 2),
    43: (0, 2),
    44: (0, 1),
    45: (0, 1),
    46: (0, 0),
    47: (0, 0),
    48: (0, 1),
    49: (0, 1),
    50: (0, 0),
    51: (0, 0),
    52: (0, 2),
    53: (0, 1),
    54: (0, 1),
    55: (0, 2),
    56: (2, 3),
    57: (0, 2),
    58: (0, 0),
    59: (0, 1),
    60: (0, 2),
    61: (0, 0),
    62: (0, 4),
    63: (0, 2),
    64: (0, 0),
    65: (0, 0),
    66: (0, 2),
    67: (0, 0),
    68: (0, 1),
    69: (0, 1),
    70: (0, 0),
    71: (0, 0),
    72: (0, 0),
    73: (0, 0),
    74: (0, 1),
    75: (0, 0),
    76: (1, 1),
    77: (1, 1),
    78: (1, 2),
    79: (1, 2),
    80: (0, 1),
    81: (0, 0),
    82: (0, 0),
    83: (0, 0),
    84: (0, 0),
    85: (0, 1),
    86: (0, 0),
    87: (0, 1),
    88: (0, 0),
    89: (0, 0),
    90: (0, 1),
    91: (0, 0),
    92: (0, 0),
    32100: (0, 0),
    32101: (0, 0),
    32102: (0, 0),
    32103: (0, 0),
    32104: (0, 0),
    32105: (0, 0),
    32110: (0, 0),
    32111: (0, 0),
}
"""The lowest and highest version of each API."""

FLEXIBLE_FROM: dict[int, int] = {
    0: 9,
    1: 12,
    2: 6,
    3: 9,
    4: 32767,
    5: 32767,
    6: 32767,
    7: 32767,
    8: 8,
    9: 6,
    10: 3,
    11: 6,
    12: 4,
    13: 4,
    14: 4,
    15: 5,
    16: 3,
    17: 32767,
    18: 3,
    19: 5,
    20: 4,
    21: 2,
    22: 2,
    23: 4,
    24: 3,
    25: 3,
    26: 3,
    27: 1,
    28: 3,
    29: 2,
    30: 2,
    31: 2,
    32: 4,
    33: 2,
    34: 2,
    35: 2,
    36: 2,
    37: 2,
    38: 2,
    39: 2,
    40: 2,
    41: 2,
    42: 2,
    43: 2,
    44: 1,
    45: 0,
    46: 0,
    47: 32767,
    48: 1,
    49: 1,
    50: 0,
    51: 0,
    52: 0,
    53: 1,
    54: 1,
    55: 0,
    56: 0,
    57: 0,
    58: 0,
    59: 0,
    60: 0,
    61: 0,
    62: 0,
    63: 0,
    64: 0,
    65: 0,
    66: 0,
    67: 0,
    68: 0,
    69: 0,
    70: 0,
    71: 0,
    72: 0,
    73: 0,
    74: 0,
    75: 0,
    76: 0,
    77: 0,
    78: 0,
    79: 0,
    80: 0,
    81: 0,
    82: 0,
    83: 0,
    84: 0,
    85: 0,
    86: 0,
    87: 0,
    88: 0,
    89: 0,
    90: 0,
    91: 0,
    92: 0,
    32100: 0,
    32101: 0,
    32102: 0,
    32103: 0,
    32104: 0,
    32105: 0,
    32110: 0,
    32111: 0,
}
"""The first version whose headers and body are flexible (KIP-482); 32767: none is."""


def api_name(key: int) -> str:
    """Kafka's name of an API, e.g. "JoinGroup"; "API 123" for a number that is unknown."""
    return API_NAMES.get(key) or f"API {key}"


@cache
def response_class(key: int) -> type[Response]:
    """How requests of this API are answered. Raises KeyError where kcoord decodes none."""
    found: type[Response] = _imported(_TABLES["RESPONSES"][key])
    return found


def __getattr__(name: str) -> object:
    """A class, or a table of all, that is asked for the first time (PEP 562)."""
    found: object
    if name in _TABLES:
        found = {key: _imported(each) for key, each in _TABLES[name].items()}
    elif name in _MODULES:
        found = _imported(name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault(name, found)


def _imported(name: str) -> Any:
    return getattr(import_module(f"kcoord.protocol.generated.{_MODULES[name]}"), name)
