"""Whatever bytes arrive, they end their own connection at most: no error inside, no state touched, nobody disturbed."""

from __future__ import annotations

import asyncio
import logging
import random
from pathlib import Path

import pytest

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    ApiVersionsRequest,
    DeleteGroupsRequest,
    DescribeGroupsRequest,
    FindCoordinatorRequest,
    HeartbeatRequest,
    LeaveGroupRequest,
    ListGroupsRequest,
    MetadataRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
    Request,
    SyncGroupRequest,
)
from tests.kafka.wait import DEADLINE_S
from tests.server.harness import Client, standalone
from tests.server.members import Member

SEEDS = range(8)
FRAMES = 250
SEEDLINGS: list[tuple[Request, int]] = [
    (ApiVersionsRequest(client_software_name="fuzz", client_software_version="1"), 4),
    (MetadataRequest(topics=[]), 9),
    (FindCoordinatorRequest(coordinator_keys=["a", "b"]), 4),
    (HeartbeatRequest(group_id="fuzzed", generation_id=1, member_id="m"), 4),
    (SyncGroupRequest(group_id="fuzzed", generation_id=1, member_id="m"), 5),
    (LeaveGroupRequest(group_id="fuzzed"), 5),
    (DescribeGroupsRequest(groups=["fuzzed"]), 5),
    (ListGroupsRequest(states_filter=["Stable"]), 5),
    (DeleteGroupsRequest(groups_names=["fuzzed"]), 2),
    (OffsetCommitRequest(group_id="fuzzed"), 9),
    (OffsetFetchRequest(group_id="fuzzed", topics=None), 5),
]


def mutated(chance: random.Random, frame: bytes) -> bytes:
    """`frame` with bytes changed, cut, added or put twice, its size prefix sometimes true and sometimes a lie."""
    data = bytearray(frame[4:])
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(data)) if data else 0
        match chance.randrange(5):
            case 0 if data:
                data[at] = chance.randrange(256)
            case 1 if data:
                data[at : at + 4] = chance.choice([b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff", b"\x80\x00\x00\x00"])
            case 2:
                del data[at:]
            case 3:
                data[at:at] = chance.randbytes(chance.randint(1, 40))
            case _:
                data[at:at] = data[: chance.randint(0, 30)]
    size = len(data) if chance.random() < 0.8 else chance.randrange(-(1 << 31), 1 << 31)
    return size.to_bytes(4, "big", signed=True) + bytes(data)


@pytest.mark.parametrize("seed", SEEDS)
async def test_mutated_frames_disturb_nobody(seed: int, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    chance = random.Random(seed)
    async with standalone(tmp_path) as kcoord, await Client.connect(kcoord.port) as quiet:
        member = await Member.joined(quiet, "quiet")
        for _ in range(FRAMES):
            async with await Client.connect(kcoord.port) as bad:
                request, version = chance.choice(SEEDLINGS)
                bad.writer.write(mutated(chance, bad.frame(request, version)[1]))
                bad.writer.write_eof()
                # the server closes: nothing hangs on what was only claimed
                await asyncio.wait_for(bad.reader.read(), DEADLINE_S)
        assert (await member.heartbeat()).error_code == ErrorCode.NONE
        assert await member.sync() == ErrorCode.NONE
    inside = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR or record.exc_info]
    assert inside == []
