"""How does the load generator bring members into stable groups?

Each member has a connection of its own and does what a real one does: it joins with the member id that it was given
(KIP-394), syncs, the leader hands out assignments, and it joins again when a heartbeat says so. A group is settled
when all of its members are in one generation.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import attrs

from bench.lines import Asking
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.generated.sync_group_request import SyncGroupRequestAssignment
from kcoord.protocol.messages import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)

JOIN_VERSION, SYNC_VERSION, HEARTBEAT_VERSION, FIND_VERSION = 9, 5, 4, 4
PROTOCOL_TYPE, PROTOCOL = "consumer", "range"
SESSION_MS = 600_000
REBALANCE_MS = 60_000
METADATA = bytes.fromhex("0003 0000 0001 0005") + b"bench" + bytes.fromhex("ffff ffff 0000 0000 ffff ffff ffff")
"""A consumer's subscription to one topic."""
ASSIGNMENT = bytes.fromhex("0003 0000 0001 0005") + b"bench" + bytes.fromhex("0000 0001 0000 0000 ffff ffff")
"""One partition of that topic."""
POLL_S = 0.1
AGAIN = (ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.ILLEGAL_GENERATION)
NOT_YET = (
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
)
"""A broker that has just started says these until its partitions of the offsets topic are there."""
SETTLE_DEADLINE_S = 180.0


class Unexpected(Exception):
    """The server gave an answer that a member of a settled group must not get."""


@attrs.define(slots=True, eq=False)
class Member:
    """One member of a group, on a connection of its own."""

    line: Asking
    group_id: str
    id: str = ""
    generation: int = -1
    size: int = 0
    """Members in the generation, as the leader was told; 0 for others."""

    async def join(self) -> JoinGroupResponse:
        """Join, first without a member id, until a generation is there. Raises Unexpected."""
        while True:
            joined = await self.line.ask(self._join_request(), JOIN_VERSION, JoinGroupResponse)
            if joined.error_code == ErrorCode.MEMBER_ID_REQUIRED:
                self.id = joined.member_id
            elif joined.error_code in NOT_YET:
                await self.find()
            elif joined.error_code:
                raise Unexpected(f"JoinGroup: {ErrorCode(joined.error_code).name}")
            else:
                self.id, self.generation, self.size = joined.member_id, joined.generation_id, len(joined.members)
                return joined

    async def find(self) -> None:
        """Ask who coordinates the group, which makes a fresh Kafka create its offsets topic, and wait a moment."""
        request = FindCoordinatorRequest(coordinator_keys=[self.group_id])
        await self.line.ask(request, FIND_VERSION, FindCoordinatorResponse)
        await asyncio.sleep(POLL_S)

    async def sync(self, joined: JoinGroupResponse) -> bool:
        """Sync, as the leader with assignments for all; False when the group rebalances again. Raises Unexpected."""
        assignments = [SyncGroupRequestAssignment(each.member_id, ASSIGNMENT) for each in joined.members]
        request = SyncGroupRequest(
            group_id=self.group_id,
            generation_id=self.generation,
            member_id=self.id,
            protocol_type=PROTOCOL_TYPE,
            protocol_name=PROTOCOL,
            assignments=assignments,
        )
        synced = await self.line.ask(request, SYNC_VERSION, SyncGroupResponse)
        if synced.error_code and synced.error_code not in AGAIN:
            raise Unexpected(f"SyncGroup: {ErrorCode(synced.error_code).name}")
        return not synced.error_code

    def heartbeat_request(self) -> HeartbeatRequest:
        """Its heartbeat."""
        return HeartbeatRequest(group_id=self.group_id, generation_id=self.generation, member_id=self.id)

    async def is_undisturbed(self) -> bool:
        """Whether a heartbeat is answered with NONE. Raises Unexpected."""
        beat = await self.line.ask(self.heartbeat_request(), HEARTBEAT_VERSION, HeartbeatResponse)
        if beat.error_code and beat.error_code not in AGAIN:
            raise Unexpected(f"Heartbeat: {ErrorCode(beat.error_code).name}")
        return not beat.error_code

    def _join_request(self) -> JoinGroupRequest:
        return JoinGroupRequest(
            group_id=self.group_id,
            session_timeout_ms=SESSION_MS,
            rebalance_timeout_ms=REBALANCE_MS,
            member_id=self.id,
            protocol_type=PROTOCOL_TYPE,
            protocols=[JoinGroupRequestProtocol(PROTOCOL, METADATA)],
        )


async def settle(members: Sequence[Member]) -> None:
    """Bring `members`, all of one group, into one generation. Raises Unexpected and TimeoutError."""
    stable: dict[Member, int] = {}

    def is_settled() -> bool:
        return (
            len(stable) == len(members)
            and len(set(stable.values())) == 1
            and max(m.size for m in members) == len(members)
        )

    async def live(member: Member) -> None:
        while not is_settled():
            if member not in stable:
                if await member.sync(await member.join()):
                    stable[member] = member.generation
                continue
            await asyncio.sleep(POLL_S)
            if not is_settled() and not await member.is_undisturbed():
                stable.pop(member, None)

    async with asyncio.timeout(SETTLE_DEADLINE_S):
        await asyncio.gather(*(live(member) for member in members))
