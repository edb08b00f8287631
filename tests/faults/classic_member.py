"""How does a scripted member of a classic group live? It joins, syncs, leads, runs its share, commits.

Eager: it stops all before it joins again. A member that is told to rejoin does so with its id; one that is not known
any more begins anew.
"""

from __future__ import annotations

import asyncio
import json

import attrs

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.generated.offset_commit_request import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kcoord.protocol.generated.sync_group_request import SyncGroupRequestAssignment
from kcoord.protocol.messages import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kcoord.resource import Resource
from tests.faults.caller import Caller, Lost, Reply
from tests.faults.history import Expired, Kind, Outcome, Read, Register, Wrote, now_us
from tests.faults.running import Running

PROTOCOL_TYPE, PROTOCOL, TOPIC = "faults", "random", "t"
REBALANCE_MS = 40_000
"""Longer than any session with its lease: else a member that hears of no rebalance could be left out of it."""
_JOIN_S = 5.0
"""How long a join is waited for before it is said again: it may have been said to somebody who is frozen."""


@attrs.define(eq=False)
class Share:
    """What all members of one classic group know."""

    group: str
    resources: frozenset[Resource]
    session_ms: int
    commits: bool = True
    offsets: dict[int, int] = attrs.Factory(dict)

    def next_offset(self, partition: int) -> int:
        """An offset that was never committed there."""
        self.offsets[partition] = self.offsets.get(partition, 0) + 1
        return self.offsets[partition]


