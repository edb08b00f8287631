"""May consumers of the new protocol do through kcoord what Kafka's own coordinator lets them do, and nothing else?

Each request is made twice, at kcoord and at a broker whose coordinator has such groups: the answers are the same
(KG-17, KG-20, GW-16).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import pytest
from confluent_kafka.admin import AclBinding, AclOperation, AclPermissionType, ResourcePatternType, ResourceType

from kcoord.protocol.consumer_embedded import encode_assignment
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.consumer_group_heartbeat_request import Assignor
from kcoord.protocol.messages import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ConsumerGroupPrepareAssignmentRequest,
    ConsumerGroupPrepareAssignmentResponse,
    FindCoordinatorRequest,
)
from tests.gateway.sasl import log_in
from tests.gateway.scripted import ScriptedMember, ask, connect, subscription, until
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.security import ADMIN, Security
from tests.server.harness import Client

OPEN, SECRET = "open", "secret"
RIGHTS = {
    "worker": [("GROUP", "*", "READ"), ("TOPIC", OPEN, "READ")],
    "all": [("GROUP", "*", "READ"), ("TOPIC", "*", "READ")],
    "viewer": [("GROUP", "*", "DESCRIBE"), ("TOPIC", "*", "DESCRIBE")],
    "blind": [("GROUP", "*", "DESCRIBE")],
    "stranger": [],
}
"""What each user may do: a kind of resource, its name, and the right."""


@pytest.fixture(scope="module")
def kafka(start_kafka: Callable[..., KafkaCluster]) -> KafkaCluster:
    """One broker with SASL and ACLs, two topics, and a coordinator of consumer groups of its own."""
    at_once = {"group.consumer.assignment.interval.ms": 0}
    kafka = start_kafka(security=Security.SASL_PLAINTEXT, users=[*RIGHTS], acl=True, overrides=at_once)
    for topic in (OPEN, SECRET):
        kafka.create_topic(topic, 2)
    bindings = [
        AclBinding(
            ResourceType[kind], name, ResourcePatternType.LITERAL, f"User:{user}", "*", AclOperation[right],
            AclPermissionType.ALLOW,
        )
        for user, rights in RIGHTS.items()
        for kind, name, right in rights
    ]  # fmt: skip
    admin = kafka.admin()
    for done in admin.create_acls(bindings).values():
        done.result(120)
    return kafka


@pytest.fixture(scope="module")
def kcoord(kafka: KafkaCluster, start_kcoord: Callable[..., Kcoord]) -> Kcoord:
    settings = {"upstream_security_protocol": "SASL_PLAINTEXT", "group_consumer_enable": "true"}
    settings["group_consumer_client_assignors_enable"] = "true"
    return start_kcoord(kafka, "kcoords-.*", **settings)


@attrs.define
class Side:
    """Where requests go, and a group there."""

    port: int
    """That of the group's coordinator, once it is known."""
    group: str

    async def client(self, user: str) -> Client:
        client = await connect(self.port)
        await log_in(client, user)
        return client

    async def is_ready(self) -> None:
        """Wait until the group's coordinator serves."""
        client = await self.client(ADMIN)

        async def found() -> int:
            answer = await ask(client, FindCoordinatorRequest(key_type=0, coordinator_keys=[self.group]))
            [coordinator] = answer.coordinators
            return 0 if coordinator.error_code else int(coordinator.port)

        self.port = await until(found, "a coordinator")
        there = await self.client(ADMIN)

        async def serves() -> bool:
            beat = await ask(there, ConsumerGroupHeartbeatRequest(self.group, "nobody", 1))
            return bool(beat.error_code == ErrorCode.GROUP_ID_NOT_FOUND)

        await until(serves, "it serves the group")

    async def beat(self, user: str, member: str, epoch: int, **said: Any) -> tuple[str, object]:
        """One heartbeat on a connection of its own, asked again while the coordinator loads or looks: the error, and
        how many partitions it is told.
        """
        if not epoch:
            said = {"rebalance_timeout_ms": 60_000, "topic_partitions": [], **said}
        client = await self.client(user)

        async def answered() -> ConsumerGroupHeartbeatResponse | None:
            answer = await ask(client, ConsumerGroupHeartbeatRequest(self.group, member, epoch, **said))
            return None if answer.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS else answer

        told = await until(answered, "its heartbeat is answered")
        topics = None if told.assignment is None else told.assignment.topic_partitions
        count = None if topics is None else sum(len(each.partitions) for each in topics)
        return ErrorCode(told.error_code).name, count

    async def describe(self, user: str) -> tuple[str, int]:
        """The error, and how many members are told."""
        answer = await ask(await self.client(user), ConsumerGroupDescribeRequest([self.group]))
        return ErrorCode(answer.groups[0].error_code).name, len(answer.groups[0].members)


