"""An instance answers for a group only while it can prove that it coordinates it (CG-27, gateway 21).

Heartbeats write nothing, so the log's fence does not stop one that was cut off. What is cut here is the way to Kafka of
one instance alone, by a proxy; its clients stay connected.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import attrs
import pytest

from kcoord.group.state.settings import GroupSettings
from kcoord.log.kafka.log import KafkaLog
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.offset_commit_request import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kcoord.protocol.generated.offset_fetch_request import OffsetFetchRequestGroup, OffsetFetchRequestTopics
from kcoord.protocol.messages import (
    ConnectGroupHeartbeatResponse,
    DescribeGroupsRequest,
    JoinGroupResponse,
    ListGroupsRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
)
from kcoord.protocol.records import GroupMetadataKey, GroupMetadataValue, Record, encode_record
from kcoord.server.clock import monotonic_ms
from kcoord.server.shards.shard_host import ShardHost
from kcoord.server.shards.shard_phase import ShardPhase
from tests.connectgroups.worker import Worker, resources
from tests.faults.proxy import KafkaProxy
from tests.kafka.cluster import KafkaCluster
from tests.log.places import Topic
from tests.server.harness import Client, Running, over
from tests.server.members import Member

LEASE_MS = 1_500
LONG_LEASE_MS = 4_000
"""Where it must not run out: a loaded machine may stand still for a while."""
GROUP = "g"
END_TXN = 26
A = resources("a", "a-0")
SHORT: dict[str, Any] = {"request_timeout_ms": 500, "append_timeout_ms": 1_000, "load_timeout_ms": 5_000}
SETTINGS = GroupSettings(initial_rebalance_delay_ms=0, min_session_timeout_ms=1_000)


async def not_ours(_partition: int) -> bool:
    """What the group of the instances says where another one has taken over."""
    return False


async def until(holds: Callable[[], bool | Awaitable[bool]]) -> None:
    """Wait for what must come."""
    async with asyncio.timeout(180):
        while not (held if isinstance(held := holds(), bool) else await held):
            await asyncio.sleep(0.02)


@attrs.define
class Cut:
    """An instance whose way to Kafka can be cut, and one whose cannot, over one topic."""

    topic: Topic
    proxy: KafkaProxy
    running: Running

    @property
    def host(self) -> ShardHost:
        coordinator = self.running.coordinator
        return coordinator._hosts[coordinator.partition_of(GROUP)]

    @asynccontextmanager
    async def other(self) -> AsyncIterator[Running]:
        """Another instance that has taken everything over."""
        async with over(self.topic.make(lease_ms=LEASE_MS), settings=SETTINGS) as running:
            yield running


Start = Callable[..., Any]


@asynccontextmanager
async def cut_off(kafka: KafkaCluster, **log: Any) -> AsyncIterator[Cut]:
    topic = Topic(kafka)
    async with (
        KafkaProxy.opened(kafka.ports) as proxy,
        over(topic.make(bootstrap=proxy.bootstrap, **{"lease_ms": LEASE_MS, **log}), settings=SETTINGS) as running,
    ):
        running.coordinator.confirm = not_ours
        yield Cut(topic, proxy, running)
        proxy.mend()


def commit(member: Member, offset: int) -> OffsetCommitRequest:
    partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=offset, committed_metadata="")
    return OffsetCommitRequest(
        group_id=member.group_id,
        generation_id_or_member_epoch=member.generation,
        member_id=member.member_id,
        topics=[OffsetCommitRequestTopic(name="topic", partitions=[partition])],
    )


async def committed(member: Member, offset: int) -> ErrorCode:
    answer: Any = await member.client.ask(commit(member, offset), 9)
    return ErrorCode(answer.topics[0].partitions[0].error_code)


async def fetched(client: Client) -> int:
    """The group's offset, once it is said."""
    wanted = OffsetFetchRequestGroup(
        group_id=GROUP, topics=[OffsetFetchRequestTopics(name="topic", partition_indexes=[0])]
    )
    while True:
        answer: Any = await client.ask(OffsetFetchRequest(groups=[wanted]), 9)
        [group] = answer.groups
        if group.error_code == ErrorCode.NONE:
            offset: int = group.topics[0].partitions[0].committed_offset
            return offset
        assert ErrorCode(group.error_code).retriable
        await asyncio.sleep(0.02)


