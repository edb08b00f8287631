"""Do several instances serve one cluster's clients as one kcoord? GW-19 to GW-21, before three brokers."""

from __future__ import annotations

import asyncio
import itertools
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaException, Producer

from kcoord.group.group_configs import GROUP
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.describe_configs_request import DescribeConfigsResource
from kcoord.protocol.generated.find_coordinator_response import Coordinator
from kcoord.protocol.messages import (
    DeleteGroupsRequest,
    DescribeClusterRequest,
    DescribeConfigsRequest,
    FindCoordinatorRequest,
    IncrementalAlterConfigsRequest,
    ListGroupsRequest,
    MetadataRequest,
)
from tests.clients.members import Aiokafka, Librdkafka
from tests.connectgroups.configs import change
from tests.connectgroups.worker import Worker, resources
from tests.connectgroups.worker import describe as describe_connect
from tests.gateway.fleet import Fleet, both_join, fleet
from tests.gateway.scripted import (
    ScriptedMember,
    ask,
    connect,
    coordinator_port,
    describe,
    forgetting,
    subscription,
    until,
)
from tests.gateway.test_sentinel_appearance import join_as_0_1_0, old_sentinel
from tests.gateway.test_taking import upstream_state
from tests.kafka.cluster import KafkaCluster
from tests.kafka.java import Java
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.wait import DEADLINE_S, NotYet, eventually
from tests.server.harness import CLOSED, Client

BOTH = (0, 1)
INTERVAL = "connect.heartbeat.interval.ms"
GROUPS = 6
"""So many that each instance owns some of them."""
_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def cluster(start_kafka: Callable[..., KafkaCluster]) -> KafkaCluster:
    """Three brokers."""
    return start_kafka(3)


@pytest.fixture(scope="module")
def start_fleet(cluster: KafkaCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Fleet]]:
    """Starts instances before the cluster; removed with the module's last test."""
    with ExitStack() as stack:

        def start(number: int = 2, **settings: object) -> Fleet:
            return stack.enter_context(fleet(cluster, tmp_path_factory.mktemp("fleet"), number, **settings))

        yield start


@pytest.fixture(scope="module")
def shared(start_fleet: Callable[..., Fleet]) -> Fleet:
    """Two instances that no test harms."""
    return start_fleet()


@pytest.fixture
async def pair(shared: Fleet) -> Fleet:
    await shared.settled(*BOTH)
    return shared


@pytest.fixture
def topic(cluster: KafkaCluster, name: str) -> str:
    return cluster.create_topic(f"topic-{name}", 4)


async def test_all_instances_of_a_new_installation_adopt(start_fleet: Callable[..., Fleet]) -> None:
    """One has made the topic; the others learn from it that all is new, and one that loses its data from them."""
    pair = start_fleet()
    notes = [each.data / "adopts" for each in pair.instances]

    async def all_know() -> bool:
        return all(each.exists() for each in notes)

    await until(all_know, "both know")
    for instance in pair.instances:
        await asyncio.to_thread(instance.stop)
        shutil.rmtree(instance.data)
        await asyncio.to_thread(instance.start)
        await until(all_know, f"{instance.folder.name} knows again")


async def test_several_instances_heal_what_0_1_0_left_behind(
    cluster: KafkaCluster, start_fleet: Callable[..., Fleet], name: str
) -> None:
    """AD-5: each at the brokers that it stands before."""
    left = [f"{name}-{at}" for at in range(GROUPS)]
    at_broker: dict[str, Client] = {}
    for group in left:
        at_broker[group] = await connect(await coordinator_port(cluster.bootstrap, group))
        predecessor = old_sentinel(at_broker[group], group)
        await join_as_0_1_0(predecessor)
        await predecessor.leave()
    await start_fleet().settled(*BOTH)
    for group, direct in at_broker.items():

        async def is_healed(group: str = group, direct: Client = direct) -> bool:
            return await upstream_state(direct, group) == ("Empty", "consumer", [])

        await until(is_healed, f"{group} is a consumer group again")


async def found_coordinator(client: Client, group: str) -> Coordinator:
    """What FindCoordinator says, asked again as clients do: each change of the map makes them."""

    async def found() -> Coordinator | None:
        request = FindCoordinatorRequest(key_type=0, coordinator_keys=[group])
        told = (await ask(client, request)).coordinators[0]
        assert told.error_code in (ErrorCode.NONE, ErrorCode.COORDINATOR_NOT_AVAILABLE), told
        return told if told.error_code == ErrorCode.NONE else None

    answer: Coordinator = await until(found, f"the coordinator of {group} is found")
    return answer


