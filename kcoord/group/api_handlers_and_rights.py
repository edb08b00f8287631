"""The API table: one row for each API about groups, with all that the rest of kcoord needs to know of it.

To add an API, write its schema, a file in `apis/`, and a row here. Each module that handles requests derives what it
needs from the rows once, when it is imported. Consumers are: the shard (handlers), the server and the gateway (rights,
what is offered, what is read), the shard's host (what writes), the instances (what is relayed), batches (how a request
for several groups is split), and the protocol reference (docs/protocol.md).
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from operator import attrgetter
from typing import Any

import attrs

from kcoord.group.acl_operation import AclOperation
from kcoord.group.apis.adopt_group import adopt_group
from kcoord.group.apis.connect_group_describe import connect_group_describe, refuse_connect_group_describe
from kcoord.group.apis.connect_group_heartbeat import connect_group_heartbeat
from kcoord.group.apis.connect_group_install_assignment import connect_group_install_assignment
from kcoord.group.apis.connect_group_prepare_assignment import connect_group_prepare_assignment
from kcoord.group.apis.consumer_group_describe import consumer_group_describe, refuse_consumer_group_describe
from kcoord.group.apis.consumer_group_heartbeat import consumer_group_heartbeat
from kcoord.group.apis.consumer_group_install_assignment import consumer_group_install_assignment
from kcoord.group.apis.consumer_group_prepare_assignment import consumer_group_prepare_assignment
from kcoord.group.apis.create_partitions import create_partitions, refuse_create_partitions
from kcoord.group.apis.create_topics import create_topics, refuse_create_topics
from kcoord.group.apis.declared_topics import declared_topics
from kcoord.group.apis.delete_groups import delete_groups, refuse_delete_groups
from kcoord.group.apis.delete_topics import delete_topics, refuse_delete_topics
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
from kcoord.protocol.message_base import Request, Response
from kcoord.protocol.messages import (
    AdoptGroupRequest,
    ConnectGroupDescribeRequest,
    ConnectGroupHeartbeatRequest,
    ConnectGroupInstallAssignmentRequest,
    ConnectGroupPrepareAssignmentRequest,
    ConsumerGroupDescribeRequest,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupInstallAssignmentRequest,
    ConsumerGroupPrepareAssignmentRequest,
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeclaredTopicsRequest,
    DeleteGroupsRequest,
    DeleteTopicsRequest,
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
from kcoord.protocol.record_levels import CONSUMER_GROUPS

Handler = Callable[[Transition, Any, RequestContext, Token], None]
Refusal = Callable[[Any, ErrorCode], Response]


def error_at_top(request: Request, error: ErrorCode) -> Response:
    """The response with `error` in its field for the whole request, and nothing else."""
    fields: dict[str, Any] = {"error_code": error}
    return response_class(request.API_KEY)(**fields)


class Writes(Enum):
    """Whether a request writes records. If it does, it is refused while the log cannot be written."""

    NEVER = auto()
    ALWAYS = auto()
    """It may write whenever it comes."""
    NEWS = auto()
    """It writes only if it says something new, which the shard can tell beforehand."""


class InFront(Enum):
    """What the gateway does with a client's request, in front of a cluster."""

    GUARDED = auto()
    """kcoord carries it out itself, once the cluster has said that the client has the right."""
    COMPLETED = auto()
    """The cluster answers, and kcoord completes the answer with what it knows of its own groups."""
    CHECKED = auto()
    """kcoord checks whether the group allows it, then the cluster carries it out."""
    PASSED = auto()
    """It passes unread."""
    NOT_OFFERED = auto()
    """No client may send it: it is a request of kcoord's own."""


@attrs.frozen(kw_only=True)
class Batch:
    """How a request names several groups, and its response has an answer for each of them."""

    names: str
    """The request's array of groups, resources or keys."""
    answers: str
    """The response's array, with one element for each that was named. The throttle time is the only other field."""
    name_of: Callable[[Any], str] = str
    """The name of an element of `names`; by default the element itself."""
    older_name_one: bool = False
    """Whether older versions name one group at the top of the request instead."""
    large: bool = False
    """Whether the answer can be large even if only a few groups are named."""


