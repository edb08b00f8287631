"""What has very many elements is gone through some at a time, with others' turns in between; counted, not timed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kcoord.group.apis.connect_group_describe import _entry
from kcoord.group.request_limits import LARGE_FRAME
from kcoord.group.request_slices import ROWS
from kcoord.group.shard import Shard
from kcoord.loop.turn_queue import TurnQueue
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.connect_group_heartbeat_request import ConnectorsAndTasks, ConnectorTaskId
from kcoord.protocol.generated.connect_worker_group_history_value import ConnectorsTasks as RecordedResources
from kcoord.protocol.generated.connect_worker_group_history_value import ConnectorTaskId as RecordedTask
from kcoord.protocol.generated.connect_worker_group_history_value import Move as RecordedMove
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.generated.metadata_request import MetadataRequestTopic
from kcoord.protocol.generated.offset_commit_request import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kcoord.protocol.generated.offset_fetch_request import OffsetFetchRequestGroup
from kcoord.protocol.messages import (
    ApiVersionsRequest,
    ConnectGroupDescribeRequest,
    ConnectGroupDescribeResponse,
    ConnectGroupHeartbeatRequest,
    DescribeGroupsRequest,
    LeaveGroupRequest,
    ListGroupsRequest,
    MetadataRequest,
    MetadataResponse,
    OffsetCommitRequest,
    OffsetFetchRequest,
)
from kcoord.protocol.records import ConnectWorkerGroupHistoryValue
from kcoord.protocol.resources import pack, unpack
from kcoord.protocol.sliced_encoding import ELEMENTS_AT_ONCE, LARGE_ARRAYS, count_elements
from kcoord.resource import CONNECTOR
from kcoord.server.connections import group_list
from tests.server.harness import Client, Running, standalone

OFFSETS = 3 * ROWS + 7
SOME = 10


async def commit(client: Client, group: str, topics: dict[str, int]) -> None:
    request = OffsetCommitRequest(
        group_id=group,
        topics=[
            OffsetCommitRequestTopic(
                topic, partitions=[OffsetCommitRequestPartition(at, at, committed_metadata="") for at in range(count)]
            )
            for topic, count in topics.items()
        ],
    )
    answer: Any = await client.ask(request, 8)
    assert {each.error_code for topic in answer.topics for each in topic.partitions} == {ErrorCode.NONE}


@pytest.mark.parametrize("version", [7, 9])
async def test_all_offsets_of_a_group_are_fetched_some_at_a_time(
    version: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[int] = []
    handle = Shard.handle

    def counted(self: Shard, request: Any, *rest: Any) -> Any:
        if isinstance(request, OffsetFetchRequest):
            topics = request.groups[0].topics if request.groups else request.topics
            fetched.append(sum(len(each.partition_indexes) for each in topics or []))
        return handle(self, request, *rest)

    monkeypatch.setattr(Shard, "handle", counted)
    stored = {"a": 3, "large": OFFSETS, "b": 1}
    async with standalone(tmp_path) as running, await Client.connect(running.port) as client:
        await commit(client, "g", stored)
        if version < 8:
            answer: Any = await client.ask(OffsetFetchRequest(group_id="g", topics=None), version)
            topics = answer.topics
        else:
            answer = await client.ask(OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=None)]), version)
            topics = answer.groups[0].topics
        assert {each.name: [p.committed_offset for p in each.partitions] for each in topics} == {
            topic: list(range(count)) for topic, count in stored.items()
        }
    assert len(topics) == len(stored), "each topic once"
    assert len(fetched) == OFFSETS // ROWS + 1
    assert max(fetched) <= ROWS


async def test_very_many_groups_are_listed_some_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_list, "ROWS", SOME)
    listed: list[int] = []
    list_groups = Shard.list_groups

    def counted(self: Shard, request: ListGroupsRequest, group_ids: Any) -> Any:
        listed.append(len(group_ids))
        return list_groups(self, request, group_ids)

    monkeypatch.setattr(Shard, "list_groups", counted)
    async with standalone(tmp_path) as running, await Client.connect(running.port) as client:
        names = [f"g{at}" for at in range(5 * SOME)]
        for name in names:
            await commit(client, name, {"t": 1})
        slices = running.coordinator.turns.slices
        answer: Any = await client.ask(ListGroupsRequest(), 4)
        assert sorted(each.group_id for each in answer.groups) == sorted(names)
        assert max(listed) <= SOME
        assert running.coordinator.turns.slices - slices >= 5 - 1
        answer = await client.ask(ListGroupsRequest(states_filter=["Stable"]), 4)
        assert answer.groups == []


async def test_a_large_request_and_a_large_answer_wait_between_their_steps(tmp_path: Path) -> None:
    topics = [MetadataRequestTopic(name=f"topic-{at}") for at in range(5 * ELEMENTS_AT_ONCE)]
    async with standalone(tmp_path) as running, await Client.connect(running.port) as client:
        turns = turns_of(running)
        small, before = 0, turns.slices
        await client.ask(MetadataRequest(topics=topics[:10]), 9)
        small = turns.slices - before
        assert small == 0, "what is small does not wait"
        answer: Any = await client.ask(MetadataRequest(topics=topics), 9)
        assert [each.name for each in answer.topics] == [each.name for each in topics]
        counted, decoded, carried_out, written = 1, 1, 1, 2 + len(topics) // ELEMENTS_AT_ONCE + 1
        assert turns.slices - before >= counted + decoded + carried_out + written


async def test_no_answer_has_more_elements_written_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []
    encode = MetadataResponse.encode

    def counted(self: MetadataResponse, version: int) -> bytes:
        written.append(count_elements(self, {"topics": {}}))
        return encode(self, version)

    monkeypatch.setattr(MetadataResponse, "encode", counted)
    topics = [MetadataRequestTopic(name=f"topic-{at}") for at in range(5 * ELEMENTS_AT_ONCE)]
    async with standalone(tmp_path) as running, await Client.connect(running.port) as client:
        await client.ask(MetadataRequest(topics=topics), 9)
    assert max(written) == ELEMENTS_AT_ONCE
    assert sum(written) == len(topics)


async def test_one_worker_that_runs_very_much_is_described_some_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[int] = []
    encode = ConnectGroupDescribeResponse.encode

    def counted(self: ConnectGroupDescribeResponse, version: int) -> bytes:
        written.append(count_elements(self, LARGE_ARRAYS[ConnectGroupDescribeResponse]))
        return encode(self, version)

    tasks = frozenset((f"c{at}", CONNECTOR) for at in range(ELEMENTS_AT_ONCE))
    tasks |= frozenset(("c0", at) for at in range(5 * ELEMENTS_AT_ONCE))
    async with standalone(tmp_path) as running, await Client.connect(running.port) as client:
        join = ConnectGroupHeartbeatRequest(
            group_id="g",
            member_id="w",
            member_epoch=0,
            rebalance_timeout_ms=60_000,
            server_assignor="uniform",
            connectors_and_tasks=[],
            config_offset=1,
            configured_connectors_and_tasks=pack(tasks, ConnectorsAndTasks, ConnectorTaskId),
        )
        joined: Any = await client.ask(join, 0)
        assert joined.error_code == ErrorCode.NONE
        monkeypatch.setattr(ConnectGroupDescribeResponse, "encode", counted)
        answer: Any = await client.ask(ConnectGroupDescribeRequest(["g"]), 0)
    group = answer.groups[0]
    assert unpack(group.members[0].owned) == unpack(group.members[0].target) == unpack(group.configured) == tasks
    assert max(written) <= ELEMENTS_AT_ONCE + len(("group", "history entry", "move", "entry"))
    assert sum(written) >= 3 * len(tasks), "what it runs, its target and what is configured"


def test_a_history_counts_all_that_has_moved() -> None:
    entry = ConnectWorkerGroupHistoryValue(
        moves=[RecordedMove("a", "b", [RecordedResources(["c1", "c2"], [RecordedTask("c1", 0)])])]
    )
    moves: Any = _entry(7, entry).moves
    assert moves.elements == len(("the move", "c1", "c2", "c1-0"))
    assert [(each.from_, each.to, unpack(each.connectors_and_tasks)) for each in moves] == [
        ("a", "b", frozenset({("c1", CONNECTOR), ("c2", CONNECTOR), ("c1", 0)}))
    ]


@pytest.mark.parametrize("kind", [DescribeGroupsRequest, ConnectGroupDescribeRequest])
async def test_groups_are_described_one_by_one(kind: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few large groups make a large answer."""
    asked: list[int] = []
    handle = Shard.handle

    def counted(self: Shard, request: Any, *rest: Any) -> Any:
        asked.append(turns.slices)
        return handle(self, request, *rest)

    monkeypatch.setattr(Shard, "handle", counted)
    async with standalone(tmp_path) as running, await Client.connect(running.port) as client:
        turns = turns_of(running)
        request = kind(["a", "b", "a", "c"])
        answer: Any = await client.ask(request, kind.MAX_VERSION)
    assert [each.group_id for each in answer.groups] == ["a", "b", "a", "c"]
    assert len(set(asked)) == 4, "two groups had the same slice"