async def play(side: Side) -> list[object]:
    """All that is asked, by everybody."""
    await side.is_ready()
    seen: list[object] = []
    for user in RIGHTS:
        for topics in ([OPEN], [OPEN, SECRET], ["no-such-topic"]):
            seen.append((user, topics, await side.beat(user, f"{user}-1", 0, subscribed_topic_names=topics)))
            seen.append((user, "leaves", await side.beat(user, f"{user}-1", -1)))
    seen.append(await side.beat("all", "m", 0, subscribed_topic_names=[OPEN, SECRET]))
    seen += [(user, await side.describe(user)) for user in RIGHTS]
    for user in RIGHTS:
        seen.append((user, "goes on as another", await side.beat(user, "m", 99)))
        seen.append((user, "removes another", await side.beat(user, "m", -1) if user == "stranger" else None))
    return seen


async def test_a_consumer_may_share_a_group_whose_topics_it_may_not_all_see(kcoord: Kcoord) -> None:
    """KG-17, KG-23: what it may not describe, the classic member's own connection shows. The two do not share it."""
    side = Side(kcoord.port, "kcoords-group-of-two")
    await side.is_ready()
    classic = ScriptedMember(await side.client("all"), side.group, metadata=subscription(SECRET))
    await classic.join()
    assert not (await classic.sync({classic.member_id: encode_assignment(0, {SECRET: [0, 1]})})).error_code
    assert await side.beat("worker", "new", 0, subscribed_topic_names=[OPEN]) == ("NONE", 2)
    assert await classic.heartbeat() == ErrorCode.NONE
    assert await classic.commit(SECRET, 3) == ErrorCode.NONE
    assert await side.describe("all") == ("NONE", 2)


async def test_who_may_not_see_all_topics_of_the_group_does_not_compute(kcoord: Kcoord) -> None:
    """KG-27: kcoord shows nobody a topic that it may not describe. The next member computes instead."""
    side, own = Side(kcoord.port, "kcoords-group-that-computes"), [Assignor("own", 0, 0, 0, 0, b"")]
    await side.is_ready()

    async def prepare(user: str, member: str) -> ConsumerGroupPrepareAssignmentResponse:
        request = ConsumerGroupPrepareAssignmentRequest(side.group, member, 1)
        answer = await ask(await side.client(user), request)
        assert isinstance(answer, ConsumerGroupPrepareAssignmentResponse)
        return answer

    joins = {"client_assignors": own}
    assert (await side.beat("worker", "a", 0, subscribed_topic_names=[OPEN], **joins))[0] == "NONE"
    assert [each.topic_name for each in (await prepare("worker", "a")).topics] == [OPEN]
    assert (await side.beat("all", "b", 0, subscribed_topic_names=[SECRET], **joins))[0] == "NONE"
    refused = await prepare("worker", "a")
    assert ErrorCode(refused.error_code) == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    assert (refused.topics, SECRET in str(refused.error_message)) == ([], False)
    assert ErrorCode((await prepare("worker", "a")).error_code) == ErrorCode.UNKNOWN_MEMBER_ID, "b is asked"
    assert sorted(each.topic_name for each in (await prepare("all", "b")).topics) == sorted([OPEN, SECRET])


async def test_each_right_is_asked_for_as_kafka_does(kafka: KafkaCluster, kcoord: Kcoord) -> None:
    broker_port = int(kafka.bootstrap.rpartition(":")[2])
    theirs = await play(Side(broker_port, "kafkas-group"))
    ours = await play(Side(kcoord.port, "kcoords-group"))
    for at, (our, their) in enumerate(zip(ours, theirs, strict=True)):
        assert our == their, f"answer {at + 1}"
