"""A fault of kcoord's own in one step costs that request an error, and nobody anything else; over either log."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kcoord.group import shard as shard_module
from kcoord.log.interface import Log
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import DescribeGroupsRequest, DescribeGroupsResponse
from kcoord.server.clock import monotonic_ms
from kcoord.server.shards.shard_phase import ShardPhase
from tests.kafka.cluster import KafkaCluster
from tests.log.places import Directory, Place, Topic
from tests.server.harness import Client, over
from tests.server.members import Member


@pytest.fixture(params=["embedded", "kafka"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Log:
    """A log that is not open yet."""
    place: Place = Directory(tmp_path) if request.param == "embedded" else Topic(request.getfixturevalue("kafka"))
    return place.make()


async def test_a_fault_in_a_step_costs_its_request_and_is_told(
    log: Log, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with (
        over(log) as kcoord,
        await Client.connect(kcoord.port) as one,
        await Client.connect(kcoord.port) as two,
    ):
        member = await Member.joined(one, "group")

        def broken(*_: object) -> None:
            raise ZeroDivisionError("a fault")

        sound = shard_module.HANDLERS[DescribeGroupsRequest]
        monkeypatch.setitem(shard_module.HANDLERS, DescribeGroupsRequest, broken)
        described = await two.ask(DescribeGroupsRequest(groups=["group"]), 5)
        assert isinstance(described, DescribeGroupsResponse)
        assert described.groups[0].error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
        assert "a fault of kcoord's own in DescribeGroupsRequest" in caplog.text

        monkeypatch.setitem(shard_module.HANDLERS, DescribeGroupsRequest, sound)
        while described.groups[0].error_code != ErrorCode.NONE:
            described = await two.ask(DescribeGroupsRequest(groups=["group"]), 5)
            assert isinstance(described, DescribeGroupsResponse)
            await asyncio.sleep(0)
        assert described.groups[0].group_state == "Stable"
        assert (await member.heartbeat()).error_code == ErrorCode.NONE
        assert await member.sync() == ErrorCode.NONE
        assert member.assignment == member.member_id.encode()


async def test_a_paused_session_stands_still_through_a_load(log: Log) -> None:
    """GW-10: a member that waits for its answer sends no heartbeats meanwhile."""
    async with over(log) as kcoord, await Client.connect(kcoord.port) as client:
        member, groups = await Member.joined(client, "group"), kcoord.coordinator
        host = groups._hosts[groups.partition_of("group")]
        until_ms = monotonic_ms() + 3_600_000
        groups.pause_session("group", member.member_id, until_ms)
        for _ in range(2):
            host._fail()
            while host.state is not ShardPhase.ACTIVE:
                await asyncio.sleep(0.01)
            assert host.shard.paused_sessions(monotonic_ms()) == {("group", member.member_id): until_ms}
        assert (await member.heartbeat()).error_code == ErrorCode.NONE
        assert host.shard.paused_sessions(monotonic_ms()) == {}


async def test_a_fault_while_it_is_asked_whose_a_partition_is_leaves_nobody_in_doubt_for_ever(
    kafka: KafkaCluster,
) -> None:
    async with over(Topic(kafka).make()) as kcoord, await Client.connect(kcoord.port) as client:
        member = await Member.joined(client, "group")
        answers = iter([AttributeError("aiokafka stumbles"), True])

        async def confirm(_partition: int) -> bool:
            answer = next(answers)
            if isinstance(answer, Exception):
                raise answer
            return bool(answer)

        kcoord.coordinator.confirm = confirm
        host = kcoord.coordinator._hosts[kcoord.coordinator.partition_of("group")]
        host._fail()
        async with asyncio.timeout(180):
            while host.state is not ShardPhase.ACTIVE:
                await asyncio.sleep(0.02)
        assert (await member.heartbeat()).error_code == ErrorCode.NONE


async def test_a_fault_where_one_answer_leaves_keeps_no_other_back(log: Log, caplog: pytest.LogCaptureFixture) -> None:
    async with over(log) as kcoord, await Client.connect(kcoord.port) as client:
        host = kcoord.coordinator._hosts[0]
        left: list[ErrorCode] = []

        def broken() -> None:
            raise ZeroDivisionError("a fault")

        class Told:
            def refuse(self, error: ErrorCode) -> None:
                left.append(error)

        host.outbox.send(broken, Told())
        host.outbox.prove()
        host.outbox.send(broken, Told())
        host.outbox.send(lambda: left.append(ErrorCode.NONE), Told())
        async with asyncio.timeout(180):
            while not left:
                await asyncio.sleep(0.01)
        assert left == [ErrorCode.NONE]
        assert caplog.text.count("a fault of kcoord's own where an answer left") == 2
        assert host.state is ShardPhase.ACTIVE
        await Member.joined(client, "group")


async def test_a_fault_in_taking_a_request_ends_its_connection_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is begun where the answer before it leaves, and that is perhaps another client's step."""
    async with (
        over(Directory(tmp_path).make()) as kcoord,
        await Client.connect(kcoord.port) as one,
        await Client.connect(kcoord.port) as two,
    ):
        leader, follower = await Member.joined(one, "group"), Member(two, "group")
        follower.member_id = (await two.ask(follower.join_request(), 9)).member_id  # type: ignore[attr-defined]
        _, joining = two.frame(follower.join_request(), 9)
        _, broken = two.frame(DescribeGroupsRequest(groups=["group"]), 5)
        two.writer.write(joining + broken)
        while (await leader.heartbeat()).error_code != ErrorCode.REBALANCE_IN_PROGRESS:
            await asyncio.sleep(0.01)

        def fault(*_: object) -> None:
            raise ZeroDivisionError("a fault")

        monkeypatch.setattr(DescribeGroupsRequest, "decode", fault)
        joined = await one.ask(leader.join_request(), 9)
        assert joined.error_code == ErrorCode.NONE  # type: ignore[attr-defined]
        assert await two.read_frame(), "the answer to the join"
        assert not await two.read_frame(), "and then the end"
