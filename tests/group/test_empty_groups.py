"""Groups without members and offsets do not pile up, whoever makes them."""

from __future__ import annotations

import attrs
import pytest

from kcoord.group import expiry
from kcoord.group.state.settings import MINUTE_MS, GroupSettings
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.generated.offset_commit_request import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kcoord.protocol.messages import ConnectGroupHeartbeatRequest, JoinGroupRequest, OffsetCommitRequest
from kcoord.protocol.records import OffsetCommitKey, OffsetCommitValue, Record
from tests.group.world import World

JOIN = ConnectGroupHeartbeatRequest(
    "", "w", 0, rebalance_timeout_ms=30_000, connectors_and_tasks=[], server_assignor="uniform"
)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(expiry, "MOST_EMPTY", 3)
    return 3


def come_and_go(world: World, group_id: str) -> None:
    world.call(attrs.evolve(JOIN, group_id=group_id), 0)
    world.call(ConnectGroupHeartbeatRequest(group_id, "w", -1), 0)
    world.advance_to(world.now_ms + 1)


def test_of_too_many_empty_connect_groups_the_oldest_are_forgotten(few: int) -> None:
    world = World(GroupSettings(initial_rebalance_delay_ms=0))
    for number in range(8):
        come_and_go(world, f"c{number}")
    world.call(attrs.evolve(JOIN, group_id="lives"), 0)
    for _ in range(30):
        world.advance_to(world.now_ms + MINUTE_MS // 2)
        world.call(ConnectGroupHeartbeatRequest("lives", "w", world.state.connect["lives"].members["w"].epoch), 0)
    assert sorted(world.state.connect) == ["c5", "c6", "c7", "lives"]
    world.crash()
    assert sorted(world.state.connect) == ["c5", "c6", "c7", "lives"]


def test_those_that_are_not_too_many_stay_for_the_retention_time(few: int) -> None:
    world = World(GroupSettings(initial_rebalance_delay_ms=0))
    for number in range(few):
        come_and_go(world, f"c{number}")
    world.advance_to(world.now_ms + 60 * MINUTE_MS)
    assert len(world.state.connect) == few


def test_offsets_keep_their_group(few: int) -> None:
    world = World(GroupSettings(initial_rebalance_delay_ms=0))
    for number in range(8):
        come_and_go(world, f"c{number}")
    world.log.append(Record(OffsetCommitKey("c0", "t", 0), OffsetCommitValue(1, commit_timestamp=2**60)))
    world.crash()
    world.advance_to(world.now_ms + 20 * MINUTE_MS)
    assert sorted(world.state.connect) == ["c0", "c5", "c6", "c7"]


def test_a_classic_group_without_members_and_offsets_goes_at_the_next_check() -> None:
    world = World(GroupSettings(initial_rebalance_delay_ms=0))
    protocols = [JoinGroupRequestProtocol("range", b"m")]
    for group_id in ("gone", "kept"):
        world.call(JoinGroupRequest(group_id, 10_000, 10_000, "", None, "consumer", protocols), 3)
    world.advance_to(world.now_ms + MINUTE_MS)
    topics = [
        OffsetCommitRequestTopic(name="t", partitions=[OffsetCommitRequestPartition(0, 1, committed_metadata="")])
    ]
    world.call(OffsetCommitRequest("kept", -1, "", topics=topics), 9)
    assert list(world.state.groups) == ["gone", "kept"]
    world.advance_to(world.now_ms + 20 * MINUTE_MS)
    assert list(world.state.groups) == ["kept"]