async def member_at(pair: Fleet, group: str, number: int, **options: Any) -> ScriptedMember:
    """A member that comes by instance `number`, at its port of the group's coordinator."""
    _, broker = pair.at(await coordinator_port(pair.instances[0].bootstrap, group))
    return ScriptedMember(await connect(pair.instances[number].port + 1 + broker), group, **options)


async def worker_at(pair: Fleet, group: str, number: int, member_id: str, **fields: Any) -> Worker:
    """A worker of a connect group that has joined by instance `number`."""
    _, broker = pair.at(await coordinator_port(pair.instances[0].bootstrap, group))
    worker = Worker(await connect(pair.instances[number].port + 1 + broker), group, member_id)

    async def joined() -> bool:
        error = await worker.join(**fields)
        assert error in (ErrorCode.NONE, ErrorCode.COMPUTE_ASSIGNMENT) or error.retriable, worker.last
        return not error.retriable

    await until(joined, "joined")
    return worker


async def stable_pair(pair: Fleet, group: str) -> tuple[ScriptedMember, ScriptedMember]:
    """A group with a member by each instance: one of them is not the owner."""
    first, second = [await member_at(pair, group, number) for number in BOTH]
    await both_join(first, second)
    return first, second


async def test_rule_19_the_map_is_the_same_in_every_answer_of_every_instance(pair: Fleet, name: str) -> None:
    expected = await pair.settled(*BOTH)
    assert set(expected.values()) == set(BOTH)
    for each in pair.instances:
        for port in (each.port, *(each.port + 1 + broker for broker in pair.kafka.ports)):
            assert await pair.map(port) == expected
            client = await connect(port)
            cluster = await ask(client, DescribeClusterRequest())
            assert {each.broker_id: pair.at(each.port)[0] for each in cluster.brokers} == expected
            for key in range(4):
                found = await found_coordinator(client, f"{name}-{key}")
                assert pair.at(found.port) == (expected[found.node_id], found.node_id)


@pytest.mark.parametrize("number", range(GROUPS))
async def test_rule_20_a_group_lives_by_both_instances(
    pair: Fleet, cluster: KafkaCluster, name: str, topic: str, number: int
) -> None:
    """Whoever owns the group, one of its members comes by the other instance: all its calls are relayed."""
    group = f"{name}-{number}"
    first, second = await stable_pair(pair, group)
    for offset, member in enumerate((first, second, first, second)):
        assert await member.heartbeat() == ErrorCode.NONE
        assert await member.commit(topic, offset) == ErrorCode.NONE
        assert cluster.committed(group) == {(topic, 0): offset}
    for member in (first, second):
        seen = await describe(member.client, group)
        assert (seen.group_state, seen.protocol_type) == ("Stable", "consumer")
        assert {each.member_id for each in seen.members} == {first.member_id, second.member_id}
        listed = {each.group_id: each for each in (await ask(member.client, ListGroupsRequest())).groups}
        assert (listed[group].group_state, listed[group].protocol_type) == ("Stable", "consumer")
        deleted = await ask(member.client, DeleteGroupsRequest(groups_names=[group]))
        assert ErrorCode(deleted.results[0].error_code) == ErrorCode.NON_EMPTY_GROUP
    await first.leave()

    async def alone() -> bool:
        return await second.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS

    await until(alone, "the second is told")
    second.metadata = subscription("another")
    await second.join_and_sync()
    forgotten = await ask(first.client, forgetting(group, topic))
    assert ErrorCode(forgotten.error_code) == ErrorCode.NONE
    assert ErrorCode(forgotten.topics[0].partitions[0].error_code) == ErrorCode.NONE
    assert cluster.committed(group) == {}
    assert await second.commit(topic, 9) == ErrorCode.NONE
    await second.leave()
    deleted = await ask(first.client, DeleteGroupsRequest(groups_names=[group]))
    assert ErrorCode(deleted.results[0].error_code) == ErrorCode.NONE
    assert cluster.committed(group) == {}
    assert group not in {each.group_id for each in (await ask(second.client, ListGroupsRequest())).groups}


