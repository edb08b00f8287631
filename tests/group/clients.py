"""Clients that behave as Kafka's Java client does: they obey errors, assign when they lead, and say of each
assignment whose and of which generation it is, so that a wrong one is noticed. With them a test lets a group
settle, whatever has happened before.
"""

from __future__ import annotations

from enum import Enum

import attrs

from kcoord.protocol.errors import ErrorCode as Err
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.generated.sync_group_request import SyncGroupRequestAssignment
from kcoord.protocol.messages import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    Request,
    SyncGroupRequest,
    SyncGroupResponse,
)
from tests.group.world import Ticket, World

HEARTBEAT_MS = 3_000
PATIENCE = 400
"""So many rounds a group may take to settle."""


class Phase(Enum):
    """What a client does next."""

    JOIN = "join"
    SYNC = "sync"
    BEAT = "heartbeat"
    OUT = "out"


@attrs.define(slots=True, eq=False)
class Client:
    """A member of a group, seen from its own side."""

    name: str
    group_id: str = "g"
    instance_id: str | None = None
    protocols: tuple[tuple[str, bytes], ...] = (("range", b"m"),)
    protocol_type: str = "consumer"
    session_timeout_ms: int = 10_000
    rebalance_timeout_ms: int = 30_000
    join_version: int = 9
    member_id: str = ""
    generation: int = -1
    phase: Phase = Phase.JOIN
    protocol: str | None = None
    leader: str = ""
    members: tuple[str, ...] = ()
    """Whom it has to assign to, where it leads."""
    assignment: bytes | None = None
    ticket: Ticket | None = None
    why_out: Err | None = None

    # -- asking -------------------------------------------------------------------------------------------------------

    def act(self, world: World) -> bool:
        """Take notice of an answer, or send what is next; False when there is nothing to do but wait."""
        if self.ticket is not None:
            if self.ticket.is_open:
                return False
            self._notice(self.ticket)
            self.ticket = None
            return True
        if self.phase is Phase.OUT:
            return False
        request, version = self._next()
        self.ticket, _ = world.call(request, version, self.name)
        return True

    def _next(self) -> tuple[Request, int]:
        match self.phase:
            case Phase.JOIN:
                return self.join_request(), self.join_version
            case Phase.SYNC:
                return self._sync_request(), 5
            case _:
                return self.heartbeat_request(), 4

    def heartbeat_request(self) -> HeartbeatRequest:
        """Its Heartbeat."""
        return HeartbeatRequest(self.group_id, self.generation, self.member_id, self.instance_id)

    def join_request(self) -> JoinGroupRequest:
        """Its JoinGroup as it is now."""
        return JoinGroupRequest(
            self.group_id,
            self.session_timeout_ms,
            self.rebalance_timeout_ms,
            self.member_id,
            self.instance_id,
            self.protocol_type,
            [JoinGroupRequestProtocol(name, metadata) for name, metadata in self.protocols],
        )

    def leave_request(self) -> LeaveGroupRequest:
        """Its LeaveGroup."""
        return LeaveGroupRequest(self.group_id, members=[MemberIdentity(self.member_id, self.instance_id)])

    def _sync_request(self) -> SyncGroupRequest:
        return SyncGroupRequest(
            self.group_id,
            self.generation,
            self.member_id,
            self.instance_id,
            self.protocol_type,
            self.protocol,
            [SyncGroupRequestAssignment(each, self._assignment_of(each)) for each in self.members],
        )

    def _assignment_of(self, member_id: str) -> bytes:
        return f"{self.group_id}/{self.generation}/{member_id}".encode()

    # -- noticing -----------------------------------------------------------------------------------------------------

    def _notice(self, ticket: Ticket) -> None:
        match ticket.response:
            case None:
                self.phase = Phase.JOIN  # the coordinator is lost: look for it again, and join
            case JoinGroupResponse() as response:
                self._joined(response)
            case SyncGroupResponse() as response:
                self._synced(response)
            case HeartbeatResponse(error_code=error) if error:
                self._obey(Err(error))
            case _:
                pass

    def _joined(self, response: JoinGroupResponse) -> None:
        error = Err(response.error_code)
        if error is Err.MEMBER_ID_REQUIRED:
            self.member_id = response.member_id
            return
        if error:
            self._obey(error)
            return
        assert response.generation_id >= self.generation, "the generation went back"
        self.member_id = response.member_id
        self.generation = response.generation_id
        self.protocol = response.protocol_name
        self.leader = response.leader
        leads = response.leader == self.member_id
        assert leads == bool(response.members), "only the leader is told the members"
        assert not leads or self.member_id in {member.member_id for member in response.members}
        assert self.protocol in dict(self.protocols), "a protocol that this member does not speak"
        self.members = () if response.skip_assignment else tuple(member.member_id for member in response.members)
        self.phase = Phase.SYNC

    def _synced(self, response: SyncGroupResponse) -> None:
        if response.error_code:
            self._obey(Err(response.error_code))
            return
        if b"/" in response.assignment:  # made by a client, not told by a story
            generation, _, whose = response.assignment.decode().rpartition("/")
            assert generation == f"{self.group_id}/{self.generation}", "an assignment of another generation"
            assert whose == self.member_id or self.instance_id is not None, "an assignment of another member"
        self.assignment = response.assignment
        self.phase = Phase.BEAT

    def _obey(self, error: Err) -> None:
        match error:
            case Err.REBALANCE_IN_PROGRESS | Err.ILLEGAL_GENERATION | Err.NOT_COORDINATOR:
                self.phase = Phase.JOIN
            case Err.UNKNOWN_MEMBER_ID:
                self.member_id, self.generation, self.phase = "", -1, Phase.JOIN
            case _:  # FENCED_INSTANCE_ID, INCONSISTENT_GROUP_PROTOCOL, GROUP_MAX_SIZE_REACHED, …: fatal
                self.phase, self.why_out = Phase.OUT, error


def settle(world: World, clients: list[Client]) -> None:
    """Let the clients go on in peace until each group has settled: all who are in it are in the same generation and
    heartbeat, in a stable group with nobody else. Raises AssertionError if that does not happen in good time.
    """
    for _ in range(PATIENCE):
        while sum(client.act(world) for client in clients if not _only_beats(client)):
            pass
        for client in clients:
            if client.ticket is None and client.phase is Phase.BEAT:
                client.act(world)
                client.act(world)
        if _settled(world, clients):
            return
        world.advance_to(world.now_ms + HEARTBEAT_MS)
    raise AssertionError(f"after {PATIENCE} rounds: {[(each.name, each.phase, each.generation) for each in clients]}")


def _only_beats(client: Client) -> bool:
    return client.ticket is None and client.phase is Phase.BEAT


def _settled(world: World, clients: list[Client]) -> bool:
    """In each group everybody who is not out heartbeats, and the group has no other members."""
    for group_id, group in world.state.groups.items():
        there = {client.member_id for client in clients if client.group_id == group_id and client.phase is Phase.BEAT}
        waiting = any(client.group_id == group_id and client.phase not in (Phase.BEAT, Phase.OUT) for client in clients)
        if waiting or group.members.keys() != there:
            return False
        if there and (group.state.label != "Stable" or group.unsynced):
            return False
        if any(client.generation != group.generation for client in clients if client.member_id in there):
            return False
    return not world.open
