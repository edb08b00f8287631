"""A fault of kcoord's own in one step costs that request an error, and nobody anything else; over either log."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kcoord.group import shard as shard_module
from kcoord.log.interface import Log
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import DescribeGroupsRequest, DescribeGroupsResponse
from kcoord.server.shard_state import ShardState
from tests.kafka.cluster import KafkaCluster
from tests.log.places import Directory, Place, Topic
from tests.server.harness import Client, over
from tests.server.members import Member


@pytest.fixture(params=["embedded", "kafka"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Log:
    """A log that is not open yet."""
    place: Place = Directory(tmp_path) if request.param == "embedded" else Topic(request.getfixturevalue("kafka"))
    return place.make()


async def test_a_fault_in_a_step_loads_the_shard_again(
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
        assert described.groups[0].error_code == ErrorCode.UNKNOWN_SERVER_ERROR
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
        async with asyncio.timeout(60):
            while host.state is not ShardState.ACTIVE:
                await asyncio.sleep(0.02)
        assert (await member.heartbeat()).error_code == ErrorCode.NONE