async def test_rule_27_who_is_cut_off_answers_nothing_not_from_the_hot_path_either(kafka: KafkaCluster) -> None:
    async with cut_off(kafka) as cut, await Client.connect(cut.running.port) as client:
        member = await Member.joined(client, GROUP)
        for _ in range(3):
            assert (await member.heartbeat()).error_code == ErrorCode.NONE
        [connection] = cut.running.server._connections
        hot = connection._hot
        assert hot is not None
        _, frame = client.frame(member.heartbeat_request(), 4)
        assert hot.answer(frame, monotonic_ms())[1] == len(frame)

        cut.proxy.silence()
        await until(lambda: monotonic_ms() > cut.host.outbox.lease.until_ms)
        assert hot.answer(frame, monotonic_ms()) == (b"", 0)
        assert hot.cached.basis.version == hot.cached.version, "it is the lease that stops it, nothing else"

        async with cut.other() as other, await Client.connect(other.port) as elsewhere:
            there = attrs.evolve(member, client=elsewhere)
            assert (await there.heartbeat()).error_code == ErrorCode.NONE
            assert await committed(there, 7) == ErrorCode.NONE

            refused = ErrorCode.NOT_COORDINATOR
            assert (await member.heartbeat()).error_code == refused
            assert await committed(member, 41) == refused
            joined = await client.ask(member.join_request(), 9)
            assert isinstance(joined, JoinGroupResponse)
            assert joined.error_code == refused
            described: Any = await client.ask(DescribeGroupsRequest(groups=[GROUP]), 5)
            assert [each.error_code for each in described.groups] == [refused]
            listed: Any = await client.ask(ListGroupsRequest(), 4)
            assert (listed.error_code, listed.groups) == (ErrorCode.COORDINATOR_NOT_AVAILABLE, [])
            check = cut.running.coordinator.check_commit
            assert await check(GROUP, member.member_id, None, member.generation, transactional=False) == refused
            assert not (await cut.running.coordinator.facts([GROUP]))[GROUP].loaded
            assert cut.host.shard.facts(GROUP).has_members, "who cannot prove that it coordinates puts nobody out"

            cut.proxy.mend()
            await until(lambda: cut.host.state is ShardPhase.ELSEWHERE)
            assert (await member.heartbeat()).error_code == refused
            assert await fetched(elsewhere) == 7
            assert (await there.heartbeat()).error_code == ErrorCode.NONE


async def test_time_stands_still_for_who_is_cut_off_and_goes_on(kafka: KafkaCluster) -> None:
    session_ms = 2_000
    slow = {"append_timeout_ms": 60_000, "request_timeout_ms": 60_000}
    async with cut_off(kafka, **slow) as cut, await Client.connect(cut.running.port) as client:
        member = await Member.joined(client, GROUP, session_timeout_ms=session_ms)
        assert (await member.heartbeat()).error_code == ErrorCode.NONE
        cut.proxy.silence()
        stopped_ms = monotonic_ms()
        await until(lambda: monotonic_ms() > stopped_ms + LEASE_MS + 2 * session_ms)
        assert (await member.heartbeat()).error_code == ErrorCode.NOT_COORDINATOR
        assert cut.host.shard.facts(GROUP).has_members
        cut.proxy.mend()

        async def is_answered() -> bool:
            error = (await member.heartbeat()).error_code
            assert error in (ErrorCode.NONE, ErrorCode.NOT_COORDINATOR)
            return error == ErrorCode.NONE

        await until(is_answered)
        assert cut.host.state is ShardPhase.ACTIVE


