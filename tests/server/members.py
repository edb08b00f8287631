"""A scripted member of a classic group, as a client's background thread would drive it."""

from __future__ import annotations

import attrs

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.generated.sync_group_request import SyncGroupRequestAssignment
from kcoord.protocol.messages import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from tests.server.harness import Client


@attrs.define
class Member:
    """One member: joins (with the handshake of KIP-394), syncs as leader or follower, heartbeats."""

    client: Client
    group_id: str
    member_id: str = ""
    generation: int = -1
    assignment: bytes = b""
    session_timeout_ms: int = 30_000

    @classmethod
    async def joined(cls, client: Client, group_id: str, session_timeout_ms: int = 30_000) -> Member:
        member = cls(client, group_id, session_timeout_ms=session_timeout_ms)
        await member.rejoin()
        return member

    def join_request(self) -> JoinGroupRequest:
        return JoinGroupRequest(
            group_id=self.group_id,
            session_timeout_ms=self.session_timeout_ms,
            rebalance_timeout_ms=30_000,
            member_id=self.member_id,
            protocol_type="test",
            protocols=[JoinGroupRequestProtocol(name="p", metadata=b"meta")],
        )

    async def rejoin(self) -> None:
        """Join and sync until this member is in a stable generation."""
        while True:
            joined = await self.client.ask(self.join_request(), 9)
            assert isinstance(joined, JoinGroupResponse)
            self.member_id = joined.member_id
            if joined.error_code in (ErrorCode.MEMBER_ID_REQUIRED, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS):
                continue
            assert joined.error_code == ErrorCode.NONE, ErrorCode(joined.error_code)
            self.generation = joined.generation_id
            error = await self.sync(joined)
            if error == ErrorCode.NONE:
                return
            assert error == ErrorCode.REBALANCE_IN_PROGRESS, error

    async def sync(self, joined: JoinGroupResponse | None = None) -> ErrorCode:
        """Take the assignment; who leads the members of `joined` gives each its own member id."""
        request = SyncGroupRequest(
            group_id=self.group_id,
            generation_id=self.generation,
            member_id=self.member_id,
            protocol_type="test",
            protocol_name="p",
            assignments=[
                SyncGroupRequestAssignment(member_id=each.member_id, assignment=each.member_id.encode())
                for each in (joined.members if joined else [])
            ],
        )
        synced = await self.client.ask(request, 5)
        assert isinstance(synced, SyncGroupResponse)
        self.assignment = synced.assignment
        return ErrorCode(synced.error_code)

    def heartbeat_request(self) -> HeartbeatRequest:
        return HeartbeatRequest(group_id=self.group_id, generation_id=self.generation, member_id=self.member_id)

    async def heartbeat(self) -> HeartbeatResponse:
        answer = await self.client.ask(self.heartbeat_request(), 4)
        assert isinstance(answer, HeartbeatResponse)
        return answer
