"""A client of the tests' own that does exactly what it is told: requests of a chosen version, raw frames, group
members."""

from __future__ import annotations

import asyncio
import struct
import time
from collections.abc import Callable
from typing import Any, TypeVar

import attrs

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.generated.metadata_request import MetadataRequestTopic
from kcoord.protocol.generated.offset_commit_request import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kcoord.protocol.generated.offset_delete_request import OffsetDeleteRequestPartition, OffsetDeleteRequestTopic
from kcoord.protocol.generated.sync_group_request import SyncGroupRequestAssignment
from kcoord.protocol.messages import (
    DescribeGroupsRequest,
    FindCoordinatorRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    MetadataRequest,
    OffsetCommitRequest,
    OffsetDeleteRequest,
    Request,
    SyncGroupRequest,
)
from tests.kafka.wait import DEADLINE_S
from tests.server.harness import Client

T = TypeVar("T")


_open: list[Client] = []


async def connect(where: str | int) -> Client:
    """A connection to a port, or to the first address of "host:port,…"; closed at the end of the test at the latest."""
    port = where if isinstance(where, int) else int(where.split(",")[0].rpartition(":")[2])
    _open.append(await Client.connect(port))
    return _open[-1]


async def close_all() -> None:
    """Close whatever the test has left open."""
    while _open:
        await _open.pop().close()


async def ask(client: Client, request: Request, version: int | None = None) -> Any:
    """The answer to a request, in its highest version or the one given."""
    async with asyncio.timeout(DEADLINE_S):
        return await client.ask(request, request.MAX_VERSION if version is None else version)


async def until(probe: Callable[[], Any], what: str, *, every_s: float = 0.05) -> Any:
    """The first true answer of an async probe. Raises AssertionError after the tests' deadline."""
    end = time.monotonic() + DEADLINE_S
    while True:
        seen = await probe()
        if seen:
            return seen
        assert time.monotonic() < end, f"{what}: not so after {DEADLINE_S:.0f} s; last seen: {seen!r}"
        await asyncio.sleep(every_s)


async def coordinator_port(bootstrap: str, group: str) -> int:
    """The port at which that group's coordinator is, once there is one."""
    client = await connect(bootstrap)

    async def find() -> int:
        found = (await ask(client, FindCoordinatorRequest(key_type=0, coordinator_keys=[group]))).coordinators[0]
        return int(found.port) if found.error_code == ErrorCode.NONE else 0

    try:
        return int(await until(find, f"coordinator of {group}"))
    finally:
        await client.close()


async def topic_id(client: Client, topic: str) -> bytes:
    """The id of a topic, for requests that name topics so."""
    metadata = await ask(client, MetadataRequest(topics=[MetadataRequestTopic(name=topic)]))
    found: bytes = metadata.topics[0].topic_id
    return found


def subscription(*topics: str) -> bytes:
    """A consumer's metadata, version 0: what it subscribes to."""
    names = b"".join(struct.pack(">h", len(topic)) + topic.encode() for topic in topics)
    return struct.pack(">hi", 0, len(topics)) + names + struct.pack(">i", -1)


