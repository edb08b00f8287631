"""Classic consumers of a `World`: their requests in short."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count

import attrs
from kafka.protocol.consumer import ConsumerProtocolSubscription

from kcoord.protocol.consumer_embedded import decode_assignment, encode_assignment
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.generated.sync_group_request import SyncGroupRequestAssignment
from kcoord.protocol.messages import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from tests.group.consumer.classic_sides import VERSION, subscription
from tests.group.consumer.world import GROUP, REBALANCE_MS, World

JOIN_VERSION, SYNC_VERSION, HEARTBEAT_VERSION, LEAVE_VERSION = 3, 5, 4, 5
_connections = count(1_000)


def by_topic(partitions: str) -> dict[str, list[int]]:
    """`"A0 A1"` as topics with their partitions."""
    found: dict[str, list[int]] = {}
    for each in partitions.split():
        found.setdefault(each[0], []).append(int(each[1:]))
    return found


def _generation_in(metadata: bytes) -> int:
    return int(ConsumerProtocolSubscription.decode(metadata).generation_id)


@attrs.define
class Classic:
    """A consumer of the classic protocol. Cooperative: it says what it owns when it joins."""

    world: World
    topics: str = "A"
    instance_id: str | None = None
    session_ms: int = 10_000
    cooperative: bool = True
    protocol: str = "range"
    more: tuple[str, ...] = ()
    """Assignors that it likes less."""
    data: bytes | None = None
    """What it says to its assignor alone."""
    member_id: str = ""
    generation: int = -1
    has: str = ""
    since: int = -1
    """The generation in which it got what it has, as it says."""
    leads: bool = False
    shown: dict[str, int] = attrs.field(factory=dict, init=False)
    """As the leader: in which generation each member got what it has, by member id."""
    connection: int = attrs.field(factory=lambda: next(_connections))

    def send_join(self) -> object:
        """A JoinGroup; its answer may wait."""
        owned = by_topic(self.has) if self.cooperative else {}
        request = JoinGroupRequest(
            GROUP,
            self.session_ms,
            REBALANCE_MS,
            self.member_id,
            self.instance_id,
            "consumer",
            [JoinGroupRequestProtocol(name, self._subscription(owned)) for name in (self.protocol, *self.more)],
        )
        return self.world.send(request, connection=self.connection, version=JOIN_VERSION)

    def _subscription(self, owned: Mapping[str, list[int]]) -> bytes:
        return subscription(self.topics, owned, generation=self.since, data=self.data)

    def joined(self, token: object) -> ErrorCode:
        """Take in the answer to a JoinGroup."""
        told = self.world.answers[token]
        assert isinstance(told, JoinGroupResponse)
        if not told.error_code:
            self.member_id, self.generation = told.member_id, told.generation_id
            self.leads = told.leader == told.member_id
            self.shown = {each.member_id: _generation_in(each.metadata) for each in told.members}
        return ErrorCode(told.error_code)

    def join(self) -> ErrorCode:
        return self.joined(self.send_join())

    def send_sync(self, given: Mapping[str, str] | None = None) -> object:
        """A SyncGroup; its answer may wait. `given`: of a leader, what each member is to have, by member id."""
        assignments = [
            SyncGroupRequestAssignment(each, encode_assignment(VERSION, by_topic(some)))
            for each, some in (given or {}).items()
        ]
        request = SyncGroupRequest(
            GROUP, self.generation, self.member_id, self.instance_id, "consumer", self.protocol, assignments
        )
        return self.world.send(request, connection=self.connection, version=SYNC_VERSION)

    def synced(self, token: object) -> ErrorCode:
        """Take in the answer to a SyncGroup."""
        told = self.world.answers[token]
        assert isinstance(told, SyncGroupResponse)
        if not told.error_code:
            found = decode_assignment(told.assignment).partitions
            self.has = " ".join(f"{name}{number}" for name, number in sorted(found))
            self.since = self.generation
        return ErrorCode(told.error_code)

    def sync(self, given: Mapping[str, str] | None = None) -> ErrorCode:
        return self.synced(self.send_sync(given))

    def come(self) -> str:
        """Join and sync; what it has then."""
        assert self.join() is ErrorCode.NONE
        assert self.sync() is ErrorCode.NONE
        return self.has

    def beat(self) -> ErrorCode:
        error = self.beaten(self.send_beat())
        assert error is not None, "the answer waits"
        return error

    def send_beat(self) -> object:
        """A Heartbeat; its answer may wait."""
        request = HeartbeatRequest(GROUP, self.generation, self.member_id, self.instance_id)
        return self.world.send(request, connection=self.connection, version=HEARTBEAT_VERSION)

    def beaten(self, token: object) -> ErrorCode | None:
        """The answer to a Heartbeat; None: it waits."""
        told = self.world.answers.get(token)
        assert told is None or isinstance(told, HeartbeatResponse)
        return None if told is None else ErrorCode(told.error_code)

    def go(self) -> ErrorCode:
        request = LeaveGroupRequest(GROUP, members=[MemberIdentity(self.member_id, None)])
        told = self.world.ask(request, LeaveGroupResponse, connection=self.connection, version=LEAVE_VERSION)
        return ErrorCode(told.error_code or told.members[0].error_code)

    def commit(self, partitions: str, generation: int | None = None) -> ErrorCode:
        return self.world.commit(self.member_id, self.generation if generation is None else generation, partitions)

    def reconnect(self) -> None:
        """Its next request comes by a new connection."""
        self.connection = next(_connections)