@pytest.mark.parametrize("number", range(3))
async def test_rule_20_a_connect_group_lives_by_both_instances(pair: Fleet, name: str, number: int) -> None:
    group = f"{name}-{number}"
    configured = resources("a", "a-0", "a-1", "a-2")
    first = await worker_at(pair, group, 0, "w1", configured=configured)
    await first.settle(configured)
    second = await worker_at(pair, group, 1, "w2", configured=configured)

    async def shared() -> bool:
        errors = [await worker.heartbeat() for worker in (first, second)]
        expected = [each in (ErrorCode.NONE, ErrorCode.COMPUTE_ASSIGNMENT) or each.retriable for each in errors]
        assert all(expected), [error.name for error in errors]
        return bool(second.owned) and not first.owned & second.owned and first.owned | second.owned == configured

    await until(shared, "both have their share")
    for worker in (first, second):
        seen = await describe_connect(worker.client, group)
        assert {each.member_id for each in seen.members} == {"w1", "w2"}
    altered = await ask(second.client, IncrementalAlterConfigsRequest([change(group, {INTERVAL: "7000"})]), 1)
    assert altered.responses[0].error_code == ErrorCode.NONE
    asked = DescribeConfigsRequest([DescribeConfigsResource(GROUP, group, [INTERVAL])])
    for worker in (first, second):
        [told] = (await ask(worker.client, asked, 4)).results
        assert [each.value for each in told.configs] == ["7000"]
    for worker in (first, second):
        assert await worker.leave() == ErrorCode.NONE


def produce(cluster: KafkaCluster, topic: str, values: set[str], partitions: int) -> None:
    """Put these values into the topic, past kcoord."""
    producer = Producer({"bootstrap.servers": cluster.bootstrap})
    for number, value in enumerate(sorted(values)):
        producer.produce(topic, value.encode(), partition=number % partitions)
    assert producer.flush(30) == 0


class Trio:
    """A consumer of each library in one group on a topic of three partitions: librdkafka, aiokafka, Java."""

    def __init__(self, pair: Fleet, java: Java, group: str, topic: str, folder: Path) -> None:
        self.pair, self.topic = pair, topic
        self.python = [
            Librdkafka(pair.bootstrap, group, [topic]),
            Aiokafka(pair.bootstrap, group, [topic]),
        ]
        self.printed = folder / "java.log"
        arguments = ["--bootstrap-server", pair.bootstrap, "--topic", topic, "--group", group]
        assigned = "partition.assignment.strategy=org.apache.kafka.clients.consumer.RangeAssignor"
        self.java = java.start(
            "consumer",
            "org.apache.kafka.tools.consumer.ConsoleConsumer",
            [*arguments, "--from-beginning", "--command-property", assigned],
            self.printed,
        )

    def settle(self) -> None:
        """Each has its partition."""
        for member in self.python:
            member.wait_for_partitions(1)

    def read_all_of(self, batch: str) -> None:
        """Produce to all partitions, and wait until somebody has read it."""
        new = {f"{batch}-{number}" for number in range(9)}
        produce(self.pair.kafka, self.topic, new, partitions=3)

        def read() -> bool:
            for member in self.python:
                assert member.error is None, member.error
            self.java.check_running()
            missing = new - {value for member in self.python for value in member.values}
            missing -= set(self.printed.read_text().split())
            if missing:
                raise NotYet(f"{sorted(missing)} are missing")
            return True

        eventually(read, f"all of {batch} is read")

    def close(self) -> None:
        for member in self.python:
            member.close()
        self.java.stop()


async def test_rule_20_clients_of_all_libraries_outlive_a_rolling_restart(
    start_fleet: Callable[..., Fleet], cluster: KafkaCluster, java: Java, name: str, tmp_path: Path
) -> None:
    """Nobody loses its membership: no consumer is assigned anything anew."""
    pair = start_fleet()
    await pair.settled(*BOTH)
    topic = cluster.create_topic(f"topic-{name}", 3)
    trio = await asyncio.to_thread(Trio, pair, java, name, topic, tmp_path)
    try:
        await asyncio.to_thread(trio.settle)
        await asyncio.to_thread(trio.read_all_of, "before")
        assignments = [member.assignments for member in trio.python]
        for number, instance in enumerate(pair.instances):
            await asyncio.to_thread(instance.stop)
            await asyncio.to_thread(trio.read_all_of, f"without-{number}")
            for member in trio.python:
                await asyncio.to_thread(member.commit)
            await asyncio.to_thread(instance.start)
            await pair.settled(*BOTH)
            await asyncio.to_thread(trio.read_all_of, f"with-{number}-again")
            for member in trio.python:
                await asyncio.to_thread(member.commit)
        assert [member.assignments for member in trio.python] == assignments
    finally:
        await asyncio.to_thread(trio.close)


async def heartbeats(members: list[ScriptedMember], rounds: int) -> int:
    for _ in range(rounds):
        for member in members:
            assert await member.heartbeat() == ErrorCode.NONE
    return rounds * len(members)