@attrs.define(eq=False)
class ScriptedMember:
    """A member of a classic group that makes one step at a time."""

    client: Client
    group: str
    protocol_type: str = "consumer"
    protocol: str = "range"
    metadata: bytes = attrs.field(factory=lambda: subscription("some-topic"))
    session_ms: int = 45_000
    rebalance_ms: int = 30_000
    instance: str | None = None
    member_id: str = ""
    generation: int = -1
    leads: bool = False

    @classmethod
    async def at(cls, bootstrap: str, group: str, **options: Any) -> ScriptedMember:
        """A member that is connected to the group's coordinator and has not joined."""
        return cls(await connect(await coordinator_port(bootstrap, group)), group, **options)

    async def join(self) -> JoinGroupResponse:
        """One JoinGroup that succeeds: again where a member id, or a moment, is needed first."""
        is_new = not self.member_id

        async def attempt() -> JoinGroupResponse | None:
            joined = await self.try_join()
            if joined.error_code == ErrorCode.MEMBER_ID_REQUIRED:
                self.member_id = joined.member_id
                joined = await self.try_join()
            error = ErrorCode(joined.error_code)
            if is_new and error == ErrorCode.UNKNOWN_MEMBER_ID:
                self.member_id = ""  # a broker that is only just coordinator may forget whom it has given an id
                return None
            assert error == ErrorCode.NONE or error.retriable, error.name
            return None if error else joined

        joined: JoinGroupResponse = await until(attempt, f"{self.group} joined")
        self.member_id, self.generation = joined.member_id, joined.generation_id
        self.leads = joined.leader == joined.member_id
        return joined

    def join_request(self) -> JoinGroupRequest:
        return JoinGroupRequest(
            group_id=self.group,
            session_timeout_ms=self.session_ms,
            rebalance_timeout_ms=self.rebalance_ms,
            member_id=self.member_id,
            group_instance_id=self.instance,
            protocol_type=self.protocol_type,
            protocols=[JoinGroupRequestProtocol(name=self.protocol, metadata=self.metadata)],
        )

    async def try_join(self, version: int | None = None) -> JoinGroupResponse:
        """One JoinGroup, whatever comes of it."""
        answer: JoinGroupResponse = await ask(self.client, self.join_request(), version)
        return answer

    async def sync(self, assignments: dict[str, bytes] | None = None) -> Any:
        """SyncGroup; the leader assigns."""
        given = {self.member_id: b"all"} if assignments is None and self.leads else assignments or {}
        return await ask(
            self.client,
            SyncGroupRequest(
                group_id=self.group,
                generation_id=self.generation,
                member_id=self.member_id,
                group_instance_id=self.instance,
                protocol_type=self.protocol_type,
                protocol_name=self.protocol,
                assignments=[SyncGroupRequestAssignment(member_id=who, assignment=what) for who, what in given.items()],
            ),
        )

    async def join_and_sync(self) -> None:
        """Become a stable member of a group of its own."""
        await self.join()
        synced = await self.sync()
        assert synced.error_code == ErrorCode.NONE

    def heartbeat_request(self) -> HeartbeatRequest:
        return HeartbeatRequest(
            group_id=self.group,
            generation_id=self.generation,
            member_id=self.member_id,
            group_instance_id=self.instance,
        )

    async def heartbeat(self) -> ErrorCode:
        return ErrorCode((await ask(self.client, self.heartbeat_request())).error_code)

    def commit_request(self, topic: str, offset: int, *, topic_id: bytes = bytes(16)) -> OffsetCommitRequest:
        partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
        return OffsetCommitRequest(
            group_id=self.group,
            generation_id_or_member_epoch=self.generation,
            member_id=self.member_id,
            group_instance_id=self.instance,
            topics=[OffsetCommitRequestTopic(name=topic, topic_id=topic_id, partitions=[partition])],
        )

    async def commit(self, topic: str, offset: int, version: int = 9) -> ErrorCode:
        """OffsetCommit of partition 0."""
        answer = await ask(self.client, self.commit_request(topic, offset), version)
        return ErrorCode(answer.topics[0].partitions[0].error_code)

    async def leave(self, reason: str | None = None) -> ErrorCode:
        identity = MemberIdentity(member_id=self.member_id, group_instance_id=self.instance, reason=reason)
        left = await ask(self.client, LeaveGroupRequest(group_id=self.group, members=[identity]))
        return ErrorCode(left.error_code or left.members[0].error_code)

    async def close(self) -> None:
        await self.client.close()


def forgetting(group: str, *topics: str) -> OffsetDeleteRequest:
    """The request that deletes a group's offsets of partition 0 of these topics."""
    partitions = [OffsetDeleteRequestPartition(0)]
    return OffsetDeleteRequest(group_id=group, topics=[OffsetDeleteRequestTopic(each, partitions) for each in topics])


async def describe(client: Client, group: str) -> Any:
    """One group as DescribeGroups v5 tells it."""
    return (await ask(client, DescribeGroupsRequest(groups=[group]), 5)).groups[0]
