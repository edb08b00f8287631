"""Where do clients find brokers, and what stays as it is? GW-1, GW-2, GW-3, GW-9 before three brokers."""

import socket
from collections.abc import Callable
from typing import Any

import attrs
import pytest

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.metadata_request import MetadataRequestTopic
from kcoord.protocol.messages import (
    ApiVersionsRequest,
    DescribeClusterRequest,
    FindCoordinatorRequest,
    MetadataRequest,
    MetadataResponse,
)
from tests.gateway.records import batch, fetch, produce
from tests.gateway.scripted import ScriptedMember, ask, connect, coordinator_port, topic_id, until
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.server.harness import Client

BROKERS = (1, 2, 3)


@pytest.fixture(scope="module")
def kafka(start_kafka: Callable[..., KafkaCluster]) -> KafkaCluster:
    """Three brokers; a topic's partition has one replica, so that the other brokers can only tell who leads it."""
    return start_kafka(3, overrides={"default.replication.factor": 1, "min.insync.replicas": 1})


@pytest.fixture
async def brokers(through: Client) -> dict[int, Client]:
    """A connection through kcoord to each broker."""
    metadata = await ask(through, MetadataRequest(topics=[]))
    return {each.node_id: await connect(each.port) for each in metadata.brokers}


def expected_nodes(kcoord: Kcoord) -> set[tuple[int, str, int]]:
    return {(broker, "127.0.0.1", kcoord.port + 1 + broker) for broker in BROKERS}


@pytest.mark.parametrize("version", range(MetadataRequest.MIN_VERSION, MetadataRequest.MAX_VERSION + 1))
async def test_rule_2_metadata_names_kcoords_ports_and_all_else_stays(
    kcoord: Kcoord, through: Client, direct: Client, version: int
) -> None:
    there = await ask(direct, MetadataRequest(topics=None if version else []), version)
    here = await ask(through, MetadataRequest(topics=None if version else []), version)
    assert {(each.node_id, each.host, each.port) for each in here.brokers} == expected_nodes(kcoord)
    assert without_addresses(here) == without_addresses(there)


def without_addresses(metadata: MetadataResponse) -> MetadataResponse:
    """What must be the same here and there. A broker without a controller's seat names any live one as controller."""
    brokers = sorted((attrs.evolve(each, host="", port=0) for each in metadata.brokers), key=lambda each: each.node_id)
    topics = sorted(metadata.topics, key=lambda each: each.name or "")
    return attrs.evolve(metadata, brokers=brokers, topics=topics, controller_id=0)


@pytest.mark.parametrize("version", range(DescribeClusterRequest.MAX_VERSION + 1))
async def test_rule_2_describe_cluster(kcoord: Kcoord, through: Client, direct: Client, version: int) -> None:
    here, there = [await ask(client, DescribeClusterRequest(), version) for client in (through, direct)]
    assert {(each.broker_id, each.host, each.port) for each in here.brokers} == expected_nodes(kcoord)
    assert here.cluster_id == there.cluster_id


@pytest.mark.parametrize("version", range(FindCoordinatorRequest.MAX_VERSION + 1))
@pytest.mark.parametrize("key_type", [0, 1])
async def test_rule_2_and_9_coordinators_of_groups_and_transactions(
    kcoord: Kcoord, through: Client, direct: Client, version: int, key_type: int
) -> None:
    """The broker that upstream names, at kcoord's port for it. Version 0 knows groups only."""
    if key_type and not version:
        return
    keys = [f"key-{number}" for number in range(8)]

    async def found(client: Client) -> dict[str, tuple[int, str, int]]:
        if version >= 4:
            answer = await ask(client, FindCoordinatorRequest(key_type=key_type, coordinator_keys=keys), version)
            assert [each.key for each in answer.coordinators] == keys
            at = {each.key: (each.error_code, each.node_id, each.host, each.port) for each in answer.coordinators}
        else:
            at = {}
            for key in keys:
                each = await ask(client, FindCoordinatorRequest(key=key, key_type=key_type), version)
                at[key] = (each.error_code, each.node_id, each.host, each.port)
        if any(error for error, *_ in at.values()):
            return {}
        return {key: (node_id, host, port) for key, (_, node_id, host, port) in at.items()}

    there = await until(lambda: found(direct), "coordinators upstream")
    here = await until(lambda: found(through), "coordinators through kcoord")
    assert {key: node[0] for key, node in here.items()} == {key: node[0] for key, node in there.items()}
    assert {tuple(node) for node in here.values()} <= expected_nodes(kcoord)


@pytest.mark.parametrize("version", range(4, FindCoordinatorRequest.MAX_VERSION + 1))
async def test_who_asks_for_no_coordinator_is_told_none(through: Client, direct: Client, version: int) -> None:
    for client in (through, direct):
        answer = await ask(client, FindCoordinatorRequest(key_type=0, coordinator_keys=[]), version)
        assert answer.coordinators == []


async def leaders(client: Client, topic: str) -> dict[int, list[int]]:
    """The topic's partitions, one or more a broker, by the broker that leads them: once the broker asked knows."""

    async def known() -> dict[int, list[int]]:
        metadata = await ask(client, MetadataRequest(topics=[MetadataRequestTopic(name=topic)]))
        led: dict[int, list[int]] = {broker: [] for broker in BROKERS}
        for each in metadata.topics[0].partitions:
            led.setdefault(each.leader_id, []).append(each.partition_index)
        return led if led.keys() == {*BROKERS} and all(led.values()) else {}

    found: dict[int, list[int]] = await until(known, f"leaders of {topic}")
    return found