@attrs.frozen(kw_only=True)
class ApiRow:
    """What kcoord needs to know of one API."""

    request: type[Request]
    right: AclOperation | None = None
    """What a client must be allowed on each group that it names. None: it names none, or needs no right here."""
    handler: Handler | None = None
    """Carries out the request in a shard. None: the shard's host does (settings), or no shard has part in it."""
    refusal: Refusal = error_at_top
    """Makes the response that has only an error: at the top if there is a field for it, as in Kafka, otherwise in each
    part.
    """
    writes: Writes = Writes.NEVER
    creates: bool = False
    """Whether it may create a group, or settings for a group that has none yet."""
    batch: Batch | None = None
    """How it names several groups; None: it names one at most."""
    relayed: bool = True
    """Whether the instance that has the group carries it out. A client may send it to any instance, which relays it."""
    repeatable: bool = False
    """Whether it may be carried out twice, because an answer was lost on the way between two instances."""
    in_front: InFront = InFront.GUARDED
    of_connect_groups: bool = False
    """Whether it is offered only where connect groups are (`group.connect.enable`)."""
    of_consumer_groups: bool = False
    """Whether it is offered only where consumer groups and their topics are (`group.consumer.enable`)."""
    ends_at_loading: bool = False
    """Whether Java's client ends at the error COORDINATOR_LOAD_IN_PROGRESS instead of retrying."""

    @property
    def key(self) -> int:
        """The API key."""
        return self.request.API_KEY

    @property
    def names_one_group(self) -> bool:
        """Whether each of its requests names exactly one group."""
        return self.batch is None and any(each.attribute == "group_id" for each in self.request.FIELDS)


_group_id, _resource_name = attrgetter("group_id"), attrgetter("resource_name")