async def test_a_shard_that_nobody_has_asked_for_long_proves_itself_first(kafka: KafkaCluster) -> None:
    async with cut_off(kafka) as cut, await Client.connect(cut.running.port) as client:
        await until(lambda: not cut.host.outbox.lease_runs())
        assert await fetched(client) == -1
        assert cut.host.outbox.lease_runs()

        async def all_listed() -> bool:
            listed: Any = await client.ask(ListGroupsRequest(), 4)
            assert listed.error_code in (ErrorCode.NONE, ErrorCode.COORDINATOR_NOT_AVAILABLE)  # another shard's is over
            return bool(listed.error_code == ErrorCode.NONE)

        await until(all_listed)


async def test_an_idle_shard_with_members_keeps_its_lease(kafka: KafkaCluster) -> None:
    """By a few transactions, and one without members by none."""
    async with cut_off(kafka, lease_ms=LONG_LEASE_MS) as cut, await Client.connect(cut.running.port) as client:
        log = cut.host._log
        assert isinstance(log, KafkaLog)
        member = await Member.joined(client, GROUP)
        assert (await member.heartbeat()).error_code == ErrorCode.NONE
        [hot] = [each._hot for each in cut.running.server._connections]
        before = log.commits
        began_ms = monotonic_ms()
        while monotonic_ms() < began_ms + 4 * LONG_LEASE_MS:
            assert cut.host.outbox.lease_runs()
            assert (await member.heartbeat()).error_code == ErrorCode.NONE
            await asyncio.sleep(0.05)
        assert [each._hot for each in cut.running.server._connections] == [hot], "all from the hot path"
        ticks = log.commits - before
        assert 4 <= ticks <= (monotonic_ms() - began_ms) / (LONG_LEASE_MS * 0.6) + 1


async def test_rule_26_and_27_a_held_heartbeat_is_refused_too(kafka: KafkaCluster) -> None:
    async with cut_off(kafka) as cut, await Client.connect(cut.running.port) as client:
        worker = Worker(client, GROUP)
        assert await worker.join(A) == ErrorCode.NONE
        await worker.settle(A)
        request = worker.request(max_wait_ms=30_000)
        correlation_id, frame = client.frame(request, 0)
        client.writer.write(frame)
        await until(lambda: bool(cut.host.shard.state.held))
        cut.proxy.silence()
        await until(lambda: not cut.host.outbox.lease_runs())
        answer = await client.read(request, 0, correlation_id)
        assert isinstance(answer, ConnectGroupHeartbeatResponse)
        assert answer.error_code == ErrorCode.NOT_COORDINATOR


async def test_who_was_fenced_tells_nobody_of_a_success(kafka: KafkaCluster) -> None:
    async with cut_off(kafka) as cut, await Client.connect(cut.running.port) as client:
        member = await Member.joined(client, GROUP)
        assert await committed(member, 7) == ErrorCode.NONE
        async with cut.other() as other, await Client.connect(other.port) as elsewhere:
            assert await committed(member, 41) == ErrorCode.NOT_COORDINATOR
            await until(lambda: cut.host.state is ShardPhase.ELSEWHERE)
            assert await fetched(elsewhere) == 7


@pytest.mark.parametrize("arrives", [False, True], ids=["the question is lost", "the answer is lost"])
async def test_of_a_commit_with_unknown_outcome_nobody_is_told_a_success(kafka: KafkaCluster, arrives: bool) -> None:
    async with cut_off(kafka, **SHORT) as cut, await Client.connect(cut.running.port) as client:
        member = await Member.joined(client, GROUP)
        assert await committed(member, 7) == ErrorCode.NONE

        async def confirm(_partition: int) -> bool:
            return True

        cut.running.coordinator.confirm = confirm
        ended = asyncio.Event()

        async def catch(api_key: int) -> None:
            if api_key == END_TXN:
                cut.proxy.catch = None
                ended.set()
                if arrives:
                    asyncio.get_running_loop().call_soon(cut.proxy.silence)
                else:
                    cut.proxy.silence()

        cut.proxy.catch = catch
        assert await committed(member, 41) == ErrorCode.NOT_COORDINATOR
        assert ended.is_set()
        cut.proxy.mend()
        offset = await fetched(client)
        assert offset in (7, 41)
        async with cut.other() as other, await Client.connect(other.port) as elsewhere:
            assert await fetched(elsewhere) == offset, "what was loaded again is what is in the log"