async def test_a_large_request_counts_whose_client_has_gone(tmp_path: Path) -> None:
    members = [MemberIdentity("nobody-of-that-name", None, None) for _ in range(2 * ROWS)]
    async with standalone(tmp_path) as running, await Client.connect(running.port) as other:
        gone = await Client.connect(running.port)
        _, frame = gone.frame(
            OffsetCommitRequest(
                group_id="g",
                topics=[
                    OffsetCommitRequestTopic(
                        "t",
                        partitions=[
                            OffsetCommitRequestPartition(at, 1, committed_metadata="x" * 40) for at in range(ROWS)
                        ],
                    )
                ],
            ),
            8,
        )
        assert len(frame) > LARGE_FRAME
        gone.writer.write(frame)
        await gone.close()
        left: Any = await other.ask(LeaveGroupRequest(group_id="g", members=members), 4)
        assert len(left.members) == len(members)
        fetch = OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=None)])
        answer: Any = await other.ask(fetch, 9)
        while not answer.groups[0].topics:
            await other.ask(ApiVersionsRequest(), 0)
            answer = await other.ask(fetch, 9)
        assert len(answer.groups[0].topics[0].partitions) == ROWS


async def test_all_who_give_way_share_a_turn() -> None:
    ticks: Iterator[float] = iter(range(1000))
    queue = TurnQueue(clock=lambda: next(ticks))
    for _ in range(5):
        await queue.give_way()
    assert queue.slices == 2, "each tick of this clock is longer than a turn may be: every other one waits"
    queue = TurnQueue(clock=lambda: 0.0)
    for _ in range(5):
        await queue.give_way()
    assert queue.slices == 0


def turns_of(running: Running) -> TurnQueue:
    return running.server.turns
