"""What are requests answered while the group that they are for is still being loaded?

COORDINATOR_LOAD_IN_PROGRESS, on which clients ask again; but Java's client takes that for fatal in two places.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    ConnectGroupHeartbeatRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    Request,
    SyncGroupRequest,
)
from kcoord.server.shards.shard_phase import ShardPhase
from tests.server.harness import Client, standalone

EXPECTED: list[tuple[Request, ErrorCode]] = [
    (JoinGroupRequest("g"), ErrorCode.COORDINATOR_LOAD_IN_PROGRESS),
    (ConnectGroupHeartbeatRequest("g", "m", 1), ErrorCode.COORDINATOR_LOAD_IN_PROGRESS),
    (SyncGroupRequest("g", 1, "m"), ErrorCode.REBALANCE_IN_PROGRESS),
    (HeartbeatRequest("g", 1, "m"), ErrorCode.NONE),
]


@pytest.mark.parametrize(("asked", "error"), EXPECTED, ids=lambda each: getattr(each, "NAME", ""))
async def test_while_a_group_loads(tmp_path: Path, asked: Request, error: ErrorCode) -> None:
    async with standalone(tmp_path) as running, await Client.connect(running.port) as client:
        host = running.coordinator._hosts[running.coordinator.partition_of("g")]
        host.state = ShardPhase.LOADING
        answer: Any = await client.ask(asked, asked.MAX_VERSION)
        host.state = ShardPhase.ACTIVE
        assert ErrorCode(answer.error_code) == error
