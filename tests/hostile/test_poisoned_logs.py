"""What a log holds cannot stop its partition, whatever a former client has put there."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    ConnectGroupDescribeRequest,
    ConnectGroupDescribeResponse,
    ConnectGroupHeartbeatRequest,
    ConnectGroupHeartbeatResponse,
)
from tests.gateway.scripted import connect, until
from tests.kafka.kcoord_process import Kcoord

SESSION_MS = 1_000
ONE_PARTITION = {
    "offsets.topic.num.partitions": 1,
    "group.connect.session.timeout.ms": SESSION_MS,
    "group.connect.min.session.timeout.ms": SESSION_MS,
    "group.connect.heartbeat.interval.ms": 300,
    "group.connect.min.heartbeat.interval.ms": 100,
}


async def join(bootstrap: str, group: str, member: str) -> ErrorCode:
    """One worker's join."""
    request = ConnectGroupHeartbeatRequest(
        group_id=group,
        member_id=member,
        member_epoch=0,
        rebalance_timeout_ms=5_000,
        server_assignor="uniform",
        connectors_and_tasks=[],
    )
    answer = await (await connect(bootstrap)).ask(request, 0)
    assert isinstance(answer, ConnectGroupHeartbeatResponse)
    return ErrorCode(answer.error_code)


async def members(bootstrap: str, group: str) -> int:
    """How many members the group has."""
    answer = await (await connect(bootstrap)).ask(ConnectGroupDescribeRequest(group_ids=[group]), 0)
    assert isinstance(answer, ConnectGroupDescribeResponse)
    return len(answer.groups[0].members)


async def test_ids_of_11_000_bytes_whose_sessions_end_together(tmp_path: Path) -> None:
    """They are composed into one reason. kcoord 0.1.0 could not write that, at each start again, and noticed nobody's
    death in the partition meanwhile.
    """
    kcoord = Kcoord(tmp_path, None, (), {**ONE_PARTITION, "group.max.id.length": 32_767}).start()
    try:
        for letter in "abc":
            assert await join(kcoord.bootstrap, "poisoned", letter * 11_000) == ErrorCode.NONE
        assert await join(kcoord.bootstrap, "other", "dies") == ErrorCode.NONE
        kcoord.kill()
        kcoord.settings = ONE_PARTITION
        kcoord.start()
        for group in ("poisoned", "other"):
            await until(partial(_is_empty, kcoord.bootstrap, group), f"the deaths in {group} are noticed")
        assert await join(kcoord.bootstrap, "poisoned", "d" * 11_000) == ErrorCode.INVALID_REQUEST
        assert "fault" not in kcoord.log.read_text()
    finally:
        kcoord.remove()


async def _is_empty(bootstrap: str, group: str) -> bool:
    return await members(bootstrap, group) == 0
