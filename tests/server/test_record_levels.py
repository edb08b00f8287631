"""A coordinator writes what every living instance reads, and says in a line what it cannot read itself."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kcoord.log.embedded import EmbeddedLog
from kcoord.log.interface import StoredRecord
from kcoord.protocol import record_levels
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.offset_commit_request import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kcoord.protocol.messages import HeartbeatRequest, HeartbeatResponse, OffsetCommitRequest, OffsetCommitResponse
from kcoord.protocol.records import OffsetCommitKey
from kcoord.server.shards.shard_phase import ShardPhase
from tests.server.harness import Client, Running, over, standalone

GROUP = "g"
NEWER = b"\0\x63\0\1g"
"""The key of a record of type 99."""


async def written(folder: Path) -> list[tuple[bytes, bytes | None]]:
    """The log of a coordinator that has stopped."""
    log = EmbeddedLog(folder, partitions=4)
    await log.open()
    try:
        return [(key, value) for at in range(4) async for chunk in log.load(at) for _, key, value in chunk]
    finally:
        await log.close()


async def commit(running: Running, offset: int) -> int:
    """What a commit is answered."""
    partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
    topic = OffsetCommitRequestTopic(name="t", partitions=[partition])
    async with await Client.connect(running.port) as client:
        answer = await client.ask(OffsetCommitRequest(GROUP, topics=[topic]), 8)
    assert isinstance(answer, OffsetCommitResponse)
    return answer.topics[0].partitions[0].error_code


@pytest.mark.parametrize(("level", "version"), [(0, 3), (1, 4)])
async def test_values_are_written_as_all_instances_read_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, level: int, version: int
) -> None:
    monkeypatch.setitem(record_levels.VALUE_LEVELS, (OffsetCommitKey.API_KEY, 4), 1)
    async with standalone(tmp_path) as running:
        running.coordinator.write_at_level(level)
        assert await commit(running, 7) == ErrorCode.NONE
    [value] = [value for key, value in await written(tmp_path) if key[1] == OffsetCommitKey.API_KEY]
    assert value is not None
    assert value[1] == version


async def test_a_shard_that_is_loaded_again_keeps_its_level(tmp_path: Path) -> None:
    async with standalone(tmp_path) as running:
        running.coordinator.write_at_level(0)
        host = running.coordinator._hosts[0]
        await host.lose()
        await host.gain()
        assert host.state is ShardPhase.ACTIVE
        assert host.shard.record_level == 0


async def test_a_partition_of_a_newer_kcoord_is_one_line_and_no_retry(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = EmbeddedLog(tmp_path, partitions=4)
    await log.open()
    async for _ in log.load(2):
        pass
    await log.append(2, [(NEWER, b"\0\0")])
    await log.close()
    loads: list[int] = []
    load = EmbeddedLog.load

    def counted(log: EmbeddedLog, partition: int) -> AsyncIterator[list[StoredRecord]]:
        loads.append(partition)
        return load(log, partition)

    monkeypatch.setattr(EmbeddedLog, "load", counted)
    with caplog.at_level(logging.WARNING, "kcoord"):
        async with over(EmbeddedLog(tmp_path, partitions=4)) as running, await Client.connect(running.port) as client:
            mine = next(name for name in map(str, range(99)) if running.coordinator.partition_of(name) == 2)
            for _ in range(3):
                answer = await client.ask(HeartbeatRequest(mine, 1, "m"), 4)
                assert isinstance(answer, HeartbeatResponse)
                assert answer.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
            assert running.coordinator.unreadable() == {2}
            assert await commit(running, 7) == ErrorCode.NONE, "the other partitions are served"
    assert loads == [0, 1, 2, 3]
    [line] = [record.getMessage() for record in caplog.records if "partition 2" in record.getMessage()]
    assert line.startswith("partition 2 is not served: its record at offset ")
    assert line.endswith("A newer kcoord wrote it: start that one, or a newer one still, instead of this")