@attrs.define(eq=False)
class ClassicMember:
    """One process, which commits to one partition. `live` returns when it has left; see ConnectMember."""

    caller: Caller
    share: Share
    partition: int
    interval_s: float
    member_id: str = attrs.field(default="", init=False)
    generation: int = attrs.field(default=-1, init=False)
    synced: bool = attrs.field(default=False, init=False)
    running: Running = attrs.field(init=False)
    _taken_in: bool = attrs.field(default=False, init=False)
    _leaving: bool = attrs.field(default=False, init=False)
    _poked: asyncio.Event = attrs.field(factory=asyncio.Event, init=False)

    def __attrs_post_init__(self) -> None:
        self.running = Running(self.caller.history, self.share.group, self.caller.name)

    @property
    def settled(self) -> bool:
        """Whether it is a member and runs its share."""
        return self.synced and not self.running.over

    def leave(self) -> None:
        """`live` is to end."""
        self._leaving = True
        self._poked.set()

    def die(self) -> None:
        """The process is gone."""
        self.running.stop_all()

    async def live(self) -> None:
        """Be a member until `leave`."""
        while not self._leaving:
            try:
                await self._step()
            except Lost:
                continue
            await self._pause()
        self.running.stop_all()
        if self._taken_in:
            await self._say_goodbye()
        await self.caller.hang_up()

    async def _step(self) -> None:
        if self.synced and self.running.over:
            self.caller.history.add(Expired(self.share.group, self.caller.name, now_us()))
            self._rejoin()
        if not self.synced:
            await self._join()
        elif self.share.commits and self.caller.random.random() < 0.5:
            await self._commit()
        else:
            await self._heartbeat()

    def _rejoin(self) -> None:
        self.running.stop_all()
        self.synced = False

    def _begin_anew(self) -> None:
        """Nobody knows it any more."""
        self.running.end()
        self.synced = False
        self.member_id, self._taken_in = "", False

    def _knows_generation(self, generation: int, reply: Reply) -> None:
        register = Register(Kind.GENERATION, self.share.group)
        self.caller.history.add(Read(register, generation, self.caller.name, reply.sent_us, reply.ended_us))

    # Join and sync

    async def _join(self) -> None:
        request = JoinGroupRequest(
            group_id=self.share.group,
            session_timeout_ms=self.share.session_ms,
            rebalance_timeout_ms=REBALANCE_MS,
            member_id=self.member_id,
            protocol_type=PROTOCOL_TYPE,
            protocols=[JoinGroupRequestProtocol(name=PROTOCOL, metadata=b"")],
        )
        joined, reply = await self.caller.ask("classic join", request, JoinGroupResponse, self.running.alive, _JOIN_S)
        if reply.error is ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id = joined.member_id
        elif reply.error is ErrorCode.NONE:
            self.member_id, self.generation = joined.member_id, joined.generation_id
            self._taken_in = True
            self.running.begin(reply.sent_us, self.share.session_ms)
            self._knows_generation(self.generation, reply)
            await self._sync(joined)
        elif reply.error is ErrorCode.UNKNOWN_MEMBER_ID:
            self._begin_anew()

    async def _sync(self, joined: JoinGroupResponse) -> None:
        request = SyncGroupRequest(
            group_id=self.share.group,
            generation_id=self.generation,
            member_id=self.member_id,
            protocol_type=PROTOCOL_TYPE,
            protocol_name=PROTOCOL,
            assignments=self._assign([member.member_id for member in joined.members]),
        )
        synced, reply = await self.caller.ask("classic sync", request, SyncGroupResponse, self.running.alive, _JOIN_S)
        if reply.error is ErrorCode.NONE:
            self._knows_generation(self.generation, reply)
            if self.running.begin(reply.sent_us, self.share.session_ms):
                self.synced = True
                self.running.start(Resource(name, task) for name, task in json.loads(synced.assignment or b"[]"))
        elif reply.error is ErrorCode.UNKNOWN_MEMBER_ID:
            self._begin_anew()

    def _assign(self, members: list[str]) -> list[SyncGroupRequestAssignment]:
        """Of the leader; nobody else is told of members."""
        if not members:
            return []
        shares: dict[str, list[Resource]] = {member: [] for member in members}
        for resource in sorted(self.share.resources):
            shares[self.caller.random.choice(members)].append(resource)
        return [SyncGroupRequestAssignment(member, json.dumps(share).encode()) for member, share in shares.items()]

    # A member

    async def _heartbeat(self) -> None:
        request = HeartbeatRequest(self.share.group, self.generation, self.member_id)
        _, reply = await self.caller.ask("classic heartbeat", request, HeartbeatResponse, self.running.alive)
        self._take(reply)
        if reply.error is ErrorCode.NONE and not self.running.go_on(reply.sent_us, self.share.session_ms):
            self._rejoin()

    async def _commit(self) -> None:
        offset = self.share.next_offset(self.partition)
        request = OffsetCommitRequest(
            self.share.group,
            self.generation,
            self.member_id,
            topics=[OffsetCommitRequestTopic(TOPIC, partitions=[OffsetCommitRequestPartition(self.partition, offset)])],
        )
        sent_us = now_us()
        try:
            _, reply = await self.caller.ask(
                "commit",
                request,
                OffsetCommitResponse,
                self.running.alive,
                error=lambda answer: answer.topics[0].partitions[0].error_code,
            )
        except (Lost, asyncio.CancelledError):
            self._wrote(offset, sent_us, None, Outcome.UNKNOWN)
            raise
        done = reply.error is ErrorCode.NONE
        outcome = Outcome.DONE if done else Outcome.UNKNOWN if reply.passing else Outcome.REFUSED
        self._wrote(offset, reply.sent_us, reply.ended_us, outcome)
        self._take(reply)

    def _wrote(self, offset: int, sent_us: int, ended_us: int | None, outcome: Outcome) -> None:
        register = Register(Kind.OFFSET, self.share.group, f"{TOPIC}-{self.partition}")
        self.caller.history.add(Wrote(register, offset, self.caller.name, sent_us, ended_us, outcome))

    def _take(self, reply: Reply) -> None:
        """What the answer says of its membership."""
        if reply.error is ErrorCode.NONE:
            self._knows_generation(self.generation, reply)
        elif reply.error is ErrorCode.UNKNOWN_MEMBER_ID:
            self._begin_anew()
        elif not reply.passing:
            self._rejoin()

    async def _say_goodbye(self) -> None:
        request = LeaveGroupRequest(self.share.group, self.member_id, [MemberIdentity(self.member_id)])
        for _ in range(3):
            try:
                _, reply = await self.caller.ask(
                    "classic leave",
                    request,
                    LeaveGroupResponse,
                    error=lambda answer: answer.error_code or answer.members[0].error_code,
                )
            except Lost:
                continue
            if not reply.passing:
                return

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(self.interval_s * (0.5 + self.caller.random.random())):
                await self._poked.wait()
        except TimeoutError:
            pass
        self._poked.clear()