async def test_rule_2_new_leaders_that_produce_and_fetch_tell_of(
    kafka: KafkaCluster, kcoord: Kcoord, brokers: dict[int, Client], direct: Client, name: str
) -> None:
    """A broker that does not lead a partition names who does (KIP-951): with kcoord's address."""
    topic = kafka.create_topic(name, partitions=3)
    led = await leaders(direct, topic)
    by_id = await topic_id(direct, topic)
    (asked, *_), wrong = led[1], led[2][0]
    for request, versions in (
        (produce(topic, batch(b"x"), partition=wrong, topic_id=by_id), range(10, 14)),
        (fetch(topic, partitions=(wrong, asked), topic_id=by_id), range(16, 19)),
    ):
        for version in versions:
            answer = await ask(brokers[1], request, version)
            assert str(answer).count(f"error_code={ErrorCode.NOT_LEADER_OR_FOLLOWER}") == 1
            assert [(each.node_id, each.host, each.port) for each in answer.node_endpoints] == [
                (2, "127.0.0.1", kcoord.port + 3)
            ]


async def test_rule_2_new_leaders_behind_records_that_stream_by(
    kafka: KafkaCluster, kcoord: Kcoord, brokers: dict[int, Client], direct: Client, name: str
) -> None:
    """The same at the end of a response of some MB, whose size was told before."""
    topic = kafka.create_topic(name, partitions=3, config={"max.message.bytes": str(8 << 20)})
    led = await leaders(direct, topic)
    by_id = await topic_id(direct, topic)
    right, wrong = led[1][0], led[2][0]
    records = batch(*[bytes(500_000)] * 6)
    produced = await ask(brokers[1], produce(topic, records, partition=right), 12)
    assert ErrorCode(produced.responses[0].partition_responses[0].error_code) == ErrorCode.NONE
    for version in (16, 18):
        request = fetch(topic, partitions=(right, wrong), topic_id=by_id)
        answer = await ask(brokers[1], request, version)
        data = {each.partition_index: each for each in answer.responses[0].partitions}
        assert bytes(data[right].records)[61:] == records[61:]
        assert ErrorCode(data[wrong].error_code) == ErrorCode.NOT_LEADER_OR_FOLLOWER
        assert {(each.node_id, each.host, each.port) for each in answer.node_endpoints} <= {
            (2, "127.0.0.1", kcoord.port + 3)
        }


async def test_rule_4_each_port_leads_to_its_broker(kafka: KafkaCluster, brokers: dict[int, Client], name: str) -> None:
    topic = kafka.create_topic(name, partitions=3)
    led = await leaders(brokers[1], topic)
    for broker, client in brokers.items():
        for partition in led[broker]:
            answer = await ask(client, produce(topic, batch(b"x"), partition=partition), 12)
            assert ErrorCode(answer.responses[0].partition_responses[0].error_code) == ErrorCode.NONE


async def test_rule_9_a_group_call_at_another_broker_is_sent_away(
    kcoord: Kcoord, brokers: dict[int, Client], name: str
) -> None:
    right = await coordinator_port(kcoord.bootstrap, name)
    member = await ScriptedMember.at(kcoord.bootstrap, name)
    for broker, client in brokers.items():
        if kcoord.port + 1 + broker != right:
            lost = ScriptedMember(client, name)
            assert ErrorCode((await lost.try_join()).error_code) == ErrorCode.NOT_COORDINATOR
    await member.join_and_sync()
    for broker, client in brokers.items():
        if kcoord.port + 1 + broker != right:
            lost = ScriptedMember(client, name, member_id=member.member_id, generation=member.generation)
            assert await lost.heartbeat() == ErrorCode.NOT_COORDINATOR
    assert await member.heartbeat() == ErrorCode.NONE


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(5)
        return probe.connect_ex(("127.0.0.1", port)) == 0


async def test_rule_1_known_ports_are_open_at_start_before_upstream_answers(
    start_kafka: Callable[..., KafkaCluster], start_kcoord: Callable[..., Kcoord]
) -> None:
    kafka = start_kafka(1)
    kcoord = start_kcoord(kafka)
    assert not is_open(kcoord.port + 2)  # nobody has asked yet
    await ask(await connect(kcoord.bootstrap), MetadataRequest(topics=[]))
    assert is_open(kcoord.port + 2)
    kcoord.kill()
    kafka.kill_broker(1)
    kcoord.start(wait=False)

    async def opened() -> bool:
        return is_open(kcoord.port + 2)

    await until(opened, "the known broker's port is open while the broker is down")
    client = await connect(kcoord.port + 2)
    client.writer.write(client.frame(MetadataRequest(topics=[]), 12)[1])
    assert await client.read_frame() == b""  # GW-3: rather no answer than one without brokers
    kafka.start_brokers(1)

    async def answered() -> Any:
        client = await connect(kcoord.port + 2)
        client.writer.write(client.frame(ApiVersionsRequest(), 0)[1])
        return await client.read_frame()

    assert await until(answered, "kcoord recovers by itself")