async def test_rule_20_most_heartbeats_of_a_stable_fleet_need_no_relay(
    start_fleet: Callable[..., Fleet], name: str
) -> None:
    """Members that go where FindCoordinator sends them are where their groups are owned."""
    own = start_fleet()
    await own.settled(*BOTH)
    attempts = itertools.count()

    async def steady() -> int | None:
        """How many heartbeats were sent; None if kcoord has closed a connection meanwhile: soon after the first map it
        still moves some.
        """
        attempt = next(attempts)
        try:
            members = [
                await ScriptedMember.at(own.instances[each % 2].bootstrap, f"{name}-{attempt}-{each}")
                for each in range(20)
            ]
            for member in members:
                await member.join_and_sync()
            return await heartbeats(members, 20)
        except AssertionError as error:
            if CLOSED not in str(error):
                raise
            return None

    sent: int = await until(steady, "no connection is closed while the members send their heartbeats")
    await own.stop()
    relayed = own.relayed()["Heartbeat"]
    assert relayed <= 0.1 * sent


@pytest.fixture
async def killing(start_fleet: Callable[..., Fleet]) -> AsyncIterator[Fleet]:
    """Two instances of which one is killed."""
    own = start_fleet()
    await own.settled(*BOTH)
    yield own
    for each in own.instances:
        each.remove()


async def test_rule_20_an_instance_is_killed_and_its_clients_go_on_by_the_other(
    killing: Fleet, cluster: KafkaCluster, name: str, topic: str
) -> None:
    """Members keep ids and generations, whoever owned their groups; nobody can join past kcoord meanwhile."""
    members = [await ScriptedMember.at(killing.bootstrap, f"{name}-{number}") for number in range(GROUPS)]
    for member in members:
        await member.join_and_sync()
        assert await member.commit(topic, 1) == ErrorCode.NONE
    lost, left = killing.instances
    lost.kill()
    past = asyncio.create_task(try_to_join_past(cluster, [member.group for member in members]))
    for member in members:
        moved = await goes_on(left, member)
        assert await moved.commit(topic, 2) == ErrorCode.NONE
        assert cluster.committed(member.group) == {(topic, 0): 2}
    assert set((await killing.settled(1)).values()) == {1}
    past.cancel()
    assert await past_of(past) == {ErrorCode.INCONSISTENT_GROUP_PROTOCOL}
    lost.start()
    await killing.settled(*BOTH)
    for member in members:
        again = await ScriptedMember.at(killing.bootstrap, member.group, member_id=member.member_id)
        again.generation = member.generation
        assert await settled_heartbeat(again) == ErrorCode.NONE


async def test_rule_19_librdkafka_finds_its_coordinator_again_where_only_the_address_has_changed(
    killing: Fleet, cluster: KafkaCluster, name: str
) -> None:
    """The coordinator's id stays, and librdkafka would dial the instance that was killed for ever."""
    topic = cluster.create_topic(f"topic-{name}")
    at, _ = killing.at(await coordinator_port(killing.bootstrap, name))

    def run() -> None:
        with Librdkafka(killing.bootstrap, name, [topic]) as member:
            member.wait_for_partitions(1)
            produce(cluster, topic, {"before"}, partitions=1)
            member.wait_for_values({"before"})
            member.commit()
            killing.instances[at].kill()

            def committed() -> bool:
                try:
                    member.commit()
                except KafkaException as error:
                    raise NotYet(str(error)) from error
                return True

            produce(cluster, topic, {"after"}, partitions=1)
            member.wait_for_values({"before", "after"})
            eventually(committed, "it commits by way of the other instance")
            assert member.assignments == 1

    await asyncio.to_thread(run)
    assert cluster.committed(name) == {(topic, 0): 2}


async def test_rule_20_connections_go_where_the_map_has_their_broker(killing: Fleet, name: str) -> None:
    """A member stays by the instance that took it over while the other one was away; when that is back, and the map
    has settled, its connection is closed once, and it goes home."""
    at, broker = killing.at(await coordinator_port(killing.bootstrap, name))
    away, left = killing.instances[at], killing.other(at)
    member = ScriptedMember(await connect(left.port + 1 + broker), name)
    await member.join_and_sync()
    away.kill()
    await killing.settled(1 - at)
    away.start()
    home = await killing.settled(*BOTH)
    if home[broker] != at:
        return  # its place is here now

    async def closed() -> bool:
        try:
            error = await member.heartbeat()
        except (AssertionError, OSError):
            return True
        assert error == ErrorCode.NONE or error.retriable, error.name
        return False

    await until(closed, "the older connection is closed")
    later = ScriptedMember(await connect(left.port + 1 + broker), name, member_id=member.member_id)
    later.generation = member.generation
    for _ in range(20):  # who comes now is left alone
        assert await later.heartbeat() == ErrorCode.NONE
        await asyncio.sleep(0.1)


