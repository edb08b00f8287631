"""A fault of kcoord's own in one step costs that request an error, and nobody anything else."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kcoord.group import shard as shard_module
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import DescribeGroupsRequest, DescribeGroupsResponse
from tests.server.harness import Client, standalone
from tests.server.members import Member


async def test_a_fault_in_a_step_loads_the_shard_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with (
        standalone(tmp_path) as kcoord,
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
