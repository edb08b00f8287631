"""Random requests of a client that knows what earlier answers said, so that its requests go deep.

`Drawer.request` gives a decodable request of any API that a kcoord alone serves. Most follow from what is remembered: a
member joins with the id that it was given, syncs with its generation, owns what it was assigned. Some of these have one
field changed to an edge: 0, -1, the largest number, nothing, null, the longest text, a list of many.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import attrs

from kcoord.group.group_configs import GROUP
from kcoord.group.group_setting_definitions import CONSUMER_DEFINITIONS, DEFINITIONS
from kcoord.protocol.embedded import NAMES, WorkerAssignment, WorkerState, encode_assignment, encode_state
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated import connect_group_heartbeat_request as beat
from kcoord.protocol.generated import connect_group_install_assignment_request as install
from kcoord.protocol.generated.describe_configs_request import DescribeConfigsResource
from kcoord.protocol.generated.incremental_alter_configs_request import AlterableConfig, AlterConfigsResource
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.generated.offset_commit_request import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kcoord.protocol.generated.offset_delete_request import OffsetDeleteRequestPartition, OffsetDeleteRequestTopic
from kcoord.protocol.generated.offset_fetch_request import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from kcoord.protocol.generated.sync_group_request import SyncGroupRequestAssignment
from kcoord.protocol.message_base import Request, Response
from kcoord.protocol.messages import (
    ApiVersionsRequest,
    ConnectGroupDescribeRequest,
    ConnectGroupHeartbeatRequest,
    ConnectGroupHeartbeatResponse,
    ConnectGroupInstallAssignmentRequest,
    ConnectGroupPrepareAssignmentRequest,
    ConnectGroupPrepareAssignmentResponse,
    ConsumerGroupDescribeRequest,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ConsumerGroupPrepareAssignmentRequest,
    ConsumerGroupPrepareAssignmentResponse,
    DeleteGroupsRequest,
    DescribeClusterRequest,
    DescribeConfigsRequest,
    DescribeGroupsRequest,
    FindCoordinatorRequest,
    HeartbeatRequest,
    IncrementalAlterConfigsRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    ListGroupsRequest,
    MetadataRequest,
    MetadataResponse,
    OffsetCommitRequest,
    OffsetDeleteRequest,
    OffsetFetchRequest,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kcoord.protocol.resources import pack, unpack
from kcoord.resource import CONNECTOR, Resource
from tests.hostile.session_consumers import ConsumerRequests
from tests.hostile.session_edges import fit, put_at_an_edge
from tests.hostile.session_members import Known
from tests.protocol.catalogue import random_message

CONNECTORS = ("A", "B", "C", "long-" + "n" * 120)
EDGED = 0.25
"""So many requests have one field at an edge."""
WILD = 0.05
"""So many are drawn field by field, with remembered ids and numbers among them."""
FOLLOWED = 0.8
"""So often a client does what follows from its last answer."""
MINUTES_MS = 60_000
COMPUTE_ASSIGNMENT = 32_100


class Drawer(ConsumerRequests):
    """Draws requests from `rng`, and learns from their answers."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self._makers: list[tuple[int, Callable[[], Request]]] = [
            (14, self._join),
            (12, self._sync),
            (8, self._heartbeat),
            (4, self._leave),
            (26, self._beat),
            (6, self._prepare),
            (8, self._install),
            (5, self._commit),
            (4, self._fetch),
            (3, self._delete_offsets),
            (4, self._configure),
            (2, self._describe_configs),
            (6, self._ask),
            (20, self._consumer_beat),
            (2, self._consumer_prepares),
            (3, self._consumer_installs),
            (4, self._change_topics),
            (5, self._read),
        ]

    # -- requests -----------------------------------------------------------------------------------------------------

    def request(self, number: int) -> tuple[Request, int]:
        """A request for that connection, and the version to send it in, which can be written."""
        rng = self.rng
        self.number = number
        following = self._next.pop(number, [])
        if following and rng.random() < FOLLOWED:
            request = following.pop()()
            self._next[number] = following
        else:
            request = rng.choices([make for _, make in self._makers], [weight for weight, _ in self._makers])[0]()
        version = rng.randint(request.MIN_VERSION, request.MAX_VERSION)
        fit(request, version)
        kind = rng.random()
        if kind < WILD:
            request = random_message(rng, type(request), version)
            self._put_in_known(request, version)
        elif kind < WILD + EDGED:
            put_at_an_edge(rng, request, version, self.texts)
        return request, version

    def learn(self, number: int, request: Request, response: Response) -> None:
        """Remember what an answer has said, and what would follow from it."""
        self.number = number
        match request, response:
            case JoinGroupRequest(), JoinGroupResponse():
                self._learn_join(request, response)
            case SyncGroupRequest(), SyncGroupResponse(error_code=0):
                member = self._find(request.group_id, request.member_id)
                if self.rng.random() < 0.5:
                    member.owned = frozenset(_resources(self.rng, 5))
                self._follow(partial(self._heartbeat, member))
            case ConnectGroupHeartbeatRequest(), ConnectGroupHeartbeatResponse():
                self._learn_beat(request, response)
            case ConnectGroupPrepareAssignmentRequest(), ConnectGroupPrepareAssignmentResponse():
                member = self._find(request.group_id, request.member_id)
                member.prepared_epoch = response.group_epoch
                member.members = [each.member_id for each in response.members]
                configured = response.configured_connectors_and_tasks
                member.resources = _resources(self.rng, 12) if configured is None else sorted(unpack(configured))
                if not response.error_code:
                    self._follow(partial(self._install, member))
            case ConsumerGroupHeartbeatRequest(), ConsumerGroupHeartbeatResponse():
                self._learn_consumer(request, response)
            case ConsumerGroupPrepareAssignmentRequest(), ConsumerGroupPrepareAssignmentResponse():
                self._learn_prepared(request, response)
            case MetadataRequest(), MetadataResponse():
                self.topic_ids = [each.topic_id for each in response.topics] or self.topic_ids
            case _:
                pass
        if len(self.known) > 60:
            del self.known[: 1 + self.rng.randrange(30)]

    def _learn_join(self, request: JoinGroupRequest, response: JoinGroupResponse) -> None:
        if not response.member_id:
            return
        member = self._find(request.group_id, response.member_id)
        member.epoch = response.generation_id
        member.instance_id = request.group_instance_id
        member.is_connect = request.protocol_type == "connect"
        member.protocol_type, member.protocol = request.protocol_type, response.protocol_name
        member.members = [each.member_id for each in response.members]
        if response.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self._follow(lambda: attrs.evolve(request, member_id=response.member_id))
        elif not response.error_code:
            self._follow(partial(self._sync, member))

    def _learn_beat(self, request: ConnectGroupHeartbeatRequest, response: ConnectGroupHeartbeatResponse) -> None:
        if response.error_code not in (0, COMPUTE_ASSIGNMENT) or request.member_epoch < 0:
            return
        member = self._find(request.group_id, request.member_id)
        member.is_worker, member.epoch = True, response.member_epoch
        member.instance_id = request.instance_id or member.instance_id
        if response.assignment is not None:
            member.owned = unpack(response.assignment.connectors_and_tasks)
            self._follow(partial(self._lives, member))
        if response.error_code == COMPUTE_ASSIGNMENT:
            self._follow(partial(self._prepare, member))

    # -- one API each -------------------------------------------------------------------------------------------------

    def _some(self, workers: bool) -> Known:
        """A member of that kind, mostly one that came by this connection; sometimes one of the other kind, and a
        made-up one where nobody is known.
        """
        rng = self.rng
        fitting = [each for each in self.known if each.is_worker == workers]
        own = [each for each in fitting if each.number == self.number]
        if own and rng.random() < 0.8:
            return rng.choice(own[-4:])
        if fitting and rng.random() < 0.95:
            return rng.choice(fitting[-8:])
        return rng.choice(self.known) if self.known and rng.random() < 0.5 else Known(self._group(), "nobody")

    def _join(self) -> Request:
        rng = self.rng
        member = self._some(False) if rng.random() < 0.6 else Known(self._group(), "")
        if not member.member_id:
            member.is_connect = "connect" in member.group_id or rng.random() < 0.1
            member.instance_id = rng.choice((None, None, None, "i1", "i2"))
        protocols = self._embedded(member) if member.is_connect else self._protocols()
        return JoinGroupRequest(
            member.group_id,
            rng.choice((6_000, 10_000, 30_000)),
            rng.choice((5_000, 30_000, 60_000)),
            member.member_id,
            member.instance_id,
            "connect" if member.is_connect else rng.choice(("consumer", "consumer", "consumer", "x")),
            protocols,
            rng.choice((None, "why not", "r" * 300)),
        )

    def _protocols(self) -> list[JoinGroupRequestProtocol]:
        rng = self.rng
        names = rng.sample(("range", "rr", "sticky"), rng.randint(1, 3))
        return [JoinGroupRequestProtocol(name, self._bytes()) for name in names]

    def _embedded(self, member: Known) -> list[JoinGroupRequestProtocol]:
        rng = self.rng
        newest = rng.choice((0, 1, 2, 2))
        runs = WorkerAssignment(
            max(newest, 1),
            0,
            member.member_id,
            "http://leader",
            rng.randrange(4),
            member.owned if newest else frozenset(),
        )
        url = rng.choice(("http://w1", "http://w2", f"http://{member.member_id[:20]}"))
        offset = rng.choice((0, 1, 2, 2, 3))
        return [
            JoinGroupRequestProtocol(
                NAMES[version],
                encode_state(WorkerState(version, url, offset, runs if version and rng.random() < 0.9 else None)),
            )
            for version in range(newest, -1, -1)
        ]

    def _sync(self, member: Known | None = None) -> Request:
        rng = self.rng
        member = member or self._some(False)
        assignments = []
        resources = _resources(rng, 12)
        for at, other in enumerate(member.members):
            mine = frozenset(resources[at :: len(member.members)])
            gone = frozenset(_resources(rng, 3)) - mine if rng.random() < 0.3 else frozenset()
            carried = WorkerAssignment(rng.choice((0, 1, 2)), 0, member.member_id, "http://leader", 1, mine, gone, 0)
            data = encode_assignment(carried) if member.is_connect else self._bytes()
            assignments.append(SyncGroupRequestAssignment(other, data))
        return SyncGroupRequest(
            member.group_id,
            member.epoch,
            member.member_id,
            member.instance_id,
            member.protocol_type,
            member.protocol,
            assignments,
        )

    def _heartbeat(self, member: Known | None = None) -> Request:
        member = member or self._some(False)
        return HeartbeatRequest(member.group_id, member.epoch, member.member_id, member.instance_id)

    def _leave(self) -> Request:
        member, other = self._some(False), self._some(False)
        leaving = [MemberIdentity(each.member_id, each.instance_id, "bye") for each in (member, other)]
        return LeaveGroupRequest(member.group_id, member.member_id, leaving[: self.rng.randint(0, 2)])

    def _beat(self) -> Request:
        rng = self.rng
        kind = rng.random()
        if kind < 0.25 or not any(each.is_worker for each in self.known):
            return self._worker_joins()
        member = self._some(True)
        if kind < 0.33:
            epoch = -1 if member.instance_id is None or rng.random() < 0.5 else -2
            return ConnectGroupHeartbeatRequest(member.group_id, member.member_id, epoch, member.instance_id)
        return self._lives(member)

    def _lives(self, member: Known) -> Request:
        """A worker's heartbeat in the midst of its life."""
        rng = self.rng
        owned = None if rng.random() < 0.3 else member.owned
        request = ConnectGroupHeartbeatRequest(
            member.group_id,
            member.member_id,
            member.epoch,
            connectors_and_tasks=None if owned is None else _packed(owned),
            max_wait_ms=rng.choice((0, 0, 0, 500, 30_000)),
        )
        if rng.random() < 0.2:
            request.config_offset = rng.randrange(10)
            request.configured_connectors_and_tasks = _packed(frozenset(_resources(rng, 12)))
        if rng.random() < 0.1:
            request.client_assignors = self._assignors()
        return request

    def _worker_joins(self) -> Request:
        rng = self.rng
        self._workers += 1
        again = [each for each in self.known if each.is_worker]
        comes_back = again and rng.random() < 0.3
        member = rng.choice(again) if comes_back else Known(self._group(), f"worker-{self._workers}")
        by_server = rng.random() < 0.3
        configured = rng.random() < 0.7
        return ConnectGroupHeartbeatRequest(
            member.group_id,
            member.member_id,
            0,
            rng.choice((None, None, "i1", "i2")) if not comes_back else member.instance_id,
            rng.choice((1_000, 30_000)),
            rng.choice(("uniform", "cooperative")) if by_server else None,
            None if by_server else self._assignors(),
            [],
            f"http://{member.member_id}",
            rng.randrange(5) if configured else -1,
            _packed(frozenset(_resources(rng, 12))) if configured else None,
            rng.choice((0, 0, 500)),
        )

    def _assignors(self) -> list[beat.Assignor]:
        rng = self.rng
        names = rng.sample(("cooperative", "mine", "other"), rng.randint(1, 2))
        return [beat.Assignor(name, 0, 1, rng.choice((0, 0, 1)), rng.randint(0, 1), self._bytes()) for name in names]

    def _prepare(self, member: Known | None = None) -> Request:
        member = member or self._some(True)
        return ConnectGroupPrepareAssignmentRequest(member.group_id, member.member_id, member.epoch)

    def _install(self, member: Known | None = None) -> Request:
        rng = self.rng
        member = member or self._some(True)
        resources = member.resources if rng.random() < 0.9 else _resources(rng, 12)
        shares = [
            install.Member(
                other,
                pack(
                    frozenset(resources[at :: len(member.members)]), install.ConnectorsAndTasks, install.ConnectorTaskId
                ),
                rng.randint(0, 1),
                self._bytes(),
            )
            for at, other in enumerate(member.members)
        ]
        error, delay_ms = rng.choice((0, 0, 0, 0, 1)), rng.choice((0, 1, MINUTES_MS))
        return ConnectGroupInstallAssignmentRequest(
            member.group_id, member.member_id, member.epoch, member.prepared_epoch, error, shares, delay_ms
        )

    def _commit(self) -> Request:
        rng = self.rng
        consumers = [each for each in self.known if each.is_consumer]
        member = self._some(False) if rng.random() < 0.5 else Known(self._group(), "")
        if consumers and rng.random() < 0.4:
            member = rng.choice(consumers[-8:])
        topics = [
            OffsetCommitRequestTopic(
                name=f"t{at}",
                topic_id=self._topic_id(),
                partitions=[
                    OffsetCommitRequestPartition(index, rng.randrange(99), committed_metadata="note")
                    for index in range(rng.randint(0, 4))
                ],
            )
            for at in range(rng.randint(0, 2))
        ]
        retention_ms = rng.choice((-1, -1, 1, 2**63 - 1))
        return OffsetCommitRequest(
            member.group_id, member.epoch, member.member_id, member.instance_id, retention_ms, topics
        )

    def _fetch(self) -> Request:
        topics = [OffsetFetchRequestTopic("t0", [0, 1, 2]), OffsetFetchRequestTopic("t1", [0])]
        groups = [
            OffsetFetchRequestGroup(self._group(), topics=[OffsetFetchRequestTopics("t0", partition_indexes=[0, 7])]),
            OffsetFetchRequestGroup(self._group(), topics=None),
        ]
        return OffsetFetchRequest(self._group(), topics if self.rng.random() < 0.5 else None, groups)

    def _delete_offsets(self) -> Request:
        if self.rng.random() < 0.4:
            return DeleteGroupsRequest([self._group() for _ in range(self.rng.randint(0, 3))])
        partitions = [OffsetDeleteRequestPartition(index) for index in range(3)]
        return OffsetDeleteRequest(self._group(), [OffsetDeleteRequestTopic("t0", partitions)])

    def _configure(self) -> Request:
        rng = self.rng
        name = rng.choice([*DEFINITIONS, *CONSUMER_DEFINITIONS])
        values = (
            "45000",
            "60000",
            "5000",
            "0",
            "1",
            "-1",
            "uniform",
            "individual",
            "barrier",
            "disabled",
            "upgrade",
            "",
        )
        changes = [AlterableConfig(name, rng.choice((0, 0, 0, 1, 2, 3)), rng.choice(values))]
        resource = AlterConfigsResource(rng.choice((GROUP, GROUP, GROUP, 2)), self._group(), changes)
        return IncrementalAlterConfigsRequest([resource], rng.random() < 0.2)

    def _describe_configs(self) -> Request:
        names = self.rng.choice((None, [], list(DEFINITIONS)[:2]))
        resource = DescribeConfigsResource(GROUP, self._group(), names)
        return DescribeConfigsRequest([resource], self.rng.random() < 0.5, self.rng.random() < 0.5)

    def _ask(self) -> Request:
        group = self._group()
        return self.rng.choice(
            (
                DescribeGroupsRequest([group, self._group()]),
                ConnectGroupDescribeRequest([group, self._group()]),
                ConsumerGroupDescribeRequest([group, self._group()]),
                ListGroupsRequest(["Stable"], []),
                FindCoordinatorRequest(group, 0, [group]),
                ApiVersionsRequest("fuzz", "1"),
                MetadataRequest(),
                DescribeClusterRequest(),
            )
        )

    def _put_in_known(self, struct: Any, version: int) -> None:
        """Replace some texts and numbers of a random message by those that mean something."""
        rng = self.rng
        member = rng.choice(self.known) if self.known else Known(self._group(), "nobody")
        for field in struct.FIELDS:
            if not field.is_in(version) or field.is_array or rng.random() < 0.3:
                continue
            if field.attribute in ("group_id", "key"):
                setattr(struct, field.attribute, member.group_id)
            elif field.attribute == "member_id":
                struct.member_id = member.member_id
            elif "epoch" in field.attribute or "generation" in field.attribute:
                setattr(struct, field.attribute, member.epoch)


def _resources(rng: random.Random, most: int) -> list[Resource]:
    numbers = (CONNECTOR, 0, 1, 2, 3, 2**31 - 1)
    found = {Resource(rng.choice(CONNECTORS), rng.choice(numbers)) for _ in range(rng.randint(0, most))}
    return sorted(found)


def _packed(resources: frozenset[Resource]) -> list[beat.ConnectorsAndTasks]:
    return pack(resources, beat.ConnectorsAndTasks, beat.ConnectorTaskId)