async def test_a_partition_that_is_given_away_is_served_no_more(kafka: KafkaCluster) -> None:
    async with cut_off(kafka) as cut, await Client.connect(cut.running.port) as client:
        member = await Member.joined(client, GROUP)
        assert (await member.heartbeat()).error_code == ErrorCode.NONE
        async with await Client.connect(cut.running.port) as second:
            newcomer = Member(second, GROUP)
            first = await second.ask(newcomer.join_request(), 9)
            assert isinstance(first, JoinGroupResponse)
            newcomer.member_id = first.member_id
            waiting = asyncio.create_task(second.ask(newcomer.join_request(), 9))
            await until(lambda: any(each.parked_joins for each in cut.host.shard.state.groups.values()))
            partition = cut.host.partition
            await cut.running.coordinator.lose(partition)
            joined = await waiting
        assert isinstance(joined, JoinGroupResponse)
        assert joined.error_code == ErrorCode.NOT_COORDINATOR
        assert (await member.heartbeat()).error_code == ErrorCode.NOT_COORDINATOR
        assert partition not in cut.running.coordinator.owned()
        listed: Any = await client.ask(ListGroupsRequest(), 4)
        assert (listed.error_code, listed.groups) == (ErrorCode.NONE, [])

        await cut.running.coordinator.gain(partition)
        assert partition in cut.running.coordinator.owned()
        assert (await member.heartbeat()).error_code == ErrorCode.NONE


NEWER_KEY = b"\x00\x63\x00\x01g"
RIGHT = encode_record(Record(GroupMetadataKey("x"), GroupMetadataValue(protocol=None, leader=None)))


@pytest.mark.parametrize(
    ("record", "says"),
    [
        pytest.param((NEWER_KEY, b"\x00\x00"), "A newer kcoord wrote it", id="type"),
        pytest.param((RIGHT[0], b"\x00\x7f" + (RIGHT[1] or b"")[2:]), "A newer kcoord wrote it", id="version"),
        pytest.param((RIGHT[0], (RIGHT[1] or b"")[:-3]), "kcoord log dump", id="damaged"),
    ],
)
async def test_a_record_that_cannot_be_read_stops_its_partition_alone(
    kafka: KafkaCluster, record: tuple[bytes, bytes], says: str, caplog: pytest.LogCaptureFixture
) -> None:
    topic = Topic(kafka)
    log = topic.make()
    await log.open()
    async for _ in log.load(1):
        pass
    await log.append(1, [record])
    await log.close()
    caplog.set_level(logging.ERROR)
    async with over(topic.make(lease_ms=LEASE_MS), settings=SETTINGS) as running:
        hosts = running.coordinator._hosts
        assert [host.state is ShardPhase.BROKEN for host in hosts] == [False, True, False, False]
        assert running.coordinator.owned() == {0, 2, 3}
        [line] = [each.getMessage() for each in caplog.records if "cannot be read" in each.getMessage()]
        assert "partition 1 is not served: its record at offset 0 " in line
        assert f"(key {record[0].hex()})" in line
        assert says in line
        async with await Client.connect(running.port) as client:
            for number in range(20):
                group = f"g{number}"
                member = Member(client, group)
                error = (await member.heartbeat()).error_code
                broken = running.coordinator.partition_of(group) == 1
                assert error == (ErrorCode.COORDINATOR_NOT_AVAILABLE if broken else ErrorCode.UNKNOWN_MEMBER_ID)