async def test_rule_19_who_asks_by_another_connection_each_time_is_answered(killing: Fleet, name: str) -> None:
    """As kcoord's own workers do: they hang up on COORDINATOR_NOT_AVAILABLE, by which others forget an old address."""
    at, _ = killing.at(await coordinator_port(killing.bootstrap, name))
    killing.instances[at].kill()
    await killing.settled(1 - at)
    errors: list[ErrorCode] = []
    while ErrorCode.NONE not in errors:
        client = await connect(killing.other(at).bootstrap)
        told = await ask(client, FindCoordinatorRequest(key_type=0, coordinator_keys=[name]))
        errors.append(ErrorCode(told.coordinators[0].error_code))
        await client.close()
        await asyncio.sleep(0.1)
    assert set(errors) <= {ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NONE}
    assert len(errors) < 10


async def test_rule_19_who_knows_one_instance_only_is_made_to_ask_when_there_is_another(killing: Fleet) -> None:
    """Else it would have nobody if this one died. Who has asked by itself meanwhile is left alone."""
    killing.instances[1].kill()
    await killing.settled(0)
    there = killing.instances[0]
    silent, asking = await connect(there.bootstrap), await connect(there.bootstrap)
    for client in (silent, asking):
        told = await ask(client, MetadataRequest(topics=[]))
        assert {killing.at(each.port)[0] for each in told.brokers} == {0}
    killing.instances[1].start()
    await killing.settled(*BOTH)
    hanging_up = asyncio.create_task(silent.reader.read(1))
    async with asyncio.timeout(DEADLINE_S):
        while not hanging_up.done():
            told = await ask(asking, MetadataRequest(topics=[]))
            assert {killing.at(each.port)[0] for each in told.brokers} == {0, 1}
            await asyncio.sleep(0.1)
    assert hanging_up.result() == b""
    assert await ask(asking, MetadataRequest(topics=[])), "this one is served on"


async def goes_on(left: Kcoord, member: ScriptedMember) -> ScriptedMember:
    """The member finds its coordinator by the instance that is left, and is a member there still."""

    async def beats() -> ScriptedMember | None:
        try:
            moved = await ScriptedMember.at(left.bootstrap, member.group, member_id=member.member_id)
            moved.generation = member.generation
            error = await moved.heartbeat()
        except (OSError, AssertionError):
            return None  # it is sent to the one that was killed, as long as the map names it
        assert error == ErrorCode.NONE or error.retriable, error.name
        return moved if error == ErrorCode.NONE else None

    found: ScriptedMember = await until(beats, f"{member.group} goes on by the other instance", every_s=0.3)
    return found


async def settled_heartbeat(member: ScriptedMember) -> ErrorCode:
    """A heartbeat once the group is where it belongs."""

    async def beats() -> bool:
        error = await member.heartbeat()
        assert error == ErrorCode.NONE or error.retriable, error.name
        return error == ErrorCode.NONE

    await until(beats, "its group is there")
    return ErrorCode.NONE


async def try_to_join_past(cluster: KafkaCluster, groups: list[str]) -> set[ErrorCode]:
    """What somebody who is connected to the cluster directly is told, again and again."""
    told: set[ErrorCode] = set()
    members = [await ScriptedMember.at(cluster.bootstrap, group) for group in groups]
    try:
        while True:
            for member in members:
                joined = await member.try_join()
                error = ErrorCode(joined.error_code)
                if error == ErrorCode.MEMBER_ID_REQUIRED:
                    member.member_id = joined.member_id
                else:
                    told.add(error)
            await asyncio.sleep(0.1)
    except asyncio.CancelledError:
        return told


async def past_of(task: asyncio.Task[set[ErrorCode]]) -> set[ErrorCode]:
    return await task


async def test_rule_13_an_instance_that_dies_with_the_last_members_leaves_no_sentinel(
    killing: Fleet, cluster: KafkaCluster, name: str
) -> None:
    """The instance and its clients go at once; the owner notices, and gives the groups back."""
    members = [
        await ScriptedMember.at(killing.bootstrap, f"{name}-{number}", session_ms=2_000) for number in range(GROUPS)
    ]
    for member in members:
        await member.join_and_sync()
    killing.instances[0].kill()
    for member in members:
        await member.close()
    direct = [await ScriptedMember.at(cluster.bootstrap, member.group) for member in members]

    async def all_free() -> bool:
        seen = [await describe(member.client, member.group) for member in direct]
        return all(not each.members for each in seen)

    await until(all_free, "the sentinels have left")