API_TABLE = (
    # -- members of classic groups
    ApiRow(
        request=JoinGroupRequest,
        right=AclOperation.READ,
        handler=join_group,
        refusal=refuse_join_group,
        writes=Writes.ALWAYS,
        creates=True,
    ),
    ApiRow(
        request=SyncGroupRequest,
        right=AclOperation.READ,
        handler=sync_group,
        writes=Writes.ALWAYS,
        ends_at_loading=True,
    ),
    ApiRow(
        request=HeartbeatRequest,
        right=AclOperation.READ,
        handler=heartbeat,
        repeatable=True,
        ends_at_loading=True,
    ),
    ApiRow(request=LeaveGroupRequest, right=AclOperation.READ, handler=leave_group, writes=Writes.ALWAYS),
    # -- members of connect groups
    ApiRow(
        request=ConnectGroupHeartbeatRequest,
        right=AclOperation.READ,
        handler=connect_group_heartbeat,
        writes=Writes.NEWS,
        creates=True,
        of_connect_groups=True,
    ),
    ApiRow(
        request=ConnectGroupPrepareAssignmentRequest,
        right=AclOperation.READ,
        handler=connect_group_prepare_assignment,
        of_connect_groups=True,
    ),
    ApiRow(
        request=ConnectGroupInstallAssignmentRequest,
        right=AclOperation.READ,
        handler=connect_group_install_assignment,
        writes=Writes.ALWAYS,
        of_connect_groups=True,
    ),
    # -- members of consumer groups
    ApiRow(
        request=ConsumerGroupHeartbeatRequest,
        right=AclOperation.READ,
        handler=consumer_group_heartbeat,
        writes=Writes.NEWS,
        creates=True,
        of_consumer_groups=True,
    ),
    ApiRow(
        request=ConsumerGroupPrepareAssignmentRequest,
        right=AclOperation.READ,
        handler=consumer_group_prepare_assignment,
        of_consumer_groups=True,
    ),
    ApiRow(
        request=ConsumerGroupInstallAssignmentRequest,
        right=AclOperation.READ,
        handler=consumer_group_install_assignment,
        writes=Writes.ALWAYS,
        of_consumer_groups=True,
    ),
    ApiRow(
        request=ConsumerGroupDescribeRequest,
        right=AclOperation.DESCRIBE,
        handler=consumer_group_describe,
        refusal=refuse_consumer_group_describe,
        batch=Batch(names="group_ids", answers="groups", large=True),
        repeatable=True,
        of_consumer_groups=True,
    ),
    # -- groups as a whole
    ApiRow(
        request=ConnectGroupDescribeRequest,
        right=AclOperation.DESCRIBE,
        handler=connect_group_describe,
        refusal=refuse_connect_group_describe,
        batch=Batch(names="group_ids", answers="groups", large=True),
        repeatable=True,
        of_connect_groups=True,
    ),
    ApiRow(
        request=DescribeGroupsRequest,
        right=AclOperation.DESCRIBE,
        handler=describe_groups,
        refusal=refuse_describe_groups,
        batch=Batch(names="groups", answers="groups", large=True),
        repeatable=True,
    ),
    ApiRow(request=ListGroupsRequest, handler=list_groups, in_front=InFront.COMPLETED),
    ApiRow(
        request=DeleteGroupsRequest,
        right=AclOperation.DELETE,
        handler=delete_groups,
        refusal=refuse_delete_groups,
        writes=Writes.ALWAYS,
        batch=Batch(names="groups_names", answers="results"),
    ),
    # -- settings of groups
    ApiRow(
        request=DescribeConfigsRequest,
        right=AclOperation.DESCRIBE_CONFIGS,
        refusal=refuse_describe_configs,
        batch=Batch(names="resources", answers="results", name_of=_resource_name),
        repeatable=True,
        in_front=InFront.COMPLETED,
        of_connect_groups=True,
    ),
    ApiRow(
        request=IncrementalAlterConfigsRequest,
        right=AclOperation.ALTER_CONFIGS,
        refusal=refuse_incremental_alter_configs,
        writes=Writes.ALWAYS,
        creates=True,
        batch=Batch(names="resources", answers="responses", name_of=_resource_name),
        in_front=InFront.COMPLETED,
        of_connect_groups=True,
    ),
    # -- offsets
    ApiRow(
        request=OffsetCommitRequest,
        right=AclOperation.READ,
        handler=offset_commit,
        refusal=refuse_offset_commit,
        writes=Writes.ALWAYS,
        creates=True,
        in_front=InFront.CHECKED,
    ),
    ApiRow(
        request=TxnOffsetCommitRequest,
        right=AclOperation.READ,
        refusal=refuse_txn_offset_commit,
        relayed=False,
        in_front=InFront.CHECKED,
    ),
    ApiRow(
        request=OffsetFetchRequest,
        right=AclOperation.DESCRIBE,
        handler=offset_fetch,
        refusal=refuse_offset_fetch,
        batch=Batch(names="groups", answers="groups", name_of=_group_id, older_name_one=True),
        in_front=InFront.PASSED,
    ),
    ApiRow(
        request=OffsetDeleteRequest,
        right=AclOperation.DELETE,
        handler=offset_delete,
        writes=Writes.ALWAYS,
        in_front=InFront.CHECKED,
    ),
    # -- discovery
    ApiRow(
        request=FindCoordinatorRequest,
        refusal=refuse_find_coordinator,
        batch=Batch(names="coordinator_keys", answers="coordinators", older_name_one=True),
        relayed=False,
        in_front=InFront.COMPLETED,
    ),
    # -- kcoord's own
    ApiRow(
        request=AdoptGroupRequest,
        handler=adopt_group,
        writes=Writes.ALWAYS,
        in_front=InFront.NOT_OFFERED,
    ),
)

ALONE_TABLE = (
    # -- declared topics
    ApiRow(
        request=CreateTopicsRequest,
        handler=create_topics,
        refusal=refuse_create_topics,
        writes=Writes.ALWAYS,
        in_front=InFront.PASSED,
        of_consumer_groups=True,
    ),
    ApiRow(
        request=CreatePartitionsRequest,
        handler=create_partitions,
        refusal=refuse_create_partitions,
        writes=Writes.ALWAYS,
        in_front=InFront.PASSED,
        of_consumer_groups=True,
    ),
    ApiRow(
        request=DeleteTopicsRequest,
        handler=delete_topics,
        refusal=refuse_delete_topics,
        writes=Writes.ALWAYS,
        in_front=InFront.PASSED,
        of_consumer_groups=True,
    ),
    ApiRow(
        request=DeclaredTopicsRequest,
        handler=declared_topics,
        repeatable=True,
        in_front=InFront.NOT_OFFERED,
    ),
)
"""The APIs that only a kcoord without a cluster serves. In front of a cluster, topics are the cluster's."""
ALL_APIS = (*API_TABLE, *ALONE_TABLE)
LEVELS_NEEDED = {
    row.request: CONSUMER_GROUPS for row in ALL_APIS if row.of_consumer_groups and row.writes is not Writes.NEVER
}
"""The requests that write records which not every release can read, with the level of these records. They are refused
while an older instance shares the log (`kcoord.protocol.record_levels`).
"""
