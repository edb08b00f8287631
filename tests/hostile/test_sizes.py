"""A client whose names, metadata and counts are too large is refused, and others and the disk do not notice."""

from __future__ import annotations

from collections.abc import Callable

import attrs

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.generated.offset_commit_request import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kcoord.protocol.messages import JoinGroupRequest, JoinGroupResponse, OffsetCommitRequest, OffsetCommitResponse
from tests.gateway.scripted import ScriptedMember, ask, connect, coordinator_port
from tests.kafka.kcoord_process import Kcoord
from tests.server.members import Member

JOIN = JoinGroupRequest(
    "large", 30_000, 30_000, "", None, "consumer", [JoinGroupRequestProtocol("range", b"m" * (20 << 20))]
)


def bytes_on_disk(kcoord: Kcoord) -> int:
    return sum(path.stat().st_size for path in kcoord.data.rglob("*") if path.is_file())


async def test_ten_join_groups_of_20_mb_write_nothing(kcoord: Kcoord) -> None:
    other = await ScriptedMember.at(kcoord.bootstrap, "other")
    await other.join_and_sync()
    hostile = await connect(await coordinator_port(kcoord.bootstrap, "large-0"))
    before = bytes_on_disk(kcoord)
    for number in range(10):
        response = await ask(hostile, attrs.evolve(JOIN, group_id=f"large-{number}"))
        assert response.error_code == ErrorCode.INVALID_REQUEST
    assert bytes_on_disk(kcoord) - before < 1 << 20
    assert await other.heartbeat() == ErrorCode.NONE
    kcoord.wait_for_line("group.max.member.metadata.bytes")


async def test_ids_as_long_as_the_protocol_has_them_are_refused(kcoord: Kcoord) -> None:
    hostile = await connect(await coordinator_port(kcoord.bootstrap, "large"))
    small = attrs.evolve(JOIN, protocols=[JoinGroupRequestProtocol("range", b"m")])
    for request in (
        attrs.evolve(small, member_id="m" * 32_767),
        attrs.evolve(small, group_instance_id="i" * 32_767),
        attrs.evolve(small, protocol_type="p" * 32_767),
    ):
        assert (await ask(hostile, request)).error_code == ErrorCode.INVALID_REQUEST


async def test_who_creates_groups_too_fast_is_put_off_alone(start_kcoord: Callable[..., Kcoord]) -> None:
    kcoord = start_kcoord("alone", **{"max.group.creation.burst": 20, "max.group.creation.rate": 1})
    hostile, other = await connect(kcoord.bootstrap), await connect(kcoord.bootstrap)
    small = attrs.evolve(JOIN, protocols=[JoinGroupRequestProtocol("range", b"m")])
    errors = []
    for number in range(60):
        response = await ask(hostile, attrs.evolve(small, group_id=f"new-{number}"))
        assert isinstance(response, JoinGroupResponse)
        errors.append(ErrorCode(response.error_code))
    assert errors[:20] == [ErrorCode.MEMBER_ID_REQUIRED] * 20
    assert errors[20:].count(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS) >= 20
    assert (await Member.joined(other, "other")).generation == 1
    kcoord.wait_for_line("max.group.creation.rate")


async def test_the_longest_retention_is_kept_and_its_partition_goes_on(start_kcoord: Callable[..., Kcoord]) -> None:
    kcoord = start_kcoord("alone", **{"offsets.topic.num.partitions": 1})
    other = await Member.joined(await connect(kcoord.bootstrap), "other")
    topics = [
        OffsetCommitRequestTopic(name="t", partitions=[OffsetCommitRequestPartition(0, 7, committed_metadata="")])
    ]
    request = OffsetCommitRequest("kept", -1, "", retention_time_ms=2**63 - 1, topics=topics)
    response = await ask(await connect(kcoord.bootstrap), request, 4)
    assert isinstance(response, OffsetCommitResponse)
    assert response.topics[0].partitions[0].error_code == ErrorCode.NONE
    assert (await other.heartbeat()).error_code == ErrorCode.NONE
